"""Proposals: inputs and attributes with which an operator probably has a type.

One module a subject; `PROPOSALS` is the table.  A proposal takes an :class:`Application` and
settles in it what a rule has left open.  It need not be right: whatever it gives is typed, and
drawn again where it has no type.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.soundness.proposals import (
    attention,
    layout,
    linear,
    norms,
    others,
    pointwise,
    rare,
    select,
    windows,
)
from tensat_dl.soundness.proposals.again import echo, keep
from tensat_dl.soundness.proposals.application import Application, Blank, Misfit, Proposal

__all__ = ["PROPOSALS", "Application", "Blank", "Misfit", "propose"]

PROPOSALS: Mapping[str, Proposal] = {
    **linear.PROPOSALS,
    **windows.PROPOSALS,
    **norms.PROPOSALS,
    **attention.PROPOSALS,
    **layout.PROPOSALS,
    **select.PROPOSALS,
    **others.PROPOSALS,
    **rare.PROPOSALS,
}


def propose(application: Application, resembled: str | None = None) -> None:
    """Fill every blank, and choose attributes, as for the operator `resembled` where that is
    given.  Raises Misfit where it cannot."""
    own = application.operator.name if not application.operator.domain else ""
    name = own if resembled is None else resembled
    if application.draw.design is None or (name in PROPOSALS and name != "Concat"):
        echo(application, name)  # the others have designs of their own
    PROPOSALS.get(name, pointwise.broadcast)(application)
    application.finish()
    keep(application, name)
