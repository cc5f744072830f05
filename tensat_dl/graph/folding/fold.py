"""Folding: what depends on constants alone is computed now and becomes a constant.

Enters: a graph.  Leaves: an equal one.  What is folded `fold_choice` says; it is computed in
onnxruntime without its optimisations, else in the reference evaluator.  What neither can compute,
or what ONNX leaves open, stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import onnx

from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.folding.choice import choose, is_foldable_type, may_fold, needed_values
from tensat_dl.graph.folding.undefined import undefined_values
from tensat_dl.graph.model import Constant, Graph, Node, Output
from tensat_dl.graph.prune import live_nodes, remove_dead
from tensat_dl.graph.running.run import CannotRun, Runner, Unsupported, open_reference, open_runner
from tensat_dl.graph.source import Source
from tensat_dl.graph.stored import numpy_type
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ExportSettings
from tensat_dl.vocabulary.catalog import versions_of
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

#: Constants of more bytes are fed to the runtime instead of being copied into the model.
_FED_BYTES = 4096


def fold_constants(graph: Graph, settings: ExportSettings) -> Graph:
    """The graph with its constant parts computed, within the budget; dead code is removed."""
    clean = remove_dead(graph)
    folded = _chosen(clean, settings)
    if not folded:
        return clean
    wanted = needed_values(clean, folded)
    computed = _constants(clean, wanted)
    failed = set(wanted) - set(computed)
    return _replaced(clean, _without_sources(clean, computed, failed))


def left_by_folding(graph: Graph, settings: ExportSettings) -> tuple[Node, ...]:
    """The nodes that folding leaves, if all can be computed that should."""
    clean = remove_dead(graph)
    folded = _chosen(clean, settings)
    nodes = tuple(node for position, node in enumerate(clean.nodes) if position not in folded)
    return live_nodes(nodes, (output.value for output in graph.outputs))


def _chosen(graph: Graph, settings: ExportSettings) -> frozenset[int]:
    """Positions of the nodes to fold: as the budget allows, but for what ONNX does not define."""
    folded = choose(graph, _budget(graph, settings))
    nodes = [graph.nodes[position] for position in sorted(folded)]
    undefined = undefined_values(graph, nodes, partial(_computed, graph))
    return frozenset(p for p in folded if undefined.isdisjoint(graph.nodes[p].outputs))


def evaluate(graph: Graph, names: Sequence[str]) -> dict[str, Constant]:
    """The constants that are the values of `names`, all of which depend on constants alone.

    Values that nothing here can compute, or that ONNX does not define, are left out.
    """
    nodes = live_nodes(graph.nodes, names)
    undefined = undefined_values(graph, nodes, partial(_computed, graph))
    return _constants(graph, [name for name in names if name not in undefined])


def _constants(graph: Graph, names: Sequence[str]) -> dict[str, Constant]:
    computed = _computed(graph, names)
    constants = ((name, _checked(graph, name, array)) for name, array in computed.items())
    return {name: constant for name, constant in constants if constant is not None}


def _computed(graph: Graph, names: Sequence[str]) -> dict[str, Any]:
    """Name -> array of those of `names` that can be computed."""
    known = {n: graph.constants[n].load() for n in names if n in graph.constants}
    tensors = [n for n in names if n not in known and is_foldable_type(graph.type_of(n))]
    together = _evaluate_together(graph, tensors)
    if together is None:
        single = (_evaluate_together(graph, [name]) for name in tensors)
        together = {name: array for found in single if found for name, array in found.items()}
    return {**known, **together}


def compute(graph: Graph, name: str) -> Constant | None:
    """The value of `name` where it depends on constants alone, by operators that may be folded."""
    if name in graph.constants:
        return graph.constants[name]
    nodes = live_nodes(graph.nodes, [name])
    made = {output for node in nodes for output in node.outputs}
    given = {read for node in nodes for read in node.inputs if read is not None} - made
    if not nodes or not given <= set(graph.constants) or not all(map(may_fold, nodes)):
        return None
    return evaluate(graph, [name]).get(name)


def _budget(graph: Graph, settings: ExportSettings) -> int:
    size = sum(constant.nbytes for constant in graph.constants.values())
    return max(settings.fold_bytes, int(settings.fold_ratio * size))


def _without_sources(
    graph: Graph, computed: Mapping[str, Constant], failed: set[str]
) -> Mapping[str, Constant]:
    """Without what is made on the way to values that could not be computed: those nodes stay."""
    if not failed:
        return computed
    stay = {name for node in live_nodes(graph.nodes, failed) for name in node.outputs}
    return {name: constant for name, constant in computed.items() if name not in stay}


def _replaced(graph: Graph, computed: Mapping[str, Constant]) -> Graph:
    """Put the constants in; nodes whose values could not be computed stay."""
    nodes = tuple(node for node in graph.nodes if computed.keys().isdisjoint(node.outputs))
    constants = {**graph.constants, **computed}
    types = {**graph.types, **{name: c.type for name, c in computed.items()}}
    return remove_dead(replace(graph, nodes=nodes, constants=constants, types=types))


def _checked(graph: Graph, name: str, array: Any) -> Constant | None:
    """The constant, unless it contradicts the type that was inferred."""
    type_ = graph.types[name]
    if not isinstance(type_, TensorType):
        return None
    plain = np.asarray(array).astype(numpy_type(type_.dtype), copy=False)
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
        except CannotRun:
            continue
        try:
            return dict(zip(names, runner.run(feeds), strict=True))
        except Unsupported:
            continue
        except CannotRun:
            return None  # another runtime may take what one refuses, and make up a value
    return None


def _part(graph: Graph, names: Sequence[str]) -> Graph:
    nodes = live_nodes(graph.nodes, names)
    read = {name for node in nodes for name in node.inputs} | set(names)
    constants = {name: c for name, c in graph.constants.items() if name in read}
    plain = onnx.ModelProto(ir_version=10)
    plain.functions.extend(graph.source.proto.functions)
    least = versions_of(node.operator for node in nodes)
    newest = {domain: max(own, graph.opsets.get(domain, 0)) for domain, own in least.items()}
    return Graph(
        inputs=(),
        constants=constants,
        nodes=tuple(replace(node, index=-1) for node in nodes),
        outputs=tuple(Output(name, name) for name in names),
        types=graph.types,
        opsets={**graph.opsets, **newest},
        source=Source(plain, folder=graph.source.folder),
    )


def _with_inputs(graph: Graph, fed: Iterable[str]) -> Graph:
    given = tuple(fed)
    kept = {name: c for name, c in graph.constants.items() if name not in given}
    return replace(graph, inputs=given, constants=kept)


def _is_plain(dtype: DType) -> bool:
    return numpy_type(dtype).kind in "fiub" and dtype.bits >= 8 and dtype is not DType.BF16
