"""A rule in models of other opsets: instances written as such a model has them, and run.

Enters: instances on which a rule held.  Leaves: the opsets that were drawn, and the first
:class:`Departure`.  Rules see the language's form of every operator; here an instance goes the
way of a model: written at an opset at which all of it can be, it is run by onnxruntime without its
optimisations, or by ONNX's reference evaluator.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tensat_dl.errors import TensatError
from tensat_dl.graph.compare import Difference, compare, tolerance
from tensat_dl.graph.constants import numpy_type
from tensat_dl.graph.model import Graph
from tensat_dl.graph.plain import plain_code
from tensat_dl.graph.run import CannotRun, open_reference, open_runner
from tensat_dl.graph.write import build_source
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
#: What ONNX's reference evaluator computes wrongly below these opsets; and, of integers, always.
_WRONG_BELOW = {"BatchNormalization": 14, "MaxPool": 10, "Unsqueeze": 13}
_WRONG_ON_INTEGERS = frozenset(("Gemm",))
#: Some functions of f64 are computed in f32 by runtimes.
_COARSEST = DType.F32.onnx_code

#: The opsets that give the operators of an instance one and the same form.
_Form = tuple[int, ...]


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
        self.drawn.append(opset)
        return self._confirmed(instance, recorded, opset)

    def depart_at(self, instance: Instance, opset: int) -> Departure | None:
        """The same at a given opset; None also where it cannot be written."""
        recorded = None if instance.clash else self._record(instance)
        if recorded is None or not _is_writable(recorded, opset):
            return None
        return self._confirmed(instance, recorded, opset)

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
        forms = list(_forms(recorded).items())
        self._random.shuffle(forms)
        forms.sort(key=lambda item: item[0] in self._seen)
        for form, opsets in forms:
            # The last before a change, or the first that has it.
            opset = self._random.choice((opsets[0], opsets[-1]))
            if _is_writable(recorded, opset):
                self._seen.add(form)
                return opset
        return None


def _departure(instance: Instance, recorded: Recorded, opset: int) -> Departure | None:
    """The first side that all who can run it compute otherwise at `opset`."""
    try:
        source = build_source(_graph(recorded, opset))
    except TensatError as error:
        return Departure(opset, instance, recorded, unwritable=str(error))
    first: Departure | None = None
    for opener in (open_runner, open_reference):
        if opener is open_reference and _is_misread(recorded, opset):
            break
        try:
            found = opener(source).run(
                {name: _carried(a, recorded.types[name]) for name, a in recorded.feeds.items()}
            )
        except CannotRun:
            continue
        output = _differing(recorded, found)
        if output is None:
            return None
        arrays = tuple(map(np.asarray, found))
        first = first or Departure(opset, instance, recorded, output, arrays)
    return first


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


def _forms(recorded: Recorded) -> dict[_Form, list[int]]:
    """The opsets by the versions of all operators that they have."""
    operators = dict.fromkeys(n.operator.name for n in recorded.nodes if not n.operator.domain)
    found: dict[_Form, list[int]] = {}
    for opset in range(OLDEST, NEWEST + 1):
        form = tuple(_version(name, opset) for name in operators)
        found.setdefault(form, []).append(opset)
    return found


@cache
def _version(name: str, opset: int) -> int:
    """That of an operator at an opset; 0 where it has another name there, or is not there yet."""
    schema = catalog.schema_at("", name, opset)
    return 0 if schema is None else int(schema.since_version)


def _is_misread(recorded: Recorded, opset: int) -> bool:
    """Some operator is not what the reference evaluator takes it for."""
    names = {node.operator.name for node in recorded.nodes}
    integers = any(
        isinstance(t, TensorType) and t.dtype.is_integer for t in recorded.types.values()
    )
    old = any(opset < _WRONG_BELOW.get(name, 0) for name in names)
    return old or (integers and not names.isdisjoint(_WRONG_ON_INTEGERS))
