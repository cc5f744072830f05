"""Solves one reduced graph: write the program, ask the solver, forbid the loops it uses, repeat.

Enters: a pruned graph, an answer of it, a solver session.  Leaves: the best acyclic choice seen
and a lower bound.  What a solver claims is never taken on trust: its choice is walked, priced and
checked for loops here, and a claim that contradicts an answer in hand is reported and ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tensat_dl.extract.cycles import loops, remove_cycles
from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.formulation import Formulation, Model, formulate, order_of, order_rows
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.greedy import Choice, greedy_tree, price, repair, used_classes
from tensat_dl.extract.limits import Limit
from tensat_dl.extract.linear import Linear
from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.extract.published import Published, formulate_published
from tensat_dl.extract.solvers.answer import STOPPED, Outcome, SolverAnswer, SolverProgress
from tensat_dl.extract.solvers.session import SolverSession
from tensat_dl.settings import Acyclicity

# Solvers have absolute tolerances of 1e-9 to 1e-6: objectives are brought to about this size.
_SCALE = 1024.0
# Better choices are of interest if they are better by this share.
CUTOFF = 1e-8
# Relative disagreement between what a solver says and what its answer costs that is not rounding.
_TOLERANCE = 1e-5
# Seconds a solver gets beyond its limit to hand over what it has, as a share of the budget.
_GRACE = 0.1


@dataclass
class Found:
    """The best choice of a graph so far, as the Problem counts, and the bound; `proven`: the bound
    is within the gap asked for; `failed`: the solver did something that it should not;
    `infeasible`: there is no choice within the limits."""

    choice: Mapping[int, int]
    cost: float
    bound: float
    proven: bool = False
    failed: bool = False
    infeasible: bool = False
    warnings: list[str] = field(default_factory=list)

    def offer(self, graph: Graph, choice: Choice) -> bool:
        """Take a choice of a graph if it is cheaper; True when it was."""
        cost = price(graph, choice)
        if cost >= self.cost:
            return False
        self.choice, self.cost = graph.choice_of(choice.values()), cost
        return True

    def raise_bound(self, bound: float) -> None:
        """Take a lower bound of all choices that are better than this one, if it is better."""
        self.bound = max(self.bound, min(bound, self.cost))

    def prove(self, bound: float) -> None:
        """Nothing cheaper than `bound` exists, and that is good enough."""
        self.raise_bound(bound)
        self.proven = True


@dataclass(frozen=True)
class Plan:
    """How to solve: `published` takes TENSAT's program; `limits` hold for the choice; `gap` is
    relative."""

    cycles: Acyclicity
    published: bool
    gap: float
    limits: tuple[Limit, ...] = ()

    def admits(self, graph: Graph, choice: Choice) -> bool:
        """Whether a choice keeps to the limits."""
        if not self.limits:
            return True
        nodes = graph.node_id[[choice[c] for c in used_classes(graph, choice) or ()]]
        return all(limit.admits(nodes) for limit in self.limits)


@dataclass(frozen=True)
class Listener:
    """Who is told of a better choice, and of a bound that the solver claims so far."""

    improved: Callable[[Found], None]
    bounded: Callable[[float], None]


DEAF = Listener(lambda found: None, lambda bound: None)


def solve(
    graph: Graph,
    found: Found,
    plan: Plan,
    session: SolverSession,
    deadline: Deadline,
    listener: Listener,
) -> None:
    """Improve `found` in place until it is proven, time is up, or the solver fails."""
    if plan.cycles == Acyclicity.FILTER:
        _solve_filtered(graph, found, plan, session, deadline, listener)
        return
    if plan.cycles == Acyclicity.LAZY and session.solver.learns:
        plan = replace(plan, cycles=Acyclicity.ORDER_INTEGER)
    model = model_of(graph, plan, deadline)
    known = math.isfinite(found.cost)
    size = found.cost if known else found.bound or 1.0
    cutoff = None if not known or holds(graph, found) else found.cost * (1.0 - CUTOFF)
    limited = model.program if cutoff is None else model.program.at_most(cutoff)
    program, scale = scaled(limited, size)
    session.load(program)
    _Search(graph, found, plan, session, deadline, listener, model, scale, cutoff).run()


def holds(graph: Graph, found: Found) -> bool:
    """Whether the choice in hand is one of the graph, too, at its price: what reductions left of
    it may be dearer."""
    position = {n: i for i, n in enumerate(graph.node_id.tolist())}
    owned = ((c, found.choice.get(n)) for c, n in enumerate(graph.class_id.tolist()))
    ours = {c: position[n] for c, n in owned if n in position}
    return price(graph, {ROOT: ROOT, **ours}) <= found.cost * (1.0 + CUTOFF)


def _solve_filtered(
    graph: Graph,
    found: Found,
    plan: Plan,
    session: SolverSession,
    deadline: Deadline,
    listener: Listener,
) -> None:
    """Solve the graph without its cycles: what that proves holds for the filtered graph only."""
    graph = remove_cycles(graph, deadline)
    filtered = Found({}, math.inf, 0.0)
    choice = greedy_tree(graph)
    if plan.admits(graph, choice):
        filtered.offer(graph, choice)
    try:
        solve(graph, filtered, replace(plan, cycles=Acyclicity.LAZY), session, deadline, DEAF)
    finally:
        found.warnings.extend(filtered.warnings)
        found.failed, found.infeasible = filtered.failed, filtered.infeasible
        if filtered.cost < found.cost:
            found.choice, found.cost = filtered.choice, filtered.cost
            listener.improved(found)


def model_of(graph: Graph, plan: Plan, deadline: Deadline) -> Published | Formulation:
    """The program of a graph as planned."""
    model: Published | Formulation
    if plan.published:
        model = formulate_published(graph, order_of(plan.cycles), deadline)
    else:
        model = formulate(graph, deadline)
        order_rows(model, order_of(plan.cycles))
    for limit in plan.limits:
        model.program.rows.extend(limit_rows(graph, model, limit))
    return model


def limit_rows(graph: Graph, model: Published | Formulation, limit: Limit) -> list[Row]:
    """The limit as a row, none if every choice keeps to it; scaled, so that solvers' absolute
    tolerances mean little."""
    largest = max(1.0, limit.at_most, float(limit.weights.max(initial=0.0)))
    total = Linear()
    for n, column in model.node_column.items():
        if n != ROOT and limit.weights[graph.node_id[n]]:
            total.add(column, float(limit.weights[graph.node_id[n]]) / largest)
    row = total.row(Sense.AT_MOST, limit.at_most / largest)
    if row is None and total.constant > limit.at_most / largest * (1.0 + _TOLERANCE):
        # What is required alone is too much: a row that nothing keeps.
        return [Row((model.program.column(upper=0.0),), (1.0,), Sense.AT_LEAST, 1.0)]
    return [] if row is None else [row]


def _power_of_two(value: float) -> float:
    return math.ldexp(1.0, max(-1000, min(1000, round(math.log2(value)))))


def scaled(program: Program, size: float) -> tuple[Program, float]:
    """The program with costs on the solver's scale, for objectives of a certain size, and the
    factor: a power of two, which changes no digit."""
    factor = _power_of_two(_SCALE / max(size, 1e-300))
    costs = [cost * factor for cost in program.costs]
    return replace(program, costs=costs, constant=0.0), factor


@dataclass
class _Search:
    graph: Graph
    found: Found
    plan: Plan
    session: SolverSession
    deadline: Deadline
    listener: Listener
    model: Model
    scale: float
    cutoff: float | None = None
    bound: float = float("-inf")
    complete: bool = False
    cut_for: set[tuple[int, ...]] = field(default_factory=set)

    def run(self) -> None:
        """Rounds of solving and cutting; a program without columns leaves nothing to solve.

        What the solver says of the bound counts at the end, and only if all it said held.
        """
        if not self.model.program.costs:
            self._offer(self.model.chosen(()))
            self.found.bound, self.found.proven = self.found.cost, True
            return
        try:
            while self._round():
                self.deadline.check()
        finally:
            if not self.found.failed:
                self.found.bound = min(self.found.cost, max(self.found.bound, self.bound))
        reached = self.found.cost - self.found.bound <= self.plan.gap * self.found.cost * 1.01
        reached = reached and math.isfinite(self.found.cost)
        self.found.proven = self.complete and not self.found.failed and reached

    def _round(self) -> bool:
        """One solve; True when loops were cut off and it must be repeated."""
        answer = self._ask()
        if not self._is_credible(answer):
            return False
        if answer.outcome is Outcome.INFEASIBLE:
            self.bound, self.complete = max(self.bound, self.cutoff or 0.0), True
            return False
        if answer.values is None:
            self.bound = max(self.bound, self._unscaled(answer.bound))
            self._explain_nothing(answer)
            return False
        choice = self.model.chosen(answer.values)
        if used_classes(self.graph, choice) is None:
            self._warn("returned an incomplete solution")
            return False
        self.bound = max(self.bound, self._claimed_bound(answer))
        found_loops = loops(self.graph, choice)
        if found_loops:
            self._offer(repair(self.graph, frozenset(choice.values()), self.deadline))
            return self._cut(found_loops) and answer.outcome is Outcome.OPTIMAL
        self._check_price(answer, choice)
        self._offer(choice)
        self.complete = answer.outcome is Outcome.OPTIMAL
        return False

    def _ask(self) -> SolverAnswer:
        left = self.deadline.remaining
        grace = _GRACE * self.deadline.seconds
        if left <= 0:
            raise OutOfTime
        return self.session.solve(left, self.plan.gap, left + grace, self._progress)

    def _progress(self, progress: SolverProgress) -> None:
        bound = self._unscaled(progress.bound)
        if self.found.bound < bound <= self.found.cost:
            self.listener.bounded(bound)

    def _is_credible(self, answer: SolverAnswer) -> bool:
        """False, with a warning, when the answer contradicts itself or the one in hand."""
        if not all(map(math.isfinite, answer.values or ())) or math.isnan(answer.bound):
            self._warn("returned values that are no numbers")
            return False
        if answer.outcome is Outcome.INFEASIBLE and self.cutoff is not None:
            return True
        if answer.outcome is Outcome.INFEASIBLE and math.isinf(self.found.cost):
            self.found.infeasible = True
            return False
        if answer.outcome is Outcome.INFEASIBLE:
            self._warn("says there is no answer, but one is in hand")
            return False
        bound = self._claimed_bound(answer)
        if bound <= self.found.cost + _TOLERANCE * max(self.found.cost, 1e-300):
            return True
        self._warn(
            f"claims that nothing below {bound:.9g} exists, "
            f"but an answer of {self.found.cost:.9g} is in hand"
        )
        return False

    def _claimed_bound(self, answer: SolverAnswer) -> float:
        """A solver that is done vouches for its gap, even if it states no bound."""
        if answer.outcome is not Outcome.OPTIMAL or answer.values is None:
            return self._unscaled(answer.bound)
        cost = self.model.program.value(answer.values)
        return max(self._unscaled(answer.bound), cost * (1.0 - self.plan.gap))

    def _unscaled(self, bound: float) -> float:
        return bound / self.scale + self.model.program.constant

    def _explain_nothing(self, answer: SolverAnswer) -> None:
        match answer.outcome:
            case Outcome.FAILED:
                self._warn(f"gave no answer: {answer.message}")
            case Outcome.OPTIMAL:
                self._warn("says it is done but gave no solution")
            case _ if answer.message:
                self.found.warnings.append(f"{self._name}: {answer.message}")

    def _check_price(self, answer: SolverAnswer, choice: Choice) -> None:
        if answer.outcome is Outcome.FAILED:
            self._warn(f"failed: {answer.message}")
        elif answer.message == STOPPED:
            self.found.warnings.append(f"{self._name}: {answer.message}")
        cost = price(self.graph, choice)
        claimed = self.model.program.value(answer.values or ())
        if claimed < cost - _TOLERANCE * cost:
            self._warn(f"says its solution costs {claimed:.9g}, but it costs {cost:.9g}")

    def _offer(self, choice: Choice) -> None:
        if self.plan.admits(self.graph, choice) and self.found.offer(self.graph, choice):
            self.listener.improved(self.found)

    def _cut(self, found_loops: Sequence[Sequence[int]]) -> bool:
        """Add loop rows; False when a loop was cut off before and came back."""
        fresh = [loop for loop in found_loops if tuple(loop) not in self.cut_for]
        self.cut_for.update(tuple(loop) for loop in fresh)
        rows = [row for loop in fresh for row in self.model.loop_rows(loop)]
        if not rows:
            self._warn("returned a loop that its program forbids")
            return False
        self.session.add_rows(rows)
        return True

    def _warn(self, text: str) -> None:
        self.found.failed = True
        self.found.warnings.append(f"{self._name} {text}")

    @property
    def _name(self) -> str:
        return f"solver {self.session.solver.name}"
