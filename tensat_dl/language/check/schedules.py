"""Rulesets and schedules: which rules run, in which order, within which limits.

Enters: rulesets, schedules and the checked rules.  Leaves: rulesets as names of rules, and steps.
Decisions: a rule that is `@off` runs only where it is named itself; a ruleset whose own
annotation is `@off` runs only where it is named; `run name` of another schedule runs its steps.
Reports E0201, E0211, E0601 to E0604, W0601.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tensat_dl.diagnostics import Span
from tensat_dl.language.check.names import Kind, Scope, Symbol, report_other_kind
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.program import Limit, Prune, Repeat, Rule, Run, Saturate, Step
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast

_NO_LIMIT = Limit()
_RUNNABLE = (Kind.RULE, Kind.RULESET, Kind.SCHEDULE)


@dataclass
class Scheduler:
    """Resolves names of rules and rulesets.  `rules`: rule symbol -> its checked rules."""

    rules: dict[Symbol, tuple[Rule, ...]]
    report: Reporter
    _rulesets: dict[Symbol, tuple[Rule, ...]] = field(default_factory=dict)
    _open: list[Symbol] = field(default_factory=list)
    _by_item: dict[int, tuple[Rule, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the rules by the items that they come from."""
        self._by_item = {id(symbol.item): rules for symbol, rules in self.rules.items()}

    # --- rulesets -----------------------------------------------------------------------

    def ruleset(self, symbol: Symbol) -> tuple[Rule, ...]:
        """The rules of a ruleset, those it includes among them."""
        if symbol in self._rulesets:
            return self._rulesets[symbol]
        if symbol in self._open:
            self._report_circle(symbol)
            return ()
        self._open.append(symbol)
        item = symbol.item
        assert isinstance(item, ast.Ruleset)
        found: list[Rule] = []
        for member in item.members:
            found += self._member(member, symbol)
        self._open.pop()
        self._rulesets[symbol] = _unique(found)
        return self._rulesets[symbol]

    def _member(
        self, member: ast.Include | ast.Rewrite | ast.Rule, symbol: Symbol
    ) -> Iterable[Rule]:
        if isinstance(member, ast.Include):
            return [rule for name in member.names for rule in self._included(name, symbol.scope)]
        return [] if _is_off(member.annotations) else self._by_item.get(id(member), ())

    def _included(self, name: ast.Name, scope: Scope) -> tuple[Rule, ...]:
        symbol = scope.find(name.text)
        if symbol is not None and symbol.kind is Kind.RULE:
            return self.rules.get(symbol, ())
        if symbol is not None and symbol.kind is Kind.RULESET:
            return self.ruleset(symbol)
        inner = scope.find_scope(name.text)
        if inner is not None:
            return self.all_rules(inner)
        self._report_name(name, symbol, scope, (Kind.RULE, Kind.RULESET))
        return ()

    def all_rules(self, scope: Scope) -> tuple[Rule, ...]:
        """What a file offers: its own rules and those it imports, but those that are `@off`."""
        found: list[Rule] = []
        for symbol in (*scope.own, *scope.picked):
            if symbol.kind is Kind.RULE:
                found += self.rules.get(symbol, ())
            elif symbol.kind is Kind.RULESET and symbol not in scope.own:
                found += self.ruleset(symbol)
        for inner in scope.aliases.values():
            found += self.all_rules(inner)
        return _unique(rule for rule in found if rule.off is None)

    # --- schedules ----------------------------------------------------------------------

    def main(self, scope: Scope) -> tuple[Step, ...] | None:
        """The schedule of a file: `main`, or its only one; None where it has none."""
        schedules = [symbol for symbol in scope.own if symbol.kind is Kind.SCHEDULE]
        main = next((symbol for symbol in schedules if _written(symbol) == "main"), None)
        chosen = main or (schedules[0] if len(schedules) == 1 else None)
        steps = {symbol: self._schedule(symbol) for symbol in schedules}
        if chosen is None:
            for symbol in schedules:
                self.report.warning(
                    "W0601",
                    f"the schedule `{symbol.name}` does not run: none of them is called `main`",
                    symbol.span,
                    help="call one of them `main`; until then all rules run to the end",
                )
        return None if chosen is None else steps[chosen]

    def check_default(self, rules: Iterable[Rule], scopes: Sequence[Scope]) -> None:
        """E0603 for expansive rules where all rules run because no schedule is written."""
        own = {symbol.name: symbol for scope in scopes for symbol in scope.own}
        for rule in rules:
            if rule.expansive and rule.base in own:
                self._report_unlimited(rule, own[rule.base].span)

    def _schedule(self, symbol: Symbol) -> tuple[Step, ...]:
        if symbol in self._open:
            self._report_circle(symbol)
            return ()
        item = symbol.item
        assert isinstance(item, ast.Schedule)
        self._open.append(symbol)
        steps = self._steps(item.body, symbol.scope, limited=False)
        self._open.pop()
        return steps

    def _steps(
        self, body: tuple[ast.Step, ...], scope: Scope, *, limited: bool
    ) -> tuple[Step, ...]:
        return tuple(step for written in body for step in self._step(written, scope, limited))

    def _step(self, step: ast.Step, scope: Scope, limited: bool) -> tuple[Step, ...]:
        match step:
            case ast.Run():
                return self._run(step, scope, limited)
            case ast.Saturate():
                limit = self._limit(step.limit)
                limited = limited or limit != _NO_LIMIT
                return (Saturate(self._steps(step.body, scope, limited=limited), limit),)
            case ast.Repeat():
                return self._repeat(step, scope, limited)
            case ast.Prune():
                return (Prune(),)

    def _repeat(self, step: ast.Repeat, scope: Scope, limited: bool) -> tuple[Step, ...]:
        if step.count < 1:
            self.report.error("E0604", "`repeat` needs a count of at least 1", step.span)
        limit = self._limit(step.limit)
        limited = limited or limit != _NO_LIMIT
        return (Repeat(step.count, self._steps(step.body, scope, limited=limited), limit),)

    def _limit(self, limit: ast.Limit | None) -> Limit:
        if limit is None:
            return _NO_LIMIT
        given = (limit.iters, limit.enodes, limit.seconds)
        if all(value is None for value in given):
            help = "write for example `limit(iters=10)`"
            self.report.error("E0604", "this limit limits nothing", limit.span, help=help)
        if any(value is not None and value <= 0 for value in given):
            self.report.error("E0604", "a limit is greater than 0", limit.span)
        return Limit(*given)

    def _run(self, step: ast.Run, scope: Scope, limited: bool) -> tuple[Step, ...]:
        name = step.name
        symbol = scope.find(name.text)
        if symbol is not None and symbol.kind is Kind.SCHEDULE:
            return self._schedule(symbol)
        inner = scope.find_scope(name.text) if symbol is None else None
        known = symbol is not None and symbol.kind in _RUNNABLE
        if inner is None and not known:
            self._report_name(name, symbol, scope, _RUNNABLE)
            return ()
        rules = self._included(name, scope)
        if not limited:
            self._check_expansive(rules, name.span)
        return (Run(name.text, tuple(rule.name for rule in rules)),)

    def _check_expansive(self, rules: Iterable[Rule], span: Span) -> None:
        for rule in rules:
            if rule.expansive:
                self._report_unlimited(rule, span)

    def _report_unlimited(self, rule: Rule, span: Span) -> None:
        self.report.error(
            "E0603",
            f"the expansive rule `{rule.base}` runs without a limit",
            span,
            help="write a schedule with `saturate { .. } limit(iters=3)` around it",
        )

    # --- messages -----------------------------------------------------------------------

    def _report_name(
        self, name: ast.Name, symbol: Symbol | None, scope: Scope, kinds: tuple[Kind, ...]
    ) -> None:
        *most, last = (kind.value for kind in kinds)
        wanted = f"{', a '.join(most)} or a {last}"
        candidates = (*scope.visible(*kinds), *scope.aliases)
        if symbol is not None:
            report_other_kind(symbol, f"a {wanted}", name.span, self.report, candidates)
            return
        self.report.error(
            "E0601",
            f"nothing is called `{name.text}`",
            name.span,
            label=f"a {wanted} is needed",
            help=did_you_mean(name.text, candidates),
        )

    def _report_circle(self, symbol: Symbol) -> None:
        again = "; `repeat n { .. }` and `saturate` run something again"
        self.report.error(
            "E0602",
            f"`{symbol.name}` contains itself",
            symbol.span,
            help="remove the circle" + (again if symbol.kind is Kind.SCHEDULE else ""),
        )


def _unique(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    by_name = {rule.name: rule for rule in rules}
    return tuple(by_name.values())


def _written(symbol: Symbol) -> str:
    assert isinstance(symbol.item, ast.Schedule)
    return symbol.item.name.text


def _is_off(annotations: tuple[ast.Annotation, ...]) -> bool:
    return any(annotation.name == "off" for annotation in annotations)
