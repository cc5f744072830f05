"""One node at an old version for each change that `versions` knows, and nodes that stay opaque."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_rng = np.random.default_rng(7)


def f32(*dims: int) -> Array:
    return _rng.standard_normal(dims).astype(np.float32)


def i64(*values: int) -> Array:
    return np.array(values, dtype=np.int64)


@dataclass(frozen=True)
class Case:
    """`op` at `version`; inputs that are arrays in `constants` are initializers.

    `back`: lowering to the same version gives the same inputs again.
    """

    op: str
    version: int
    inputs: tuple[Array | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    constants: tuple[int, ...] = ()
    outputs: int = 1
    back: bool = True
    converter: bool = True

    @property
    def label(self) -> str:
        attributes = "-".join(f"{name}={value}" for name, value in self.attributes.items())
        return f"{self.op}-{self.version}-{attributes}"


TWICE = np.array([1, 1, 2, 2], np.float32)
BOXES = np.array([[0, 0, 3, 3]], np.float32)
ROWS = np.zeros((1, 3, 4), np.int64)
X4 = f32(1, 2, 4, 4)
X3 = f32(2, 3, 4)
TF_HALF_PIXEL = {"coordinate_transformation_mode": "tf_half_pixel_for_nn"}
QKV = (f32(1, 2, 3, 4), f32(1, 2, 5, 4), f32(1, 2, 5, 6))
PAST = (f32(1, 2, 4, 4), f32(1, 2, 4, 6))
PLACES = i64(1, 0, 4)[None]
POOL = {"kernel_shape": [2, 2]}

LIFTED: tuple[Case, ...] = (
    Case("ArgMax", 11, (X3,), {"axis": 1}),
    Case("ArgMin", 11, (X3,), {"axis": -1}),
    Case("AveragePool", 7, (X4,), POOL),
    Case("AveragePool", 11, (X4,), {**POOL, "pads": [1, 0, 1, 0], "count_include_pad": 1}),
    Case("BatchNormalization", 7, (X4, f32(2), f32(2), f32(2), abs(f32(2)))),
    Case("BatchNormalization", 9, (X4, f32(2), f32(2), f32(2), abs(f32(2))), {"epsilon": 0.01}),
    Case("Cast", 13, (X3,), {"to": 7}),
    Case("CastLike", 15, (X3, i64(1)), converter=False),
    Case("Clip", 7, (X3,), {"min": -0.5, "max": 0.5}),
    Case("Clip", 7, (X3,), {"min": 0.0}),
    Case("Clip", 7, (X3.astype(np.float16),), {"max": 0.25}),
    Case("Clip", 11, (X3, np.float32(-0.5), None)),
    Case("ConvTranspose", 8, (X4, f32(2, 3, 2, 2)), {"strides": [2, 2]}),
    Case("DepthToSpace", 9, (f32(1, 8, 2, 3),), {"blocksize": 2}),
    Case("DequantizeLinear", 10, (np.array([1, 5], np.uint8), np.float32(0.5), np.uint8(2))),
    Case("DequantizeLinear", 13, (np.array([[1], [5]], np.uint8), f32(2)), {"axis": 0}),
    Case("DFT", 17, (f32(1, 6, 1),), {"axis": 1}),
    Case("Dropout", 7, (X3,), {"ratio": 0.3}),
    Case("Dropout", 10, (X3,), {"ratio": 0.3}),
    Case("Dropout", 12, (X3, np.float32(0.3)), constants=(1,), back=False),
    Case("Gather", 9, (X3, i64(1, 0)), {"axis": 1}, constants=(1,)),
    Case("GatherND", 11, (X3, np.array([[0, 1]], np.int64))),
    Case("Gemm", 9, (f32(2, 3), f32(3, 4), f32(4)), {"alpha": 0.5}),
    Case("GridSample", 16, (X4, f32(1, 2, 3, 2)), {"mode": "bilinear"}, converter=False),
    Case("GRU", 7, (f32(3, 2, 2), f32(1, 6, 2), f32(1, 6, 2)), {"hidden_size": 2}, outputs=2),
    Case("Hardmax", 11, (X3,), {"axis": 2}),
    Case("LogSoftmax", 9, (f32(2, 5),)),
    Case("LSTM", 7, (f32(3, 2, 2), f32(1, 8, 2), f32(1, 8, 2)), {"hidden_size": 2}, outputs=3),
    Case("LpPool", 11, (X4,), POOL),
    Case("Max", 7, (X3, X3[::-1].copy())),
    Case("Max", 8, (X3, f32(4))),
    Case("MaxPool", 7, (X4,), {**POOL, "strides": [2, 2]}),
    Case("MaxPool", 9, (X4,), POOL, outputs=2),
    Case("MaxPool", 10, (X4,), {**POOL, "ceil_mode": 1, "strides": [2, 2]}),
    Case("Mean", 7, (X3, X3[::-1].copy())),
    Case("Min", 7, (X3, X3[::-1].copy())),
    Case("OneHot", 9, (i64(1, 0, 2), np.int64(4), f32(2)), constants=(0, 1)),
    Case("Pad", 9, (X3,), {"pads": [0, 1, 0, 0, 0, 2]}),
    Case("Pad", 9, (X3,), {"pads": [0, 1, 0, 0, 0, 2], "value": 1.5}),
    Case("Pad", 9, (X3,), {"pads": [0, 1, 0, 0, 0, 2], "mode": "reflect"}),
    Case("Pad", 13, (X3, i64(0, 1, 0, 0, 0, 2)), constants=(1,)),
    Case("Pad", 18, (X3, i64(1, 2), None, i64(1)), constants=(1, 3)),
    Case("QuantizeLinear", 10, (X3, np.float32(0.5), np.uint8(3))),
    Case("QuantizeLinear", 13, (X3, abs(f32(3)), np.zeros(3, np.uint8)), {"axis": 1}),
    Case("QuantizeLinear", 19, (X3, np.float32(0.5), np.uint8(3))),
    Case("ReduceSum", 9, (X3,), {"axes": [1]}),
    Case("ReduceSum", 11, (X3,), {"axes": [-1], "keepdims": 0}),
    Case("ReduceSum", 11, (X3,)),
    *(
        Case(name, 13, (abs(X3),), {"axes": [0, 2]})
        for name in (
            "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
            "ReduceMin", "ReduceProd", "ReduceSumSquare",
        )
    ),
    Case("Reshape", 9, (X3, i64(0, -1)), constants=(1,)),
    Case("Resize", 10, (X4, np.array([1, 1, 2, 1.5], np.float32)), constants=(1,)),
    Case("Resize", 10, (X4, TWICE), {"mode": "linear"}, constants=(1,), converter=False),
    Case("Resize", 11, (X4, f32(0), TWICE), constants=(1, 2)),
    Case("Resize", 13, (X4, None, None, i64(1, 2, 3, 6)), {"mode": "linear"}, constants=(3,)),
    Case("RNN", 7, (f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 2)), {"hidden_size": 2}, outputs=2),
    Case("RoiAlign", 10, (X4, BOXES, i64(0)), {"output_height": 2}, converter=False),
    Case("Scatter", 9, (X3, ROWS, f32(1, 3, 4)), converter=False),
    Case("ScatterElements", 13, (X3, ROWS, f32(1, 3, 4)), {"axis": 0}),
    Case("ScatterElements", 16, (X3, ROWS, f32(1, 3, 4)), {"reduction": "add"}),
    Case("ScatterND", 13, (X3, np.array([[1, 2]], np.int64), f32(1, 4))),
    Case("ScatterND", 16, (X3, np.array([[1, 2]], np.int64), f32(1, 4)), {"reduction": "add"}),
    Case("Shape", 13, (X3,)),
    Case("Slice", 9, (X3,), {"starts": [1, -3], "ends": [3, 4], "axes": [1, 2]}),
    Case("Slice", 9, (X3,), {"starts": [0, 1], "ends": [1, 9]}),
    Case("Softmax", 11, (X3,), {"axis": 2}),
    Case("Softmax", 11, (f32(2, 5, 1, 1),)),
    Case("Softmax", 11, (X3,), {"axis": -1}),
    Case("Split", 11, (f32(6, 2),), {"split": [2, 4]}, outputs=2),
    Case("Split", 11, (f32(6, 2),), {"axis": 0}, outputs=3),
    Case("Split", 13, (f32(6, 2), i64(2, 4)), constants=(1,), outputs=2),
    Case("Split", 13, (f32(6, 2),), outputs=2),
    Case("Squeeze", 11, (f32(1, 3, 1),), {"axes": [0]}),
    Case("Squeeze", 11, (f32(1, 3, 1),)),
    Case("Sum", 7, (X3, X3)),
    Case("TopK", 9, (X3,), {"k": 2, "axis": 1}, outputs=2),
    Case("TopK", 10, (X3, i64(2)), {"axis": 1}, constants=(1,), outputs=2),
    Case("Unsqueeze", 11, (X3,), {"axes": [0, -1]}, back=False),
    Case("Unsqueeze", 9, (X3,), {"axes": [0, 4]}),
    Case("Upsample", 7, (X4,), {"scales": [1.0, 1.0, 2.0, 3.0]}),
    Case("Upsample", 7, (X4,), {"scales": [1.0, 1.0, 2.0, 2.0], "mode": "linear"}),
    Case("Upsample", 9, (X4, TWICE), constants=(1,)),
    # Operators without a row: nothing changed but element types and axes counted from the back.
    Case("Conv", 7, (X4, f32(3, 2, 3, 3)), {"kernel_shape": [3, 3]}, back=False),
    Case("Concat", 9, (X3, X3), {"axis": 1}),
    Case("Flatten", 9, (X3,), {"axis": 2}),
    Case("MatMul", 9, (f32(2, 3), f32(3, 4))),
    Case("Transpose", 7, (X3,)),
    Case("PRelu", 9, (X3, f32(4))),
    Case("Selu", 22, (X3,), {"alpha": 1.5}, converter=False),
    Case("Cast", 25, (X3,), {"to": 6, "round_mode": "up"}, converter=False),
    Case("Reshape", 13, (X3, i64(4, 6)), constants=(1,)),
    Case("Attention", 23, (*QKV, f32(3, 5)), {"scale": 0.3, "softcap": 2.0}, converter=False),
    Case("Attention", 24, QKV, {"is_causal": 1}, converter=False),
    Case("Attention", 24, (*QKV, *[None] * 4), back=False, converter=False),
    Case("Attention", 25, QKV, {"left_window_size": -1}, converter=False),
    Case("Attention", 25, (*QKV, f32(3, 9), *PAST), outputs=3, converter=False),
    Case("RMSNormalization", 23, (X3, f32(4)), {"epsilon": 0.5, "axis": -1}, converter=False),
    Case("RotaryEmbedding", 24, (QKV[0], f32(7, 2), f32(7, 2), PLACES), converter=False),
)  # fmt: skip

OPAQUE: tuple[tuple[Case, str], ...] = (
    (Case("AveragePool", 10, (X4,), {**POOL, "ceil_mode": 1}), "windows over the edge"),
    (Case("BatchNormalization", 7, (X4, *[f32(2)] * 4), {"spatial": 0}), "per element"),
    (Case("BatchNormalization", 9, (X4, *[f32(2)] * 4), outputs=3), "training"),
    (Case("Cast", 25, (X3,), {"to": 24, "round_mode": "down"}), "a newer attribute"),
    (Case("ConvTranspose", 8, (X4, f32(2, 3, 2, 2)), {"auto_pad": "SAME_UPPER"}), "padding"),
    (Case("Dropout", 7, (X3,), outputs=2), "the mask had the type of the data"),
    (Case("Dropout", 10, (X3,), outputs=2), "what the mask holds was open"),
    (Case("Dropout", 12, (X3, np.float32(0.3), np.bool_(True)), constants=(2,)), "training"),
    (Case("Dropout", 12, (X3, np.float32(0.3), np.bool_(False))), "training not known"),
    (Case("GroupNormalization", 18, (X4, f32(1), f32(1)), {"num_groups": 1}), "scale per group"),
    (Case("OneHot", 9, (i64(1, 0), np.int64(4), f32(2))), "indices not known"),
    (Case("Resize", 10, (X4, np.array([1, 1, 0.5, 1], np.float32)), constants=(1,)), "down"),
    (Case("Resize", 10, (X4, np.array([1, 1, 2, 1], np.float32))), "scales not known"),
    (Case("Resize", 11, (X4, f32(0), f32(4)), TF_HALF_PIXEL, constants=(1, 2)), "gone since"),
    (Case("Softmax", 11, (X3,)), "flattens"),
    (Case("Attention", 24, (*QKV, None, None, None, i64(5))), "a newer input"),
    (Case("Attention", 25, QKV, {"left_window_size": 2}), "a newer attribute"),
    (Case("Swish", 24, (X3,)), "newer than the language"),
    (Case("Relu", 6, (X3,)), "older than what is lifted"),
    (Case("Range", 27, (np.int64(0), np.int64(3), np.int64(1))), "newer than what is lifted"),
)  # fmt: skip
