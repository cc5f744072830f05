"""What a class cannot do without, as bitsets.

R(c) = {c} and, over the nodes of c, the intersection of the union of their children's R: the
classes in every finite derivation of c (a lower approximation of them, the greatest fixpoint).
D(c) = the classes on every path from ROOT to c in the class graph (its dominators, c included).
If c is used, every member of D(c) stands above it and every member of R(c) below.  A node of c
whose children require a member of D(c) therefore closes a loop, and is removed; removals make
both families larger, so this repeats until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.order import bottom_up_components
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.work import ROOT, Work


@dataclass(frozen=True)
class Required:
    """`below[c]` is R(c) as a bitset; bit i stands for class `order[i]`.  `components` are the
    strongly connected components in that order."""

    components: list[list[int]]
    order: list[int]
    bit: dict[int, int]
    below: dict[int, int]

    def of_children(self, kids: Iterable[int]) -> int:
        """Union of R over classes: what a node with these children needs."""
        union = 0
        for kid in kids:
            union |= self.below[kid]
        return union

    def classes(self, bits: int) -> list[int]:
        """The classes of a bitset, in the bit order."""
        return [self.order[i] for i in set_bits(bits)]

    def mask(self, classes: Iterable[int]) -> int:
        """The bitset of some classes."""
        union = 0
        for c in classes:
            union |= 1 << self.bit[c]
        return union


def set_bits(bits: int) -> Iterator[int]:
    """Positions of the set bits, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def required_sets(work: Work, deadline: Deadline) -> Required:
    """R of every class.  Needs a pruned graph."""
    return work.remember("required sets", lambda: _required_sets(work, deadline))


def _required_sets(work: Work, deadline: Deadline) -> Required:
    components = bottom_up_components(work)
    order = [c for component in components for c in component]
    bit = {c: i for i, c in enumerate(order)}
    below: dict[int, int] = {}
    for component in components:
        _lower(work, below, bit, component, deadline)
        while len(component) > 1 and _lower(work, below, bit, component, deadline):
            pass
    return Required(components, order, bit, below)


def _lower(
    work: Work, below: dict[int, int], bit: dict[int, int], component: list[int], deadline: Deadline
) -> bool:
    changed = False
    for c in deadline.watch(component):
        new = _required(work, below, c) | 1 << bit[c]
        if new != below.get(c):
            below[c] = new
            changed = True
    return changed


def _required(work: Work, below: dict[int, int], c: int) -> int:
    """Intersection over the nodes whose children are all known (unknown stands for everything)."""
    common = -1
    for n in work.members[c]:
        union = 0
        for kid in work.children[n]:
            if kid not in below:
                break
            union |= below[kid]
        else:
            common &= union
    return common


def dominators(work: Work, required: Required, deadline: Deadline) -> dict[int, int]:
    """D of every class, as bitsets over the bits of `required`."""
    users = {c: sorted({work.owner[n] for n in nodes}) for c, nodes in work.parents().items()}
    above: dict[int, int] = {ROOT: 1 << required.bit[ROOT]}
    for component in reversed(required.components):
        top_down = [c for c in reversed(component) if c != ROOT]
        while _meet(users, above, required.bit, top_down, deadline) and len(component) > 1:
            pass
    return above


def _meet(
    users: dict[int, list[int]],
    above: dict[int, int],
    bit: dict[int, int],
    classes: list[int],
    deadline: Deadline,
) -> bool:
    """One pass of D(c) = {c} and the intersection over users; an unknown user says nothing."""
    changed = False
    for c in deadline.watch(classes):
        known = [above[user] for user in users[c] if user in above]
        if not known:
            changed = True
            continue
        common = known[0]
        for other in known[1:]:
            common &= other
        if above.get(c) != common | 1 << bit[c]:
            above[c] = common | 1 << bit[c]
            changed = True
    return changed


def remove_loops(work: Work, deadline: Deadline) -> None:
    """Remove every node that requires its own class or a dominator of it, to a fixpoint."""
    while work.derivable:
        required = required_sets(work, deadline)
        above = dominators(work, required, deadline)
        closing = [
            n
            for n, kids in work.children.items()
            if required.of_children(kids) & above[work.owner[n]]
        ]
        if not closing:
            return
        work.drop_nodes(closing)
        prune(work)
