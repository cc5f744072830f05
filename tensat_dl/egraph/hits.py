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
from tensat_dl.egraph.query import Query, column_variable, input_term, swappable
from tensat_dl.egraph.runs import rule_text
from tensat_dl.language import program

#: So many matches that were refused may stay: to drop them takes as long as to make another rule.
KEPT_HITS = 4096


def hit_table(plan: RulePlan) -> str:
    """The relation of the matches that wait."""
    return f"hit_{plan.number}"


def hit_columns(plan: RulePlan) -> tuple[tuple[str, str], ...]:
    """(variable, sort) of each column: what the question holds, tensors, lists, and the
    arguments of matches that these do not say."""
    left = plan.left
    return (
        *[(column_variable(column), "i64") for column in left.columns],
        *[(naming.variable(name), "Tensor") for name in left.tensors],
        *[(naming.variable(name), "Tensors") for name in left.lists],
        *[column for i, match in enumerate(left.matches) for column in _arguments(match, i)],
    )


def _arguments(match: program.Match, index: int) -> Iterator[tuple[str, str]]:
    """The vector of a variadic match; the operands of a commutative one as they stand."""
    if match.operator.is_variadic:
        yield f"vec{index}", "Tensors"
    elif swappable(match):
        yield from ((f"i{index}_{place}", "Tensor") for place in range(2))


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


def hit_found(plan: RulePlan, order: tuple[bool, ...]) -> str:
    """The row of a match with these orders of operands, in terms of the query's variables."""
    standing = {}
    for index, (match, swapped) in enumerate(zip(plan.left.matches, order, strict=True)):
        if swappable(match):
            inputs = match.inputs[::-1] if swapped else match.inputs
            standing.update({f"i{index}_{p}": input_term(i) for p, i in enumerate(inputs)})
    names = [name for name, _ in hit_columns(plan)]
    return f"({hit_table(plan)} {' '.join(standing.get(name, name) for name in names)})"


def hit_query(plan: RulePlan, *, origins: bool) -> Query:
    """A match that waits; with `origins` those of its e-nodes are bound to `m0`, `m1`, ..."""
    query = Query([hit_row(plan)])
    for index, match in enumerate(plan.left.matches if origins else ()):
        names = [name for name, _ in _arguments(match, index)]
        arguments = " ".join(names or map(input_term, match.inputs))
        query.add(f"(= m{index} ({naming.made_table(match.operator)} a{index} {arguments}))")
        query.origins.append(f"m{index}")
    return query
