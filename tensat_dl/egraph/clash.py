"""Finds classes whose e-nodes have types that contradict each other.

Enters: a snapshot.  Leaves: the first clash, with the rule that made the newer e-node.  A right
side is typed before it is joined, so a clash means that two steps, each well typed by itself,
disagree: some rule is unsound.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.egraph.loading import without_node_mark
from tensat_dl.egraph.question import describe
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.egraph.typing import Typer
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.refine import meet
from tensat_dl.vocabulary.types import AbsentType, Type, TypeFault


@dataclass(frozen=True)
class Clash:
    """`rule` made an e-node of `operator` with type `found` in a class of type `expected`."""

    rule: str
    operator: str
    found: str
    expected: str


def find_clash(saturated: Saturated, typer: Typer) -> Clash | None:
    """The clash of the newest generation, if there is one."""
    cache: dict[object, Type | None] = {}
    found: list[tuple[int, Clash]] = []
    for node in saturated.nodes:
        head = node.head
        if not isinstance(head, Application) or head.operator.has_bundle or node.original:
            continue
        expected = saturated.class_types[node.eclass]
        actual = _type_of(node, head, saturated, typer, cache)
        if expected is None or actual is None or meet(expected, actual) is not None:
            continue
        clash = Clash(node.rule, head.operator.name, describe(actual), describe(expected))
        found.append((node.generation, clash))
    return max(found, key=lambda item: (item[0], item[1].rule))[1] if found else None


def _type_of(
    node: ENode,
    head: Application,
    saturated: Saturated,
    typer: Typer,
    cache: dict[object, Type | None],
) -> Type | None:
    types = tuple(saturated.class_types[c] for c in node.children)
    key = (id(head), *map(id, types))
    if key not in cache:
        cache[key] = _infer(head, types, typer)
    return cache[key]


def _infer(head: Application, types: tuple[Type | None, ...], typer: Typer) -> Type | None:
    if head.operator.kind is OperatorKind.OPAQUE:
        return None
    inputs = tuple(AbsentType() if t is None else t for t in types)
    found = typer.outputs(head.operator, without_node_mark(head.attributes), inputs, 1)
    return None if isinstance(found, TypeFault) else found[0]
