"""Convolutional networks with random weights: TENSAT's, rebuilt, and a RepVGG stack.

Padding is "SAME" as there: symmetric, (total + 1) // 2 on both sides.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx
from models import Builder

_Fire = tuple[int, int]


class Net(Builder):
    """A builder that knows the channels and the size of every tensor it made."""

    def __init__(self, size: int = 224, channels: int = 3) -> None:
        super().__init__()
        self.shapes: dict[str, tuple[int, int]] = {}
        self.image = self._made(self.input("x", (1, channels, size, size)), channels, size)

    def _made(self, name: str, channels: int, size: int) -> str:
        self.shapes[name] = (channels, size)
        return name

    def keep(self, name: str, like: str) -> str:
        """Give `name` the shape of `like`."""
        return self._made(name, *self.shapes[like])

    def conv(
        self,
        x: str,
        channels: int,
        kernel: int | tuple[int, int] = 1,
        stride: int = 1,
        group: int = 1,
        *,
        valid: bool = False,
        relu: bool = False,
    ) -> str:
        """A convolution without bias, then a ReLU where asked."""
        k = (kernel, kernel) if isinstance(kernel, int) else kernel
        incoming, size = self.shapes[x]
        pads = [0 if valid else same(size, each, stride) for each in k]
        weight = self.kernel(channels, incoming // group, *k)
        y = self.op("Conv", x, weight, strides=[stride] * 2, pads=pads * 2, group=group)
        self._made(y, channels, (size + 2 * pads[0] - k[0]) // stride + 1)
        return self.relu(y) if relu else y

    def pool(self, x: str, kind: str, kernel: int, stride: int = 1, *, valid: bool = False) -> str:
        """`kind`: MaxPool or AveragePool."""
        channels, size = self.shapes[x]
        pad = 0 if valid else same(size, kernel, stride)
        y = self.op(kind, x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
        return self._made(y, channels, (size + 2 * pad - kernel) // stride + 1)

    def relu(self, x: str) -> str:
        """Of the same shape."""
        return self.keep(self.op("Relu", x), x)

    def add(self, x: str, y: str) -> str:
        """Of the same shape."""
        return self.keep(self.op("Add", x, y), x)

    def concat(self, *xs: str) -> str:
        """Along the channels."""
        y = self.op("Concat", *xs, axis=1)
        return self._made(y, sum(self.shapes[x][0] for x in xs), self.shapes[xs[0]][1])

    def norm(self, x: str) -> str:
        """A batch normalisation."""
        count = self.shapes[x][0]
        return self.keep(self.op("BatchNormalization", x, *(self.vector(count) for _ in "somv")), x)

    def flat(self, x: str) -> tuple[str, int]:
        """One row, and its length."""
        channels, size = self.shapes[x]
        length = channels * size * size
        return self.op("Reshape", x, self.constant([1, length])), length

    def finished(self, x: str) -> onnx.ModelProto:
        """The model whose output is the image `x`."""
        channels, size = self.shapes[x]
        return self.model({x: (1, channels, size, size)})


def same(size: int, kernel: int, stride: int) -> int:
    """What TENSAT pads on each side."""
    total = max(kernel - (size % stride or stride), 0)
    return (total + 1) // 2


def resnet50() -> onnx.ModelProto:
    """From 64 channels of 56 x 56, without the stem."""
    n = Net(56, 64)
    return n.finished(_residual(n, n.image, [(3, 64), (4, 128), (6, 256), (3, 512)], 4, 1))


def resnext50() -> onnx.ModelProto:
    """The stem, then blocks with 32 groups."""
    n = Net()
    x = n.pool(n.conv(n.image, 64, 7, 2, relu=True), "MaxPool", 3, 2)
    return n.finished(_residual(n, x, [(3, 128), (4, 256), (6, 512), (3, 1024)], 2, 32))


def _residual(n: Net, x: str, stages: list[_Fire], expansion: int, groups: int) -> str:
    for stage, (blocks, width) in enumerate(stages):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            inner = n.conv(x, width, relu=True)
            inner = n.conv(inner, width, 3, stride, groups, relu=True)
            inner = n.conv(inner, width * expansion)
            if stride != 1 or n.shapes[x][0] != width * expansion:
                x = n.conv(x, width * expansion, 1, stride, relu=True)
            x = n.relu(n.add(inner, x))
    return x


def squeezenet() -> onnx.ModelProto:
    """SqueezeNet 1.1."""
    n = Net()
    x = n.conv(n.image, 64, 3, 2, valid=True, relu=True)
    stages: list[list[_Fire]] = [
        [(16, 64)] * 2,
        [(32, 128)] * 2,
        [(48, 192)] * 2 + [(64, 256)] * 2,
    ]
    for fires in stages:
        x = n.pool(x, "MaxPool", 3, 2, valid=True)
        for squeeze, expand in fires:
            inner = n.conv(x, squeeze, relu=True)
            x = n.concat(n.conv(inner, expand, relu=True), n.conv(inner, expand, 3, relu=True))
    x = n.conv(x, 1000, relu=True)
    y, length = n.flat(n.pool(x, "AveragePool", n.shapes[x][1], valid=True))
    return n.model({y: (1, length)})


def vgg19() -> onnx.ModelProto:
    """Sixteen convolutions and three products with transposed weights."""
    n = Net()
    x = n.image
    for channels, count in [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]:
        for _ in range(count):
            x = n.conv(x, channels, 3, relu=True)
        x = n.pool(x, "MaxPool", 2, 2)
    y, width = n.flat(x)
    for outputs in (4096, 4096, 1000):
        weight = n.op("Transpose", n.weight(outputs, width), perm=[1, 0])
        y, width = n.op("Relu", n.op("MatMul", y, weight)), outputs
    return n.model({y: (1, width)})


def inception_v3() -> onnx.ModelProto:
    """94 convolutions."""
    n = Net(299)
    x = n.conv(n.image, 32, 3, 2, valid=True, relu=True)
    x = n.conv(n.conv(x, 32, 3, valid=True, relu=True), 64, 3, relu=True)
    x = n.conv(n.pool(x, "MaxPool", 3, 2, valid=True), 80, relu=True)
    x = n.pool(n.conv(x, 192, 3, valid=True, relu=True), "MaxPool", 3, 2, valid=True)
    for projection in (32, 64, 64):
        x = _inception_a(n, x, projection)
    x = n.concat(
        n.conv(x, 384, 3, 2, valid=True, relu=True),
        _chain(n, x, [(64, 1), (96, 3)], 96),
        n.pool(x, "MaxPool", 3, 2, valid=True),
    )
    for width in (128, 160, 160, 192):
        x = _inception_c(n, x, width)
    wide = _convs(n, x, [(192, 1), (192, (1, 7)), (192, (7, 1))])
    x = n.concat(
        n.conv(n.conv(x, 192, relu=True), 320, 3, 2, valid=True, relu=True),
        n.conv(wide, 192, 3, 2, valid=True, relu=True),
        n.pool(x, "MaxPool", 3, 2, valid=True),
    )
    x = _inception_e(n, x, "AveragePool")
    x = _inception_e(n, x, "MaxPool")
    return n.finished(n.pool(x, "AveragePool", n.shapes[x][1], valid=True))


_Convs = list[tuple[int, int | tuple[int, int]]]


def _convs(n: Net, x: str, convs: _Convs) -> str:
    for channels, kernel in convs:
        x = n.conv(x, channels, kernel, relu=True)
    return x


def _chain(n: Net, x: str, convs: _Convs, last: int) -> str:
    return n.conv(_convs(n, x, convs), last, 3, 2, valid=True, relu=True)


def _projected(n: Net, x: str, channels: int, kind: str = "AveragePool") -> str:
    return n.conv(n.pool(x, kind, 3), channels, relu=True)


def _inception_a(n: Net, x: str, projection: int) -> str:
    return n.concat(
        _convs(n, x, [(64, 1)]),
        _convs(n, x, [(48, 1), (64, 5)]),
        _convs(n, x, [(64, 1), (96, 3), (96, 3)]),
        _projected(n, x, projection),
    )


def _inception_c(n: Net, x: str, w: int) -> str:
    return n.concat(
        _convs(n, x, [(192, 1)]),
        _convs(n, x, [(w, 1), (w, (1, 7)), (192, (7, 1))]),
        _convs(n, x, [(w, 1), (w, (7, 1)), (w, (1, 7)), (w, (7, 1)), (192, (1, 7))]),
        _projected(n, x, 192),
    )


def _inception_e(n: Net, x: str, kind: str) -> str:
    two = _convs(n, x, [(384, 1)])
    three = _convs(n, x, [(448, 1), (384, 3)])
    branches = [n.conv(each, 384, k, relu=True) for each in (two, three) for k in ((1, 3), (3, 1))]
    return n.concat(_convs(n, x, [(320, 1)]), *branches, _projected(n, x, 192, kind))


def mobilenet_v2() -> onnx.ModelProto:
    """Inverted residuals with batch normalisation."""
    n = Net()
    x = n.relu(n.norm(n.conv(n.image, 32, 3, 2)))
    plan = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)]
    plan += [(6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, channels, count, first in plan:
        for block in range(count):
            x = _inverted(n, x, channels, first if block == 0 else 1, expansion)
    x = n.relu(n.norm(n.conv(x, 1280)))
    x = n.pool(x, "AveragePool", n.shapes[x][1], valid=True)
    y, length = n.flat(n.conv(x, 1000))
    return n.model({y: (1, length)})


def _inverted(n: Net, x: str, channels: int, stride: int, expansion: int) -> str:
    wide = n.shapes[x][0] * expansion
    y = n.relu(n.norm(n.conv(x, wide)))
    y = n.relu(n.norm(n.conv(y, wide, 3, stride, wide)))
    y = n.norm(n.conv(y, channels))
    return n.add(x, y) if n.shapes[x] == n.shapes[y] else y


def nasnet_a() -> onnx.ModelProto:
    """Three stacks of five normal cells and a reduction."""
    n = Net()
    current = n.pool(n.conv(n.image, 64, 7, 2, relu=True), "MaxPool", 3, 2)
    previous = current
    for channels in (128, 256, 512):
        for _ in range(5):
            previous, current = current, _cell(n, previous, current, channels, _normal)
        previous, current = current, _cell(n, previous, current, 2 * channels, _reduction)
    return n.finished(current)


def _cell(
    n: Net, previous: str, current: str, channels: int, cell: Callable[[Net, str, str], str]
) -> str:
    squeezed = n.conv(current, channels, relu=True)
    same_size = n.shapes[previous][1] == n.shapes[current][1]
    kernel, stride = (1, 1) if same_size else (3, 2)
    return cell(n, n.conv(previous, channels, kernel, stride, relu=True), squeezed)


def _separable(n: Net, x: str, kernel: int, stride: int = 1) -> str:
    channels = n.shapes[x][0]
    return n.conv(n.conv(x, channels, kernel, stride, channels), channels)


def _normal(n: Net, p: str, c: str) -> str:
    return n.concat(
        n.add(_separable(n, c, 3), c),
        n.add(_separable(n, p, 3), _separable(n, c, 3)),
        n.add(n.pool(c, "AveragePool", 3), p),
        n.add(n.pool(p, "AveragePool", 3), n.pool(p, "AveragePool", 3)),
        n.add(_separable(n, p, 3), _separable(n, p, 3)),
    )


def _reduction(n: Net, p: str, c: str) -> str:
    first = n.add(_separable(n, p, 7, 2), _separable(n, c, 5, 2))
    second = n.add(n.pool(c, "MaxPool", 3, 2), _separable(n, p, 7, 2))
    third = n.add(n.pool(c, "AveragePool", 3, 2), _separable(n, p, 5, 2))
    fourth = n.add(n.pool(c, "MaxPool", 3, 2), _separable(n, first, 3))
    fifth = n.add(n.pool(first, "AveragePool", 3), second)
    return n.concat(first, second, third, fourth, fifth)


def repvgg(blocks: int = 6, channels: int = 64, size: int = 28) -> onnx.ModelProto:
    """Blocks with branches of 3 x 3, 1 x 1 and none, each normalised, added; as trained."""
    n = Net(size, channels)
    x = n.image
    for _ in range(blocks):
        branches = n.add(n.norm(n.conv(x, channels, 3)), n.norm(n.conv(x, channels)))
        x = n.relu(n.add(branches, n.norm(x)))
    return n.finished(x)
