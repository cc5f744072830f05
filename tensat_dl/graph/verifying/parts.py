"""The parts of two models that can be run, where operators that nothing here knows are in between.

Enters: both models and the types of the original's values.  Leaves: both models cut at nodes of
unknown operators: what such a node gives is an input of both (drawn at random), what it reads is
an output of both.  Only nodes that were carried along are cut so: those of operators of which
both models have the same nodes.  What depends on any other unknown node, or on one whose outputs
have no known type, is not compared, and named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import onnx
from onnx import helper

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.functions import FunctionKey, called_function, function_bodies
from tensat_dl.graph.names import Names, subgraphs, value_names
from tensat_dl.graph.running.run import known_operators
from tensat_dl.graph.source import Source, plain_domain
from tensat_dl.graph.structure import describe_node, sorted_nodes
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.vocabulary.protos import proto_of
from tensat_dl.vocabulary.types import TensorType, Type


@dataclass(frozen=True)
class Parts:
    """Both models cut, with outputs in the same order; `labels` say what each output is, for
    messages; `missing`: what is not compared."""

    before: Source
    after: Source
    labels: tuple[str, ...]
    missing: tuple[str, ...]


def cut(before: Source, after: Source, types: Mapping[str, Type]) -> Parts | None:
    """The parts; None where there is no unknown operator, or nothing is left to compare."""
    left, right = _Cut(before), _Cut(after)
    if not left.unknown and not right.unknown:
        return None
    pairs = _pairs(left, right)
    for number, (first, second) in enumerate(pairs):
        left.open(first, second, right, number, types)
    left.close()
    right.close()
    labels = [
        (f"output '{value.name}'", value.name, value.name)
        for value in before.proto.graph.output
        if left.has(value.name) and right.has(value.name)
    ]
    labels += [read for pair in pairs for read in _reads_of(pair, left, right)]
    if not labels:
        return None
    compared = {name for _, name, _ in labels}
    missing = [f"output '{v.name}'" for v in before.proto.graph.output if v.name not in compared]
    missing += [describe_node(left.graph.node[i], i) for i in sorted(left.unknown)]
    return Parts(
        left.source([name for _, name, _ in labels]),
        right.source([name for _, _, name in labels]),
        tuple(label for label, _, _ in labels),
        tuple(missing),
    )


@dataclass
class _Cut:
    """One model; `unknown`: positions of nodes nothing here can run; `fed`: what cut nodes give,
    name -> (name of the new input, its type); `lost`: values that cannot be had."""

    whole: Source
    unknown: frozenset[int] = frozenset()
    fed: dict[str, tuple[str, onnx.TypeProto]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        proto = self.whole.proto
        self.graph = proto.graph
        functions = function_bodies(proto)
        self.unknown = frozenset(
            index for index, node in enumerate(self.graph.node) if _is_unknown(node, functions)
        )

    def open(
        self, first: int, second: int, other: _Cut, number: int, types: Mapping[str, Type]
    ) -> None:
        """Feed the outputs of a pair of nodes that were carried along."""
        ours, theirs = self.graph.node[first].output, other.graph.node[second].output
        for place, (name, twin) in enumerate(zip(ours, theirs, strict=False)):
            type_ = types.get(name)
            if name and twin and isinstance(type_, TensorType) and type_.dims is not None:
                proto = proto_of(type_)
                if proto is not None:
                    self.fed[name] = other.fed[twin] = (f"cut.{number}.{place}", proto)

    def close(self) -> None:
        """Find what is lost: what depends on outputs of unknown nodes that are not fed."""
        for index in sorted_nodes(self.graph):
            node = self.graph.node[index]
            reads = {*node.input, *captured_by(node)}
            if index in self.unknown:
                self.lost.update(name for name in node.output if name not in self.fed)
            elif not self.lost.isdisjoint(reads - {""}):
                self.lost.update(node.output)

    def has(self, name: str) -> bool:
        return name not in self.lost

    def source(self, outputs: Sequence[str]) -> Source:
        """The model without unknown nodes and what is lost; `outputs` are copied to new names."""
        proto = copy_model(self.whole.proto, skip=("node", "output", "value_info"))
        graph = proto.graph
        names = Names(value_names(self.graph))
        known = {value.name: value for value in self.graph.output}
        for name, (given, type_) in self.fed.items():
            graph.input.add(name=given, type=type_)
            graph.node.append(helper.make_node("Identity", [given], [name]))
        for index in sorted_nodes(self.graph):
            node = self.graph.node[index]
            if index not in self.unknown and self.lost.isdisjoint(filter(None, node.output)):
                graph.node.append(node)
        for number, name in enumerate(outputs):
            shown = names.fresh(f"part.{number}")
            graph.node.append(helper.make_node("Identity", [name], [shown]))
            value = graph.output.add(name=shown)
            if name in known:
                value.type.CopyFrom(known[name].type)
        return Source(proto, folder=self.whole.folder, frozen=self.whole.frozen)


def _reads_of(pair: tuple[int, int], left: _Cut, right: _Cut) -> Iterator[tuple[str, str, str]]:
    """What a pair of nodes reads: label, name in either model."""
    first, second = left.graph.node[pair[0]], right.graph.node[pair[1]]
    reads = [*first.input, *captured_by(first)], [*second.input, *captured_by(second)]
    for place, (name, twin) in enumerate(zip(*reads, strict=False)):
        if name and twin and left.has(name) and right.has(twin):
            yield f"input {place} of {describe_node(first, pair[0])}", name, twin


def _pairs(left: _Cut, right: _Cut) -> list[tuple[int, int]]:
    """Unknown nodes that are in both models; all of an operator's, or none of them."""
    found: list[tuple[int, int]] = []
    ours, theirs = _by_operator(left), _by_operator(right)
    for operator, positions in ours.items():
        twins = {_key(right.graph.node[i]): i for i in theirs.get(operator, ())}
        keys = [_key(left.graph.node[i]) for i in positions]
        if len(twins) == len(positions) == len(set(keys)) and twins.keys() == set(keys):
            found += [(i, twins[key]) for i, key in zip(positions, keys, strict=True)]
    return sorted(found)


def _by_operator(model: _Cut) -> Mapping[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index in sorted(model.unknown):
        node = model.graph.node[index]
        found[plain_domain(node.domain), node.op_type].append(index)
    return found


def _key(node: onnx.NodeProto) -> tuple[str, ...]:
    """What tells nodes of one operator apart: the name, else the outputs."""
    return (node.name,) if node.name else tuple(node.output)


def _is_unknown(
    node: onnx.NodeProto, functions: Mapping[FunctionKey, Sequence[onnx.NodeProto]]
) -> bool:
    inner = functions.get(called_function(node))
    if inner is None and (plain_domain(node.domain), node.op_type) not in known_operators():
        return True
    bodies = [*(inner or ()), *(n for graph in subgraphs(node) for n in graph.node)]
    return any(_is_unknown(called, functions) for called in bodies)
