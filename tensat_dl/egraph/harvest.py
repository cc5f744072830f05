"""Copies the e-graph out of the engine.

Enters: the engine, and what its numbers stand for.  Leaves: a :class:`Harvest`, arrays that cross
a process border quickly; `egraph.wire` makes a snapshot of them.  Classes and e-nodes are in an
order that depends on stable keys alone.  Subsumed rows are left out, unless the original graph has
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.egraph import naming
from tensat_dl.egraph.engine import Engine, Table
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.query import RULE_BITS
from tensat_dl.egraph.snapshot import (
    Application,
    Exploration,
    Leaf,
    LeafKind,
    Projection,
    Saturated,
)
from tensat_dl.egraph.wire import Harvest, Head
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import UNDECLARED, Type

_NO_TABLE = Table(())
_RULE_MASK = (1 << RULE_BITS) - 1

#: (class, table, children, attributes or index, head, origin): the first four are the order.
_Row = tuple[int, str, tuple[int, ...], int, Head, int]


@dataclass(frozen=True)
class Naming:
    """What the harvest must know beyond the engine: operators, rule names, input names, and the
    values of the graph by position."""

    operators: Sequence[Operator]
    rule_names: Sequence[str]
    inputs: Mapping[int, str]
    values: Mapping[str, int]
    outputs: Sequence[str]


def harvest(engine: Engine, interner: Interner, names: Naming, exploration: Exploration) -> Harvest:
    """Copy everything."""
    tables = engine.tables(lambda name: name in _FIXED or name.startswith(("op_", "made_")))
    return _Harvester(tables, interner, names).harvest(exploration)


_FIXED = frozenset({"Value", "Input", "Const", "Absent", "Out", "type", "key", "bkey"})


@dataclass
class _Harvester:
    tables: Mapping[str, Table]
    interner: Interner
    names: Naming
    classes: dict[int, int] = field(default_factory=dict)

    def harvest(self, exploration: Exploration) -> Harvest:
        self._number_classes()
        rows = [*self._leaves(), *self._projections(), *self._applications()]
        rows.sort()  # the first four differ, so that heads are never compared
        heads: dict[tuple[int, int], int] = {}
        kinds: list[tuple[Head, int]] = []
        numbers = np.empty((len(rows), 4), dtype=np.int64)
        children: list[int] = []
        for place, (eclass, _, below, _, head, origin) in enumerate(rows):
            rule = origin & _RULE_MASK
            number = heads.setdefault((id(head), rule), len(heads))
            if number == len(kinds):
                kinds.append((head, rule))
            numbers[place] = number, eclass, origin >> RULE_BITS, len(below)
            children += below
        rules = self.names.rule_names
        return Harvest(
            self._frame(exploration),
            tuple((head, rules[rule], rule == 0) for head, rule in kinds),
            numbers,
            np.array(children, dtype=np.int64),
        )

    def _frame(self, exploration: Exploration) -> Saturated:
        """The snapshot without its e-nodes."""
        values = {
            inputs[0]: self.classes[output] for inputs, output, _ in self._table("Value").rows
        }
        value_class = {name: values[place] for name, place in self.names.values.items()}
        class_types: list[Type] = [UNDECLARED] * len(self.classes)
        weight = [False] * len(self.classes)
        for inputs, output, _ in self._table("type").rows:
            number, analysis = self.classes[inputs[0]], self.interner.analysis(output)
            class_types[number], weight[number] = analysis.type, analysis.weight
        for (bundle, _), output, _ in self._table("Out").rows:
            if bundle in self.classes and weight[self.classes[output]]:
                weight[self.classes[bundle]] = True
        return Saturated(
            (),
            tuple(class_types),
            tuple(weight),
            self.interner.constants(),
            value_class,
            tuple(value_class[name] for name in self.names.outputs),
            exploration,
        )

    def _table(self, name: str) -> Table:
        return self.tables.get(name, _NO_TABLE)

    def _number_classes(self) -> None:
        """Tensors in the order of their keys, then bundles in that of theirs."""
        for table in ("key", "bkey"):
            keys = sorted((output, inputs[0]) for inputs, output, _ in self._table(table).rows)
            for _, value in keys:
                self.classes[value] = len(self.classes)

    def _leaves(self) -> Iterator[_Row]:
        classes = self.classes
        for inputs, output, _ in self._table("Input").rows:
            leaf = Leaf(LeafKind.INPUT, self.names.inputs[inputs[0]])
            yield classes[output], "", (), inputs[0], leaf, 0
        for inputs, output, _ in self._table("Const").rows:
            leaf = Leaf(LeafKind.CONSTANT, self.interner.constant(inputs[0]).digest)
            yield classes[output], "", (), inputs[0], leaf, 0
        for _, output, _ in self._table("Absent").rows:
            yield classes[output], "", (), -1, Leaf(LeafKind.ABSENT), 0

    def _projections(self) -> Iterator[_Row]:
        heads = [Projection(index) for index in range(self._most_outputs())]
        for (bundle, index), output, _ in self._table("Out").rows:
            if bundle in self.classes:
                child = (self.classes[bundle],)
                yield self.classes[output], "", child, index, heads[index], 0

    def _most_outputs(self) -> int:
        return 1 + max((inputs[1] for inputs, _, _ in self._table("Out").rows), default=0)

    def _applications(self) -> Iterator[_Row]:
        classes = self.classes
        for operator in self.names.operators:
            name = naming.node_table(operator)
            made = self._table(naming.made_table(operator)).rows
            origins = {inputs: output for inputs, output, _ in made}
            heads: dict[int, Application] = {}
            for inputs, output, subsumed in self._table(name).rows:
                origin = origins.get(inputs, 0)
                if subsumed and origin:
                    continue
                attributes = inputs[0]
                if attributes not in heads:
                    heads[attributes] = Application(operator, *self.interner.attributes(attributes))
                below = inputs[1] if operator.is_variadic else inputs[1:]
                numbers = tuple([classes[child] for child in below])
                yield classes[output], name, numbers, attributes, heads[attributes], origin
