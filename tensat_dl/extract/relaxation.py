"""What the linear relaxation of a part tells: a bound, nodes that no better answer has, nodes and
classes that every better answer has.

Enters: a formulation and the duals of its rows, from any solver.  Leaves: a bound that holds
whatever the duals are (weak duality, computed here), and a smaller graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.extract.formulation import Formulation
from tensat_dl.extract.graph import ROOT, BoolArray, Graph, with_edges
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.extract.reductions.prune import drop_nodes

# Solvers leave a little in columns that they do not use.
_USED = 1e-6


@dataclass(frozen=True)
class Relaxation:
    """`bound` is one of the program's objective, its constant included; `reduced[j]` is what it
    rises by for each unit of column j, or, negative, falls by; `values[j]` is the solver's."""

    bound: float
    reduced: FloatArray
    values: FloatArray

    def price_of_one(self) -> FloatArray:
        """For each column of upper bound 1: a bound of all answers in which it is 1."""
        return self.bound + np.maximum(self.reduced, 0.0)

    def price_of_none(self) -> FloatArray:
        """For each column of upper bound 1: a bound of all answers in which it is 0."""
        return self.bound + np.maximum(-self.reduced, 0.0)


def relaxation(
    program: Program, rows: Sequence[Row], duals: Sequence[float], values: Sequence[float]
) -> Relaxation:
    """The Lagrangian bound of the duals; of either sign, since solvers differ."""
    signed = np.array(duals)
    found = [_lagrangian(program, rows, sign * signed) for sign in (1.0, -1.0)]
    bound, reduced = max(found, key=lambda each: each[0])
    return Relaxation(bound, reduced, np.array(values))


def _lagrangian(
    program: Program, rows: Sequence[Row], duals: FloatArray
) -> tuple[float, FloatArray]:
    """`constant + y b + sum_j min(0, u_j d_j)` with `d = c - A' y`, for duals y clipped to the
    signs that their rows allow."""
    low = np.array([0.0 if row.sense is Sense.AT_LEAST else -np.inf for row in rows])
    high = np.array([0.0 if row.sense is Sense.AT_MOST else np.inf for row in rows])
    y = np.clip(duals, low, high)
    sizes = np.array([len(row.columns) for row in rows])
    columns = np.array([j for row in rows for j in row.columns], dtype=np.int64)
    terms = np.array([a for row in rows for a in row.coefficients])
    lifted = np.bincount(columns, terms * np.repeat(y, sizes), len(program.costs))
    reduced: FloatArray = np.array(program.costs) - lifted.astype(np.float64)
    right = np.array([row.right for row in rows])
    below = np.minimum(0.0, reduced * np.array(program.uppers))
    return float(program.constant + y @ right + below.sum()), reduced


def fix(model: Formulation, found: Relaxation, upper: float) -> Graph:
    """The graph of the model without the nodes whose price exceeds `upper`, and with the classes
    as roots that no answer up to `upper` can do without."""
    graph = model.graph
    one, none = found.price_of_one() > upper, found.price_of_none() > upper
    gone = _of_nodes(model, one)
    firm = _of_nodes(model, none)
    unused = _of_classes(model, one)
    wanted = _of_classes(model, none)
    wanted[graph.owner[firm]] = True
    has_firm = np.zeros(len(graph.class_id), dtype=np.bool_)
    has_firm[graph.owner[firm]] = True
    gone |= unused[graph.owner] | (has_firm[graph.owner] & ~firm)
    tops = np.flatnonzero(wanted)
    roots = np.full(len(tops), ROOT)
    kids = np.concatenate((graph.kids, tops))
    rooted = with_edges(graph, np.concatenate((graph.edge_node, roots)), kids)
    return drop_nodes(rooted, gone) if len(tops) or gone.any() else graph


def _of_nodes(model: Formulation, columns: BoolArray) -> BoolArray:
    marked = np.zeros(len(model.graph.node_id), dtype=np.bool_)
    marked[[n for n, j in model.node_column.items() if j is not None and columns[j]]] = True
    return marked


def _of_classes(model: Formulation, columns: BoolArray) -> BoolArray:
    marked = np.zeros(len(model.graph.class_id), dtype=np.bool_)
    marked[[c for c, j in model.active.items() if j is not None and columns[j]]] = True
    return marked


def kernel(model: Formulation, found: Relaxation, known: BoolArray) -> Graph:
    """The graph of the nodes that the relaxation uses or that are `known`: a tenth of all, and
    more often than not a best answer is among them."""
    kept = known | (np.diff(model.graph.first) == 1)[model.graph.owner]
    used = found.values > _USED
    kept[[n for n, j in model.node_column.items() if j is None or used[j]]] = True
    return drop_nodes(model.graph, ~kept)
