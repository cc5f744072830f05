"""E-nodes beside what is known of their inputs, so that a left side need not look that up.

Enters: operators.  Leaves: commands as text: a table `typed_X (attributes inputs.. output
analyses..)` for an operator, and the rule that fills it.

A left side asks what is known of its tensors.  As a join with `type`, each tensor would have the
engine look at all tensors that are new, for every rule anew: most of them stand in no match.  An
analysis that becomes better is another row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensat_dl.egraph import naming
from tensat_dl.egraph.runs import rule_text
from tensat_dl.vocabulary.operators import Operator

#: Fills the tables.
TYPED = "rs_typed"


def typed_declarations(operators: Iterable[Operator]) -> Iterator[str]:
    """Make the tables."""
    yield f"(ruleset {TYPED})"
    for operator in filter(naming.has_types, operators):
        count = len(operator.inputs)
        result = "Bundle" if operator.has_bundle else "Tensor"
        sorts = " ".join(["i64", *["Tensor"] * count, result, *["i64"] * count])
        yield f"(relation {naming.typed_table(operator)} ({sorts}))"


def typed_rule(operator: Operator) -> Iterator[str]:
    """Fill the table of one operator."""
    table = naming.node_table(operator)
    inputs = [f"x{place}" for place in range(len(operator.inputs))]
    types = [f"(= t_{name} (type {name}))" for name in inputs]
    body = [f"(= node ({table} {' '.join(['attrs', *inputs])}))", *types]
    yield rule_text(body, [typed_row(operator)], TYPED, f"typed:{table}")


def typed_row(operator: Operator) -> str:
    """A row, in terms of `attrs`, `node`, and of `x0`, `t_x0`, .. for its inputs."""
    inputs = [f"x{place}" for place in range(len(operator.inputs))]
    columns = " ".join(["attrs", *inputs, "node", *[f"t_{name}" for name in inputs]])
    return f"({naming.typed_table(operator)} {columns})"
