"""Attributes as a rule would write them.

Enters: an operator and attributes of a node.  Leaves: `name=value` for each that says more than the
default, with element types by name.
"""

from __future__ import annotations

from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.signature import value_text

#: Attributes whose number is an element type: `to=f32`, `to=T`.
DTYPE_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype"})


def written_attributes(operator: Operator, attributes: Attributes) -> list[str]:
    """`axis=1`, `to=f32`; defaults are left out."""
    return [
        f"{name}={attribute_text(name, value)}"
        for name, value in attributes.items
        if not _is_usual(operator, name, value)
    ]


def attribute_text(name: str, value: AttributeValue) -> str:
    """The value of the attribute `name`."""
    is_code = name in DTYPE_ATTRIBUTES
    dtype = dtypes.from_onnx(value) if is_code and isinstance(value, int) else None
    return value_text(value) if dtype is None else dtype.label


def _is_usual(operator: Operator, name: str, value: AttributeValue) -> bool:
    """Its default says no more."""
    formal = operator.attribute(name)
    if formal is not None and formal.rank_dependent and isinstance(value, tuple):
        return set(value) <= ({1} if name in ("strides", "dilations") else {0})
    return formal is not None and formal.default == value
