"""The first half of a step: the engine asks, Python answers.

Enters: a loaded engine, rules and derivations that ask.  Leaves: answers in the engine, the rules
that may act, and counts.  All rules ask before any of them acts, so what is new in their tables is
read at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tensat_dl.egraph.answer_groups import answer_groups
from tensat_dl.egraph.derive import EncodedDerivation
from tensat_dl.egraph.engine import Engine, Row
from tensat_dl.egraph.limits import Limits, Stop
from tensat_dl.egraph.new_rows import NewRows
from tensat_dl.egraph.numbering import NUMBERS, SEEN, number_lists
from tensat_dl.egraph.question import Answerer
from tensat_dl.egraph.rules import EncodedRule
from tensat_dl.egraph.snapshot import StepRecord, StopReason


@dataclass
class Counts:
    """Matches found and acted on, and seconds, by rule name; the steps taken."""

    matches: dict[str, int] = field(default_factory=dict)
    applied: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    steps: list[StepRecord] = field(default_factory=list)

    def spent(self, name: str, seconds: float) -> None:
        """Add to what a rule took."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


@dataclass(frozen=True)
class Found:
    """A rule with new matches, and the e-nodes that they may make at most."""

    rule: EncodedRule
    enodes: int


@dataclass
class Asker:
    """`before_rule` is told the rule about to run; `declare` runs commands when they are first
    needed, under a name."""

    engine: Engine
    answerer: Answerer
    limits: Limits
    counts: Counts
    before_rule: Callable[[str], None]
    declare: Callable[[str, Callable[[], Iterable[str]]], None]
    _answered: set[str] = field(default_factory=set)
    _groups: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._new_rows = NewRows(self.engine)

    def number_lists(self) -> None:
        """Give numbers to lists of analyses that are new."""
        self.engine.run(NUMBERS)
        new = self._new_rows.read([SEEN]).get(SEEN, [])
        number_lists(self.engine, self.answerer.interner, new)

    def answer_derivations(self, derivations: Iterable[EncodedDerivation]) -> None:
        """Answer what they have asked."""
        asking = {d.ask: d for d in derivations if d.ask}
        for ask, new in self._new_rows.read(asking).items():
            answers = [(row, self.answerer.derivation(asking[ask], row)) for row in new]
            rows = [(*row, *answer) for row, answer in answers if answer is not None]
            self.engine.facts(asking[ask].answer, rows)

    def ask(self, rules: Sequence[EncodedRule]) -> list[Found]:
        """Ask and answer; gives the rules with new matches that may act.

        The others are not run at all: what they match has been acted on.
        """
        self.number_lists()
        matches = [(rule, self._find(rule)) for rule in rules]
        asking = [(rule, found) for rule, found in matches if found]
        new = self._new_rows.read(rule.ask for rule, _ in asking)
        return [
            Found(rule, found * max(recipe.size for recipe in rule.plan.recipes))
            for rule, found in asking
            if self._may_act(rule, new.get(rule.ask, ()))
        ]

    def _find(self, rule: EncodedRule) -> int:
        """Let a rule ask what its new matches ask; gives their number."""
        name = rule.plan.rule.name
        with self._running(name):
            found = sum(self.engine.run(rule.find).matches.values())
        self.counts.matches[name] = self.counts.matches.get(name, 0) + found
        return found

    def _may_act(self, rule: EncodedRule, new: Sequence[Row]) -> bool:
        """Answer new questions; gives whether any new match of the rule may act."""
        if new:
            with self._running(rule.plan.rule.name):
                if rule.group is not None:
                    return self._answer_group(rule)
                self._answer(rule, new)
        return not self._answered.isdisjoint(rule.answers)

    @contextmanager
    def _running(self, name: str) -> Iterator[None]:
        """Say which rule runs, and count its seconds; raises Stop when time is out."""
        self.before_rule(name)
        started = time.monotonic()
        yield
        ended = time.monotonic()
        self.counts.spent(name, ended - started)
        if ended >= self.limits.deadline:
            raise Stop(StopReason.SECONDS, name)

    def _answer(self, rule: EncodedRule, new: Sequence[Row]) -> None:
        rows: dict[str, list[Row]] = {}
        for row in new:
            answer = self.answerer.rule(rule.plan, row)
            if answer is not None:
                table = rule.answers[answer.recipe]
                rows.setdefault(table, []).append((*row, *answer.columns))
        if rows:
            self.declare(rule.act, rule.acting)
        for table, found in rows.items():
            self.engine.facts(table, found)
        self._answered.update(rows)

    def _answer_group(self, rule: EncodedRule) -> bool:
        assert rule.group is not None
        members = list(self._new_rows.seen(rule.ask))
        rows = answer_groups(rule, members, self.answerer, self._groups)
        if rows.groups:
            self.declare(rule.act, rule.acting)
        self.engine.facts(rule.group.links, rows.links)
        self.engine.facts(rule.group.groups, rows.groups)
        return bool(rows.groups)
