"""`tensat-dl rules`: the shipped rulesets with their documentation."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.cli.command import Command
from tensat_dl.cli.failures import print_diagnostics
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.errors import ExitCode, UsageError
from tensat_dl.resources import data_directory
from tensat_dl.suggest import nearest_or_all

if TYPE_CHECKING:
    from tensat_dl.syntax import ast

_EPILOG = """\
examples:
  tensat-dl rules           the rulesets, one a line
  tensat-dl rules std       what is in it, with every rule's documentation and text

A name in this list may stand wherever a command takes RULES.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="a shipped ruleset, e.g. std")


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.cli.tables import Table, print_blocks

    shipped = _shipped()
    if arguments.name is not None:
        return _show(arguments.name, shipped)
    rows = []
    for name, path in shipped.items():
        module = _parse(path)
        rows.append((name, str(_count(module, shipped)), _first_line(module.doc)))
    print_blocks([Table(("ruleset", ">rules", "about"), rows)], sys.stdout)
    return ExitCode.OK


def _show(name: str, shipped: Mapping[str, Path]) -> ExitCode:
    if name not in shipped:
        help = nearest_or_all(name, shipped)
        raise UsageError(f"there is no shipped ruleset `{name}`", help=help)
    module = _parse(shipped[name])
    print(f"{name}  ({shipped[name]})\n\n{module.doc.strip()}\n")
    for imported in module.imports:
        print(f"imports {imported.path.removesuffix('.tsat')}")
    for rule in _rules(module):
        print(f"\n{rule.name.text}: {' '.join(rule.doc.split()) or '(no documentation)'}")
        print(textwrap.indent(_source(rule), "    "))
    return ExitCode.OK


def _shipped() -> dict[str, Path]:
    """Name, as written in RULES or an import, of every shipped file of rules."""
    root = data_directory("rulesets")
    found = sorted(path for path in root.rglob("*.tsat") if path.parent != root / "tests")
    return {path.relative_to(root).with_suffix("").as_posix(): path for path in found}


def _parse(path: Path) -> ast.Module:
    from tensat_dl.syntax.parse import parse

    diagnostics = Diagnostics()
    module = parse(SourceFile(str(path), path.read_text(encoding="utf-8")), diagnostics)
    if module is None:
        print_diagnostics(diagnostics)
        raise RuntimeError(f"the shipped ruleset {path} is broken")
    return module


def _rules(module: ast.Module) -> Iterator[ast.Rewrite | ast.Rule]:
    from tensat_dl.syntax import ast

    for item in module.items:
        members = item.members if isinstance(item, ast.Ruleset) else (item,)
        for member in members:
            if isinstance(member, ast.Rewrite | ast.Rule):
                yield member


def _count(module: ast.Module, shipped: Mapping[str, Path]) -> int:
    """The rules written in a file, and those of the shipped files that it imports whole."""
    whole = (each.path.removesuffix(".tsat") for each in module.imports if each.alias)
    imported = (_parse(shipped[name]) for name in whole if name in shipped)
    return len(list(_rules(module))) + sum(_count(each, shipped) for each in imported)


def _source(rule: ast.Rewrite | ast.Rule) -> str:
    """The rule as it stands in its file."""
    span = rule.span
    text = span.file.text
    line_start = text.rfind("\n", 0, span.start) + 1
    return textwrap.dedent(text[line_start : span.end])


def _first_line(doc: str) -> str:
    return doc.strip().partition("\n")[0]


COMMAND = Command(
    "rules",
    "show the shipped rulesets",
    "Show the rulesets that come with tensat-dl and what their rules do.",
    _EPILOG,
    _add_arguments,
    _execute,
)
