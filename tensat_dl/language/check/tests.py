"""The names in `test` blocks; their terms are checked when they run.  Reports E0201, E0211."""

from __future__ import annotations

from tensat_dl.language.check.names import Kind, Scope
from tensat_dl.language.check.report import Reporter, did_you_mean
from tensat_dl.syntax import ast


def check_test(test: ast.Test, scope: Scope, report: Reporter) -> None:
    """Rules and rulesets that the test names exist."""
    for name in test.using:
        if scope.find_scope(name.text) is None:
            _check_name(name, (Kind.RULESET, Kind.RULE), scope, report)
    for line in test.body:
        if isinstance(line, ast.TestExpect) and line.kind is ast.ExpectKind.FIRES:
            for name in line.names:
                _check_name(name, (Kind.RULE,), scope, report)


def _check_name(name: ast.Name, kinds: tuple[Kind, ...], scope: Scope, report: Reporter) -> None:
    symbol = scope.find(name.text)
    wanted = " or ".join(kind.value for kind in kinds)
    if symbol is None:
        help = did_you_mean(name.text, scope.visible(*kinds))
        report.error("E0201", f"unknown {wanted} `{name.text}`", name.span, help=help)
    elif symbol.kind not in kinds:
        report.error(
            "E0211",
            f"`{name.text}` is a {symbol.kind.value}, not a {wanted}",
            name.span,
            related=(symbol.label,),
        )
