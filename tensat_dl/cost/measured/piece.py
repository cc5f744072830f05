"""What is timed: one operator application, or a few, as a model of their own.

Enters: an application with its types.  Leaves: a :class:`Piece`, whose dims and values are
numbers, and its signature: pieces of one signature take the same time.  What a runtime's time
does not depend on (the content of weights) is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tensat_dl.cost.bytes_moved import VIEWS
from tensat_dl.cost.shapes import size_of
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part, Timed
from tensat_dl.egraph.loading import without_node_mark
from tensat_dl.egraph.lowering import Lowered, lower
from tensat_dl.egraph.snapshot import Application
from tensat_dl.egraph.typing import Refusal
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes, Blob
from tensat_dl.vocabulary.dims import SymbolicDim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.signature import value_text
from tensat_dl.vocabulary.types import ABSENT, AbsentType, Scalar, TensorType, Type, type_text

#: Floats that decide how much there is to do, and not only what comes out.
_FLOATS_THAT_MATTER = frozenset({"Pow", "Range", "Resize", "Upsample"})
#: Integers that are weights and zero points.
_INTEGERS_THAT_DO_NOT = frozenset({"ConvInteger", "DequantizeLinear", "QLinearConv"})
#: Shapes, axes, indices, conditions.
_WIDE = frozenset((DType.I64, DType.I32, DType.BOOL))
_WIDE_OR_FLOATS = _WIDE | {DType.F16, DType.F32, DType.F64}
#: A value of these types can be fed to a runtime and taken from it.
_FED = frozenset(
    (
        *(DType.F16, DType.F32, DType.F64, DType.BOOL, DType.STRING),
        *(DType.I8, DType.I16, DType.I32, DType.I64, DType.U8, DType.U16, DType.U32, DType.U64),
    )
)


@dataclass(frozen=True)
class Call:
    """One node: an application to values by number; None is an input or output left out."""

    application: Application
    inputs: tuple[int | None, ...]
    outputs: tuple[int | None, ...]


@dataclass(frozen=True)
class Piece:
    """`calls` in topological order over values by number, whose types have numbers for dims.

    `given`: the values that are not made here, and whether each is known beforehand (an
    initializer).  `results`: the values that it is for.
    """

    types: tuple[Type, ...]
    given: Mapping[int, bool]
    calls: tuple[Call, ...]
    results: tuple[int, ...]

    @property
    def signature(self) -> str:
        """The text that two pieces have in common when one time is enough for both."""
        calls = " ".join(map(_call_text, self.calls))
        given = (_given_text(i, self.types[i], known) for i, known in self.given.items())
        return f"{calls} | {', '.join(given)}"


def piece_of(timed: Timed, program: CheckedProgram | None, sizes: SymbolSizes) -> Piece | None:
    """The piece that `timed` is, its virtual operators lowered; None where it cannot be timed
    alone: a sequence, a rank that is not known, a subgraph."""
    if isinstance(timed, Part) and _is_view(timed):
        return _view()
    try:
        return _Builder(program, sizes).piece(timed)
    except (_NotAlone, Refusal):
        return None


class _NotAlone(Exception):
    """This cannot be timed by itself."""


@dataclass
class _Builder:
    program: CheckedProgram | None
    sizes: SymbolSizes
    types: list[Type] = field(default_factory=list)
    given: dict[int, bool] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def piece(self, timed: Timed) -> Piece:
        outputs = self._timed(timed)
        results = tuple(dict.fromkeys(n for n in outputs if n is not None))
        if not self.calls or not results or any(n in self.given for n in results):
            raise _NotAlone
        return Piece(tuple(self.types), self.given, tuple(self.calls), results)

    def _timed(self, timed: Timed) -> list[int | None]:
        if isinstance(timed, Part):
            return self._part(timed)
        first = next((n for n in self._timed(timed.inner) if n is not None), None)
        if first is None:
            raise _NotAlone
        return self._part(timed.outer, {timed.slot: first})

    def _part(self, part: Part, made: Mapping[int, int] | None = None) -> list[int | None]:
        """`made`: inputs that are values already.  Operands that may be permuted stand in a
        fixed order."""
        made = made or {}
        keep = _kept_values(part.application)
        flags = part.constant or (False,) * len(part.inputs)
        types = [sized(type_, self.sizes, keep) for type_ in part.inputs]
        given = [
            (made.get(slot), *each) for slot, each in enumerate(zip(types, flags, strict=True))
        ]
        if part.application.operator.commutes(len(given)):
            given.sort(key=lambda each: (each[0] is None, each[2], _given_text(0, *each[1:])))
        inputs = [
            self._give(type_, known) if number is None else number for number, type_, known in given
        ]
        return self._apply(part.application, inputs, part.outputs)

    def _give(self, type_: Type, known: bool) -> int | None:
        if isinstance(type_, AbsentType):
            return None
        if not isinstance(type_, TensorType) or type_.dims is None:
            raise _NotAlone
        if type_.dtype not in _FED and not known:
            raise _NotAlone
        number = self._value(type_)
        self.given[number] = known
        return number

    def _value(self, type_: Type) -> int:
        self.types.append(type_)
        return len(self.types) - 1

    def _apply(
        self, application: Application, inputs: Sequence[int | None], outputs: Sequence[Type]
    ) -> list[int | None]:
        """Add the calls that an application is; its outputs by number."""
        if application.operator.kind is OperatorKind.VIRTUAL:
            return self._lower(application, inputs)
        if any(
            isinstance(v, Blob) and v.kind in _SUBGRAPHS for _, v in application.attributes.items
        ):
            raise _NotAlone
        made = [
            None if isinstance(type_, AbsentType) else self._value(self._made(type_))
            for type_ in outputs
        ]
        self.calls.append(Call(application, tuple(inputs), tuple(made)))
        return made

    def _made(self, type_: Type) -> Type:
        made = sized(type_, self.sizes, frozenset())
        if not isinstance(made, TensorType) or made.dtype not in _FED:
            raise _NotAlone
        return made

    def _lower(self, application: Application, inputs: Sequence[int | None]) -> list[int | None]:
        if self.program is None:
            raise _NotAlone
        types = tuple(ABSENT if n is None else self.types[n] for n in inputs)
        lowered = lower(self.program, application, types)
        numbers: dict[str | None, int | None] = dict(zip(lowered.inputs, inputs, strict=False))
        numbers[None] = None
        for name, constant in lowered.constants.items():
            numbers[name] = self._give(constant.type, known=True)
        for node in lowered.nodes:
            made = self._apply(
                node.application,
                [numbers[name] for name in node.inputs],
                [_type_in(lowered, name) for name in node.outputs],
            )
            numbers.update(zip(node.outputs, made, strict=True))
        return [numbers[name] for name in lowered.outputs]


#: Kinds of attributes that hold nodes.
_SUBGRAPHS = frozenset({"graph", "graphs"})


@lru_cache(maxsize=1 << 14)
def sized(type_: Type, sizes: SymbolSizes, keep: frozenset[DType]) -> Type:
    """`type_` with numbers for symbols; its value stays where the element type is in `keep`."""
    if not isinstance(type_, TensorType) or type_.dims is None:
        return type_
    dims = tuple(size_of(dim, sizes) for dim in type_.dims)
    value = None
    if type_.value is not None and type_.dtype in keep:
        value = tuple(_number(item, sizes) for item in type_.value)
    return TensorType(type_.dtype, dims, value)


def _number(item: Scalar, sizes: SymbolSizes) -> Scalar:
    return size_of(item, sizes) if isinstance(item, SymbolicDim) else item


def _kept_values(application: Application) -> frozenset[DType]:
    """The element types of inputs whose values may decide how long it takes."""
    name = application.operator.name
    if name in _INTEGERS_THAT_DO_NOT:
        return frozenset()
    return _WIDE_OR_FLOATS if name in _FLOATS_THAT_MATTER else _WIDE


def _is_view(part: Part) -> bool:
    operator = part.application.operator
    used = [type_ for type_ in part.outputs if not isinstance(type_, AbsentType)]
    return operator.name in VIEWS and not operator.domain and len(used) == 1


def _view() -> Piece:
    """Stands for every view: a model hands the buffer on, whatever its size, where an operator
    alone would have to copy it."""
    reshape = catalog.operator("Reshape")
    assert reshape is not None
    types = (
        TensorType(DType.F32, (1, 4)),
        TensorType(DType.I64, (1,), (4,)),
        TensorType(DType.F32, (4,)),
    )
    call = Call(Application(reshape, Attributes.of({"allowzero": 0}), 1), (0, 1), (2,))
    return Piece(types, {0: False, 1: True}, (call,), (2,))


def _type_in(lowered: Lowered, name: str) -> Type:
    """Outputs that nothing reads have no type there."""
    return lowered.types.get(name, ABSENT)


def _call_text(call: Call) -> str:
    operator = call.application.operator
    attributes = without_node_mark(call.application.attributes)
    written = ", ".join(f"{name}={value_text(value)}" for name, value in attributes.items)
    numbers = ", ".join("-" if n is None else str(n) for n in call.inputs)
    left_out = "".join("-" if n is None else "+" for n in call.outputs)
    outputs = "" if left_out == "+" else left_out
    inside = f"{numbers}; {written}" if written else numbers
    return f"{operator.qualified_name}-{operator.since}{outputs}({inside})"


def _given_text(number: int, type_: Type, known: bool) -> str:
    value = type_.value if isinstance(type_, TensorType) else None
    content = "" if value is None else f"=[{', '.join(map(str, value))}]"
    return f"{number}: {'const ' if known else ''}{type_text(type_)}{content}"
