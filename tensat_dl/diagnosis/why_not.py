"""Why a rule does not fire: the longest part of its pattern that matches, and what comes next.

Enters: a checked program, the name of a rule, a model explored with that program, a node or None.
Leaves: a :class:`WhyNot`, for a person to read or as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tensat_dl.diagnosis.held_back import held_off
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.matching import MAX_STEPS, Binding, Matcher, Stuck
from tensat_dl.diagnosis.misfit import misfit
from tensat_dl.diagnosis.naming import Names
from tensat_dl.diagnosis.obstacles import Judge, Obstacle, Stage
from tensat_dl.egraph.plan import RulePlan, plan_rule
from tensat_dl.egraph.snapshot import Saturated, StopReason
from tensat_dl.egraph.symmetry import symmetric_pairs
from tensat_dl.errors import UsageError
from tensat_dl.graph.model import Graph
from tensat_dl.language.check.report import source_text
from tensat_dl.language.program import CheckedProgram, Match, Rule
from tensat_dl.suggest import nearest_or_all

#: Attempts that are shown.
_SHOWN = 3


@dataclass(frozen=True)
class Part:
    """A part of the pattern and the node that stands for it."""

    pattern: str
    node: str


@dataclass(frozen=True)
class Attempt:
    """One way in which the pattern nearly matches; `pattern` is the part that does not, "" where
    all do and a condition is in the way."""

    rule: str
    matched: tuple[Part, ...]
    pattern: str
    obstacle: str


@dataclass(frozen=True)
class WhyNot:
    """`fires`: where nothing is in the way.  `attempts` are the furthest of all others, `missed`
    counts the rest of them.  `complete` is False where the search was given up.  `off`: why
    the rule is off at the model's opset, "" where it is not; `stopped_by`: what ended the
    exploration."""

    rule: str
    at: str | None
    applied: int
    fires: tuple[tuple[Part, ...], ...]
    attempts: tuple[Attempt, ...]
    missed: int
    complete: bool
    off: str
    stopped_by: StopReason


def why_not(
    program: CheckedProgram,
    name: str,
    graph: Graph,
    saturated: Saturated,
    at: str | None = None,
    opset: int | None = None,
) -> WhyNot:
    """Look at one rule, anywhere or at one node; `opset`: that of what may be written, None is the
    model's.  Raises UsageError for names that are none."""
    rules = rules_called(name, program)
    index = Index(saturated)
    names = Names(graph, saturated, index)
    place = None if at is None else names.find(at)
    if at is not None and place is None:
        help = nearest_or_all(at, names.known())
        raise UsageError(f"the model has no node and no value `{at}`", help=help)
    searches = [
        _Search(program, plan_rule(number, rule), names, index)
        for number, rule in enumerate(rules, start=1)
    ]
    for search in searches:
        search.run(place)
    counts = saturated.exploration.rules
    depth = max(search.depth for search in searches)
    attempts = [a for s in searches if s.depth == depth for a in s.attempts()]
    return WhyNot(
        name,
        at,
        sum(counts[rule.name].applied for rule in rules if rule.name in counts),
        tuple(fires for search in searches for fires in search.fires),
        tuple(attempts[:_SHOWN]),
        max(0, len(attempts) - _SHOWN),
        all(search.complete for search in searches),
        held_off(rules, graph.opsets.get("", 0) if opset is None else opset),
        saturated.exploration.stopped_by,
    )


def rules_called(name: str, program: CheckedProgram, rules: str = "") -> list[Rule]:
    """The rules of that name, one for each direction and operator.  Raises UsageError, which says
    that `rules` were searched."""
    found = [rule for rule in program.rules if name in (rule.name, rule.base)]
    if not found:
        known = dict.fromkeys(name for rule in program.rules for name in (rule.base, rule.name))
        where = f" in {rules}" if rules else ""
        raise UsageError(f"there is no rule `{name}`{where}", help=nearest_or_all(name, known))
    return found


