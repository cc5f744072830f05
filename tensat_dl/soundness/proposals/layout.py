"""Inputs of operators that move elements: shapes, axes and counts that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tensat_dl.soundness.draws import Dims, Draw
from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal
from tensat_dl.vocabulary.dtypes import DType


def _transpose(a: Application) -> None:
    perm = a.ints("perm")
    rank = len(perm) if perm is not None else a.rank(0)
    rank = a.draw.any_rank(1) if rank is None else rank
    a.settle(0, a.draw.dims(rank, rank) if a.sizes(0) is None else None)
    rank = len(a.dims(0))
    identity = tuple(range(rank))
    a.choose("perm", a.draw.permutation(rank), a.draw.permutation(rank), identity[::-1])


def known_list(a: Application, index: int, numbers: Sequence[int]) -> None:
    """Settle an input that holds a list of integers; its type says the value."""
    a.settle(index, [len(numbers)], dtype=DType.I64, value=tuple(numbers))


def _reshape(a: Application) -> None:
    draw = a.draw
    a.settle(0)
    dims = a.dims(0)
    target = list(_regrouped(draw, dims))
    a.choose("allowzero", 0, 0, 1)
    count = math.prod(dims)
    if target and count and draw.chance(0.3):
        target[draw.random.randrange(len(target))] = -1
    elif a.attributes.get("allowzero", 0) == 0 and draw.chance(0.2):
        target = [0 if i < len(dims) and d == dims[i] else d for i, d in enumerate(target)]
    known_list(a, 1, target)


def _regrouped(draw: Draw, dims: Dims) -> Dims:
    """The same number of elements in other dims: axes joined, split, added, in another order."""
    style = draw.random.random()
    if len(dims) == 6 and style < 0.4:  # blocks of an image, joined
        return (*dims[:2], dims[2] * dims[3], dims[4] * dims[5])
    blocks = [b for b in (1, 2, 3) if len(dims) == 4 and dims[1] % (b * b) == 0]
    if blocks and style > 0.85:  # channels that are blocks of an image
        block = draw.random.choice(blocks)
        return (dims[0], dims[1] // (block * block), block, block, *dims[2:])
    if style < 0.2 or not dims:
        return dims if style < 0.15 else tuple(draw.random.choice(((1, *dims), (*dims, 1), dims)))
    if style < 0.45 and len(dims) > 1:
        place = draw.random.randrange(len(dims) - 1)
        return (*dims[:place], dims[place] * dims[place + 1], *dims[place + 2 :])
    if style < 0.6:
        return (math.prod(dims),)
    if style < 0.75:
        return tuple(dims[axis] for axis in draw.permutation(len(dims)))
    place = draw.random.randrange(len(dims))
    size = dims[place]
    factor = draw.random.choice([f for f in range(1, size + 1) if size % f == 0] or [1])
    return (*dims[:place], factor, size // factor, *dims[place + 1 :])


def _flatten(a: Application) -> None:
    a.settle(0)
    rank = len(a.dims(0))
    a.integer("axis", a.draw.random.randint(0, rank), 1, -1)


def _squeeze(a: Application) -> None:
    if a.is_open(0) and a.sizes(0) is None:
        dims = list(a.draw.dims(1))
        dims[a.draw.random.randrange(len(dims))] = 1
        a.settle(0, dims)
    a.settle(0)
    ones = [axis for axis, dim in enumerate(a.dims(0)) if dim == 1]
    if a.is_open(1):
        count = 0 if a.draw.chance(0.15) else a.draw.random.randint(min(1, len(ones)), len(ones))
        rank = len(a.dims(0))
        chosen = sorted(a.draw.random.sample(ones, count))
        known_list(a, 1, [x - rank if a.draw.chance(0.2) else x for x in chosen])


def _unsqueeze(a: Application) -> None:
    a.settle(0)
    rank = len(a.dims(0))
    if a.is_open(1):
        count = a.draw.random.choice((1, 1, 2))
        fixed = a.sizes(1)
        count = fixed[0] if fixed and fixed[0] is not None else count
        chosen = a.draw.random.sample(range(rank + count), count)
        known_list(a, 1, [x - rank - count if a.draw.chance(0.2) else x for x in chosen])


def _expand(a: Application) -> None:
    draw = a.draw
    a.settle(0)
    target = [draw.size() if dim == 1 and draw.chance(0.6) else dim for dim in a.dims(0)]
    if draw.chance(0.25):
        target = [draw.size(), *target]
    if draw.chance(0.2):
        target = [1 if draw.chance(0.4) else dim for dim in target]
    known_list(a, 1, target)


def _tile(a: Application) -> None:
    a.settle(0)
    count = len(a.dims(0))
    ones = a.draw.chance(0.3)
    known_list(a, 1, [1 if ones else a.draw.random.choice((1, 2, 1, 3, 0)) for _ in range(count)])


def _concat(a: Application) -> None:
    draw = a.draw
    known = [i for i in range(len(a.inputs)) if not a.is_open(i)]
    base = _concat_base(a, known)
    if not base:
        raise Misfit
    axis = a.choose_axis(len(base))
    if not -len(base) <= axis < len(base):
        raise Misfit
    for index in range(len(a.inputs)):
        if a.is_open(index):
            wanted: list[int | None] = list(base)
            wanted[axis] = _part(a, index, base[axis])
            a.settle(index, wanted)
    draw.made.append(tuple(base))


def _part(a: Application, index: int, usual: int) -> int:
    """The size of an operand on the axis on which it is joined to others."""
    if a.draw.design is None:
        return a.draw.size() if a.draw.chance(0.7) else usual
    kind = a.pick("part", ("same", "same", "same", "other", "one", "empty"), index)
    return {"same": usual, "other": usual + 1, "one": 1, "empty": 0}[kind]


def _concat_base(a: Application, known: Sequence[int]) -> list[int]:
    if known:
        return list(a.dims(known[0]))
    certain = (sizes for index in range(len(a.inputs)) if (sizes := a.sizes(index)) is not None)
    fixed = next(certain, None)
    earlier = a.draw.made if a.draw.design is not None else []
    fitting = [dims for dims in earlier if dims and (fixed is None or len(dims) == len(fixed))]
    if fitting and a.pick("again", (True, True, False)):
        drawn: Sequence[int | None] = fitting[-1]
    elif fixed is None:
        return list(a.draw.dims(1))
    else:
        drawn = [None] * len(fixed)
    both = zip(fixed or drawn, drawn, strict=True)
    return [
        a.draw.size() if (size := one if one is not None else other) is None else size
        for one, other in both
    ]


def _pad(a: Application) -> None:
    draw = a.draw
    a.settle(0)
    dims = a.dims(0)
    axes = draw.axes(len(dims)) if a.is_open(3) and dims else tuple(range(len(dims)))
    if a.is_open(3):
        known_list(a, 3, axes)
    a.choose("mode", "constant", "constant", "reflect", "edge", "wrap")
    if a.is_open(1):
        known_list(a, 1, _pads(draw, len(axes)))
    a.settle(2, ())


def _pads(draw: Draw, count: int) -> list[int]:
    style = draw.random.random()
    if style < 0.25:
        return [0] * (2 * count)
    low = -1 if draw.chance(0.4) else 0  # what is negative crops
    if style < 0.6 and count > 2:  # as images are padded
        ends = [draw.random.randint(low, 2) for _ in range(2 * (count - 2))]
        half = len(ends) // 2
        return [0, 0, *ends[:half], 0, 0, *ends[half:]]
    return [draw.random.randint(low, 2) for _ in range(2 * count)]


def _blocks(a: Application) -> None:
    block = max(a.integer("blocksize", 2, 1, 3), 1)
    a.choose("mode", "DCR", "CRD")
    size = max(a.draw.size(), 1)
    if a.operator.name == "DepthToSpace":
        a.settle(0, [None, block * block * size, None, None])
    else:
        a.settle(0, [None, None, block * size, block * a.draw.size()])


PROPOSALS: Mapping[str, Proposal] = {
    "Transpose": _transpose,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Expand": _expand,
    "Tile": _tile,
    "Concat": _concat,
    "Pad": _pad,
    "DepthToSpace": _blocks,
    "SpaceToDepth": _blocks,
}
