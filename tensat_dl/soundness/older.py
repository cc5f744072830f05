"""A rule in models of other opsets: instances written as such a model has them, and run.

Enters: instances on which a rule held.  Leaves: the opsets that were drawn, and the first
:class:`Departure`.  Rules see the language's form of every operator; here an instance goes the
way of a model: written at an opset at which all of it can be, it is run by ONNX's reference
evaluator, or by onnxruntime without its optimisations.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tensat_dl.errors import TensatError
from tensat_dl.graph.model import Graph
from tensat_dl.graph.running.plain import plain_code
from tensat_dl.graph.running.run import CannotRun, Runner, open_reference, open_runner
from tensat_dl.graph.source import Source
from tensat_dl.graph.stored import numpy_type
from tensat_dl.graph.verifying.compare import Difference, compare, tolerance
from tensat_dl.graph.writing.write import build_source
from tensat_dl.soundness import arithmetic
from tensat_dl.soundness.arithmetic import Array, Unsupported
from tensat_dl.soundness.contents import Style, draw_contents
from tensat_dl.soundness.instances import Instance
from tensat_dl.soundness.recorder import Recorded, record
from tensat_dl.soundness.reference import no_source
from tensat_dl.soundness.subject import Subject
from tensat_dl.vocabulary import catalog, dtypes
from tensat_dl.vocabulary.adapters import NEWEST, OLDEST, lowerable
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType, Type

#: Instances of each rule that are written at another opset, and those that are tried for it.
_MOST = 4
_TRIED = 8
#: How often contents are drawn for one that departs: rounding alone does not each time.
_CONFIRMED = 3
#: What ONNX's reference evaluator computes wrongly below these opsets.
_WRONG_BELOW = {"MaxPool": 10}
#: Some functions of f64 are computed in f32 by runtimes.
_COARSEST = DType.F32.onnx_code

#: What opsets may have in common: the operators of an instance, each with its version.
_Form = frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Departure:
    """At `opset` the outputs of `recorded` are `found`, and the one at `output` (even: of the left
    side, odd: of the right one) is not what was expected; `unwritable` says why it could not be
    written, though its price says that it can."""

    opset: int
    instance: Instance
    recorded: Recorded
    output: int = 0
    found: tuple[Array, ...] = ()
    unwritable: str = ""


@dataclass
class OlderOpsets:
    """Draws opsets for the instances of one rule: forms that none of them had yet come first.

    `drawn`: the opsets, in the order in which they were drawn.
    """

    subject: Subject
    seed: int
    samples: int
    drawn: list[int] = field(default_factory=list)
    _tried: int = 0
    _seen: set[_Form] = field(default_factory=set)

    def __post_init__(self) -> None:
        own = self.subject.rule.name.rpartition(".")[2]
        self._random = random.Random(f"{self.seed} opsets {own}")

    def is_due(self, instances: int) -> bool:
        """Those that are tried are spread over all instances."""
        done = len(self.drawn)
        return done < _MOST and self._tried < _TRIED and instances * _MOST > done * self.samples

    def depart(self, instance: Instance) -> Departure | None:
        """A side that computes something else where both are written at an opset drawn for it."""
        self._tried += 1
        recorded = self._record(instance)
        opset = None if recorded is None else self._draw(recorded)
        if recorded is None or opset is None:
            return None
        try:
            found = self._confirmed(instance, recorded, opset)
        except Unsupported:
            return None
        self.drawn.append(opset)
        self._seen.add(_form(recorded, opset))
        return found

    def depart_at(self, instance: Instance, opset: int) -> Departure | None:
        """The same at a given opset; None also where it cannot be written."""
        recorded = None if instance.clash else self._record(instance)
        if recorded is None or not _is_writable(recorded, opset):
            return None
        try:
            return self._confirmed(instance, recorded, opset)
        except Unsupported:
            return None

    def _confirmed(self, instance: Instance, recorded: Recorded, opset: int) -> Departure | None:
        found = _departure(instance, recorded, opset)
        for _ in range(_CONFIRMED - 1):
            again = None if found is None else self._record(instance)
            if again is None:
                break
            found = _departure(instance, again, opset)
        return found

    def _record(self, instance: Instance) -> Recorded | None:
        """Both sides on numbers on which they are numbers."""
        for style in (Style.QUARTERS, Style.POSITIVE):
            rng = np.random.default_rng(self._random.getrandbits(32))
            contents = draw_contents(instance, style, arithmetic.native(), rng)
            try:
                recorded = record(self.subject, instance, contents)
            except Unsupported:
                return None
            if all(map(_is_finite, recorded.expected)):
                return recorded
        return None

    def _draw(self, recorded: Recorded) -> int | None:
        """An opset at which every node can be written, None where there is none."""
        forms: dict[_Form, list[int]] = {}
        for opset in range(OLDEST, NEWEST + 1):
            forms.setdefault(_form(recorded, opset), []).append(opset)
        # The first that has a form, or the last before it changes.
        ends = {form: self._random.choice((o[0], o[-1])) for form, o in forms.items()}
        order = self._random.sample(list(ends), len(ends))
        order.sort(key=lambda form: form in self._seen)
        return next((ends[form] for form in order if _is_writable(recorded, ends[form])), None)


def _departure(instance: Instance, recorded: Recorded, opset: int) -> Departure | None:
    """The first side that all who can tell compute otherwise at `opset`.  Raises Unsupported where
    nobody can: who differs at the language's opset, too, has another idea of an operator."""
    departures: list[Departure] = []
    for opener in (open_reference, open_runner):
        if (_is_misread if opener is open_reference else _is_empty)(recorded, opset):
            continue
        try:
            found = _run(opener, recorded, opset)
            output = _differing(recorded, found)
            if output is None:
                return None
            if _differing(recorded, _run(opener, recorded, _own_opset(recorded))) is None:
                departures.append(Departure(opset, instance, recorded, output, found))
        except CannotRun:
            continue
        except TensatError as error:
            return Departure(opset, instance, recorded, unwritable=str(error))
    if not departures:
        raise Unsupported(f"nothing here tells what it is at opset {opset}")
    return departures[0]


