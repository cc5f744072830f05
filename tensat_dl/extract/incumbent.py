"""Quick answers, and the best of them part by part.

Enters: a pruned graph whose classes have part numbers.  Leaves: one choice, put together from
what is best in each part, and what it costs there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.greedy import (
    Choice,
    greedy_dag,
    greedy_shared,
    greedy_tree,
    repair,
    used_classes,
)
from tensat_dl.extract.problem import FloatArray


def quick_choices(graph: Graph, known: Mapping[int, int], deadline: Deadline) -> list[Choice]:
    """The greedy choices, and one that follows an answer of the Problem, if one is `known`, where
    it can."""
    found = [greedy_dag(graph, deadline), greedy_shared(graph, deadline), greedy_tree(graph)]
    if known:
        wanted = np.fromiter(known.values(), dtype=np.int64, count=len(known))
        liked = np.flatnonzero(np.isin(graph.node_id, wanted)).tolist()
        found.append(repair(graph, frozenset(liked), deadline))
    return found


def best_by_part(graph: Graph, count: int, choices: Sequence[Choice]) -> tuple[Choice, FloatArray]:
    """The union of the best choices of the parts, and their costs.  No loop joins two parts, so
    the union has none if the choices have none."""
    costs = np.stack([_part_costs(graph, count, choice) for choice in choices])
    best = costs.argmin(axis=0).tolist()
    part = graph.part.tolist()
    union = {c: choices[best[part[c]]][c] for c in range(len(part))}
    return union, costs.min(axis=0)


def _part_costs(graph: Graph, count: int, choice: Choice) -> FloatArray:
    used = np.array(used_classes(graph, choice), dtype=np.int64)
    nodes = np.array([choice[c] for c in used.tolist()], dtype=np.int64)
    costs = np.bincount(graph.part[used], graph.cost[nodes], count)
    return costs.astype(np.float64)
