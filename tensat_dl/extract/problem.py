"""The extraction problem and its answer, free of operators, types and solvers.

A problem is an e-graph as arrays: nodes belong to classes, have a cost and child classes; some
classes are roots.  A selection gives one node to each class it uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

#: What nodes may be measured by, besides their cost: whether one is counted as a node of the
#: result, whether a rule made it, and how many bytes of weights it stands for.
NODES, MADE, WEIGHT_BYTES = "nodes", "made", "weight bytes"


@dataclass(frozen=True)
class Problem:
    """`node_class[i]` and `node_cost[i]` (>= 0, finite) of node i; its child classes are
    `children[child_start[i]:child_start[i + 1]]` (sorted, distinct).  Classes are 0..`classes`-1.

    `node_name` is for messages, reports and limits: one string a node (the operator).
    `measures`: for some of NODES, MADE and WEIGHT_BYTES a whole number (>= 0) a node.
    """

    classes: int
    node_class: IntArray
    node_cost: FloatArray
    child_start: IntArray
    children: IntArray
    roots: IntArray
    node_name: Sequence[str] = ()
    measures: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """Number of e-nodes."""
        return len(self.node_class)

    @cached_property
    def child_lists(self) -> list[list[int]]:
        """The child classes of each node."""
        bounds, children = self.child_start.tolist(), self.children.tolist()
        return [children[a:b] for a, b in pairwise(bounds)]

    def measure(self, name: str) -> FloatArray:
        """A measure of the nodes; where it is not known, each counts once as a node, and nothing
        otherwise."""
        if name in self.measures:
            return self.measures[name]
        return np.full(self.nodes, 1.0 if name == NODES else 0.0)


def build_problem(
    classes: int,
    nodes: Iterable[tuple[int, float, Iterable[int]]],
    roots: Iterable[int],
    names: Sequence[str] = (),
) -> Problem:
    """A Problem from rows (class, cost, child classes); children and roots need not be sorted or
    distinct."""
    owners: list[int] = []
    costs: list[float] = []
    flat: list[int] = []
    starts = [0]
    for owner, cost, kids in nodes:
        owners.append(owner)
        costs.append(cost)
        flat.extend(sorted(set(kids)))
        starts.append(len(flat))
    return Problem(
        classes,
        np.array(owners, dtype=np.int64),
        np.array(costs, dtype=np.float64),
        np.array(starts, dtype=np.int64),
        np.array(flat, dtype=np.int64),
        np.array(sorted(set(roots)), dtype=np.int64),
        tuple(names),
    )


class Status(StrEnum):
    """What we hold at the end."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NOTHING = "no answer"


class StopReason(StrEnum):
    """Why the search for a better answer ended."""

    PROVEN = "proven"
    GAP = "gap"
    TIME = "time"
    SOLVER_FAILED = "solver failed"
    HEURISTIC = "heuristic"


@dataclass(frozen=True)
class Selection:
    """`node_of_class[c]` is the node chosen for class c, -1 for a class that is not used."""

    node_of_class: IntArray

    def chosen(self) -> IntArray:
        """The chosen nodes, by class."""
        return self.node_of_class[self.node_of_class >= 0]


@dataclass(frozen=True)
class StageRecord:
    """What one stage did, for the report.

    `scope` is "graph" (the whole) or "parts" (sums over its independent parts).  The stage ran
    `runs` times in `seconds`; it met a graph of `classes_before` and `nodes_before` at first and
    left one of `classes_after` and `nodes_after` at last; other stages ran in between, and what
    this one alone took is `removed_classes` and `removed_nodes`.  `detail` is for people.
    """

    name: str
    scope: str
    runs: int
    seconds: float
    classes_before: int
    nodes_before: int
    classes_after: int
    nodes_after: int
    removed_classes: int = 0
    removed_nodes: int = 0
    detail: str = ""


@dataclass(frozen=True)
class LimitRecord:
    """A limit that was asked for, and what the selection takes of it (None without one)."""

    text: str
    at_most: float
    used: float | None


@dataclass(frozen=True)
class Extraction:
    """The answer: a checked selection (None when infeasible), its value, and how good it is.

    `objective` and `bound` are on the unreduced problem; `gap` = (objective - bound) /
    max(|objective|, 1e-12), 0 when proven.  `solver` is the one asked for, `solvers` those that
    ran (none, where reductions decided all).  `limits` are those of the settings.  `warnings` are
    for people.  `cached`: an earlier run found it.
    """

    selection: Selection | None
    status: Status
    stopped: StopReason
    objective: float
    bound: float
    method: str
    solver: str
    seconds: float
    solvers: tuple[str, ...] = ()
    stages: tuple[StageRecord, ...] = ()
    limits: tuple[LimitRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    cached: bool = False

    @property
    def gap(self) -> float:
        """Relative distance of the objective from the bound."""
        if self.selection is None:
            return float("inf")
        if self.status is Status.OPTIMAL and self.stopped is StopReason.PROVEN:
            return 0.0
        return max(0.0, self.objective - self.bound) / max(abs(self.objective), 1e-12)
