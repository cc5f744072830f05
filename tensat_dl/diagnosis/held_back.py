"""Rules that were off because their operators are newer than the model's opset, and would act.

Enters: a checked program, an explored e-graph, the opsets of the model.  Leaves: one note for each
opset that would have the operators.  They are matched here, in the e-graph that the others made.
Of given rules, also why they are off, whether or not they would act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tensat_dl.cost.opset_notes import lack, opset_note
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.matching import Matcher
from tensat_dl.diagnosis.obstacles import Judge
from tensat_dl.egraph.explore import chosen_rules
from tensat_dl.egraph.plan import plan_rule
from tensat_dl.egraph.snapshot import Application, Saturated
from tensat_dl.language.newer import made_later
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.language.sides import matched_operators
from tensat_dl.settings import RuleSettings
from tensat_dl.vocabulary.catalog import versions_of
from tensat_dl.vocabulary.operators import Operator


def held_back(
    program: CheckedProgram,
    saturated: Saturated,
    opsets: Mapping[str, int],
    settings: RuleSettings,
) -> tuple[str, ...]:
    """The notes, in the order of the opsets."""
    opset = opsets.get("", 0)
    there = {n.head.operator for n in saturated.nodes if isinstance(n.head, Application)}
    rules = [
        rule
        for rule in chosen_rules(program, settings)
        if made_later(rule, opset) and there.issuperset(matched_operators(rule))
    ]
    index = _index(saturated, {each for rule in rules for each in matched_operators(rule)})
    acting = [rule for rule in rules if _acts(rule, program, index)]
    needed = {rule.name: versions_of(made_later(rule, opset))[""] for rule in acting}
    return tuple(
        _note([rule for rule in acting if needed[rule.name] == version], version, opset)
        for version in sorted(set(needed.values()))
    )


def held_off(rules: Sequence[Rule], opset: int) -> str:
    """Why all of these rules are off at the opset; "" where one is not."""
    made = {operator for rule in rules for operator in made_later(rule, opset)}
    if not all(made_later(rule, opset) for rule in rules):
        return ""
    names = sorted(operator.name for operator in made)
    return f"off at ai.onnx {opset} ({lack(names, versions_of(made)[''])})"


def _note(rules: Sequence[Rule], needed: int, opset: int) -> str:
    made = {operator.name for rule in rules for operator in made_later(rule, opset)}
    return opset_note(sorted(made), needed, opset, sorted(rule.name for rule in rules))


def _index(saturated: Saturated, operators: set[Operator]) -> Index:
    """Of these operators alone: large e-graphs are slow to index."""
    nodes = saturated.nodes if operators else ()
    kept = tuple(
        node
        for node in nodes
        if not isinstance(node.head, Application) or node.head.operator in operators
    )
    return Index(replace(saturated, nodes=kept))


def _acts(rule: Rule, program: CheckedProgram, index: Index) -> bool:
    """Some match of the rule has nothing in its way."""
    plan = plan_rule(1, rule)
    judge, matcher = Judge(index, plan, program), Matcher(index, plan.left, rule.roots)
    return any(judge.obstacle(binding) is None for binding in matcher.matches())
