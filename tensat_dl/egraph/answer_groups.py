"""Groups and orders the members of a `match each` rule, and answers for whole groups.

Enters: rows of members.  Leaves: rows of `links_n` and `groups_n` (see `egraph.groups`).
Members of a group differ in the names listed after `each` and agree in all others; they are
ordered by the keys of their outputs; an output enters a group once; a group of one does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensat_dl.egraph import keys as stable
from tensat_dl.egraph.groups import EncodedGroup
from tensat_dl.egraph.interning import Analysis, content_hash
from tensat_dl.egraph.query import RULE_BITS
from tensat_dl.egraph.question import Answerer, Row, require_same_types
from tensat_dl.egraph.rules import EncodedRule
from tensat_dl.egraph.typing import Refusal, Scope
from tensat_dl.language import program
from tensat_dl.language.evaluate import UNKNOWN, Environment, evaluate
from tensat_dl.language.values import Value


@dataclass(frozen=True)
class _Member:
    scope: Scope
    keys: dict[str, int]
    generation: int

    def order(self, members: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.keys[m] for m in members)


@dataclass(frozen=True)
class GroupRows:
    """Rows to load for new groups."""

    links: tuple[Row, ...]
    groups: tuple[Row, ...]


def answer_groups(
    rule: EncodedRule, rows: Sequence[Row], answerer: Answerer, known: set[int]
) -> GroupRows:
    """Answer for every group among the members seen so far.

    `known` holds the ids of groups already given and is added to: a group that has grown is a
    new group, one that has not is left alone.
    """
    group = rule.group
    assert group is not None
    links: list[Row] = []
    groups: list[Row] = []
    for members in _gather(rule, group, rows, answerer):
        if len(members) < 2:
            continue
        number = _group_id(rule, group, members)
        if number in known:
            continue
        known.add(number)
        answered = _answer(rule, group, members, answerer)
        if answered is None:
            continue
        generation = 1 + max(m.generation for m in members)
        origin = generation << RULE_BITS | rule.plan.number
        groups.append((number, len(members), origin, *answered))
        for index, member in enumerate(members):
            links.append((number, index, *[member.keys[m] for m in group.members]))
    return GroupRows(tuple(links), tuple(groups))


def _gather(
    rule: EncodedRule, group: EncodedGroup, rows: Sequence[Row], answerer: Answerer
) -> list[list[_Member]]:
    left, each = rule.plan.left, rule.plan.rule.each
    assert each is not None
    found: dict[tuple[object, ...], dict[int, _Member]] = {}
    [(root, _)] = rule.plan.recipes[0].each_unions
    width = len(left.columns)
    ordered = sorted(rows)
    questions = dict.fromkeys(row[:width] for row in ordered)
    scopes = {asked: answerer.scope(left, asked, rule.plan.rule) for asked in questions}
    for row in ordered:
        scope = scopes[row[:width]]
        if scope is None:
            continue
        keys = dict(zip(left.tensors, row[width : width + len(left.tensors)], strict=True))
        origins = row[width + len(left.tensors) :]
        generation = max((o >> RULE_BITS for o in origins), default=0)
        member = _Member(scope, keys, generation)
        others = found.setdefault(_key(scope, keys, each.members), {})
        earlier = others.get(keys[root])
        if earlier is None or member.order(group.members) < earlier.order(group.members):
            others[keys[root]] = member
    return [
        sorted(members.values(), key=lambda m: (m.keys[root], m.order(group.members)))
        for _, members in sorted(found.items(), key=lambda item: repr(item[0]))
    ]


def _key(scope: Scope, keys: dict[str, int], members: Sequence[str]) -> tuple[object, ...]:
    shared: list[object] = []
    for name, value in sorted(scope.env.names.items()):
        if name in members or not name.isidentifier():
            continue
        shared.append((name, keys.get(name, value)))
    return tuple(shared)


def _group_id(rule: EncodedRule, group: EncodedGroup, members: Sequence[_Member]) -> int:
    """A number for this rule with these members in this order."""
    content = [m.order(group.members) for m in members]
    shared = [members[0].keys[s] for s in group.shared]
    return content_hash(f"{rule.plan.number} {shared} {content}", 60)


def _answer(
    rule: EncodedRule, group: EncodedGroup, members: Sequence[_Member], answerer: Answerer
) -> Row | None:
    [recipe] = rule.plan.recipes[:1]
    scope = group_scope(rule.plan.rule, [member.scope for member in members])
    try:
        columns = answerer.typer.build(recipe.builds, scope, len(members))
        [(root, bundle)] = recipe.each_unions
        for member, output in zip(members, scope.lists[bundle], strict=True):
            require_same_types(member.scope.tensors[root].type, output.type)
    except Refusal as refusal:
        answerer.refuse(rule.plan.rule, str(refusal))
        return None
    seed = stable.operator_seed("group")
    list_keys = [stable.mix(seed, [m.keys[s] for m in members]) for s in group.starred]
    list_ids = [
        tuple(answerer.interner.analysis_id(a) for a in scope.lists[s]) for s in group.starred
    ]
    shared = [members[0].keys[s] for s in group.shared]
    return (*shared, *list_keys, *list_ids, *columns)


def group_scope(rule: program.Rule, members: Sequence[Scope]) -> Scope:
    """Names of the key as they are, names of the members as lists."""
    each = rule.each
    assert each is not None
    first = members[0]
    names: dict[str, Value] = dict(first.env.names)
    lists: dict[str, tuple[Analysis, ...]] = {}
    for name in each.members:
        if name in first.tensors:
            lists[name] = tuple(m.tensors[name] for m in members)
            names[name] = tuple(a.type for a in lists[name])
        else:
            names[name] = tuple(m.env.names.get(name, UNKNOWN) for m in members)
    env = Environment(names, first.env.functions)
    for name, expr in rule.lets:
        names[name] = evaluate(expr, env)
    tensors = {n: a for n, a in first.tensors.items() if n not in each.members}
    return Scope(env, tensors, {**first.lists, **lists})
