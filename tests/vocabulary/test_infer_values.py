"""Values that types carry: shape arithmetic on numbers and symbols, folded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from onnx import numpy_helper
from questions import H, M, N, ask, f32, ints, scalar, shapes

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.attributes import Blob
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type, TypeFault


def value_of(name: str, *inputs: Type, **attributes: Any) -> tuple[object, ...] | None:
    found = ask(name, *inputs, **attributes)
    assert not isinstance(found, TypeFault), found
    assert isinstance(found[0], TensorType)
    return found[0].value


def test_the_target_of_a_reshape_folds() -> None:
    x = f32(N, 3, H)
    shape = TensorType(DType.I64, (3,), value_of("Shape", x))  # type: ignore[arg-type]
    batch = TensorType(DType.I64, (), value_of("Gather", shape, scalar(0)))  # type: ignore[arg-type]
    listed = TensorType(DType.I64, (1,), value_of("Unsqueeze", batch, ints(0)))  # type: ignore[arg-type]
    target = TensorType(DType.I64, (2,), value_of("Concat", listed, ints(-1), axis=0))  # type: ignore[arg-type]
    assert target.value == (N, -1)
    assert shapes("Reshape", x, target) == ["[N, 3*H]"]


def tensor(*values: Any, dtype: DType = DType.I64) -> TensorType:
    return TensorType(dtype, (len(values),), values)


FLAGS = tensor(True, False, dtype=DType.BOOL)


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "expected"),
    [
        ("Shape", (f32(N, 3, M),), {"start": 1}, (3, M)),
        ("Shape", (f32(N, 3, M),), {"end": -1}, (N, 3)),
        ("Size", (f32(N, 3),), {}, (3 * N,)),
        ("Add", (tensor(N, 1), scalar(2)), {}, (N + 2, 3)),
        ("Sub", (tensor(N + 2), tensor(N)), {}, (2,)),
        ("Mul", (tensor(N, 2), tensor(M, 3)), {}, (N * M, 6)),
        ("Div", (tensor(4 * N, -7), scalar(2)), {}, (2 * N, -3)),
        ("Div", (tensor(N - 1), scalar(2)), {}, None),
        ("Div", (tensor(1), scalar(0)), {}, None),
        ("Mod", (tensor(2 * N + 1, 7), scalar(2)), {}, (1, 1)),
        ("Max", (tensor(N + 1, 2), scalar(1)), {}, (N + 1, 2)),
        ("Min", (tensor(N, 2), tensor(N + 1, 1)), {}, (N, 1)),
        ("Neg", (tensor(N, 2),), {}, (-N, -2)),
        ("Abs", (tensor(N, -2),), {}, (N, 2)),
        ("Equal", (tensor(N, N, 3), tensor(N, -1, 3)), {}, (True, False, True)),
        ("Equal", (tensor(N), tensor(M)), {}, None),
        ("Less", (tensor(N, 3), tensor(N + 1, 3)), {}, (True, False)),
        ("GreaterOrEqual", (tensor(N), scalar(0)), {}, (True,)),
        ("Where", (FLAGS, tensor(N, 1), tensor(2, M)), {}, (N, M)),
        ("Not", (tensor(True, dtype=DType.BOOL),), {}, (False,)),
        ("And", (FLAGS, FLAGS), {}, (True, False)),
        ("Cast", (tensor(N, 3),), {"to": DType.I32.onnx_code}, (N, 3)),
        ("Cast", (tensor(1, 0),), {"to": DType.BOOL.onnx_code}, (True, False)),
        ("Cast", (tensor(3),), {"to": DType.F32.onnx_code}, (3.0,)),
        ("Cast", (tensor(300),), {"to": DType.U8.onnx_code}, None),
        ("Cast", (tensor(2.75, dtype=DType.F32),), {"to": DType.I64.onnx_code}, (2,)),
        ("Concat", (tensor(N), tensor(1, M)), {"axis": 0}, (N, 1, M)),
        ("Gather", (tensor(N, 1, M), tensor(-1, 0)), {}, (M, N)),
        ("Slice", (tensor(N, 1, M), ints(1), ints(9)), {}, (1, M)),
        ("Slice", (tensor(N, 1, M), ints(-1), ints(-9), ints(0), ints(-1)), {}, (M, 1, N)),
        ("Squeeze", (tensor(N), ints(0)), {}, (N,)),
        ("Reshape", (tensor(N, 1, 2, 3), ints(2, -1)), {}, (N, 1, 2, 3)),
        ("Transpose", (TensorType(DType.I64, (2, 2), (N, 1, 2, M)),), {}, (N, 2, 1, M)),
        ("ReduceProd", (tensor(N, 2, M), ABSENT), {}, (2 * N * M,)),
        ("ReduceSum", (tensor(N, 2), ints(0)), {"keepdims": 0}, (N + 2,)),
        ("ReduceMax", (tensor(4, 2), ABSENT), {}, (4,)),
        ("Range", (scalar(1), scalar(7), scalar(2)), {}, (1, 3, 5)),
        ("Expand", (tensor(N), ints(2, 1)), {}, (N, N)),
        ("Tile", (tensor(N, 1), ints(2)), {}, (N, 1, N, 1)),
        ("NonZero", (tensor(0, 5, 7),), {}, (1, 2)),
        ("Identity", (tensor(N),), {}, (N,)),
        ("Flatten", (tensor(N, 2),), {"axis": 0}, (N, 2)),
        ("ConstantOfShape", (ints(2),), {}, (0.0, 0.0)),
        ("ConstantOfShape", (ints(100),), {}, None),
        ("Mul", (tensor(2.0, dtype=DType.F32), tensor(3.0, dtype=DType.F32)), {}, None),
    ],
)  # fmt: skip
def test_folded(
    name: str, inputs: tuple[Type, ...], attributes: dict[str, Any], expected: object
) -> None:
    assert value_of(name, *inputs, **attributes) == expected


def test_constant_of_shape_fills_with_its_value() -> None:
    fill = numpy_helper.from_array(np.array([7], dtype=np.int64))
    blob = Blob.of("tensor", fill.SerializeToString(), fill)
    assert value_of("ConstantOfShape", ints(2), value=blob) == (7, 7)


ZEROS = TensorType(DType.F32, (3, 100), fill=0.0)


@pytest.mark.parametrize(
    ("name", "inputs", "fill"),
    [
        ("Reshape", (ZEROS, ints(300)), 0.0),
        ("Expand", (tensor(2.0, 2.0, dtype=DType.F32), ints(50, 2)), 2.0),
        ("Expand", (tensor(2.0, 3.0, dtype=DType.F32), ints(50, 2)), None),
        ("ConstantOfShape", (ints(N),), 0.0),
        ("Neg", (ZEROS,), None),
    ],
)  # fmt: skip
def test_the_number_that_fills_a_tensor_is_known_where_elements_move(
    name: str, inputs: tuple[Type, ...], fill: object
) -> None:
    [found] = ask(name, *inputs)
    assert isinstance(found, TensorType)
    assert (found.value, found.fill) == (None, fill)


ELEMENT = st.one_of(st.integers(0, 9), st.sampled_from([N, M, N + 1, 2 * M, N * M, 3 * N + 2]))


@given(
    st.sampled_from(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Less", "Greater"]),
    st.lists(st.tuples(ELEMENT, ELEMENT), min_size=1, max_size=4),
    st.fixed_dictionaries({"N": st.integers(0, 20), "M": st.integers(0, 20)}),
)
@settings(max_examples=150, deadline=None)
def test_folding_symbols_is_folding_numbers(
    name: str, pairs: list[tuple[Dim, Dim]], numbers: dict[str, int]
) -> None:
    left, right = zip(*pairs, strict=True)
    symbolic = value_of(name, tensor(*left), tensor(*right))
    exact = [[dims.substitute(item, numbers) for item in side] for side in (left, right)]
    concrete = value_of(name, tensor(*exact[0]), tensor(*exact[1]))
    if symbolic is None or concrete is None:
        return
    assert [dims.substitute(item, numbers) for item in symbolic] == list(concrete)  # type: ignore[arg-type]
