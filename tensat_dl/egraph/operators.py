"""The tables of operators, and the rules that keep them.

Enters: plans of rules, the operators of the graph.  Leaves: commands as text: for each operator
its e-nodes and their origins, one order of operands where order does not matter, and the e-nodes
that rules with rounds may match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tensat_dl.egraph import naming
from tensat_dl.egraph.build import BuildMap, BuildNode
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.query import RULE_BITS
from tensat_dl.egraph.runs import RUNS, rule_text
from tensat_dl.language import program
from tensat_dl.language.sides import matched_operators, operators_of
from tensat_dl.vocabulary.operators import Operator

#: Sorts the operands of commutative operators.
NORMAL = "rs_normal"


def all_operators(
    plans: Sequence[RulePlan],
    derivations: Sequence[program.Derivation],
    graph_operators: Iterable[Operator],
) -> tuple[Operator, ...]:
    """Every operator of the graph, the rules and the derivations, by name."""
    builds = (build for plan in plans for recipe in plan.recipes for build in recipe.builds)
    used = [
        *graph_operators,
        *(operator for plan in plans for operator in operators_of(plan.left.matches)),
        *(operator for derivation in derivations for operator in matched_operators(derivation)),
        *(build.operator for build in builds if isinstance(build, BuildNode | BuildMap)),
    ]
    found = {naming.operator_suffix(operator): operator for operator in used}
    return tuple(found[name] for name in sorted(found))


def operator_commands(operator: Operator) -> Iterator[str]:
    """Declare an operator's tables."""
    inputs = ["Tensors"] if operator.is_variadic else ["Tensor"] * len(operator.inputs)
    columns = " ".join(["i64", *inputs])
    result = "Bundle" if operator.has_bundle else "Tensor"
    node, made = naming.node_table(operator), naming.made_table(operator)
    yield f"(constructor {node} ({columns}) {result})"
    yield f"(function {made} ({columns}) i64 :merge (min old new))"
    if naming.has_orders(operator):
        yield rule_text(
            [
                f"(= node ({node} attrs x y))",
                f"(= origin ({made} attrs x y))",
                "(= kx (key x))",
                "(= ky (key y))",
                "(> kx ky)",
            ],
            [
                f"(union node ({node} attrs y x))",
                f"(set ({made} attrs y x) origin)",
                f"(delete ({node} attrs x y))",  # not its origin: see `egraph.typed`
            ],
            NORMAL,
            f"sort:{node}",
        )


def young_commands(plans: Sequence[RulePlan]) -> Iterator[str]:
    """Tables of the e-nodes that rules with rounds may match.

    The engine joins before it compares, so a comparison of generations inside a rule would come
    too late: the join is what explodes.
    """
    wanted = {
        naming.young_table(match.operator, plan.rule.rounds or 1): (match.operator, plan.rule)
        for plan in plans
        if plan.rule.is_multi_output
        for match in plan.left.matches
    }
    for table, (operator, rule) in sorted(wanted.items()):
        inputs = ["Tensors"] if operator.is_variadic else ["Tensor"] * len(operator.inputs)
        yield f"(function {table} ({' '.join(['i64', *inputs])}) i64 :merge (min old new))"
        row = " ".join(["attrs", *(f"x{i}" for i in range(len(inputs)))])
        yield rule_text(
            [
                f"(= origin ({naming.made_table(operator)} {row}))",
                f"(< origin {(rule.rounds or 1) << RULE_BITS})",
            ],
            [f"(set ({table} {row}) origin)"],
            RUNS,
            f"young:{table}",
        )
