"""Extraction as one program of the whole graph: TENSAT's, and ours under limits.

Enters: an answer, a graph that kept every acyclic selection.  Leaves: its best choice within the
limits, a bound, or that there is none.
"""

from __future__ import annotations

from tensat_dl.extract.answer import Answer
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.problem import Extraction, Status, StopReason
from tensat_dl.extract.published import cycles_of
from tensat_dl.extract.records import Recorder
from tensat_dl.extract.search import Found, Listener, Plan, solve
from tensat_dl.extract.solvers.pool import SolverPool
from tensat_dl.settings import Acyclicity, Method

#: The reductions that keep every acyclic selection, and every class and node as they are.
KEEPING_ALL = ("prune", "closure", "dominators")


def take_unlimited(answer: Answer, unlimited: Extraction) -> bool:
    """Take what was found without limits for what it is worth; True when that settles it.

    Its bound holds under limits, too, and often it keeps to them.
    """
    answer.infeasible = unlimited.status is Status.INFEASIBLE
    if unlimited.selection is None:
        return answer.infeasible
    node_of = unlimited.selection.node_of_class
    answer.offer({c: n for c, n in enumerate(node_of.tolist()) if n >= 0})
    answer.raise_bound(unlimited.bound)
    if answer.selection is None:
        chosen = unlimited.selection.chosen()
        broken = [limit for limit in answer.limits if not limit.admits(chosen)]
        beyond = [f"{limit.words(limit.used(chosen))} ({limit.text})" for limit in broken]
        answer.warnings.append(f"without limits the cheapest takes {', '.join(beyond)}")
    return answer.tight


def solve_whole(answer: Answer, graph: Graph, recorder: Recorder) -> StopReason:
    """Improve the answer by one program, with the limits as rows."""
    settings, started = answer.settings, answer.deadline.elapsed
    found = Found(answer.choice(), answer.objective, answer.bound)
    cycles, published = cycles_of(settings), settings.method == Method.TENSAT_ILP
    plan = Plan(cycles, published, settings.gap, answer.limits)
    listener = Listener(lambda better: answer.offer(better.choice), answer.tell)
    answer.begin("solve")
    try:
        with SolverPool(settings) as pool:
            answer.solvers = pool.used_names
            solve(graph, found, plan, pool.session_for(graph), answer.deadline, listener)
    finally:
        seconds, who = answer.deadline.elapsed - started, ", ".join(answer.solvers)
        recorder.add("graph", "solve", 0, graph, graph, seconds, who)
        answer.warnings.extend(found.warnings)
        answer.raise_bound(found.bound)
    answer.infeasible = found.infeasible and cycles != Acyclicity.FILTER
    if found.proven:
        return StopReason.GAP
    if cycles == Acyclicity.FILTER:
        return StopReason.HEURISTIC
    return StopReason.SOLVER_FAILED if found.failed else StopReason.TIME
