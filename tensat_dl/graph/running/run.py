"""Running a model: in onnxruntime without its optimisations, or in ONNX's reference evaluator.

Enters: a :class:`Source`.  Leaves: a :class:`Runner`, or :class:`CannotRun` with the reason.
Inputs and outputs have element types that numpy arrays can carry, see `plain`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.light import with_weights_as_inputs
from tensat_dl.graph.links import followed, with_data_inside
from tensat_dl.graph.running.beside import Divided, divide
from tensat_dl.graph.running.plain import plain_interface
from tensat_dl.graph.running.steady import steady_part
from tensat_dl.graph.source import Source, opset_imports
from tensat_dl.graph.tensors import is_too_large
from tensat_dl.resources import temporary_prefix

Feeds = Mapping[str, Any]


class CannotRun(Exception):
    """The model cannot be loaded or run here; the text says why, in one line."""


class Unsupported(CannotRun):
    """It runs into an operator that the runtime has no code for, at these types and sizes."""


class Runner(Protocol):
    """Something that computes all graph outputs."""

    @property
    def name(self) -> str:
        """What runs it, for messages."""
        ...

    def run(self, feeds: Feeds) -> list[Any]:
        """The outputs in order.  Raises CannotRun."""
        ...


@dataclass(frozen=True)
class OrtRunner:
    """A session of onnxruntime; `divided`: the model that it runs, where its large weights are fed
    like inputs; `fed`: these, and what was computed of them."""

    session: Any
    name: str = "onnxruntime"
    divided: Divided | None = None
    fed: Mapping[str, Any] = field(default_factory=dict)

    def run(self, feeds: Feeds) -> list[Any]:
        """The outputs in order."""
        try:
            return list(self.session.run(None, {**self.fed, **feeds}))
        except ort_errors() as error:
            kind = Unsupported if type(error).__name__ == "NotImplemented" else CannotRun
            raise kind(first_line(error)) from None


@dataclass(frozen=True)
class ReferenceRunner:
    """ONNX's reference evaluator: slow, but it knows every ONNX operator."""

    evaluator: Any
    name: str = "the reference evaluator"

    def run(self, feeds: Feeds) -> list[Any]:
        """The outputs in order; what numpy would say of infinities and NaN is no news."""
        try:
            with np.errstate(all="ignore"):
                return list(self.evaluator.run(None, dict(feeds)))
        except _REFERENCE_ERRORS as error:
            kind = Unsupported if isinstance(error, NotImplementedError) else CannotRun
            raise kind(first_line(error)) from None


def open_runner(source: Source, *, also: Sequence[str] = ()) -> OrtRunner:
    """Load a model into onnxruntime, which leaves it as it is; values `also` are outputs too.
    Raises CannotRun."""
    parts = _divided(source)
    if parts is not None:
        try:
            return _with_weights_fed(source, parts, also)
        except CannotRun:
            pass  # it may want its weights to be constant
    return _loaded(source, _plain_options(), also)


def _with_weights_fed(source: Source, parts: Divided, also: Sequence[str]) -> OrtRunner:
    """What the model computes of the weights alone is computed now."""
    proto, fed = parts.fed(), parts.weights
    steady = steady_part(proto, fed, also)
    if steady is not None:
        once = _loaded(replace(source, proto=steady.once), _plain_options())
        made = once.session.get_outputs()
        if all(value.type in _ARRAYS for value in made):
            read = {value.name: fed[value.name] for value in once.session.get_inputs()}
            computed = dict(zip((value.name for value in made), once.run(read), strict=True))
            left = {name: array for name, array in fed.items() if name not in steady.spent}
            proto, fed = steady.rest(computed), {**left, **computed}
    runner = _loaded(replace(source, proto=proto), _plain_options(), also)
    return replace(runner, divided=parts, fed=fed)


