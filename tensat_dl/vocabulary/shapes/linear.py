"""Matrix products and contractions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.equations import read_equation
from tensat_dl.vocabulary.question import (
    KnownShape,
    Question,
    Refusal,
    Shape,
    agree,
    broadcast_shapes,
    require_broadcasts_to,
    require_equal,
    show,
)


def matmul_dims(left: KnownShape, right: KnownShape) -> KnownShape:
    """Dims of `left @ right` as numpy has them; raises Refusal."""
    if not left or not right:
        raise Refusal("a matrix product needs at least one dim on both sides")
    rows = left[-2:-1] if len(left) > 1 else ()
    columns = right[-1:] if len(right) > 1 else ()
    inner = right[-2] if len(right) > 1 else right[0]
    require_equal(left[-1], inner, f"the inner dims of {show(left)} and {show(right)}")
    return (*broadcast_shapes([left[:-2], right[:-2]]), *rows, *columns)


def _matmul(left: int, right: int) -> Callable[[Question], list[Shape]]:
    def infer(question: Question) -> list[Shape]:
        a, b = question.dims(left), question.dims(right)
        return [None if a is None or b is None else matmul_dims(a, b)]

    return infer


def _gemm(question: Question) -> list[Shape]:
    a, b = (_matrix(question, index, flag) for index, flag in ((0, "transA"), (1, "transB")))
    if a is None or b is None:
        return []
    require_equal(a[1], b[0], f"the inner dims of {show(a)} and {show(b)}")
    result = (a[0], b[1])
    bias = question.dims(2)
    if bias is not None:
        require_broadcasts_to(bias, result, "the bias")
    return [result]


def _matrix(question: Question, index: int, flag: str) -> KnownShape | None:
    shape = question.dims(index)
    if shape is None:
        return None
    if len(shape) != 2:
        raise Refusal(f"`{question.name(index)}` must have 2 dims, not {show(shape)}")
    return shape[::-1] if question.integer(flag) else shape


def _einsum(question: Question) -> list[Shape]:
    equation = read_equation(question.text("equation"))
    count = len(equation.terms)
    if count != len(question.inputs):
        raise Refusal(f"the equation names {count} inputs, not {len(question.inputs)}")
    if equation.has_ellipsis:
        return []
    sizes: dict[str, Dim] = {}
    for index, term in enumerate(equation.terms):
        _bind_letters(term, question.dims(index), sizes)
    named = set("".join(equation.terms))
    unbound = [letter for letter in equation.result if letter not in named]
    if unbound:
        raise Refusal(f"`{unbound[0]}` stands on the right side of the equation only")
    return [[sizes.get(letter) for letter in equation.result]]


def _bind_letters(term: str, shape: KnownShape | None, sizes: dict[str, Dim]) -> None:
    if shape is None:
        return
    if len(shape) != len(term):
        raise Refusal(f"`{term}` names {len(term)} dims, but the input is {show(shape)}")
    for letter, size in zip(term, shape, strict=True):
        known = sizes.get(letter, size)
        joined = dims.broadcast(known, size)
        if joined is None:
            raise Refusal(f"`{letter}` is both {known} and {size}")
        sizes[letter] = agree(known, size, letter) if 1 not in (known, size) else joined


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "Einsum": _einsum,
    "Gemm": _gemm,
    "MatMul": _matmul(0, 1),
    "MatMulInteger": _matmul(0, 1),
    "QLinearMatMul": _matmul(0, 3),
}
