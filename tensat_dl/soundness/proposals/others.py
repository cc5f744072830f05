"""Inputs of operators with rules of their own: Einsum, quantisation, sorting, one-hot."""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.equations import read_equation

_EQUATIONS = ("ij,jk->ik", "bij,bjk->bik", "bhid,bhjd->bhij", "ij,ij->", "ij->ji", "bi,i->b")


def _einsum(a: Application) -> None:
    """Each letter has one size."""
    equation = read_equation(str(a.choose("equation", *_EQUATIONS)))
    if len(equation.terms) != len(a.inputs) or equation.has_ellipsis:
        raise Misfit
    sizes: dict[str, int] = {}
    for index, term in enumerate(equation.terms):
        known = a.sizes(index)
        if known is not None and len(known) == len(term):
            pairs = zip(term, known, strict=True)
            sizes.update({letter: size for letter, size in pairs if size is not None})
    for index, term in enumerate(equation.terms):
        a.settle(index, [sizes.setdefault(letter, a.draw.size()) for letter in term])


def _group_normalization(a: Application) -> None:
    groups = a.integer("num_groups", 1, 2, 3)
    sizes = a.sizes(0) or [None, None, *[None] * a.draw.random.choice((1, 2))]
    if len(sizes) < 2 or groups < 1:
        raise Misfit
    sizes[1] = groups * max(a.draw.size(), 1) if sizes[1] is None else sizes[1]
    a.choose("epsilon", 1e-5, 0.5)
    a.settle(0, sizes)
    for index in (1, 2):
        a.settle(index, [a.dim(0, 1)])


def _quantised(a: Application) -> None:
    """A scale and a zero point for all, or for each place of an axis."""
    dequantises = a.operator.name == "DequantizeLinear"
    narrow = a.draw.random.choice((DType.I8, DType.U8))
    a.settle(0, dtype=narrow if dequantises else DType.F32)
    dims = a.dims(0)
    shape: list[int] = []
    if dims and a.draw.chance(0.5):
        axis = a.choose_axis(len(dims))
        shape = [a.dim(0, axis)]
    a.settle(1, shape, dtype=DType.F32)
    given = a.inputs[0]
    element = getattr(given, "dtype", narrow) if dequantises else narrow
    a.settle(2, shape, dtype=element)


def _top_k(a: Application) -> None:
    a.settle(0, a.draw.dims(1) if a.sizes(0) is None else None)
    dims = a.dims(0)
    axis = a.choose_axis(len(dims))
    a.settle(1, [1], dtype=DType.I64, value=(a.draw.random.randint(0, a.dim(0, axis)),))
    a.choose("largest", 0, 1)


def _one_hot(a: Application) -> None:
    depth = a.draw.random.choice((1, 2, 3))
    a.settle(0, dtype=DType.I64, span=(-depth, depth))
    a.settle(1, (), dtype=DType.I64, value=(depth,))
    a.settle(2, [2])
    a.integer("axis", -1, a.draw.axis(len(a.dims(0)) + 1))


def _local_response(a: Application) -> None:
    a.integer("size", 1, 3)
    a.settle(0, a.sizes(0) or [None] * 4)


def _cumulative(a: Application) -> None:
    a.settle(0, a.draw.dims(1) if a.sizes(0) is None else None)
    rank = len(a.dims(0))
    a.settle(1, (), dtype=DType.I64, value=(a.draw.axis(rank),))
    a.choose("exclusive", 0, 1)
    a.choose("reverse", 0, 1)


#: Gates of a recurrent cell.
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _recurrent(a: Application) -> None:
    """Few steps, few units, in one direction or both."""
    way = a.choose("direction", "forward", "reverse", "bidirectional")
    sides = 2 if way == "bidirectional" else 1
    steps, batch, width = a.draw.random.randint(1, 3), a.draw.random.randint(1, 2), 2
    x, w, r = a.sizes(0), a.sizes(1), a.sizes(2)
    if x is not None and len(x) == 3:
        steps, batch, width = (d or s for d, s in zip(x, (steps, batch, width), strict=True))
    units = r[2] if r is not None and len(r) == 3 and r[2] else 2
    width = w[2] if w is not None and len(w) == 3 and w[2] else width
    gates = _GATES[a.operator.name] * units
    a.settle(0, [steps, batch, width])
    a.settle(1, [sides, gates, width])
    a.settle(2, [sides, gates, units])
    a.settle(3, [sides, 2 * gates])
    a.settle(4, [batch], dtype=DType.I32, span=(1, steps + 1))
    for index in (5, 6):
        a.settle(index, [sides, batch, units])
    a.settle(7, [sides, 3 * units])


def _regions(a: Application) -> None:
    """Images, boxes of four corners, the image of each box."""
    sizes = a.sizes(0) or [None] * 4
    a.settle(0, [max(a.draw.size(), 1) if size is None else size for size in sizes])
    boxes = a.sizes(1) or a.sizes(2) or [None]
    count = a.draw.random.randint(1, 3) if boxes[0] is None else boxes[0]
    a.settle(1, [count, 4])
    a.settle(2, [count], dtype=DType.I64, span=(0, a.dim(0, 0)))
    a.choose("mode", "avg", "max")
    a.integer("output_height", 1, 2)
    a.integer("output_width", 1, 2, 3)


PROPOSALS: Mapping[str, Proposal] = {
    "Einsum": _einsum,
    "GroupNormalization": _group_normalization,
    "DequantizeLinear": _quantised,
    "QuantizeLinear": _quantised,
    "TopK": _top_k,
    "CumSum": _cumulative,
    **dict.fromkeys(_GATES, _recurrent),
    "OneHot": _one_hot,
    "LRN": _local_response,
    "RoiAlign": _regions,
}
