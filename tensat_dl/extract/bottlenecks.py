"""Cuts a part into a chain of blocks at the classes that everything passes through.

A bottleneck is a required class that is comparable, by what requires what, with every other
required class.  The block of a class is the lowest bottleneck that reaches it, so that no class
has a child in a higher block.  For any block, its least cost with all other blocks' classes for
free is a bound of what it costs in any answer; where the block can be had for that without
optional classes of lower blocks, that is a best choice for it, and the lower blocks do not depend
on it: no lower block ever uses an optional class of a higher one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, BoolArray, Graph, part_of
from tensat_dl.extract.order import reach
from tensat_dl.extract.problem import IntArray
from tensat_dl.extract.reductions.prune import drop_nodes
from tensat_dl.extract.reductions.required import Required, required_sets


def block_numbers(graph: Graph, deadline: Deadline) -> IntArray:
    """The number of the block of each class of the whole graph, the lowest first."""
    required = required_sets(graph, deadline)
    tops = bottlenecks(required)
    number = np.full(len(graph.class_id), len(tops), dtype=np.int64)
    seen = np.zeros(len(number), dtype=np.bool_)
    for count, bottleneck in enumerate(tops):
        # What is seen has all that it reaches seen, too.
        for classes in reach(graph, bottleneck, seen):
            number[classes] = count
    return number


def chain_of(graph: Graph, block_of: Mapping[int, int]) -> list[BoolArray]:
    """The classes of each block of a part, the highest first; `block_of` is by the Problem's
    classes.  The extra root belongs to none."""
    numbers = np.array([block_of.get(c, -1) for c in graph.class_id.tolist()])
    return [numbers == number for number in np.unique(numbers)[::-1].tolist() if number >= 0]


def bottlenecks(required: Required) -> list[int]:
    """The bottlenecks, each required by the next."""
    forced = required.forced & ~(1 << required.bit[ROOT])
    below = {c: required.below[c] & forced for c in required.classes(forced)}
    above = dict.fromkeys(below, 0)
    for c, bits in below.items():
        for d in required.classes(bits):
            above[d] |= 1 << required.bit[c]
    found = [c for c, bits in below.items() if bits | above[c] == forced]
    return sorted(found, key=lambda c: below[c].bit_count())


def freed(graph: Graph, block: BoolArray, deadline: Deadline) -> Graph:
    """A block where all classes of other blocks are there already."""
    required = required_sets(graph, deadline)
    return part_of(graph, block, required.marks(required.forced))


def restricted(graph: Graph, block: BoolArray, deadline: Deadline) -> Graph:
    """A block without the nodes that use an optional class of another block.  It may have no
    selection."""
    required = required_sets(graph, deadline)
    forced = required.marks(required.forced)
    outside = block[graph.owner[graph.edge_node]] & ~block[graph.kids] & ~forced[graph.kids]
    alone = freed(graph, block, deadline)
    using = np.isin(alone.node_id, graph.node_id[graph.edge_node[outside]])
    using[ROOT] = False
    return drop_nodes(alone, using)
