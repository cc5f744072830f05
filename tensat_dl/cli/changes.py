"""What a run changed, as lines: what a region replaced, which rules made it, what it saves."""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.cli.tables import Block, Line, number
from tensat_dl.report import Report
from tensat_dl.sentences import shortened

#: Names that are shown of a long list.
_SHOWN = 6

#: Of nodes that are in both graphs.
_OTHERWISE = "not run as one with the same nodes as before, or at another price"


def change_blocks(changes: Sequence[Report], unit: str) -> list[Block]:
    """The changes of a report, those that save most first."""
    blocks: list[Block] = [Line("what changed", "bold")]
    for change in changes:
        blocks.append(Line(f"  {_saved(change, unit)}", "green"))
        if change["removed"] or change["added"]:
            blocks.append(Line(f"    was    {shortened(change['removed'], _SHOWN) or 'nothing'}"))
            added = shortened(_added(change), _SHOWN) or "nothing: not needed any more"
            blocks.append(Line(f"    is     {added}"))
        if change["kept"]:
            blocks.append(Line(f"    stays  {shortened(change['kept'], _SHOWN)}: {_OTHERWISE}"))
        why = [*change["rules"], *change["reasons"]]
        if why:
            blocks.append(Line(f"    by     {shortened(why, _SHOWN)}"))
    return blocks


def _saved(change: Report, unit: str) -> str:
    saved = change["saved"]
    amount = f"{number(abs(saved))} {unit}".rstrip()
    here = "" if change["removed"] or change["added"] else " elsewhere"
    return f"costs {amount} more{here}" if saved < 0 else f"saves {amount}{here}"


def _added(change: Report) -> list[str]:
    return [
        added["operator"] + (f" (makes {', '.join(added['makes'])})" if added["makes"] else "")
        for added in change["added"]
    ]
