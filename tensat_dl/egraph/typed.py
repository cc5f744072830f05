"""E-nodes beside what is known of their inputs, so that a left side need not look that up.

Enters: operators of which `naming.has_types`.  Leaves: commands as text: a table `typed_X
(attributes inputs.. output analyses..)` for an operator, and the rule that fills it.  Two operands
that may change places stand there in both orders; one more column is 0 where they stand as in the
e-node.

A left side asks what is known of its tensors.  As a join with `type`, each tensor would have the
engine look at all tensors that are new, for every rule anew: most of them stand in no match.  An
analysis that becomes better is another row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tensat_dl.egraph import naming
from tensat_dl.egraph.runs import rule_text
from tensat_dl.vocabulary.operators import Operator

#: Fills the tables.
TYPED = "rs_typed"


def typed_declarations(operators: Iterable[Operator]) -> Iterator[str]:
    """Make the tables."""
    yield f"(ruleset {TYPED})"
    for operator in operators:
        count = len(operator.inputs)
        result = "Bundle" if operator.has_bundle else "Tensor"
        rest = ["i64"] * (count + naming.has_orders(operator))
        sorts = " ".join(["i64", *["Tensor"] * count, result, *rest])
        yield f"(relation {naming.typed_table(operator)} ({sorts}))"


def typed_rule(operator: Operator) -> Iterator[str]:
    """Fill the table of one operator; rows in another order have their origin, too."""
    table, made = naming.node_table(operator), naming.made_table(operator)
    inputs = [f"x{place}" for place in range(len(operator.inputs))]
    types = [f"(= t_{name} (type {name}))" for name in inputs]
    row = " ".join(["attrs", *inputs])
    body = [f"(= node ({table} {row}))", *types]
    orders = naming.has_orders(operator)
    head = [typed_row(operator, inputs, "0" if orders else "")]
    if orders:
        body.append(f"(= origin ({made} {row}))")
        head.append(typed_row(operator, inputs[::-1], "1"))
        head.append(f"(set ({made} attrs {' '.join(inputs[::-1])}) origin)")
    yield rule_text(body, head, TYPED, f"typed:{table}")


def typed_row(operator: Operator, inputs: Sequence[str], order: str) -> str:
    """A row, in terms of `attrs`, `node`, and of `inputs` and `t_..` for each."""
    columns = ["attrs", *inputs, "node", *[f"t_{name}" for name in inputs], order]
    return f"({naming.typed_table(operator)} {' '.join(columns).strip()})"
