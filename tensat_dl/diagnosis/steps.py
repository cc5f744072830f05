"""How rules acted: their matches, found again in the explored e-graph.

Enters: an explored e-graph and its program.  Leaves: :class:`Step`s, of a rule or at a tensor.  The
engine keeps of a match what it made and no more; what it matched, and what it only found equal, is
read off the finished e-graph, where the left and the right side of each match are in one class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tensat_dl.diagnosis.groups import Groups
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.matching import MAX_STEPS, Binding, Matcher
from tensat_dl.diagnosis.obstacles import Judge
from tensat_dl.diagnosis.right_side import Finder
from tensat_dl.diagnosis.step import Join, Step, inner_pairs, made_by, read_by
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.plan import RulePlan, plan_rule
from tensat_dl.egraph.question import recipe_for, require_same
from tensat_dl.egraph.snapshot import ENode
from tensat_dl.egraph.typing import Refusal, Scope, Typer
from tensat_dl.language.program import CheckedProgram


@dataclass
class Steps:
    """Finds steps; those of a rule, or at a tensor, are looked for once.  `given_up`: rules that
    have more than were found."""

    index: Index
    program: CheckedProgram
    given_up: set[str] = field(default_factory=set)
    _of_rule: dict[str, dict[ENode, list[Step]]] = field(default_factory=dict)
    _at: dict[tuple[str, int], list[Step]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Types are the same for all matches."""
        self._interner = Interner()
        self._typer = Typer(self.program.operators, self.program.functions, self._interner)
        counts = self.index.saturated.exploration.rules
        acted = {name for name, count in counts.items() if count.applied}
        rules = [rule for rule in self.program.rules if rule.name in acted]
        self._plans = {rule.name: plan_rule(1, rule) for rule in rules}
        self._groups = {
            name: Groups(self.index, plan, self.program, self._interner, self._typer)
            for name, plan in self._plans.items()
            if plan.rule.each is not None
        }

    def making(self, enode: ENode) -> list[Step]:
        """The steps by which the rule that made an e-node can have made it."""
        if enode.rule not in self._of_rule:
            found: dict[ENode, list[Step]] = {}
            plan = self._plans.get(enode.rule)
            for step in () if plan is None else self._find(plan):
                for made in step.makes:
                    found.setdefault(made, []).append(step)
            self._of_rule[enode.rule] = found
        return self._of_rule[enode.rule].get(enode, [])

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that acted."""
        return tuple(self._plans)

    def at(self, eclass: int, rules: Iterable[str]) -> Iterator[Step]:
        """The steps of some rules with a root that is this tensor."""
        for name in rules:
            if (name, eclass) not in self._at and name in self._plans:
                self._at[name, eclass] = list(self._find(self._plans[name], eclass))
            yield from self._at.get((name, eclass), ())

    def of_rule(self, name: str, at: int | None = None) -> Iterator[Step]:
        """The steps of a rule, all or those with a root that is a tensor; none where it did not
        act."""
        if name in self._plans:
            yield from self._find(self._plans[name], at)

    def _find(self, plan: RulePlan, at: int | None = None) -> Iterator[Step]:
        if plan.rule.name in self._groups:
            yield from self._groups[plan.rule.name].steps(at)
            return
        judge = Judge(self.index, plan, self.program)
        matcher = Matcher(self.index, plan.left, plan.rule.roots)
        for binding in matcher.matches(at):
            scope = judge.scope_of(binding)
            step = None if scope is None else self._step(plan, binding, scope)
            if step is not None:
                yield step
        if matcher.steps > MAX_STEPS:
            self.given_up.add(plan.rule.name)

    def _step(self, plan: RulePlan, binding: Binding, scope: Scope) -> Step | None:
        """The match with its right side, None where the snapshot has not all of that."""
        recipe = plan.recipes[recipe_for(plan, scope)]
        finder = Finder(self.index, self._interner, dict(binding.tensors), dict(binding.lists))
        tensors = made_by(self.index, plan.rule, binding)
        try:
            for build in recipe.builds:
                finder.find(build, self._typer.build([build], scope))
            for union in recipe.unions:
                require_same(scope, union.root, union.ref)
        except (Refusal, KeyError):  # not here, or its e-nodes are gone
            return None
        joins = (
            Join(tensors[union.root], finder.made.get(union.ref))
            for union in recipe.unions
            if union.root in tensors
            and tensors[union.root].eclass == finder.tensors[union.ref]  # else it did not act here
        )
        inner = tuple(inner_pairs(plan, binding, tensors))
        reads, makes = read_by(binding), tuple(finder.found)
        return Step(plan.rule.name, reads, inner, makes, tuple(joins))
