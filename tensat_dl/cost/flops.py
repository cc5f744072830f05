"""FLOPs of an operator application, from its types.

A table of formulas by operator; operators that only move data are listed too, so that a test can
hold that every operator of the vocabulary is accounted for.  An operator that no table knows
counts one operation for each output element, and so does one whose types are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.cost import contractions, pointwise, recurrent, reductions
from tensat_dl.cost.shapes import Shapes
from tensat_dl.vocabulary.operators import Operator, OperatorKind

#: They copy, select or describe: no arithmetic.
DATA_MOVEMENT = frozenset(
    """
    Cast CastLike CenterCropPad Col2Im Compress Concat ConcatFromSequence Constant
    ConstantOfShape DepthToSpace Dropout Expand EyeLike Flatten Gather GatherElements GatherND
    Identity OneHot Optional OptionalGetElement OptionalHasElement Pad Reshape ReverseSequence
    SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape
    Size Slice SpaceToDepth Split SplitToSequence Squeeze Tile Transpose Trilu Unsqueeze
    """.split()
)

#: One operation for each output element is all that can be said: text, images, control flow.
UNCOUNTED = frozenset(
    """
    If ImageDecoder Loop MelWeightMatrix RegexFullMatch Scan SequenceMap StringConcat
    StringNormalizer StringSplit TfIdfVectorizer
    """.split()
)

FORMULAS: Mapping[str, Callable[[Shapes], float]] = {
    **pointwise.FORMULAS,
    **contractions.FORMULAS,
    **reductions.FORMULAS,
    **recurrent.FORMULAS,
}

#: Operators that newer versions give inputs or attributes with which they are opaque: their formula
#: is safe at any rank.
NEWER = frozenset({"Attention", "RMSNormalization"})


def flops(operator: Operator, shapes: Shapes) -> float:
    """Operations of one application of `operator`; finite and not negative."""
    if operator.name in DATA_MOVEMENT and not operator.domain:
        return 0.0
    formula = _formula(operator)
    if formula is None or not shapes.known:
        return float(sum(tensor.numel for tensor in shapes.outputs))
    return float(formula(shapes))


def _formula(operator: Operator) -> Callable[[Shapes], float] | None:
    if operator.domain or operator.kind is OperatorKind.VIRTUAL:
        return None
    if operator.kind is OperatorKind.OPAQUE and operator.name not in NEWER:
        return None
    return FORMULAS.get(operator.name)
