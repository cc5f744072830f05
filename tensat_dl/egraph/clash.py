"""Finds classes of which two contradictory things are known.

Enters: a snapshot and the original graph.  Leaves: the first clash, with the rules that may have
caused it.  A right side is typed before it is joined, so a clash means that two steps, each well
typed by itself, disagree: some rule is unsound.  What the original graph and the constants say of
a class is compared with what is known of the class, and so is the type of what rules made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from tensat_dl.egraph.loading import without_node_mark
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, LeafKind, Projection, Saturated
from tensat_dl.egraph.typing import Typer
from tensat_dl.graph.model import Graph
from tensat_dl.language.program import EmitNode, Rule
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.refine import meet
from tensat_dl.vocabulary.types import Type, TypeFault, type_text


@dataclass(frozen=True)
class Clash:
    """`what` is a tensor of type `found` in a class of type `expected`; one of `rules` did it."""

    rules: tuple[str, ...]
    what: str
    found: str
    expected: str

    def __str__(self) -> str:
        listed = ", ".join(f"`{rule}`" for rule in self.rules)
        subject = f"the rule {listed}" if len(self.rules) == 1 else f"one of the rules {listed}"
        return (
            f"{subject} is unsound: it makes {self.what} of type {self.found} "
            f"equal to a tensor of type {self.expected}"
        )


def find_clash(
    saturated: Saturated, graph: Graph, typer: Typer, rules: Sequence[Rule]
) -> Clash | None:
    """A clash that names its rule, of the newest generation; else any other, with those of `rules`
    that can have joined something to the tensor."""
    made = list(_made(saturated, typer))
    if made:
        return max(made, key=lambda item: (item[0], item[1].rules))[1]
    return next(_given(saturated, graph, rules), None)


def _made(saturated: Saturated, typer: Typer) -> Iterator[tuple[int, Clash]]:
    """E-nodes that rules made, with their generation."""
    cache: dict[object, Type | None] = {}
    agreed: set[tuple[int, int]] = set()  # types are few, and all are kept meanwhile
    for node in saturated.nodes:
        head = node.head
        if not isinstance(head, Application) or head.operator.has_bundle or node.original:
            continue
        expected = saturated.class_types[node.eclass]
        actual = _type_of(node, head, saturated, typer, cache)
        if actual is None or (id(expected), id(actual)) in agreed:
            continue
        if meet(expected, actual) is not None:
            agreed.add((id(expected), id(actual)))
            continue
        what = f"`{head.operator.name}`"
        yield node.generation, Clash((node.rule,), what, *_both(actual, expected))


def _given(saturated: Saturated, graph: Graph, rules: Sequence[Rule]) -> Iterator[Clash]:
    """Values of the original graph, and constants."""
    known: list[tuple[str, int, Type]] = [
        (f"`{name}`", saturated.value_class[name], type_) for name, type_ in graph.types.items()
    ]
    for node in saturated.nodes:
        if isinstance(node.head, Leaf) and node.head.kind is LeafKind.CONSTANT:
            constant = saturated.constants[node.head.name]
            known.append(("a constant", node.eclass, constant.type))
    for what, eclass, type_ in known:
        expected = saturated.class_types[eclass]
        if meet(expected, type_) is None:
            suspects = _suspects(saturated, eclass, rules)
            yield Clash(suspects, what, *_both(type_, expected))


def _suspects(saturated: Saturated, eclass: int, rules: Sequence[Rule]) -> tuple[str, ...]:
    """The rules that acted and whose both sides are among what makes a tensor; where there are
    none (what it reads was joined), all that acted."""
    counts = saturated.exploration.rules
    acted = [r for r in rules if r.name in counts and counts[r.name].applied]
    made = _operators_of(saturated, eclass)
    joined = [r for r in acted if any(_left(r, root, made) and _right(r, made) for root in r.roots)]
    return tuple(sorted(rule.name for rule in joined or acted))


def _operators_of(saturated: Saturated, eclass: int) -> set[Operator]:
    nodes = [node for node in saturated.nodes if node.eclass == eclass]
    bundles = {node.children[0] for node in nodes if isinstance(node.head, Projection)}
    nodes += [node for node in saturated.nodes if node.eclass in bundles]
    return {node.head.operator for node in nodes if isinstance(node.head, Application)}


def _left(rule: Rule, root: str, made: Set[Operator]) -> bool:
    """Is the operator of the pattern there?  A bare variable matches whatever is."""
    found = [match.operator for match in rule.matches if root in match.outputs]
    return not found or found[0] in made


def _right(rule: Rule, made: Set[Operator]) -> bool:
    """Is one of the operators of the right side there?  It may also be a variable or a constant."""
    terms = [emit.term for emit in rule.emits if set(emit.targets) & set(rule.roots)]
    return any(not isinstance(t, EmitNode) or t.operator in made for t in terms)


def _both(found: Type, expected: Type) -> tuple[str, str]:
    """Two types in words, with their values where nothing else tells them apart."""
    plain = type_text(found), type_text(expected)
    if plain[0] != plain[1]:
        return plain
    first, second = (list(getattr(t, "value", None) or ()) for t in (found, expected))
    return f"{plain[0]} = {first}", f"{plain[1]} = {second}"


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


def _infer(head: Application, types: tuple[Type, ...], typer: Typer) -> Type | None:
    if head.operator.kind is OperatorKind.OPAQUE:
        return None
    found = typer.outputs(head.operator, without_node_mark(head.attributes), types, 1)
    return None if isinstance(found, TypeFault) else found[0]
