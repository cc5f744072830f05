"""The left side of an instance, evaluated.

Enters: a row with the contents of its open tensors.  Leaves: the contents of every tensor.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.egraph.left import mapped_inputs, varying_list
from tensat_dl.language import program
from tensat_dl.soundness.arithmetic import Array
from tensat_dl.soundness.evaluator import Contents, Evaluator
from tensat_dl.soundness.instances import Instance
from tensat_dl.soundness.rows import Row, tensors_read
from tensat_dl.vocabulary.types import AbsentType, Type, TypeFault


def evaluate_left(
    instance: Instance, row: Row, contents: Contents, by: Evaluator
) -> dict[str, Array | None]:
    """The contents of every tensor of one row of the left side."""
    arrays: dict[str, Array | None] = {
        name: value for name, value in contents.items() if not isinstance(value, tuple)
    }
    waiting = list(enumerate(instance.plan.left.matches))
    made = {name for _, match in waiting for name in match.outputs}
    for name in made:
        arrays.pop(name, None)
    while waiting:
        index, match = next(
            (i, m) for i, m in waiting if not (tensors_read(m) & made) - set(arrays)
        )
        waiting.remove((index, match))
        given, types = _inputs(index, match, row, arrays, contents, by)
        attributes, count = row.attributes[index, False]
        outputs = by.apply(match.operator, attributes, count, tuple(types), given)
        arrays.update(zip(match.outputs, outputs, strict=False))
    return arrays


def _inputs(
    index: int,
    match: program.Match,
    row: Row,
    arrays: Mapping[str, Array | None],
    contents: Contents,
    by: Evaluator,
) -> tuple[list[Array | None], list[Type]]:
    given: list[Array | None] = []
    types: list[Type] = []
    for item in match.inputs:
        match item:
            case program.InputVariable(name):
                given.append(arrays[name])
                types.append(row.scope.tensors[name].type)
            case program.InputStar(name):
                given += _listed(contents, name)
                types += [analysis.type for analysis in row.scope.lists[name]]
            case program.InputMap():
                for place in range(len(row.scope.lists[varying_list(item)])):
                    array, type_ = _element(index, item, place, row, arrays, contents, by)
                    given.append(array)
                    types.append(type_)
            case _:
                given.append(None)
                types.append(AbsentType())
    return given, types


def _listed(contents: Contents, name: str) -> tuple[Array, ...]:
    found = contents[name]
    assert isinstance(found, tuple)
    return found


def _element(
    index: int,
    item: program.InputMap,
    place: int,
    row: Row,
    arrays: Mapping[str, Array | None],
    contents: Contents,
    by: Evaluator,
) -> tuple[Array, Type]:
    """One element of a mapped run."""
    types = tuple(a.type for a in mapped_inputs(item, place, row.scope))
    given: list[Array | None] = []
    for inner in item.inputs:
        match inner:
            case program.InputStar(name):
                given.append(_listed(contents, name)[place])
            case program.InputVariable(name):
                given.append(arrays[name])
            case _:
                given.append(None)
    attributes, count = row.attributes[index, True]
    outputs = by.apply(item.operator, attributes, count, types, given)
    results = by.typer.outputs(item.operator, attributes, types, count)
    assert not isinstance(results, TypeFault)
    return outputs[0], results[0]
