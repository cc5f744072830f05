"""What a run changed, as lines: what a region replaced, which rules made it, what it saves."""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.cli.tables import Block, Line, number
from tensat_dl.report import Report
from tensat_dl.sentences import shortened

#: Names that are shown of a long list.
_SHOWN = 6


def change_blocks(changes: Sequence[Report], unit: str) -> list[Block]:
    """The changes of a report, those that save most first."""
    blocks: list[Block] = [Line("what changed", "bold")]
    for change in changes:
        saved = f"{number(change['saved'])} {unit}".rstrip()
        blocks.append(Line(f"  saves {saved}", "green"))
        blocks.append(Line(f"    was    {shortened(change['removed'], _SHOWN) or 'nothing'}"))
        added = shortened(_added(change), _SHOWN) or "nothing: not needed any more"
        blocks.append(Line(f"    is     {added}"))
        if change["rules"]:
            blocks.append(Line(f"    by     {shortened(change['rules'], _SHOWN)}"))
    return blocks


def _added(change: Report) -> list[str]:
    return [
        added["operator"] + (f" (makes {', '.join(added['makes'])})" if added["makes"] else "")
        for added in change["added"]
    ]
