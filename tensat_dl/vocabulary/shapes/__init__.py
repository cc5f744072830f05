"""Shape functions and checks of ours: where ONNX's inference accepts too much or knows too little.

Each module holds a family of operators and a table `SHAPES`: operator name -> function from a
:class:`~tensat_dl.vocabulary.question.Question` to the dims of its outputs, None where it does
not know, the list shorter than the outputs where it says nothing about the later ones.  A
function that only checks returns an empty list.  No name is one of ai.onnx and of ai.onnx.ml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary.question import Question, Shape
from tensat_dl.vocabulary.shapes import (
    attention,
    classical,
    layout,
    linear,
    norms,
    pointwise,
    reductions,
    select,
    window,
)

SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    **attention.SHAPES,
    **classical.SHAPES,
    **layout.SHAPES,
    **linear.SHAPES,
    **norms.SHAPES,
    **pointwise.SHAPES,
    **reductions.SHAPES,
    **select.SHAPES,
    **window.SHAPES,
}
