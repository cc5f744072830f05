"""A counterexample made small: fewer elements, plainer numbers.

Enters: an instance on which the sides differ.  Leaves: the smallest found, and its mismatch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tensat_dl.egraph.typing import Refusal
from tensat_dl.soundness import arithmetic
from tensat_dl.soundness.arithmetic import Array, Scheme, Unsupported
from tensat_dl.soundness.evaluator import Contents
from tensat_dl.soundness.instances import Instance, Sampler, make_instance
from tensat_dl.soundness.judgement import Mismatch, compare_on, judge
from tensat_dl.soundness.older import Departure, OlderOpsets
from tensat_dl.soundness.rows import changed, open_names
from tensat_dl.soundness.subject import Subject
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType, Type

#: Small instances that are drawn in search of a smaller one.
_ATTEMPTS = 160
#: How often its types are made plainer.
_ROUNDS = 12
#: How often contents are drawn for one instance.
_CONTENTS = 2
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
    seeds = itertools.count(seed)

    def refutes(instance: Instance) -> bool:
        nonlocal best
        for _ in range(0 if instance.clash else _CONTENTS):
            mismatch = judge(subject, instance, next(seeds)).mismatch
            if mismatch is not None:
                best = Refuted(instance, mismatch)
                return True
        return False

    _smallest(subject, found.instance, seed, refutes)
    return _plainer(subject, best)


def shrink_clash(subject: Subject, found: Instance, seed: int) -> Instance:
    """The smallest instance found whose sides differ in type."""
    return _smallest(subject, found, seed, lambda instance: instance.clash is not None)


def shrink_departure(subject: Subject, found: Departure, older: OlderOpsets) -> Departure:
    """The smallest instance found that departs at the same opset."""
    best = found

    def departs(instance: Instance) -> bool:
        nonlocal best
        again = older.depart_at(instance, found.opset)
        best = again or best
        return again is not None

    _smallest(subject, found.instance, older.seed, departs)
    return best


def _smallest(
    subject: Subject, found: Instance, seed: int, refutes: Callable[[Instance], bool]
) -> Instance:
    """Small instances drawn anew, then the best of them in plainer types: the last one of which
    `refutes` said so."""
    best = found
    sampler = Sampler(subject, seed, small=True)
    for _ in range(_ATTEMPTS):
        instance = sampler.draw()
        if instance is not None and _size(instance) < _size(best) and refutes(instance):
            best = instance
    forgotten = _retyped(subject, best, _without_value)
    if forgotten is not None and refutes(forgotten):
        best = forgotten
    for _ in range(_ROUNDS):
        plainer = (i for i in _plainer_types(subject, best) if _size(i) < _size(best))
        again = next(filter(refutes, plainer), None)
        if again is None:
            break
        best = again
    return best


# --- types ----------------------------------------------------------------------------------

#: Name and type of an open tensor -> another type.
_Change = Callable[[str, TensorType], TensorType]


def _plainer_types(subject: Subject, instance: Instance) -> Iterator[Instance]:
    """The instance in f32; with smaller dims: of one size everywhere, in a tensor, on an axis."""
    tensors, _ = open_names(instance.plan)
    types = [row.scope.tensors[name].type for row in instance.rows for name in tensors]
    sizes = {dim for type_ in types for dim in _dims(type_) if dim > 1}
    axes = range(1, 1 + max((len(_dims(type_)) for type_ in types), default=0))
    changes: list[_Change] = [lambda _, type_: replace(type_, dtype=DType.F32)]
    for size, place in itertools.product(sorted(sizes, reverse=True), ("", *tensors, *axes)):
        smaller = (new for new in dict.fromkeys((1, 2, size - 1)) if new < size)
        changes += (partial(_resized, place, size, new) for new in smaller)
    for change in changes:
        again = _retyped(subject, instance, partial(_if_free, change))
        if again is not None:
            yield again


def _if_free(change: _Change, name: str, type_: Type) -> Type:
    if isinstance(type_, TensorType) and type_.value is None:
        return change(name, type_)
    return type_


def _without_value(name: str, type_: Type) -> Type:
    """Of floats: a value that nothing asks for keeps the dims as they are."""
    if isinstance(type_, TensorType) and type_.dtype.is_float:
        return replace(type_, value=None)
    return type_


def _resized(place: str | int, old: int, new: int, name: str, type_: TensorType) -> TensorType:
    """`place`: the name of a tensor, an axis counted from the last as 1, or "" for all."""
    if isinstance(place, str) and place not in ("", name):
        return type_
    dims = list(_dims(type_))
    for axis, dim in enumerate(dims):
        if dim == old and (isinstance(place, str) or axis == len(dims) - place):
            dims[axis] = new
    return replace(type_, dims=tuple(dims))


def _retyped(
    subject: Subject, instance: Instance, change: Callable[[str, Type], Type]
) -> Instance | None:
    """The instance with other types, where there is one."""
    rows = [changed(subject, instance.plan, row, change) for row in instance.rows]
    found = tuple(row for row in rows if row is not None)
    try:
        return make_instance(subject, instance.plan, found) if len(found) == len(rows) else None
    except Refusal:
        return None


def _dims(type_: Type) -> tuple[int, ...]:
    if not isinstance(type_, TensorType) or type_.value is not None:
        return ()
    return tuple(dim for dim in type_.dims or () if isinstance(dim, int))


def _size(instance: Instance) -> tuple[int, int]:
    """Elements of the open tensors and how many there are; numbers in attributes but 0 and 1."""
    tensors, lists = open_names(instance.plan)
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
    return 2 + (math.prod(dims) or 2) + len(dims) + (type_.dtype.label != "f32")


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
    tensors, lists = open_names(found.instance.plan)
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
