"""Inputs of operators that pick elements: indices in range, cuts that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tensat_dl.soundness.draws import Dims, Draw
from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal
from tensat_dl.soundness.proposals.layout import known_list
from tensat_dl.vocabulary.dtypes import DType

#: Cuts of a slice; a reversed one takes the whole, so that no type tells it from the identity.
_CUTS = ("part",) * 6 + ("whole",)
_REVERSED = "reversed"


def _slice(a: Application) -> None:
    a.settle(0)
    axes = _slice_axes(a, a.dims(0))
    stepped = a.is_open(4) or a.value(4) is not None
    cut = a.pick("cut", (*_CUTS, _REVERSED) if stepped else _CUTS)
    written = a.pick("written", ("front", "front", "front", "end", "any"))
    cuts = [_cut(a.draw, a.dim(0, axis), cut, written) for axis in axes]
    known_list(a, 1, [first for first, _, _ in cuts])
    known_list(a, 2, [last for _, last, _ in cuts])
    known_list(a, 3, axes)
    if stepped:
        known_list(a, 4, [step for _, _, step in cuts])


def _slice_axes(a: Application, dims: Dims) -> list[int]:
    """Those that are there, or some; without the input they are the first ones."""
    given = a.value(3)
    if given is not None:
        return [int(axis) for axis in given]
    count = next((len(v) for i in (1, 2, 4) if (v := a.value(i)) is not None), None)
    if not a.has(3):
        return list(range(count or a.draw.random.randint(min(1, len(dims)), len(dims))))
    if count is None:
        count = 1 if a.draw.chance(0.6) else a.draw.random.randint(1, max(len(dims), 1))
    if count > len(dims):
        raise Misfit
    chosen = a.draw.random.sample(range(len(dims)), count)
    return [axis - len(dims) if a.draw.chance(0.2) else axis for axis in chosen]


def _cut(draw: Draw, size: int, cut: str, written: str) -> tuple[int, int, int]:
    """A first place, a last place and a step, in any of the ways in which they can be written."""
    if cut == _REVERSED:
        return -1, -(2**31), -1
    step = draw.random.choice((1, 1, 1, 2, -1))
    if cut == "whole":
        return 0, 2**31, step
    first = draw.random.randint(0, max(size - 1, 0))
    last = draw.random.randint(first, size)
    if written == "front":
        return first, last, step
    if written == "end":
        return first - size, (last - size) if last < size else size, step
    return draw.random.randint(-size - 1, size + 1), draw.random.randint(-size - 1, size + 2), step


def _split(a: Application) -> None:
    draw = a.draw
    if a.is_open(0) and a.sizes(0) is None:
        a.settle(0, draw.dims(1))
    a.settle(0)
    dims = a.dims(0)
    size = a.dim(0, a.choose_axis(len(dims)))
    if a.has(1):
        known_list(a, 1, _parts(draw, size, a.outputs))
    elif "num_outputs" in a.free:
        a.attributes["num_outputs"] = a.outputs


def _parts(draw: Draw, size: int, count: int) -> list[int]:
    if size % count == 0 and draw.chance(0.3):
        return [size // count] * count
    cuts = sorted(draw.random.randint(0, size) for _ in range(count - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, size], strict=True)]


def _gather(a: Application) -> None:
    draw = a.draw
    if a.is_open(0) and a.sizes(0) is None:
        a.settle(0, draw.dims(1))
    a.settle(0)
    dims = a.dims(0)
    size = a.dim(0, a.choose_axis(len(dims)))
    if a.is_open(1):
        rank = a.rank(1)
        shape = draw.dims(0, 2) if rank is None else draw.dims(rank, rank)
        _indices(a, 1, shape, size)


def _indices(a: Application, index: int, shape: Dims, size: int) -> None:
    """Indices below `size`; all of them in order now and then."""
    span = (-size, size)
    if a.draw.chance(0.2) and a.rank(index) in (None, 1):
        a.settle(index, [size], dtype=DType.I64, value=tuple(range(size)), span=span)
        return
    if size == 0:
        shape = (*shape[:-1], 0) if shape else (0,)
    a.settle(index, list(shape), dtype=DType.I64, value=None, span=span)
    found = a.inputs[index]
    value = a.value(index)
    if value is not None and not all(-size <= item < size for item in value):
        picked = tuple(a.draw.random.randrange(-size, size) for _ in value) if size else ()
        a.inputs[index] = replace(found, value=picked)  # type: ignore[type-var]


def _gather_elements(a: Application) -> None:
    a.settle(0, a.draw.dims(1) if a.sizes(0) is None else None)
    dims = a.dims(0)
    axis = a.choose_axis(len(dims))
    size = a.dim(0, axis)
    shape = list(dims)
    shape[axis] = a.draw.size()
    a.settle(1, shape, dtype=DType.I64, span=(-size, size))


def _shape(a: Application) -> None:
    a.settle(0)
    rank = len(a.dims(0))
    a.choose("start", 0, a.draw.random.randint(-rank, rank))
    if a.draw.chance(0.5):
        a.choose("end", a.draw.random.randint(-rank, rank))


def _square(a: Application) -> None:
    a.settle(0, a.draw.dims(2, 2) if a.sizes(0) is None else None)
    a.choose("k", 0, 1, -1)


def _triangle(a: Application) -> None:
    a.settle(0, a.draw.dims(2) if a.sizes(0) is None else None)
    a.settle(1, (), span=(-2, 3))
    a.choose("upper", 0, 1)


def _range(a: Application) -> None:
    """Whole numbers that its type knows."""
    start, step = a.draw.random.randint(-2, 2), a.draw.random.choice((1, 2, -1))
    limit = start + step * a.draw.random.randint(0, 4)
    for index, number in enumerate((start, limit, step)):
        a.settle(index, (), dtype=DType.I64, value=(number,))


def _constant_of_shape(a: Application) -> None:
    known_list(a, 0, a.draw.dims())


PROPOSALS: Mapping[str, Proposal] = {
    "Slice": _slice,
    "Split": _split,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Shape": _shape,
    "EyeLike": _square,
    "Trilu": _triangle,
    "Range": _range,
    "ConstantOfShape": _constant_of_shape,
}
