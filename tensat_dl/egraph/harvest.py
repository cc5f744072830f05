"""Copies the e-graph out of the engine.

Enters: the engine, and what its numbers stand for.  Leaves: classes and e-nodes in an order that
depends on stable keys alone.  Subsumed rows are left out, unless the original graph has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensat_dl.egraph import naming
from tensat_dl.egraph.engine import Engine, Table
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.query import RULE_BITS
from tensat_dl.egraph.snapshot import (
    Application,
    ENode,
    Exploration,
    Leaf,
    LeafKind,
    Projection,
    Saturated,
)
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import Type

_NO_TABLE = Table(())


@dataclass(frozen=True)
class Naming:
    """What the harvest must know beyond the engine: operators, rule names, input names, and the
    values of the graph by position."""

    operators: Sequence[Operator]
    rule_names: Sequence[str]
    inputs: Mapping[int, str]
    values: Mapping[str, int]
    outputs: Sequence[str]


def harvest(
    engine: Engine, interner: Interner, names: Naming, exploration: Exploration
) -> Saturated:
    """Take a snapshot."""
    tables = engine.tables(lambda name: name in _FIXED or name.startswith(("op_", "made_")))
    return _Harvester(tables, interner, names).harvest(exploration)


_FIXED = frozenset({"Value", "Input", "Const", "Absent", "Out", "type", "key", "bkey"})


@dataclass
class _Harvester:
    tables: Mapping[str, Table]
    interner: Interner
    names: Naming
    classes: dict[Any, int] = field(default_factory=dict)
    bundles: dict[Any, int] = field(default_factory=dict)

    def harvest(self, exploration: Exploration) -> Saturated:
        self._number_classes()
        nodes = sorted(
            [*self._leaves(), *self._projections(), *self._applications()],
            key=lambda item: item[0],
        )
        types = self._types()
        values = {
            inputs[0]: self.classes[output] for inputs, output, _ in self._table("Value").rows
        }
        value_class = {name: values[place] for name, place in self.names.values.items()}
        total = len(self.classes) + len(self.bundles)
        class_types: list[Type | None] = [None] * total
        weight = [False] * total
        for number, analysis in types.items():
            class_types[number], weight[number] = analysis.type, analysis.weight
        for number in self._weightless_bundles(nodes, weight):
            weight[number] = True
        return Saturated(
            tuple(node for _, node in nodes),
            tuple(class_types),
            {},
            tuple(weight),
            self.interner.constants(),
            value_class,
            tuple(value_class[name] for name in self.names.outputs),
            exploration,
        )

    def _weightless_bundles(
        self, nodes: Sequence[tuple[Any, ENode]], weight: Sequence[bool]
    ) -> Iterator[int]:
        """Bundles whose projections are weights are weights."""
        for _, node in nodes:
            if isinstance(node.head, Projection) and weight[node.eclass]:
                yield node.children[0]

    def _table(self, name: str) -> Table:
        return self.tables.get(name, _NO_TABLE)

    def _number_classes(self) -> None:
        keys = sorted((output, inputs[0]) for inputs, output, _ in self._table("key").rows)
        self.classes = {value: number for number, (_, value) in enumerate(keys)}
        start = len(self.classes)
        bundle_keys = sorted((output, inputs[0]) for inputs, output, _ in self._table("bkey").rows)
        self.bundles = {v: start + n for n, (_, v) in enumerate(bundle_keys)}

    def _types(self) -> dict[int, Any]:
        return {
            self.classes[inputs[0]]: self.interner.analysis(output)
            for inputs, output, _ in self._table("type").rows
        }

    def _leaves(self) -> Iterator[tuple[Any, ENode]]:
        for inputs, output, _ in self._table("Input").rows:
            leaf = Leaf(LeafKind.INPUT, self.names.inputs[inputs[0]])
            yield self._row(output, "", leaf, (), 0, 0)
        for inputs, output, _ in self._table("Const").rows:
            leaf = Leaf(LeafKind.CONSTANT, self.interner.constant(inputs[0]).digest)
            yield self._row(output, "", leaf, (), inputs[0], 0)
        for _, output, _ in self._table("Absent").rows:
            yield self._row(output, "", Leaf(LeafKind.ABSENT), (), 0, 0)

    def _projections(self) -> Iterator[tuple[Any, ENode]]:
        for (bundle, index), output, _ in self._table("Out").rows:
            if bundle in self.bundles and output in self.classes:
                children = (self.bundles[bundle],)
                yield self._row(output, "", Projection(index), children, index, 0)

    def _applications(self) -> Iterator[tuple[Any, ENode]]:
        for operator in self.names.operators:
            name = naming.node_table(operator)
            origins = {
                inputs: output
                for inputs, output, _ in self._table(naming.made_table(operator)).rows
            }
            for inputs, output, subsumed in self._table(name).rows:
                origin = origins.get(inputs, 0)
                if subsumed and origin:
                    continue
                children = inputs[1] if operator.is_variadic else inputs[1:]
                if not all(child in self.classes for child in children):
                    continue
                attributes, outputs = self.interner.attributes(inputs[0])
                head = Application(operator, attributes, outputs)
                numbers = tuple(self.classes[child] for child in children)
                if output in self.classes or output in self.bundles:
                    yield self._row(output, name, head, numbers, inputs[0], origin)

    def _row(
        self, output: Any, name: str, head: Any, children: tuple[int, ...], detail: int, origin: int
    ) -> tuple[Any, ENode]:
        eclass = self.bundles[output] if output in self.bundles else self.classes[output]
        rule = self.names.rule_names[(origin & ((1 << RULE_BITS) - 1))] if origin else ""
        node = ENode(head, children, eclass, origin == 0, rule, origin >> RULE_BITS)
        return (eclass, name, children, detail), node
