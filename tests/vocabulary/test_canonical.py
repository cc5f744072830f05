"""Canonical attributes: defaults, ranks, axes, padding; pads checked by running convolutions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from tensat_dl.vocabulary import canonical, catalog
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dims import Dim, symbol
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type

N = symbol("N")


def op(name: str) -> Operator:
    found = catalog.operator(name)
    assert found is not None
    return found


def f32(*dims: Dim) -> TensorType:
    return TensorType(DType.F32, dims)


def canon(
    name: str, given: Mapping[str, AttributeValue], *inputs: Type
) -> Mapping[str, AttributeValue]:
    return canonical.canonical_attributes(op(name), given, inputs).as_dict()


def test_a_convolution_written_out_and_a_plain_one_are_the_same() -> None:
    x, w = f32(1, 3, 8, 8), f32(4, 3, 3, 3)
    written = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1)}
    assert canon("Conv", written, x, w, ABSENT) == canon("Conv", {}, x, w, ABSENT)
    assert canon("Conv", {}, x, w, ABSENT) == {
        "auto_pad": "NOTSET", "dilations": (1, 1), "group": 1, "pads": (0,) * 4, "strides": (1, 1),
    }  # fmt: skip


def test_a_kernel_that_the_weight_does_not_show_is_kept() -> None:
    w = f32(4, 3, N, N)
    assert canon("Conv", {"kernel_shape": (3, 3)}, f32(1, 3, 8, 8), w)["kernel_shape"] == (3, 3)


@pytest.mark.parametrize(
    ("name", "given", "rank", "expected"),
    [
        ("Softmax", {}, 4, {"axis": 3}),
        ("Softmax", {"axis": -2}, 4, {"axis": 2}),
        ("Concat", {"axis": -1}, 2, {"axis": 1}),
        ("Flatten", {"axis": -1}, 3, {"axis": 2}),
        ("Transpose", {}, 3, {"perm": (2, 1, 0)}),
        ("OneHot", {}, 2, {"axis": 2}),
        ("Shape", {}, 3, {"start": 0}),
        ("Shape", {"start": -1, "end": 9}, 3, {"start": 2}),
        ("Shape", {"end": -1}, 3, {"start": 0, "end": 2}),
        ("CenterCropPad", {"axes": (-1, 0)}, 3, {"axes": (2, 0)}),
        ("CenterCropPad", {"axes": (0, -2, -1)}, 3, {}),
        ("LeakyRelu", {"alpha": 0.01}, 1, {"alpha": float(np.float32(0.01))}),
        ("Elu", {"alpha": 2}, 1, {"alpha": 2.0}),
    ],
)
def test_values(name: str, given: dict[str, AttributeValue], rank: int, expected: object) -> None:
    assert canon(name, given, f32(*[2] * rank)) == expected


def test_what_needs_a_rank_waits_for_it() -> None:
    unranked = TensorType(DType.F32, None)
    assert canon("Softmax", {}, unranked) == {"axis": -1}
    assert canon("Transpose", {}, unranked) == {}
    assert canonical.default_of(op("Transpose"), "perm", [unranked]) is None


def test_default_of() -> None:
    x, w = f32(1, 3, 8, 8), f32(4, 3, 3, 3)
    assert canonical.default_of(op("Conv"), "strides", [x, w]) == (1, 1)
    assert canonical.default_of(op("Conv"), "kernel_shape", [x, w]) is None
    assert canonical.default_of(op("Softmax"), "axis", [x]) == 3
    assert canonical.default_of(op("Concat"), "axis", [x]) is None
    hidden = canonical.default_of(op("LSTM"), "hidden_size", [x, f32(1, 8, 4), f32(1, 8, 2)])
    assert hidden == 2


def test_an_element_type_is_its_code() -> None:
    assert canonical.normalise(op("Cast"), "to", DType.F16, [f32(2)]) == TensorProto.FLOAT16


def test_wrong_values_are_kept() -> None:
    assert canon("Softmax", {"axis": "last", "nonsense": 3}, f32(2)) == {
        "axis": "last",
        "nonsense": 3,
    }


@pytest.mark.parametrize(
    ("target", "expected"), [((2, -1), 0), ((0, 4), 1), ((N, 4), 1), ((N + 1, 4), 0)]
)
def test_allowzero_is_dropped_where_there_is_no_zero(
    target: tuple[Dim, ...], expected: int
) -> None:
    shape = TensorType(DType.I64, (2,), target)
    assert canon("Reshape", {"allowzero": 1}, f32(2, 4), shape)["allowzero"] == expected


@pytest.mark.parametrize(("count", "expected"), [(1, 0), (2, 0), (0, 1), (N, 1)])
def test_what_happens_without_axes_is_dropped_where_there_are_some(
    count: Dim, expected: int
) -> None:
    axes = TensorType(DType.I64, (count,))
    given = canon("ReduceSum", {"noop_with_empty_axes": 1}, f32(2, 4), axes)
    assert given["noop_with_empty_axes"] == expected
    assert canon("ReduceSum", {"noop_with_empty_axes": 1}, f32(2, 4))["noop_with_empty_axes"] == 1


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("name", ["Conv", "MaxPool", "AveragePool"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_pads_of_auto_pad_compute_the_same(name: str, mode: str, stride: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 2, 7, 8), dtype=np.float32)
    w = rng.standard_normal((3, 2, 3, 2), dtype=np.float32)
    given: dict[str, AttributeValue] = {"auto_pad": mode, "strides": (stride, stride)}
    arrays = {"x": x, "w": w} if name == "Conv" else {"x": x}
    if name != "Conv":
        given["kernel_shape"] = (3, 2)
    types = [f32(*array.shape) for array in arrays.values()]
    resolved = canon(name, given, *types)
    assert resolved["auto_pad"] == "NOTSET"
    expected, actual = (_run(name, attributes, arrays) for attributes in (given, resolved))
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def _run(
    name: str, given: Mapping[str, AttributeValue], arrays: dict[str, np.ndarray]
) -> np.ndarray:
    node = helper.make_node(name, list(arrays), ["y"], **given)
    inputs = [helper.make_tensor_value_info(n, 1, a.shape) for n, a in arrays.items()]
    output = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph([node], "g", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, arrays)[0])


def test_auto_pad_with_unknown_dims() -> None:
    w = f32(3, 2, 3, 3)
    same: dict[str, AttributeValue] = {"auto_pad": "SAME_UPPER"}
    assert canon("Conv", same, f32(1, 2, N, N), w)["pads"] == (1, 1, 1, 1)
    strided = canon("Conv", {**same, "strides": (2, 2)}, f32(1, 2, N, N), w)
    assert strided["auto_pad"] == "SAME_UPPER"
    assert "pads" not in strided
