"""Shapes that broadcast, axis by axis as a design has it.

Enters: an application of an elementwise operator in an attempt with a design.  Leaves: its inputs
settled.  On each axis all operands have one size, or one of them is narrower than the others, or
one is empty and the others are narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.soundness.draws import Dims
from tensat_dl.soundness.proposals.application import Application, Misfit
from tensat_dl.vocabulary.types import TensorType

#: What a size may be said to be where an operand is to be drawn.
_SAME, _NARROW, _EMPTY = "same", "narrow", "empty"


def broadcast_as_designed(a: Application) -> None:
    """Settle the open inputs."""
    opened = [index for index in range(len(a.inputs)) if a.is_open(index)]
    certain = [sizes for index in range(len(a.inputs)) if (sizes := a.sizes(index)) is not None]
    if a.site.result is not None:
        certain.append(list(a.site.result))
    ranks = [len(sizes) for sizes in certain]
    target = _target(a, max(ranks, default=None))
    columns = [_axis(a, place, target, opened, certain) for place in range(len(target), 0, -1)]
    for index in opened:
        wanted = [sizes[index] for sizes in columns]
        if len(wanted) > 2 and a.pick("along", (False, False, False, True), index):
            wanted = _along_one_axis(a, wanted)
        rank = a.rank(index)
        if rank is None:
            rank = a.pick("rank", _ranks(len(wanted)), index)
        more = [a.draw.size() for _ in range(rank - len(wanted))]
        a.settle(index, more + wanted[max(len(wanted) - rank, 0) :])
    shapes = (a.dims(i) for i, given in enumerate(a.inputs) if isinstance(given, TensorType))
    made: Dims = ()
    for shape in shapes:
        made = joined(made, shape)
    a.draw.made.append(made)


def _along_one_axis(a: Application, sizes: Sequence[int]) -> list[int]:
    """One number for each place of one axis, mostly that of channels; axes before it may be
    missing."""
    kept = 1 if a.draw.chance(0.6) else a.draw.random.randrange(len(sizes))
    wanted = [size if axis == kept else 1 for axis, size in enumerate(sizes)]
    return wanted[kept:] if a.draw.chance(0.4) else wanted


def _ranks(usual: int) -> tuple[int, ...]:
    """All axes, mostly; none, one less, one more."""
    return (usual,) * 5 + (0, max(usual - 1, 0), usual + 1)


def _target(a: Application, rank: int | None) -> Dims:
    """The shape that another application made, or a new one."""
    earlier = [dims for dims in a.draw.made if rank in (None, len(dims))]
    if earlier and a.pick("again", (True, True, False)):
        return earlier[-1]
    return a.draw.dims() if rank is None else tuple(a.draw.size() for _ in range(rank))


def _axis(
    a: Application,
    place: int,
    target: Dims,
    opened: Sequence[int],
    certain: Sequence[Sequence[int | None]],
) -> dict[int, int]:
    """A size for each open operand on the axis that is counted `place` from the end."""
    known = {
        size for sizes in certain if place <= len(sizes) and (size := sizes[-place]) is not None
    }
    wide = next((size for size in known if size != 1), None)
    size = target[-place] if wide is None else wide
    if wide is None and 1 in known:
        kinds = (_SAME, _SAME, _NARROW, _EMPTY)
        kind = a.pick(f"axis {place}", kinds)
        return dict.fromkeys(opened, {_SAME: size, _NARROW: 1, _EMPTY: 0}[kind])
    options = [f"{_NARROW} {index}" for index in opened]
    if not known:
        options += [f"{_EMPTY} {index}" for index in opened]
    found = a.pick(f"axis {place}", (*[_SAME] * len(options), _SAME, *options))
    sizes = dict.fromkeys(opened, size)
    for index in opened:
        if found == f"{_NARROW} {index}":
            sizes[index] = 1
        elif found == f"{_EMPTY} {index}":
            sizes = {**dict.fromkeys(opened, 1), index: 0}
    return sizes


def joined(left: Dims, right: Dims) -> Dims:
    """What two shapes broadcast to.  Raises Misfit where they do not."""
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
    sizes = []
    for one, other in pairs:
        if one != other and 1 not in (one, other):
            raise Misfit
        sizes.append(other if one == 1 else one)
    return tuple(sizes)
