"""Runs a schedule, one step at a time, within limits.

Enters: a loaded engine, the encoded rules, a schedule.  Leaves: the reason why it stopped, and
counts.  A step is: derive facts, ask, answer, check for cycles, act.  All rules of a step ask
before any of them acts, so that their order never matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from tensat_dl.egraph import cycles, naming
from tensat_dl.egraph.asking import Asker, Counts, Found
from tensat_dl.egraph.derive import DERIVE, DERIVE_FIND
from tensat_dl.egraph.encode import EncodedProgram
from tensat_dl.egraph.engine import Engine
from tensat_dl.egraph.hits import KEPT_HITS, forget_ruleset, forgetting, hit_table
from tensat_dl.egraph.limits import Limits, Stop
from tensat_dl.egraph.operators import NORMAL
from tensat_dl.egraph.prune import prune_cycles
from tensat_dl.egraph.question import Answerer
from tensat_dl.egraph.rules import GATE, WANTS, EncodedRule
from tensat_dl.egraph.runs import FOLDS, RUNS
from tensat_dl.egraph.snapshot import StepRecord, StopReason
from tensat_dl.egraph.typed import TYPED, typed_rule
from tensat_dl.language import program


@dataclass(frozen=True)
class _Effect:
    """Of a part of a schedule: did it change anything, and would it change nothing more?"""

    changed: bool
    quiet: bool


def _once(changed: bool) -> _Effect:
    return _Effect(changed, quiet=not changed)


@dataclass
class Driver:
    """`before_rule` is told the rule about to run, `after_step` that a step is over."""

    engine: Engine
    encoded: EncodedProgram
    answerer: Answerer
    limits: Limits
    before_rule: Callable[[str], None]
    after_step: Callable[[int], None]
    counts: Counts = field(default_factory=Counts)
    _combined: dict[tuple[str, ...], str] = field(default_factory=dict)
    _enodes: int = 0
    _sizes: dict[str, int] = field(default_factory=dict)
    _declared: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._asker = Asker(
            self.engine,
            self.answerer,
            self.limits,
            self.counts,
            self.before_rule,
            self._declare,
        )
        self._rules = {rule.plan.rule.name: rule for rule in self.encoded.rules}
        self._has_folds = any(rule.builds_lists for rule in self.encoded.rules)
        self._open_gate(GATE - 1)
        self._sizes = self.engine.sizes()
        self._enodes = _applications(self._sizes)

    # --- the schedule ------------------------------------------------------------------------

    def run(self, schedule: Sequence[program.Step]) -> StopReason:
        """Run it; gives `SATURATED` or `SCHEDULE` (it ended by its own limits), raises Stop."""
        quiet = self._body(schedule).quiet
        return StopReason.SATURATED if quiet else StopReason.SCHEDULE

    def _body(self, steps: Sequence[program.Step]) -> _Effect:
        effects = [self._step(step) for step in steps]
        return _Effect(any(e.changed for e in effects), all(e.quiet for e in effects))

    def _step(self, step: program.Step) -> _Effect:
        match step:
            case program.Run():
                return _once(
                    self.rules_step([self._rules[r] for r in step.rules if r in self._rules])
                )
            case program.Prune():
                return _once(self._prune())
            case program.Repeat():
                return self._loop(step.body, step.limit, step.count)
            case program.Saturate():
                return self._loop(step.body, step.limit, step.limit.iters)

    def _loop(
        self, body: Sequence[program.Step], limit: program.Limit, count: int | None
    ) -> _Effect:
        """Rounds of `body`, `count` at most; after one that changes nothing none would."""
        started = time.monotonic()
        rounds = 0
        changed, quiet = False, False
        while not quiet and (count is None or rounds < count):
            quiet = not self._body(body).changed
            changed |= not quiet
            rounds += 1
            if self._beyond(limit, started):
                break
        return _Effect(changed, quiet)

    def _beyond(self, limit: program.Limit, started: float) -> bool:
        if limit.enodes is not None and self._enodes >= limit.enodes:
            return True
        return limit.seconds is not None and time.monotonic() - started >= limit.seconds

    # --- one step ----------------------------------------------------------------------------

    def rules_step(self, rules: Sequence[EncodedRule]) -> bool:
        """One step of some rules together; gives whether the e-graph changed."""
        if not rules:
            return False
        started = time.monotonic()
        self._check_limits()
        rules = [rule for rule in rules if all(self._sizes[table] for table in rule.needs)]
        self._note_types()
        for rule in rules:
            self._declare(rule.find, rule.finding)
            if rule.plan.left.has_lists:
                self._declare(rule.act, rule.acting)
        self._derive()
        self.engine.saturate(RUNS)
        found = self._asker.ask(rules)
        if self._has_folds:
            self.engine.run(WANTS)
            self.engine.saturate(FOLDS)
        self._check_cycles(found)
        before = self._enodes
        try:
            changed = self._act(found)
        finally:  # also where a limit cuts the step short: rows in two orders are one
            self.engine.saturate(NORMAL)
        if self.encoded.prunes_steps:
            self._prune()
        self._sizes = self.engine.sizes()
        self._forget_hits(rules)
        self._enodes = _applications(self._sizes)
        seconds = time.monotonic() - started
        self.counts.steps.append(StepRecord(self._enodes, self._sizes["type"], seconds))
        self.after_step(self._enodes)
        exploded = found and self._enodes > 2 * before
        self._check_limits(_largest(found) if exploded else "")
        return changed

    def _check_limits(self, blamed: str = "") -> None:
        if self._enodes >= self.limits.enodes:
            raise Stop(StopReason.ENODES, blamed)
        if time.monotonic() >= self.limits.deadline:
            raise Stop(StopReason.SECONDS, blamed)

    def _note_types(self) -> None:
        """Put e-nodes beside what is known of their inputs."""
        for operator in self.encoded.matched:
            if self._sizes[naming.node_table(operator)]:
                self._declare(naming.typed_table(operator), partial(typed_rule, operator))
        self.engine.run(TYPED)

    def _declare(self, name: str, commands: Callable[[], Iterable[str]]) -> None:
        """Run commands when they are first needed: compiling a rule takes milliseconds.

        What the tables hold by then is what the engine plans a join by.  So a rule that looks into
        lists comes before these are taken apart: else it would combine all with all first, and
        then find which belong together.
        """
        if name not in self._declared:
            self._declared.add(name)
            self.engine.commands(commands())

    def _forget_hits(self, rules: Iterable[EncodedRule]) -> None:
        """Drop matches that were refused, where they are many."""
        for plan in (rule.plan for rule in rules):
            if self._sizes.get(hit_table(plan), 0) > KEPT_HITS:
                self._declare(forget_ruleset(plan), partial(forgetting, plan))
                self.engine.run(forget_ruleset(plan))

    def count_enodes(self) -> int:
        """Operator applications in the e-graph."""
        return _applications(self.engine.sizes())

    def _check_cycles(self, found: Sequence[Found]) -> None:
        checks = [f.rule.check for f in found if f.rule.check]
        if not checks:
            return
        self._declare(cycles.REACH, self.encoded.checking)
        self.engine.run(self._combine(checks))
        self.engine.saturate(cycles.REACH)
        self.engine.run(cycles.BLOCKS)
        self.engine.run(cycles.FORGET)

    # --- facts -------------------------------------------------------------------------------

    def _derive(self) -> None:
        """Saturate the relations of the rule file."""
        if not self.encoded.derivations:
            return
        changed = True
        while changed:
            self.engine.saturate(RUNS)
            self._asker.number_lists()
            self.engine.saturate(DERIVE_FIND)
            self._asker.answer_derivations(self.encoded.derivations)
            changed = self.engine.saturate(DERIVE).changed
            if time.monotonic() >= self.limits.deadline:
                raise Stop(StopReason.SECONDS)

    # --- acting -------------------------------------------------------------------

    def _act(self, found: Sequence[Found]) -> bool:
        """Act, in slices where all at once might exceed the limit."""
        if not found:
            return False
        if sum(f.enodes for f in found) <= self.limits.enodes - self._enodes:
            return self._run(found)
        return self._act_in_slices(found)

    def _act_in_slices(self, found: Sequence[Found]) -> bool:
        """Open the gate by as much as fits, ask again, and so on until all fits or none does.

        What one slice makes gives new matches to the part of the gate that is open; so the matches
        still to come are counted again before every slice.
        """
        rules = [f.rule for f in found]
        blamed = _largest(found)
        self.before_rule(blamed)
        waiting, fresh = sum(f.enodes for f in found), 0
        opened = 0
        while True:
            room = self.limits.enodes - self._enodes
            gate = _next_gate(opened, waiting, fresh, room)
            if gate is None:
                self._open_gate(GATE - 1)
                raise Stop(StopReason.ENODES, blamed)
            self._open_gate(gate - 1)
            self._run(found)
            self._enodes = self.count_enodes()
            if gate == GATE:
                return True
            if time.monotonic() >= self.limits.deadline:
                raise Stop(StopReason.SECONDS, blamed)
            closed = GATE - gate
            waiting = waiting * closed // (GATE - opened) + fresh * closed // GATE
            self._note_types()
            fresh = sum(f.enodes for f in self._asker.ask(rules))
            opened = gate

    def _run(self, found: Sequence[Found]) -> bool:
        """Let the rules act; gives whether anything changed."""
        run = self.engine.run(self._combine([f.rule.act for f in found]))
        by_number = {str(f.rule.plan.number): f.rule.plan.rule.name for f in found}
        for label, matches in run.matches.items():
            kind, _, rest = label.partition(":")
            name = by_number.get(rest.partition(":")[0])
            if kind == "act" and name is not None:
                self.counts.applied[name] = self.counts.applied.get(name, 0) + matches
                self.counts.spent(name, run.seconds.get(label, 0.0))
        return run.changed

    def _open_gate(self, value: int) -> None:
        self.engine.set("gate", [((), value)])

    def _combine(self, rulesets: Sequence[str]) -> str:
        """One ruleset of several, so that they run at the same time."""
        names = tuple(rulesets)
        if len(names) == 1:
            return names[0]
        if names not in self._combined:
            self._combined[names] = name = f"rs_step_{len(self._combined)}"
            self.engine.commands([f"(unstable-combined-ruleset {name} {' '.join(names)})"])
        return self._combined[names]

    def _prune(self) -> bool:
        return prune_cycles(self.engine, self.encoded.operators)


def _applications(sizes: Mapping[str, int]) -> int:
    return sum(n for name, n in sizes.items() if name.startswith("op_"))


def _largest(found: Sequence[Found]) -> str:
    """The rule that may make the most e-nodes."""
    return max(found, key=lambda f: (f.enodes, f.rule.plan.rule.name)).rule.plan.rule.name


def _next_gate(opened: int, waiting: int, fresh: int, room: int) -> int | None:
    """How far to open the gate: `waiting` e-nodes are expected behind the closed part, `fresh`
    ones anywhere.  None where not even the next part fits."""
    if waiting + fresh <= room:
        return GATE
    closed = GATE - opened
    least = fresh * opened // GATE
    rate = waiting / closed + fresh / GATE
    more = int((room - least) / rate) if rate else closed
    return opened + min(more, closed) if more >= 1 else None
