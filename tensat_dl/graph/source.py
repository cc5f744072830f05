"""Where a graph came from: the ONNX model as it was given, and what is kept of it.

Enters: a path, an `onnx.ModelProto` or an `onnx_ir.Model`.  Leaves: :class:`Source`, whose proto
is never changed.  External data stays on disk; `folder` is where its locations are relative to.
Protos rather than `onnx_ir` objects are kept because they hold everything that ONNX can say
(sparse tensors, quantization annotations, training info), so that nothing is lost on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
from google.protobuf.message import DecodeError

from tensat_dl.errors import InputError, UsageError
from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.model import Node
from tensat_dl.graph.stored import Contents
from tensat_dl.reading import UnreadableError, bytes_of
from tensat_dl.vocabulary.types import Type

if TYPE_CHECKING:
    import onnx_ir


_DOUBTED = "the model declares a wrong type for a value inside it: no such type is believed"


@dataclass(frozen=True)
class LiftedNode:
    """A node as it was read: the types of its inputs, and the digests of those that are
    constants."""

    node: Node
    types: tuple[Type, ...]
    digests: tuple[str | None, ...]


@dataclass(frozen=True)
class Improved:
    """A node whose bodies became better: the node as it was; how many of them, and their nodes
    before and after."""

    given: onnx.NodeProto
    bodies: int
    before: int
    after: int


@dataclass(frozen=True)
class Source:
    """`lifted`: node index -> the node as it was read.  `dims`: symbolic dims that the user
    fixed.  `frozen`: overridable initializers are constants.  `made`: nodes that stand for an `If`
    whose condition is constant, or for one with better bodies; their indices follow those of the
    proto's own nodes.  `conditionals`: how many of the first there were; `improved`: index of one
    of the second -> what it was.  `doubted`: the types that the model declares for
    what nodes make are not believed; `believed`: the values for which they are.  `warnings`: for
    the report.  `contents`: what was read of its large tensors already."""

    proto: onnx.ModelProto
    path: Path | None = None
    folder: Path | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    frozen: bool = False
    lifted: Mapping[int, LiftedNode] = field(default_factory=dict)
    made: tuple[onnx.NodeProto, ...] = ()
    warnings: tuple[str, ...] = ()
    conditionals: int = 0
    improved: Mapping[int, Improved] = field(default_factory=dict)
    doubted: bool = False
    believed: tuple[str, ...] = ()
    contents: Contents | None = field(default=None, compare=False, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the report tells of reading."""
        notes = [_DOUBTED] if self.doubted else []
        if count := self.conditionals:
            what = "1 If node takes" if count == 1 else f"{count} If nodes take"
            notes.append(f"{what} the same branch at every run, and became it")
        return tuple(notes)

    @property
    def known_data(self) -> Mapping[str, bytes]:
        """The data of large tensors that needs no second look, by name."""
        return {} if self.contents is None else self.contents.of(self.proto)

    def node(self, index: int) -> onnx.NodeProto:
        """The node as the model has it, or as reading made it."""
        own = self.proto.graph.node
        return own[index] if index < len(own) else self.made[index - len(own)]

    def node_as_given(self, index: int) -> onnx.NodeProto:
        """The node with its bodies as they were."""
        improved = self.improved.get(index)
        return self.node(index) if improved is None else improved.given


def load_source(model: str | Path | onnx.ModelProto | onnx_ir.Model | Source) -> Source:
    """Read a model, or wrap one that is in memory.  Raises InputError and UsageError."""
    if isinstance(model, Source):
        return model
    if isinstance(model, str | Path):
        return _read_file(Path(model))
    if isinstance(model, onnx.ModelProto):
        _require_graph(model, "the model")
        return Source(model)
    import onnx_ir

    if not isinstance(model, onnx_ir.Model):
        kinds = "a path, an `onnx.ModelProto` or an `onnx_ir.Model`"
        raise UsageError(f"the model is {kinds}, not {type(model).__name__}")
    return Source(onnx_ir.to_proto(model), folder=_folder_of(model))


def with_metadata(source: Source, key: str, text: str) -> Source:
    """The same model with one more entry of metadata; an entry of that key is replaced."""
    proto = copy_model(source.proto)
    kept = [entry for entry in source.proto.metadata_props if entry.key != key]
    del proto.metadata_props[:]
    proto.metadata_props.extend(kept)
    proto.metadata_props.add(key=key, value=text)
    return replace(source, proto=proto)


def opset_imports(proto: onnx.ModelProto) -> dict[str, int]:
    """Domain -> version, with "" for the default domain."""
    return {plain_domain(entry.domain): entry.version for entry in proto.opset_import}


def plain_domain(domain: str) -> str:
    """The default domain has two spellings; "" is ours."""
    return "" if domain == "ai.onnx" else domain


def _read_file(path: Path) -> Source:
    try:
        with bytes_of(path) as content:
            return Source(_parse(path, content), path=path, folder=path.parent)
    except UnreadableError as reason:
        inside = " in it" if path.is_dir() else ""
        help = f"give the path of the ONNX file{inside}"
        raise InputError(f"{path} {reason}", help=help) from None


def _parse(path: Path, content: memoryview) -> onnx.ModelProto:
    if not content:
        raise InputError(f"{path} is empty", help="export the model again")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        raise InputError(
            f"{path} is not an ONNX model, or is cut short: it is not a valid protobuf message",
            help="export or download the model again",
        ) from None
    _require_graph(proto, str(path))
    return proto


def _require_graph(proto: onnx.ModelProto, what: str) -> None:
    if not proto.HasField("graph"):
        raise InputError(
            f"{what} is not an ONNX model: it has no graph",
            help="give a file written by an ONNX exporter",
        )


def _folder_of(model: onnx_ir.Model) -> Path | None:
    import onnx_ir

    tensors = (value.const_value for value in model.graph.initializers.values())
    external = (tensor for tensor in tensors if isinstance(tensor, onnx_ir.ExternalTensor))
    return next((Path(tensor.base_dir) for tensor in external), None)
