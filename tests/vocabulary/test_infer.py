"""Checks and completions of ours, one by one; unknown dims; odd questions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from questions import H, M, N, ask, f32, ints, scalar, shapes, unknown_ints

from tensat_dl.vocabulary import catalog, dims
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.infer import infer, infer_opaque
from tensat_dl.vocabulary.types import ABSENT, UNDECLARED, OtherType, TensorType, Type, TypeFault

IMAGE, KERNEL = f32(1, 4, 8, 8), f32(6, 4, 3, 3)
TALL, DOUBLE = f32(N, 4, H, 8), f32(4, 3, 2, 2)
NOTHING_TWICE = TensorType(DType.I64, (0, 0), ())
TWO_BY_TWO = {"kernel_shape": (2, 2), "strides": (2, 2)}
PADDED = {"pads": (1, 1, 1, 1), "strides": (2, 2)}
SAME: dict[str, Any] = {"auto_pad": "SAME_UPPER", "strides": (2, 1)}
PLACES = TensorType(DType.I64, (N, H, 1))
SCALES = TensorType(DType.F32, (4,), (1.0, 1.0, 2.0, 0.5))


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "outputs", "reason"),
    [
        # What ONNX's own inference lets pass.
        ("Conv", (IMAGE, f32(6, 3, 3, 3)), {}, 1, "4 is not 3"),
        ("Conv", (f32(1, N + 5, 8, 8), KERNEL), {}, 1, "N + 5 is not 4"),
        ("Conv", (IMAGE, f32(6, 2, 3, 3)), {"group": 3}, 1, "4 is not 6"),
        ("Conv", (IMAGE, f32(5, 2, 3, 3)), {"group": 2}, 1, "5 output channels"),
        ("Conv", (IMAGE, KERNEL), {"group": 0}, 1, "`group` is 0"),
        ("Conv", (IMAGE, KERNEL, f32(5)), {}, 1, "5 is not 6"),
        ("Conv", (IMAGE, KERNEL, f32(1, 6)), {}, 1, "1 dim"),
        ("Conv", (IMAGE, f32(6, 4, 3)), {}, 1, "must have 4 dims"),
        ("Conv", (IMAGE, KERNEL), {"strides": (0, 1)}, 1, "positive"),
        ("Conv", (IMAGE, KERNEL), {"pads": (1, 1)}, 1, "`pads`"),
        ("Conv", (IMAGE, KERNEL), {"kernel_shape": (5, 5)}, 1, "5 is not 3"),
        ("Conv", (f32(1, 4, 2, 2), KERNEL), {}, 1, "larger than the padded input"),
        ("Conv", (f32(4, 8), f32(6, 8)), {}, 1, "spatial"),
        ("ConvTranspose", (IMAGE, f32(3, 6, 3, 3)), {}, 1, "4 is not 3"),
        ("ConvTranspose", (IMAGE, f32(4, 3, 3, 3), f32(4)), {"group": 2}, 1, "4 is not 6"),
        ("MaxPool", (IMAGE,), {"kernel_shape": (9, 9)}, 1, "larger"),
        ("Reshape", (f32(2, 9), ints(4, 4)), {}, 1, "18 is not 16"),
        ("Reshape", (f32(2, 9), ints(4, -1)), {}, 1, "do not divide"),
        ("Reshape", (f32(N, 4), ints(N, 5)), {}, 1, ""),
        ("Reshape", (f32(N + 1, 4), ints(N, 4)), {}, 1, "is not"),
        ("Reshape", (f32(2), ints(-1, -1)), {}, 1, "more than one -1"),
        ("Reshape", (f32(2), ints(-2)), {}, 1, "negative"),
        ("Reshape", (f32(2), ints(2, 0)), {}, 1, "copies dim 1"),
        ("Reshape", (f32(0, 3), ints(0, -1)), {"allowzero": 1}, 1, "0"),
        ("Reshape", (f32(0, 3), ints(0, -1)), {}, 1, "0"),
        ("LayerNormalization", (f32(2, 5), f32(4)), {}, 1, "does not broadcast"),
        ("LayerNormalization", (f32(2, 5), f32(5), f32(4)), {}, 1, "does not broadcast"),
        ("BatchNormalization", (IMAGE, f32(4), f32(4), f32(4), f32(5)), {}, 1, "5 is not 4"),
        ("BatchNormalization", (IMAGE, f32(4, 1), *[f32(4)] * 3), {}, 1, "1 dim"),
        ("InstanceNormalization", (IMAGE, f32(3), f32(4)), {}, 1, "3 is not 4"),
        ("GroupNormalization", (IMAGE, f32(4), f32(4)), {"num_groups": 3}, 1, "do not divide"),
        ("Gemm", (f32(2, 3), f32(3, 5), f32(4)), {}, 1, "does not broadcast"),
        ("Gemm", (f32(1, 3), f32(3, 5), f32(2, 5)), {}, 1, "does not broadcast"),
        ("Gemm", (f32(2, 3), f32(3, 5)), {"transA": 1}, 1, "2 is not 3"),
        ("Gemm", (f32(1, 2, 3), f32(3, 5)), {}, 1, "must have 2 dims"),
        ("MatMul", (f32(2, 3), f32(4, 5)), {}, 1, "3 is not 4"),
        ("MatMul", (f32(2, N), f32(N + 1, 5)), {}, 1, "N is not N + 1"),
        ("MatMul", (f32(2, 3, 4), f32(3, 4, 5)), {}, 1, "do not broadcast"),
        ("MatMul", (f32(), f32(2)), {}, 1, "at least one dim"),
        ("Add", (f32(2), f32(3)), {}, 1, "do not broadcast"),
        ("Add", (f32(N + 4), f32(3)), {}, 1, "do not broadcast"),
        ("PRelu", (f32(2, 3), f32(2)), {}, 1, "does not broadcast"),
        ("Clip", (f32(2), f32(2)), {}, 1, "scalar"),
        ("Expand", (f32(2, 3), ints(4, 3)), {}, 1, "do not broadcast"),
        ("Concat", (f32(2, 3), f32(3, 3)), {"axis": 1}, 1, "2 is not 3"),
        ("Concat", (f32(N, 3), f32(N + 1, 3)), {"axis": 1}, 1, "N is not N + 1"),
        ("Concat", (f32(2, 3), f32(3)), {"axis": 0}, 1, "differ in rank"),
        ("Concat", (f32(2, 3),), {"axis": 2}, 1, "2 dims"),
        ("Split", (f32(5), ints(2, 2)), {}, 2, "4 is not 5"),
        ("Split", (f32(4), ints(2, 2)), {}, 3, "2 sizes, but 3 outputs"),
        ("Split", (f32(4), ints(5, -1)), {}, 2, "negative"),
        ("Split", (f32(4), ABSENT), {"num_outputs": 2}, 3, "`num_outputs` is 2"),
        ("Split", (f32(4), ABSENT), {"num_outputs": 3}, 3, ""),
        ("Pad", (f32(2, 3), ints(1, 1)), {}, 1, "must have 4 entries"),
        ("Pad", (f32(2), ints(-2, -1)), {}, 1, "becomes -1"),
        ("ConvTranspose", (f32(1, 1, 2), f32(1, 1, 1)), {"pads": (2, 1)}, 1, "[-1]"),
        ("Slice", (f32(2), ints(0), ints(1), ints(0, 1)), {}, 1, "differ in length"),
        ("Slice", (f32(2), ints(0), ints(1), ints(0), ints(0)), {}, 1, "0"),
        ("Slice", (f32(2, 2), ints(0, 0), ints(1, 1), ints(0, -2)), {}, 1, "twice"),
        ("Squeeze", (f32(2, 1), ints(0)), {}, 1, ""),
        ("Squeeze", (f32(N + 2, 1), ints(0)), {}, 1, "is squeezed"),
        ("Unsqueeze", (f32(2), ints(0, 0)), {}, 1, "twice"),
        ("Transpose", (f32(2, 3),), {"perm": (0, 0)}, 1, ""),
        ("Gather", (f32(2, 3), ints(2)), {}, 1, "outside of dim 0"),
        ("GatherND", (f32(2, 3), unknown_ints(2)), {"batch_dims": -8}, 1, "`batch_dims` is -8"),
        ("GatherND", (f32(2, 3), unknown_ints(3)), {}, 1, "do not point into"),
        ("Tile", (f32(2, 3), ints(2)), {}, 1, ""),
        ("TopK", (f32(2, 3), ints(4)), {}, 2, ""),
        ("DepthToSpace", (f32(1, 6, 2, 2),), {"blocksize": 2}, 1, "divide"),
        ("SpaceToDepth", (f32(1, 6, 3, 2),), {"blocksize": 2}, 1, "divide"),
        ("Einsum", (f32(2, 3), f32(4, 5)), {"equation": "ij,jk->ik"}, 1, "`j` is both 3 and 4"),
        ("Einsum", (f32(2, 3),), {"equation": "ij,jk->ik"}, 1, "names 2 inputs"),
        ("Einsum", (f32(2, 3),), {"equation": "i3->i"}, 1, "`i3` in its equation is more than"),
        ("QuantizeLinear", (f32(2, 3), f32(2)), {}, 1, "2 is not 3"),
        ("Range", (scalar(0), scalar(3), scalar(0)), {}, 1, "`delta` is 0"),
        ("ConstantOfShape", (ints(2, -1),), {}, 1, "negative"),
        # What ONNX refuses, in its words.
        ("Relu", (TensorType(DType.STRING, (2,)),), {}, 1, "unsupported type"),
        ("Add", (f32(2), ints(1, 2)), {}, 1, "inconsistent type"),
        ("Softmax", (f32(2),), {"axis": 4}, 1, "axis"),
        # Form.
        ("Relu", (), {}, 1, "needs the input `X`"),
        ("Relu", (ABSENT,), {}, 1, "needs the input `X`"),
        ("Relu", (f32(2), f32(2)), {}, 1, "at most 1 inputs"),
        ("Relu", (f32(2),), {}, 2, "at most 1 outputs"),
        ("Concat", (f32(2),), {}, 1, "needs the attribute `axis`"),
        ("Relu", (f32(2),), {"alpha": 1.0}, 1, "alpha"),
        ("Relu", (OtherType("seq(f32[2])"),), {}, 1, ""),
        ("Relu", (OtherType("nonsense"),), {}, 1, "the type nonsense of `X` is not known to ONNX"),
    ],
)  # fmt: skip
def test_refused(
    name: str, inputs: tuple[Type, ...], attributes: dict[str, Any], outputs: int, reason: str
) -> None:
    found = ask(name, *inputs, outputs=outputs, **attributes)
    accepted = (name, reason) in {("Reshape", ""), ("Split", "")} and not isinstance(
        found, TypeFault
    )
    assert accepted or isinstance(found, TypeFault)
    assert accepted or reason in found.reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "expected"),
    [
        ("Conv", (TALL, KERNEL), PADDED, "[N, 6, (H + 1)//2, 4]"),
        ("Conv", (f32(N, M, H, 8), f32(6, M, 3, 3)), {}, "[N, 6, H - 2, 6]"),
        ("Conv", (IMAGE, f32(6, 4, N, 1)), {}, "[1, 6, -N + 9, 8]"),
        ("Conv", (f32(1, 4, H, H), KERNEL), SAME, "[1, 6, (H + 1)//2, H]"),
        ("ConvTranspose", (TALL, DOUBLE), {"strides": (2, 2), "group": 2}, "[N, 6, 2*H, 16]"),
        ("ConvTranspose", (TALL, DOUBLE), {"output_shape": (5, 9)}, "[N, 3, 5, 9]"),
        ("MaxPool", (f32(N, 4, H, 9),), TWO_BY_TWO, "[N, 4, H//2, 4]"),
        ("MaxPool", (f32(N, 4, 8, 9),), {**TWO_BY_TWO, "ceil_mode": 1}, "[N, 4, 4, 5]"),
        ("Concat", (f32(N, 3), f32(N, M)), {"axis": 1}, "[N, M + 3]"),
        ("Concat", (f32(N, 3), f32(2, M)), {"axis": 1}, "[2, M + 3]"),
        ("Flatten", (f32(N, 3, M),), {}, "[N, 3*M]"),
        ("Flatten", (f32(N, 3, M),), {"axis": 0}, "[1, 3*M*N]"),
        ("Reshape", (f32(N, 3, M), ints(0, -1)), {}, "[N, 3*M]"),
        ("Reshape", (f32(N, 3, M), ints(-1, 3)), {}, "[M*N, 3]"),
        ("Reshape", (f32(N, 4, M), ints(N, 2, -1)), {}, "[N, 2, 2*M]"),
        ("Reshape", (f32(N, M), ints(-1, 4)), {}, "[(M*N)//4, 4]"),
        ("Reshape", (f32(0, 4), ints(0, 4)), {}, "[0, 4]"),
        ("Reshape", (f32(N), unknown_ints(3)), {}, "[?, ?, ?]"),
        ("Reshape", (f32(N), unknown_ints(M)), {}, "?"),
        ("Reshape", (f32(1), ints()), {}, "[]"),
        ("Slice", (f32(N), ints(1), ints(2**63 - 1)), {}, "[max(0, N - 1)]"),
        # As onnxruntime has it: a start below the first element is that element, also backwards.
        ("Slice", (f32(3), ints(-4), ints(-4), ABSENT, ints(-1)), {}, "[1]"),
        ("Gather", (NOTHING_TWICE, NOTHING_TWICE), {}, "[0, 0, 0]"),
        ("Slice", (f32(N + 4), ints(0), ints(3)), {}, "[3]"),
        ("Slice", (f32(N), ints(0), ints(-1)), {}, "[max(0, N - 1)]"),
        ("Slice", (f32(N), ints(-1), ints(-(2**63)), ints(0), ints(-1)), {}, "[N]"),
        ("Slice", (f32(N), ints(-1), ints(-(2**63)), ints(0), ints(-2)), {}, "[(N + 1)//2]"),
        ("Slice", (f32(N, 7), ints(0), ints(2**31 - 1), ints(1), ints(3)), {}, "[N, 3]"),
        ("Slice", (f32(N, 7), unknown_ints(1), unknown_ints(1), ints(0)), {}, "[?, 7]"),
        ("Pad", (f32(N, 3), ints(1, 0, 2, 0)), {}, "[N + 3, 3]"),
        ("Pad", (f32(N, 3), ints(1, 2), ABSENT, ints(-2)), {}, "[N + 3, 3]"),
        ("MatMul", (f32(N, 1, 4, M), f32(3, M, 5)), {}, "[N, 3, 4, 5]"),
        ("MatMul", (f32(M), f32(N, M, 5)), {}, "[N, 5]"),
        ("MatMul", (f32(M), f32(M)), {}, "[]"),
        ("Gemm", (f32(M, N), f32(5, M)), {"transA": 1, "transB": 1}, "[N, 5]"),
        ("Add", (f32(N, 1), f32(M)), {}, "[N, M]"),
        ("Add", (f32(N), f32(M)), {}, "[broadcast(M, N)]"),
        ("Add", (f32(0, 1), f32(3)), {}, "[0, 3]"),
        ("Expand", (f32(N, 1), ints(1, M)), {}, "[N, M]"),
        ("Expand", (f32(3), unknown_ints(2)), {}, "[?, 3]"),
        ("CenterCropPad", (f32(N, 3), ints(4, M)), {}, "[4, M]"),
        ("CenterCropPad", (f32(N, 3), unknown_ints(1)), {"axes": (-1,)}, "[N, ?]"),
        ("Tile", (f32(N, 3), ints(2, M)), {}, "[2*N, 3*M]"),
        ("DepthToSpace", (f32(N, 8, H, 2),), {"blocksize": 2}, "[N, 2, 2*H, 4]"),
        ("SpaceToDepth", (f32(N, 2, H, 4),), {"blocksize": 2}, "[N, 8, H//2, 2]"),
        ("Einsum", (f32(N, 3), f32(3, M)), {"equation": "ij, jk"}, "[N, M]"),
        ("Einsum", (f32(N, N),), {"equation": "ii->i"}, "[N]"),
        ("Einsum", (f32(N, 3), TensorType(DType.F32, None)), {"equation": "ij, jk"}, "[N, ?]"),
        ("Gather", (f32(N, 3), unknown_ints(M)), {"axis": 1}, "[N, M]"),
        ("GatherND", (f32(N, 3, M), PLACES), {"batch_dims": 1}, "[N, H, M]"),
        ("OneHot", (unknown_ints(N), scalar(M), f32(2)), {}, "[N, M]"),
        ("TopK", (f32(N, 8), ints(3)), {}, "[N, 3]"),
        ("Range", (scalar(0), scalar(N), scalar(1)), {}, "[N]"),
        ("Range", (scalar(0), scalar(N), scalar(2)), {}, "[(N + 1)//2]"),
        ("ConstantOfShape", (ints(N, 3),), {}, "[N, 3]"),
        ("ReduceSum", (f32(N, 3), ints(0)), {"keepdims": 0}, "[3]"),
        ("ReduceSum", (f32(N, 3), unknown_ints(1)), {}, "[?, ?]"),
        ("ReduceSum", (f32(N, 3), ABSENT), {}, "[1, 1]"),
        ("Squeeze", (f32(N, 1),), {}, "?"),
        ("Squeeze", (f32(N + 2, 1),), {}, "[N + 2]"),
        ("Unsqueeze", (f32(N), ints(-1)), {}, "[N, 1]"),
        ("Unsqueeze", (f32(N), unknown_ints(2)), {}, "[?, ?, ?]"),
        ("Transpose", (f32(N, 3, M),), {}, "[M, 3, N]"),
        ("Resize", (f32(1, 3, H, 4), ABSENT, SCALES), {}, "[1, 3, 2*H, 2]"),
        ("Resize", (f32(1, 3, H, 4), ABSENT, ABSENT, ints(1, 3, N, 7)), {}, "[1, 3, N, 7]"),
        ("Resize", (f32(1, 3, H, 4), ABSENT, ABSENT, ints(7)), {"axes": (3,)}, "[1, 3, H, 7]"),
        ("Shape", (f32(N, 3),), {}, "[2]"),
        ("NonZero", (f32(N, 3),), {}, "[2, ?]"),
        ("MeanVarianceNormalization", (f32(N, 3, H, H),), {}, "[N, 3, H, H]"),
        ("Relu", (TensorType(DType.F32, None),), {}, "?"),
        ("Acos", (TensorType(DType.BF16, (N,)),), {}, "[N]"),
        ("Dropout", (f32(N), ABSENT, ABSENT), {}, "[N]"),
    ],
)  # fmt: skip
def test_completed(
    name: str, inputs: tuple[Type, ...], attributes: dict[str, Any], expected: str
) -> None:
    outputs = 2 if name == "TopK" else 1
    assert shapes(name, *inputs, outputs=outputs, **attributes)[0] == expected


def test_split_of_symbols() -> None:
    assert shapes("Split", f32(N), ABSENT, outputs=2, num_outputs=2) == [
        "[(N + 1)//2]",
        "[-((N + 1)//2) + N]",
    ]
    assert shapes("Split", f32(2 * N), ints(N, N), outputs=2) == ["[N]", "[N]"]
    assert shapes("Split", f32(5), unknown_ints(2), outputs=2) == ["[?]", "[?]"]


def test_statistics_of_a_layer_normalisation() -> None:
    assert shapes("LayerNormalization", f32(N, 3, 4), f32(4), outputs=3) == [
        "[N, 3, 4]",
        "[N, 3, 1]",
        "[N, 3, 1]",
    ]


def test_recurrent() -> None:
    found = shapes("LSTM", f32(N, M, 3), f32(1, 16, 3), f32(1, 16, 4), outputs=3)
    assert found == ["[N, 1, M, 4]", "[1, M, 4]", "[1, M, 4]"]


# --- unknown dims ---------------------------------------------------------------------------


def only_dims(found: tuple[Type, ...] | TypeFault) -> tuple[Dim, ...]:
    assert not isinstance(found, TypeFault)
    assert isinstance(found[0], TensorType)
    assert found[0].dims is not None
    return found[0].dims


def test_equal_questions_have_equal_answers() -> None:
    scales = TensorType(DType.F32, (2,), (1.0, 0.3))
    first = only_dims(ask("Resize", f32(N, H), ABSENT, scales))
    again = only_dims(ask("Resize", f32(N, H), ABSENT, scales))
    other = only_dims(ask("Resize", f32(N, M), ABSENT, scales))
    assert first == again
    assert dims.is_unknown(first[1])
    assert not dims.is_ambiguous(first[1])
    assert first[1] != other[1]


def test_contents_that_types_do_not_show_make_dims_ambiguous() -> None:
    some = only_dims(ask("NonZero", f32(4)))[1]
    assert dims.is_ambiguous(some)
    own = only_dims(ask("NonZero", f32(4), identity="y"))[1]
    assert dims.is_unknown(own)
    assert not dims.is_ambiguous(own)
    assert own != only_dims(ask("NonZero", f32(4), identity="z"))[1]


def test_opaque_types() -> None:
    op = catalog.opaque("com.acme", "Fused", 1)
    declared = (f32(N, 3),)
    assert infer_opaque(op, Attributes(), (f32(2),), 1, declared) == declared
    assert infer(op, Attributes(), (f32(2),), 2) == (UNDECLARED, UNDECLARED)


def test_opaque_operators_of_onnx_are_asked_at_their_version() -> None:
    softmax = catalog.opaque("", "Softmax", 11)
    assert infer(softmax, Attributes.of({"axis": 1}), (f32(N, 3, 4),), 1) == (f32(N, 3, 4),)
    attention = catalog.opaque("", "Attention", 23)
    found = infer_opaque(attention, Attributes(), (f32(1, 2, 3, 4),) * 3, 1, (f32(N, 2, 3, 4),))
    assert found == (f32(1, 2, 3, 4),)


# --- anything -------------------------------------------------------------------------------

SIZES = st.one_of(st.integers(0, 4), st.sampled_from([N, M, N + 1]))
DTYPES = st.sampled_from([DType.F32, DType.I64, DType.BOOL, DType.STRING])


@st.composite
def any_types(draw: st.DrawFn) -> Type:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return ABSENT
    if kind == 1:
        return OtherType(draw(st.sampled_from(["?", "seq(f32[2, N])", "optional(i64[...])"])))
    if kind == 2:
        return TensorType(draw(DTYPES), None)
    if kind < 6:
        values = draw(st.lists(st.integers(-3, 4), max_size=4))
        return ints(*values)
    return TensorType(draw(DTYPES), tuple(draw(st.lists(SIZES, max_size=4))))


VALUES = st.one_of(
    st.integers(-3, 4),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(-2, 3), max_size=4).map(tuple),
)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_nothing_raises(data: st.DataObject) -> None:
    op = catalog.operator(data.draw(st.sampled_from(catalog.names())))
    assert op is not None
    inputs = tuple(data.draw(st.lists(any_types(), max_size=max(len(op.inputs), 3))))
    names = [a.name for a in op.attributes]
    chosen = data.draw(st.dictionaries(st.sampled_from(names), VALUES)) if names else {}
    outputs = data.draw(st.integers(1, 3))
    canonical = canonical_attributes(op, chosen, inputs)
    found = infer(op, canonical, inputs, outputs)
    assert isinstance(found, TypeFault) or len(found) == outputs


def test_numbers_beyond_the_largest_are_infinite_without_a_word_from_numpy(
    recwarn: pytest.WarningsRecorder,
) -> None:
    lowest = TensorType(DType.F32, (), (-1e39,))
    assert infer(catalog.operator("Clip"), Attributes(), (f32(2), lowest), 1) == (f32(2),)
    assert [str(warning.message) for warning in recwarn] == []
