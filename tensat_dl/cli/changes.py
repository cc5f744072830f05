"""What a run changed, as lines: what a region replaced, which rules made it, what it saves."""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.cli.tables import Block, Line, number
from tensat_dl.report import Report

#: Names that are shown of a long list.
_SHOWN = 6


def change_blocks(changes: Sequence[Report], unit: str) -> list[Block]:
    """The changes of a report, those that save most first."""
    blocks: list[Block] = [Line("what changed", "bold")]
    for change in changes:
        saved = f"{number(change['saved'])} {unit}".rstrip()
        blocks.append(Line(f"  saves {saved}", "green"))
        blocks.append(Line(f"    was    {_listed(change['removed']) or 'nothing'}"))
        blocks.append(
            Line(f"    is     {_listed(_added(change)) or 'nothing: not needed any more'}")
        )
        rules = list(dict.fromkeys(rule for added in change["added"] for rule in added["rules"]))
        if rules:
            blocks.append(Line(f"    by     {_listed(rules)}"))
    return blocks


def _added(change: Report) -> list[str]:
    return [
        added["operator"] + (f" (makes {', '.join(added['makes'])})" if added["makes"] else "")
        for added in change["added"]
    ]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
