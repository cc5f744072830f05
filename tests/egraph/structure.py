"""An e-graph without its numbers: what two explorations must agree in.

Every class gets a colour from its e-nodes and the colours of their children, refined until the
number of colours no longer grows.  Operands of commutative operators have no order.
"""

from __future__ import annotations

from collections import Counter

from tensat_dl.egraph.snapshot import Application, ENode, Leaf, Projection, Saturated


def structure(saturated: Saturated) -> Counter[object]:
    """The multiset of classes, each as its colour."""
    colours: dict[int, object] = {node.eclass: 0 for node in saturated.nodes}
    known = 0
    while True:
        rows: dict[int, set[object]] = {}
        for node in saturated.nodes:
            rows.setdefault(node.eclass, set()).add(_row(node, colours))
        colours = {eclass: hash(frozenset(row)) for eclass, row in rows.items()}
        if len(set(colours.values())) == known:
            return Counter(colours.values())
        known = len(set(colours.values()))


def _row(node: ENode, colours: dict[int, object]) -> object:
    children = [colours.get(child, 0) for child in node.children]
    match node.head:
        case Leaf(kind, name):
            return (kind, name)
        case Projection(index):
            return (index, *children)
        case Application(operator, attributes, outputs):
            if operator.commutative:
                children.sort(key=repr)
            return (operator.qualified_name, attributes, outputs, *children)
