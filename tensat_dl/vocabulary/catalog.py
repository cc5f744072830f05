"""The operators of `language 1`: ai.onnx 21, a few newer ones, and ai.onnx.ml 5, from `onnx.defs`
and our tables.

Enters: an operator's name.  Leaves: an :class:`Operator`, or None where the language has none.
What ONNX does not say stands in the tables below, one line each.  Left out: deprecated
operators (they lift to others), `Constant` (a constant is a value, not a node), and operators
with subgraphs, which are opaque.  `onnx` is imported when the first operator is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.operators import (
    LANGUAGE_OPSET,
    AttributeKind,
    Formal,
    FormalAttribute,
    Operator,
    OperatorKind,
)
from tensat_dl.vocabulary.signature import describe, signature

if TYPE_CHECKING:
    from onnx.defs import OpSchema

__all__ = [
    "LANGUAGE_OPSET",
    "describe",
    "names",
    "opaque",
    "operator",
    "schema_at",
    "schema_attributes",
    "signature",
]

#: The version of every domain that rules know.
VERSIONS = {"": LANGUAGE_OPSET, "ai.onnx.ml": 5}

#: Operators that came after :data:`LANGUAGE_OPSET` and are of the language all the same, each as of
#: the version in which it first came.
NEWER: Mapping[str, int] = {"Attention": 23, "RMSNormalization": 23, "RotaryEmbedding": 23}

#: Their inputs may be permuted.  `Sum` and `Mean` of more than two floats round differently
#: then: see :meth:`Operator.commutes`.
COMMUTATIVE = frozenset(
    [
        "Add",
        "Mul",
        "Min",
        "Max",
        "And",
        "Or",
        "Xor",
        "Equal",
        "BitwiseAnd",
        "BitwiseOr",
        "BitwiseXor",
        "Sum",
        "Mean",
    ]
)

#: Two applications to equal inputs differ.
RANDOM = frozenset(
    [
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Multinomial",
        "Bernoulli",
    ]
)

#: Random in some versions or modes, so that an opaque one is never merged.
_RANDOM_WHEN_OPAQUE = RANDOM | {"Dropout", "If", "Loop", "Scan", "SequenceMap"}

#: Attributes that follow from the inputs.
IMPLIED = {
    name: frozenset({"kernel_shape"})
    for name in ("Conv", "ConvInteger", "ConvTranspose", "DeformConv", "QLinearConv")
}

_WINDOW = frozenset({"strides", "pads", "dilations"})

#: Attributes whose default is written out at the node's rank (see `canonical`).
RANK_DEPENDENT = {
    "AveragePool": _WINDOW,
    "Col2Im": _WINDOW,
    "Conv": _WINDOW,
    "ConvInteger": _WINDOW,
    "ConvTranspose": _WINDOW | {"output_padding"},
    "DeformConv": _WINDOW,
    "LpPool": _WINDOW,
    "MaxPool": _WINDOW,
    "MaxUnpool": _WINDOW - {"dilations"},
    "QLinearConv": _WINDOW,
    "Transpose": frozenset({"perm"}),
}

_KINDS = {
    "INT": AttributeKind.INT,
    "FLOAT": AttributeKind.FLOAT,
    "STRING": AttributeKind.STRING,
    "INTS": AttributeKind.INTS,
    "FLOATS": AttributeKind.FLOATS,
    "STRINGS": AttributeKind.STRINGS,
}


@cache
def operator(name: str, domain: str = "") -> Operator | None:
    """The operator of that name, or None."""
    domain = "" if domain == "ai.onnx" else domain
    if domain not in VERSIONS:
        return None
    schema = schema_at(domain, name, version_of(name, domain))
    return None if schema is None or not _is_in_language(schema) else _from_schema(schema)


@cache
def names(domain: str = "") -> tuple[str, ...]:
    """All operators that :func:`operator` knows in that domain, sorted."""
    from onnx import defs

    found = {schema.name for schema in defs.get_all_schemas_with_history()}
    return tuple(sorted(name for name in found if operator(name, domain) is not None))


def version_of(name: str, domain: str = "") -> int:
    """The version of its domain at which the language has an operator."""
    return NEWER.get(name, LANGUAGE_OPSET) if domain == "" else VERSIONS.get(domain, 1)


def versions_of(operators: Iterable[Operator]) -> dict[str, int]:
    """The versions of all domains at which a model can hold these operators as the language has
    them: later than :data:`VERSIONS` where there is one of :data:`NEWER`."""
    own = (o.name for o in operators if o.kind is OperatorKind.ONNX and not o.domain)
    return {**VERSIONS, "": max(map(version_of, own), default=LANGUAGE_OPSET)}


@cache
def opaque(domain: str, name: str, version: int) -> Operator:
    """An operator that is only carried along: any inputs, any outputs, no reasoning.

    Equal applications are merged only where ONNX defines the operator and it is not random.
    """
    return Operator(
        domain,
        name,
        OperatorKind.OPAQUE,
        inputs=(Formal("inputs", optional=True, variadic=True),),
        outputs=(Formal("outputs", optional=True, variadic=True),),
        since=version,
        deterministic=domain in VERSIONS and name not in _RANDOM_WHEN_OPAQUE,
    )


@cache
def schema_at(domain: str, name: str, version: int) -> OpSchema | None:
    """ONNX's schema of an operator as of a version of its domain, or None."""
    from onnx import defs

    try:
        return defs.get_schema(name, version, domain)
    except defs.SchemaError:
        return None


