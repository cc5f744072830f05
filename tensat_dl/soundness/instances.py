"""Instances of a rule: rows of its left side, and what the right side makes of them, typed.

Enters: a subject, rows.  Leaves: an :class:`Instance`, or Refusal where the right side has no type.
Where it has another type than the left side, the instance has a :class:`Clash`: the exploration
does not join the two.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

from tensat_dl.egraph.answer_groups import group_scope
from tensat_dl.egraph.build import Build
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.question import recipe_for, require_same_types
from tensat_dl.egraph.typing import Columns, Refusal, Scope
from tensat_dl.language.evaluate import Environment
from tensat_dl.soundness.design import Design
from tensat_dl.soundness.draws import Draw
from tensat_dl.soundness.hints import Hints, hints_of
from tensat_dl.soundness.rows import Row
from tensat_dl.soundness.search import Attempt, Dead
from tensat_dl.soundness.subject import Subject
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import ABSENT, Type

#: Attempts without a design where one condition is not to hold.
_MOSTLY = 0.8
#: Repeated instances for each new one, before a rule is taken to have no others.
_REPEATED = 2


@dataclass(frozen=True)
class Root:
    """What is compared: the tensor `name` of member `member` with the right side's `ref` ("" is
    the missing tensor), or with element `member` of the list `ref` when `listed`."""

    name: str
    member: int
    ref: str
    listed: bool = False


@dataclass(frozen=True)
class Clash:
    """`right`: the type of the right side, which is not the left side's; `reason` says so."""

    root: Root
    right: Type
    reason: str


@dataclass(frozen=True)
class Instance:
    """`rows`: one, or the members of a `match each` group.  `right`: the builds with their
    columns; `scope` has the types of all that the right side reads and makes; `clash`: the first
    root whose type is not the same on both sides."""

    plan: RulePlan
    rows: tuple[Row, ...]
    right: tuple[tuple[Build, Columns], ...]
    scope: Scope
    roots: tuple[Root, ...]
    clash: Clash | None = None

    def key(self) -> Hashable:
        """Equal where all types, lists and attributes are."""
        return id(self.plan), tuple(row.key() for row in self.rows)

    def type_of(self, root: Root) -> Type:
        """The type of what is compared, on the left."""
        return self.rows[root.member].scope.tensors[root.name].type


def make_instance(subject: Subject, plan: RulePlan, rows: tuple[Row, ...]) -> Instance:
    """Type the right side.  Raises Refusal."""
    typer, each = subject.answerer.typer, plan.rule.each is not None
    scope = _copy(rows[0].scope)
    if each:
        scope = group_scope(plan.rule, [row.scope for row in rows])
    recipe = plan.recipes[0 if each else recipe_for(plan, scope)]
    members = len(rows) if each else 0
    right = tuple((build, typer.build([build], scope, members)) for build in recipe.builds)
    roots = tuple(Root(union.root, 0, union.ref) for union in recipe.unions)
    if each:
        [(root, bundle)] = recipe.each_unions
        roots = tuple(Root(root, member, bundle, True) for member in range(len(rows)))
    instance = Instance(plan, rows, right, scope, roots)
    return replace(instance, clash=_clash(instance))


def _clash(instance: Instance) -> Clash | None:
    for root in instance.roots:
        left, right = instance.type_of(root), _right_type(instance.scope, root)
        try:
            require_same_types(left, right)
        except Refusal as refusal:
            return Clash(root, right, str(refusal))
    return None


def _right_type(scope: Scope, root: Root) -> Type:
    if root.listed:
        return scope.lists[root.ref][root.member].type
    return scope.tensors[root.ref].type if root.ref else ABSENT


def _copy(scope: Scope) -> Scope:
    env = Environment(dict(scope.env.names), scope.env.functions)
    return Scope(env, dict(scope.tensors), dict(scope.lists))


