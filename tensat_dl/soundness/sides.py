"""Both sides of an instance, evaluated on the same contents.

Enters: an instance, contents of what the left side leaves open, an arithmetic scheme.  Leaves:
for every root the arrays of the left and of the right side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensat_dl.soundness.arithmetic import Array
from tensat_dl.soundness.evaluator import BuiltSide, Contents, Evaluator
from tensat_dl.soundness.instances import Instance, Root
from tensat_dl.soundness.left_side import evaluate_left


def evaluate_sides(
    instance: Instance, contents: Sequence[Contents], by: Evaluator
) -> list[tuple[Root, Array, Array]]:
    """For each root: the left side's array and the right side's."""
    lefts = [
        evaluate_left(instance, row, known, by)
        for row, known in zip(instance.rows, contents, strict=True)
    ]
    side = BuiltSide(by, instance.scope, _read_by_right(instance, contents, lefts))
    for build, columns in instance.right:
        side.build(build, columns)
    found = []
    for root in instance.roots:
        expected = lefts[root.member][root.name]
        assert expected is not None
        if root.listed:
            listed = side.values[root.ref]
            assert isinstance(listed, tuple)
            found.append((root, expected, listed[root.member]))
        else:
            found.append((root, expected, side.array(root.ref)))
    return found


def _read_by_right(
    instance: Instance, contents: Sequence[Contents], lefts: Sequence[Mapping[str, Array | None]]
) -> dict[str, Array | tuple[Array, ...] | None]:
    values: dict[str, Array | tuple[Array, ...] | None] = dict(contents[0])
    values.update(lefts[0])
    each = instance.plan.rule.each
    for name in each.members if each is not None else ():
        if name in lefts[0]:
            values[name] = tuple(a for left in lefts if (a := left[name]) is not None)
    return values
