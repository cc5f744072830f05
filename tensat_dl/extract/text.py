"""The mathematical program of an extraction problem, for people to read.

Enters: a problem and the settings.  Leaves: lines: what each column means, the objective, the
rows.  Rows against longer loops are added while solving and do not stand here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.formulation import formulate, order_of, order_rows
from tensat_dl.extract.graph import graph_of
from tensat_dl.extract.problem import Problem
from tensat_dl.extract.program import Program, Row
from tensat_dl.extract.published import cycles_of, formulate_published
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.table import WHOLE, Context, Reducer
from tensat_dl.settings import ExtractSettings, Method


def model_text(problem: Problem, settings: ExtractSettings) -> Iterator[str]:
    """The program that `settings.method` solves, line by line."""
    graph = prune(graph_of(problem))
    deadline = Deadline(settings.seconds)
    meaning: dict[int, str] = {}
    columns: Mapping[int, int | None]
    if settings.method == Method.TENSAT_ILP:
        published = formulate_published(graph, order_of(cycles_of(settings)), deadline)
        program, columns = published.program, published.node_column
    else:
        graph = Reducer(switched_on=settings.reductions).run(graph, WHOLE, Context(deadline))
        reduced = formulate(graph, deadline)
        order_rows(reduced, order_of(settings.cycles))
        program, columns = reduced.program, reduced.node_column
        active = {column: eclass for eclass, column in reduced.active.items()}
        meaning = {
            i: f"class {graph.class_id[c]} is used" for i, c in active.items() if i is not None
        }
    nodes = {column: node for node, column in columns.items() if column is not None}
    meaning |= {
        i: _node(problem, int(graph.node_id[n]), int(graph.class_id[graph.owner[n]]))
        for i, n in nodes.items()
    }
    yield f"# {problem.nodes} e-nodes in {problem.classes} classes, reduced to {graph.nodes}"
    yield from _lines(program, meaning)


def _node(problem: Problem, node: int, eclass: int) -> str:
    name = f" ({problem.node_name[node]})" if problem.node_name else ""
    return f"node {node}{name} of class {eclass}"


def _lines(program: Program, meaning: Mapping[int, str]) -> Iterator[str]:
    for column in range(len(program.costs)):
        kind = f"0..{program.uppers[column]:g}"
        if program.integer[column]:
            kind = "binary" if program.uppers[column] == 1.0 else f"{kind}, whole"
        yield f"# x{column}: {kind}, {meaning.get(column, 'a position')}"
    priced = [column for column, cost in enumerate(program.costs) if cost]
    yield f"minimise {_sum(priced, [program.costs[column] for column in priced])}"
    yield from (_row(row) for row in program.rows)


def _row(row: Row) -> str:
    return f"  {_sum(row.columns, row.coefficients)} {row.sense.value} {row.right:g}"


def _sum(columns: Sequence[int], coefficients: Sequence[float]) -> str:
    terms = [
        f"{'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor):g} '}x{column}"
        for column, factor in zip(columns, coefficients, strict=True)
    ]
    return " ".join(terms).removeprefix("+ ") or "0"
