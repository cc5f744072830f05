"""Does a rule keep every type, wherever it applies?  Asked before it is used inside of a term.

Enters: the sides of a rule.  Leaves: True where both sides have one type on every instance tried
on which the left side has one; False where they differ, or where nothing can be said.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.language.lint.sides import Absent, Default, Node, Rest, Sides, Term, Variable
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type, TypeFault

#: Dims of the tensors of a rule, by turns; and one element type for all of them.
_DIMS = (
    ((2, 3, 4, 5),),
    ((4, 4),),
    ((2, 3), (3, 4), (4, 5)),
    ((2, 3), (1, 3), (3,), ()),
    ((1, 4, 6, 6), (4, 4, 3, 3), (4,)),
    ((),),
)
_ELEMENTS = (DType.F32, DType.I64, DType.BOOL)


def keeps_type(shown: Sides) -> bool:
    """True where the right side is known to have the type of the left."""
    names = [name for name, _ in shown.rule.sorts]
    told = False
    for element in _ELEMENTS:
        for dims in _DIMS:
            types = {n: TensorType(element, dims[i % len(dims)]) for i, n in enumerate(names)}
            left = _type(shown.left, types)
            if left is None:
                continue
            if _type(shown.right, types) != left:
                return False
            told = True
    return told


def _type(term: Term, types: Mapping[str, Type]) -> Type | None:
    match term:
        case Variable(name=name):
            return types.get(name)
        case Absent():
            return ABSENT
        case Node():
            return _node_type(term, types)
    return None


def _node_type(node: Node, types: Mapping[str, Type]) -> Type | None:
    from tensat_dl.vocabulary.canonical import canonical_attributes
    from tensat_dl.vocabulary.infer import infer

    plain = all(isinstance(attribute, Default | Rest) for _, attribute in node.attributes)
    inputs = tuple(_type(child, types) for child in node.inputs)
    given = tuple(found for found in inputs if found is not None)
    if not plain or node.operator.kind is not OperatorKind.ONNX or len(given) < len(inputs):
        return None
    attributes = canonical_attributes(node.operator, {}, given)
    found = infer(node.operator, attributes, given, max(1, node.operator.min_outputs))
    return None if isinstance(found, TypeFault) else found[0]
