"""From a selection back to a graph.

Enters: the original graph, the snapshot, one e-node for each class that is used.  Leaves: a graph
of the same interface: values and nodes that the original has keep their names and the order of
their operands, virtual operators are lowered.  Knows no ONNX; `graph.write` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tensat_dl.egraph.build import ABSENT, BuildConstant, BuildNode, Many, One, build_lowering
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.loading import with_node_mark, without_node_mark
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, LeafKind, Projection, Saturated
from tensat_dl.egraph.typing import Typer, lowering_scope
from tensat_dl.graph.model import Constant, Graph, Node, Output
from tensat_dl.language.program import CheckedProgram, Lowering
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import AbsentType, Type


def export_graph(
    original: Graph, saturated: Saturated, chosen: Mapping[int, ENode], program: CheckedProgram
) -> Graph:
    """The graph that `chosen` (class -> e-node) describes."""
    return _Exporter(original, saturated, chosen, program).export()


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

    def export(self) -> Graph:
        """Name every class, then write every e-node after its children."""
        self.taken = _taken_names(self.original)
        self.preferred = self._preferred_names()
        self.sources = self._sources()
        self.projections = self._projections()
        for eclass in self._topological():
            self._write(eclass)
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

    def _sources(self) -> dict[object, Node]:
        """The original's node for an application of an operator to classes."""
        found: dict[object, Node] = {}
        for node in self.original.nodes:
            alone = not node.operator.deterministic or node.operator.kind is OperatorKind.OPAQUE
            attributes = with_node_mark(node) if alone else node.attributes
            classes = tuple(self._class_of(name) for name in node.inputs)
            if node.operator.commutative and len(classes) == 2:
                found.setdefault((node.operator, attributes, classes[::-1]), node)
            found.setdefault((node.operator, attributes, classes), node)
        return found

    def _class_of(self, name: str | None) -> int:
        return self.absent_class if name is None else self.saturated.value_class[name]

    @property
    def absent_class(self) -> int:
        """The class of the missing input."""
        return next((n.eclass for n in self.saturated.nodes if n.head == Leaf(LeafKind.ABSENT)), -1)

    def _projections(self) -> dict[int, dict[int, int]]:
        """For each bundle the classes that are chosen to be its outputs."""
        found: dict[int, dict[int, int]] = {}
        for eclass, node in self.chosen.items():
            if isinstance(node.head, Projection):
                found.setdefault(node.children[0], {})[node.head.index] = eclass
        return found

    # --- order ----------------------------------------------------------------------------------

    def _topological(self) -> Iterator[int]:
        done: set[int] = set()
        for root in dict.fromkeys(self.saturated.outputs):
            stack = [(root, False)]
            while stack:
                eclass, expanded = stack.pop()
                if eclass in done:
                    continue
                if expanded:
                    done.add(eclass)
                    yield eclass
                    continue
                stack.append((eclass, True))
                children = self.chosen[eclass].children
                stack += [(c, False) for c in reversed(children) if c not in done]

    # --- e-nodes --------------------------------------------------------------------------------

    def _write(self, eclass: int) -> None:
        node = self.chosen[eclass]
        match node.head:
            case Leaf(kind, name):
                self._leaf(eclass, kind, name)
            case Projection():
                pass
            case Application() as head:
                self._application(eclass, node, head)

    def _leaf(self, eclass: int, kind: LeafKind, name: str) -> None:
        if kind is LeafKind.INPUT:
            self.names[eclass] = name
        elif kind is LeafKind.CONSTANT:
            constant = self.saturated.constants[name]
            value = self._constant_name(constant)
            self.names[eclass] = value
            self.constants[value] = constant
            self._type(value, eclass)

    def _constant_name(self, constant: Constant) -> str:
        if constant.source_name and constant.source_name in self.original.constants:
            return constant.source_name
        for name, known in self.original.constants.items():
            if known.digest == constant.digest:
                return name
        return self._fresh("constant")

    def _application(self, eclass: int, node: ENode, head: Application) -> None:
        source = self.sources.get((head.operator, head.attributes, node.children))
        children = node.children
        if source is not None:
            children = tuple(self._class_of(name) for name in source.inputs)
        inputs = tuple(self.names.get(c) for c in children)
        if head.operator.has_bundle:
            outputs = tuple(self._bundle_outputs(eclass, head, source))
        else:
            outputs = (self._name(eclass, head.operator.name),)
        lowering = self._lowering(head.operator)
        if lowering is not None:
            self._lower(lowering, head, node, inputs, outputs)
            return
        name, index = ("", -1) if source is None else (source.name, source.index)
        attributes = without_node_mark(head.attributes)
        self.nodes.append(Node(head.operator, attributes, inputs, outputs, name, index))

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
            self._type(self.names[eclass], eclass)
        return self.names[eclass]

    def _type(self, name: str, eclass: int) -> None:
        known = self.saturated.class_types[eclass]
        if known is not None:
            self.types[name] = known

    def _fresh(self, base: str) -> str:
        number = 0
        while f"{base}_{number}" in self.taken:
            number += 1
        name = f"{base}_{number}"
        self.taken.add(name)
        return name

    # --- virtual operators ----------------------------------------------------------------------

    def _lowering(self, operator: Operator) -> Lowering | None:
        if operator.kind is not OperatorKind.VIRTUAL:
            return None
        found = next(c for c in self.program.operators.values() if c.operator == operator)
        return found.lowering

    def _lower(
        self,
        lowering: Lowering,
        head: Application,
        node: ENode,
        inputs: tuple[str | None, ...],
        outputs: tuple[str, ...],
    ) -> None:
        types = tuple(self.saturated.class_types[c] or AbsentType() for c in node.children)
        known = without_node_mark(head.attributes)
        scope = lowering_scope(lowering, head.operator, known, types, self.program.functions)
        absent = frozenset(n for n, a in scope.tensors.items() if isinstance(a.type, AbsentType))
        builds, results = build_lowering(lowering, absent)
        names: dict[str, str | None] = dict(zip(lowering.parameters, inputs, strict=False))
        names.update(zip(results, outputs, strict=False))
        interner = Interner()
        typer = Typer(self.program.operators, self.program.functions, interner)
        for build in builds:
            columns = typer.build([build], scope)
            if isinstance(build, BuildConstant):
                self._lowered_constant(build, interner.constant(_number(columns[0])), names)
            elif isinstance(build, BuildNode):
                attributes, _ = interner.attributes(_number(columns[0]))
                self._lowered_node(build, attributes, names)
                for output in build.outputs:
                    self.types[names[output] or ""] = scope.tensors[output].type

    def _lowered_constant(
        self, build: BuildConstant, constant: Constant, names: dict[str, str | None]
    ) -> None:
        name = self._constant_name(constant)
        names[build.name] = name
        self.constants[name] = constant

    def _lowered_node(
        self, build: BuildNode, attributes: Attributes, names: dict[str, str | None]
    ) -> None:
        refs = [i if isinstance(i, str) else i.ref for i in build.inputs]
        assert not any(isinstance(i, Many) for i in build.inputs), "a lowering has no lists"
        assert all(isinstance(i, str | One) for i in build.inputs)
        for output in build.outputs:
            if output not in names:
                names[output] = self._fresh(build.operator.name)
        inputs = tuple(None if ref == ABSENT else names[ref] for ref in refs)
        outputs = tuple(names[output] or "" for output in build.outputs)
        lowering = self._lowering(build.operator)
        assert lowering is None, "a virtual operator is lowered to operators that are not"
        self.nodes.append(Node(build.operator, attributes, inputs, outputs))


def _number(column: int | tuple[int, ...]) -> int:
    assert isinstance(column, int)
    return column


def _taken_names(graph: Graph) -> set[str]:
    """Every name that the graph or its source uses."""
    return {
        *graph.inputs,
        *graph.constants,
        *(o.name for o in graph.outputs),
        *(name for node in graph.nodes for name in node.outputs),
    }
