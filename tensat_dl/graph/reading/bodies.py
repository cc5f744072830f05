"""The bodies of `If`, `Loop` and `Scan`, each made better as a model of its own.

Enters: a node of control flow, what is known outside, and what makes a better graph of a model.
Leaves: the same node with better bodies.  What a body is given has the types that follow from
outside, not those that it declares.  Of what a loop carries that is the type at its beginning,
where an iteration keeps it: so it holds for all.  A dim that an iteration may change is unknown.
What the body never reads may change its rank, too: conditions often go from [1] to a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

import onnx

from tensat_dl.graph.model import Constant, Graph
from tensat_dl.graph.names import operators, subgraphs
from tensat_dl.graph.reading.outside import Outside
from tensat_dl.graph.source import Improved, Source, opset_imports, plain_domain
from tensat_dl.graph.structure import read_by
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.protos import proto_of
from tensat_dl.vocabulary.types import UNDECLARED, TensorType, Type

#: A better graph of a model, None where there is none.
Improve = Callable[[Source], Graph | None]

#: Captured constants of at most this many bytes (biases, scales) are shown to every body that reads
#: them; larger ones to a body that alone does, since what it makes of one is stored beside it.
_SHOWN_BYTES = 1 << 16
#: How the symbols of dims begin that are not known, and those that need not equal themselves.
_UNKNOWN, _AMBIGUOUS = "?", "??"
#: Passes until the types of what a loop carries must be stable.
_PASSES = 5
#: A body of fewer nodes has nothing to gain.
_LEAST_NODES = 2
#: The first version of Scan that has no batch.
_PLAIN_SCAN = 9


@dataclass(frozen=True)
class _Given:
    """The types of a body's inputs; `carried`: (input, output) by place of what an iteration hands
    to the next one."""

    types: tuple[Type, ...] = ()
    carried: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Bodies:
    """`reads`: how often outer values are read; `read` reads a model, `improve` makes it better."""

    outside: Outside
    reads: Mapping[str, int]
    read: Callable[[Source], Graph]
    improve: Improve

    def improved(self, node: onnx.NodeProto) -> tuple[onnx.NodeProto, Improved] | None:
        """The node with those of its bodies improved that can be; None where none can."""
        given = _given(node, self.outside)
        if given is None:
            return None
        result = onnx.NodeProto()
        result.CopyFrom(node)
        bodies = [each for each in subgraphs(result) if len(each.node) >= _LEAST_NODES]
        changed = [(body, new) for body in bodies if (new := self._better(body, given)) is not None]
        before = sum(sum(1 for _ in operators(body)) for body, _ in changed)
        for body, new in changed:
            body.CopyFrom(new)
        after = sum(sum(1 for _ in operators(body)) for body, _ in changed)
        return (result, Improved(node, len(changed), before, after)) if changed else None

    def _better(self, body: onnx.GraphProto, given: _Given) -> onnx.GraphProto | None:
        model = self._model_of(body, given)
        graph = None if model is None else self.improve(model)
        if graph is None:
            return None
        written = build_proto(graph)
        if opset_imports(written) != opset_imports(self.outside.whole.proto):
            return None  # a domain that the model around it does not import
        return self.outside.taken_back(written.graph, body)

    def _model_of(self, body: onnx.GraphProto, given: _Given) -> Source | None:
        """The body as a model, with the types of its inputs and outputs."""
        model = self.outside.model_of(body, self._is_shown)
        outputs = 1 + max((output for _, output in given.carried), default=-1)
        if model is None or len(body.input) != len(given.types) or len(body.output) < outputs:
            return None
        loose: set[tuple[int, int]] = set()
        known: dict[str, str] = {}
        for _ in range(_PASSES):
            if not _write_types(model.proto.graph, given.types):
                return None
            _name_dims(model.proto.graph, loose, known)
            graph = self.read(model)
            changing = _changing(graph, body, given)
            if changing is None or graph.source.warnings:
                return None
            if changing <= loose:
                return model if _write_outputs(model.proto.graph, graph) else None
            loose |= changing
        return None

    def _is_shown(self, name: str, constant: Constant) -> bool:
        return constant.nbytes <= _SHOWN_BYTES or self.reads.get(name, 0) == 1


def _given(node: onnx.NodeProto, outside: Outside) -> _Given | None:
    """What the bodies of a node are given; None for other operators than ONNX's own."""
    if plain_domain(node.domain):
        return None
    types = [outside.types[name] if name else UNDECLARED for name in node.input]
    match node.op_type:
        case "If":
            return _Given()
        case "Loop":
            return _given_loop(node, types)
        case "Scan" if opset_imports(outside.whole.proto).get("", 1) >= _PLAIN_SCAN:
            return _given_scan(node, types)
    return None


