"""From an exception to words on stderr and an exit code: the one place for both.

A failure that a stage foresaw is a :class:`tensat_dl.errors.TensatError` and brings its code.
The rest are the file system's (usage), memory's, and ours (internal).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping

from tensat_dl.cli.terminal import wants_color
from tensat_dl.diagnostics import Diagnostic, Severity
from tensat_dl.errors import ExitCode, RuleFileError, TensatError
from tensat_dl.progress import Phase
from tensat_dl.sentences import counted, seen

_BUG = (
    "this is a mistake in tensat-dl, not in your files; "
    "run again with --debug and report what it prints"
)

_NO_MEMORY = (
    "where nobody did that, the system did, for lack of memory: "
    "set a limit with --memory, or fewer e-nodes with --enodes"
)
_CRASH = (
    "most often onnxruntime, on an operator with values that it cannot take; "
    "does it run the model that was given? --input-data brings inputs of your own"
)
#: What a command does in each phase, for a sentence.
DOING: Mapping[str, str] = {
    Phase.CHECK: "the rules were checked",
    Phase.READ: "the model was read",
    Phase.EXPLORE: "rules were applied",
    Phase.COST: "nodes were priced",
    Phase.MEASURE: "operators were timed",
    Phase.EXTRACT: "the answer was extracted",
    Phase.EXPORT: "the answer was made a model",
    Phase.VERIFY: "the models were run and compared",
    Phase.COMPARE: "the models were timed",
    Phase.EXPLAIN: "the answer was explained",
    Phase.WRITE: "the model was written",
}


def report_failure(error: BaseException, *, debug: bool) -> ExitCode:
    """Print `error` to stderr (with a traceback if `debug`) and give its exit code."""
    if debug:
        traceback.print_exception(error)
    match error:
        case BrokenPipeError():
            return _stop_printing()
        case KeyboardInterrupt():
            _complain("interrupted")
            return ExitCode.INTERRUPTED
        case RuleFileError():
            print_diagnostics(error.diagnostics)
            _complain(error.message, help=further_reading(error.diagnostics))
        case TensatError():
            _complain(*error.lines, help=error.help)
        case MemoryError():
            help = "set a limit with --memory, or fewer e-nodes with --enodes"
            _complain("out of memory", help=help)
        case OSError() if error.filename is not None:
            _complain(f"{error.filename}: {error.strerror}")
            return ExitCode.USAGE
        case FileNotFoundError():
            _complain("the working directory is gone", help="change to one that exists")
            return ExitCode.USAGE
        case OSError() if error.errno is not None:
            _complain(f"cannot write what there is to say: {error.strerror}")
            _stop_printing()
            return ExitCode.USAGE
        case _:
            _complain(f"internal error: {type(error).__name__}: {_one_line(error)}", help=_BUG)
    return error.exit_code if isinstance(error, TensatError) else ExitCode.INTERNAL


def report_crash(number: signal.Signals, phase: str) -> ExitCode:
    """Print that a signal ended the command in `phase`, and give the exit code."""
    name = signal.strsignal(number) or ""
    where = f" while {DOING[phase]}" if phase in DOING else ""
    nothing = "" if phase in ("", Phase.WRITE) else "; nothing was written"
    if number == signal.SIGKILL:
        _complain(f"killed from outside{where}{nothing}", help=_NO_MEMORY)
        return ExitCode.INTERNAL
    _complain(f"a library crashed{where}: {number.name} ({name.lower()}){nothing}", help=_CRASH)
    return ExitCode.NOT_VERIFIED if phase == Phase.VERIFY else ExitCode.INTERNAL


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print problems of rule files to stderr, as the language reference shows them."""
    from tensat_dl.cli.render import render

    sys.stdout.flush()  # what was said before stands before, also where both are one stream
    color = wants_color(sys.stderr)
    for diagnostic in diagnostics:
        print(render(diagnostic, color=color), file=sys.stderr, end="\n\n")


def further_reading(diagnostics: Iterable[Diagnostic]) -> str:
    """Where the first of the codes is explained: that of an error, where there is one."""
    errors_first = sorted(diagnostics, key=lambda one: one.severity is not Severity.ERROR)
    codes = [diagnostic.code for diagnostic in errors_first]
    return f"`tensat-dl explain {codes[0]}` says more of {codes[0]}" if codes else ""


def count_problems(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; "no problems" where there are none."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = [(severities.count(severity), severity.value) for severity in Severity]
    words = [counted(count, word) for count, word in counts if count]
    return ", ".join(words) or "no problems"


def _complain(*lines: str, help: str = "") -> None:
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):  # nobody can be told, but the exit code tells
        print("\n".join(map(seen, (f"tensat-dl: {lines[0]}", *lines[1:]))), file=sys.stderr)
        if help:
            print(f"help: {seen(help)}", file=sys.stderr)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no message"


def _stop_printing() -> ExitCode:
    """The reader of our output is gone: say no more, also at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.OK
