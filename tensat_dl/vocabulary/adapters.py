"""Nodes of opsets 7 to 25 as nodes of the language's opset, and back.

`lift` takes a node as a model has it; `lower` gives a node as a model of a given opset may hold
it.  Both follow the rows of `versions`, one version change after the other; what no row speaks
of did not change but for element types and new attributes, whose defaults are asked from
`onnx.defs`.  Both answer None where there is no exact equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.canonical import AXES, default_of, normalise
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type
from tensat_dl.vocabulary.versions import rows_down, rows_up
from tensat_dl.vocabulary.versions.form import Form

if TYPE_CHECKING:
    from onnx.defs import OpSchema

#: Models of these versions of the default domain are lifted.
OLDEST, NEWEST = 7, 25


@dataclass(frozen=True)
class Lifted:
    """A node of the vocabulary; attributes as given, to be made canonical with the types."""

    operator: Operator
    attributes: Mapping[str, AttributeValue]
    inputs: tuple[str | None, ...]


@dataclass(frozen=True)
class Lowered:
    """A node of a model; attributes that equal their default there are left out."""

    op_type: str
    domain: str
    attributes: Mapping[str, AttributeValue]
    inputs: tuple[str | None, ...]


def lift(form: Form, domain: str, version: int) -> Lifted | None:
    """A node as it stands at `version` of `domain`, in the vocabulary; None where it is opaque."""
    schema = catalog.schema_at(domain, form.name, version)
    if schema is None or not _can_lift(schema, version):
        return None
    lifted = _up(form, version) if domain == "" else form
    lifted = lifted and _in_language(lifted)
    operator = catalog.operator(lifted.name, domain) if lifted else None
    if lifted is None or operator is None:
        return None
    known = _without_newer(lifted.attributes, operator, schema)
    if known is None:
        return None
    if operator.is_variadic:
        return Lifted(operator, known, lifted.inputs)
    inputs = _trimmed(lifted.inputs)  # newer versions may have more, which are absent then
    if len(inputs) > len(operator.inputs):
        return None
    return Lifted(operator, known, _padded(inputs, operator))


def lower(operator: Operator, form: Form, opset: int) -> Lowered | None:
    """An application of `operator` at version `opset` of its domain, or None where it has no equal
    there.  `form` has canonical attributes."""
    if operator.kind is not OperatorKind.ONNX:
        return Lowered(operator.name, operator.domain, form.attributes, _trimmed(form.inputs))
    lowered = _down(form, opset) if operator.domain == "" else form
    schema = None if lowered is None else catalog.schema_at(operator.domain, lowered.name, opset)
    if lowered is None or schema is None or schema.deprecated:
        return None
    inputs_left = _trimmed(lowered.inputs)
    if not _fits(schema, lowered, len(inputs_left)):
        return None
    needed = _needed_attributes(operator, schema, lowered, form.types, opset)
    if needed is None:
        return None
    return Lowered(lowered.name, operator.domain, needed, inputs_left)


def lowerable(
    operator: Operator,
    attributes: Attributes,
    input_types: Sequence[Type],
    opset: int,
    outputs: int,
) -> bool:
    """Whether `lower` has an answer, as far as types tell."""
    return _lowerable(operator, attributes, tuple(input_types), opset, outputs)


@lru_cache(maxsize=1 << 16)
def _lowerable(
    operator: Operator, attributes: Attributes, types: tuple[Type, ...], opset: int, outputs: int
) -> bool:
    names = tuple(None if given == ABSENT else f"i{place}" for place, given in enumerate(types))
    form = Form(operator.name, attributes.as_dict(), names, types, outputs)
    return lower(operator, form, opset) is not None


# --- up -------------------------------------------------------------------------------------


def _can_lift(schema: OpSchema, version: int) -> bool:
    """Known versions only; operators of other domains as of the language's version of those."""
    if schema.domain == "":
        known = version >= OLDEST and schema.since_version <= NEWEST
        return known and not schema.deprecated
    newest = catalog.operator(schema.name, schema.domain)
    return newest is not None and newest.since == schema.since_version


def _up(form: Form, version: int) -> Form | None:
    current: Form | None = form
    reached = version
    while current is not None:
        row = rows_up(current.name, reached, catalog.version_of(current.name))
        if row is None:
            return current
        current, reached = row.up(current), row.since
        current = current and current.renamed(row.name_after)
    return None


def _in_language(form: Form) -> Form | None:
    """Settle what the language leaves out: dropout is for inference only."""
    if form.name != "Dropout":
        return form
    training = form.content(2) if form.has(2) else (False,)
    if training is None or any(training):
        return None
    return form.cut(1).without("seed")