def _run(opener: Callable[[Source], Runner], recorded: Recorded, opset: int) -> tuple[Array, ...]:
    """The outputs of the model of that opset."""
    feeds = {name: _carried(a, recorded.types[name]) for name, a in recorded.feeds.items()}
    source = build_source(_graph(recorded, opset))
    with warnings.catch_warnings(action="ignore"):  # numpy's, of the mean of nothing
        return tuple(map(np.asarray, opener(source).run(feeds)))


def _differing(recorded: Recorded, found: Sequence[Array]) -> int | None:
    """The first output that is not what was expected, in type or in a number."""
    for place, expected in enumerate(carried_outputs(recorded)):
        if difference(recorded, expected, np.asarray(found[place])).problem:
            return place
    return None


def difference(recorded: Recorded, left: Array, right: Array) -> Difference:
    """Of two outputs, as precise as the coarsest floats in between."""
    tensors = [t for t in recorded.types.values() if isinstance(t, TensorType)]
    codes = [t.dtype.onnx_code for t in tensors if t.dtype.is_float]
    return compare(left, right, max([_COARSEST, *codes], key=tolerance))


def carried_outputs(recorded: Recorded) -> tuple[Array, ...]:
    """What is expected, as it comes out of a model."""
    return tuple(
        _carried(array, recorded.types[output.value])
        for output, array in zip(recorded.outputs, recorded.expected, strict=True)
    )


def _graph(recorded: Recorded, opset: int) -> Graph:
    return Graph(
        inputs=tuple(recorded.feeds),
        constants=recorded.constants,
        nodes=recorded.nodes,
        outputs=recorded.outputs,
        types=recorded.types,
        opsets={**catalog.VERSIONS, "": opset},
        source=no_source(),
    )


def _carried(array: Array, type_: Type) -> Array:
    """As an array goes into a model and comes out of it, where numpy lacks its element type."""
    assert isinstance(type_, TensorType)
    carrier = dtypes.from_onnx(plain_code(type_.dtype.onnx_code))
    assert carrier is not None
    return array.astype(numpy_type(carrier))


def _is_finite(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.all(np.isfinite(array)))


# --- opsets ---------------------------------------------------------------------------------


def _is_writable(recorded: Recorded, opset: int) -> bool:
    """What the price of a node asks: elsewhere the rule is off."""
    opsets = {**catalog.VERSIONS, "": opset}
    return all(
        lowerable(
            node.operator,
            node.attributes,
            recorded.types_of(node),
            opsets[node.operator.domain],
            len(node.outputs),
        )
        for node in recorded.nodes
    )


def _own_opset(recorded: Recorded) -> int:
    """That of the language, raised for operators that came later."""
    return catalog.versions_of(node.operator for node in recorded.nodes)[""]


def _form(recorded: Recorded, opset: int) -> _Form:
    """The operators with the versions that they have at an opset."""
    names = {node.operator.name for node in recorded.nodes if not node.operator.domain}
    return frozenset((name, _version(name, opset)) for name in names)


@cache
def _version(name: str, opset: int) -> int:
    """0 where the operator has another name there, or is not there yet."""
    schema = catalog.schema_at("", name, opset)
    return 0 if schema is None else int(schema.since_version)


def _is_misread(recorded: Recorded, opset: int) -> bool:
    """Some operator is not what the reference evaluator takes it for."""
    return any(opset < _WRONG_BELOW.get(node.operator.name, 0) for node in recorded.nodes)


def _is_empty(recorded: Recorded, _: int) -> bool:
    """Some tensor has no elements: on the likes of these onnxruntime may end the process."""
    shapes = [t.dims for t in recorded.types.values() if isinstance(t, TensorType)]
    return any(0 in dims for dims in shapes if dims is not None)
