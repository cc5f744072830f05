"""Comments of a rule file, each with the token that it stands beside.

Enters: a text that parses.  Leaves: the comments before and behind each token, and the tokens in
front of which the author left an empty line.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tensat_dl.syntax.comments import is_documentation, pieces
from tensat_dl.syntax.layout.document import Remark


@dataclass
class Remarks:
    """By offset: `before` of where a token starts, `behind` of where one ends.

    `spaced`: where a token, or the first comment before it, has an empty line in front.
    """

    before: dict[int, tuple[Remark, ...]] = field(default_factory=dict)
    behind: dict[int, tuple[Remark, ...]] = field(default_factory=dict)
    spaced: set[int] = field(default_factory=set)


def read_remarks(text: str) -> Remarks:
    """Find the token of each comment; those at the end belong to the end of the text."""
    remarks = Remarks()
    pending: list[tuple[str, bool]] = []  # comments on lines of their own, with the gap before
    behind: dict[int, list[Remark]] = defaultdict(list)
    end, last = 0, 0  # of the last code; of the last code or comment
    for piece in pieces(text):
        start, found = piece.start(), piece.group()
        gap = text.count("\n", last, start) > 1
        last = piece.end()
        if not found.startswith("#"):
            _close(remarks, start, pending, gap)
            pending, end = [], last
        elif end and not pending and "\n" not in text[end:start]:
            behind[end].append(Remark(found.rstrip(), own=False))
        else:
            pending.append((found.rstrip(), gap))
    _close(remarks, len(text), pending, False)
    remarks.behind = {offset: tuple(found) for offset, found in behind.items()}
    return remarks


def _close(remarks: Remarks, start: int, pending: list[tuple[str, bool]], gap: bool) -> None:
    """The comments in front of a token; documentation stands right before its item."""
    gaps = [gap for _, gap in pending] + [gap]
    if gaps[0]:
        remarks.spaced.add(start)
    if pending:
        remarks.before[start] = tuple(
            Remark(text, own=True, blank=behind and not is_documentation(text))
            for (text, _), behind in zip(pending, gaps[1:], strict=True)
        )
