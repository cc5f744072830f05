"""A counterexample made small: fewer elements, plainer numbers.

Enters: an instance on which the sides differ.  Leaves: the smallest found, and its mismatch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tensat_dl.soundness import arithmetic
from tensat_dl.soundness.arithmetic import Array, Scheme, Unsupported
from tensat_dl.soundness.contents import open_tensors
from tensat_dl.soundness.instances import Instance, Sampler
from tensat_dl.soundness.judgement import Mismatch, compare_on, judge
from tensat_dl.soundness.sides import Contents
from tensat_dl.soundness.subject import Subject
from tensat_dl.vocabulary.types import TensorType, Type

#: Small instances that are drawn in search of a smaller one.
_ATTEMPTS = 160
#: Evaluations that are spent on plainer numbers.
_EVALUATIONS = 250


@dataclass(frozen=True)
class Refuted:
    """An instance with a mismatch."""

    instance: Instance
    mismatch: Mismatch


def shrink(subject: Subject, found: Refuted, seed: int) -> Refuted:
    """The smallest counterexample that a bounded search finds."""
    best = found
    sampler = Sampler(subject, seed, small=True)
    for attempt in range(_ATTEMPTS):
        instance = sampler.attempt()
        if instance is None or _size(instance) >= _size(best.instance):
            continue
        judged = judge(subject, instance, seed + attempt)
        if judged.mismatch is not None:
            best = Refuted(instance, judged.mismatch)
    return _plainer(subject, best)


def _size(instance: Instance) -> tuple[int, int]:
    """Elements of the open tensors and how many there are; numbers in attributes but 0 and 1."""
    tensors, lists = open_tensors(instance)
    total = attributes = 0
    for row in instance.rows:
        types: list[Type] = [row.scope.tensors[name].type for name in tensors]
        types += [analysis.type for name in lists for analysis in row.scope.lists[name]]
        total += sum(_weight(type_) for type_ in types)
        values = [value for given, _ in row.attributes.values() for _, value in given.items]
        attributes += sum(_plainness(value) for value in values)
    return total, attributes


def _weight(type_: Type) -> int:
    if not isinstance(type_, TensorType):
        return 0
    dims = [dim for dim in type_.dims or () if isinstance(dim, int)]
    # Nothing is harder to follow than something small; a type that is not f32 is a distraction.
    return 2 + max(math.prod(dims), 2) + len(dims) + (type_.dtype.label != "f32")


def _plainness(value: object) -> int:
    items = value if isinstance(value, tuple) else (value,)
    return sum(item not in (0, 1, 1.0, "NOTSET") for item in items)


# --- contents -------------------------------------------------------------------------------


def _plainer(subject: Subject, found: Refuted) -> Refuted:
    """Each element 0, else 1, else -1, else as it is."""
    best = found
    left = _EVALUATIONS
    for place in list(_places(found)):
        for plain in _plainer_than(best, place):
            if left == 0:
                return best
            left -= 1
            again = _again(subject, best, _changed(best.mismatch.contents, place, plain))
            if again is not None:
                best = again
                break
    return best


#: Row, name of the tensor or list, place in the list (-1 for a tensor), place of the element.
_Place = tuple[int, str, int, int]


def _places(found: Refuted) -> Iterator[_Place]:
    tensors, lists = open_tensors(found.instance)
    each = found.instance.plan.rule.each
    for number, (row, contents) in enumerate(
        zip(found.instance.rows, found.mismatch.contents, strict=True)
    ):
        for name in tensors:
            if number and each is not None and name in each.key:
                continue
            array = contents[name]
            if isinstance(array, np.ndarray) and _is_open(row.scope.tensors[name].type):
                yield from ((number, name, -1, index) for index in range(array.size))
        for name in lists:
            arrays = contents[name]
            assert isinstance(arrays, tuple)
            for position, array in enumerate(arrays):
                if _is_open(row.scope.lists[name][position].type):
                    yield from ((number, name, position, index) for index in range(array.size))


def _is_open(type_: Type) -> bool:
    """Its type says no value; strings stay."""
    return isinstance(type_, TensorType) and type_.value is None and type_.dtype.family != "string"


def _array(contents: tuple[Contents, ...], place: _Place) -> Array:
    number, name, position, _ = place
    found = contents[number][name]
    array = found[position] if isinstance(found, tuple) else found
    assert isinstance(array, np.ndarray)
    return array


def _plainer_than(found: Refuted, place: _Place) -> Iterator[int]:
    """The numbers that are plainer than the element, where it may be them."""
    number, name, _, index = place
    array = _array(found.mismatch.contents, place)
    item = array.reshape(-1)[index]
    low, high = found.instance.rows[number].spans.get(name, (-1, 2))
    for plain in (0, 1, -1):
        if item == plain and np.signbit(item.astype(np.float64)) == (plain < 0):
            return
        if low <= plain < high and not (plain < 0 and array.dtype.kind in "ub"):
            yield plain


def _changed(contents: tuple[Contents, ...], place: _Place, plain: int) -> tuple[Contents, ...]:
    """The contents with one element replaced, in all rows that share the tensor."""
    number, name, position, index = place
    old = contents[number][name]
    array = _array(contents, place)
    new = array.copy().reshape(-1)
    new[index] = plain
    replaced = new.reshape(array.shape)
    value = _at(old, position, replaced) if isinstance(old, tuple) else replaced
    return tuple(
        {**row, name: value} if row.get(name) is old or other == number else row
        for other, row in enumerate(contents)
    )


def _at(arrays: tuple[Array, ...], position: int, array: Array) -> tuple[Array, ...]:
    return (*arrays[:position], array, *arrays[position + 1 :])


def _again(subject: Subject, found: Refuted, contents: tuple[Contents, ...]) -> Refuted | None:
    """The mismatch on other contents, if there still is one."""
    scheme = _SCHEMES[found.mismatch.scheme]()
    try:
        trial = compare_on(subject, found.instance, scheme, found.mismatch.style, contents)
    except Unsupported:
        return None
    return None if trial.mismatch is None else replace(found, mismatch=trial.mismatch)


#: A mismatch is shown in an ordered scheme: residues prove, they refute nothing.
_SCHEMES: Mapping[str, Callable[[], Scheme]] = {
    "float64": arithmetic.reals,
    "native": arithmetic.native,
}
