"""What a runtime runs as one: chains of operators, offered to the extraction at one price.

Enters: a posed problem, or the original graph.  Leaves: the problem with a node for each chain
beside the e-nodes that it is made of, or what the graph runs with its chains made.  onnxruntime
fuses a convolution with the normalisation, sum and activation behind it, a product with its bias;
single times would charge for what then costs nothing.  Whether it does is measured like all else:
a chain that is not fused takes what its parts take, and nothing is lost but the measuring.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.cost.posing import Posed
from tensat_dl.cost.work import Chain, Part, Timed
from tensat_dl.egraph.snapshot import Application, ENode, Projection
from tensat_dl.graph.model import Graph, Node

_ACTIVATIONS = frozenset({"Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh"})

#: A chain so far -> what may follow it.
FOLLOWERS: Mapping[tuple[str, ...], frozenset[str]] = {
    ("Conv",): _ACTIVATIONS | {"Add", "BatchNormalization", "Mul"},
    ("Conv", "Mul"): frozenset({"Add"}),
    ("Conv", "Mul", "Add"): _ACTIVATIONS,
    ("Conv", "BatchNormalization"): _ACTIVATIONS | {"Add"},
    ("Conv", "BatchNormalization", "Add"): _ACTIVATIONS,
    ("Conv", "Add"): _ACTIVATIONS,
    ("Gemm",): _ACTIVATIONS,
    ("MatMul",): frozenset({"Add"}),
    ("MatMul", "Add"): _ACTIVATIONS,
    ("Add",): frozenset({"Gelu", "LayerNormalization"}),
    ("Transpose",): frozenset({"MatMul"}),
}
_LONGEST = 1 + max(map(len, FOLLOWERS))

#: At most so many chains for each e-node, on the whole.
_CHAINS_PER_NODE = 2


@dataclass(frozen=True)
class _Link:
    """A chain that ends in class `eclass`: its operators, what is timed, its e-nodes (the last
    operator's first), the classes that it reads."""

    eclass: int
    names: tuple[str, ...]
    timed: Timed
    nodes: tuple[ENode, ...]
    children: frozenset[int]


def with_chains(posed: Posed) -> Posed:
    """The problem with a node for every chain."""
    found: list[_Link] = []
    for link in _links(posed):
        if len(found) >= _CHAINS_PER_NODE * len(posed.nodes):
            break
        if len(link.names) > 1 and isinstance(link.nodes[0].head, Application):
            found.append(link)
    problem = posed.problem
    children = [sorted(link.children) for link in found]
    ends = problem.child_start[-1] + np.cumsum([len(row) for row in children], dtype=np.int64)
    extended = dataclasses.replace(
        problem,
        node_class=_joined(problem.node_class, [link.eclass for link in found]),
        node_cost=np.concatenate([problem.node_cost, np.zeros(len(found))]),
        child_start=_joined(problem.child_start, ends.tolist()),
        children=_joined(problem.children, [c for row in children for c in row]),
        node_name=[*problem.node_name, *("+".join(link.names) for link in found)],
    )
    first = len(posed.nodes)
    return Posed(
        extended,
        (*posed.nodes, *(link.nodes[0] for link in found)),
        (*posed.parts, *(link.timed for link in found)),
        posed.left_out,
        {first + place: link.nodes[1:] for place, link in enumerate(found)},
    )


def _joined(array: np.ndarray, more: Sequence[int]) -> np.ndarray:
    return np.concatenate([array, np.array(more, dtype=np.int64)])


def _links(posed: Posed) -> Iterator[_Link]:
    """Every chain, the short ones first."""
    readers: dict[int, list[int]] = {}
    for index, node in enumerate(posed.nodes):
        for child in dict.fromkeys(node.children):
            readers.setdefault(child, []).append(index)
    known: dict[Timed, Timed] = {}
    current = list(_heads(posed))
    for _ in range(2 * _LONGEST):  # each operator may be followed by the projection of a bundle
        current = [
            longer
            for link in current
            for index in readers.get(link.eclass, ())
            for longer in _longer(link, posed.nodes[index], posed.parts[index], known)
        ]
        yield from current


def _heads(posed: Posed) -> Iterator[_Link]:
    for node, part in zip(posed.nodes, posed.parts, strict=True):
        names = _names(node)
        if part is not None and names in FOLLOWERS:
            yield _Link(node.eclass, names, part, (node,), frozenset(node.children))


def _longer(
    link: _Link, node: ENode, part: Timed | None, known: dict[Timed, Timed]
) -> Iterator[_Link]:
    """The chain with `node`, which reads it, at its end; none where they do not go together.

    Equal chains are one object, by way of `known`."""
    if isinstance(node.head, Projection):
        if node.head.index == 0:
            yield dataclasses.replace(link, eclass=node.eclass, nodes=(node, *link.nodes))
        return
    names = _names(node)
    fits = isinstance(part, Part) and names and names[0] in FOLLOWERS.get(link.names, ())
    if not fits or node.children.count(link.eclass) != 1:
        return
    children = link.children | (frozenset(node.children) - {link.eclass})
    if node.eclass in children:
        return
    chain = Chain(part, node.children.index(link.eclass), link.timed)  # type: ignore[arg-type]
    same = known.setdefault(chain, chain)
    yield _Link(node.eclass, (*link.names, *names), same, (node, *link.nodes), children)


def _names(node: ENode) -> tuple[str, ...]:
    head = node.head
    return (
        (head.operator.name,) if isinstance(head, Application) and not head.operator.domain else ()
    )


@dataclass(frozen=True)
class _Run:
    """Nodes of the original that are run as one, the last of which makes a value; `total` is its
    price with that of all `behind` it."""

    nodes: tuple[Node, ...]
    timed: Timed
    behind: tuple[_Run, ...]
    total: float


def runs_of_graph(
    graph: Graph, parts: Sequence[tuple[Node, Part]], price: Callable[[Timed], float]
) -> list[tuple[tuple[Node, ...], Timed]]:
    """What the original graph runs, `parts` in topological order, with those of its chains made
    that are the cheapest: the nodes of each, the first one first.

    A chain goes on where its value is read once.
    """
    read = Counter(name for node, _ in parts for name in node.inputs)
    read.update(output.value for output in graph.outputs)
    ends: dict[str, list[_Run]] = {}
    for node, part in parts:
        inside = {v: slot for slot, v in enumerate(node.inputs) if v in ends and read[v] == 1}
        runs = {value: ends.pop(value) for value in inside}
        ends[node.outputs[0]] = [
            _run((*nodes, node), timed, behind, price)
            for nodes, timed, behind in _longer_runs(node, part, inside, runs)
        ]
    last = [_cheapest(runs) for runs in ends.values()]
    places = {id(node): place for place, (node, _) in enumerate(parts)}
    found = sorted(_all_runs(last), key=lambda run: places[id(run.nodes[-1])])
    return [(run.nodes, run.timed) for run in found]


def _longer_runs(
    node: Node,
    part: Part,
    inside: Mapping[str, int],
    runs: Mapping[str, Sequence[_Run]],
) -> Iterator[tuple[tuple[Node, ...], Timed, tuple[_Run, ...]]]:
    """What the node may be run with, the longest first: the nodes before it, all of that as one,
    and what is behind."""
    best = {value: _cheapest(each) for value, each in runs.items()}
    for value, slot in inside.items():
        others = tuple(run for other, run in best.items() if other != value)
        for run in runs[value]:
            if _plain_name(node) in FOLLOWERS.get(_plain_names(run.nodes), ()):
                yield run.nodes, Chain(part, slot, run.timed), (*run.behind, *others)
    yield (), part, tuple(best.values())


def _run(
    nodes: tuple[Node, ...],
    timed: Timed,
    behind: tuple[_Run, ...],
    price: Callable[[Timed], float],
) -> _Run:
    return _Run(nodes, timed, behind, price(timed) + sum(run.total for run in behind))


def _cheapest(runs: Sequence[_Run]) -> _Run:
    return min(runs, key=lambda run: run.total)


def _all_runs(last: Sequence[_Run]) -> Iterator[_Run]:
    """These, and what is behind them."""
    stack = list(last)
    while stack:
        run = stack.pop()
        yield run
        stack.extend(run.behind)


def _plain_names(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(map(_plain_name, nodes))


def _plain_name(node: Node) -> str:
    """That of an operator of ONNX itself, else ""."""
    return "" if node.operator.domain else node.operator.name
