"""How `match each` rules acted: their groups, found again in the explored e-graph.

Enters: an explored e-graph, the plan of such a rule.  Leaves: :class:`Step`s, one for each group.
A group may have grown after it was merged, so it is not collected anew: output i of what the rule
made is equal to member i, which says who the members were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

from tensat_dl.diagnosis.index import Index, Made
from tensat_dl.diagnosis.matching import Binding, Matcher
from tensat_dl.diagnosis.obstacles import Judge
from tensat_dl.diagnosis.right_side import Finder
from tensat_dl.diagnosis.step import Join, Step, inner_pairs, made_by, read_by
from tensat_dl.egraph.answer_groups import group_scope
from tensat_dl.egraph.build import BuildNode
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.snapshot import ENode
from tensat_dl.egraph.typing import Refusal, Scope, Typer
from tensat_dl.language.program import CheckedProgram

#: Ways to choose the members of one group that are tried, where outputs have several makers.
_MAX_CHOICES = 256


@dataclass(frozen=True)
class _Member:
    binding: Binding
    scope: Scope


#: The members of one key, by the class of their output.
_Members = dict[int, list[_Member]]


@dataclass(frozen=True)
class Groups:
    """Finds the groups of one rule."""

    index: Index
    plan: RulePlan
    program: CheckedProgram
    interner: Interner
    typer: Typer

    def steps(self, at: int | None = None) -> Iterator[Step]:
        """The steps of all groups, or those in which a member makes the tensor `at`."""
        each = self._built()
        bundles = [m for m in self.index.by_operator.get(each.operator, ()) if _whole(m)]
        bundles = [m for m in bundles if at is None or at in m.outputs.values()]
        if not bundles:
            return
        for members in self._members.values():
            for bundle in bundles:
                places = [members.get(c, []) for _, c in sorted(bundle.outputs.items())]
                choices = islice(product(*places), _MAX_CHOICES)
                found = (self._step(each, bundle, choice) for choice in choices)
                yield from islice(filter(None, found), 1)

    @property
    def _root(self) -> str:
        [(root, _)] = self.plan.recipes[0].each_unions
        return root

    def _built(self) -> BuildNode:
        """What the group is equal to."""
        recipe = self.plan.recipes[0]
        [(_, name)] = recipe.each_unions
        [build] = [b for b in recipe.builds if isinstance(b, BuildNode) and b.name == name]
        return build

    @cached_property
    def _members(self) -> dict[tuple[object, ...], _Members]:
        """The matches of a single member, by what all members share."""
        judge = Judge(self.index, self.plan, self.program)
        found: dict[tuple[object, ...], _Members] = {}
        for binding in Matcher(self.index, self.plan.left, self.plan.rule.roots).matches():
            scope = judge.scope_of(binding)
            if scope is not None:
                by_output = found.setdefault(self._key(binding, scope), {})
                output = binding.tensors[self._root]
                by_output.setdefault(output, []).append(_Member(binding, scope))
        return found

    def _key(self, binding: Binding, scope: Scope) -> tuple[object, ...]:
        each = self.plan.rule.each
        assert each is not None
        classes = {**binding.tensors, **binding.lists}
        names = sorted(name for name in scope.env.names if name.isidentifier())
        shared = (name for name in names if name not in each.members)
        return tuple((name, classes.get(name, scope.env.names[name])) for name in shared)

    def _step(self, each: BuildNode, bundle: Made, members: Sequence[_Member]) -> Step | None:
        """The group of these members, None where its right side is not `bundle`."""
        rule, recipe = self.plan.rule, self.plan.recipes[0]
        assert rule.each is not None
        scope = group_scope(rule, [member.scope for member in members])
        tensors, lists = dict(members[0].binding.tensors), dict(members[0].binding.lists)
        for name in rule.each.members:
            if name in tensors:
                lists[name] = tuple(member.binding.tensors[name] for member in members)
        finder = Finder(self.index, self.interner, tensors, lists)
        try:
            for build in recipe.builds:
                finder.find(build, self.typer.build([build], scope, len(members)))
        except (Refusal, KeyError):  # not here, or its e-nodes are gone
            return None
        if bundle.enode not in finder.found:
            return None
        return Step(
            rule.name,
            tuple(dict.fromkeys(e for member in members for e in read_by(member.binding))),
            tuple(pair for member in members for pair in self._inner(member.binding)),
            tuple(finder.found),
            tuple(
                Join(self._makes(member)[self._root], self.index.tensor(bundle, place))
                for place, member in enumerate(members)
            ),
        )

    def _makes(self, member: _Member) -> dict[str, ENode]:
        return made_by(self.index, self.plan.rule, member.binding)

    def _inner(self, binding: Binding) -> Iterator[tuple[ENode, ENode]]:
        yield from inner_pairs(self.plan, binding, made_by(self.index, self.plan.rule, binding))


def _whole(made: Made) -> bool:
    """All outputs, two at least, are there."""
    return len(made.outputs) == made.head.outputs > 1