def _without_newer(
    attributes: Mapping[str, AttributeValue], operator: Operator, schema: OpSchema
) -> Mapping[str, AttributeValue] | None:
    """Drop attributes that only newer versions have, where they have their default."""
    known = {name: value for name, value in attributes.items() if operator.attribute(name)}
    newer = {name: value for name, value in attributes.items() if name not in known}
    same = all(default_at(schema, name) == value for name, value in newer.items())
    return known if same else None


def _padded(inputs: Sequence[str | None], operator: Operator) -> tuple[str | None, ...]:
    return (*inputs, *[None] * (len(operator.inputs) - len(inputs)))


# --- down -----------------------------------------------------------------------------------


def _down(form: Form, opset: int) -> Form | None:
    current: Form | None = form
    reached = catalog.version_of(form.name)
    while current is not None:
        row = rows_down(current.name, reached, opset)
        if row is None:
            return current
        # What is older than this row is the business of the rows of the older name.
        current, reached = row.down(current), row.since - 1
        current = current and current.renamed(row.operator)
    return None


def _fits(schema: OpSchema, form: Form, inputs: int) -> bool:
    """The number of inputs and outputs, and the element types, are what the schema allows."""
    if not schema.min_input <= inputs <= schema.max_input or form.outputs > schema.max_output:
        return False
    required = _required_inputs(schema)
    if any(name is None and needed for name, needed in zip(form.inputs, required, strict=False)):
        return False
    formals = formal_types(schema.domain, schema.name, schema.since_version)
    for place, given in enumerate(form.types[:inputs]):
        allowed = formals[min(place, len(formals) - 1)]
        if isinstance(given, TensorType) and given.dtype.onnx_code not in allowed:
            return False
    return True


@cache
def _required_inputs(schema: OpSchema) -> list[bool]:
    return [str(formal.option).endswith("Single") for formal in schema.inputs]


@cache
def formal_types(domain: str, name: str, version: int) -> list[frozenset[int]]:
    """The codes of the element types that each formal input may have."""
    schema = catalog.schema_at(domain, name, version)
    return [frozenset(_codes(formal.types)) for formal in schema.inputs] if schema else []


def _codes(type_texts: Iterable[str]) -> list[int]:
    from onnx import TensorProto

    inner = (text[7:-1] for text in type_texts if text.startswith("tensor("))
    return [TensorProto.DataType.Value(name.upper()) for name in inner]


def _needed_attributes(
    operator: Operator, schema: OpSchema, form: Form, types: Sequence[Type], opset: int
) -> Mapping[str, AttributeValue] | None:
    needed = {}
    known = catalog.schema_attributes(schema)
    for name, value in form.attributes.items():
        if name not in known:
            if value != default_of(operator, name, types):
                return None
        elif not _is_default(operator, schema, name, value, types):
            needed[name] = value
    negative = opset < 11 and any(_is_negative(form.name, *item) for item in needed.items())
    missing = [name for name, a in known.items() if a.required and name not in needed]
    return None if negative or missing else needed


def _is_default(
    operator: Operator, schema: OpSchema, name: str, value: AttributeValue, types: Sequence[Type]
) -> bool:
    if catalog.schema_attributes(schema)[name].required:
        return False
    ranked = _RANKED.get(name)
    if ranked is not None and isinstance(value, tuple):
        return ranked(value)
    if (operator.name, name) in _IMPLIED:
        return value == default_of(operator, name, types)
    default = default_at(schema, name)
    return default is not None and normalise(operator, name, default, types) == value


#: Attributes without a default that runtimes take from the inputs; not so the hidden size of
#: recurrent operators, which they want to be told.
_IMPLIED = {("Attention", "scale")}
#: Attributes whose default is written at the length of the value itself.
_RANKED: Mapping[str, Callable[[tuple[object, ...]], bool]] = {
    "dilations": lambda value: set(value) <= {1},
    "output_padding": lambda value: set(value) <= {0},
    "pads": lambda value: set(value) <= {0},
    "perm": lambda value: value == tuple(reversed(range(len(value)))),
    "strides": lambda value: set(value) <= {1},
}


def _is_negative(op_name: str, name: str, value: AttributeValue) -> bool:
    """An axis that older versions do not count from the back."""
    counted = name in AXES.get(op_name, ()) and op_name != "Gather"
    return counted and isinstance(value, int) and value < 0


def default_at(schema: OpSchema, name: str) -> AttributeValue | None:
    """The default of an attribute at the schema's version, None where there is none."""
    known = catalog.schema_attributes(schema).get(name)
    return None if known is None else known.default


def _trimmed(inputs: Sequence[str | None]) -> tuple[str | None, ...]:
    """Without absent ones at the end."""
    end = len(inputs)
    while end and inputs[end - 1] is None:
        end -= 1
    return tuple(inputs[:end])
