"""Turns a choice of nodes into a selection, and refuses one that is not an answer.

Enters: the unreduced problem and a node for (at least) every class in use.  Leaves: a selection
and its value.  Every answer of this package passes `check`; it knows nothing of how one is found.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tensat_dl.errors import TensatError
from tensat_dl.extract.problem import Problem, Selection


class InvalidSelectionError(TensatError):
    """An answer that is none: a root missing, a child without a node, a loop."""


def select(problem: Problem, choice: Mapping[int, int]) -> Selection:
    """The part of `choice` that the roots reach.  Raises InvalidSelectionError when a class in
    use has no node."""
    node_of_class = [-1] * problem.classes
    children = problem.child_lists
    queue = problem.roots.tolist()
    for c in queue:
        if node_of_class[c] >= 0:
            continue
        if c not in choice:
            raise InvalidSelectionError(f"no node was chosen for class {c}")
        node_of_class[c] = choice[c]
        queue.extend(children[choice[c]])
    return Selection(np.array(node_of_class, dtype=np.int64))


def check(problem: Problem, selection: Selection) -> float:
    """The cost of a selection on `problem`.  Raises InvalidSelectionError unless every root has
    a node, every chosen node belongs to its class and has its children chosen, and no loop."""
    node_of = selection.node_of_class
    if len(node_of) != problem.classes or node_of.max(initial=-1) >= problem.nodes:
        raise InvalidSelectionError("the selection is for another e-graph")
    if (node_of[problem.roots] < 0).any():
        raise InvalidSelectionError("a root has no node")
    used = np.flatnonzero(node_of >= 0)
    if (problem.node_class[node_of[used]] != used).any():
        raise InvalidSelectionError("a node was chosen for a class that is not its own")
    _check_acyclic(problem, selection, used.tolist())
    return float(problem.node_cost[node_of[used]].sum())


def _check_acyclic(problem: Problem, selection: Selection, used: list[int]) -> None:
    """Takes classes away whose users are all gone; what stays is a loop or hangs on one."""
    node_of = selection.node_of_class.tolist()
    children = problem.child_lists
    users = [0] * problem.classes
    for c in used:
        for kid in children[node_of[c]]:
            if node_of[kid] < 0:
                raise InvalidSelectionError(f"class {kid} is used but has no node")
            users[kid] += 1
    ready = [c for c in used if users[c] == 0]
    for c in ready:
        for kid in children[node_of[c]]:
            users[kid] -= 1
            if users[kid] == 0:
                ready.append(kid)
    if len(ready) < len(used):
        raise InvalidSelectionError(
            f"the selection has a loop among {len(used) - len(ready)} classes"
        )
