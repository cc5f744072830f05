"""E-nodes and nodes as lines that a person reads: `q, k = Split(%2, [4, 4], axis=-1)   by merge`.

Enters: e-nodes of a snapshot, or the nodes of a term, and names for what is given.  Leaves: lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tensat_dl.diagnosis.naming import operator_text
from tensat_dl.egraph.lowering import LoweredNode
from tensat_dl.egraph.snapshot import (
    Application,
    ENode,
    Leaf,
    LeafKind,
    Saturated,
    bundle_outputs,
    children_first,
)
from tensat_dl.graph.model import Constant
from tensat_dl.vocabulary.written import written_attributes


def application_text(head: Application, operands: Sequence[str]) -> str:
    """`Split(x, [4, 4], axis=-1)`."""
    attributes = written_attributes(head.operator, head.attributes)
    while operands and operands[-1] == "_":
        operands = operands[:-1]
    return f"{operator_text(head.operator)}({', '.join([*operands, *attributes])})"


def constant_text(constant: Constant) -> str:
    """The content where it is small, else the type."""
    if constant.value is not None:
        content = ", ".join(str(item) for item in constant.value)
        return f"[{content}]" if constant.dims else content
    return f"<{constant.dtype.name}[{', '.join(map(str, constant.dims))}]>"


def term_text(node: LoweredNode, name_of: Callable[[str | None], str]) -> str:
    """One node of a term."""
    return application_text(node.application, [name_of(i) for i in node.inputs])


@dataclass
class Drawing:
    """Names classes as it goes: `names` are those of the test, `%1`, `%2`, ... the rest."""

    saturated: Saturated
    names: Mapping[int, str]
    _numbers: dict[int, int] = field(default_factory=dict)

    def lines(self, enodes: Iterable[ENode]) -> Iterator[str]:
        """One line for each application, in the order given; children come first."""
        chosen = {node.eclass: node for node in enodes}
        outputs = bundle_outputs(chosen.values())
        for node in children_first(chosen, chosen):
            head = node.head
            if not isinstance(head, Application):
                continue
            if node.eclass in self.names and self._is_weight(node.eclass):
                continue
            operands = [self._operand(chosen, c) for c in node.children]
            made = f"   by {node.rule}" if node.rule else ""
            yield f"{self._targets(node, outputs)} = {application_text(head, operands)}{made}"

    def _is_weight(self, eclass: int) -> bool:
        return self.saturated.weight[eclass] and eclass in self.saturated.value_class.values()

    def _targets(self, node: ENode, outputs: Mapping[int, Mapping[int, int]]) -> str:
        head = node.head
        if not (isinstance(head, Application) and head.operator.has_bundle):
            return self._name(node.eclass)
        taken = outputs.get(node.eclass, {})
        return ", ".join(self._name(taken[i]) if i in taken else "_" for i in range(head.outputs))

    def _operand(self, chosen: Mapping[int, ENode], eclass: int) -> str:
        node = chosen.get(eclass)
        if node is not None and isinstance(node.head, Leaf) and eclass not in self.names:
            match node.head.kind:
                case LeafKind.ABSENT:
                    return "_"
                case LeafKind.CONSTANT:
                    return constant_text(self.saturated.constants[node.head.name])
        return self._name(eclass)

    def _name(self, eclass: int) -> str:
        if eclass in self.names:
            return self.names[eclass]
        return f"%{self._numbers.setdefault(eclass, len(self._numbers) + 1)}"
