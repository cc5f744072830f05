"""How much of the arithmetic units an operator keeps busy.

Enters: the sizes of one application.  Leaves: a factor, 1 or more, by which its arithmetic takes
longer than its operations say.  onnxruntime computes a convolution along one axis as a product
whose columns are the places of the output, 16 at a time, however many there are: 2 places take as
long as 16.  A single one is a product with a vector, which takes as long as 4.  Measured on a CPU
with AVX2; with two axes and more it has kernels of another kind.
"""

from __future__ import annotations

import math

from tensat_dl.cost.shapes import Shapes
from tensat_dl.vocabulary.operators import Operator

#: Columns that are computed together, and what a single one takes.
_COLUMNS, _SINGLE = 16, 4


def slowdown(operator: Operator, shapes: Shapes) -> float:
    """The factor for one application of `operator`."""
    y = shapes.output(0)
    if operator.domain or operator.name != "Conv" or len(y.dims) != 3 or not y.numel:
        return 1.0
    places = y.dims[2]
    return _SINGLE if places == 1 else math.ceil(places / _COLUMNS) * _COLUMNS / places
