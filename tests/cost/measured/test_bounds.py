"""Lower bounds are below: arithmetic against a count by hand, speeds against what was seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tensat_dl.cost.measured.bounds import (
    COMPUTE_MARGIN,
    WRITE_MARGIN,
    LeastWork,
    Speed,
    least_work,
)
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part
from tensat_dl.egraph.snapshot import Application
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType


def tensor(*dims: int, dtype: DType = DType.F32) -> TensorType:
    return TensorType(dtype, dims)


def conv(size: int, taps: int, stride: int, dilation: int, begin: int, end: int) -> Part:
    """A convolution along one axis, of one channel."""
    outputs = (size + begin + end - dilation * (taps - 1) - 1) // stride + 1
    operator = catalog.operator("Conv")
    assert operator is not None
    attributes = {"pads": (begin, end), "strides": (stride,), "dilations": (dilation,), "group": 1}
    application = Application(operator, Attributes.of(attributes), 1)  # type: ignore[arg-type]
    types = (tensor(1, 1, size), tensor(1, 1, taps))
    return Part(application, types, (tensor(1, 1, outputs),))


def products(size: int, taps: int, stride: int, dilation: int, begin: int, end: int) -> int:
    """Multiplications whose operand is not padding, one by one."""
    padded = [False] * begin + [True] * size + [False] * end
    span = dilation * (taps - 1) + 1
    starts = range(0, len(padded) - span + 1, stride)
    return sum(padded[start + tap * dilation] for start in starts for tap in range(taps))


def convolutions() -> Iterator[tuple[int, ...]]:
    """Those whose kernel fits."""
    for case in itertools.product((1, 4, 7), (1, 3), (1, 2), (1, 2), (0, 1, 2), (0, 3)):
        size, taps, _, dilation, begin, end = case
        if dilation * (taps - 1) < size + begin + end:
            yield case


@pytest.mark.parametrize("case", list(convolutions()))
def test_padding_is_no_arithmetic(case: tuple[int, ...]) -> None:
    assert least_work(conv(*case), SymbolSizes(1)).flops == pytest.approx(2 * products(*case))


def matmul(dtype: DType) -> Part:
    operator = catalog.operator("MatMul")
    assert operator is not None
    types = (tensor(3, 4, dtype=dtype), tensor(4, 5, dtype=dtype))
    return Part(Application(operator, Attributes(), 1), types, (tensor(3, 5, dtype=dtype),))


def test_products_count_by_element_type() -> None:
    assert least_work(matmul(DType.F32), SymbolSizes(1)) == LeastWork(2 * 3 * 4 * 5, 4 * 3 * 5)
    assert least_work(matmul(DType.F16), SymbolSizes(1)).flops == 3 * 4 * 5
    assert least_work(matmul(DType.I32), SymbolSizes(1)).flops == 0


def test_views_write_nothing() -> None:
    operator = catalog.operator("Flatten")
    assert operator is not None
    application = Application(operator, Attributes.of({"axis": 1}), 1)
    part = Part(application, (tensor(2, 3, 4),), (tensor(2, 12),))
    assert least_work(part, SymbolSizes(1)) == LeastWork(0, 0)


def test_no_bound_before_anything_was_seen() -> None:
    assert Speed().seconds(LeastWork(1e12, 1e12)) == 0.0


def test_arithmetic_is_bounded_by_the_fastest_seen() -> None:
    speed = Speed()
    speed.learn(LeastWork(1e6, 0), 1.0)
    speed.learn(LeastWork(4e6, 0), 1.0)
    speed.learn(LeastWork(1e6, 0), 1.0)
    assert speed.seconds(LeastWork(8e6, 0)) == pytest.approx(2.0 / COMPUTE_MARGIN)


def test_writing_is_bounded_by_what_was_seen_of_about_that_size() -> None:
    """Small tensors are written faster, as they stay in a cache; between two sizes the faster
    counts, below all sizes nothing is known, above all the largest."""
    speed = Speed()
    for size, rate in ((1 << 14, 64e9), (1 << 22, 4e9)):
        speed.learn(LeastWork(0, size), size / rate)

    def bound(size: int) -> float:
        return speed.seconds(LeastWork(0, size)) * WRITE_MARGIN

    assert bound(1 << 12) == 0.0
    assert bound(1 << 14) == pytest.approx((1 << 14) / 64e9)
    assert bound(1 << 18) == pytest.approx((1 << 18) / 64e9)
    assert bound(1 << 22) == pytest.approx((1 << 22) / 4e9)
    assert bound(1 << 26) == pytest.approx((1 << 26) / 4e9)


def test_a_bound_that_was_too_high_comes_down() -> None:
    speed = Speed()
    speed.learn(LeastWork(1e6, 0), 1.0)
    work = LeastWork(1e8, 0)
    assert speed.seconds(work) > 1.0
    speed.learn(work, 1.0)
    assert speed.seconds(work) < 1.0
