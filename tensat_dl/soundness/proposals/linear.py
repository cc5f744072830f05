"""Inputs of products and convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensat_dl.soundness.draws import Draw
from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal
from tensat_dl.soundness.proposals.windows import choose_window, spatial_rank


def _matmul(a: Application) -> None:
    left, right = a.sizes(0), a.sizes(1)
    draw = a.draw
    if left is None:
        left = [None] * _matrix_rank(a, 0, a.rank(1))
    if right is None:
        right = [None] * _matrix_rank(a, 1, len(left))
    if not left or not right:
        raise Misfit
    inner_left = len(left) - 1
    inner_right = max(len(right) - 2, 0)
    inner = _first(left[inner_left], right[inner_right], draw.size())
    left[inner_left], right[inner_right] = (
        _first(left[inner_left], inner),
        _first(right[inner_right], inner),
    )
    _batch(a, left, right)
    a.settle(0, left)
    a.settle(1, right)


def _matrix_rank(a: Application, index: int, other: int | None) -> int:
    alike = other is not None and other >= 2 and a.draw.design is None
    if other is not None and alike and a.draw.chance(0.4):
        return other
    return a.pick("rank", (2, 2, 2, 3, 3, 1, 4), index)


def _batch(a: Application, left: list[int | None], right: list[int | None]) -> None:
    """Leading dims that broadcast."""
    draw = a.draw
    for offset in range(3, max(len(left), len(right)) + 1):
        one = left[-offset] if offset <= len(left) else 1
        other = right[-offset] if offset <= len(right) else 1
        size = draw.size()
        if one is None and other is None:
            kinds = {"same": (size, size), "left": (1, size), "right": (size, 1)}
            kind = a.pick(f"axis {offset}", (*kinds, "same"))
            left[-offset], right[-offset] = kinds[kind]
        elif one is None:
            left[-offset] = (
                other if other != 1 and draw.chance(0.7) else (1 if other != 1 else size)
            )
        elif other is None:
            right[-offset] = one if one != 1 and draw.chance(0.7) else (1 if one != 1 else size)


def _first(*sizes: int | None) -> int | None:
    return next((size for size in sizes if size is not None), None)


def _gemm(a: Application) -> None:
    draw = a.draw
    first, second = a.integer("transA", 0, 1), a.integer("transB", 0, 1)
    a.choose("alpha", 1.0, 1.0, 2.0, 0.5)
    a.choose("beta", 1.0, 1.0, 2.0, 0.5)
    left = _oriented(a.sizes(0), first)
    right = _oriented(a.sizes(1), second)
    inner = _first(left[1], right[0], draw.size())
    left[1], right[0] = _first(left[1], inner), _first(right[0], inner)
    left[0], right[1] = _first(left[0], draw.size()), _first(right[1], draw.size())
    a.settle(0, left[::-1] if first else left)
    a.settle(1, right[::-1] if second else right)
    if a.is_open(2):
        shapes: Sequence[Sequence[int | None]] = (
            *(([right[1]],) * 4),
            *([left[0], right[1]], [1, right[1]], [left[0], 1], [1], []),
        )
        a.settle(2, _of_rank(draw, shapes, a.rank(2)))


def _of_rank(
    draw: Draw, shapes: Sequence[Sequence[int | None]], rank: int | None
) -> Sequence[int | None]:
    """One of the shapes, of a rank that may be given."""
    fitting = [shape for shape in shapes if rank in (None, len(shape))]
    if not fitting:
        raise Misfit
    return draw.random.choice(fitting)


def _oriented(sizes: list[int | None] | None, transposed: int) -> list[int | None]:
    if sizes is None:
        return [None, None]
    if len(sizes) != 2:
        raise Misfit
    return sizes[::-1] if transposed else list(sizes)


def _image_and_weights(a: Application) -> tuple[list[int | None], list[int | None]]:
    """What is certain of their dims, of one rank."""
    spatial = spatial_rank(a, (0, 1))
    x = a.sizes(0) or [None] * (2 + spatial)
    w = a.sizes(1) or [None] * (2 + spatial)
    if len(x) != len(w) or len(x) != 2 + spatial:
        raise Misfit
    return x, w


def _conv(a: Application) -> None:
    draw = a.draw
    x, w = _image_and_weights(a)
    group = _group(a, x[1], w)
    channels = _first(x[1], None if w[1] is None else w[1] * group, group * max(draw.size(), 1))
    assert channels is not None
    if channels % group:
        raise Misfit
    w[1] = _first(w[1], channels // group)
    outputs = _first(w[0], a.sizes(2)[0] if a.rank(2) == 1 else None)  # type: ignore[index]
    w[0] = _first(outputs, group * max(draw.size(), 1))
    kernel = choose_window(a, x[2:], w[2:])
    a.settle(0, [_first(x[0], draw.size()), channels, *_extents(draw, x[2:], kernel)])
    a.settle(1, [*w[:2], *kernel])
    a.settle(2, [w[0]])


def _group(a: Application, channels: int | None, w: list[int | None]) -> int:
    """The groups: fixed, implied by both channel counts, or 1, 2, one for each channel."""
    if channels is not None and w[1] is not None and "group" not in a.attributes:
        if w[1] == 0 or channels % w[1]:
            raise Misfit
        if "group" in a.free:
            a.attributes["group"] = channels // w[1]
    kinds = {"one": 1, "some": a.draw.random.choice((2, 3))}
    if channels:
        some = {"some": 2} if channels % 2 == 0 else {}
        kinds = {"one": 1, **some, "each": channels}
    group = a.choose_kind("group", kinds, usual="one")
    return max(group, 1) if isinstance(group, int) else 1


def _extents(draw: Draw, sizes: Sequence[int | None], kernel: Sequence[int]) -> list[int | None]:
    """Spatial sizes: at least the kernel, mostly."""
    return [
        (draw.extent() if draw.chance(0.1) else size + draw.random.randint(0, 3))
        if given is None
        else given
        for given, size in zip(sizes, kernel, strict=True)
    ]


def _conv_transpose(a: Application) -> None:
    draw = a.draw
    x, w = _image_and_weights(a)
    group = max(a.integer("group", 1, 1, 2), 1)
    channels = _first(x[1], w[0], group * max(draw.size(), 1))
    assert channels is not None
    if channels % group:
        raise Misfit
    bias = a.sizes(2)[0] if a.rank(2) == 1 else None  # type: ignore[index]
    w[1] = _first(w[1], None if bias is None else bias // group, max(draw.size(), 1))
    assert w[1] is not None
    kernel = choose_window(a, x[2:], w[2:], output_padding=True)
    a.settle(0, [_first(x[0], draw.size()), channels, *_extents(draw, x[2:], (1,) * len(kernel))])
    a.settle(1, [channels, w[1], *kernel])
    a.settle(2, [w[1] * group])


PROPOSALS: Mapping[str, Proposal] = {
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
}
