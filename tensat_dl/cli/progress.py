"""Live progress on stderr, with rich, where a person watches; otherwise silence."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from tensat_dl.cli.supervisor import tell_phase
from tensat_dl.cli.terminal import is_terminal, wants_color
from tensat_dl.progress import Progress, ProgressEvent, silent


@contextlib.contextmanager
def live_progress() -> Iterator[Progress]:
    """A progress callback for the time of the body."""
    if not is_terminal(sys.stderr):
        yield _telling(silent)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, no_color=not wants_color(sys.stderr), highlight=False)
    with console.status("", spinner="dots") as status:
        yield _telling(lambda event: status.update(Text(describe(event))))


def _telling(show: Progress) -> Progress:
    """Shows events, and tells the supervisor of each new phase."""
    at = ""

    def report(event: ProgressEvent) -> None:
        nonlocal at
        if event.phase != at:
            at = event.phase
            tell_phase(at)
        show(event)

    return report


def describe(event: ProgressEvent) -> str:
    """One line: phase, stage, step, e-nodes, parts, seconds, incumbent, bound."""
    parts = None if event.total is None else f"{event.done or 0:,} of {event.total:,}"
    facts = [
        (event.stage or None, "{}"),
        (event.step, "step {:,}"),
        (event.enodes, "{:,} e-nodes"),
        (parts, "{} parts solved"),
        (event.seconds or None, "{:.1f} s"),
        (event.incumbent, "incumbent {:.6g}"),
        (event.bound, "bound {:.6g}"),
    ]
    told = [text.format(value) for value, text in facts if value is not None]
    message = [event.message] if event.message else []
    return f"{event.phase:<8} {', '.join([*told, *message])}"
