"""Tables and lines on stdout: with rich on a terminal, as plain aligned text when piped.

Whatever the names in them are, a line is one line, and nothing is in it that a terminal obeys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TextIO

from tensat_dl.cli.terminal import is_terminal, wants_color
from tensat_dl.sentences import seen


@dataclass(frozen=True)
class Table:
    """Columns whose name begins with ">" are aligned to the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Line:
    """One line; `style` is rich's ("bold", "green", "yellow"), seen on a terminal only."""

    text: str
    style: str = ""


Block = Table | Line


def print_blocks(blocks: Sequence[Block], stream: TextIO) -> None:
    """Print blocks in order, a blank line around each table."""
    blocks = list(map(_all_seen, blocks))
    if is_terminal(stream):
        _print_rich(blocks, stream)
        return
    for before, block in zip([None, *blocks], blocks, strict=False):
        if before is not None and Table in (type(before), type(block)):
            print(file=stream)
        print(_plain(block), file=stream)


def number(value: float) -> str:
    """Six significant digits, thousands separated where there are no decimals."""
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.6g}"


def percent(share: float) -> str:
    """Two digits, or as many as there are before the point."""
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:,.0f} %"


def _all_seen(block: Block) -> Block:
    if isinstance(block, Line):
        return replace(block, text=seen(block.text))
    return replace(block, rows=[tuple(map(seen, row)) for row in block.rows])


def _plain(block: Block) -> str:
    return block.text if isinstance(block, Line) else "\n".join(_aligned(block))


def _aligned(table: Table) -> list[str]:
    right = [column.startswith(">") for column in table.columns]
    rows = [[column.lstrip(">") for column in table.columns], *table.rows]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [_row(row, widths, right) for row in rows]


def _row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = zip(row, widths, right, strict=True)
    return "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in cells).rstrip()


def _print_rich(blocks: Sequence[Block], stream: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(file=stream, no_color=not wants_color(stream), highlight=False)
    for block in blocks:
        if isinstance(block, Line):
            console.print(Text(block.text, style=block.style), soft_wrap=True)
            continue
        table = RichTable(box=box.SIMPLE, pad_edge=False)
        for column in block.columns:
            right = column.startswith(">")
            justify: Literal["left", "right"] = "right" if right else "left"
            table.add_column(Text(column.lstrip(">")), justify=justify, overflow="fold")
        for row in block.rows:
            table.add_row(*map(Text, row))
        console.print(table)
