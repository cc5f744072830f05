"""What the nodes of an extraction problem count for, besides their price.

Enters: a posed problem and its snapshot.  Leaves: the same with the measures that limits and ties
are stated in.  A weight is in the result where something that runs at run time reads a value known
when the model is written, so bytes belong to readings, not to the e-nodes that make the value.
Where they matter, each such value gets a class of its own: its only node is free, stands for the
bytes, and needs the value; what runs at run time, and the outputs, read that class instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from tensat_dl.cost.free import free_classes, is_free
from tensat_dl.cost.posing import Posed
from tensat_dl.cost.work import Lower, Part
from tensat_dl.egraph.snapshot import ENode, Leaf, LeafKind, Saturated
from tensat_dl.extract.problem import MADE, NODES, WEIGHT_BYTES, Problem
from tensat_dl.settings import ExtractSettings, Tie
from tensat_dl.vocabulary.types import TensorType, Type


def with_counts(
    posed: Posed, saturated: Saturated, settings: ExtractSettings, lower: Lower
) -> Posed:
    """The problem with the measures NODES and MADE; with WEIGHT_BYTES, and the classes for them,
    where the settings ask for it.  A virtual operator counts as what `lower` makes of it."""
    written = {
        id(node): len(lower(part)) or 1
        for node, part in zip(posed.nodes, posed.parts, strict=True)
        if isinstance(part, Part)
    }
    everything = map(posed.enodes, range(len(posed.nodes)))
    counts = [[(n, written.get(id(n), 0)) for n in nodes] for nodes in everything]
    measures = {
        NODES: np.array([sum(c for _, c in nodes) for nodes in counts], np.float64),
        MADE: np.array(
            [sum(c for n, c in nodes if not n.original) for nodes in counts], np.float64
        ),
    }
    counted = dataclasses.replace(
        posed, problem=dataclasses.replace(posed.problem, measures=measures)
    )
    if not settings.max_weight_bytes and Tie.BYTES not in settings.ties:
        return counted
    return _with_stored(counted, saturated, free_classes(saturated))


def _with_stored(posed: Posed, saturated: Saturated, free: frozenset[int]) -> Posed:
    problem = posed.problem
    reading = np.array([not is_free(node, free) for node in posed.nodes], dtype=np.bool_)
    edge_reads = np.repeat(reading, np.diff(problem.child_start))
    read = {*problem.children[edge_reads].tolist(), *problem.roots.tolist()} & free
    sizes = {c: size for c in sorted(read) if (size := _bytes(saturated.class_types[c]))}
    stored = {c: problem.classes + i for i, c in enumerate(sizes)}
    nodes = tuple(ENode(_STORED, (c,), new, original=True) for c, new in stored.items())
    return dataclasses.replace(
        posed,
        problem=_extended(problem, edge_reads, stored, list(sizes.values())),
        nodes=(*posed.nodes, *nodes),
        parts=(*posed.parts, *(None for _ in nodes)),
        extra=frozenset(stored.values()),
    )


_STORED = Leaf(LeafKind.CONSTANT, "stored")


def _extended(
    problem: Problem, reads: np.ndarray, stored: Mapping[int, int], sizes: list[int]
) -> Problem:
    """The problem with a class and a node for each stored value; `reads`: the edges to redirect."""
    place = np.arange(problem.classes + len(stored))
    place[list(stored)] = list(stored.values())
    children = np.where(reads, place[problem.children], problem.children)
    starts = problem.child_start
    rows = [np.unique(children[a:b]) for a, b in pairwise(starts)]
    more = len(stored)
    grown = {
        name: np.concatenate((kept, np.zeros(more))) for name, kept in problem.measures.items()
    }
    grown[WEIGHT_BYTES] = np.concatenate((np.zeros(problem.nodes), np.array(sizes, np.float64)))
    return dataclasses.replace(
        problem,
        classes=problem.classes + more,
        node_class=np.concatenate((problem.node_class, np.array([*stored.values()], np.int64))),
        node_cost=np.concatenate((problem.node_cost, np.zeros(more))),
        child_start=np.concatenate((starts, starts[-1] + np.arange(1, more + 1))),
        children=np.concatenate((*rows, np.array(list(stored), dtype=np.int64))),
        roots=np.unique(place[problem.roots]),
        node_name=[*problem.node_name, *("stored weight" for _ in stored)],
        measures=grown,
    )


def _bytes(type_: Type) -> int:
    """The size of a tensor of known dims; 0 for all else."""
    return (type_.nbytes or 0) if isinstance(type_, TensorType) else 0
