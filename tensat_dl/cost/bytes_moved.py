"""Bytes that an operator application reads and writes.

Every tensor that is read is read once, at however many inputs, and every output written once, with
three exceptions, each a table:
views change only a description; selections read no more of their first input than they write;
questions about a shape do not read the tensor.
"""

from __future__ import annotations

from tensat_dl.cost.shapes import Shapes
from tensat_dl.vocabulary.operators import Operator

#: A runtime passes the same buffer on.
VIEWS = frozenset({"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
#: Of the first input, only what is selected is read.
SELECTIONS = frozenset({"Compress", "Gather", "GatherElements", "GatherND", "Slice"})
#: The first input's dims are read, not its elements.
QUESTIONS = frozenset({"EyeLike", "OptionalHasElement", "SequenceLength", "Shape", "Size"})


def bytes_moved(operator: Operator, shapes: Shapes) -> float:
    """Bytes of one application of `operator`."""
    name = "" if operator.domain else operator.name
    if name in VIEWS:
        return 0.0
    written = sum(tensor.nbytes for tensor in shapes.outputs)
    first = shapes.input(0).nbytes
    others = sum(
        tensor.nbytes
        for place, tensor in enumerate(shapes.inputs)
        if place and place not in shapes.repeats
    )
    if name in QUESTIONS:
        return float(others + written)
    if name in SELECTIONS:
        return float(min(first, written) + others + written)
    return float(first + others + written)
