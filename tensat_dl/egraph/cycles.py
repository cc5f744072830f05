"""The cycle-check rule: a match is blocked when an operand of what it makes depends on an output.

Enters: a rule's plan.  Leaves: which (operand, output) pairs to check, and rules as text.

`(depends output tensor)`: `tensor` depends on `output`, found by demand, for outputs in question
only.  An operand below every output of the pattern needs no check (it would be a cycle already),
nor does a weight.  Negation is stratified: `ok` becomes 1 for every match, then 0 for the
blocked ones, then the rule acts where it is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensat_dl.egraph import naming
from tensat_dl.egraph.runs import rule_text
from tensat_dl.language import program
from tensat_dl.vocabulary.operators import Operator

#: Ancestors of the outputs in question; saturated after a rule's `rs_check_n`, which sets `ok`
#: to 1 and asks for dependencies.
REACH = "rs_reach"
#: Sets `ok` to 0.
BLOCKS = "rs_blocks"

#: Drops the dependencies: later steps ask about other outputs, and those of these would go on
#: growing with the e-graph.
FORGET = "rs_forget"

DECLARATIONS = (
    "(relation depends (Tensor Tensor))",
    "(relation bdepends (Tensor Bundle))",
    "(relation holds (Tensors Tensor))",
)


def pairs_to_check(rule: program.Rule) -> tuple[tuple[str, str], ...]:
    """(operand, root) pairs: the operand must not depend on the root."""
    if rule.each is not None:
        return _pairs_of_group(rule)
    below = {root: _leaves(rule, root) for root in rule.roots}
    weights = _weights(rule)
    return tuple(
        (operand, root)
        for root in rule.roots
        for operand in sorted(set().union(*below.values()))
        if operand not in below[root] and operand not in weights and len(rule.roots) > 1
    )


def _pairs_of_group(rule: program.Rule) -> tuple[tuple[str, str], ...]:
    assert rule.each is not None
    weights = _weights(rule)
    members = set(rule.each.members)
    return tuple(
        (operand, root)
        for root in rule.roots
        for operand in sorted(_leaves(rule, root) & members)
        if operand not in weights
    )


def _weights(rule: program.Rule) -> set[str]:
    return {fact.arguments[0] for fact in rule.facts if fact.is_weight}


def _leaves(rule: program.Rule, root: str) -> set[str]:
    """Tensors below `root` in the pattern that no match of the pattern makes."""
    made = {o: m for m in rule.matches for o in m.outputs}
    if root not in made:
        return {root}
    leaves: set[str] = set()
    for item in made[root].inputs:
        if isinstance(item, program.InputVariable):
            leaves |= _leaves(rule, item.name)
        elif isinstance(item, program.InputStar):
            leaves.add(item.name)
    return leaves


def checking_rules(operators: Iterable[Operator]) -> Iterator[str]:
    """What cycle checks need, whatever the rule."""
    yield from _common_rules()
    for operator in operators:
        yield from _reach_rules(operator)


def _reach_rules(operator: Operator) -> Iterator[str]:
    """Who depends on an output in question, through the e-nodes of one operator."""
    table = naming.node_table(operator)
    target = "bdepends" if operator.has_bundle else "depends"
    if operator.is_variadic:
        yield rule_text(
            ["(depends output input)", "(holds vec input)", f"(= node ({table} attrs vec))"],
            [f"({target} output node)"],
            REACH,
            f"reach:{table}",
        )
        yield rule_text(
            [f"(= node ({table} attrs vec))", "(< 0 (vec-length vec))"],
            ["(hold_next vec 0)"],
            REACH,
            f"holds:{table}",
        )
        return
    count = len(operator.inputs)
    for place in range(count):
        inputs = " ".join("input" if i == place else f"x{i}" for i in range(count))
        yield rule_text(
            ["(depends output input)", f"(= node ({table} attrs {inputs}))"],
            [f"({target} output node)"],
            REACH,
            f"reach:{table}:{place}",
        )


def _common_rules() -> Iterator[str]:
    """Rules for projections and for the members of vectors."""
    yield "(relation hold_next (Tensors i64))"
    for table in ("depends", "bdepends"):
        row = f"({table} output node)"
        yield rule_text([row], [f"(delete {row})"], FORGET, f"forget:{table}")
    yield rule_text(
        ["(bdepends output bundle)", "(= node (Out bundle place))"],
        ["(depends output node)"],
        REACH,
        "reach:Out",
    )
    yield rule_text(
        ["(hold_next vec place)", "(< place (vec-length vec))"],
        ["(holds vec (vec-get vec place))", "(hold_next vec (+ place 1))"],
        REACH,
        "holds:next",
    )
