"""Extraction from end to end: reduce, bound, split, solve, put together, check.

Enters: a Problem and the settings.  Leaves: an Extraction.  `seconds` is one budget for all of it;
when it is spent, the best answer so far is returned with the bound so far.  A greedy answer always
exists, since it is found first and takes no notice of the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from tensat_dl.errors import UsageError
from tensat_dl.extract.answer import EXACT, Answer
from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.graph import Graph, graph_of
from tensat_dl.extract.greedy import greedy_dag, greedy_tree
from tensat_dl.extract.limits import limits_of, unknown_operators
from tensat_dl.extract.parts import Parts
from tensat_dl.extract.problem import Extraction, Problem, StopReason
from tensat_dl.extract.records import Recorder
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.table import SIMPLIFYING, WHOLE, Context, Reducer
from tensat_dl.extract.reductions.upper import lower_bound
from tensat_dl.extract.solvers.pool import SolverPool, check_solver
from tensat_dl.extract.ties import break_ties
from tensat_dl.extract.whole import KEEPING_ALL, solve_whole, take_unlimited
from tensat_dl.progress import Progress, silent
from tensat_dl.sentences import listed
from tensat_dl.settings import Acyclicity, ExtractSettings, Method, Reduction
from tensat_dl.suggest import nearest_or_all

_LONGEST = 1e6
_UNLIMITED_SHARE = 0.5
_LARGE = 5_000

#: Settings that only exact methods read.
_OF_SOLVERS = ("solver", "executable", "options", "workers", "cycles", "ties")


def extract(
    problem: Problem, settings: ExtractSettings | None = None, progress: Progress = silent
) -> Extraction:
    """The cheapest acyclic selection of `problem` that the method finds within its time.

    Raises UsageError for a method or solver that does not exist or cannot be used here.  A problem
    without any selection is not an error: the status is INFEASIBLE.
    """
    settings = settings or ExtractSettings()
    validate(settings)
    deadline = Deadline(min(settings.seconds, _LONGEST))
    answer = Answer(problem, settings, deadline, progress, limits=limits_of(problem, settings))
    answer.warnings += [*unknown_operators(problem, settings), *_unused(settings)]
    return _Run(answer).run()


def validate(settings: ExtractSettings) -> None:
    """Can an extraction with these settings start here?  Raises UsageError that says why not."""
    for name, value, known in (
        ("method", settings.method, Method),
        ("cycles", settings.cycles, Acyclicity),
    ):
        if value not in set(known):
            raise UsageError(f"unknown {name} `{value}`", help=f"known: {', '.join(known)}")
    for name in settings.reductions:
        if name not in set(Reduction):
            raise UsageError(f"unknown reduction `{name}`", help=nearest_or_all(name, Reduction))
    if not settings.seconds > 0:
        raise UsageError(f"seconds must be more than 0, not {settings.seconds}")
    if settings.workers < 1:
        raise UsageError(f"workers must be at least 1, not {settings.workers}")
    if not 0 <= settings.gap < 1 or math.isnan(settings.gap):
        raise UsageError(f"gap must be from 0 to less than 1, not {settings.gap}")
    if settings.method in EXACT:
        check_solver(settings)
    elif settings.max_weight_bytes or settings.at_most:
        raise UsageError(
            f"method `{settings.method}` knows no limits",
            help="leave out `extract.max_weight_bytes` and `extract.at_most`, or use `ilp`",
        )


def _unused(settings: ExtractSettings) -> Iterator[str]:
    """Of settings that a method without a solver passes over, though somebody set them."""
    if settings.method in EXACT:
        return
    plain = ExtractSettings()
    names = [name for name in _OF_SOLVERS if getattr(settings, name) != getattr(plain, name)]
    if names:
        has = "has" if len(names) == 1 else "have"
        which = listed(f"extract.{name}" for name in names)
        yield f"method `{settings.method}` asks no solver, so that {which} {has} no effect"


class _Run:
    """One extraction: `answer` is what it has so far."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.settings = answer.settings
        self.deadline = answer.deadline
        self.recorder = Recorder(answer.begin)
        self.whole = Reducer(self.recorder, "graph", self.settings.reductions)

    def run(self) -> Extraction:
        """Run the method until it ends or its time does."""
        graph = prune(graph_of(self.answer.problem))
        self.answer.infeasible = not graph.derivable
        try:
            stopped = self._search(graph) if graph.derivable else StopReason.PROVEN
        except OutOfTime:
            stopped = StopReason.TIME
        if self.settings.method in EXACT:
            break_ties(self.answer, self.recorder)
        return self.answer.result(stopped, self.recorder.records())

    def _search(self, graph: Graph) -> StopReason:
        if self.answer.limits:
            return self._limited(graph)
        self._offer(graph, greedy_tree(graph))
        match self.settings.method:
            case Method.GREEDY_TREE:
                return self._heuristic(graph)
            case Method.GREEDY_DAG:
                return self._heuristic(graph, dag=True)
            case Method.TENSAT_ILP:
                return self._published(graph)
            case _:
                return self._decomposed(graph)

    def _limited(self, graph: Graph) -> StopReason:
        """Without limits first, in half of the time.  Then with them, after none but the
        reductions that keep every selection: what is dearer may be all that is within."""
        seconds = self.deadline.remaining * _UNLIMITED_SHARE
        free = replace(self.settings, seconds=seconds, max_weight_bytes=0, at_most={}, ties=())
        unlimited = extract(self.answer.problem, free)
        if take_unlimited(self.answer, unlimited):
            self.answer.solvers = list(unlimited.solvers)
            return StopReason.PROVEN
        graph = self.whole.run(graph, KEEPING_ALL, Context(self.deadline))
        return solve_whole(self.answer, graph, self.recorder)

    def _heuristic(self, graph: Graph, *, dag: bool = False) -> StopReason:
        graph = self.whole.run(graph, SIMPLIFYING, Context(self.deadline))
        if dag:
            self._offer(graph, greedy_dag(graph, self.deadline))
        self.answer.raise_bound(lower_bound(graph, self.deadline))
        return StopReason.HEURISTIC

    def _published(self, graph: Graph) -> StopReason:
        """TENSAT's program on the graph as it is; lazy cuts are not part of it."""
        self.answer.raise_bound(lower_bound(graph, self.deadline))
        return solve_whole(self.answer, graph, self.recorder)

    def _decomposed(self, graph: Graph) -> StopReason:
        """Reduce, split, and solve the parts."""
        graph = self.whole.run(graph, WHOLE, Context(self.deadline))
        with SolverPool(self.settings) as pool:
            if graph.nodes > _LARGE:
                # A solver will be needed: it starts while the rest is done.
                pool.prepare(graph)
            parts = Parts(self.answer, self.whole)
            parts.split(graph)
            parts.reduce()
            if self.answer.tight or not any(part.open for part in parts.parts):
                return StopReason.PROVEN
            self.answer.solvers = pool.used_names
            return parts.solve(pool, self.settings)

    def _offer(self, graph: Graph, choice: dict[int, int]) -> None:
        self.answer.offer(graph.choice_of(choice.values()))
