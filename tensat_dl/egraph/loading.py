"""The original graph as facts.

Enters: a graph.  Leaves: rows for the engine.  Every value of the graph is `(Value i)`, i being
its position; its key is i + 1.  E-nodes of the graph have origin 0, whatever makes them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tensat_dl.egraph import naming
from tensat_dl.egraph.engine import Row
from tensat_dl.egraph.interning import Analysis, Interner
from tensat_dl.egraph.keys import mix, operator_seed
from tensat_dl.egraph.snapshot import Application
from tensat_dl.graph.model import Graph, Node
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import OperatorKind


@dataclass(frozen=True)
class Facts:
    """Rows of the extensional database, in the order in which they are loaded.

    `unions` are pairs of terms, `sets` are (function, arguments, value); `values` maps names to
    positions.
    """

    unions: tuple[tuple[Any, Any], ...]
    sets: tuple[tuple[str, Row, Any], ...]
    values: Mapping[str, int]


def load_facts(graph: Graph, interner: Interner) -> Facts:
    """All facts of a graph; constants and attributes are interned."""
    return _Loader(graph, interner).load()


def facts_text(facts: Facts) -> str:
    """The facts for people to read (`show --stage facts`)."""
    lines = [f"(union {_text(a)} {_text(b)})" for a, b in facts.unions]
    lines += [f"(set {_text((name, *row))} {_text(value)})" for name, row, value in facts.sets]
    return "\n".join(lines) + "\n"


def _text(term: Any) -> str:
    if isinstance(term, int | str):
        return str(term)
    if term and isinstance(term[0], str):
        return f"({' '.join(_text(t) for t in term)})"
    return f"(vec-of {' '.join(_text(t) for t in term)})"


#: The attribute that keeps two random or opaque nodes apart: the node's place in the graph.
NODE_MARK = "%node"


def with_node_mark(node: Node) -> Attributes:
    """The attributes of a node that must not merge with an equal one."""
    return Attributes.of({**node.attributes.as_dict(), NODE_MARK: node.index})


def attributes_in_graph(node: Node) -> Attributes:
    """The attributes under which the e-graph holds a node."""
    alone = not node.operator.deterministic or node.operator.kind is OperatorKind.OPAQUE
    return with_node_mark(node) if alone else node.attributes


def application_of(node: Node) -> Application:
    """A node as an application, its attributes as the graph has them."""
    outputs = len(node.outputs) if node.operator.has_bundle else 1
    return Application(node.operator, node.attributes, outputs)


def without_node_mark(attributes: Attributes) -> Attributes:
    """The attributes as the graph had them."""
    return Attributes(tuple(item for item in attributes.items if item[0] != NODE_MARK))


@dataclass
class _Loader:
    graph: Graph
    interner: Interner

    def load(self) -> Facts:
        graph = self.graph
        names = [*graph.inputs, *graph.constants, *[o for n in graph.nodes for o in n.outputs]]
        self.values = {name: place for place, name in enumerate(dict.fromkeys(names))}
        self.weight = dict.fromkeys(graph.constants, True)
        self.unions: list[tuple[Any, Any]] = []
        self.sets: list[tuple[str, Row, Any]] = [
            ("type", (("Absent",),), 0),
            ("key", (("Absent",),), 0),
        ]
        for name in graph.inputs:
            self._value(name, ("Input", self.values[name]))
        for name, constant in graph.constants.items():
            self._value(name, ("Const", self.interner.constant_id(constant)))
        for node in graph.nodes:
            self._node(node)
        return Facts(tuple(self.unions), tuple(self.sets), self.values)

    def _term(self, name: str | None) -> Any:
        return ("Absent",) if name is None else ("Value", self.values[name])

    def _key(self, name: str | None) -> int:
        return 0 if name is None else self.values[name] + 1

    def _value(self, name: str, term: Any) -> None:
        """Say what a value is, and what is known of it."""
        self.unions.append((self._term(name), term))
        self.sets.append(("type", (self._term(name),), self._analysis(name)))
        self.sets.append(("key", (self._term(name),), self._key(name)))

    def _analysis(self, name: str | None) -> int:
        if name is None:
            return 0
        weight = self.weight.get(name, False)
        return self.interner.analysis_id(Analysis(self.graph.type_of(name), weight))

    def _node(self, node: Node) -> None:
        operator = node.operator
        weight = operator.folds and all(i is None or self.weight.get(i, False) for i in node.inputs)
        self.weight.update(dict.fromkeys(node.outputs, weight))
        outputs = len(node.outputs) if operator.has_bundle else 1
        attributes = self.interner.attributes_id(attributes_in_graph(node), outputs)
        row: Row = (attributes, *self._arguments(node))
        term = (naming.node_table(operator), *row)
        self.sets.append((naming.made_table(operator), row, 0))
        if not operator.has_bundle:
            self._value(node.outputs[0], term)
            return
        self.sets.append(("bkey", (term,), self._key(node.outputs[0]) | 1 << 40))
        for place, name in enumerate(node.outputs):
            self._value(name, ("Out", term, place))

    def _arguments(self, node: Node) -> Iterator[Any]:
        inputs = list(node.inputs)
        if node.operator.is_variadic:
            vector = tuple(self._term(i) for i in inputs)
            types = tuple(self._analysis(i) for i in inputs)
            self.sets.append(("vtypes", (vector,), types))
            key = mix(operator_seed("vector"), [self._key(i) for i in inputs])
            self.sets.append(("vkey", (vector,), key))
            yield vector
            return
        if node.operator.commutative and len(inputs) == 2:
            inputs.sort(key=self._key)
        for name in inputs:
            yield self._term(name)
