"""A snapshot as a few arrays, so that it crosses the process border quickly.

Enters: what was harvested, and the constants that the other side already has.  Leaves: bytes, and
the snapshot.  Pickling tens of thousands of e-nodes one by one takes seconds.
"""

from __future__ import annotations

import gc
import pickle
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tensat_dl.egraph.snapshot import Application, ENode, Leaf, Projection, Saturated

Head = Leaf | Projection | Application


@dataclass(frozen=True)
class Harvest:
    """`frame` is the snapshot without e-nodes.  `heads` are (head, rule, original);
    `rows[i]` is (number of the head, class, generation, number of children) of e-node i, and
    `children` holds the children of all, one after the other."""

    frame: Saturated
    heads: tuple[tuple[Head, str, bool], ...]
    rows: npt.NDArray[np.int64]
    children: npt.NDArray[np.int64]


def pack(harvest: Harvest, known_constants: Collection[str]) -> bytes:
    """As bytes, without constants whose digests are known on the other side."""
    constants = harvest.frame.constants
    needed = {d: c for d, c in constants.items() if d not in known_constants}
    return pickle.dumps(replace(harvest, frame=replace(harvest.frame, constants=needed)))


def unpack(packed: bytes) -> Saturated:
    """The snapshot; its constants lack those that were known."""
    return snapshot_of(pickle.loads(packed))


def snapshot_of(harvest: Harvest) -> Saturated:
    """What was harvested, e-node by e-node."""
    collecting = gc.isenabled()
    gc.disable()  # tens of thousands of new objects, none of them garbage
    try:
        return replace(harvest.frame, nodes=_nodes(harvest))
    finally:
        if collecting:
            gc.enable()


def _nodes(harvest: Harvest) -> tuple[ENode, ...]:
    flat: list[int] = harvest.children.tolist()
    nodes: list[ENode] = []
    start = 0
    for number, eclass, generation, count in harvest.rows.tolist():
        head, rule, original = harvest.heads[number]
        stop = start + count
        nodes.append(ENode(head, tuple(flat[start:stop]), eclass, original, rule, generation))
        start = stop
    return tuple(nodes)
