"""One rule as rules of the engine.

Enters: a plan.  Leaves: an :class:`EncodedRule`, which holds its commands as text.

A rule runs in two halves.  *Ask*: every match puts what its conditions can see (attributes and
analyses, as ids) into `ask_n`, and itself into `hit_n` (`egraph.hits`); equal questions are one
row.  Python answers each new row once (`egraph.question`).  *Act*: where an answer stands, the
matches with that question make their right sides, are unioned with them, and leave `hit_n`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tensat_dl.egraph import cycles, naming
from tensat_dl.egraph.actions import (
    ActionWriter,
    AnswerColumn,
    AnswerKind,
    answer_columns,
    safe,
    write_unions,
)
from tensat_dl.egraph.build import ABSENT, BuildMap, Recipe
from tensat_dl.egraph.groups import EncodedGroup, group_acting, group_finding, make_group
from tensat_dl.egraph.hits import hit_declaration, hit_query, hit_row
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.query import (
    RULE_BITS,
    Query,
    add_keys,
    add_relations,
    add_types,
    column_variable,
    write_query,
)
from tensat_dl.egraph.runs import built_rules, built_table, rule_text, run_rules
from tensat_dl.egraph.symmetry import symmetric_operands, symmetric_pairs
from tensat_dl.language import program
from tensat_dl.language.sides import matched_operators
from tensat_dl.settings import CyclePolicy

#: The number of parts into which a step can be cut when it would exceed the limits.
GATE = 1024
#: An odd multiplier below 2**31 that spreads keys over the parts.
_SPREAD = 1640531527

#: Starts the lists that right sides build; run once before `FOLDS`.
WANTS = "rs_wants"


@dataclass(frozen=True)
class EncodedRule:
    """A rule's tables: `ask`, one `answers` table a recipe; its rulesets `find` and `act`.

    `check` is the ruleset that starts its cycle check, "" where it needs none; `group` is set for
    `match each` rules.  `finding` writes the commands to run before it may ask, `acting` those
    before it may act; nothing can match as long as one of the tables `needs` is empty.
    """

    plan: RulePlan
    ask: str
    answers: tuple[str, ...]
    answer_columns: tuple[tuple[AnswerColumn, ...], ...]
    find: str
    act: str
    check: str
    needs: tuple[str, ...]
    finding: Callable[[], Iterable[str]]
    acting: Callable[[], Iterable[str]]
    group: EncodedGroup | None = None

    @property
    def builds_lists(self) -> bool:
        """It puts lists together before it acts."""
        builds = (build for recipe in self.plan.recipes for build in recipe.builds)
        return self.group is not None or any(isinstance(build, BuildMap) for build in builds)


@dataclass(frozen=True)
class EncodeOptions:
    """`generations`: track them (some rule counts rounds); `policy`: of rules that name none;
    `lists`: some rule looks into the vectors of variadic operators, or pruning names them."""

    generations: bool
    policy: CyclePolicy
    lists: bool


def encode_rule(plan: RulePlan, options: EncodeOptions) -> EncodedRule:
    """Write the tables and rules of one rule."""
    prefix, rule = str(plan.number), plan.rule
    policy = rule.cycles or options.policy
    pairs = cycles.pairs_to_check(rule) if policy == CyclePolicy.CHECK else ()
    pairs = tuple(p for p in pairs if p[0] in plan.left.tensors)
    encoded = EncodedRule(
        plan,
        f"ask_{prefix}",
        tuple(f"ans_{prefix}_{i}" for i in range(len(plan.recipes))),
        tuple(answer_columns(recipe.builds) for recipe in plan.recipes),
        f"rs_find_{prefix}",
        f"rs_act_{prefix}",
        f"rs_check_{prefix}" if pairs else "",
        tuple(naming.node_table(operator) for operator in matched_operators(rule)),
        tuple,
        tuple,
    )
    if rule.each is not None:
        group = make_group(plan, options.generations)
        return replace(
            encoded,
            answers=(group.groups,),
            group=group,
            finding=partial(_group_finding, encoded, group, options),
            acting=partial(_group_acting, encoded, group, pairs),
        )
    return replace(
        encoded,
        finding=partial(_finding, encoded, options),
        acting=partial(_acting, encoded, options, pairs),
    )


def _finding(encoded: EncodedRule, options: EncodeOptions) -> Iterator[str]:
    """The tables of questions and of matches, and the rule that fills them."""
    plan = encoded.plan
    yield from _find_ruleset(encoded)
    yield f"(relation {encoded.ask} ({_sorts(plan)}))"
    yield hit_declaration(plan)
    query = _guarded_query(plan, options)
    head = [_question(encoded), hit_row(plan)]
    yield rule_text(query.atoms, head, encoded.find, f"find:{plan.number}")


def _acting(
    encoded: EncodedRule, options: EncodeOptions, pairs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """The tables of answers, and the rules that take up the matches they are about."""
    plan = encoded.plan
    yield from _act_rulesets(encoded)
    for table, outputs in zip(encoded.answers, encoded.answer_columns, strict=True):
        sorts = " ".join([_sorts(plan), *[c.sort for c in outputs]])
        yield f"(relation {table} ({sorts}))"
    for recipe in plan.recipes:
        for build in recipe.builds:
            if isinstance(build, BuildMap):
                yield from built_rules(build, _recipe_prefix(plan, recipe))
    if pairs:
        names = " ".join(["i64", *["Tensor"] * len(plan.left.tensors)])
        yield f"(function ok_{plan.number} ({names}) i64 :merge (min old new))"
    for place in range(len(plan.recipes)):
        yield from _act_rules(encoded, place, options, pairs)


def _group_finding(
    encoded: EncodedRule, group: EncodedGroup, options: EncodeOptions
) -> Iterator[str]:
    yield from _find_ruleset(encoded)
    yield from group_finding(encoded.plan, group, options.generations)


def _group_acting(
    encoded: EncodedRule, group: EncodedGroup, pairs: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield from _act_rulesets(encoded)
    yield from group_acting(encoded.plan, group, pairs)


def _find_ruleset(encoded: EncodedRule) -> Iterator[str]:
    yield f"(ruleset {encoded.find})"
    yield from run_rules(encoded.plan.left, str(encoded.plan.number))


def _act_rulesets(encoded: EncodedRule) -> Iterator[str]:
    yield from (f"(ruleset {name})" for name in (encoded.act, encoded.check) if name)


def _sorts(plan: RulePlan) -> str:
    return " ".join(["i64"] * len(plan.left.columns))


def _question(rule: EncodedRule) -> str:
    return f"({rule.ask} {' '.join(column_variable(c) for c in rule.plan.left.columns)})"


def _recipe_prefix(plan: RulePlan, recipe: Recipe) -> str:
    return f"{plan.number}_{plan.recipes.index(recipe)}"


def _guarded_query(plan: RulePlan, options: EncodeOptions) -> Query:
    """The matches with relations, rounds, and one order of what is exchangeable."""
    rule = plan.rule
    counted = rule.is_multi_output and options.generations
    query = write_query(
        plan.left,
        prefix=str(plan.number),
        origins=False,
        rounds=(rule.rounds or 1) if counted else 0,
        standing=symmetric_operands(rule, plan.left),
    )
    add_relations(query, rule.facts)
    _order_roots(query, rule)
    return query


def _order_roots(query: Query, rule: program.Rule) -> None:
    """Exchangeable outputs in the order of their keys; all outputs distinct."""
    ordered = symmetric_pairs(rule) if len(rule.roots) > 1 else ()
    for name in sorted({root for pair in ordered for root in pair}):
        query.add(f"(= {naming.key_variable(name)} (key {naming.variable(name)}))")
    for a, b in ordered:
        query.add(f"(< {naming.key_variable(a)} {naming.key_variable(b)})")
    for i, a in enumerate(rule.roots):
        for b in rule.roots[i + 1 :]:
            if (a, b) not in ordered:
                query.add(f"(!= {naming.variable(a)} {naming.variable(b)})")


def add_origin(query: Query, rule: program.Rule, number: int) -> str:
    """Bind the origin of what a match makes; gives the expression for it.

    The generation is that of the latest e-node matched, one more for a multi-output rule.
    """
    if not query.origins:
        return str(number)
    latest = query.origins[0]
    for origin in query.origins[1:]:
        latest = f"(max {latest} {origin})"
    later = f"(+ (>> {latest} {RULE_BITS}) {int(rule.is_multi_output)})"
    query.add(f"(= origin (| (<< {later} {RULE_BITS}) {number}))")
    return "origin"


def _act_rules(
    rule: EncodedRule,
    place: int,
    options: EncodeOptions,
    pairs: Sequence[tuple[str, str]],
) -> Iterator[str]:
    plan, recipe = rule.plan, rule.plan.recipes[place]
    label = f"{plan.number}:{place}"
    query = hit_query(plan, origins=options.generations)
    columns = [column_variable(c) for c in plan.left.columns]
    outputs = [c.variable for c in rule.answer_columns[place]]
    query.add(f"({rule.answers[place]} {' '.join(columns + outputs)})")
    code = add_origin(query, plan.rule, plan.number)
    writer = ActionWriter(code, options.lists)
    for build in recipe.builds:
        writer.build(build)
    write_unions(writer, recipe)
    _add_missing_keys(query, plan, writer.keys)
    add_types(query, plan.left)
    yield from _wanted_lists(rule, recipe, query, code, label)
    ok = _ok_atom(plan, place)
    if pairs:
        yield from _check_rules(rule, query, ok, pairs, label)
        query.add(f"(= 1 {ok})")
    for build in recipe.builds:
        if isinstance(build, BuildMap):
            query.atoms += _built_atoms(plan, recipe, build, code)
    _add_gate(query, plan, (*plan.left.tensors, *plan.left.lists))
    lines = [*writer.lines, f"(delete {hit_row(plan)})"]
    yield rule_text(query.atoms, lines, rule.act, f"act:{label}")


def _add_missing_keys(query: Query, plan: RulePlan, names: Iterable[str]) -> None:
    wanted = [n for n in names if f"(= {naming.key_variable(n)} " not in query.text]
    add_keys(query, plan.left, tuple(wanted))


def _add_gate(query: Query, plan: RulePlan, keys: Iterable[str]) -> None:
    """Lets the driver run a part of the matches, chosen by the keys of what they match."""
    names = [n for n in keys if f"(= {naming.key_variable(n)} " in query.text]
    if not names:
        root = plan.rule.roots[0]
        add_keys(query, plan.left, (root,))
        names = [root]
    mixed = "0"
    for place, name in enumerate(names):
        spread = f"(* (& {naming.key_variable(name)} 2147483647) {_SPREAD + 2 * place})"
        mixed = f"(^ {mixed} (>> {spread} 13))"
    query.add("(= open (gate))")
    query.add(f"(<= (& {mixed} {GATE - 1}) open)")


def _wanted_lists(
    rule: EncodedRule, recipe: Recipe, query: Query, code: str, label: str
) -> Iterator[str]:
    """Start the lists that the maps of the right side build."""
    for build in recipe.builds:
        if not isinstance(build, BuildMap):
            continue
        earlier = recipe.builds[: recipe.builds.index(build)]
        if any(_reads(build, b.name) for b in earlier):
            raise TypeError("a map over something made by the rule; the checker holds this")
        row = _built_row(rule.plan, recipe, build, code, "0")
        over = naming.variable(build.over)
        head = [
            f"(set {row} (vec-empty))",
            f"(set (front {over} 0) (vec-get {over} 0))",
            "(set (vtypes (vec-empty)) (vec-empty))",
            "(set (vkey (vec-empty)) 0)",
        ]
        body = [*query.atoms, f"(< 0 (vec-length {over}))"]
        yield rule_text(body, head, WANTS, f"lists:{label}{build.name}")


def _reads(build: BuildMap, name: str) -> bool:
    return any(i == name or i.startswith(name + ".") for i in build.inputs)


def _built_row(plan: RulePlan, recipe: Recipe, build: BuildMap, code: str, length: str) -> str:
    table = built_table(_recipe_prefix(plan, recipe), build)
    others = "".join(
        f" {naming.variable(r)}"
        for i, r in enumerate(build.inputs)
        if i != build.position and r != ABSENT
    )
    attributes = AnswerColumn(AnswerKind.ATTRIBUTES, build.name).variable
    types = AnswerColumn(AnswerKind.ANALYSES, build.name).variable
    return f"({table} {naming.variable(build.over)} {length} {attributes} {code} {types}{others})"


def _built_atoms(plan: RulePlan, recipe: Recipe, build: BuildMap, code: str) -> list[str]:
    source = naming.variable(build.over)
    writer = ActionWriter(code)
    node, key = writer.tensor(build.name), writer.key(build.name)
    length = f"length_{safe(build.name)}"
    row = _built_row(plan, recipe, build, code, length)
    return [
        f"(= {length} (vlength {source}))",
        f"(= {node} {row})",
        f"(= {key} (vkey {node}))",
    ]


# --- the cycle check ------------------------------------------------------------------------


def _ok_atom(plan: RulePlan, place: int) -> str:
    names = " ".join(naming.variable(n) for n in plan.left.tensors)
    return f"(ok_{plan.number} {place} {names})"


def _check_rules(
    rule: EncodedRule, query: Query, ok: str, pairs: Sequence[tuple[str, str]], label: str
) -> Iterator[str]:
    roots = sorted({root for _, root in pairs})
    demands = [f"(depends {naming.variable(r)} {naming.variable(r)})" for r in roots]
    yield rule_text(query.atoms, [f"(set {ok} 1)", *demands], rule.check, f"check:{label}")
    for operand, root in pairs:
        yield rule_text(
            [f"(= 1 {ok})", f"(depends {naming.variable(root)} {naming.variable(operand)})"],
            [f"(set {ok} 0)"],
            cycles.BLOCKS,
            f"block:{label}:{operand}:{root}",
        )
