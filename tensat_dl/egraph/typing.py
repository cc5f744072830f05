"""The types of everything a right side would make, before anything is made.

Enters: builds, and what is known of the variables they read.  Leaves: an analysis for every
reference and the columns of the answer, or a :class:`Refusal` with the reason.  This is where an
ill-typed right side ends: it never reaches the e-graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.egraph.build import (
    ABSENT,
    Build,
    BuildConstant,
    BuildMap,
    BuildNode,
    Many,
    One,
    build_lowering,
)
from tensat_dl.egraph.interning import ABSENT_ANALYSIS, Analysis, Interner
from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.stored import numpy_type
from tensat_dl.language import program
from tensat_dl.language.evaluate import UNKNOWN, Environment, evaluate
from tensat_dl.language.values import Value, as_attribute, as_dtype
from tensat_dl.vocabulary import dims, dtypes
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.dims import SymbolicDim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import AbsentType, OtherType, TensorType, Type, TypeFault


class Refusal(Exception):
    """A right side cannot be made; the text says why."""


@dataclass
class Scope:
    """What builds read: expression names, tensors and lists of the match."""

    env: Environment
    tensors: dict[str, Analysis]
    lists: dict[str, tuple[Analysis, ...]]


#: What is known of some tensors.
Inputs = tuple[Analysis, ...]

#: The columns of an answer: ids, and tuples of ids for lists.
Columns = list[int | tuple[int, ...]]


def first_id(columns: Columns) -> int:
    """The id in the first column of a build: of its attributes, or of the constant it makes."""
    found = columns[0]
    assert isinstance(found, int)
    return found


@dataclass(frozen=True)
class TypedLowering:
    """The builds of a virtual operator's meaning with their columns, and the references of its
    outputs; `scope` has the types of all."""

    builds: tuple[tuple[Build, Columns], ...]
    outputs: tuple[str, ...]
    scope: Scope


@dataclass
class Typer:
    """Types operators of every kind, ONNX's and those that the rule file declares."""

    custom: Mapping[str, program.CustomOperator]
    functions: Mapping[str, program.Function]
    interner: Interner
    _cache: dict[object, tuple[Type, ...] | TypeFault] = field(default_factory=dict)
    _applied: dict[object, tuple[Inputs | TypeFault, object]] = field(default_factory=dict)
    _constants: dict[object, tuple[int, Analysis]] = field(default_factory=dict)

    def outputs(
        self, operator: Operator, attributes: Attributes, inputs: tuple[Type, ...], count: int
    ) -> tuple[Type, ...] | TypeFault:
        """The types of the first `count` outputs of an application."""
        if operator.kind is OperatorKind.ONNX:
            return infer(operator, attributes, inputs, count)
        key = (operator, attributes, inputs, count)
        if key not in self._cache:
            self._cache[key] = self._declared(operator, attributes, inputs, count)
        return self._cache[key]

    def apply(
        self, operator: Operator, attributes: Attributes, count: int, inputs: Inputs
    ) -> Inputs | TypeFault:
        """What is known of the first `count` outputs of an application."""
        key = (id(operator), id(attributes), count, *map(id, inputs))
        found = self._applied.get(key)
        if found is None:
            # All are kept, so that nothing else gets the numbers that stand for them.
            outputs = self._apply_once(operator, attributes, count, inputs)
            found = self._applied[key] = outputs, (operator, attributes, inputs)
        return found[0]

    def _apply_once(
        self, operator: Operator, attributes: Attributes, count: int, inputs: Inputs
    ) -> Inputs | TypeFault:
        types = self.outputs(operator, attributes, tuple([i.type for i in inputs]), count)
        if isinstance(types, TypeFault):
            return types
        weight = operator.folds and all(i.weight for i in inputs)
        return tuple(self.interner.kept(Analysis(type_, weight)) for type_ in types)

    def build(self, builds: Sequence[Build], scope: Scope, members: int = 0) -> Columns:
        """Type all builds into `scope`; give the columns of the answer.

        `members` is the size of a `match each` group.  Raises Refusal.
        """
        columns: Columns = []
        for build in builds:
            match build:
                case BuildConstant():
                    columns += self._constant(build, scope)
                case BuildMap():
                    columns += self._map(build, scope)
                case BuildNode():
                    columns += self._node(build, scope, members)
        return columns

    # --- kinds of builds ---------------------------------------------------------------------

    def _constant(self, build: BuildConstant, scope: Scope) -> list[int]:
        dtype = _dtype(build.emit.dtype, scope.env)
        value = evaluate(build.emit.value, scope.env)
        if build.copied:
            value = _without_copies(value, scope.tensors[build.copied].type)
        key = (dtype, build.reshapes, repr(value))  # 1, 1.0 and True are equal keys
        if key not in self._constants:
            constant = constant_of_array(_array(value, dtype, build.reshapes))
            analysis = self.interner.kept(Analysis(constant.type, True))
            self._constants[key] = self.interner.constant_id(constant), analysis
        number, scope.tensors[build.name] = self._constants[key]
        return [number, self.interner.analysis_id(scope.tensors[build.name])]

    def _map(self, build: BuildMap, scope: Scope) -> Columns:
        elements = scope.lists[build.over]
        results: list[Analysis] = []
        numbers: set[int] = set()
        for element in elements:
            inputs = tuple(
                element if i == build.position else _known(ref, scope)
                for i, ref in enumerate(build.inputs)
            )
            attributes, outputs = self._apply(
                build.operator, build.attributes, inputs, max(1, build.operator.min_outputs), scope
            )
            numbers.add(attributes)
            results.append(outputs[0])
        if len(numbers) != 1:
            raise Refusal("the elements of a list need different attributes")
        scope.lists[build.name] = tuple(results)
        return [numbers.pop(), tuple(self.interner.analysis_id(r) for r in results)]

    def _node(self, build: BuildNode, scope: Scope, members: int) -> Columns:
        inputs = tuple(_flat_inputs(build, scope))
        count = members if build.each else max(len(build.outputs), build.operator.min_outputs)
        attributes, outputs = self._apply(build.operator, build.attributes, inputs, count, scope)
        ids = [self.interner.analysis_id(o) for o in outputs]
        if build.each:
            scope.lists[build.name] = outputs
            return [attributes, tuple(ids)]
        scope.tensors.update(zip(build.outputs, outputs, strict=False))
        scope.tensors[build.name] = outputs[0]
        return [attributes, *ids[: len(build.outputs)]]

    def _apply(
        self,
        operator: Operator,
        emit: program.EmitAttributes,
        inputs: tuple[Analysis, ...],
        count: int,
        scope: Scope,
    ) -> tuple[int, tuple[Analysis, ...]]:
        if not operator.deterministic:
            raise Refusal(f"{operator.name} is random: a new one gives other values")
        types = tuple([i.type for i in inputs])
        given = _given_attributes(operator, emit, scope.env)
        attributes = canonical_attributes(operator, given, types)
        number = self.interner.attributes_id(attributes, count if operator.has_bundle else 1)
        found = self.apply(operator, self.interner.attributes(number)[0], count, inputs)
        if isinstance(found, TypeFault):
            raise Refusal(f"{operator.name}: {found.reason}")
        return number, found

    # --- declared operators ------------------------------------------------------------------

    def _declared(
        self, operator: Operator, attributes: Attributes, inputs: tuple[Type, ...], count: int
    ) -> tuple[Type, ...] | TypeFault:
        declared = self.custom.get(operator.qualified_name) or self.custom.get(operator.name)
        if declared is None:
            return TypeFault(f"the operator {operator.qualified_name} has no known type")
        if declared.lowering is not None:
            return self._lowered(operator, attributes, inputs)
        return self._inferred(declared, operator, attributes, inputs, count)

    def lowering(
        self, operator: Operator, attributes: Attributes, inputs: tuple[Type, ...]
    ) -> TypedLowering:
        """Type the lowering of a virtual operator at one application.  Raises Refusal."""
        declared = self.custom[operator.qualified_name].lowering
        if declared is None:
            raise Refusal(f"{operator.name} has no lowering")
        scope = _lowering_scope(declared, operator, attributes, inputs, self.functions)
        absent = frozenset(n for n, a in scope.tensors.items() if isinstance(a.type, AbsentType))
        builds, outputs = build_lowering(declared, absent)
        typed = tuple((build, self.build([build], scope)) for build in builds)
        return TypedLowering(typed, outputs, scope)

    def _lowered(
        self, operator: Operator, attributes: Attributes, inputs: tuple[Type, ...]
    ) -> tuple[Type, ...] | TypeFault:
        try:
            typed = self.lowering(operator, attributes, inputs)
        except Refusal as refusal:
            return TypeFault(str(refusal))
        return tuple(typed.scope.tensors[ref].type for ref in typed.outputs)

    def _inferred(
        self,
        declared: program.CustomOperator,
        operator: Operator,
        attributes: Attributes,
        inputs: tuple[Type, ...],
        count: int,
    ) -> tuple[Type, ...] | TypeFault:
        names: dict[str, Value] = dict(attributes.as_dict())
        names.update(_by_formal(operator, inputs))
        env = Environment(names, self.functions)
        found: list[Type] = []
        for name, expr in declared.infer[:count]:
            value = evaluate(expr, env)
            if not isinstance(value, TensorType | OtherType):
                return TypeFault(f"`infer {name}` of {operator.name} has no answer here")
            found.append(value)
        return tuple(found)


