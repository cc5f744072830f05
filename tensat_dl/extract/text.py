"""The mathematical program of an extraction problem, for people to read.

Enters: a problem and the settings.  Leaves: lines: what each column means, the objective, the
rows.  Rows against longer loops are added while solving and do not stand here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import graph_of
from tensat_dl.extract.limits import limits_of
from tensat_dl.extract.problem import Problem
from tensat_dl.extract.program import Program, Row
from tensat_dl.extract.published import Published, cycles_of
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.table import WHOLE, Context, Reducer
from tensat_dl.extract.search import Plan, limit_rows, model_of
from tensat_dl.extract.whole import KEEPING_ALL
from tensat_dl.settings import ExtractSettings, Method


def model_text(problem: Problem, settings: ExtractSettings) -> Iterator[str]:
    """The program that `settings.method` solves, line by line."""
    limits = limits_of(problem, settings)
    published = settings.method == Method.TENSAT_ILP
    graph, deadline = prune(graph_of(problem)), Deadline(settings.seconds)
    if not published:
        names = KEEPING_ALL if limits else WHOLE
        graph = Reducer(switched_on=settings.reductions).run(graph, names, Context(deadline))
    model = model_of(graph, Plan(cycles_of(settings), published, settings.gap), deadline)
    limiting = [(limit.text, limit_rows(graph, model, limit)) for limit in limits]
    active = {} if isinstance(model, Published) else model.active
    meaning = {
        column: f"class {graph.class_id[c]} is used"
        for c, column in active.items()
        if column is not None
    }
    nodes = {column: node for node, column in model.node_column.items() if column is not None}
    meaning |= {
        i: _node(problem, int(graph.node_id[n]), int(graph.class_id[graph.owner[n]]))
        for i, n in nodes.items()
    }
    yield f"# {problem.nodes} e-nodes in {problem.classes} classes, reduced to {graph.nodes}"
    yield from _lines(model.program, meaning)
    for text, rows in limiting:
        yield f"# {text}" + ("" if rows else ": so it is, whatever is chosen")
        yield from map(_row, rows)


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
