"""What an answer to a problem with a demand is, as one to the problem itself.

Enters: a problem with a demand, as `cost.demand` poses it, and what was selected.  Leaves: a
:class:`Met`: nodes of the problem without the demand, and whether they use what is wanted.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tensat_dl.cost.demand import DEMAND, EQUAL, Demand
from tensat_dl.cost.posing import Posed
from tensat_dl.extract.problem import Selection
from tensat_dl.extract.selection import InvalidSelectionError, check, select


@dataclass(frozen=True)
class Met:
    """An answer that meets a demand: `chosen` are nodes of the problem that was posed, by class;
    None where they make a loop.  `path`: the wanted node and those above it that the demand
    led to; `used`: a wanted node is used."""

    chosen: dict[int, int] | None
    path: tuple[int, ...]
    used: bool


def met(posed: Posed, demand: Demand, selection: Selection, *, limited: bool = False) -> Met:
    """What an answer to the problem with a demand is to the problem without it.  Where it need not
    keep to limits, the answer without the demand may do for all but the path."""
    problem, node_of = posed.problem, selection.node_of_class
    owners = np.array([node.eclass for node in posed.nodes], dtype=np.int64)
    before = dataclasses.replace(problem, node_class=owners, roots=problem.roots[:-1])
    own = _own_classes(posed, owners)
    chosen = {}
    for eclass, index in enumerate(node_of.tolist()):
        if index >= 0 and owners[index] == eclass:
            chosen[eclass] = own.get(_only_child(posed, index), index)
    path = tuple(_path(posed, selection))
    on_path = {int(owners[index]): index for index in path}

    def taken(choice: Mapping[int, int]) -> tuple[dict[int, int], float]:
        found = select(before, choice)
        return {int(owners[i]): i for i in found.chosen().tolist()}, check(before, found)

    def uses(choice: Mapping[int, int]) -> bool:
        return any(not demand.wanted.isdisjoint(posed.enodes(i)) for i in choice.values())

    try:
        found, cost = taken({**chosen, **on_path})
    except InvalidSelectionError:
        return Met(None, path, used=False)
    if limited:
        return Met(found, path, uses(found))
    with contextlib.suppress(InvalidSelectionError):
        answer = {c: own.get(_only_child(posed, i), i) for c, i in _answer(posed, demand).items()}
        alike, same = taken({**chosen, **answer, **on_path})
        if same <= cost * (1.0 + EQUAL) and uses(alike):
            return Met(alike, path, used=True)
    return Met(found, path, uses(found))


def _own_classes(posed: Posed, owners: np.ndarray) -> dict[int, int]:
    """The nodes with classes of their own, by these."""
    indices = np.flatnonzero(posed.problem.node_class != owners).tolist()
    return {int(posed.problem.node_class[i]): i for i in indices}


def _only_child(posed: Posed, index: int) -> int:
    """The class that a node needs, -1 where it needs none or several, or is the demand's."""
    children = posed.problem.child_lists[index]
    return children[0] if len(children) == 1 and posed.nodes[index].head != DEMAND else -1


def _answer(posed: Posed, demand: Demand) -> dict[int, int]:
    """The nodes of the answer without the demand, as far as they are there."""
    return {
        node.eclass: index
        for index, node in enumerate(posed.nodes)
        if demand.answer.get(node.eclass) == posed.enodes(index)
    }


def _path(posed: Posed, selection: Selection) -> Iterator[int]:
    """The wanted node that was taken, and those that it is used by."""
    pending = [int(posed.problem.roots[-1])]
    while pending:
        index = int(selection.node_of_class[pending.pop()])
        if posed.nodes[index].head == DEMAND:
            pending += posed.problem.child_lists[index]
        else:
            yield index