def _lowering_scope(
    lowering: program.Lowering,
    operator: Operator,
    attributes: Attributes,
    inputs: tuple[Type, ...],
    functions: Mapping[str, program.Function],
) -> Scope:
    """The formal inputs and attributes of a virtual operator as a scope."""
    names: dict[str, Value] = dict(attributes.as_dict())
    if lowering.spread:
        names[lowering.spread] = attributes
    missing = 0 if operator.is_variadic else len(operator.inputs) - len(inputs)
    given = _by_formal(operator, (*inputs, *[ABSENT_ANALYSIS.type] * missing))
    scope = Scope(Environment({**names, **given}, functions), {}, {})
    for name, type_ in given.items():
        if isinstance(type_, tuple):
            scope.lists[name] = tuple(Analysis(t, False) for t in type_)
        else:
            scope.tensors[name] = Analysis(type_, False)
    return scope


def _by_formal(operator: Operator, inputs: tuple[Type, ...]) -> dict[str, Type | tuple[Type, ...]]:
    found: dict[str, Type | tuple[Type, ...]] = {}
    for place, formal in enumerate(operator.inputs):
        if formal.variadic:
            found[formal.name] = inputs[place:]
        elif place < len(inputs):
            found[formal.name] = inputs[place]
    return found


def _known(ref: str, scope: Scope) -> Analysis:
    return ABSENT_ANALYSIS if ref == ABSENT else scope.tensors[ref]


