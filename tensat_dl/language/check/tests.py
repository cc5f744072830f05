"""`test` blocks: the small graph that each declares, and what it claims of it.

Enters: a test and the scope of its file.  Leaves: a :class:`~tensat_dl.language.program.TestCase`.
A test that claims `expect error CODE` keeps its own problems, for whoever runs it to compare; those
of all others are reported like any.  Reports E0201, E0211, E0403, E0703, E0704 and what right sides
report.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tensat_dl.diagnostics import Diagnostics, Label, Span
from tensat_dl.language.check.assignments import Assignments
from tensat_dl.language.check.names import Kind, Scope, Symbol, report_other_kind
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.check.right import RightSide
from tensat_dl.language.check.schedules import Scheduler
from tensat_dl.language.check.types import bind_type
from tensat_dl.language.check.variables import Context, Declared
from tensat_dl.language.program import Claim, Emit, TestCase, TestValue
from tensat_dl.sentences import listed
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes


def check_test(
    test: ast.Test, scope: Scope, declared: Declared, scheduler: Scheduler, report: Reporter
) -> TestCase:
    """Check one test of a file whose scope is `scope`."""
    if not any(line.kind is ast.ExpectKind.ERROR for line in _claims(test)):
        return _Test(test, scope, declared, scheduler, report).case()
    own = Diagnostics()
    case = _Test(test, scope, declared, scheduler, Reporter(own)).case()
    return replace(case, problems=tuple(own))


def _claims(test: ast.Test) -> Iterator[ast.TestExpect]:
    return (line for line in test.body if isinstance(line, ast.TestExpect))


@dataclass
class _Test:
    """One test, line by line."""

    test: ast.Test
    scope: Scope
    declared: Declared
    scheduler: Scheduler
    report: Reporter
    values: list[TestValue] = field(default_factory=list)
    given: dict[str, Span] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context = Context(
            self.scope,
            self.declared,
            self.report,
            place="in this test",
            binds="this test declares",
        )

    def case(self) -> TestCase:
        """The test, checked."""
        rules = self._using() if self.test.using else None
        for line in self.test.body:
            if isinstance(line, ast.TestInput):
                self._declare(line)
        right = RightSide(self.context, Assignments(self.context, {}, "given", "the test"))
        for line in self.test.body:
            if isinstance(line, ast.TestGiven):
                self._given(line.statement, right)
        claims = tuple(self._claim(line) for line in _claims(self.test))
        return TestCase(
            self.test.title, rules, tuple(self.values), tuple(right.emits), claims, self.test.span
        )

    # --- rules ------------------------------------------------------------------------------

    def _using(self) -> tuple[str, ...]:
        found: list[str] = []
        for name in self.test.using:
            inner = self.scope.find_scope(name.text)
            symbol = self.scope.find(name.text)
            if symbol is None and inner is not None:
                found += [rule.name for rule in self.scheduler.all_rules(inner)]
            elif symbol is not None and symbol.kind is Kind.RULESET:
                found += [rule.name for rule in self.scheduler.ruleset(symbol)]
            else:
                found += self._rule(name, symbol, (Kind.RULESET, Kind.RULE))
        return tuple(dict.fromkeys(found))

    def _rule(
        self, name: ast.Name, symbol: Symbol | None, kinds: tuple[Kind, ...] = (Kind.RULE,)
    ) -> list[str]:
        """The program's rules behind the name of one rule."""
        if symbol is not None and symbol.kind is Kind.RULE:
            return [rule.name for rule in self.scheduler.rules.get(symbol, ())]
        wanted = " or ".join(kind.value for kind in kinds)
        names = (*self.scope.visible(*kinds),)
        if symbol is None:
            help = did_you_mean(name.text, names)
            self.report.error("E0201", f"unknown {wanted} `{name.text}`", name.span, help=help)
        else:
            report_other_kind(symbol, f"a {wanted}", name.span, self.report, names)
        return []

    # --- the graph --------------------------------------------------------------------------

    def _declare(self, line: ast.TestInput) -> None:
        weight = line.kind == "weight"
        for name, type_ in line.values:
            known = self.context.variables.get(name.text)
            if known is not None:
                self._report_twice(name, known.span)
                continue
            self.context.bind_tensor(name.text, name.span)
            if self._is_whole(name, type_, weight):
                bind_type(type_, self.context)
                self.values.append(TestValue(name.text, weight, type_, name.span))

    def _report_twice(self, name: ast.Name, first: Span) -> None:
        related = (Label(first, "first here"),)
        self.report.error("E0403", f"`{name.text}` is declared twice", name.span, related=related)

    def _is_whole(self, name: ast.Name, type_: ast.TypeExpr, weight: bool) -> bool:
        """A type that says all: E0703 for anything left open."""
        dims = type_.dims
        sizes = (ast.Number,) if weight else (ast.Number, ast.Name)
        named = dtypes.from_name(type_.dtype) is not None
        if named and dims is not None and all(isinstance(dim, sizes) for dim in dims):
            return True
        self.report.error(
            "E0703",
            f"a test says the whole type of `{name.text}`",
            type_.span,
            help="write an element type and every dim, e.g. `f32[8, 16]`"
            + ("" if weight else "; a name is a symbolic dim, as in `f32[N, 16]`"),
        )
        return False

    def _given(self, statement: ast.Statement, right: RightSide) -> None:
        for target in statement.targets:
            known = self.context.variables.get(target.text)
            if known is not None and target.text not in self.given:
                self._report_twice(target, known.span)
                return
            self.given.setdefault(target.text, target.span)
        right.statement(statement)

    # --- claims -----------------------------------------------------------------------------

    def _claim(self, line: ast.TestExpect) -> Claim:
        match line.kind:
            case ast.ExpectKind.FIRES:
                rules = tuple(
                    (name.text, tuple(self._rule(name, self.scope.find(name.text))))
                    for name in line.names
                )
                return Claim(line.kind, line.negated, line.span, rules=rules)
            case ast.ExpectKind.BEST:
                return self._best(line)
            case ast.ExpectKind.EQUAL:
                right = self._right({})
                emits = tuple(Emit((), False, right.term(term), term.span) for term in line.terms)
                return Claim(line.kind, line.negated, line.span, emits=emits)
            case ast.ExpectKind.ERROR:
                return Claim(line.kind, False, line.span, code=line.names[0].text)

    def _best(self, line: ast.TestExpect) -> Claim:
        statement = line.statement
        assert statement is not None
        unknown = [t for t in statement.targets if t.text not in self.given]
        for target in unknown:
            self.report.error(
                "E0704",
                f"`{target.text}` is not given in this test",
                target.span,
                help=did_you_mean(target.text, self.given)
                or (f"given are {listed(self.given)}" if self.given else "write `given y = ..`"),
            )
        cost = None if line.under is None else self._cost(line.under)
        if unknown:
            return Claim(line.kind, False, line.span)
        right = self._right({t.text: t.span for t in statement.targets})
        right.statement(statement)
        return Claim(line.kind, False, line.span, emits=tuple(right.emits), cost=cost)

    def _right(self, roots: dict[str, Span]) -> RightSide:
        return RightSide(self.context, Assignments(self.context, roots, "expect best", "the test"))

    def _cost(self, name: ast.Name) -> str:
        """The name of the cost model in the program; others are those that every program has."""
        symbol = self.scope.find(name.text)
        known = symbol is not None and symbol.kind is Kind.COST_MODEL
        return symbol.name if symbol is not None and known else name.text
