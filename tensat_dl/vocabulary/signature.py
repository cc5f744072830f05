"""Operators as text for rule authors: one line for an error's note, a page for `ops NAME`.

Rendered from :class:`Operator` alone, but for the element types that an ONNX type variable
stands for, which are asked from `onnx.defs` when a page is rendered.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import AttributeValue, Blob
from tensat_dl.vocabulary.operators import Formal, FormalAttribute, Operator, OperatorKind

_ONNX_NAMES = {
    "float": "f32",
    "double": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex64": "c64",
    "complex128": "c128",
}


def signature(op: Operator) -> str:
    """`Concat(inputs: T+, *, axis: int)   (ai.onnx, since 13)`."""
    parts = [f"{formal.name}: {_formal_type(formal)}" for formal in op.inputs]
    keywords = [_attribute(formal) for formal in op.attributes if not formal.implied]
    arguments = ", ".join([*parts, *(["*"] if keywords else []), *keywords])
    return f"{op.qualified_name}({arguments})   ({_origin(op)})"


def describe(op: Operator) -> str:
    """Signature, outputs, attributes and element types, over several lines."""
    lines = [signature(op), ""]
    lines += _block("inputs", (_line(f, "variadic" if f.variadic else "") for f in op.inputs))
    lines += _block("outputs", (_line(formal, "") for formal in op.outputs))
    lines += _block("attributes", (_attribute_line(formal) for formal in op.attributes))
    lines += _block("element types", _constraints(op))
    lines += _block("properties", _properties(op))
    return "\n".join(lines).rstrip() + "\n"


def _origin(op: Operator) -> str:
    if op.kind is OperatorKind.VIRTUAL:
        return "virtual"
    return f"{op.domain or 'ai.onnx'}, since {op.since}"


def _formal_type(formal: Formal) -> str:
    mark = "+" if formal.variadic and not formal.optional else "*" if formal.variadic else ""
    return type_name(formal.type_name) + (mark or ("?" if formal.optional else ""))


def type_name(onnx_type: str) -> str:
    """`tensor(int64)` as `i64`; type variables stay."""
    inner = onnx_type.removeprefix("tensor(").removesuffix(")")
    if inner == onnx_type:
        return onnx_type
    short = _ONNX_NAMES.get(inner) or inner.replace("uint", "u").replace("int", "i")
    short = short.replace("float", "f")
    return short if dtypes.from_name(short) else onnx_type


def _attribute(formal: FormalAttribute) -> str:
    if formal.required:
        return f"{formal.name}: {formal.kind.value}"
    if formal.default is None:
        return f"{formal.name}: {formal.kind.value}?"
    return f"{formal.name}: {formal.kind.value} = {value_text(formal.default)}"


def value_text(value: AttributeValue) -> str:
    """An attribute value as a rule file spells it."""
    match value:
        case Blob():
            return f"<{value.kind} {value.digest[:8]}>"
        case tuple():
            return "[" + ", ".join(value_text(item) for item in value) + "]"
        case str():
            return f'"{value}"'
        case float():
            return f"{value:.7g}"
    return str(value)


def _line(formal: Formal, note: str) -> str:
    return f"{formal.name}: {_formal_type(formal)}" + (f"   {note}" if note else "")


def _attribute_line(formal: FormalAttribute) -> str:
    notes = {
        "required": formal.required,
        "default depends on the rank": formal.rank_dependent,
        "follows from the inputs; not matched": formal.implied,
        "absent by default": not (formal.required or formal.rank_dependent or formal.implied)
        and formal.default is None,
    }
    note = ", ".join(text for text, holds in notes.items() if holds)
    return _attribute(formal) + (f"   ({note})" if note else "")


def _constraints(op: Operator) -> list[str]:
    if op.kind is not OperatorKind.ONNX:
        return []
    from onnx import defs

    schema = defs.get_schema(op.name, op.since, op.domain)
    return [
        f"{constraint.type_param_str}: "
        + ", ".join(sorted(type_name(text) for text in constraint.allowed_type_strs))
        for constraint in schema.type_constraints
    ]


def _properties(op: Operator) -> list[str]:
    notes = {
        "commutative: a pattern matches its inputs in any order": op.commutative,
        "random: never merged, never folded": not op.deterministic,
        "several outputs: a term means output 0": op.has_bundle,
    }
    return [text for text, holds in notes.items() if holds]


def _block(title: str, lines: Iterable[str]) -> list[str]:
    body = [f"  {line}" for line in lines]
    return [f"{title}:", *body] if body else []
