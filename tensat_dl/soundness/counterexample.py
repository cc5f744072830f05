"""A mismatch as plain data for a person.

Enters: an instance and the mismatch found on it, or its clash.  Leaves: a :class:`Counterexample`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensat_dl.egraph.build import BuildConstant, BuildMap, Many, One
from tensat_dl.egraph.typing import first_id
from tensat_dl.language import program
from tensat_dl.language.values import Value, as_dtype
from tensat_dl.soundness.arithmetic import Array
from tensat_dl.soundness.evaluator import Contents
from tensat_dl.soundness.instances import Instance, Root
from tensat_dl.soundness.judgement import Mismatch
from tensat_dl.soundness.older import Departure, carried_outputs, difference
from tensat_dl.soundness.recorder import Recorded
from tensat_dl.soundness.rows import open_names
from tensat_dl.soundness.subject import Subject
from tensat_dl.soundness.verdict import Computed, Counterexample, Tensor
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.signature import value_text
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type, type_text
from tensat_dl.vocabulary.written import DTYPE_ATTRIBUTES, attribute_text, written_attributes

#: By the name of the scheme.
_COMPUTED = {
    "float64": Computed.REALS,
    "native": Computed.NATIVE,
    "modular": Computed.MODULAR,
}


def describe(subject: Subject, instance: Instance, mismatch: Mismatch) -> Counterexample:
    """The mismatch with everything that a person needs to follow it."""
    root, difference = mismatch.root, mismatch.difference
    type_, name = instance.type_of(root), _root_name(root)
    left, right = mismatch.left, mismatch.right
    if mismatch.scheme != "native" and left.dtype.kind == "f":  # reals have one zero
        left, right = left + 0.0, right + 0.0
    return Counterexample(
        names=dict(_names(instance)),
        applied=tuple(_applied(subject, instance)),
        inputs=tuple(_inputs(instance, mismatch.contents)),
        left=Tensor(name, type_text(type_), plain(left)),
        right=Tensor(name, type_text(type_), plain(right)),
        index=difference.index,
        left_element=plain(np.asarray(difference.left)),
        right_element=plain(np.asarray(difference.right)),
        computed=Computed.WRAPPED if left.dtype.kind in "iu" else _COMPUTED[mismatch.scheme],
    )


def describe_clash(subject: Subject, instance: Instance) -> Counterexample:
    """Two types that are not one, with everything that a person needs to follow it."""
    clash = instance.clash
    assert clash is not None
    left, right, name = instance.type_of(clash.root), clash.right, _root_name(clash.root)
    return Counterexample(
        names=dict(_names(instance)),
        applied=tuple(_applied(subject, instance)),
        inputs=tuple(_inputs(instance, None)),
        left=Tensor(name, type_text(left), _known_value(left)),
        right=Tensor(name, type_text(right), _known_value(right)),
        index=(),
        left_element=type_text(left),
        right_element=type_text(right),
        computed=Computed.TYPES,
    )


def describe_departure(subject: Subject, found: Departure) -> Counterexample:
    """What a model of an older opset makes of both sides, or, where that is one thing, of one."""
    recorded, instance = found.recorded, found.instance
    root = recorded.roots[found.output // 2]
    if found.unwritable:
        left = right = None
        computed = Computed.WRITTEN
    else:
        first = found.output - found.output % 2
        left, right, computed = *found.found[first : first + 2], Computed.WRITTEN
        if not difference(recorded, left, right).problem:
            left, computed = carried_outputs(recorded)[first], Computed.READ
    name, type_ = _root_name(root), type_text(instance.type_of(root))
    index, elements = _place(recorded, left, right)
    return Counterexample(
        names=dict(_names(instance)),
        applied=tuple(_applied(subject, instance)),
        inputs=tuple(_inputs(instance, recorded.contents)),
        left=Tensor(name, type_, None if left is None else plain(left)),
        right=Tensor(name, type_, None if right is None else plain(right)),
        index=index,
        left_element=elements[0],
        right_element=elements[1],
        computed=computed,
        opset=found.opset,
        unwritable=found.unwritable,
    )


def _place(
    recorded: Recorded, left: Array | None, right: Array | None
) -> tuple[tuple[int, ...], tuple[Any, Any]]:
    """Where two outputs differ most, and what stands there."""
    if left is None or right is None:
        return (), (None, None)
    if left.shape != right.shape or left.dtype != right.dtype:
        return (), (f"{left.dtype}{list(left.shape)}", f"{right.dtype}{list(right.shape)}")
    index = difference(recorded, left, right).index
    return index, (plain(np.asarray(left[index])), plain(np.asarray(right[index])))


def _known_value(type_: Type) -> Any:
    if not isinstance(type_, TensorType) or type_.value is None:
        return None
    dims = [dim for dim in type_.dims or () if isinstance(dim, int)]
    return plain(np.array(type_.value).reshape(dims))


def _root_name(root: Root) -> str:
    return f"{shown(root.name)}[{root.member}]" if root.listed else shown(root.name)


def plain(array: Array) -> Any:
    """Nested lists of Python numbers, whole ones as integers."""
    if array.dtype.kind in "iub":
        return array.tolist()
    if array.dtype.kind in "USO":
        return array.tolist()
    return _rounded(array.astype(np.float64).tolist())


def _rounded(item: Any) -> Any:
    if isinstance(item, list):
        return [_rounded(part) for part in item]
    whole = isinstance(item, float) and item.is_integer() and (item != 0 or not np.signbit(item))
    return int(item) if whole and abs(item) < 2**53 else item


def _names(instance: Instance) -> Iterator[tuple[str, str]]:
    """Dims, element types and attributes that the rule names."""
    codes = _named_codes(instance.plan.rule)
    for name, sort in instance.plan.rule.sorts:
        if sort in (program.Sort.TENSOR, program.Sort.TENSORS) or not name.isidentifier():
            continue
        values = [row.scope.env.names.get(name) for row in instance.rows]
        if sort is program.Sort.DTYPE or name in codes:  # the code of an element type
            values = [None if value is None else as_dtype(value) for value in values]
        texts = list(dict.fromkeys(_text(value) for value in values if value is not None))
        if texts:
            yield name, " / ".join(texts)


def _named_codes(rule: program.Rule) -> frozenset[str]:
    """The names that attributes bind which hold the code of an element type."""
    bound = (pair for match in rule.matches for pair in match.attributes.bound)
    return frozenset(variable for name, variable in bound if name in DTYPE_ATTRIBUTES)


def _text(value: Value) -> str:
    match value:
        case Attributes():
            return _attributes(value) or "none"
        case tuple():
            return "[" + ", ".join(_text(item) for item in value) + "]"
        case str() | float():
            return value_text(value)
    return str(value)


def _attributes(attributes: Attributes) -> str:
    return ", ".join(f"{name}={attribute_text(name, value)}" for name, value in attributes.items)


# --- operators ------------------------------------------------------------------------------


def _applied(subject: Subject, instance: Instance) -> Iterator[str]:
    for number, row in enumerate(instance.rows):
        which = "left" if len(instance.rows) == 1 else f"left {number}"
        for index, match in enumerate(instance.plan.left.matches):
            types = [row.scope.tensors[name].type for name in match.outputs]
            inputs = [_written(item, row.attributes.get((index, True))) for item in match.inputs]
            line = _line(match.operator, inputs, row.attributes[index, False][0])
            yield f"{which}: {_outputs(match.outputs, types)} = {line}"
    interner = subject.answerer.interner
    for build, columns in instance.right:
        if isinstance(build, BuildConstant):
            array = interner.constant(first_id(columns)).load()
            type_ = instance.scope.tensors[build.name].type
            yield f"right: {shown(build.name)}: {type_text(type_)} = {plain(array)}"
            continue
        attributes, _ = interner.attributes(first_id(columns))
        many = isinstance(build, BuildMap) or build.each
        names = (build.name,) if many else build.outputs  # type: ignore[union-attr]
        types = [] if many else [instance.scope.tensors[name].type for name in names]
        inputs = [_reference(item) for item in build.inputs]
        yield f"right: {_outputs(names, types)} = {_line(build.operator, inputs, attributes)}"


def _reference(item: str | One | Many) -> str:
    if isinstance(item, Many):
        return f"*{shown(item.ref)}"
    ref = item.ref if isinstance(item, One) else item
    return shown(ref) if ref else ""


def _written(item: program.MatchInput, mapped: tuple[Attributes, int] | None) -> str:
    """An input of a match, as a rule would write it."""
    match item:
        case program.InputVariable(name):
            return shown(name)
        case program.InputStar(name):
            return f"*{shown(name)}"
        case program.InputMap():
            assert mapped is not None
            inner = [_written(each, None).removeprefix("*") for each in item.inputs]
            return "*" + _line(item.operator, inner, mapped[0])
    return ""


def _outputs(names: Sequence[str], types: Sequence[Type]) -> str:
    if not types:
        return f"*{shown(names[0])}"
    return ", ".join(f"{shown(n)}: {type_text(t)}" for n, t in zip(names, types, strict=False))


def _line(operator: Operator, inputs: Sequence[str], attributes: Attributes) -> str:
    while inputs and not inputs[-1]:
        inputs = inputs[:-1]
    given = [text or "absent" for text in inputs]
    given += written_attributes(operator, attributes)
    return f"{operator.name}({', '.join(given)})"


# --- inputs ---------------------------------------------------------------------------------


def _inputs(instance: Instance, contents: Sequence[Contents] | None) -> Iterator[Tensor]:
    """What the left side leaves open; without contents, with the values that types know."""
    tensors, lists = open_names(instance.plan)
    each = instance.plan.rule.each
    members = frozenset(each.members) if each is not None else frozenset()
    several = len(instance.rows) > 1
    for number, row in enumerate(instance.rows):
        given = {} if contents is None else contents[number]
        for name in tensors:
            if number and name not in members:
                continue
            label = f"{name}[{number}]" if several and name in members else shown(name)
            type_ = row.scope.tensors[name].type
            yield _input(label, type_, given.get(name))
        for name in lists:
            types = [analysis.type for analysis in row.scope.lists[name]]
            arrays = given.get(name) or (None,) * len(types)
            for place, (type_, array) in enumerate(zip(types, arrays, strict=True)):
                yield _input(f"{name}[{place}]", type_, array)


def _input(label: str, type_: Type, array: object) -> Tensor:
    if isinstance(type_, AbsentType):
        return Tensor(label, "absent", None)
    elements = plain(array) if isinstance(array, np.ndarray) else _known_value(type_)
    return Tensor(label, type_text(type_), elements)


def shown(name: str) -> str:
    """Names that the rule does not write: `$1` of the left side, `%1` of the right one."""
    if name.startswith("%l"):
        return "constant" + name.removeprefix("%l").replace("_", "")
    if name.startswith("%w"):
        return "any" + name.removeprefix("%w").replace("_", "")
    return name.replace("$", "left").replace("%", "right").replace(".", "_").replace("'", "_")
