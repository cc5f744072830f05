"""An operator that is applied again in one rule, often to tensors alike.

Two convolutions that are joined have to agree in most of their dims, and differ in one.
"""

from __future__ import annotations

from tensat_dl.soundness.draws import Dims, Draw, Earlier
from tensat_dl.soundness.proposals.application import Application, Blank
from tensat_dl.vocabulary.types import TensorType

#: Axes of which one may have another size, the more important ones twice.
_CHANGED = (0, 0, 1, 1, 2, 3)


def echo(application: Application, name: str) -> None:
    """Let open inputs have the dims that they had when `name` was applied before, or all but
    one."""
    draw = application.draw
    earlier = draw.applied.get(name)
    if not earlier or not application.pick("again", (True, True, False)):
        return
    model = draw.random.choice(earlier)
    for place, (given, dims) in enumerate(zip(application.inputs, model.inputs, strict=False)):
        if isinstance(given, Blank) and dims is not None:
            given.dims = _alike(application, place, given.dims, dims)
    if draw.chance(0.5):
        free = application.free - set(application.attributes)
        application.attributes |= {n: v for n, v in model.attributes.items() if n in free}


def _alike(
    application: Application, place: int, fixed: tuple[int | None, ...] | None, dims: Dims
) -> tuple[int | None, ...] | None:
    if fixed is not None and len(fixed) != len(dims):
        return fixed
    known = fixed or (None,) * len(dims)
    draw = application.draw
    changeable = (axis for axis in _CHANGED if axis < len(known) and known[axis] is None)
    changed = application.pick("but", (None, None, None, *changeable), place)
    return tuple(
        given if given is not None else _other(draw, dim) if axis == changed else dim
        for axis, (given, dim) in enumerate(zip(known, dims, strict=True))
    )


def _other(draw: Draw, dim: int) -> int | None:
    """Another size, often one that is as divisible."""
    wider = dim + 2, 2 * dim or 1
    return draw.random.choice(wider if draw.design is not None else (None, *wider))


def keep(application: Application, name: str) -> None:
    """Remember a settled application."""
    inputs = tuple(
        application.dims(place) if isinstance(given, TensorType) else None
        for place, given in enumerate(application.inputs)
    )
    earlier = application.draw.applied.setdefault(name, [])
    earlier.append(Earlier(inputs, dict(application.attributes)))
