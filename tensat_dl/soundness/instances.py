"""Instances of a rule: rows of its left side, and what the right side makes of them, typed.

Enters: a subject, rows.  Leaves: an :class:`Instance`, or Refusal where the right side would not
be joined to the left one: it has no type there, or another one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tensat_dl.egraph.answer_groups import group_scope
from tensat_dl.egraph.build import Build
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.question import recipe_for, require_same
from tensat_dl.egraph.typing import Columns, Refusal, Scope, same_type
from tensat_dl.language.evaluate import Environment
from tensat_dl.soundness.draws import Draw
from tensat_dl.soundness.hints import Hints, hints_of
from tensat_dl.soundness.search import Attempt, Dead, Row
from tensat_dl.soundness.subject import Subject
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import Type


@dataclass(frozen=True)
class Root:
    """What is compared: the tensor `name` of member `member` with the right side's `ref` ("" is
    the missing tensor), or with element `member` of the list `ref` when `listed`."""

    name: str
    member: int
    ref: str
    listed: bool = False


@dataclass(frozen=True)
class Instance:
    """`rows`: one, or the members of a `match each` group.  `right`: the builds with their
    columns; `scope` has the types of all that the right side reads and makes."""

    plan: RulePlan
    rows: tuple[Row, ...]
    right: tuple[tuple[Build, Columns], ...]
    scope: Scope
    roots: tuple[Root, ...]

    def type_of(self, root: Root) -> Type:
        """The type of what is compared."""
        return self.rows[root.member].scope.tensors[root.name].type


def make_instance(subject: Subject, plan: RulePlan, rows: tuple[Row, ...]) -> Instance:
    """Type the right side.  Raises Refusal."""
    typer = subject.answerer.typer
    if plan.rule.each is None:
        scope = _copy(rows[0].scope)
        recipe = plan.recipes[recipe_for(plan, scope)]
        right = tuple((build, typer.build([build], scope)) for build in recipe.builds)
        for union in recipe.unions:
            require_same(scope, union.root, union.ref)
        roots = tuple(Root(union.root, 0, union.ref) for union in recipe.unions)
        return Instance(plan, rows, right, scope, roots)
    [recipe] = plan.recipes[:1]
    scope = group_scope(plan.rule, [row.scope for row in rows])
    right = tuple((build, typer.build([build], scope, len(rows))) for build in recipe.builds)
    [(root, bundle)] = recipe.each_unions
    for row, output in zip(rows, scope.lists[bundle], strict=True):
        if not same_type(row.scope.tensors[root].type, output.type):
            raise Refusal("the type of a member would change")
    roots = tuple(Root(root, member, bundle, True) for member in range(len(rows)))
    return Instance(plan, rows, right, scope, roots)


def _copy(scope: Scope) -> Scope:
    env = Environment(dict(scope.env.names), scope.env.functions)
    return Scope(env, dict(scope.tensors), dict(scope.lists))


@dataclass
class Sampler:
    """Draws instances of one rule, with `avoid` those on which that condition does not hold.

    `failures` and `refusals` say what stood in the way.
    """

    subject: Subject
    seed: int
    small: bool = False
    avoid: ast.Expr | None = None

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.seed} {self.subject.rule.name}")
        self.failures: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self._square = False
        functions = self.subject.answerer.functions
        self._hints = [hints_of(plan.rule, functions, self.avoid) for plan in self.subject.plans]

    def attempt(self) -> Instance | None:
        """One attempt; None where it led nowhere."""
        if not self.subject.plans:
            return None
        choice = self.random.randrange(len(self.subject.plans))
        plan, hints = self.subject.plans[choice], self._hints[choice]
        try:
            rows = tuple(self._rows(plan, hints))
            return make_instance(self.subject, plan, rows)
        except Dead:
            return None
        except Refusal as refusal:
            self.refusals[str(refusal)] += 1
            self._square = True  # with equal dims the type may not tell
        return None

    def _rows(self, plan: RulePlan, hints: Hints) -> Iterator[Row]:
        draw = Draw(self.random, self.small, square=self._square)
        self._square = False
        if draw.element not in hints.dtypes or draw.chance(0.2):
            draw.element = self._element(hints) if hints.dtypes else draw.element
        first = Attempt(self.subject, plan, draw, hints, self.failures)
        yield first.run()
        if plan.rule.each is None:
            return
        for _ in range(self.random.choice((1, 1, 2))):
            yield self._member(plan, hints, draw, first).run()

    def _element(self, hints: Hints) -> DType:
        """One of the likely element types; f32 where it is one, mostly."""
        plain = DType.F32 in hints.dtypes and self.random.random() < 0.5
        return DType.F32 if plain else self.random.choice(hints.dtypes)

    def _member(self, plan: RulePlan, hints: Hints, draw: Draw, first: Attempt) -> Attempt:
        """Another member of the group: what is in the key is the same."""
        each = plan.rule.each
        assert each is not None
        member = Attempt(self.subject, plan, draw, hints, self.failures)
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
