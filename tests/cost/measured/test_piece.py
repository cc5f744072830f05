"""What is timed, and when two applications are the same to time."""

from __future__ import annotations

import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from tensat_dl.cost.measured.little_model import little_model
from tensat_dl.cost.measured.piece import piece_of
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.egraph.snapshot import Application
from tensat_dl.language.load import load_text
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary import catalog, dims
from tensat_dl.vocabulary.attributes import Attributes, Blob
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import ABSENT, OtherType, Scalar, TensorType, Type

N = dims.symbol("N")


def f32(*shape: dims.Dim) -> TensorType:
    return TensorType(DType.F32, shape)


def i64(*value: Scalar) -> TensorType:
    return TensorType(DType.I64, (len(value),), value)


def part(
    name: str,
    inputs: list[Type],
    outputs: list[Type],
    constant: str = "",
    operator: Operator | None = None,
    **attributes: object,
) -> Part:
    """`constant`: one letter an input, "c" for a constant."""
    found = operator or catalog.operator(name)
    assert found is not None
    application = Application(found, Attributes.of(attributes), len(outputs))  # type: ignore[arg-type]
    flags = tuple(letter == "c" for letter in constant.ljust(len(inputs), "-"))
    return Part(application, tuple(inputs), tuple(outputs), flags)


def signature(asked: Part, program: CheckedProgram | None = None) -> str | None:
    piece = piece_of(asked, program, SymbolSizes(16))
    return None if piece is None else piece.signature


def test_a_signature_has_operator_attributes_types_and_what_is_constant() -> None:
    asked = part("Softmax", [f32(2, 3)], [f32(2, 3)], axis=-1)
    assert signature(asked) == "Softmax-13(0; axis=-1) | 0: f32[2, 3]"
    asked = part("MatMul", [f32(2, 3), f32(3, 4)], [f32(2, 4)], "-c")
    assert signature(asked) == "MatMul-13(0, 1) | 0: f32[2, 3], 1: const f32[3, 4]"


def test_values_of_shapes_tell_those_of_weights_do_not() -> None:
    expand = part("Expand", [f32(1), i64(2, 3)], [f32(2, 3)], "-c")
    assert signature(expand) == "Expand-13(0, 1) | 0: f32[1], 1: const i64[2]=[2, 3]"
    scale = TensorType(DType.F32, (), (0.5,))
    assert signature(part("Mul", [f32(4), scale], [f32(4)], "-c")) == (
        "Mul-14(0, 1) | 0: f32[4], 1: const f32[]"
    )
    assert signature(part("Pow", [f32(4), scale], [f32(4)], "-c")) == (
        "Pow-15(0, 1) | 0: f32[4], 1: const f32[]=[0.5]"
    )


def test_symbols_count_as_their_declared_size_in_values_too() -> None:
    asked = part("Expand", [f32(1), i64(N, 2 * N)], [f32(N, 2 * N)], "-c")
    assert signature(asked) == "Expand-13(0, 1) | 0: f32[1], 1: const i64[2]=[16, 32]"


def test_operands_that_may_be_permuted_have_one_order() -> None:
    one = part("Add", [f32(4), f32(2, 4)], [f32(2, 4)], "c-")
    other = part("Add", [f32(2, 4), f32(4)], [f32(2, 4)], "-c")
    assert signature(one) == signature(other)
    one = part("Sub", [f32(4), f32(2, 4)], [f32(2, 4)], "c-")
    other = part("Sub", [f32(2, 4), f32(4)], [f32(2, 4)], "-c")
    assert signature(one) != signature(other)


def test_all_views_are_one() -> None:
    """A runtime hands the buffer on; alone it would have to copy."""
    reshape = part("Reshape", [f32(64, 64), i64(4096)], [f32(4096)], "-c")
    flatten = part("Flatten", [f32(2, 3, 5)], [f32(2, 15)], axis=1)
    dropout = part("Dropout", [f32(7), ABSENT, ABSENT], [f32(7), ABSENT])
    assert signature(reshape) == signature(flatten) == signature(dropout)
    used = part("Dropout", [f32(7), ABSENT, ABSENT], [f32(7), TensorType(DType.BOOL, (7,))])
    assert signature(used) != signature(dropout)


