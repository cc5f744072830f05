"""Reading a model into a :class:`Graph`.

Enters: a path, an `onnx.ModelProto` or an `onnx_ir.Model`.  Leaves: its graph, each node lifted to
the vocabulary or else opaque, each value with the type that follows from the inputs.  Raises
InputError where the model is not valid.  Decisions:

* initializers are constants, but those that a caller may override (IR version 4 and later, listed
  among the inputs) or that training changes are inputs unless `freeze_initializers` says otherwise;
* Constant nodes are constants;
* an `If` whose condition is known is the branch that it takes, unless that shows runtimes a fault
  of the model that is hidden from them as it stands: then every `If` stays;
* the bodies of `If`, `Loop` and `Scan` stay as they are, or become what `improve` makes of them;
* a node that cannot be lifted, calls a local function, or has no type as lifted, is opaque: it is
  carried along and written back as it was, unless `declared` knows its operator;
* declared types are believed of opaque nodes alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from tensat_dl.errors import UsageError
from tensat_dl.graph.constants import (
    constant_of_sparse,
    constant_of_tensor,
    initializer_map,
)
from tensat_dl.graph.external import element_type
from tensat_dl.graph.folding.fold import compute
from tensat_dl.graph.functions import called_function, function_bodies
from tensat_dl.graph.interface import named_dims, tensor_dims
from tensat_dl.graph.model import Constant, Graph, Node, Output
from tensat_dl.graph.names import Names, outer_names, subgraphs, value_names
from tensat_dl.graph.reading.bodies import Bodies, Improve
from tensat_dl.graph.reading.branches import Branches
from tensat_dl.graph.reading.constant_nodes import constant_node_value
from tensat_dl.graph.reading.inlining import Inliner, branch_of, is_conditional
from tensat_dl.graph.reading.lifting import Lifter, TypedNode
from tensat_dl.graph.reading.opaque_types import OpaqueTypes
from tensat_dl.graph.reading.outside import Outside
from tensat_dl.graph.reading.readable import require_readable
from tensat_dl.graph.source import (
    Improved,
    LiftedNode,
    Source,
    load_source,
    opset_imports,
    plain_domain,
)
from tensat_dl.graph.stored import Contents, note_content
from tensat_dl.graph.structure import initializer_names, read_by, sorted_nodes
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.graph.training import trained_names
from tensat_dl.settings import ModelSettings
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.protos import type_of
from tensat_dl.vocabulary.types import ABSENT, UNDECLARED, TensorType, Type

if TYPE_CHECKING:
    import onnx_ir

#: Before this version ONNX operators broadcast by attribute; nothing older is lifted.
OLDEST_LIFTED = 7

#: Gives an opaque node, by it and the types of its inputs, an operator that is known elsewhere.
Declared = Callable[[Node, tuple[Type, ...]], TypedNode | None]


def read_model(
    model: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    settings: ModelSettings,
    declared: Declared = lambda node, types: None,
    *,
    doubted: bool = False,
    improve: Improve | None = None,
) -> Graph:
    """The graph of a model; `doubted`: its declarations are believed of inputs alone; `improve`:
    what makes the bodies of control flow better.

    Raises InputError, and UsageError for dims it does not have.
    """
    source = load_source(model)
    require_readable(source.proto, str(source.path or "the model"))
    frozen = settings.freeze_initializers
    doubted = doubted or source.doubted
    source = replace(source, dims=settings.dims, frozen=frozen, doubted=doubted)
    return _read(source, declared, improve)


def _read(source: Source, declared: Declared, improve: Improve | None = None) -> Graph:
    order = sorted_nodes(source.proto.graph)
    reading = _Reading(source, declared)
    reading.read(order)
    if reading.conditionals and reading.faults:
        whole = _Reading(source, declared, inlines=False)
        whole.read(order)
        if whole.faults < reading.faults:
            reading = whole
    if improve is not None and reading.has_bodies:
        reading = _Reading(source, declared, improve, inlines=reading.inlines)
        reading.read(order)
    return reading.graph()


@dataclass
class _Reading:
    source: Source
    declared: Declared
    improve: Improve | None = None
    inlines: bool = True
    inputs: list[str] = field(default_factory=list)
    constants: dict[str, Constant] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    conditionals: int = 0
    improved: dict[int, Improved] = field(default_factory=dict)
    faults: int = 0
    data: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        proto = self.source.proto
        self.opsets = opset_imports(proto)
        self.fixed: dict[str, Dim] = dict(self.source.dims)
        self.functions = function_bodies(proto)
        names = Names(value_names(proto.graph))
        self.made: list[onnx.NodeProto] = []
        self.inliner = Inliner(names, set(outer_names(proto.graph)))
        self.outside = Outside(self.source, self.types, self.constants, names)
        self.lifter = Lifter(proto, names, self.constants, self.types)
        self.declared_types = self._believed(proto.graph.value_info)
        self.opaque_types = OpaqueTypes(
            proto,
            self.declared_types,
            self._believed(proto.graph.output),
            self.fixed,
            self.source.doubted,
        )
        version = self.opsets.get("", OLDEST_LIFTED)
        if version < OLDEST_LIFTED:
            self.warnings.append(
                f"the model uses ai.onnx {version}; rules apply from {OLDEST_LIFTED} on, "
                "so it passes through as it is"
            )

    def _believed(self, values: Iterable[onnx.ValueInfoProto]) -> dict[str, onnx.TypeProto]:
        """Their declared types, by name."""
        return {} if self.source.doubted else {value.name: value.type for value in values}

    def read(self, order: Sequence[int]) -> None:
        """Everything, the nodes in this order."""
        self.add_inputs()
        self.add_initializers()
        for index in order:
            self.add_node(index)

    def add_inputs(self) -> None:
        initializers = set(initializer_names(self.source.proto.graph))
        overridable = self.source.proto.ir_version >= 4 and not self.source.frozen
        for value in self.source.proto.graph.input:
            if value.name not in initializers or overridable:
                self.inputs.append(value.name)
                self.types[value.name] = type_of(named_dims(value), value.name, self.fixed)
        if not self.source.frozen:
            self._add_trained()
        self._check_fixed_dims()

    def _add_trained(self) -> None:
        trained = trained_names(self.source.proto)
        for tensor in self.source.proto.graph.initializer:
            if tensor.name in trained and tensor.name not in self.types:
                self.inputs.append(tensor.name)
                self.types[tensor.name] = TensorType(element_type(tensor), tuple(tensor.dims))

    def add_initializers(self) -> None:
        graph = self.source.proto.graph
        given, known = set(self.inputs), self.source.known_data
        self._warn_of_repeated_initializers()
        for tensor in initializer_map(graph).values():
            if tensor.name not in given:
                raw = known.get(tensor.name)
                constant = constant_of_tensor(tensor, self.source.folder, tensor.name, raw)
                self._add_constant(tensor.name, constant)
        for sparse in graph.sparse_initializer:
            if sparse.values.name not in given:
                self._add_constant(sparse.values.name, constant_of_sparse(sparse))

    def _warn_of_repeated_initializers(self) -> None:
        """onnxruntime takes the last of a name; so does everything here."""
        counts = Counter(tensor.name for tensor in self.source.proto.graph.initializer)
        self.warnings += [
            f"initializer '{name}' is defined {count} times; as in onnxruntime, the last one counts"
            for name, count in counts.items()
            if count > 1
        ]

    def add_node(self, index: int) -> None:
        self._add_node(self.source.proto.graph.node[index], index)

    def _add_node(self, proto: onnx.NodeProto, index: int) -> None:
        constant = constant_node_value(proto, self.source.folder)
        if constant is not None:
            self._add_constant(proto.output[0], constant)
            return
        condition = self._known_condition(proto)
        if condition is not None:
            self._inline(proto, branch_of(proto, condition))
            return
        proto, index = self._with_simple_branches(proto, index)
        proto, index = self._with_better_bodies(proto, index)
        if not self._is_opaque(proto) and self._add_lifted(proto, index):
            return
        node = self.lifter.opaque(proto, index)
        inputs = tuple(self.types[name] if name else ABSENT for name in node.inputs)
        known = self.declared(node, inputs)
        if known is not None:
            self._append(*known)
            return
        self._append(
            node, self.opaque_types.infer(_with_outputs(proto, node), self.types, self.constants)
        )

    def graph(self) -> Graph:
        proto = self.source.proto
        lifted = {node.index: self._record(node) for node in self.nodes}
        return Graph(
            inputs=tuple(self.inputs),
            constants=self.constants,
            nodes=tuple(self.nodes),
            outputs=tuple(Output(value.name, value.name) for value in proto.graph.output),
            types=self.types,
            opsets=self.opsets,
            source=replace(
                self.source,
                lifted=lifted,
                made=tuple(self.made),
                warnings=tuple(self.warnings),
                believed=tuple(self.opaque_types.believed),
                conditionals=self.conditionals,
                improved=self.improved,
                contents=Contents(proto, self.data),
            ),
        )

    def _known_condition(self, proto: onnx.NodeProto) -> bool | None:
        """Which branch an `If` takes, where that follows from constants and shapes."""
        if not self.inlines or not is_conditional(proto) or self._is_opaque(proto):
            return None
        type_ = self.types.get(proto.input[0]) if proto.input else None
        if not isinstance(type_, TensorType):
            return None
        value = type_.value
        if value is None:
            computed = compute(self.graph(), proto.input[0])
            value = computed.value if computed is not None else None
        known = value is not None and len(value) == 1 and isinstance(value[0], bool | int)
        return bool(value[0]) if known and value is not None else None

    def _with_simple_branches(
        self, proto: onnx.NodeProto, index: int
    ) -> tuple[onnx.NodeProto, int]:
        """An `If` that stays, with what is known inside it."""
        if not is_conditional(proto) or self._is_opaque(proto):
            return proto, index
        branches = Branches(self.outside, self._read_body)
        simple, count = branches.simplified(proto)
        if not count:
            return proto, index
        self.conditionals += count
        return simple, self._add_made(simple)

    def _with_better_bodies(self, proto: onnx.NodeProto, index: int) -> tuple[onnx.NodeProto, int]:
        """A node of control flow, its bodies improved where that is asked for."""
        if self.improve is None or not subgraphs(proto) or self._is_opaque(proto):
            return proto, index
        outside = replace(self.outside, types=self._sure_types(proto))
        bodies = Bodies(outside, self._reads, self._read_body, self.improve)
        found = bodies.improved(proto)
        if found is None:
            return proto, index
        better, improved = found
        index = self._add_made(better)
        self.improved[index] = improved
        return better, index

    @property
    def has_bodies(self) -> bool:
        """Some node is control flow."""
        proto = self.source.proto.graph
        return any(subgraphs(node) for node in (*proto.node, *self.made))

    def _sure_types(self, proto: onnx.NodeProto) -> Mapping[str, Type]:
        """Of what the node reads, the types that hold whatever the model declares: no sample of
        the whole model need go into a body, and show that it is wrong."""
        names = dict.fromkeys(filter(None, (*proto.input, *captured_by(proto))))
        if not self.opaque_types.believed:
            return {name: self.types[name] for name in names}
        return {name: self._doubted_types.get(name, UNDECLARED) for name in names}

    @cached_property
    def _doubted_types(self) -> Mapping[str, Type]:
        """Types that no declaration has a part in, but those of the model's inputs."""
        return _read(replace(self.source, doubted=True), self.declared).types

    @cached_property
    def _reads(self) -> Counter[str]:
        """How often the model reads each value."""
        graph = self.source.proto.graph
        return Counter([*read_by(graph.node), *(value.name for value in graph.output)])

    def _read_body(self, source: Source) -> Graph:
        return _read(source, self.declared)

    def _add_made(self, proto: onnx.NodeProto) -> int:
        """The index of a node that the model does not have as it is."""
        self.made.append(proto)
        return len(self.source.proto.graph.node) + len(self.made) - 1

    def _inline(self, proto: onnx.NodeProto, branch: onnx.GraphProto) -> None:
        self.conditionals += 1
        inlined = self.inliner.inline(proto, branch)
        for tensor in inlined.initializers:
            self._add_constant(tensor.name, constant_of_tensor(tensor, self.source.folder))
        for sparse in inlined.sparse:
            constant = constant_of_sparse(sparse)
            self._add_constant(sparse.values.name, replace(constant, source_name=None))
        if not self.source.doubted:
            self.declared_types.update(inlined.declared)
        self.lifter.read |= set(read_by(inlined.nodes))
        for node in inlined.nodes:
            self._add_node(node, self._add_made(node))

    def _record(self, node: Node) -> LiftedNode:
        types = tuple(ABSENT if name is None else self.types[name] for name in node.inputs)
        constants = (self.constants.get(name or "") for name in node.inputs)
        return LiftedNode(node, types, tuple(c.digest if c else None for c in constants))

    def _add_lifted(self, proto: onnx.NodeProto, index: int) -> bool:
        """False where the node cannot be lifted or has no type as lifted."""
        lifted = self.lifter.lift(proto, index)
        if lifted is None:
            return False
        if isinstance(lifted, str):
            self.warnings.append(lifted)
            self.faults += 1
            return False
        self._append(*lifted)
        return True

    def _append(self, node: Node, types: tuple[Type, ...]) -> None:
        self.nodes.append(node)
        self.types.update(zip(node.outputs, types, strict=True))

    def _add_constant(self, name: str, constant: Constant) -> None:
        self.constants[name] = constant
        self.types[name] = constant.type
        note_content(self.data, name, constant.load)

    def _is_opaque(self, proto: onnx.NodeProto) -> bool:
        if called_function(proto) in self.functions:
            return True
        return not plain_domain(proto.domain) and self.opsets.get("", OLDEST_LIFTED) < OLDEST_LIFTED

    def _check_fixed_dims(self) -> None:
        known = {
            dim.dim_param
            for value in self.source.proto.graph.input
            for dim in tensor_dims(named_dims(value))
            if dim.dim_param
        }
        for name in self.fixed:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise UsageError(
                    f"the model has no symbolic dim '{name}'", help=f"it has: {listed}"
                )


def _with_outputs(proto: onnx.NodeProto, node: Node) -> onnx.NodeProto:
    """The node with a name for every output."""
    if all(proto.output):
        return proto
    named = onnx.NodeProto()
    named.CopyFrom(proto)
    del named.output[:]
    named.output.extend(node.outputs)
    return named
