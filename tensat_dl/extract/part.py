"""One independent part, from its reduction to its proof.

Enters: a part with its best choice.  Leaves: better choices, a better bound, a smaller graph; the
part is open until its bound is within the gap asked for.  The stages are in the order of their
price; each tells the recorder what it did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tensat_dl.extract.bottlenecks import chain_of
from tensat_dl.extract.branching import branch
from tensat_dl.extract.chain import Chain
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.formulation import Formulation, formulate
from tensat_dl.extract.graph import Graph, with_costs
from tensat_dl.extract.greedy import Choice, greedy_dag
from tensat_dl.extract.joint import Bounded
from tensat_dl.extract.landmarks import ascend
from tensat_dl.extract.order import components
from tensat_dl.extract.records import Recorder
from tensat_dl.extract.reductions.prune import nothing
from tensat_dl.extract.reductions.table import PART, Context, Reducer
from tensat_dl.extract.reductions.upper import lower_bound
from tensat_dl.extract.relaxation import Relaxation, fix, kernel, relaxation
from tensat_dl.extract.search import CUTOFF, DEAF, Found, Listener, Plan, scaled, solve
from tensat_dl.extract.solvers.answer import Outcome
from tensat_dl.extract.solvers.pool import SolverPool
from tensat_dl.settings import Reduction

# Branching looks at so many nodes (about half a microsecond each), of parts with so few classes;
# at more where much of the part is in loops, on which integer programs are weak; at fewer of those
# where CP-SAT follows, which is not.
_MOST_BRANCHED = 800
_VISITS = 150_000
_VISITS_CYCLIC = 15_000_000
_VISITS_BEFORE_LEARNER = 1_000_000
_CYCLIC = 0.2
_BRANCHING_SHARE = 0.4
# The relaxation pays off for parts of this size.
_LEAST_RELAXED = 400
_MOST_RELAXED = 8
_LEAST_PROGRESS = 0.03
_FAR = 0.1
_KERNEL_SHARE = 0.25
_LEAST_CHAINED = 1_000


@dataclass
class Part:
    """A part while it is solved; `found` is complete on the part as it was cut off, `block_of`
    gives the classes of a chain their blocks."""

    number: int
    graph: Graph
    found: Found
    block_of: Mapping[int, int] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether a solver is needed."""
        return not self.found.proven

    @property
    def cutoff(self) -> float:
        """What is dearer is of no interest."""
        return self.found.cost * (1.0 - CUTOFF)


