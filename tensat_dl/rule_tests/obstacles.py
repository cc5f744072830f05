"""What kept rules from firing in a test, in the words of the test.

Enters: rules that should have fired, the explored test.  Leaves: a line for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tensat_dl.diagnosis.why_not import why_not
from tensat_dl.egraph.snapshot import Application, Saturated
from tensat_dl.graph.model import Graph
from tensat_dl.language.program import CheckedProgram
from tensat_dl.rule_tests.drawing import application_text, constant_text
from tensat_dl.rule_tests.example import Example


def obstacles(
    names: Iterable[str], program: CheckedProgram, example: Example, saturated: Saturated
) -> Iterator[str]:
    """Of each rule, what is in its way where it got furthest."""
    graph, named = _with_names(example, saturated)
    for name in names:
        for attempt in why_not(program, name, graph, named).attempts[:1]:
            missing = f"`{attempt.pattern}` does not match: " if attempt.pattern else ""
            yield f"{name}: {missing}{attempt.obstacle}"


def _with_names(example: Example, saturated: Saturated) -> tuple[Graph, Saturated]:
    """Tensors are called what the test calls them, and by their terms where it does not."""
    graph = example.graph
    texts = {ref: name for name, ref in example.given.items()}
    texts |= {n: constant_text(c) for n, c in graph.constants.items() if n not in texts}
    for node in graph.nodes:
        operands = ["_" if i is None else texts[i] for i in node.inputs]
        head = Application(node.operator, node.attributes, len(node.outputs))
        for output in node.outputs:
            texts.setdefault(output, application_text(head, operands))
    nodes = tuple(replace(n, outputs=tuple(texts[o] for o in n.outputs)) for n in graph.nodes)
    classes = saturated.value_class
    named = {text: classes[ref] for ref, text in texts.items() if ref in classes}
    return replace(graph, nodes=nodes), replace(saturated, value_class={**named, **classes})
