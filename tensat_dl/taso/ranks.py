"""The ranks that a substitution implies for its tensors.

Enters: both sides.  Leaves: for each variable a rank, or the group of tensors of one rank that it
belongs to where that group is multiplied; nothing where any rank will do.  TASO computes the
right side only where it has a type, so both sides count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensat_dl.taso.codes import Operator, Parameter
from tensat_dl.taso.graph import Inexpressible, Part, Side
from tensat_dl.taso.read import Tensor

#: A tensor of a side; variables are the same on both.
_Place = tuple[int, Tensor]


@dataclass
class _Classes:
    parents: dict[_Place, _Place] = field(default_factory=dict)
    ranks: dict[_Place, int] = field(default_factory=dict)
    matrices: set[_Place] = field(default_factory=set)

    def find(self, place: _Place) -> _Place:
        while place in self.parents:
            place = self.parents[place]
        return place

    def join(self, one: _Place, other: _Place) -> None:
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        self.parents[other] = one
        if other in self.ranks:
            self.fix(one, self.ranks[other])
        if other in self.matrices:
            self.matrices.add(one)

    def fix(self, place: _Place, rank: int) -> None:
        place = self.find(place)
        if self.ranks.setdefault(place, rank) != rank:
            raise Inexpressible(f"ranks {self.ranks[place]} and {rank} meet")


@dataclass(frozen=True)
class Rank:
    """`rank` where it is certain, else the number of a group of tensors that are multiplied: all
    of one rank, alike in all dims but the last two."""

    rank: int | None
    group: int | None = None


def ranks_of(left: Side, right: Side) -> Mapping[Tensor, Rank]:
    """By variable.  Raises Inexpressible where ranks contradict each other."""
    classes = _Classes()
    for number, side in enumerate((left, right)):
        for index, part in enumerate(side.parts):
            _add(classes, number, part, index)
    for one, other in zip(left.outputs, right.outputs, strict=True):
        classes.join(_place(0, one), _place(1, other))
    groups: dict[_Place, int] = {}
    found: dict[Tensor, Rank] = {}
    for variable in left.variables():
        root = classes.find(_place(0, variable))
        if root in classes.ranks:
            found[variable] = Rank(classes.ranks[root])
        elif root in {classes.find(place) for place in classes.matrices}:
            found[variable] = Rank(None, groups.setdefault(root, len(groups) + 1))
    return found


def _place(side: int, tensor: Tensor) -> _Place:
    return (0 if tensor.operator < 0 else side, tensor)


def _add(classes: _Classes, side: int, part: Part, index: int) -> None:
    inputs = [_place(side, tensor) for tensor in part.inputs]
    outputs = [(side, Tensor(index, output)) for output in range(part.outputs)]
    alike = [*inputs, *outputs]
    if part.operator is Operator.MUL:
        classes.fix(inputs[1], 0)
        alike = [inputs[0], *outputs]
    for place in alike[1:]:
        classes.join(alike[0], place)
    if part.operator in (Operator.CONV2D, Operator.POOL2D_MAX, Operator.ENLARGE):
        classes.fix(alike[0], 4)
    elif part.operator in (Operator.CONCAT, Operator.TRANSPOSE):
        classes.fix(alike[0], part.number(Parameter.NUMDIM, 1))
    elif part.operator is Operator.MATMUL:
        classes.matrices.add(alike[0])