@dataclass
class PartRun:
    """The stages of one part; `has_learner`: a solver follows that is good at loops."""

    part: Part
    reducer: Reducer
    deadline: Deadline
    listener: Listener
    has_learner: bool = False

    def reduce(self) -> None:
        """Reduce under the part's own upper bound."""
        self._raise_bound()
        self._reduce(PART)

    def search(self) -> None:
        """All else that needs no solver, as long as the part is open.  Branching comes first: the
        others take about as long as they spare it, but less than they spare solvers."""
        if self.part.open:
            self.branch()
        for name in ("paths", "probing"):
            if self.part.open:
                self._open(name)

    def _open(self, name: str) -> None:
        """Reduce a part with loops by a stage that takes more than a moment, once: what another
        run would find does not pay for it."""
        graph = self.part.graph
        if any(len(component) > 1 for component in components(graph)):
            self._reduce((name,))
        if self.part.graph is not graph:
            self._reduce(PART)

    def _reduce(self, names: Sequence[str]) -> None:
        part = self.part
        context = Context(self.deadline, np.array([part.cutoff]))
        part.graph = self.reducer.run(part.graph, names, context, part.number)
        self._raise_bound()

    def _raise_bound(self) -> None:
        graph = self.part.graph
        if not graph.derivable:
            self.part.found.prove(self.part.cutoff)
            return
        self.part.found.raise_bound(lower_bound(graph, self.deadline))
        if self._on(Reduction.LANDMARKS):
            self.part.found.raise_bound(ascend(graph, self.deadline).bound)

    def branch(self) -> None:
        """Search a small part without a solver, or begin to: what is found and shown stays."""
        part, found = self.part, self.part.found
        if not self._on(Reduction.BRANCHING) or part.graph.classes > _MOST_BRANCHED:
            return
        graph, started = part.graph, self.deadline.elapsed
        self.reducer.recorder.begin("branching")
        target = Bounded(graph.cost, part.cutoff)

        def report(choice: Choice) -> None:
            self._offer(graph, choice)
            target.upper = part.cutoff

        time = Deadline(self.deadline.remaining * _BRANCHING_SHARE, self.deadline.clock)
        result = branch(graph, [target], self._visits(graph), time, report)
        part.graph = result.graph or nothing(graph)
        found.raise_bound(result.bound)
        if not part.graph.derivable:
            found.prove(part.cutoff)
        self._record("branching", graph, started)

    def finish(self, pool: SolverPool, plan: Plan) -> None:
        """All that needs a solver."""
        if self._on(Reduction.CHAIN):
            self.decompose(pool, plan)
        if self.part.open:
            self.relax(pool, plan)
        if self.part.open:
            self.solve(pool, plan)

    def solve(self, pool: SolverPool, plan: Plan) -> None:
        """The program of all that is left."""
        part, started = self.part, self.deadline.elapsed
        self.reducer.recorder.begin("solve")
        session = pool.session_for(part.graph)
        try:
            solve(part.graph, part.found, plan, session, self.deadline, self.listener)
        finally:
            self._record("solve", part.graph, started, session.solver.name)

    def decompose(self, pool: SolverPool, plan: Plan) -> None:
        """Solve a part that is a chain of blocks block by block."""
        graph, started = self.part.graph, self.deadline.elapsed
        blocks = chain_of(graph, self.part.block_of) if graph.nodes >= _LEAST_CHAINED else []
        if len(blocks) < 2:
            return
        self.reducer.recorder.begin("chain")

        def solve_block(block: Graph, found: Found) -> None:
            reducer = replace(self.reducer, recorder=Recorder())
            part = Part(0, block, found)
            run = PartRun(part, reducer, self.deadline, DEAF, self.has_learner)
            run.reduce()
            run.search()
            if run.part.open:
                run.finish(pool, plan)

        chain = Chain(graph, self.deadline, solve_block, plan.gap)
        if chain.solve(blocks):
            self._take(Found({**graph.settled, **chain.choice}, chain.cost, 0.0))
            self.part.found.prove(chain.bound)
            self.part.graph = nothing(graph)
        self._record("chain", graph, started, f"{len(blocks)} blocks, {chain.joined} joined")

    def relax(self, pool: SolverPool, plan: Plan) -> None:
        """Relax, fix, reduce, as long as that makes the part smaller; solve a kernel for a better
        choice in between."""
        part = self.part
        with_kernel = self._on(Reduction.KERNEL)
        for _ in range(_MOST_RELAXED if self._on(Reduction.RELAXATION) else 0):
            graph = part.graph
            if graph.nodes < _LEAST_RELAXED or not self._relax(pool, plan, with_kernel):
                return
            with_kernel = False
            self.reduce()
            far = part.found.cost - part.found.bound > _FAR * part.found.cost
            if not part.open or far or part.graph.nodes > (1.0 - _LEAST_PROGRESS) * graph.nodes:
                return

    def _relax(self, pool: SolverPool, plan: Plan, with_kernel: bool) -> bool:
        """One round; False when the solver gives no duals."""
        part, started = self.part, self.deadline.elapsed
        self.reducer.recorder.begin("relaxation")
        model = formulate(part.graph, self.deadline)
        program, scale = scaled(model.program, part.found.cost)
        session = pool.session_for(part.graph)
        session.load(program)
        answer = session.relax(self.deadline.remaining, self.deadline.remaining)
        if answer.outcome is not Outcome.OPTIMAL or answer.values is None or not answer.duals:
            return False
        duals = [dual / scale for dual in answer.duals]
        found = relaxation(model.program, model.program.rows, duals, answer.values)
        part.found.raise_bound(found.bound)
        self.listener.bounded(part.found.bound)
        self._follow(model, found)
        if with_kernel:
            self._kernel(model, found, pool, plan)
        graph = part.graph
        part.graph = fix(model, found, part.cutoff)
        self._record("relaxation", graph, started)
        return True

    def _follow(self, model: Formulation, found: Relaxation) -> None:
        """A choice that takes what the relaxation likes: the more, the cheaper."""
        graph, cost = model.graph, model.graph.cost.copy()
        for n, j in model.node_column.items():
            if j is not None:
                cost[n] *= 1.0 - min(1.0, max(0.0, found.values[j]))
        self._offer(graph, greedy_dag(with_costs(graph, cost), self.deadline))

    def _kernel(self, model: Formulation, found: Relaxation, pool: SolverPool, plan: Plan) -> None:
        """Solve a small part of the graph for a better choice; what that proves is no bound."""
        graph, started = model.graph, self.deadline.elapsed
        self.reducer.recorder.begin("kernel")
        chosen = np.fromiter(self.part.found.choice.values(), dtype=np.int64)
        known = np.isin(graph.node_id, chosen)
        small = kernel(model, found, known)
        best = Found(self.part.found.choice, self.part.found.cost, 0.0)
        time = Deadline(self.deadline.remaining * _KERNEL_SHARE, self.deadline.clock)
        deaf = Listener(self._take, lambda bound: None)
        solve(small, best, plan, pool.session_for(small), time, deaf)
        self._record("kernel", graph, started, f"of {small.classes} classes")

    def _take(self, better: Found) -> None:
        if better.cost < self.part.found.cost:
            self.part.found.choice, self.part.found.cost = better.choice, better.cost
            self.listener.improved(self.part.found)

    def _offer(self, graph: Graph, choice: Choice) -> None:
        if self.part.found.offer(graph, choice):
            self.listener.improved(self.part.found)

    def _on(self, name: Reduction) -> bool:
        return name in self.reducer.switched_on

    def _record(self, name: str, before: Graph, started: float, detail: str = "") -> None:
        seconds = self.deadline.elapsed - started
        self.reducer.recorder.add(
            "parts", name, self.part.number, before, self.part.graph, seconds, detail
        )

    def _visits(self, graph: Graph) -> int:
        inside = sum(len(component) for component in components(graph) if len(component) > 1)
        if inside <= _CYCLIC * graph.classes:
            return _VISITS
        return _VISITS_BEFORE_LEARNER if self.has_learner else _VISITS_CYCLIC
