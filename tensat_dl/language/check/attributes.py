"""Attributes: is what was written of the kind that the operator declares?

Literals are checked here; names and computed values when the rule applies.  Reports E0306.
"""

from __future__ import annotations

from tensat_dl.language.check.report import source_text
from tensat_dl.language.check.variables import Context
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.operators import AttributeKind, FormalAttribute, Operator
from tensat_dl.vocabulary.signature import signature
from tensat_dl.vocabulary.written import DTYPE_ATTRIBUTES

_LISTS = {
    AttributeKind.INTS: AttributeKind.INT,
    AttributeKind.FLOATS: AttributeKind.FLOAT,
    AttributeKind.STRINGS: AttributeKind.STRING,
}

_EXAMPLES = {
    AttributeKind.INT: "1",
    AttributeKind.FLOAT: "1.0",
    AttributeKind.STRING: '".."',
    AttributeKind.INTS: "[1]",
    AttributeKind.FLOATS: "[1.0]",
    AttributeKind.STRINGS: '[".."]',
    AttributeKind.OTHER: "a",
}


def example(formal: FormalAttribute) -> str:
    """A value of the attribute's kind, for a help line."""
    return "f32" if formal.name in DTYPE_ATTRIBUTES else _EXAMPLES[formal.kind]


def check_kind(
    keyword: ast.Keyword, formal: FormalAttribute, operator: Operator, context: Context
) -> None:
    """Report a literal that is not of the attribute's kind."""
    if fits(keyword.value, formal.kind):
        return
    help = ""
    if formal.kind in _LISTS and fits(keyword.value, _LISTS[formal.kind]):
        help = f"write `{keyword.name}=[{source_text(keyword.value.span)}]`"
    context.report.error(
        "E0306",
        f"the attribute `{formal.name}` of `{operator.name}` takes {_kind_text(formal.kind)}",
        keyword.value.span,
        notes=(signature(operator),),
        help=help,
    )


def _kind_text(kind: AttributeKind) -> str:
    if kind in _LISTS:
        return f"a list of {_LISTS[kind].value}s"
    return "a name that the left side binds" if kind is AttributeKind.OTHER else f"one {kind.value}"


def fits(value: ast.Expr, kind: AttributeKind) -> bool:
    """Could `value` be of that kind?  True for what is not a literal."""
    value = value.operand if _is_negative(value) else value  # type: ignore[union-attr]
    if isinstance(value, ast.ListExpr):
        element = _LISTS.get(kind)
        return element is not None and all(fits(item, element) for item in value.items)
    literal = _literal_kinds(value)
    return literal is None or kind in literal


def _is_negative(value: ast.Expr) -> bool:
    return isinstance(value, ast.Unary) and value.operator == "-"


def _literal_kinds(value: ast.Expr) -> tuple[AttributeKind, ...] | None:
    match value:
        case ast.Number():
            whole = isinstance(value.value, int)
            return (AttributeKind.INT, AttributeKind.FLOAT) if whole else (AttributeKind.FLOAT,)
        case ast.Boolean() | ast.Compare():
            return (AttributeKind.INT,)
        case ast.String():
            return (AttributeKind.STRING,)
        case ast.Name() if dtypes.from_name(value.text) is not None:
            return (AttributeKind.INT,)
        case ast.Binary():
            return (AttributeKind.INT, AttributeKind.FLOAT, *_LISTS)
    return None
