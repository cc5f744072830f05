"""Cost models: the built-in ones against arithmetic, those of rule files against their rows."""

from __future__ import annotations

import math

import pytest

from tensat_dl.cost.choice import named_model
from tensat_dl.cost.models import BUILT_IN, MEASURED, make_cost_model
from tensat_dl.cost.rule_models import RuleCostModel
from tensat_dl.cost.work import Part
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.egraph.snapshot import Application
from tensat_dl.errors import UsageError
from tensat_dl.language.load import load_text
from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import COST_MODELS, CostSettings
from tensat_dl.vocabulary import catalog, dims
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, OtherType, TensorType, Type


def program_of(text: str) -> CheckedProgram:
    diagnostics = Diagnostics()
    program = load_text(f"language 1\n{text}", "test.tsat", diagnostics)
    assert program is not None, list(diagnostics)
    return program


def f32(*shape: dims.Dim) -> TensorType:
    return TensorType(DType.F32, shape)


def op(name: str) -> Operator:
    found = catalog.operator(name)
    assert found is not None
    return found


def price(
    model: str,
    operator: Operator,
    inputs: list[Type],
    outputs: list[Type],
    program: CheckedProgram | None = None,
    attributes: Attributes | None = None,
    **settings: float,
) -> float:
    cost_model = make_cost_model(model, CostSettings(**settings), program)  # type: ignore[arg-type]
    application = Application(operator, attributes or Attributes(), len(outputs))
    return cost_model.price(Part(application, tuple(inputs), tuple(outputs)))


MATMUL = (op("MatMul"), [f32(3, 4), f32(4, 5)], [f32(3, 5)])
MATMUL_FLOPS = 2 * 3 * 4 * 5
MATMUL_BYTES = 4 * (12 + 20 + 15)


def test_flops_bytes_nodes() -> None:
    assert price("flops", *MATMUL) == MATMUL_FLOPS
    assert price("bytes", *MATMUL) == MATMUL_BYTES
    assert price("nodes", *MATMUL) == 1


@pytest.mark.parametrize(
    ("machine", "seconds"),
    [
        ({"flops_per_second": 10.0, "bytes_per_second": 1e9}, MATMUL_FLOPS / 10.0),
        ({"flops_per_second": 1e9, "bytes_per_second": 10.0}, MATMUL_BYTES / 10.0),
    ],
)
def test_roofline_is_the_slower_of_both_and_an_overhead(
    machine: dict[str, float], seconds: float
) -> None:
    assert price("roofline", *MATMUL, **machine, overhead=7.0) == pytest.approx(seconds + 7.0)


@pytest.mark.parametrize(
    ("places", "counted"), [(1, 4), (2, 16), (5, 16), (16, 16), (17, 32), (32, 32)]
)
def test_few_places_of_a_convolution_along_one_axis_take_as_long_as_sixteen(
    places: int, counted: int
) -> None:
    conv = (op("Conv"), [f32(1, 8, places + 2), f32(6, 8, 3)], [f32(1, 6, places)])
    machine = {"flops_per_second": 10.0, "bytes_per_second": 1e9, "overhead": 0.0}
    assert price("roofline", *conv, **machine) == pytest.approx(2 * 6 * 8 * 3 * counted / 10.0)
    assert price("flops", *conv) == 2 * 6 * 8 * 3 * places


def test_of_two_axes_every_place_counts_once() -> None:
    conv = (op("Conv"), [f32(1, 8, 3, 4), f32(6, 8, 3, 3)], [f32(1, 6, 1, 2)])
    machine = {"flops_per_second": 10.0, "bytes_per_second": 1e9, "overhead": 0.0}
    assert price("roofline", *conv, **machine) == pytest.approx(2 * 6 * 8 * 9 * 2 / 10.0)


def test_a_sum_of_two_is_dearer_than_an_addition() -> None:
    """By a hundredth of the overhead; three summands have no other operator."""
    machine = {"bytes_per_second": 12.0, "overhead": 100.0}
    assert price("roofline", op("Add"), [f32(1)] * 2, [f32(1)], **machine) == 101.0
    assert price("roofline", op("Sum"), [f32(1)] * 2, [f32(1)], **machine) == 102.0
    assert price("roofline", op("Sum"), [f32(1)] * 3, [f32(1)], **machine) == pytest.approx(
        101.33, abs=0.01
    )


def test_views_cost_their_overhead_alone() -> None:
    reshape = (op("Reshape"), [f32(3, 4), TensorType(DType.I64, (1,))], [f32(12)])
    assert price("roofline", *reshape, overhead=7.0) == 7.0
    assert price("flops", *reshape) == 0
    assert price("bytes", *reshape) == 0


