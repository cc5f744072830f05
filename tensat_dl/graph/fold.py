"""Folding: what depends on constants alone is computed now and becomes a constant.

Enters: a graph.  Leaves: an equal one.  Folded are deterministic operators of ONNX, in
onnxruntime without its optimisations, else in the reference evaluator; never quantisation
(folding it would undo it), control flow, or operators nobody knows.  The constants that
appear, less those that are no longer needed, may add up to a budget of bytes; where they would
exceed it, the values that add most stay computed, and what they are computed from is folded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx

from tensat_dl.graph.constants import constant_of_array, constant_type, numpy_type
from tensat_dl.graph.model import Constant, Graph, Node, Output
from tensat_dl.graph.prune import live_nodes, remove_dead
from tensat_dl.graph.run import CannotRun, Runner, open_reference, open_runner
from tensat_dl.graph.source import Source
from tensat_dl.graph.write import build_proto
from tensat_dl.settings import ExportSettings
from tensat_dl.vocabulary.catalog import VERSIONS
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import TensorType

_NEVER = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"))

#: Constants of more bytes are fed to the runtime instead of being copied into the model.
_FED_BYTES = 4096


def fold_constants(graph: Graph, settings: ExportSettings) -> Graph:
    """The graph with its constant parts computed, within the budget; dead code is removed."""
    clean = remove_dead(graph)
    foldable = _foldable_nodes(clean)
    if not foldable:
        return clean
    choice = _Choice.of(clean, foldable, _budget(clean, settings))
    computed = evaluate(clean, choice.frontier())
    return _replaced(clean, choice, computed)


def evaluate(graph: Graph, names: Sequence[str]) -> dict[str, Constant]:
    """The constants that are the values of `names`, all of which depend on constants alone.

    Values that nothing here can compute are left out.
    """
    tensors = [name for name in names if _is_foldable_type(graph.types.get(name))]
    computed = _evaluate_together(graph, tensors)
    if computed is None:
        single = (_evaluate_together(graph, [name]) for name in tensors)
        computed = {name: array for found in single if found for name, array in found.items()}
    constants = ((name, _checked(graph, name, array)) for name, array in computed.items())
    return {name: constant for name, constant in constants if constant is not None}


def _budget(graph: Graph, settings: ExportSettings) -> int:
    size = sum(constant.nbytes for constant in graph.constants.values())
    return max(settings.fold_bytes, int(settings.fold_ratio * size))


def _foldable_nodes(graph: Graph) -> frozenset[int]:
    """Positions of the nodes that could be computed now."""
    known = set(graph.constants)
    found = set()
    for position, node in enumerate(graph.nodes):
        if _may_fold(node) and all(name is None or name in known for name in node.inputs):
            found.add(position)
            known.update(node.outputs)
    return frozenset(found)


def _may_fold(node: Node) -> bool:
    operator = node.operator
    return (
        operator.kind is OperatorKind.ONNX
        and operator.deterministic
        and operator.name not in _NEVER
        and not _trains(node)
    )


def _trains(node: Node) -> bool:
    """Dropout that may be in training mode is random."""
    return node.operator.name == "Dropout" and len(node.inputs) > 2 and node.inputs[2] is not None


def _is_foldable_type(type_: object) -> bool:
    return isinstance(type_, TensorType) and type_.dtype is not DType.STRING


@dataclass
class _Choice:
    """Which foldable nodes are folded.  `kept` ones are not, though they could be."""

    graph: Graph
    foldable: frozenset[int]
    kept: set[int]

    @staticmethod
    def of(graph: Graph, foldable: frozenset[int], budget: int) -> _Choice:
        """Keep the nodes that add most until the rest fits the budget."""
        choice = _Choice(graph, foldable, set())
        for position in foldable:
            if not all(
                _is_foldable_type(graph.types.get(n)) for n in graph.nodes[position].outputs
            ):
                choice.kept.add(position)
        choice._keep_larger_than(budget)
        while choice._growth() > budget and (worst := choice._worst()) is not None:
            choice.kept.add(worst)
        return choice

    def folded(self) -> frozenset[int]:
        """Nodes that disappear: all they depend on is folded too, as nothing kept is before."""
        unknown: set[str | None] = set()
        found = set()
        for position, node in enumerate(self.graph.nodes):
            if position not in self.foldable:
                continue
            if position in self.kept or not unknown.isdisjoint(node.inputs):
                unknown.update(node.outputs)
            else:
                found.add(position)
        return frozenset(found)

    def frontier(self) -> tuple[str, ...]:
        """Values of folded nodes that the rest of the graph reads, in order."""
        folded = self.folded()
        read = self._read_outside(folded)
        made = (name for p in sorted(folded) for name in self.graph.nodes[p].outputs)
        return tuple(name for name in made if name in read)

    def _read_outside(self, folded: frozenset[int]) -> set[str | None]:
        read: set[str | None] = {output.value for output in self.graph.outputs}
        for position, node in enumerate(self.graph.nodes):
            if position not in folded:
                read.update(node.inputs)
        return read

    def _growth(self) -> int:
        folded = self.folded()
        read = self._read_outside(folded)
        freed = sum(c.nbytes for name, c in self.graph.constants.items() if name not in read)
        return sum(_size(self.graph, name) for name in self.frontier()) - freed

    def _keep_larger_than(self, budget: int) -> None:
        """Nodes whose outputs alone exceed the budget and everything they are made from."""
        for position in sorted(self.foldable):
            node = self.graph.nodes[position]
            made = max((_size(self.graph, name) for name in node.outputs), default=0)
            if made > budget + self._constant_bytes():
                self.kept.add(position)

    def _constant_bytes(self) -> int:
        return sum(constant.nbytes for constant in self.graph.constants.values())

    def _worst(self) -> int | None:
        """The folded node whose values on the frontier add most."""
        folded = self.folded()
        makers = {n: p for p in folded for n in self.graph.nodes[p].outputs}
        outside = self._read_outside(folded)
        added = [
            (_size(self.graph, name) - self._freed_by(name, makers, outside), name)
            for name in self.frontier()
        ]
        return makers[max(added)[1]] if added else None

    def _freed_by(self, name: str, makers: Mapping[str, int], outside: set[str | None]) -> int:
        """Bytes of the constants that `name` is made from and nothing outside reads."""
        waiting, seen = [name], {name}
        while waiting:
            maker = makers.get(waiting.pop())
            reads = self.graph.nodes[maker].inputs if maker is not None else ()
            new = [read for read in reads if read is not None and read not in seen]
            waiting += new
            seen.update(new)
        constants = self.graph.constants
        return sum(constants[n].nbytes for n in seen if n in constants and n not in outside)


def _size(graph: Graph, name: str) -> int:
    """Bytes of a value; 0 where it is not known before it is computed."""
    type_ = graph.types.get(name)
    if not isinstance(type_, TensorType) or type_.dims is None:
        return 0
    numbers = [dim for dim in type_.dims if isinstance(dim, int)]
    if len(numbers) < len(type_.dims):
        return 0
    return (math.prod(numbers) * type_.dtype.bits + 7) // 8


def _replaced(graph: Graph, choice: _Choice, computed: Mapping[str, Constant]) -> Graph:
    """Put the constants in; nodes whose values could not be computed stay."""
    nodes = tuple(node for node in graph.nodes if not set(node.outputs) & set(computed))
    constants = {**graph.constants, **computed}
    types = {**graph.types, **{name: constant_type(c) for name, c in computed.items()}}
    return remove_dead(replace(graph, nodes=nodes, constants=constants, types=types))


def _checked(graph: Graph, name: str, array: Any) -> Constant | None:
    """The constant, unless it contradicts the type that was inferred."""
    type_ = graph.types[name]
    if not isinstance(type_, TensorType):
        return None
    plain = np.asarray(array).astype(numpy_type(type_.dtype))
    constant = constant_of_array(plain)
    dims = type_.dims or constant.dims
    same = len(dims) == len(constant.dims) and all(
        not isinstance(dim, int) or dim == size
        for dim, size in zip(dims, constant.dims, strict=True)
    )
    return constant if same else None


def _evaluate_together(graph: Graph, names: Sequence[str]) -> dict[str, Any] | None:
    """Name -> array of all `names`, or None where some of them cannot be computed."""
    if not names:
        return {}
    part = _part(graph, names)
    fed = {
        name: constant
        for name, constant in part.constants.items()
        if constant.nbytes > _FED_BYTES and _is_plain(constant.dtype)
    }
    proto = build_proto(_with_inputs(part, fed))
    feeds = {name: np.asarray(constant.load()) for name, constant in fed.items()}
    for opener in (open_runner, open_reference):
        try:
            runner: Runner = opener(Source(proto, folder=graph.source.folder))
            return dict(zip(names, runner.run(feeds), strict=True))
        except CannotRun:
            continue
    return None


def _part(graph: Graph, names: Sequence[str]) -> Graph:
    nodes = live_nodes(graph.nodes, names)
    read = {name for node in nodes for name in node.inputs} | set(names)
    constants = {name: c for name, c in graph.constants.items() if name in read}
    plain = onnx.ModelProto(ir_version=10)
    plain.functions.extend(graph.source.proto.functions)
    return Graph(
        inputs=(),
        constants=constants,
        nodes=tuple(replace(node, index=-1) for node in nodes),
        outputs=tuple(Output(name, name) for name in names),
        types=graph.types,
        opsets={**graph.opsets, **VERSIONS},
        source=Source(plain, folder=graph.source.folder),
    )


def _with_inputs(graph: Graph, fed: Iterable[str]) -> Graph:
    given = tuple(fed)
    kept = {name: c for name, c in graph.constants.items() if name not in given}
    return replace(graph, inputs=given, constants=kept)


def _is_plain(dtype: DType) -> bool:
    return numpy_type(dtype).kind in "fiub" and dtype.bits >= 8 and dtype is not DType.BF16
