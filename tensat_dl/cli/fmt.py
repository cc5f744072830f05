"""`tensat-dl fmt`: rule files in their one canonical layout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

from tensat_dl.cli.command import Command
from tensat_dl.cli.failures import print_diagnostics
from tensat_dl.destination import why_not_replaced
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.errors import ExitCode, UsageError
from tensat_dl.resources import is_stream, real_path, replace_text
from tensat_dl.sentences import counted

_STDIN = "-"

_EPILOG = """\
examples:
  tensat-dl fmt my.tsat           rewrite the file where its layout is another
  tensat-dl fmt rules/            every .tsat file of a directory
  tensat-dl fmt --check rules/    write nothing; exit 4 where a file would change
  tensat-dl fmt - < my.tsat       from stdin to stdout

White space and line breaks are chosen anew, and a comma that nothing follows is dropped.  All
else, comments included, stays as it is.  A file with syntax errors is left alone (exit 4).
"""


class _Outcome(Enum):
    """What became of a file; the value is the word before its name."""

    KEPT = ""
    CHANGED = "formatted"
    DIFFERS = "would format"
    BROKEN = "cannot format"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="rule files, directories of them, or - for stdin"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 4 where a file would change"
    )


def _execute(arguments: argparse.Namespace) -> ExitCode:
    if _STDIN in arguments.files:
        return _stream(arguments.files, check=arguments.check)
    outcomes = []
    for path in _files(arguments.files):
        outcome = _format(path, check=arguments.check)
        outcomes.append(outcome)
        if outcome is not _Outcome.KEPT:
            print(f"{outcome.value} {path}")
    print(_summary(outcomes))
    wrong = {_Outcome.DIFFERS, _Outcome.BROKEN} & set(outcomes)
    return ExitCode.BAD_RULES if wrong else ExitCode.OK


def _files(names: Sequence[str]) -> Iterator[Path]:
    """The files, each once; a directory stands for the rule files below it."""
    known: set[Path] = set()
    for name in names:
        path = Path(name)
        found = _below(path) if path.is_dir() else [path]
        if not found:
            raise UsageError(f"there is no .tsat file in the directory {name}")
        yield from (each for each in found if real_path(each) not in known)
        known |= {real_path(each) for each in found}


def _below(directory: Path) -> list[Path]:
    found = directory.rglob("*.tsat")
    return sorted(path for path in found if not path.is_dir() and not is_stream(path))


def _format(path: Path, *, check: bool) -> _Outcome:
    from tensat_dl.syntax.parse import read_source

    if is_stream(path):
        raise UsageError(f"{path} is no regular file", help="`-` reads stdin and writes stdout")
    diagnostics = Diagnostics()
    source = read_source(path, diagnostics)
    laid_out = None if source is None else _laid_out(source, diagnostics)
    if source is None or laid_out is None:
        print_diagnostics(diagnostics)
        return _Outcome.BROKEN
    if path.read_bytes() == laid_out.encode():
        return _Outcome.KEPT
    if check:
        return _Outcome.DIFFERS
    if reason := why_not_replaced(path):
        print(f"{path} {reason}", file=sys.stderr)
        return _Outcome.BROKEN
    replace_text(path, laid_out)
    return _Outcome.CHANGED


def _laid_out(source: SourceFile, diagnostics: Diagnostics) -> str | None:
    from tensat_dl.syntax.format import format_source

    return format_source(source, diagnostics)


def _stream(names: Sequence[str], *, check: bool) -> ExitCode:
    """From stdin to stdout."""
    from tensat_dl.syntax.source import decode_source

    if len(names) > 1:
        raise UsageError("`-` stands alone: what is read from stdin goes to stdout")
    diagnostics = Diagnostics()
    source = decode_source("<stdin>", sys.stdin.buffer.read(), diagnostics)
    laid_out = None if source is None else _laid_out(source, diagnostics)
    if source is None or laid_out is None:
        print_diagnostics(diagnostics)
        return ExitCode.BAD_RULES
    if check:
        return ExitCode.OK if laid_out == source.text else ExitCode.BAD_RULES
    sys.stdout.write(laid_out)
    return ExitCode.OK


def _summary(outcomes: Sequence[_Outcome]) -> str:
    """`2 files formatted, 1 file unchanged`."""
    words = {
        _Outcome.CHANGED: "formatted",
        _Outcome.DIFFERS: "would be formatted",
        _Outcome.KEPT: "in canonical layout",
        _Outcome.BROKEN: "not formatted",
    }
    counts = [(outcomes.count(outcome), word) for outcome, word in words.items()]
    return ", ".join(f"{counted(n, 'file')} {word}" for n, word in counts if n)


COMMAND = Command(
    "fmt",
    "lay out rule files",
    "Rewrite rule files in their one canonical layout.",
    _EPILOG,
    _add_arguments,
    _execute,
)
