"""Removes cycles from the e-graph: of every cycle the newest e-node that a rule made.

Enters: the engine between two steps.  Leaves: rows subsumed there.  Best effort: e-nodes of the
original graph are never removed, and later steps may close new cycles; the extractor verifies its
own answer whatever happened here.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tensat_dl.components import strong_components
from tensat_dl.egraph import naming
from tensat_dl.egraph.engine import Engine, Row
from tensat_dl.egraph.runs import rule_text
from tensat_dl.egraph.typed import typed_row
from tensat_dl.vocabulary.operators import Operator

#: Subsumes the rows that Python names.
PRUNE = "rs_prune"


def prune_rules(operators: Sequence[Operator], typed: Container[Operator]) -> Iterator[str]:
    """Commands that let Python name a row by its attributes and the keys of its inputs; those of
    `typed` are also in tables of their own (see `egraph.typed`)."""
    yield f"(ruleset {PRUNE})"
    for operator in operators:
        suffix = naming.operator_suffix(operator)
        node = naming.node_table(operator)
        if operator.is_variadic:
            names, atoms = ["vec"], ["(= kvec (vkey vec))"]
        else:
            names = [f"x{i}" for i in range(len(operator.inputs))]
            atoms = [f"(= k{name} (key {name}))" for name in names]
        keys = [f"k{name}" for name in names]
        yield f"(relation prune_{suffix} ({' '.join(['i64'] * (1 + len(keys)))}))"
        row = " ".join(["attrs", *names])
        named = [f"(prune_{suffix} {' '.join(['attrs', *keys])})", *atoms]
        body = [*named, f"(= node ({node} {row}))"]
        yield rule_text(body, [f"(subsume ({node} {row}))"], PRUNE, f"prune:{suffix}")
        if operator in typed:
            yield from _typed_rules(operator, names, named)


def _typed_rules(operator: Operator, names: Sequence[str], named: Sequence[str]) -> Iterator[str]:
    """What is subsumed is not looked at with its types either, in either order."""
    orders = [names, names[::-1]] if naming.has_orders(operator) else [names]
    for number, inputs in enumerate(orders):
        known = typed_row(operator, inputs, "place" if len(orders) > 1 else "")
        label = f"prune_typed:{naming.operator_suffix(operator)}:{number}"
        yield rule_text([*named, known], [f"(delete {known})"], PRUNE, label)


@dataclass(frozen=True)
class _Edge:
    """An application: its class, children, origin, and how to name it."""

    eclass: Any
    children: tuple[Any, ...]
    origin: int
    table: str
    row: Row


def prune_cycles(engine: Engine, operators: Sequence[Operator]) -> bool:
    """Subsume until no cycle is left that a rule made; gives whether anything was."""
    tables = engine.tables(
        lambda name: name in ("key", "vkey", "Out") or name.startswith(("op_", "made_"))
    )
    keys = {inputs[0]: output for inputs, output, _ in tables["key"].rows}
    vector_keys = {inputs[0]: output for inputs, output, _ in tables["vkey"].rows}
    edges = [
        *_projections(tables["Out"].rows),
        *(e for o in operators for e in _applications(o, tables, keys, vector_keys)),
    ]
    removed: list[_Edge] = []
    while True:
        found = _newest_of_cycles(edges)
        if not found:
            break
        removed += found
        gone = set(map(id, found))
        edges = [e for e in edges if id(e) not in gone]
    for edge in removed:
        engine.facts(edge.table, [edge.row])
    if removed:
        engine.run(PRUNE)
    return bool(removed)


def _projections(rows: Sequence[Any]) -> Iterator[_Edge]:
    for (bundle, _), output, _ in rows:
        yield _Edge(output, (bundle,), 0, "", ())


def _applications(operator: Operator, tables: Any, keys: Any, vector_keys: Any) -> Iterator[_Edge]:
    made = tables.get(naming.made_table(operator))
    nodes = tables.get(naming.node_table(operator))
    if made is None or nodes is None:
        return
    origins = {inputs: output for inputs, output, _ in made.rows}
    table = f"prune_{naming.operator_suffix(operator)}"
    for inputs, output, subsumed in nodes.rows:
        origin = origins.get(inputs, 0)
        if subsumed and origin:
            continue
        if operator.is_variadic:
            children = inputs[1]
            row: Row = (inputs[0], vector_keys.get(children, 0))
        else:
            children = inputs[1:]
            row = (inputs[0], *[keys.get(c, 0) for c in children])
        yield _Edge(output, tuple(children), origin, table, row)


def _newest_of_cycles(edges: Sequence[_Edge]) -> list[_Edge]:
    """For each strongly connected component the latest rule-made e-node inside it."""
    numbers: dict[Any, int] = {}
    for edge in edges:
        for value in (edge.eclass, *edge.children):
            numbers.setdefault(value, len(numbers))
    pairs = [(numbers[e.eclass], [numbers[c] for c in e.children]) for e in edges]
    successors: dict[int, list[int]] = {number: [] for number in numbers.values()}
    for eclass, children in pairs:
        successors[eclass].extend(children)
    found = strong_components(successors)
    component = {eclass: number for number, members in enumerate(found) for eclass in members}
    newest: dict[int, _Edge] = {}
    for edge, (eclass, children) in zip(edges, pairs, strict=True):
        number = component[eclass]
        if not edge.origin or all(component[c] != number for c in children):
            continue
        current = newest.get(number)
        if current is None or (edge.origin, edge.row) > (current.origin, current.row):
            newest[number] = edge
    return list(newest.values())
