"""Every row of `versions`: lifted and lowered nodes compute what the old node does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from adapter_cases import LIFTED, OPAQUE, Case
from numpy.typing import NDArray
from onnx import defs, helper, numpy_helper, version_converter

from tensat_dl.vocabulary import adapters, catalog, dtypes, versions
from tensat_dl.vocabulary.adapters import Lifted, Lowered
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type, TypeFault
from tensat_dl.vocabulary.versions.form import Form

Array = NDArray[Any]


def plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def type_of(array: Array | None, constant: bool) -> Type:
    if array is None:
        return ABSENT
    dtype = dtypes.from_onnx(helper.np_dtype_to_tensor_dtype(array.dtype))
    assert dtype is not None
    value = tuple(array.reshape(-1).tolist()) if constant and array.size <= 8 else None
    return TensorType(dtype, array.shape, value)


class Node:
    """A case with names: inputs x0.., constants by name; what lifting and lowering need."""

    def __init__(self, case: Case) -> None:
        self.case = case
        arrays = [None if a is None else np.asarray(a) for a in case.inputs]
        self.names = [None if a is None else f"x{i}" for i, a in enumerate(arrays)]
        self.feeds = {f"x{i}": a for i, a in enumerate(arrays) if a is not None}
        self.types = {
            f"x{i}": type_of(a, i in case.constants) for i, a in enumerate(arrays) if a is not None
        }
        self.constants = {f"x{i}": self.feeds[f"x{i}"] for i in case.constants}

    def make_constant(self, array: Array) -> str:
        name = f"c{len(self.feeds)}"
        self.feeds[name] = self.constants[name] = array
        self.types[name] = type_of(array, True)
        return name

    def types_of(self, names: Sequence[str | None]) -> tuple[Type, ...]:
        return tuple(ABSENT if name is None else self.types[name] for name in names)

    def lift(self) -> Lifted | None:
        attributes = {name: plain(value) for name, value in self.case.attributes.items()}
        form = Form(
            self.case.op, attributes, tuple(self.names), self.types_of(self.names),
            self.case.outputs, self.constants.get, self.make_constant,
        )  # fmt: skip
        return adapters.lift(form, "", self.case.version)

    def lower(self, lifted: Lifted, opset: int) -> Lowered | None:
        types = self.types_of(lifted.inputs)
        canonical = canonical_attributes(lifted.operator, lifted.attributes, types)
        form = Form(
            lifted.operator.name, canonical.as_dict(), lifted.inputs, types,
            self.case.outputs, self.constants.get,
        )  # fmt: skip
        return adapters.lower(lifted.operator, form, opset)

    def model(
        self, op: str, attributes: Mapping[str, Any], names: Sequence[str | None], opset: int
    ) -> onnx.ModelProto:
        outputs = [f"y{i}" for i in range(self.case.outputs)]
        given = [name or "" for name in names]
        while not given[-1]:
            given.pop()
        node = helper.make_node(op, given, outputs, **attributes)
        used = [name for name in dict.fromkeys(names) if name]
        inputs = [self._value_info(name) for name in used if name not in self.constants]
        graph = helper.make_graph(
            [node],
            "g",
            inputs,
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(self.constants[n], n) for n in used if n in self.constants],
        )
        opsets = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8 if opset < 19 else 10)

    def _value_info(self, name: str) -> onnx.ValueInfoProto:
        array = self.feeds[name]
        code = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, code, array.shape)

    def run(self, model: onnx.ModelProto) -> list[Array]:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = ort.InferenceSession(
            inferred.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        feeds = {i.name: self.feeds[i.name] for i in session.get_inputs()}
        return [np.asarray(array) for array in session.run(None, feeds)]


def ids(case: Case) -> str:
    return case.label


@pytest.mark.parametrize("case", LIFTED, ids=ids)
def test_lifted_and_lowered_compute_the_same(case: Case) -> None:
    node = Node(case)
    lifted = node.lift()
    assert lifted is not None
    expected = node.run(node.model(case.op, case.attributes, node.names, case.version))
    operator = lifted.operator
    own = catalog.version_of(operator.name)
    as_lifted = node.run(node.model(operator.name, lifted.attributes, lifted.inputs, own))
    assert_same(as_lifted, expected)
    lowered = node.lower(lifted, case.version)
    assert lowered is not None
    back = node.model(lowered.op_type, lowered.attributes, lowered.inputs, case.version)
    assert_same(node.run(back), expected)
    if case.back:
        assert lowered.op_type == case.op
        assert lowered.inputs == tuple(node.names[: len(lowered.inputs)])
        assert no_defaults(case) == {n: plain(v) for n, v in lowered.attributes.items()}


def no_defaults(case: Case) -> dict[str, Any]:
    """The attributes of a case, without defaults, axes counted from the front."""
    schema = defs.get_schema(case.op, case.version)
    rank = np.asarray(case.inputs[0]).ndim
    given = {}
    for name, value in case.attributes.items():
        if name == "round_mode" or (case.op == "Dropout" and name == "ratio"):
            continue
        default = schema.attributes[name].default_value
        if default.name and helper.get_attribute_value(default) in (value, str(value).encode()):
            continue
        known = plain(value)
        if name in ("axis", "axes"):
            known = (
                value % rank
                if isinstance(value, int)
                else tuple(a % rank if a < 0 else a for a in value)
            )
        if name in ("axis",) and value == -1 and case.version >= 13:
            continue
        given[name] = np.float32(known).item() if isinstance(known, float) else known
    if case.op in ("Softmax", "LogSoftmax", "Hardmax") and given.get("axis") == 1:
        given.pop("axis")
    return given


@pytest.mark.parametrize("case", [c for c in LIFTED if c.converter and c.version >= 8], ids=ids)
def test_the_converter_agrees(case: Case) -> None:
    node = Node(case)
    original = node.model(case.op, case.attributes, node.names, case.version)
    for output in original.graph.output:
        output.type.tensor_type.elem_type = onnx.TensorProto.UNDEFINED
    try:
        converted = version_converter.convert_version(
            onnx.shape_inference.infer_shapes(original), 21
        )
    except RuntimeError as error:
        pytest.skip(f"the converter cannot: {error}")
    lifted = node.lift()
    assert lifted is not None
    ours = node.run(node.model(lifted.operator.name, lifted.attributes, lifted.inputs, 21))
    assert_same(ours, node.run(converted))


def assert_same(actual: list[Array], expected: list[Array]) -> None:
    assert len(actual) == len(expected)
    for left, right in zip(actual, expected, strict=True):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", LIFTED, ids=ids)
def test_lifted_nodes_have_the_type_of_what_they_compute(case: Case) -> None:
    node = Node(case)
    lifted = node.lift()
    assert lifted is not None
    types = node.types_of(lifted.inputs)
    attributes = canonical_attributes(lifted.operator, lifted.attributes, types)
    found = infer(lifted.operator, attributes, types, case.outputs)
    assert not isinstance(found, TypeFault)
    name = lifted.operator.name
    model = node.model(name, lifted.attributes, lifted.inputs, catalog.version_of(name))
    arrays = node.run(model)
    for type_, array in zip(found, arrays, strict=True):
        assert isinstance(type_, TensorType)
        assert type_.dims == array.shape


@pytest.mark.parametrize(
    ("case", "why"), OPAQUE, ids=lambda v: v.label if isinstance(v, Case) else ""
)
def test_what_has_no_equal_is_opaque(case: Case, why: str) -> None:
    assert Node(case).lift() is None, why


def test_every_row_has_a_case() -> None:
    for row in versions.ROWS:
        cases = [*LIFTED, *(case for case, _ in OPAQUE)]
        before = [case for case in cases if case.op == row.operator and case.version < row.since]
        assert before, f"{row.operator} {row.since}: {row.change}"


def test_operators_without_a_row_did_not_change() -> None:
    """What no row speaks of: same inputs by position, same attributes with the same defaults."""
    for name in catalog.names():
        schemas = {
            s.since_version: s for s in map(lambda v, n=name: schema_of(n, v), range(7, 26)) if s
        }
        own = catalog.version_of(name)
        now = schema_of(name, own)
        assert now is not None
        for since, schema in schemas.items():
            if versions.rows_up(name, since, own) is None:
                newer = len(schema.inputs) - len(now.inputs) if since > own else 0
                assert newer == (1 if (name, since) in MORE_INPUTS else 0)
                assert form_of(schema, now, newer) == form_of(now, schema), f"{name} {since}"


#: Versions after the language's in which an input came behind the others: nodes that have it stay
#: opaque, see :data:`OPAQUE`.
MORE_INPUTS = {("Attention", 24), ("Attention", 25)}


def schema_of(name: str, version: int) -> defs.OpSchema | None:
    return defs.get_schema(name, version) if defs.has(name, version, "") else None


def form_of(schema: defs.OpSchema, other: defs.OpSchema, newer: int = 0) -> object:
    """Formals, without the last `newer` inputs, by number, and attributes; those with a default
    that `other` lacks do not count."""
    attributes = {
        a.name: (a.type, a.required, a.default_value.SerializeToString())
        for a in schema.attributes.values()
        if a.name in other.attributes or not a.default_value.name
    }
    return len(schema.inputs) - newer, len(schema.outputs), attributes


# --- lowering what only a rule makes --------------------------------------------------------


def lowerable(name: str, opset: int, *types: Type, outputs: int = 1, **attributes: Any) -> bool:
    operator = catalog.operator(name)
    assert operator is not None
    canonical = canonical_attributes(operator, attributes, types)
    return adapters.lowerable(operator, canonical, types, opset, outputs)


F = dtypes.DType.F32
I = dtypes.DType.I64  # noqa: E741
X = TensorType(F, (2, 3, 4))


def ints(*values: int) -> TensorType:
    return TensorType(I, (len(values),), values)


SOME_INTS = TensorType(I, (1,))


@pytest.mark.parametrize(
    ("oldest", "name", "types", "attributes", "outputs"),
    [
        (7, "Relu", (X,), {}, 1),
        (9, "Erf", (X,), {}, 1),
        (12, "GreaterOrEqual", (X, X), {}, 1),
        (20, "Gelu", (X,), {}, 1),
        (23, "Attention", (TensorType(F, (1, 2, 3, 4)),) * 3, {"scale": 0.5}, 1),
        (23, "RMSNormalization", (X, TensorType(F, (4,))), {"epsilon": 0.5}, 1),
        (7, "Softmax", (X,), {"axis": -1}, 1),
        (13, "Softmax", (X,), {"axis": 1}, 1),
        (7, "Unsqueeze", (X, ints(0)), {}, 1),
        (13, "Unsqueeze", (X, SOME_INTS), {}, 1),
        (7, "Squeeze", (TensorType(F, (1, 3)), ints(-2)), {}, 1),
        (13, "Squeeze", (TensorType(F, (1, 3)), ints()), {}, 1),
        (7, "ReduceSum", (X, ints(1)), {}, 1),
        (13, "ReduceSum", (X, ABSENT), {"noop_with_empty_axes": 1}, 1),
        (7, "ReduceMean", (X, ints(1)), {}, 1),
        (18, "ReduceMean", (X, SOME_INTS), {}, 1),
        (7, "Split", (X, ints(2, 2)), {"axis": 2}, 2),
        (7, "Split", (X, ABSENT), {"axis": 2, "num_outputs": 2}, 2),
        (18, "Split", (X, ABSENT), {"axis": 1, "num_outputs": 2}, 2),
        (7, "Slice", (X, ints(0), ints(1), ints(-1), ABSENT), {}, 1),
        (10, "Slice", (X, ints(0), ints(4), ints(2), ints(2)), {}, 1),
        (7, "Reshape", (X, ints(6, 4)), {"allowzero": 1}, 1),
        (14, "Reshape", (X, ints(0, 4)), {"allowzero": 1}, 1),
        (7, "Add", (X, X), {}, 1),
        (8, "Sum", (X, TensorType(F, (4,))), {}, 1),
        (11, "Gemm", (TensorType(F, (2, 2)),) * 2, {}, 1),
        (7, "Pad", (X, ints(*[0] * 6), ABSENT, ABSENT), {}, 1),
        (18, "Pad", (X, ints(1, 1), ABSENT, ints(1)), {}, 1),
        (19, "Pad", (X, ints(*[0] * 6)), {"mode": "wrap"}, 1),
        (11, "Clip", (X, TensorType(F, (), (0.0,)), ABSENT), {}, 1),
        (7, "Clip", (X, TensorType(F, (), (0.0,)), TensorType(F, (), (6.0,))), {}, 1),
        (22, "Acos", (TensorType(dtypes.DType.BF16, (2,)),), {}, 1),
        (11, "Gather", (X, ints(-1)), {}, 1),
        (11, "TopK", (X, ints(1)), {"largest": 0}, 2),
    ],
)  # fmt: skip
def test_oldest_version_that_can_hold_it(
    oldest: int, name: str, types: tuple[Type, ...], attributes: dict[str, Any], outputs: int
) -> None:
    able = [v for v in range(7, 26) if lowerable(name, v, *types, outputs=outputs, **attributes)]
    assert able == list(range(oldest, 26))


def test_defaults_are_left_out() -> None:
    conv = catalog.operator("Conv")
    assert conv is not None
    types = (TensorType(F, (1, 2, 4, 4)), TensorType(F, (3, 2, 3, 3)), ABSENT)
    for given, left in (({}, {}), ({"pads": (1, 1, 1, 1)}, {"pads": (1, 1, 1, 1)})):
        canonical = canonical_attributes(conv, given, types)
        form = Form("Conv", canonical.as_dict(), ("x", "w", None), types, 1)
        lowered = adapters.lower(conv, form, 13)
        assert lowered == Lowered("Conv", "", left, ("x", "w"))


def test_other_domains_and_opaque_nodes_stay_as_they_are() -> None:
    op = catalog.opaque("com.acme", "Fused", 1)
    canonical = canonical_attributes(op, {"alpha": 2}, ())
    form = Form("Fused", canonical.as_dict(), ("x", None, "y"), (X, ABSENT, X), 1)
    lowered = adapters.lower(op, form, 1)
    assert lowered == Lowered("Fused", "com.acme", {"alpha": 2}, ("x", None, "y"))
