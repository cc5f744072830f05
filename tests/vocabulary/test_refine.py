"""The meet of types: a semilattice that only ever learns; types to ONNX and back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from onnx import TypeProto, helper

from tensat_dl.vocabulary import dims, protos
from tensat_dl.vocabulary.dims import Dim, symbol
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.refine import information, meet
from tensat_dl.vocabulary.types import ABSENT, UNDECLARED, OtherType, TensorType, Type

N, M = symbol("N"), symbol("M")
WHO = dims.unknown("q")
SOME = dims.unknown("q", ambiguous=True)


def f32(*sizes: Dim) -> TensorType:
    return TensorType(DType.F32, sizes)


def i64(*sizes: Dim, value: tuple[Dim, ...] | None = None) -> TensorType:
    return TensorType(DType.I64, sizes, value)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (f32(N), f32(5), f32(5)),
        (f32(WHO, 3), f32(N, M), f32(N, 3)),
        (f32(SOME), f32(WHO), f32(WHO)),
        (f32(N), f32(M), f32(M)),
        (f32(2 * N), f32(M), f32(M)),
        (f32(4), f32(5), None),
        (f32(N + 6), f32(5), None),
        (f32(N), f32(N + 1), None),
        (f32(N), f32(N, 1), None),
        (f32(2), TensorType(DType.F16, (2,)), None),
        (TensorType(DType.F32, None), f32(N), f32(N)),
        (i64(2), i64(2, value=(N, 1)), i64(2, value=(N, 1))),
        (i64(2, value=(N, 1)), i64(2, value=(5, 1)), i64(2, value=(5, 1))),
        (i64(1, value=(1,)), i64(1, value=(2,)), None),
        (i64(0, value=()), i64(0), i64(0, value=())),
        (TensorType(DType.F32, (), (0.5,)), TensorType(DType.F32, (), (0.25,)), None),
        (TensorType(DType.F32, (), (float("nan"),)), TensorType(DType.F32, (), (1.0,)), None),
        (f32(9), TensorType(DType.F32, (9,), fill=0.0), TensorType(DType.F32, (9,), fill=0.0)),
        (TensorType(DType.F32, (9,), fill=1.0), TensorType(DType.F32, (9,), fill=0.0), None),
        (TensorType(DType.I64, (N,), fill=2), i64(2, value=(2, 2)), i64(2, value=(2, 2))),
        (TensorType(DType.I64, (N,), fill=2), i64(2, value=(M, 2)), i64(2, value=(2, 2))),
        (TensorType(DType.I64, (N,), fill=2), i64(2, value=(2, 3)), None),
        (UNDECLARED, f32(N), f32(N)),
        (OtherType("seq(f32[2])"), f32(N), None),
        (ABSENT, ABSENT, ABSENT),
        (ABSENT, f32(N), None),
    ],
)  # fmt: skip
def test_meet(left: Type, right: Type, expected: Type | None) -> None:
    assert meet(left, right) == expected
    assert meet(right, left) == expected


SIZES = st.sampled_from([2, 3, N, M, N + M, WHO, SOME, dims.unknown("r")])
TYPES = st.one_of(
    st.builds(lambda sizes: TensorType(DType.I64, tuple(sizes)), st.lists(SIZES, max_size=2)),
    st.builds(lambda a, b: TensorType(DType.I64, (2,), (a, b)), SIZES, SIZES),
    st.builds(lambda fill: TensorType(DType.I64, (2,), fill=fill), st.sampled_from([2, 3])),
    st.just(TensorType(DType.I64, None)),
    st.just(UNDECLARED),
)


@given(TYPES, TYPES, TYPES)
def test_meet_is_associative_and_idempotent(a: Type, b: Type, c: Type) -> None:
    assert meet(a, a) == a
    ab, bc = meet(a, b), meet(b, c)
    if ab is None or bc is None:
        return
    left, right = meet(ab, c), meet(a, bc)
    assert left is None or right is None or left == right


@given(TYPES, TYPES)
def test_information_grows(a: Type, b: Type) -> None:
    met = meet(a, b)
    if met is not None:
        assert information(met) >= max(information(a), information(b))


@pytest.mark.parametrize(
    "rising",
    [
        [UNDECLARED, TensorType(DType.I64, None), TensorType(DType.I64, ())],
        [TensorType(DType.I64, None), i64(SOME), i64(WHO), i64(N), i64(1), i64(1, value=(WHO,)),
         i64(1, value=(N,)), i64(1, value=(4,))],
        [i64(0), i64(0, value=())],
    ],
)  # fmt: skip
def test_information_rises_strictly(rising: list[Type]) -> None:
    counts = [information(type_) for type_ in rising]
    assert counts == sorted(set(counts))


def test_types_from_onnx() -> None:
    proto = helper.make_tensor_type_proto(1, ["N", 3, None])
    found = protos.type_of(proto, "x")
    assert found == f32(N, 3, dims.unknown("x[2]"))
    assert protos.type_of(proto, "y") != found
    assert protos.type_of(helper.make_tensor_type_proto(1, None), "x") == TensorType(
        DType.F32, None
    )
    assert protos.type_of(proto, "x", {"N": 4}) == f32(4, 3, dims.unknown("x[2]"))
    assert protos.type_of(TypeProto(), "x") == UNDECLARED


ROWS = helper.make_tensor_type_proto(1, [2, "N", None])
UNSHAPED = helper.make_tensor_type_proto(7, None)
TEXTS = helper.make_tensor_type_proto(8, [])


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        (helper.make_sequence_type_proto(ROWS), "seq(f32[2, N, _])"),
        (helper.make_optional_type_proto(UNSHAPED), "optional(i64[...])"),
        (helper.make_map_type_proto(7, TEXTS), "map(i64, string[])"),
    ],
)  # fmt: skip
def test_other_types_are_text_and_come_back(proto: TypeProto, text: str) -> None:
    found = protos.type_of(proto, "x")
    assert found == OtherType(text)
    assert protos.proto_of(found) == proto


def test_types_to_onnx() -> None:
    assert protos.proto_of(f32(2 * N, 3)) == helper.make_tensor_type_proto(1, ["2*N", 3])
    assert protos.proto_of(f32()) == helper.make_tensor_type_proto(1, [])
    assert protos.proto_of(ABSENT) is None
    assert protos.proto_of(UNDECLARED) is None
