"""A snapshot as a few arrays, so that it crosses the process border quickly.

Enters: a snapshot, and the constants that the other side already has.  Leaves: bytes, and the
snapshot again.  Pickling tens of thousands of e-nodes one by one takes seconds.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from tensat_dl.egraph.snapshot import ENode, Saturated


def pack(saturated: Saturated, known_constants: Collection[str]) -> bytes:
    """The snapshot as bytes, without constants whose digests are known on the other side."""
    heads: dict[tuple[Any, str, bool], int] = {}
    rows = np.empty((len(saturated.nodes), 4), dtype=np.int64)
    children: list[int] = []
    for place, node in enumerate(saturated.nodes):
        head = heads.setdefault((node.head, node.rule, node.original), len(heads))
        rows[place] = head, node.eclass, node.generation, len(node.children)
        children += node.children
    bare = replace(
        saturated,
        nodes=(),
        constants={d: c for d, c in saturated.constants.items() if d not in known_constants},
    )
    return pickle.dumps((bare, list(heads), rows, np.array(children, dtype=np.int64)))


def unpack(packed: bytes) -> Saturated:
    """The snapshot again; its constants lack those that were known."""
    bare, heads, rows, children = pickle.loads(packed)
    flat: list[int] = children.tolist()
    nodes: list[ENode] = []
    start = 0
    for number, eclass, generation, count in rows.tolist():
        head, rule, original = heads[number]
        stop = start + count
        nodes.append(ENode(head, tuple(flat[start:stop]), eclass, original, rule, generation))
        start = stop
    assert isinstance(bare, Saturated)
    return replace(bare, nodes=tuple(nodes))