class _Search:
    """The matches of one rule, and the furthest of those that fail."""

    def __init__(self, program: CheckedProgram, plan: RulePlan, names: Names, index: Index) -> None:
        self.plan, self.names = plan, names
        self.judge = Judge(index, plan, program)
        self.matcher = Matcher(index, plan.left, plan.rule.roots)
        self.fires: list[tuple[Part, ...]] = []
        self.blocked: list[tuple[Obstacle, Binding]] = []
        self.complete = True
        self.mirrored = bool(symmetric_pairs(plan.rule))
        self.shown: set[frozenset[int]] = set()

    def run(self, at: int | None) -> None:
        """Find all matches; each fires or has an obstacle."""
        roots = self.plan.rule.roots
        for binding in self.matcher.matches(at):
            if len({binding.tensors.get(root) for root in roots}) < len(roots):
                continue  # the outputs of a match are distinct tensors
            obstacle = self.judge.obstacle(binding)
            if obstacle is not None and obstacle.stage is not Stage.ROUNDS:
                self.blocked.append((obstacle, binding))
            elif not self._is_first(binding):
                continue
            elif obstacle is not None:
                self.blocked.append((obstacle, binding))
            elif len(self.fires) < _SHOWN:
                self.fires.append(self._parts(binding))
        self.complete = self.matcher.steps <= MAX_STEPS

    def _is_first(self, binding: Binding) -> bool:
        """Of the orders of outputs that can be exchanged only one acts."""
        if not self.mirrored:
            return True
        nodes = frozenset(id(made) for made in binding.nodes.values())
        new = nodes not in self.shown
        self.shown.add(nodes)
        return new

    @property
    def depth(self) -> tuple[int, int, int]:
        """How far the furthest failing match got."""
        if self.blocked:
            furthest = max(obstacle for obstacle, _ in self.blocked_by_stage())
            return (len(self.plan.left.matches), *furthest)
        if self.matcher.furthest:
            return (len(self.matcher.furthest[0].binding.nodes), 0, 0)
        return (-1, 0, 0)

    def blocked_by_stage(self) -> Iterator[tuple[tuple[int, int], Binding]]:
        """The obstacles as numbers to compare."""
        return (((int(o.stage), o.place), binding) for o, binding in self.blocked)

    def attempts(self) -> list[Attempt]:
        """The furthest failing matches in words."""
        name, (_, *furthest) = self.plan.rule.name, self.depth
        if self.blocked:
            return [
                Attempt(name, self._parts(binding), "", obstacle.message)
                for obstacle, binding in self.blocked
                if [int(obstacle.stage), obstacle.place] == furthest
            ]
        return [
            Attempt(
                name,
                self._parts(stuck.binding),
                self._pattern(self.plan.left.matches[stuck.match]),
                self._stuck_text(stuck),
            )
            for stuck in self.matcher.furthest
        ]

    def _parts(self, binding: Binding) -> tuple[Part, ...]:
        return tuple(
            Part(self._pattern(self.plan.left.matches[number]), self.names.node(made))
            for number, made in binding.nodes.items()
        )

    @staticmethod
    def _pattern(match: Match) -> str:
        return " ".join(source_text(match.span).split())

    def _made_otherwise(self, eclass: int, operator: str, place: int) -> str:
        """Why no `operator` makes the tensor as its output number `place`."""
        name, makers = self.names.tensor(eclass), list(self.judge.index.makers(eclass))
        if not makers:
            return f"{name} is an input or a weight: no {operator} makes it"
        places = [p for made, p in makers if made.head.operator.qualified_name == operator]
        if places:
            return f"{name} is output {places[0]} of {operator}, the pattern has output {place}"
        made = ", ".join(dict.fromkeys(made.head.operator.name for made, _ in makers))
        return f"{name} is made by {made}, not by {operator}"

    def _stuck_text(self, stuck: Stuck) -> str:
        match = self.plan.left.matches[stuck.match]
        operator = match.operator.qualified_name
        if stuck.tried:
            index, names, shown = self.judge.index, self.names, stuck.tried[:_SHOWN]
            texts = (f"{names.node(m)}: {misfit(match, m, stuck, index, names)}" for m in shown)
            return "; ".join(dict.fromkeys(texts))
        bound = next((o for o in match.outputs if o in stuck.binding.tensors), None)
        if bound is not None:
            eclass = stuck.binding.tensors[bound]
            return self._made_otherwise(eclass, operator, match.outputs.index(bound))
        for item in match.inputs:
            name = getattr(item, "name", None)
            if isinstance(name, str) and name in stuck.binding.tensors:
                return f"no {operator} reads {self.names.tensor(stuck.binding.tensors[name])}"
        holder = self.names.holding(operator)
        if holder is not None:
            return (
                f"{operator} stands only inside {holder}: rules act there as in a model of "
                "its own, but `why-not` does not look there"
            )
        return self.names.carried(operator) or f"there is no {operator} in the graph"
