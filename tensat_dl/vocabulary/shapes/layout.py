"""Operators that move elements without computing: reshape, transpose, concatenate, split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.question import (
    KnownShape,
    Question,
    Refusal,
    Shape,
    agree,
    axes_in,
    axis_in,
    product,
    require_equal,
    show,
)


def _reshape(question: Question) -> list[Shape]:
    data, target = question.dims(0), question.dim_values(1)
    if target is None:
        return [_unknown_dims(question.dims(1))]
    if sum(item == -1 for item in target) > 1:
        raise Refusal(f"the target {show(target)} has more than one -1")
    copies = not question.integer("allowzero")
    shape = [
        _copied(data, axis) if copies and item == 0 else item for axis, item in enumerate(target)
    ]
    if any(isinstance(item, int) and item < -1 for item in target):
        raise Refusal(f"the target {show(target)} has a negative dim")
    known = [item for item in shape if item is not None and item != -1]
    open_ended = len(known) < len(shape)
    if data is None or any(item is None for item in shape):
        return [[None if item == -1 else item for item in shape]]
    if not open_ended:
        require_equal(product(data), product(known), f"elements of {show(data)} and {show(known)}")
        return [shape]
    rest = _remaining(data, known)
    return [[rest if item == -1 else item for item in shape]]


def _copied(data: KnownShape | None, axis: int) -> Dim | None:
    if data is None:
        return None
    if axis >= len(data):
        raise Refusal(f"the target copies dim {axis}, but the input is {show(data)}")
    return data[axis]


def _remaining(data: KnownShape, known: Sequence[Dim]) -> Dim:
    """What -1 stands for.  Equal dims are taken out of both sides first, so that a dim of 0 on
    both sides leaves the others to be compared."""
    total, others = list(data), list(known)
    for size in known:
        if size in total:
            total.remove(size)
            others.remove(size)
    numerator, denominator = product(total), product(others)
    if denominator == 0:
        raise Refusal(f"-1 is not determined: {show(data)} has to hold {show(known)}")
    if isinstance(numerator, int) and isinstance(denominator, int) and numerator % denominator:
        raise Refusal(f"the elements of {show(data)} do not divide by those of {show(known)}")
    return numerator // denominator


def _unknown_dims(length: KnownShape | None) -> Shape:
    """As many unknown dims as a shape of that length has."""
    return [None] * length[0] if length and isinstance(length[0], int) else None


def _flatten(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return [[None, None]]
    axis = question.integer("axis", 1)
    if not -len(data) <= axis <= len(data):
        raise Refusal(f"`axis` is {axis}, but there are {len(data)} dims")
    axis += len(data) if axis < 0 else 0
    return [[product(data[:axis]), product(data[axis:])]]


def _squeeze(question: Question) -> list[Shape]:
    data, axes = question.dims(0), question.int_values(1)
    if data is None or (question.has(1) and axes is None):
        return [None]
    if axes is None:
        settled = all(size == 1 or dims.definitely_different(size, 1) for size in data)
        return [[size for size in data if size != 1] if settled else None]
    gone = axes_in(axes, len(data))
    for axis in gone:
        require_equal(data[axis], 1, f"dim {axis} of {show(data)} is squeezed")
    return [[size for axis, size in enumerate(data) if axis not in gone]]


def _unsqueeze(question: Question) -> list[Shape]:
    data, axes = question.dims(0), question.int_values(1)
    if data is None:
        return [None]
    if axes is None:
        length = question.dims(1)
        known = length and isinstance(length[0], int)
        return [[None] * (len(data) + length[0])] if known and length else [None]  # type: ignore[operator]
    shape: list[Dim] = list(data)
    for axis in sorted(axes_in(axes, len(data) + len(axes))):
        shape.insert(axis, 1)
    return [shape]


def _transpose(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return [None]
    perm = question.ints("perm") or tuple(reversed(range(len(data))))
    if sorted(perm) != list(range(len(data))):
        raise Refusal(f"`perm` {list(perm)} is no permutation of {len(data)} dims")
    return [[data[axis] for axis in perm]]


def _concat(question: Question) -> list[Shape]:
    shapes = [question.dims(index) for index in range(len(question.inputs))]
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return [None]
    rank = len(known[0])
    if any(len(shape) != rank for shape in known):
        raise Refusal(f"the inputs differ in rank: {' and '.join(map(show, known))}")
    axis = axis_in(question.integer("axis"), rank)
    joined: list[Dim | None] = list(known[0])
    for shape in known[1:]:
        for other in range(rank):
            if other != axis:
                joined[other] = agree(
                    joined[other] or 0, shape[other], f"dim {other} of the inputs"
                )
    total: Dim = 0
    for shape in known:
        total = total + shape[axis]
    joined[axis] = total if len(known) == len(shapes) else None
    return [joined]


def _split(question: Question) -> list[Shape]:
    data = question.dims(0)
    sizes = _split_sizes(question, data)
    if data is None:
        return []
    axis = axis_in(question.integer("axis"), len(data))
    return [[*data[:axis], size, *data[axis + 1 :]] for size in sizes]


def _split_sizes(question: Question, data: KnownShape | None) -> Sequence[Dim | None]:
    axis = None if data is None else axis_in(question.integer("axis"), len(data))
    whole = None if data is None or axis is None else data[axis]
    if question.has(1):
        return _given_sizes(question, whole)
    count = question.integer("num_outputs")
    if count != question.outputs:
        raise Refusal(f"`num_outputs` is {count}, but there are {question.outputs} outputs")
    if whole is None:
        return [None] * count
    chunk = (whole + count - 1) // count
    last = whole - chunk * (count - 1)
    if dims.is_positive(-last):
        raise Refusal(f"{whole} does not split into {count} parts")
    return [*[chunk] * (count - 1), last]


def _given_sizes(question: Question, whole: Dim | None) -> Sequence[Dim | None]:
    sizes = question.dim_values(1)
    if sizes is None:
        return [None] * question.outputs
    if len(sizes) != question.outputs:
        raise Refusal(f"{len(sizes)} sizes, but {question.outputs} outputs")
    if any(isinstance(size, int) and size < 0 for size in sizes):
        raise Refusal(f"the sizes {show(sizes)} are negative")
    total: Dim = 0
    for size in sizes:
        total = total + size
    if whole is not None:
        require_equal(total, whole, f"the sum of {show(sizes)} and the dim that is split")
    return sizes


def _tile(question: Question) -> list[Shape]:
    data, repeats = question.dims(0), question.dim_values(1)
    if data is None:
        return []
    if repeats is None:
        return [[None] * len(data)]
    if len(repeats) != len(data):
        raise Refusal(f"`repeats` {show(repeats)} must have {len(data)} entries")
    return [[size * count for size, count in zip(data, repeats, strict=True)]]


def _depth_to_space(question: Question) -> list[Shape]:
    data, block = _blocks(question)
    if data is None:
        return []
    if isinstance(data[1], int) and data[1] % block**2:
        raise Refusal(f"{data[1]} channels do not divide by {block}*{block}")
    return [[data[0], data[1] // block**2, data[2] * block, data[3] * block]]


def _space_to_depth(question: Question) -> list[Shape]:
    data, block = _blocks(question)
    if data is None:
        return []
    if any(isinstance(size, int) and size % block for size in data[2:]):
        raise Refusal(f"{show(data[2:])} does not divide by {block}")
    return [[data[0], data[1] * block**2, data[2] // block, data[3] // block]]


def _blocks(question: Question) -> tuple[KnownShape | None, int]:
    data, block = question.dims(0), question.integer("blocksize")
    if block < 1:
        raise Refusal(f"`blocksize` is {block}")
    if data is not None and len(data) != 4:
        raise Refusal(f"the input must have 4 dims, not {show(data)}")
    return data, block


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
