"""Names of a program: what each file declares and imports, and what each name means there.

Enters: loaded modules, imported ones first.  Leaves: a :class:`Scope` for each; every symbol
has a name that is unique in the program.  Reports E0203, E0204, E0207.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from tensat_dl.diagnostics import Label, Span
from tensat_dl.language.builtins import BUILTINS
from tensat_dl.language.check.report import Reporter, source_text
from tensat_dl.language.modules import LoadedModule
from tensat_dl.settings import COST_MODELS
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import catalog, dtypes


class Kind(Enum):
    """What a symbol is."""

    RULE = "rule"
    CLASS = "class"
    RELATION = "relation"
    FUNCTION = "function"
    OPERATOR = "operator"
    RULESET = "ruleset"
    SCHEDULE = "schedule"
    COST_MODEL = "cost model"


@dataclass(eq=False)
class Symbol:
    """One declaration; `name` is unique in the program once `name_symbols` has run."""

    kind: Kind
    name: str
    item: ast.Item
    scope: Scope
    span: Span

    @property
    def label(self) -> Label:
        """Where it is declared."""
        return Label(self.span, f"the {self.kind.value} is declared here")


@dataclass(eq=False)
class Scope:
    """The names of one file: its own and those it imports one by one; aliases of whole files."""

    module: LoadedModule
    symbols: dict[str, Symbol] = field(default_factory=dict)
    own: list[Symbol] = field(default_factory=list)
    picked: list[Symbol] = field(default_factory=list)
    aliases: dict[str, Scope] = field(default_factory=dict)
    alias_spans: dict[str, Span] = field(default_factory=dict)

    def find(self, name: str) -> Symbol | None:
        """The symbol of a plain or dotted name."""
        head, dot, rest = name.partition(".")
        if not dot:
            return self.symbols.get(name)
        inner = self.aliases.get(head)
        return None if inner is None else inner.find(rest)

    def find_scope(self, name: str) -> Scope | None:
        """The file of a plain or dotted alias."""
        head, dot, rest = name.partition(".")
        inner = self.aliases.get(head)
        return inner if inner is None or not dot else inner.find_scope(rest)

    def visible(self, *kinds: Kind) -> Iterator[str]:
        """Names that stand for one of `kinds` here, dotted ones included."""
        yield from (name for name, symbol in self.symbols.items() if symbol.kind in kinds)
        for alias, inner in self.aliases.items():
            yield from (f"{alias}.{name}" for name in inner.visible(*kinds))


def build_scopes(modules: Iterable[LoadedModule], report: Reporter) -> dict[LoadedModule, Scope]:
    """A scope for each module; imported modules must come before those that import them."""
    scopes: dict[LoadedModule, Scope] = {}
    for module in modules:
        scope = Scope(module)
        for item in module.tree.items:
            _declare(scope, item, report)
        for statement, imported in module.imports:
            if imported is not None:
                _import(scope, statement, scopes[imported], report)
        scopes[module] = scope
    return scopes


def name_symbols(roots: Sequence[Scope]) -> None:
    """Give every symbol its name in the program: as the user of the first root would write it."""
    taken: set[str] = set()
    named: set[int] = set()

    def give(symbol: Symbol, prefix: str) -> None:
        if id(symbol) in named:
            return
        named.add(id(symbol))
        wanted = prefix + symbol.name
        if wanted in taken:
            wanted = f"{symbol.scope.module.stem}.{symbol.name}"
        while wanted in taken:
            wanted += "'"
        taken.add(wanted)
        symbol.name = wanted

    def visit(scope: Scope, prefix: str) -> None:
        for symbol in (*scope.own, *scope.picked):
            give(symbol, prefix)
        for alias, inner in scope.aliases.items():
            visit(inner, f"{prefix}{alias}.")
        for symbol in scope.picked:
            if any(id(other) not in named for other in symbol.scope.own):
                visit(symbol.scope, f"{prefix}{symbol.scope.module.stem}.")

    for root in roots:
        visit(root, "")


def _declare(scope: Scope, item: ast.Item, report: Reporter) -> None:
    kind = _KINDS.get(type(item))
    if kind is not None:
        _add(scope, kind, item, report)
    if isinstance(item, ast.Ruleset):
        for member in item.members:
            if not isinstance(member, ast.Include):
                _add(scope, Kind.RULE, member, report)


def _add(scope: Scope, kind: Kind, item: ast.Item, report: Reporter) -> None:
    name: ast.Name = item.name  # type: ignore[union-attr]
    symbol = Symbol(kind, name.text, item, scope, name.span)
    scope.own.append(symbol)
    _reject_reserved(symbol, report)
    earlier = scope.symbols.setdefault(name.text, symbol)
    if earlier is not symbol:
        _report_duplicate(name, earlier.label, report)


#: Where a symbol of a kind stands.
_PLACES = {
    Kind.RULE: "rules stand in rulesets, schedules and tests",
    Kind.CLASS: "in a rule, write `for F in {}` after its name, and `F(..)` in its pattern",
    Kind.RELATION: "relations stand in `derive`, and in the `where` of a rule",
    Kind.FUNCTION: "functions stand in conditions and in the values of attributes",
    Kind.OPERATOR: "operators stand in patterns and results",
    Kind.RULESET: "rulesets stand in schedules, behind `include`, and behind `using` of tests",
    Kind.SCHEDULE: "schedules stand in schedules; `main` runs by itself",
    Kind.COST_MODEL: "cost models stand behind `default cost` and `--cost`",
}


def report_other_kind(
    symbol: Symbol,
    wanted: str,
    span: Span,
    report: Reporter,
    known: Iterable[str] = (),
    help: str = "",
) -> None:
    """E0211: the name at `span` is that of `symbol`, where `wanted` is needed; `known` are names of
    those that files declare, as nobody misspelt a built-in name in just that way.  Without `help`
    the message says where such a symbol stands."""
    name = source_text(span)
    message = f"`{name}` is {_with_article(symbol.kind)}, not {wanted}"
    near = did_you_mean(name, known)
    help = help or _PLACES[symbol.kind].format(name) + (f"; {near}" if near else "")
    report.error("E0211", message, span, related=(symbol.label,), help=help)


def _with_article(kind: Kind) -> str:
    return f"an {kind.value}" if kind is Kind.OPERATOR else f"a {kind.value}"


def _report_duplicate(name: ast.Name, earlier: Label, report: Reporter) -> None:
    report.error(
        "E0203",
        f"`{name.text}` is declared twice",
        name.span,
        label="declared again",
        related=(earlier,),
        help="every name of a file, of whatever kind, is declared once: rename one of them",
    )


def _reject_reserved(symbol: Symbol, report: Reporter) -> None:
    owner = _owner(symbol.name) if symbol.kind in _CALLED else ""
    if symbol.kind is Kind.COST_MODEL and symbol.name in COST_MODELS:
        owner = "a built-in cost model"
    if symbol.name == "_":
        owner = "the wildcard"
    if owner:
        report.error(
            "E0204",
            f"`{symbol.name}` is {owner} and cannot be declared",
            symbol.span,
            help=f"choose another name for this {symbol.kind.value}",
        )


def _owner(name: str) -> str:
    if name in BUILTINS:
        return "a built-in function"
    if name == "weight":
        return "a built-in relation"
    if dtypes.from_name(name) is not None:
        return "an element type"
    return "an operator of ONNX" if catalog.operator(name) is not None else ""


def _import(scope: Scope, statement: ast.Import, imported: Scope, report: Reporter) -> None:
    for name in statement.names:
        _import_name(scope, name, statement.path, imported, report)
    if statement.names:
        return
    alias = statement.alias or ast.Name(imported.module.stem, statement.span)
    clash = scope.symbols.get(alias.text)
    earlier = scope.alias_spans.get(alias.text)
    if clash is not None or earlier is not None:
        label = clash.label if clash is not None else Label(earlier or alias.span, "imported here")
        _report_duplicate(alias, label, report)
        return
    scope.aliases[alias.text] = imported
    scope.alias_spans[alias.text] = alias.span


def _import_name(
    scope: Scope, name: ast.Name, path: str, imported: Scope, report: Reporter
) -> None:
    symbol = imported.find(name.text)
    if symbol is None:
        report.error(
            "E0207",
            f"`{path}` declares no `{name.text}`",
            name.span,
            help=did_you_mean(name.text, imported.visible(*Kind)),
        )
        return
    earlier = scope.symbols.setdefault(name.text, symbol)
    if earlier is not symbol:
        _report_duplicate(name, earlier.label, report)
        return
    scope.picked.append(symbol)


_CALLED = frozenset({Kind.CLASS, Kind.RELATION, Kind.FUNCTION, Kind.OPERATOR})

_KINDS = {
    ast.Rewrite: Kind.RULE,
    ast.Rule: Kind.RULE,
    ast.OperatorClass: Kind.CLASS,
    ast.Relation: Kind.RELATION,
    ast.Function: Kind.FUNCTION,
    ast.Operator: Kind.OPERATOR,
    ast.Ruleset: Kind.RULESET,
    ast.Schedule: Kind.SCHEDULE,
    ast.CostModel: Kind.COST_MODEL,
}
