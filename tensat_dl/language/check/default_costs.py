"""The cost model that rule files ask for where nobody asks for another.

Enters: all files, and those that were named.  Leaves: what the named files say, or, where one says
nothing, what the files say that it imports as wholes.  Several models are files that disagree:
whoever runs them says which it is to be.  Reports E0201, E0203, E0211.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensat_dl.diagnostics import Label
from tensat_dl.language.check.names import Kind, Scope, report_other_kind
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.modules import LoadedModule
from tensat_dl.language.program import DefaultCost
from tensat_dl.settings import COST_MODELS
from tensat_dl.suggest import nearest_or_all
from tensat_dl.syntax import ast


def check_default_costs(
    scopes: Mapping[LoadedModule, Scope], roots: Sequence[Scope], report: Reporter
) -> tuple[DefaultCost, ...]:
    """One for each model that `roots` ask for, in the order of the files."""
    own = {id(scope): _own(scope, report) for scope in scopes.values()}
    found: dict[str, DefaultCost] = {}
    waiting, seen = [*reversed(roots)], set[int]()
    while waiting:
        scope = waiting.pop()
        said = own[id(scope)]
        if said is not None:
            found.setdefault(said.model, said)
        elif id(scope) not in seen:
            seen.add(id(scope))
            waiting += reversed(scope.aliases.values())
    return tuple(found.values())


def _own(scope: Scope, report: Reporter) -> DefaultCost | None:
    """What a file says itself."""
    items = [item for item in scope.module.tree.items if isinstance(item, ast.DefaultCost)]
    for again in items[1:]:
        report.error(
            "E0203",
            "`default cost` stands twice",
            again.span,
            related=(Label(items[0].span, "first here"),),
            help="a file has one: remove one of them",
        )
    models = [_model(item.name, scope, report) for item in items]
    return DefaultCost(models[0], items[0].span) if items else None


def _model(name: ast.Name, scope: Scope, report: Reporter) -> str:
    """The name of the cost model in the program; as it stands where there is none."""
    symbol = scope.find(name.text)
    if symbol is not None and symbol.kind is Kind.COST_MODEL:
        return symbol.name
    if name.text in COST_MODELS:
        return name.text
    help = nearest_or_all(name.text, (*COST_MODELS, *scope.visible(Kind.COST_MODEL)))
    if symbol is not None:
        report_other_kind(symbol, "a cost model", name.span, report, help=help)
    else:
        report.error("E0201", f"unknown cost model `{name.text}`", name.span, help=help)
    return name.text