#: What onnxruntime calls tensors that are numpy arrays of the same element type.
_ARRAYS = frozenset(
    f"tensor({name})"
    for name in (
        *("float", "double", "float16", "bool"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
)


def try_optimised(source: Source, divided: Divided | None = None) -> None:
    """Load a model as users do, with all optimisations; `divided`: its parts, where they are at
    hand.  Raises CannotRun."""
    options = _plain_options(optimise=True)
    parts = divided or _divided(source)
    _loaded(source if parts is None else replace(source, proto=parts.outside(options)), options)


def try_without_weights(source: Source) -> None:
    """Load what a model computes, large weights made inputs; where that fails, the whole model.
    Raises CannotRun."""
    try:
        open_runner(replace(source, proto=with_weights_as_inputs(source.proto)))
    except CannotRun:
        open_runner(source)


def _divided(source: Source) -> Divided | None:
    return divide(plain_interface(source.proto), source.known_data)


def _plain_options(*, optimise: bool = False) -> Any:
    """Those of a session that runs a few times at most."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimise else level.ORT_DISABLE_ALL
    options.add_session_config_entry(*_NO_COPIES)
    options.add_session_config_entry(*_NO_WAITING)
    return options


@dataclass(frozen=True)
class Loader:
    """Loads models to be timed, as users load them, and keeps the last two: the original need not
    be loaded again for the next candidate.  `threads` 0 is onnxruntime's own choice."""

    threads: int = 0
    _kept: list[tuple[Source, OrtRunner]] = field(default_factory=list)

    def open(self, source: Source) -> OrtRunner:
        """The model, ready to run.  Raises CannotRun."""
        for known, runner in self._kept:
            if known is source:
                return runner
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        if is_too_large(source.proto):
            options.add_session_config_entry(*_NO_COPIES)
        runner = _loaded(source, options)
        self._kept[:] = [*self._kept[-1:], (source, runner)]
        return runner


#: Weights are not packed anew for the kernels, which is slower to run and takes no second copy.
_NO_COPIES = ("session.disable_prepacking", "1")

_PROVIDERS = ["CPUExecutionProvider"]

#: Threads that wait for work do so without a processor, which others may use meanwhile.
_NO_WAITING = ("session.intra_op.allow_spinning", "0")


def _loaded(source: Source, options: Any, also: Sequence[str] = ()) -> OrtRunner:
    options.log_severity_level = 4
    proto, appended = plain_interface(source.proto), _outputs(also)
    if source.folder is not None:
        proto, folder = followed(proto, source.folder)
        source = replace(source, folder=folder)
    try:
        if is_too_large(proto):
            return OrtRunner(_session_of_files(source, proto, options, appended))
        return OrtRunner(_session(source, proto, options, appended))
    except ort_errors() as error:
        raise CannotRun(first_line(error)) from None


def open_reference(source: Source, *, also: Sequence[str] = ()) -> ReferenceRunner:
    """The same in the reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    from tensat_dl.graph.running.reference_operators import corrected_operators

    proto = plain_interface(source.proto)
    corrected = corrected_operators(opset_imports(proto).get("", 0))
    if also:
        shown = copy_model(proto)
        shown.MergeFromString(_outputs(also))
        proto = shown
    try:
        if source.folder is not None:
            proto = with_data_inside(proto, source.folder)
        return ReferenceRunner(ReferenceEvaluator(proto, new_ops=corrected))
    except _REFERENCE_ERRORS as error:
        raise CannotRun(first_line(error)) from None


@cache
def ort_errors() -> tuple[type[Exception], ...]:
    """What onnxruntime raises; its own types derive from Exception alone."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = (value for value in vars(state).values() if isinstance(value, type))
    errors = [kind for kind in own if issubclass(kind, Exception)]
    return (*errors, RuntimeError, ValueError, TypeError)


@cache
def known_operators() -> frozenset[tuple[str, str]]:
    """Domain and name of every operator that onnxruntime or ONNX defines."""
    from onnx.defs import get_all_schemas
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    schemas = [*state.get_all_operator_schema(), *get_all_schemas()]
    return frozenset((schema.domain, schema.name) for schema in schemas)


#: The reference evaluator has no error type of its own: what its numpy code may raise.
_REFERENCE_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    IndexError,
    KeyError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


def first_line(error: Exception) -> str:
    """The message in one line, without onnxruntime's prefix and code."""
    text = str(error).strip() or type(error).__name__
    first = text.splitlines()[0]
    return first.split(" : ", 3)[-1] if first.startswith("[ONNXRuntimeError]") else first


def _outputs(names: Sequence[str]) -> bytes:
    """What makes values outputs when it is appended to a serialised model: messages that follow
    one another are merged, so nothing large is copied."""
    values = [onnx.ValueInfoProto(name=name) for name in names]
    if not values:
        return b""
    return bytes(onnx.ModelProto(graph=onnx.GraphProto(output=values)).SerializeToString())


def _session(source: Source, proto: onnx.ModelProto, options: Any, appended: bytes) -> Any:
    import onnxruntime

    if source.folder is not None:
        key = "session.model_external_initializers_file_folder_path"
        options.add_session_config_entry(key, str(source.folder))
    content = proto.SerializeToString() + appended
    return onnxruntime.InferenceSession(content, options, _PROVIDERS)


def _session_of_files(source: Source, proto: onnx.ModelProto, options: Any, appended: bytes) -> Any:
    """The same of a model that does not fit one message."""
    import onnxruntime

    from tensat_dl.graph.writing.save import write_files

    with tempfile.TemporaryDirectory(prefix=temporary_prefix()) as folder:
        path = Path(folder) / "model.onnx"
        write_files(proto, source.folder, path, external=True)
        with path.open("ab") as file:
            file.write(appended)
        return onnxruntime.InferenceSession(str(path), options, _PROVIDERS)


def input_values(proto: onnx.ModelProto) -> Sequence[onnx.ValueInfoProto]:
    """The graph inputs that must be fed: those without an initializer."""
    given = {tensor.name for tensor in proto.graph.initializer}
    given |= {tensor.values.name for tensor in proto.graph.sparse_initializer}
    return [value for value in proto.graph.input if value.name not in given]
