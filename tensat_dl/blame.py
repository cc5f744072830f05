"""What an answer must do without, where the one that was found cannot be written.

Enters: an answer, the e-nodes behind it, what its verification said.  Leaves: a :class:`Blame`, or
None where no rule can be blamed.  Three things are not the fault of a rule that is true, and
another answer may do without: an operator that the runtime refuses, one that gives numbers where
the original gives NaN, and a constant that is NaN or infinite though nothing that it is made of is
(zero times infinity, a product that is too large), where a rule holds over real numbers only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.graph.folding.fold import evaluate
from tensat_dl.graph.model import Constant, Graph, Node
from tensat_dl.graph.prune import live_nodes
from tensat_dl.graph.running.marks import marked, place_in
from tensat_dl.graph.source import Source
from tensat_dl.graph.tensors import is_too_large
from tensat_dl.graph.verifying.verification import Verification
from tensat_dl.vocabulary.operators import OperatorKind

#: What constants become where numbers are no longer real, the worst first.
_FAULTS: Mapping[str, Callable[..., Any]] = {"NaN": np.isnan, "infinities": np.isinf}


#: Operators whose shares of nothing are 0, where those of a softmax are NaN.
_HIDE_NAN = frozenset({"Attention"})


@dataclass(frozen=True)
class Blame:
    """`barred`: e-nodes that rules made; `text`: which and why, for people."""

    barred: frozenset[ENode]
    text: str


def blame_operator(
    source: Source,
    makers: Mapping[str, ENode],
    saturated: Saturated,
    verification: Verification,
    verify: Callable[[Source], Verification],
) -> Blame | None:
    """The rule behind the node that the runtime refuses, and all that it makes of that operator.

    The reason names the node once the nodes of the model have names, or at least its operator.
    Where it is none of a rule's, what a rule made for it is."""
    if is_too_large(source.proto):
        return None
    nodes = source.proto.graph.node
    place = place_in(verify(marked(source)).refused)
    if place is None:
        named = (n for n in nodes if re.search(rf"\b{n.op_type}\b", verification.refused))
        behind = [makers.get(name) for node in named for name in node.output]
    else:
        behind = [makers.get(name) for name in (*nodes[place].output, *nodes[place].input)]
    culprit = next((each for each in behind if each is not None and not each.original), None)
    if culprit is None:
        return None
    same = (each for each in saturated.nodes if _is_alike(each, culprit))
    text = f"{_named(culprit)} is left out of the answer: {verification.refused}"
    return Blame(frozenset(same), text + _other_runtime(culprit))


def blame_masked(
    makers: Mapping[str, ENode], saturated: Saturated, verification: Verification
) -> Blame | None:
    """All that rules make of operators which give numbers where a softmax gives NaN, if the answer
    is wrong where the real numbers do not tell why."""
    if not any(mismatch.beyond_reals for mismatch in verification.mismatches):
        return None
    culprits = [each for each in makers.values() if _hides_nan(each)]
    if not culprits:
        return None
    barred = frozenset(node for node in saturated.nodes if _hides_nan(node))
    names = ", ".join(dict.fromkeys(map(_named, culprits)))
    why = "the model gives NaN (of a row that is all masked?), infinities or sums that cancel"
    return Blame(barred, f"{names} is left out of the answer: {why}")


def _hides_nan(node: ENode) -> bool:
    if node.original or not isinstance(node.head, Application):
        return False
    return not node.head.operator.domain and node.head.operator.name in _HIDE_NAN


def blame_constants(
    whole: Graph, folded: Graph, makers: Mapping[str, ENode], saturated: Saturated
) -> Blame | None:
    """The rules' e-nodes that make NaN of constants, or else infinities; `folded` is `whole` with
    its constants computed."""
    new = [name for name in folded.constants if name not in whole.constants]
    for fault, is_faulty in _FAULTS.items():
        if not any(_has(is_faulty, folded.constants[name]) for name in new):
            continue
        culprits = [each for each in _makers(whole, new, makers, is_faulty) if not each.original]
        if culprits:
            return _without(culprits, fault, saturated)
    return None


def _makers(
    whole: Graph, new: list[str], makers: Mapping[str, ENode], is_faulty: Callable[..., Any]
) -> list[ENode]:
    """What makes a fault of constants that have none."""
    nodes = live_nodes(whole.nodes, new)
    made = [name for node in nodes for name in node.outputs]
    content = {**whole.constants, **evaluate(whole, made)}
    return [makers[node.outputs[0]] for node in nodes if _makes(is_faulty, node, content)]


def _without(culprits: list[ENode], fault: str, saturated: Saturated) -> Blame:
    """Nothing that rules made for their e-classes is taken again."""
    classes = {each.eclass for each in culprits}
    barred = (n for n in saturated.nodes if n.eclass in classes and not n.original)
    names = dict.fromkeys(map(_named, culprits))
    is_, it = ("is", "it makes") if len(names) == 1 else ("are", "they make")
    return Blame(
        frozenset(barred),
        f"{', '.join(names)} {is_} left out of the answer: of constants that hold none {it}"
        f" {fault}, which the original does not have",
    )


def _is_alike(node: ENode, culprit: ENode) -> bool:
    heads = (node.head, culprit.head)
    if node.original or node.rule != culprit.rule:
        return False
    operators = [head.operator for head in heads if isinstance(head, Application)]
    return len(operators) == 2 and operators[0] == operators[1]


def _named(node: ENode) -> str:
    assert isinstance(node.head, Application), "leaves are written as they were"
    return f"`{node.head.operator.qualified_name}`, made by `{node.rule}`,"


def _other_runtime(node: ENode) -> str:
    head = node.head
    custom = isinstance(head, Application) and head.operator.kind is OperatorKind.CUSTOM
    return "; for a runtime that has it, write it with --no-check" if custom else ""


def _makes(is_faulty: Callable[..., Any], node: Node, content: Mapping[str, Constant]) -> bool:
    made = any(_has(is_faulty, content[name]) for name in node.outputs if name in content)
    return made and not any(_has(is_faulty, each) for each in _read(node, content))


def _read(node: Node, content: Mapping[str, Constant]) -> Iterator[Constant]:
    return (content[name] for name in node.inputs if name is not None and name in content)


def _has(is_faulty: Callable[..., Any], constant: Constant) -> bool:
    return constant.dtype.is_float and bool(is_faulty(constant.load()).any())