def _flat_inputs(build: BuildNode, scope: Scope) -> list[Analysis]:
    found: list[Analysis] = []
    for item in build.inputs:
        match item:
            case Many(ref):
                found += scope.lists[ref]
            case One(ref):
                found.append(_known(ref, scope))
            case str():
                found.append(_known(item, scope))
    return found


def _given_attributes(
    operator: Operator, emit: program.EmitAttributes, env: Environment
) -> dict[str, AttributeValue]:
    given: dict[str, AttributeValue] = {}
    for spread in emit.spread:
        captured = env.names.get(spread)
        if isinstance(captured, Attributes):
            known = captured.as_dict()
            given.update({n: v for n, v in known.items() if operator.attribute(n) is not None})
    for name, expr in emit.values:
        formal = operator.attribute(name)
        value = evaluate(expr, env)
        written = None if formal is None else as_attribute(value, formal.kind)
        if written is None:
            raise Refusal(f"the attribute {name} of {operator.name} is not known here")
        given[name] = written
    return given


def _dtype(name: str, env: Environment) -> DType:
    bound = env.names.get(name)
    found = dtypes.from_name(name) if bound is None else as_dtype(bound)
    if found is None:
        raise Refusal(f"the element type {name} is not known here")
    return found


def _array(value: Value, dtype: DType, reshapes: bool) -> np.ndarray:
    if value is UNKNOWN:
        raise Refusal("a new constant has a value that is not known here")
    plain = _reshape_target(value) if reshapes else value
    if _has_symbol(plain):
        raise Refusal("a new constant would hold a symbolic dim")
    try:
        array = np.asarray(plain, dtype=np.int64 if plain == () else None)
        return _exact(array, numpy_type(dtype))
    except (TypeError, ValueError, OverflowError) as error:
        raise Refusal("a new constant has no such value") from error


def _exact(array: np.ndarray, target: np.dtype) -> np.ndarray:
    """Convert, refusing whole numbers that the element type cannot hold; floats become infinite."""
    with np.errstate(over="ignore"):
        converted = array.astype(target)
    if array.dtype.kind in "iub" and target.kind in "iu" and not np.array_equal(converted, array):
        raise OverflowError
    if array.dtype.kind == "f" and target.kind in "iu":
        raise TypeError
    return converted


def _without_copies(value: Value, reshaped: Type) -> Value:
    """The target of a Reshape with the dims that its zeros copy, where these are known: one target
    where there would be two that differ in nothing but that."""
    if not isinstance(value, tuple) or not isinstance(reshaped, TensorType) or not reshaped.dims:
        return value
    known = [dim if isinstance(dim, int) else 0 for dim in reshaped.dims]
    return tuple(known[i] if item == 0 and i < len(known) else item for i, item in enumerate(value))


def _reshape_target(value: Value) -> Value:
    """At most one symbol becomes -1, the others being known and not 0."""
    if not isinstance(value, tuple):
        return value
    symbols = [i for i, item in enumerate(value) if isinstance(item, SymbolicDim)]
    if len(symbols) != 1:
        return value
    others = [item for i, item in enumerate(value) if i not in symbols]
    if not all(isinstance(item, int) and item > 0 for item in others):
        return value
    return tuple(-1 if i in symbols else item for i, item in enumerate(value))


def _has_symbol(value: Value) -> bool:
    if isinstance(value, tuple):
        return any(_has_symbol(item) for item in value)
    return isinstance(value, SymbolicDim)


def same_type(left: Type, right: Type) -> bool:
    """Certainly the same element type and dims, and no contradiction between known values."""
    if isinstance(left, OtherType) or isinstance(right, OtherType):
        return left == right
    if not (isinstance(left, TensorType) and isinstance(right, TensorType)):
        return False
    if left.dtype is not right.dtype or left.dims is None or right.dims is None:
        return False
    if len(left.dims) != len(right.dims):
        return False
    pairs = zip(left.dims, right.dims, strict=True)
    return all(a == b and not dims.is_ambiguous(a) for a, b in pairs)