@dataclass(frozen=True)
class SchemaAttribute:
    """An attribute at the schema's version: its default, None where it is absent without."""

    required: bool
    default: AttributeValue | None


@cache
def schema_attributes(schema: OpSchema) -> Mapping[str, SchemaAttribute]:
    """The attributes of a schema of `schema_at`, which ONNX copies whenever it is asked."""
    return {
        name: SchemaAttribute(attribute.required, default_value(attribute))
        for name, attribute in schema.attributes.items()
    }


def _is_in_language(schema: OpSchema) -> bool:
    subgraphs = any(_enum_name(a.type) in ("GRAPH", "GRAPHS") for a in schema.attributes.values())
    constant = schema.domain == "" and schema.name == "Constant"
    return not (schema.deprecated or subgraphs or constant)


def _from_schema(schema: OpSchema) -> Operator:
    own = schema.domain == ""
    implied = IMPLIED.get(schema.name, frozenset()) if own else frozenset()
    ranked = RANK_DEPENDENT.get(schema.name, frozenset()) if own else frozenset()
    return Operator(
        schema.domain,
        schema.name,
        OperatorKind.ONNX,
        inputs=tuple(_formal(parameter) for parameter in schema.inputs),
        outputs=tuple(_formal(parameter) for parameter in schema.outputs),
        attributes=tuple(
            FormalAttribute(
                attribute.name,
                _KINDS.get(_enum_name(attribute.type), AttributeKind.OTHER),
                default_value(attribute),
                required=attribute.required,
                rank_dependent=attribute.name in ranked,
                implied=attribute.name in implied,
            )
            for attribute in sorted(schema.attributes.values(), key=lambda a: a.name)
        ),
        since=schema.since_version,
        min_inputs=schema.min_input,
        min_outputs=schema.min_output,
        commutative=own and schema.name in COMMUTATIVE,
        deterministic=not (own and schema.name in RANDOM),
    )


def _enum_name(member: object) -> str:
    return str(member).rpartition(".")[2]


def _formal(parameter: OpSchema.FormalParameter) -> Formal:
    option = _enum_name(parameter.option)
    return Formal(
        parameter.name,
        optional=option == "Optional",
        variadic=option == "Variadic",
        type_name=parameter.type_str,
    )


def default_value(attribute: OpSchema.Attribute) -> AttributeValue | None:
    """The default of an attribute as ONNX has it, None where that is "absent"."""
    from onnx.helper import get_attribute_value

    if not attribute.default_value.name:
        return None
    value = get_attribute_value(attribute.default_value)
    match value:
        case bytes():
            return value.decode()
        case list():
            return tuple(v.decode() if isinstance(v, bytes) else v for v in value)
        case int() | float():
            return value
    return None