def test_symbols_count_as_their_declared_size() -> None:
    batch = dims.symbol("batch")
    relu = (op("Relu"), [f32(batch, 2 * batch)], [f32(batch, 2 * batch)])
    assert price("flops", *relu, symbolic_dim=3) == 3 * 6
    negative = [f32(batch - 20)]
    assert price("flops", op("Relu"), negative, negative, symbolic_dim=3) == 0
    divided = [f32((batch + 1) // (batch - 3))]
    assert price("flops", op("Relu"), divided, divided, symbolic_dim=3) == 3


@pytest.mark.parametrize("model", sorted(BUILT_IN))
@pytest.mark.parametrize("name", catalog.names())
def test_no_type_can_break_a_price(model: str, name: str) -> None:
    operator = op(name)
    for type_ in (TensorType(DType.F32, None), OtherType("seq"), ABSENT, f32(2, 3, 4, 5), f32()):
        inputs: list[Type] = [type_] * max(1, operator.min_inputs)
        unknown: list[Type] = [TensorType(DType.F32, None)] * max(1, operator.min_outputs)
        assert 0 <= price(model, operator, inputs, unknown) < math.inf


def test_units() -> None:
    units = {name: make_cost_model(name, CostSettings(), None).unit for name in BUILT_IN}
    assert units == {"roofline": "s", "flops": "FLOP", "bytes": "B", "nodes": ""}


def test_an_unknown_model_says_what_there_is() -> None:
    with pytest.raises(UsageError) as caught:
        named_model(CostSettings(model="roofine"), None)
    assert caught.value.help == "did you mean `roofline`?"
    with pytest.raises(UsageError) as caught:
        named_model(CostSettings(model="zzz"), program_of("cost model mine { Relu = 1 }"))
    assert "mine" in caught.value.help


# --- of rule files ----------------------------------------------------------------------------


def test_rows_name_formals_in_lower_case() -> None:
    program = program_of("cost model mine { MatMul = 2 * numel(y) * dim(a, -1) / 1e3 }")
    assert price("mine", *MATMUL, program) == pytest.approx(MATMUL_FLOPS / 1e3)
    assert price("mine", op("Relu"), [f32(3)], [f32(3)], program) == 0


def test_default_row_and_functions() -> None:
    text = "fn double(n: int) -> int = 2 * n\ncost model mine { Relu = double(numel(x)) _ = 5 }"
    program = program_of(text)
    assert price("mine", op("Relu"), [f32(3)], [f32(3)], program) == 6
    assert price("mine", *MATMUL, program) == 5


def test_rows_see_symbols_as_numbers_and_unknown_ranks_as_the_default() -> None:
    program = program_of("cost model mine { Relu = numel(x)  _ = 9 }")
    batch = [f32(dims.symbol("batch"), 2)]
    assert price("mine", op("Relu"), batch, batch, program, symbolic_dim=4) == 8
    unknown: list[Type] = [TensorType(DType.F32, None)]
    assert price("mine", op("Relu"), unknown, unknown, program) == 9


@pytest.mark.parametrize("cost", ["10 ** 400", "1 / 0", '"dear"', "[1, 2]"])
def test_a_cost_that_is_no_number_counts_as_the_default(cost: str) -> None:
    program = program_of(f"cost model mine {{ Relu = {cost}  _ = 4 }}")
    assert price("mine", op("Relu"), [f32(3)], [f32(3)], program) == 4


@pytest.mark.parametrize(
    ("default", "counts"), [("_ = 4", "as the row `_` says, 4"), ("", "as free")]
)
def test_a_cost_that_is_no_number_is_told_once(default: str, counts: str) -> None:
    program = program_of(f"cost model mine {{ Relu = 1 // dim(x, 0)  Abs = 1 {default} }}")
    model = make_cost_model("mine", CostSettings(), program)
    for name, size in (("Relu", 3), ("Relu", 0), ("Relu", 0), ("Abs", 0), ("Neg", 0)):
        model.price(Part(Application(op(name), Attributes(), 1), (f32(size),), (f32(size),)))
    assert isinstance(model, RuleCostModel)
    assert model.notes == (
        f"the cost model `mine` gives Relu(f32[0]) no number: it counts {counts}",
    )


def test_a_negative_cost_is_an_error_that_names_it() -> None:
    program = program_of("cost model mine { Relu = 0 - numel(x) }")
    with pytest.raises(UsageError, match="gives Relu the cost -3"):
        price("mine", op("Relu"), [f32(3)], [f32(3)], program)


# --- declared operators -----------------------------------------------------------------------

DECLARED = """
op "com.acme"::FusedGelu(x: Tensor) -> y: Tensor { since 1  infer y = like(x)  cost 4 * numel(y) }
op ConvRelu(x: Tensor, w: Tensor, b: Tensor?, **Conv) -> y: Tensor {
  lower y = Relu(Conv(x, w, b, **Conv))
}
cost model parts { Conv = 100  Relu = 1  _ = 7 }
"""


def test_a_declared_cost_is_in_flops() -> None:
    program = program_of(DECLARED)
    gelu = next(c.operator for c in program.operators.values() if c.operator.name == "FusedGelu")
    assert price("flops", gelu, [f32(3)], [f32(3)], program) == 12
    seconds = price("roofline", gelu, [f32(3)], [f32(3)], program, flops_per_second=1.0, overhead=0)
    assert seconds == 12


def test_a_virtual_operator_is_its_parts_but_moves_its_own_bytes() -> None:
    program = program_of(DECLARED)
    fused = next(c.operator for c in program.operators.values() if c.operator.name == "ConvRelu")
    x, w, y = f32(1, 3, 8, 8), f32(4, 3, 3, 3), f32(1, 4, 6, 6)
    plain = {"group": 1, "strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
    attributes = Attributes.of(plain)
    application = (fused, [x, w, ABSENT], [y], program, attributes)
    convolution = 2 * 144 * 27
    assert price("flops", *application) == convolution + 144
    assert price("bytes", *application) == 4 * (192 + 108 + 144)
    assert price("nodes", *application) == 2
    assert price("roofline", *application, overhead=1000.0) == pytest.approx(1001.0, abs=0.1)
    assert price("parts", *application) == 101


def test_every_built_in_model_has_a_name_that_rule_files_cannot_take() -> None:
    assert set(COST_MODELS) == {MEASURED, *BUILT_IN}
