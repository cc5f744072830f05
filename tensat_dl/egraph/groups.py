"""`match each`: all partners of a group merged at once, however many.

Enters: the plan of such a rule.  Leaves: an :class:`EncodedGroup` and commands as text.

The engine finds members: `ask_n` holds, beside what a question holds, the key of every tensor and
the origin of every e-node.  Python groups and orders them (`egraph.answer_groups`) and gives back
`links_n (group index member-keys..)` and `groups_n (group count origin keys.. lists.. answers..)`.
The engine folds the members' tensors into vectors along `index`, makes the merged term, and
unions member i with its output i.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tensat_dl.egraph import cycles, naming
from tensat_dl.egraph.actions import ActionWriter, AnswerColumn, AnswerKind, answer_columns, safe
from tensat_dl.egraph.build import BuildNode, Many, Recipe, Segment
from tensat_dl.egraph.keys import output_key
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.query import (
    add_relations,
    column_variable,
    write_query,
)
from tensat_dl.egraph.runs import FOLDS, rule_text


@dataclass(frozen=True)
class EncodedGroup:
    """`members`: tensor variables that vary; `starred`: those that the right side lists;
    `shared`: tensors of the key that the right side reads; `origins`: number of origin columns.
    """

    members: tuple[str, ...]
    starred: tuple[str, ...]
    shared: tuple[str, ...]
    origins: int
    links: str
    groups: str


def make_group(plan: RulePlan, generations: bool) -> EncodedGroup:
    """What the tables of a `match each` rule hold."""
    rule, recipe = plan.rule, plan.recipes[0]
    assert rule.each is not None
    members = tuple(m for m in rule.each.members if m in plan.left.tensors)
    return EncodedGroup(
        members,
        _starred(recipe, members),
        _shared(plan, recipe, members),
        len(plan.left.matches) if generations else 0,
        f"links_{plan.number}",
        f"groups_{plan.number}",
    )


def group_finding(plan: RulePlan, group: EncodedGroup, generations: bool) -> Iterator[str]:
    """The tables of a `match each` rule, and the rule that asks."""
    yield from _find_rule(plan, group, generations)
    columns = " ".join(sort for _, sort in group_columns(plan, group))
    yield f"(relation {group.groups} ({columns}))"
    yield f"(relation {group.links} (i64 i64 {' '.join(['i64'] * len(group.members))}))"


def _starred(recipe: Recipe, members: Sequence[str]) -> tuple[str, ...]:
    lists = (item.ref for item in _inputs(recipe) if isinstance(item, Many))
    return tuple(dict.fromkeys(ref for ref in lists if ref in members))


def _shared(plan: RulePlan, recipe: Recipe, members: Sequence[str]) -> tuple[str, ...]:
    refs = (item if isinstance(item, str) else item.ref for item in _inputs(recipe))
    used = dict.fromkeys(ref for ref in refs if ref in plan.left.tensors)
    return tuple(ref for ref in used if ref not in members)


def _inputs(recipe: Recipe) -> Iterator[str | Segment]:
    """What the nodes of a recipe take."""
    nodes = (build for build in recipe.builds if isinstance(build, BuildNode))
    return (item for node in nodes for item in node.inputs)


def group_columns(plan: RulePlan, group: EncodedGroup) -> list[tuple[str, str]]:
    """(variable, sort) of the columns of `groups_n`."""
    answers = answer_columns(plan.recipes[0].builds)
    return [
        ("group", "i64"),
        ("count", "i64"),
        ("origin", "i64"),
        *[(naming.key_variable(s), "i64") for s in group.shared],
        *[(naming.key_variable(s), "i64") for s in group.starred],
        *[(naming.analysis_variable(s), "Ids") for s in group.starred],
        *[(c.variable, c.sort) for c in answers],
    ]


def group_acting(
    plan: RulePlan, group: EncodedGroup, pairs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """The rules of a `match each` rule that act."""
    recipe = plan.recipes[0]
    number = plan.number
    yield f"(function result_{number} (i64) Bundle :merge old)"
    row = f"({group.groups} {' '.join(name for name, _ in group_columns(plan, group))})"
    for name in group.starred:
        yield from _fold_rules(number, group, name, row)
    yield _make_rule(number, recipe, group, row)
    if pairs:
        yield from _check_rules(number, group, row, pairs)
    yield _union_rule(plan, recipe, group, row, bool(pairs))


def _find_rule(plan: RulePlan, group: EncodedGroup, generations: bool) -> Iterator[str]:
    columns = plan.left.columns
    width = len(columns) + len(plan.left.tensors) + group.origins
    yield f"(relation ask_{plan.number} ({' '.join(['i64'] * width)}))"
    query = write_query(
        plan.left,
        prefix=str(plan.number),
        origins=generations,
        rounds=(plan.rule.rounds or 1) if generations else 0,
        keys=True,
    )
    add_relations(query, plan.rule.facts)
    values = [
        *[column_variable(c) for c in columns],
        *[naming.key_variable(n) for n in plan.left.tensors],
        *query.origins,
    ]
    head = [f"(ask_{plan.number} {' '.join(values)})"]
    yield rule_text(query.atoms, head, f"rs_find_{plan.number}", f"find:{plan.number}")


def _links(group: EncodedGroup, index: str, suffix: str = "") -> str:
    keys = " ".join(naming.key_variable(m) + suffix for m in group.members)
    return f"({group.links} group {index} {keys})"


def _fold_rules(number: int, group: EncodedGroup, name: str, row: str) -> Iterator[str]:
    table = f"list_{number}_{naming.variable(name)}"
    yield f"(function {table} (i64 i64) Tensors :merge old)"
    yield rule_text([row], [f"(set ({table} group 0) (vec-empty))"], FOLDS, f"fold:{table}")
    yield rule_text(
        [
            f"(= done ({table} group index))",
            _links(group, "index"),
            f"(= {naming.key_variable(name)} (key tensor))",
        ],
        [f"(set ({table} group (+ index 1)) (vec-push done tensor))"],
        FOLDS,
        f"fold-next:{table}",
    )


def _make_rule(number: int, recipe: Recipe, group: EncodedGroup, row: str) -> str:
    body = [row]
    head: list[str] = []
    for name in group.starred:
        variable = naming.variable(name)
        body.append(f"(= {variable} (list_{number}_{variable} group count))")
        head.append(f"(set (vtypes {variable}) {naming.analysis_variable(name)})")
        head.append(f"(set (vkey {variable}) {naming.key_variable(name)})")
        head.append(f"(set (vlength {variable}) count)")
    for name in group.shared:
        body.append(f"(= {naming.key_variable(name)} (key {naming.variable(name)}))")
    writer = ActionWriter("origin")
    for build in recipe.builds:
        writer.build(build)
    [(_, bundle)] = recipe.each_unions
    head += writer.lines
    head.append(f"(set (result_{number} group) bundle_{safe(bundle)})")
    return rule_text(body, head, FOLDS, f"make:{number}")


def _check_rules(
    number: int, group: EncodedGroup, row: str, pairs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    ok = f"(okgroup_{number} group)"
    yield f"(function okgroup_{number} (i64) i64 :merge (min old new))"
    yield rule_text([row], [f"(set {ok} 1)"], f"rs_check_{number}", f"check:{number}")
    for operand, root in pairs:
        kroot, koperand = naming.key_variable(root), naming.key_variable(operand)
        yield rule_text(
            [_links(group, "index"), f"(= {kroot} (key root))"],
            ["(depends root root)"],
            f"rs_check_{number}",
            f"demand:{number}:{operand}:{root}",
        )
        yield rule_text(
            [
                f"(= 1 {ok})",
                _links(group, "i", "_i"),
                _links(group, "j", "_j"),
                "(!= i j)",
                f"(= {koperand}_i (key operand))",
                f"(= {kroot}_j (key root))",
                "(depends root operand)",
            ],
            [f"(set {ok} 0)"],
            cycles.BLOCKS,
            f"block:{number}:{operand}:{root}",
        )


def _union_rule(
    plan: RulePlan, recipe: Recipe, group: EncodedGroup, row: str, checked: bool
) -> str:
    number = plan.number
    [(root, bundle)] = recipe.each_unions
    types = AnswerColumn(AnswerKind.ANALYSES, bundle).variable
    body = [
        _links(group, "index", "_i"),
        f"(= bundle (result_{number} group))",
        row,
        f"(= {naming.key_variable(root)}_i (key root))",
        "(= kbundle (bkey bundle))",
    ]
    if checked:
        body.append(f"(= 1 (okgroup_{number} group))")
    head = [
        "(let output (Out bundle index))",
        f"(set (type output) (vec-get {types} index))",
        f"(let koutput {output_key('kbundle', 'index')})",
        "(set (key output) koutput)",
        "(union root output)",
    ]
    return rule_text(body, head, f"rs_act_{number}", f"act:{number}")