@dataclass
class Sampler:
    """Draws instances of one rule, with `avoid` those on which that condition does not hold.

    `failures` and `refusals` say what stood in the way; `apart` counts instances with a clash,
    `clashing` is the first of them.
    """

    subject: Subject
    seed: int
    small: bool = False
    avoid: ast.Expr | None = None

    def __post_init__(self) -> None:
        own = self.subject.rule.name.rpartition(".")[2]  # the same draws under every alias
        self.random = random.Random(f"{self.seed} {own}")
        self.failures: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.apart = 0
        self.clashing: Instance | None = None
        self._square = False
        self._design = Design(self.random)
        if self.avoid is not None:  # what one condition leaves out is unusual already
            self._design.free = _MOSTLY
        self._seen: set[Hashable] = set()
        self._repeated = 0
        functions = self.subject.answerer.functions
        resembled = self.subject.resembled
        self._hints = [
            hints_of(plan.rule, functions, resembled, self.avoid) for plan in self.subject.plans
        ]

    def attempt(self) -> Instance | None:
        """One attempt at an instance on which the exploration would join both sides; None where it
        led nowhere, or where there was one in these types."""
        instance = self.draw()
        if instance is None or instance.clash is not None:
            self._design.failed()
        else:
            self._design.found()
        if instance is None:
            return None
        if instance.clash is None:
            return None if self._is_known(instance) else instance
        self.apart += 1
        self.clashing = self.clashing or instance
        self.refusals[instance.clash.reason] += 1
        self._square = True  # with equal dims the type may not tell
        return None

    def _is_known(self, instance: Instance) -> bool:
        """It is no news, and others are still likely."""
        seen = len(self._seen)
        self._seen.add(instance.key())
        if len(self._seen) > seen:
            return False
        self._repeated += 1
        return self._repeated <= _REPEATED * (seen + 5)

    def draw(self) -> Instance | None:
        """The same, but both sides may differ in type."""
        if not self.subject.plans:
            return None
        choice = self._way()
        plan, hints = self.subject.plans[choice], self._hints[choice]
        try:
            return make_instance(self.subject, plan, tuple(self._rows(plan, hints)))
        except Dead:
            return None
        except Refusal as refusal:
            self.refusals[str(refusal)] += 1
            self._square = True
        return None

    def _way(self) -> int:
        """One of the plans: shorter ways of deriving facts come first, and are drawn more often,
        because the longer ones are made of them."""
        return int(len(self.subject.plans) * self.random.random() ** 2)

    def _rows(self, plan: RulePlan, hints: Hints) -> Iterator[Row]:
        design = self._design if self._design.begin() and not self.small else None
        square = self._square and design is None
        draw = Draw(self.random, self.small, square=square, design=design, asked=hints.sizes)
        self._square = False
        if draw.element not in hints.dtypes or draw.chance(0.2):
            draw.element = self._element(hints) if hints.dtypes else draw.element
        if hints.spatial and draw.rank < 3:
            draw.rank = self.random.choice((3, 4, 4, 5))
        first = Attempt(self.subject, plan, draw, hints, self.failures)
        yield first.run()
        if plan.rule.each is None:
            return
        for number in range(1, 1 + self.random.choice((1, 1, 2))):
            yield self._member(plan, hints, draw, first, number).run()

    def _element(self, hints: Hints) -> DType:
        """One of the likely element types; f32 where it is one, mostly."""
        plain = DType.F32 in hints.dtypes and self.random.random() < 0.5
        return DType.F32 if plain else self.random.choice(hints.dtypes)

    def _member(
        self, plan: RulePlan, hints: Hints, draw: Draw, first: Attempt, number: int
    ) -> Attempt:
        """Another member of the group: what is in the key is the same."""
        each = plan.rule.each
        assert each is not None
        member = Attempt(self.subject, plan, draw, hints, self.failures, member=number)
        for name in each.key:
            if name in first.names:
                member.names[name] = first.names[name]
            if name in first.types:
                member.types[name] = first.types[name]
            if name in first.lists:
                member.lists[name] = first.lists[name]
            if name in first.spans:
                member.spans[name] = first.spans[name]
        return member
