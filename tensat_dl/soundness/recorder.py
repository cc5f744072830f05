"""Both sides of an instance as one graph, noted while they are evaluated in their element types.

Enters: an instance with the contents of what its left side leaves open.  Leaves: a
:class:`Recorded`: the nodes of both sides, virtual operators as what they are lowered to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.model import Constant, Node, Output
from tensat_dl.soundness import arithmetic
from tensat_dl.soundness.arithmetic import Array, Unsupported
from tensat_dl.soundness.evaluator import Contents, Evaluator
from tensat_dl.soundness.instances import Instance, Root
from tensat_dl.soundness.rows import open_names
from tensat_dl.soundness.sides import evaluate_sides
from tensat_dl.soundness.subject import Subject
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type, TypeFault


@dataclass(frozen=True)
class Recorded:
    """`outputs`: of each root the left side's value, then the right side's, which are `expected`;
    what has a known value is among the `constants`, the rest of what is open is in `feeds`."""

    nodes: tuple[Node, ...]
    constants: dict[str, Constant]
    types: dict[str, Type]
    feeds: dict[str, Array]
    outputs: tuple[Output, ...]
    roots: tuple[Root, ...]
    expected: tuple[Array, ...]
    contents: tuple[Contents, ...]

    def types_of(self, node: Node) -> tuple[Type, ...]:
        """The types of what a node reads."""
        return tuple(ABSENT if name is None else self.types[name] for name in node.inputs)


def record(subject: Subject, instance: Instance, contents: Sequence[Contents]) -> Recorded:
    """Evaluate both sides.  Raises Unsupported where nothing here can."""
    recorder = Recorder(subject.answerer.typer, arithmetic.native())
    given = tuple(map(_as_arrays, contents))
    for number, row in enumerate(instance.rows):
        tensors, lists = open_names(instance.plan)
        for name in tensors:
            recorder.open(given[number][name], row.scope.tensors[name].type)
        for name in lists:
            elements = given[number][name]
            assert isinstance(elements, tuple)
            for array, analysis in zip(elements, row.scope.lists[name], strict=True):
                recorder.open(array, analysis.type)
    with np.errstate(all="ignore"):
        try:
            found = evaluate_sides(instance, given, recorder)
        except (IndexError, ValueError) as error:  # contents that an operator does not take
            raise Unsupported(str(error)) from None
    outputs: list[Output] = []
    for root, left, right in found:
        for array in (left, right):
            name = recorder.name_of(array, instance.type_of(root))
            outputs.append(Output(f"o{len(outputs)}", name))
    return Recorded(
        nodes=tuple(recorder.nodes),
        constants=recorder.constants,
        types=recorder.types,
        feeds=recorder.feeds,
        outputs=tuple(outputs),
        roots=tuple(root for root, _, _ in found),
        expected=tuple(array for _, left, right in found for array in (left, right)),
        contents=given,
    )


def _as_arrays(contents: Contents) -> Contents:
    """Without numpy's scalars, of which each use makes a new array."""
    return {
        name: value if value is None or isinstance(value, tuple) else np.asarray(value)
        for name, value in contents.items()
    }


@dataclass
class Recorder(Evaluator):
    """Tells values by the array that holds them: each has one of its own."""

    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, Constant] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    feeds: dict[str, Array] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _kept: list[Any] = field(default_factory=list)  # so that nothing else gets their ids

    def apply(
        self,
        operator: Operator,
        attributes: Attributes,
        count: int,
        types: tuple[Type, ...],
        arrays: Sequence[Array | None],
    ) -> list[Array]:
        """The contents of the outputs, as views that stand for them alone."""
        found = super().apply(operator, attributes, count, types, arrays)
        if operator.kind is OperatorKind.VIRTUAL:
            return found  # its nodes are noted already
        if operator.kind is not OperatorKind.ONNX:
            raise Unsupported(operator.name)
        results = self.typer.outputs(operator, attributes, types, count)
        assert not isinstance(results, TypeFault)
        inputs = [
            None if array is None else self.name_of(array, type_)
            for array, type_ in zip(arrays, types, strict=True)
        ]
        padding = 0 if operator.is_variadic else len(operator.inputs) - len(inputs)
        inputs += [None] * padding
        views = [np.asarray(array).view() for array in found]
        outputs = [self._named(a, t, "v") for a, t in zip(views, results, strict=False)]
        self.nodes.append(Node(operator, attributes, tuple(inputs), tuple(outputs)))
        return views

    def open(self, array: object, type_: Type) -> None:
        """What the left side leaves open, once for all members of a group."""
        if not isinstance(array, np.ndarray) or id(array) in self._names:
            return
        if isinstance(type_, TensorType) and type_.value is not None:
            self.name_of(array, type_)
        else:
            self.feeds[self._named(array, type_, "x")] = array

    def name_of(self, array: Array, type_: Type) -> str:
        """The value that an array holds; one that nothing made is a constant."""
        known = self._names.get(id(array))
        if known is not None:
            return known
        name = self._named(array, type_, "c")
        self.constants[name] = constant_of_array(array)
        self.types[name] = self.constants[name].type
        return name

    def _named(self, array: Array, type_: Type, kind: str) -> str:
        name = f"{kind}{len(self._names)}"
        self._names[id(array)] = name
        self._kept.append(array)
        self.types[name] = type_
        return name
