"""The matches of a rule that wait to act: rows of `hit_n`.

Enters: a rule's plan.  Leaves: the columns, the row that a match puts there, and the query that
takes it up again.

A match is found once, by the joins of its left side.  What acts starts from the row: it looks
up keys and origins, where another join of the left side with the answers could pair all tensors of
equal types first.  Acting deletes the row; what is left was refused, and goes when it is much.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.egraph import naming
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.egraph.query import Query, column_variable, input_term
from tensat_dl.egraph.runs import rule_text

#: So many matches that were refused may stay: to drop them takes as long as to make another rule.
KEPT_HITS = 4096


def hit_table(plan: RulePlan) -> str:
    """The relation of the matches that wait."""
    return f"hit_{plan.number}"


def hit_columns(plan: RulePlan) -> tuple[tuple[str, str], ...]:
    """(variable, sort) of each column: what the question holds, tensors, lists, and the vectors of
    variadic matches."""
    left = plan.left
    return (
        *[(column_variable(column), "i64") for column in left.columns],
        *[(naming.variable(name), "Tensor") for name in left.tensors],
        *[(naming.variable(name), "Tensors") for name in left.lists],
        *[(f"vec{i}", "Tensors") for i, m in enumerate(left.matches) if m.operator.is_variadic],
    )


def hit_declaration(plan: RulePlan) -> str:
    """The command that makes the table."""
    return f"(relation {hit_table(plan)} ({' '.join(sort for _, sort in hit_columns(plan))}))"


def hit_row(plan: RulePlan) -> str:
    """The row, in terms of its columns' variables."""
    return f"({hit_table(plan)} {' '.join(name for name, _ in hit_columns(plan))})"


def forgetting(plan: RulePlan) -> Iterator[str]:
    """The commands that make the ruleset which drops all rows."""
    ruleset = forget_ruleset(plan)
    yield f"(ruleset {ruleset})"
    head = [f"(delete {hit_row(plan)})"]
    yield rule_text([hit_row(plan)], head, ruleset, f"forget:{plan.number}")


def forget_ruleset(plan: RulePlan) -> str:
    """The ruleset that drops all rows."""
    return f"rs_forget_{plan.number}"


def hit_query(plan: RulePlan, *, origins: bool) -> Query:
    """A match that waits; with `origins` those of its e-nodes are bound to `m0`, `m1`, ..."""
    query = Query([hit_row(plan)])
    for index, match in enumerate(plan.left.matches if origins else ()):
        variadic = match.operator.is_variadic
        arguments = f"vec{index}" if variadic else " ".join(map(input_term, match.inputs))
        query.add(f"(= m{index} ({naming.made_table(match.operator)} a{index} {arguments}))")
        query.origins.append(f"m{index}")
    return query