def _given_loop(node: onnx.NodeProto, types: list[Type]) -> _Given:
    """The number of the iteration and the condition, which have the rank that the body declares;
    then what is carried."""
    body = subgraphs(node)[0]
    first = zip((DType.I64, DType.BOOL), body.input, strict=False)
    counters = [TensorType(dtype, (1,) * _declared_rank(value)) for dtype, value in first]
    carried = types[2:]
    pairs = ((place + 2, place + 1) for place in range(len(carried)))
    return _Given((*counters, *carried), ((1, 0), *pairs))


def _given_scan(node: onnx.NodeProto, types: list[Type]) -> _Given | None:
    """What is carried; then a slice of each sequence, without the axis along which it is cut."""
    attributes = {each.name: each for each in node.attribute}
    sequences = attributes["num_scan_inputs"].i if "num_scan_inputs" in attributes else 0
    states = len(types) - sequences
    axes = list(attributes["scan_input_axes"].ints) if "scan_input_axes" in attributes else []
    axes = axes or [0] * sequences
    if not 0 < sequences <= len(types) or len(axes) != sequences:
        return None
    slices = []
    for type_, axis in zip(types[states:], axes, strict=True):
        if not isinstance(type_, TensorType) or type_.dims is None:
            return None
        if not -len(type_.dims) <= axis < len(type_.dims):
            return None
        dims = list(type_.dims)
        del dims[axis]
        slices.append(TensorType(type_.dtype, tuple(dims)))
    pairs = tuple((place, place) for place in range(states))
    return _Given((*types[:states], *slices), pairs)


def _declared_rank(value: onnx.ValueInfoProto) -> int:
    return sum(1 for _ in value.type.tensor_type.shape.dim)


def _write_types(body: onnx.GraphProto, types: tuple[Type, ...]) -> bool:
    """Give the first inputs these types; False where ONNX cannot say one."""
    for value, type_ in zip(body.input, types, strict=False):
        proto = proto_of(type_)
        if proto is None:
            return False
        value.type.CopyFrom(proto)
    return True


def _name_dims(body: onnx.GraphProto, loose: set[tuple[int, int]], known: dict[str, str]) -> None:
    """Give names that nothing else has to dims of inputs that have none, to those that are `loose`,
    and to those whose name need not mean the same twice; `known` are names given before."""
    dims = [
        (place, axis, dim)
        for place, value in enumerate(body.input)
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
    ]
    texts = " ".join((*(dim.dim_param for _, _, dim in dims), *known.values()))
    fresh = (name for n in count() if (name := f"inside_{n}") not in texts)
    for place, axis, dim in dims:
        if (place, axis) in loose or _AMBIGUOUS in dim.dim_param:
            dim.dim_param = next(fresh)
        elif dim.dim_param.startswith(_UNKNOWN):
            if dim.dim_param not in known:
                known[dim.dim_param] = next(fresh)
            dim.dim_param = known[dim.dim_param]


def _write_outputs(body: onnx.GraphProto, graph: Graph) -> bool:
    """Give the outputs the types that follow; False where one is not known."""
    for value, output in zip(body.output, graph.outputs, strict=True):
        proto = proto_of(graph.type_of(output.value))
        if proto is None:
            return False
        value.type.CopyFrom(proto)
    return True


def _changing(graph: Graph, body: onnx.GraphProto, given: _Given) -> set[tuple[int, int]] | None:
    """The dims, by input and axis, that an iteration may change; None where it may change more of
    what the body reads."""
    found: set[tuple[int, int]] = set()
    read = {*read_by(body.node), *(value.name for value in body.output)}
    for place, output in given.carried:
        name = body.input[place].name
        axes = _differing(graph.types[name], graph.type_of(graph.outputs[output].value))
        if axes is None and name in read:
            return None
        found.update((place, axis) for axis in axes or ())
    return found


def _differing(before: Type, after: Type) -> Iterator[int] | None:
    """The axes at which the dims differ; None where element type or rank do."""
    if not isinstance(before, TensorType) or not isinstance(after, TensorType):
        return iter(()) if before == after else None
    if before.dtype != after.dtype:
        return None
    if before.dims is None or after.dims is None:
        return iter(()) if before.dims == after.dims else None
    if len(before.dims) != len(after.dims):
        return None
    pairs = enumerate(zip(before.dims, after.dims, strict=True))
    return (axis for axis, (left, right) in pairs if left != right)
