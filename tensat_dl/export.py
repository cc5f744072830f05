"""From a selection back to a graph.

Enters: the original graph, the snapshot, one e-node for each class that is used.  Leaves: a graph
of the same interface: values and nodes that the original has keep their names and the order of
their operands, virtual operators are lowered.  Knows no ONNX; `graph.writing` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tensat_dl.egraph.loading import attributes_in_graph, without_node_mark
from tensat_dl.egraph.lowering import Lowered, LoweredNode, lower
from tensat_dl.egraph.snapshot import (
    Application,
    ENode,
    Leaf,
    LeafKind,
    Projection,
    Saturated,
    bundle_outputs,
    children_first,
)
from tensat_dl.graph.model import Constant, Graph, Node, Output
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Formal, Operator, OperatorKind
from tensat_dl.vocabulary.types import Type

#: What a lowering becomes that gives back one of its inputs.
_IDENTITY = Operator("", "Identity", OperatorKind.ONNX, (Formal("input"),), (Formal("output"),))


@dataclass(frozen=True)
class Exported:
    """`makers`: the e-node behind each value that a node of the graph makes."""

    graph: Graph
    makers: Mapping[str, ENode]


def export_answer(
    original: Graph, saturated: Saturated, chosen: Mapping[int, ENode], program: CheckedProgram
) -> Exported:
    """The graph that `chosen` (class -> e-node) describes, and where it comes from."""
    exporter = _Exporter(original, saturated, chosen, program)
    return Exported(exporter.export(), exporter.makers)


def export_graph(
    original: Graph, saturated: Saturated, chosen: Mapping[int, ENode], program: CheckedProgram
) -> Graph:
    """The graph that `chosen` (class -> e-node) describes."""
    return export_answer(original, saturated, chosen, program).graph


@dataclass
class _Exporter:
    original: Graph
    saturated: Saturated
    chosen: Mapping[int, ENode]
    program: CheckedProgram
    nodes: list[Node] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    makers: dict[str, ENode] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.taken = _taken_names(self.original)
        self.numbers: dict[str, int] = {}
        self.name_of_digest: dict[str, str] = {}
        for name, constant in self.original.constants.items():
            self.name_of_digest.setdefault(constant.digest, name)
        self.preferred = self._preferred_names()
        self.sources = self._sources()
        self.projections = bundle_outputs(self.chosen.values())

    def export(self) -> Graph:
        """Write every e-node after its children."""
        for node in children_first(self.chosen, self.saturated.outputs):
            self._write(node)
        outputs = tuple(
            Output(output.name, self.names[eclass])
            for output, eclass in zip(self.original.outputs, self.saturated.outputs, strict=True)
        )
        inputs = {name: self.original.types[name] for name in self.original.inputs}
        return Graph(
            self.original.inputs,
            self.constants,
            tuple(self.nodes),
            outputs,
            {**inputs, **self.types},
            self.original.opsets,
            self.original.source,
        )

    # --- what the original calls things -------------------------------------------------------

    def _preferred_names(self) -> dict[int, str]:
        """The original's name for each class: a graph output's where there is one."""
        found: dict[int, str] = {}
        for output in self.original.outputs:
            if output.name == output.value:
                found.setdefault(self.saturated.value_class[output.value], output.value)
        for name, eclass in self.saturated.value_class.items():
            found.setdefault(eclass, name)
        return found

    def _sources(self) -> dict[object, list[Node]]:
        """The original's nodes for an application of an operator to classes."""
        found: dict[object, list[Node]] = defaultdict(list)
        for node in self.original.nodes:
            attributes = attributes_in_graph(node)
            classes = tuple(self._class_of(name) for name in node.inputs)
            if node.operator.commutative and len(classes) == 2:
                found[node.operator, attributes, classes[::-1]].append(node)
            found[node.operator, attributes, classes].append(node)
        return found

    def _source(self, eclass: int, key: object) -> Node | None:
        """Of equal nodes the one that makes a value under the name that it will have."""
        nodes = self.sources.get(key, ())
        made = (eclass, *self.projections.get(eclass, {}).values())
        wanted = {self.preferred.get(each) for each in made}
        return next((n for n in nodes if not wanted.isdisjoint(n.outputs)), next(iter(nodes), None))

    def _class_of(self, name: str | None) -> int:
        return self.saturated.absent_class if name is None else self.saturated.value_class[name]

    # --- e-nodes --------------------------------------------------------------------------------

    def _write(self, node: ENode) -> None:
        match node.head:
            case Leaf(kind, name):
                self._leaf(node.eclass, kind, name)
            case Projection():
                pass
            case Application() as head:
                written = len(self.nodes)
                self._application(node.eclass, node, head)
                for made in self.nodes[written:]:
                    self.makers.update(dict.fromkeys(made.outputs, node))

    def _leaf(self, eclass: int, kind: LeafKind, name: str) -> None:
        if kind is LeafKind.INPUT:
            self.names[eclass] = name
        elif kind is LeafKind.CONSTANT:
            constant = self.saturated.constants[name]
            self.names[eclass] = value = self._add_constant(constant)
            self.types[value] = constant.type

    def _add_constant(self, constant: Constant) -> str:
        """Its name; one that the original has is written as it is there."""
        name = constant.source_name
        if not name or name not in self.original.constants:
            name = self.name_of_digest.get(constant.digest) or self._fresh("constant")
        self.constants[name] = self.original.constants.get(name, constant)
        return name

    def _application(self, eclass: int, node: ENode, head: Application) -> None:
        source = self._source(eclass, (head.operator, head.attributes, node.children))
        children = self._constants_last(head.operator, node.children)
        if source is not None:
            children = tuple(self._class_of(name) for name in source.inputs)
        inputs = tuple(self.names.get(c) for c in children)
        if head.operator.has_bundle:
            outputs = tuple(self._bundle_outputs(eclass, head, source))
        else:
            outputs = (self._name(eclass, head.operator.name),)
        if head.operator.kind is OperatorKind.VIRTUAL:
            types = tuple(self.saturated.class_types[c] for c in node.children)
            self._lower(head, types, inputs, outputs)
            return
        name, index = ("", -1) if source is None else (source.name, source.index)
        attributes = without_node_mark(head.attributes)
        self.nodes.append(Node(head.operator, attributes, inputs, outputs, name, index))

    def _constants_last(self, operator: Operator, children: tuple[int, ...]) -> tuple[int, ...]:
        """Of two operands that may change places a constant stands second, as exporters write
        it: runtimes look for it there when they fuse."""
        weight = self.saturated.weight
        if (
            operator.commutes(2)
            and len(children) == 2
            and weight[children[0]] > weight[children[1]]
        ):
            return children[::-1]
        return children

    def _bundle_outputs(self, bundle: int, head: Application, source: Node | None) -> Iterator[str]:
        taken = self.projections.get(bundle, {})
        for index in range(head.outputs):
            if index in taken:
                yield self._name(taken[index], f"{head.operator.name}_{index}")
            else:
                yield self._fresh(f"{head.operator.name}_{index}_unused")

    def _name(self, eclass: int, base: str) -> str:
        if eclass not in self.names:
            preferred = self.preferred.get(eclass)
            usable = preferred is not None and preferred not in self.original.constants
            if usable and preferred in self.original.inputs:
                usable = False
            self.names[eclass] = (preferred or "") if usable else self._fresh(base)
            self.types[self.names[eclass]] = self.saturated.class_types[eclass]
        return self.names[eclass]

    def _fresh(self, base: str) -> str:
        number = self.numbers.get(base, 0)
        while f"{base}_{number}" in self.taken:
            number += 1
        self.numbers[base] = number + 1
        return f"{base}_{number}"

    # --- virtual operators ----------------------------------------------------------------------

    def _lower(
        self,
        head: Application,
        types: tuple[Type, ...],
        inputs: tuple[str | None, ...],
        outputs: tuple[str, ...],
    ) -> None:
        """Write a virtual operator, those inside its lowering included."""
        lowered = lower(self.program, head, types)
        names: dict[str, str | None] = dict(zip(lowered.inputs, inputs, strict=False))
        for local, constant in lowered.constants.items():
            names[local] = self._add_constant(constant)
        copies: list[tuple[str, str]] = []
        for local, output in zip(lowered.outputs, outputs, strict=True):
            if local in names:
                copies.append((local, output))
            else:
                names[local] = output
        for node in lowered.nodes:
            self._lowered_node(node, lowered, names)
        for local, output in copies:
            self.nodes.append(Node(_IDENTITY, Attributes(()), (names[local],), (output,)))

    def _lowered_node(
        self, node: LoweredNode, lowered: Lowered, names: dict[str, str | None]
    ) -> None:
        head = node.application
        for local in node.outputs:
            if local not in names:
                names[local] = name = self._fresh(head.operator.name)
                if local in lowered.types:
                    self.types[name] = lowered.types[local]
        inputs = tuple(None if local is None else names[local] for local in node.inputs)
        outputs = tuple(names[local] or "" for local in node.outputs)
        if head.operator.kind is OperatorKind.VIRTUAL:
            self._lower(head, tuple(map(lowered.type_of, node.inputs)), inputs, outputs)
        else:
            self.nodes.append(Node(head.operator, head.attributes, inputs, outputs))


def _taken_names(graph: Graph) -> set[str]:
    """Every name that the graph or its source uses."""
    return {
        *graph.inputs,
        *graph.constants,
        *(o.name for o in graph.outputs),
        *(name for node in graph.nodes for name in node.outputs),
    }
