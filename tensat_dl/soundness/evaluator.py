"""Applications and builds, evaluated.

Enters: operators with the types and contents of their inputs; builds of a right side or of a
lowering.  Leaves: arrays.  ONNX's operators are computed by `operators/`, or by the reference
evaluator; virtual ones are what they are lowered to; others are some function of their inputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.egraph.build import ABSENT, BuildConstant, BuildMap, BuildNode, Many, One
from tensat_dl.egraph.typing import Columns, Scope, Typer, first_id
from tensat_dl.language.evaluate import evaluate
from tensat_dl.soundness.arithmetic import Array, Scheme, Undefined, Unsupported
from tensat_dl.soundness.operators import EVALUATORS, Call
from tensat_dl.soundness.reference import evaluate_by_reference
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type, TypeFault

#: Contents of the open tensors of one row: arrays, lists of arrays; None for an absent input.
Contents = Mapping[str, "Array | tuple[Array, ...] | None"]


@dataclass
class Evaluator:
    """Evaluates applications of one instance under one scheme.  `unknown`: the operators for which
    some function stood, because nobody knows them."""

    typer: Typer
    scheme: Scheme
    unknown: set[str] = field(default_factory=set)

    def apply(
        self,
        operator: Operator,
        attributes: Attributes,
        count: int,
        types: tuple[Type, ...],
        arrays: Sequence[Array | None],
    ) -> list[Array]:
        """The contents of the outputs.  Raises Unsupported."""
        results = self.typer.outputs(operator, attributes, types, count)
        if isinstance(results, TypeFault):
            raise Unsupported(results.reason)
        if operator.kind is OperatorKind.VIRTUAL:
            return self._lowered(operator, attributes, types, arrays)
        call = Call(operator, attributes, tuple(arrays), types, results, self.scheme)
        if operator.kind is not OperatorKind.ONNX:
            self.unknown.add(operator.name)
            return _unknown(call)
        evaluator = EVALUATORS.get(operator.name) if not operator.domain else None
        try:
            if evaluator is None:
                raise Unsupported(operator.name)
            found = evaluator(call)
        except Undefined:
            raise
        except Unsupported:
            if self.scheme.is_symbolic:
                raise
            found = evaluate_by_reference(call)
        return [_checked(call, index, array) for index, array in enumerate(found[:count])]

    def _lowered(
        self,
        operator: Operator,
        attributes: Attributes,
        types: tuple[Type, ...],
        arrays: Sequence[Array | None],
    ) -> list[Array]:
        """A virtual operator is what it is lowered to."""
        typed = self.typer.lowering(operator, attributes, types)
        values: dict[str, Array | tuple[Array, ...] | None] = {}
        padded = [*arrays, *[None] * (len(operator.inputs) - len(arrays))]
        for place, formal in enumerate(operator.inputs):
            if formal.variadic:
                values[formal.name] = tuple(a for a in arrays[place:] if a is not None)
            else:
                values[formal.name] = padded[place]
        side = BuiltSide(self, typed.scope, values)
        for build, columns in typed.builds:
            side.build(build, columns)
        return [side.array(ref) for ref in typed.outputs]


def _unknown(call: Call) -> list[Array]:
    """An operator that nobody knows: some function of everything it is given."""
    digest = hashlib.blake2b(repr((call.operator.qualified_name, call.attributes)).encode())
    for array in call.arrays:
        digest.update(b"absent" if array is None else repr(array.shape).encode() + array.tobytes())
    rng = np.random.default_rng(int.from_bytes(digest.digest()[:8], "big"))
    drawn = []
    for index in range(len(call.results)):
        storage = call.scheme.storage(call.result(index).dtype)
        high = 2**31 - 1 if call.scheme.is_symbolic else 8
        numbers = rng.integers(0, 2 if storage.kind == "b" else high, call.result_dims(index))
        drawn.append(numbers.astype(storage))
    return drawn


def _checked(call: Call, index: int, array: Array) -> Array:
    """The array, which must have the dims that the type says."""
    if array.shape != call.result_dims(index):
        name, dims = call.operator.name, call.result_dims(index)
        raise Unsupported(f"{name} gives {list(array.shape)}, its type says {list(dims)}")
    return array


# --- builds -----------------------------------------------------------------------------------


@dataclass
class BuiltSide:
    """Evaluates builds; `values` are arrays by reference, lists as tuples."""

    by: Evaluator
    scope: Scope
    values: dict[str, Array | tuple[Array, ...] | None] = field(default_factory=dict)

    def array(self, ref: str) -> Array:
        """The array behind a reference."""
        found = self.values[ref]
        assert isinstance(found, np.ndarray | np.generic), ref
        return np.asarray(found)

    def build(self, build: BuildConstant | BuildMap | BuildNode, columns: Columns) -> None:
        """Evaluate one build."""
        match build:
            case BuildConstant():
                self.values[build.name] = self._constant(build, columns)
            case BuildMap():
                self._map(build, columns)
            case BuildNode():
                self._node(build, columns)

    def _constant(self, build: BuildConstant, columns: Columns) -> Array:
        """A new constant; over the reals it is the number that is written, not a rounded one."""
        type_ = self.scope.tensors[build.name].type
        assert isinstance(type_, TensorType)
        if self.by.scheme.floats is not None and type_.dtype.is_float:
            written = np.asarray(evaluate(build.emit.value, self.scope.env), dtype=np.float64)
            return encoded(written, type_, self.by.scheme)
        constant = self.by.typer.interner.constant(first_id(columns))
        return encoded(np.asarray(constant.load()), type_, self.by.scheme)

    def _attributes(self, columns: Columns) -> tuple[Attributes, int]:
        return self.by.typer.interner.attributes(first_id(columns))

    def _map(self, build: BuildMap, columns: Columns) -> None:
        attributes, count = self._attributes(columns)
        elements = self.scope.lists[build.over]
        varying = self.values[build.over]
        assert isinstance(varying, tuple)
        results = []
        for place, element in enumerate(elements):
            types = tuple(
                element.type if i == build.position else self._type(ref)
                for i, ref in enumerate(build.inputs)
            )
            given = [
                varying[place] if i == build.position else self._given(ref)
                for i, ref in enumerate(build.inputs)
            ]
            results.append(self.by.apply(build.operator, attributes, count, types, given)[0])
        self.values[build.name] = tuple(results)

    def _node(self, build: BuildNode, columns: Columns) -> None:
        attributes, count = self._attributes(columns)
        types: list[Type] = []
        given: list[Array | None] = []
        for item in build.inputs:
            match item:
                case Many(ref):
                    types += [analysis.type for analysis in self.scope.lists[ref]]
                    listed = self.values[ref]
                    assert isinstance(listed, tuple)
                    given += listed
                case One(ref) | str(ref):
                    types.append(self._type(ref))
                    given.append(self._given(ref))
        outputs = self.by.apply(build.operator, attributes, count, tuple(types), given)
        if build.each:
            self.values[build.name] = tuple(outputs)
            return
        self.values.update(zip(build.outputs, outputs, strict=False))
        self.values[build.name] = outputs[0]

    def _type(self, ref: str) -> Type:
        return AbsentType() if ref == ABSENT else self.scope.tensors[ref].type

    def _given(self, ref: str) -> Array | None:
        found = None if ref == ABSENT else self.values[ref]
        assert not isinstance(found, tuple)
        return found


def encoded(array: Array, type_: TensorType, scheme: Scheme) -> Array:
    """Numbers as elements of the scheme."""
    if scheme.floats is None or not type_.dtype.is_float:
        with np.errstate(all="ignore"):  # a number that the type does not have becomes what it may
            return array.astype(scheme.storage(type_.dtype), copy=False)
    flat = [scheme.floats.constant(float(item)) for item in array.reshape(-1)]
    return np.array(flat, dtype=scheme.storage(type_.dtype)).reshape(array.shape)
