"""Inputs of elementwise operators: shapes that broadcast, each side against the other."""

from __future__ import annotations

from tensat_dl.soundness.draws import Dims
from tensat_dl.soundness.proposals.application import Application
from tensat_dl.soundness.proposals.broadcasting import broadcast_as_designed, joined
from tensat_dl.vocabulary.types import TensorType


def broadcast(a: Application) -> None:
    """Shapes that broadcast against those that are there; Clip has bounds of one element."""
    if a.operator.name == "Clip":
        for index in (1, 2):
            a.settle(index, ())
    if len(a.inputs) == 1:
        a.settle(0, a.site.result if a.rank(0) in (None, len(a.site.result or ())) else None)
        return
    if a.draw.design is not None:
        broadcast_as_designed(a)
        return
    target = _target(a)
    for index in range(len(a.inputs)):
        if a.is_open(index):
            a.settle(index, _against(a, target, a.sizes(index)))
            target = joined(target, a.dims(index))


def _target(a: Application) -> Dims:
    """What the inputs that are there broadcast to; a new shape where none is."""
    found: Dims | None = None
    for index, given in enumerate(a.inputs):
        if isinstance(given, TensorType):
            found = a.dims(index) if found is None else joined(found, a.dims(index))
    wanted = a.site.result
    if wanted is not None and found is None:
        return tuple(a.draw.size() if dim is None else dim for dim in wanted)
    return a.draw.dims() if found is None else found


def _against(a: Application, target: Dims, fixed: list[int | None] | None) -> list[int | None]:
    """Dims that broadcast with `target`: mostly its own, some of them 1, some axes missing."""
    draw = a.draw
    rank = len(target)
    if fixed is not None:
        rank = len(fixed)
    elif draw.chance(0.25):
        rank = draw.random.randint(0, len(target))
    elif draw.chance(0.08):
        rank = len(target) + 1
    wanted: list[int | None] = [draw.size()] * (rank - len(target))
    wanted += list(target[max(0, len(target) - rank) :])
    style = draw.random.random()
    if len(wanted) > 1 and draw.chance(0.2):  # one number for each place of one axis
        kept = 1 if draw.chance(0.6) else draw.random.randrange(len(wanted))
        wanted = [dim if axis == kept else 1 for axis, dim in enumerate(wanted)]
        return wanted[kept:] if fixed is None and draw.chance(0.4) else wanted
    for index, dim in enumerate(wanted):
        if style < 0.15 or (style < 0.4 and draw.chance(0.4)):
            wanted[index] = 1
        elif dim == 1 and draw.chance(0.3):
            wanted[index] = draw.size()
    return wanted
