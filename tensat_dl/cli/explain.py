"""`tensat-dl explain`: what a code of an error or a warning means, and what a run changed."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path

from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode, InputError, UsageError
from tensat_dl.resources import data_directory
from tensat_dl.suggest import closest

_CODE = re.compile(r"[EW][0-9]{4}", re.IGNORECASE)
#: What was meant as one.
_NUMBER = re.compile(r"[EW][0-9]+", re.IGNORECASE)
_FENCED = re.compile(r"^```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_EPILOG = """\
examples:
  tensat-dl explain          every code, one a line
  tensat-dl explain E0402    what it means, a wrong file and the mended one
  tensat-dl explain model.opt.onnx
                             which rules made each change, and what it saves;
                             for models written by `tensat-dl run --explain`
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "subject", metavar="CODE or MODEL", nargs="?", help="a code, e.g. E0402, or an ONNX model"
    )


def _execute(arguments: argparse.Namespace) -> ExitCode:
    pages = _pages()
    subject = arguments.subject
    if subject is None:
        print("\n".join(_title(page) for page in pages.values()))
        return ExitCode.OK
    if Path(subject).suffix == ".onnx" or Path(subject).is_file():
        return _explain_model(Path(subject))
    page = pages.get(subject.upper())
    if page is None:
        raise _unknown(subject, pages)
    print(_as_text(page.read_text(encoding="utf-8")), end="")
    return ExitCode.OK


def _explain_model(path: Path) -> ExitCode:
    from tensat_dl.cli.changes import change_blocks
    from tensat_dl.cli.tables import print_blocks
    from tensat_dl.diagnosis.stored import stored_changes
    from tensat_dl.graph.source import load_source

    explanation = stored_changes(load_source(path))
    if explanation is None:
        raise InputError(
            f"{path} says nothing of how it was made",
            help="write it with `tensat-dl run --explain`; where that keeps the original, there is "
            "nothing to say",
        )
    print_blocks(change_blocks(explanation["changes"], explanation["unit"]), sys.stdout)
    return ExitCode.OK


def _pages() -> dict[str, Path]:
    """Code -> its page, in order."""
    found = sorted(data_directory("grammar").joinpath("errors").glob("*.md"))
    return {page.stem: page for page in found}


def _title(page: Path) -> str:
    """`E0402: an output of the match that `emit` does not assign`."""
    with page.open(encoding="utf-8") as stream:
        return stream.readline().removeprefix("# ").rstrip()


def _unknown(subject: str, pages: dict[str, Path]) -> UsageError:
    """What is said of something that has no page."""
    listed = "`tensat-dl explain` lists the codes"
    near = closest(subject, [code for code in pages if code[0] == subject[:1].upper()])
    if near is not None and _NUMBER.fullmatch(subject):
        return UsageError(f"there is no code `{subject}`", help=f"did you mean `{near}`? {listed}")
    return UsageError(
        f"`{subject}` is no code and no model", help=f"a code looks like E0402; {listed}"
    )


def _as_text(page: str) -> str:
    """A page for a terminal: examples moved in, headings without their signs."""
    plain = _FENCED.sub(lambda block: textwrap.indent(block[1].rstrip("\n"), "    "), page)
    return re.sub(r"^#+ ", "", plain, flags=re.MULTILINE)


COMMAND = Command(
    "explain",
    "explain the code of an error, or what a run changed",
    "Explain the code of an error or a warning, or what a run changed in the model it wrote.",
    _EPILOG,
    _add_arguments,
    _execute,
)