def test_outputs_that_nothing_reads_are_left_out() -> None:
    indices = TensorType(DType.I64, (1, 2, 2, 2))
    both = part("MaxPool", [f32(1, 2, 4, 4)], [f32(1, 2, 2, 2), indices], kernel_shape=(3, 3))
    one = part("MaxPool", [f32(1, 2, 4, 4)], [f32(1, 2, 2, 2), ABSENT], kernel_shape=(3, 3))
    assert signature(one) == ("MaxPool-12+-(0; kernel_shape=[3, 3]) | 0: f32[1, 2, 4, 4]")
    assert signature(both) == "MaxPool-12++(0; kernel_shape=[3, 3]) | 0: f32[1, 2, 4, 4]"
    piece = piece_of(one, None, SymbolSizes(16))
    assert piece is not None
    made = little_model(piece, {"": 21})
    assert made is not None
    assert list(made.proto.graph.node[0].output) == ["v1"]


def test_what_branches_at_signs_is_given_both() -> None:
    image, slope = f32(64, 64), f32(64, 1)
    for op_type, inputs, share in (("PRelu", [image, slope], 0.5), ("Relu", [image], 0.0)):
        piece = piece_of(part(op_type, inputs, [image]), None, SymbolSizes(16))
        assert piece is not None
        made = little_model(piece, {"": 21})
        assert made is not None
        negative = made.feeds["v0"] < 0
        assert negative.mean() == pytest.approx(share, abs=0.05)
        # In no order that could be guessed: each sign follows each as often.
        assert (negative[:, 1:] != negative[:, :-1]).mean() == pytest.approx(share, abs=0.05)


SUBGRAPH = Blob("graph", "digest", None)


@pytest.mark.parametrize(
    "asked",
    [
        part("Relu", [TensorType(DType.F32, None)], [TensorType(DType.F32, None)]),
        part("SequenceAt", [OtherType("seq(f32[2])"), i64(1)], [f32(2)]),
        part("SequenceConstruct", [f32(2)], [OtherType("seq(f32[2])")]),
        part("Relu", [TensorType(DType.BF16, (2,))], [TensorType(DType.BF16, (2,))]),
        part("", [f32(2)], [f32(2)], operator=Operator("", "If", OperatorKind.OPAQUE), b=SUBGRAPH),
    ],
)
def test_what_cannot_be_timed_alone(asked: Part) -> None:
    assert signature(asked) is None


VIRTUAL = """language 1
op MulAdd(x: Tensor, a: Tensor, b: Tensor) -> y: Tensor { lower y = Add(Mul(x, a), b) }
op Twice(x: Tensor, a: Tensor) -> y: Tensor {
  lower y = MulAdd(MulAdd(x, a, f32(1)), a, f32(2))
}
"""


def program_of(text: str) -> CheckedProgram:
    diagnostics = Diagnostics()
    program = load_text(text, "test.tsat", diagnostics)
    assert program is not None, list(diagnostics)
    return program


def declared(program: CheckedProgram, name: str) -> Operator:
    return next(op.operator for op in program.operators.values() if op.operator.name == name)


def test_a_virtual_operator_is_its_lowering_in_one_piece() -> None:
    program = program_of(VIRTUAL)
    operator = declared(program, "MulAdd")
    asked = part("", [f32(8), f32(8), f32()], [f32(8)], "-c-", operator=operator)
    assert signature(asked, program) == (
        "Mul-14(0, 1) Add-14(3, 2) | 0: f32[8], 1: const f32[8], 2: f32[]"
    )


def test_a_lowering_may_hold_constants_and_other_virtual_operators() -> None:
    program = program_of(VIRTUAL)
    operator = declared(program, "Twice")
    piece = piece_of(
        part("", [f32(8), f32()], [f32(8)], "-c", operator=operator), program, SymbolSizes(16)
    )
    assert piece is not None
    made = little_model(piece, {"": 21})
    assert made is not None
    assert [node.op_type for node in made.proto.graph.node] == ["Mul", "Add", "Mul", "Add"]
    assert list(made.feeds) == ["v0"]
    (output,) = ReferenceEvaluator(made.proto).run(None, made.feeds)
    assert output.shape == (8,)
    scalars = [numpy_helper.to_array(t) for t in made.proto.graph.initializer if not t.dims]
    assert len(scalars) == 3


def test_a_little_model_is_a_model() -> None:
    conv = part(
        "Conv",
        [f32(1, 4, 8, 8), f32(6, 2, 3, 3), f32(6)],
        [f32(1, 6, 4, 4)],
        "-cc",
        dilations=(1, 1),
        group=2,
        pads=(1, 1, 1, 1),
        strides=(2, 2),
    )
    piece = piece_of(conv, None, SymbolSizes(16))
    assert piece is not None
    made = little_model(piece, {"": 9})
    assert made is not None
    assert [list(t.dims) for t in made.proto.graph.initializer] == [[6, 2, 3, 3], [6]]
    assert made.feeds["v0"].shape == (1, 4, 8, 8)
    (output,) = ReferenceEvaluator(made.proto).run(None, made.feeds)
    assert output.shape == (1, 6, 4, 4)
