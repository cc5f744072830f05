"""Nodes of operators that a rule file declares, so that its rules can match them.

Enters: a node of the model that is only carried along, and the types of its inputs.  Leaves: the
same node of the declared operator, with the types that `infer` gives; None where no declaration
fits: another name or domain, an older version, other attributes, too many inputs or outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.typing import Typer
from tensat_dl.graph.model import Node
from tensat_dl.graph.reading.lifting import TypedNode
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import ABSENT, Type, TypeFault


@dataclass(frozen=True)
class DeclaredOperators:
    """Those of one program; called for each opaque node that is read."""

    program: CheckedProgram

    def __call__(self, node: Node, inputs: tuple[Type, ...]) -> TypedNode | None:
        """The node as one of a declared operator, and the types of its outputs."""
        operator = self._operator(node)
        if operator is None or not _fits(operator, node):
            return None
        missing = 0 if operator.is_variadic else len(operator.inputs) - len(inputs)
        types = (*inputs, *[ABSENT] * missing)
        attributes = canonical_attributes(operator, node.attributes.as_dict(), types)
        typer = Typer(self.program.operators, self.program.functions, Interner())
        found = typer.outputs(operator, attributes, types, len(node.outputs))
        if isinstance(found, TypeFault):
            return None
        padded = (*node.inputs, *[None] * missing)
        return replace(node, operator=operator, attributes=attributes, inputs=padded), found

    def _operator(self, node: Node) -> Operator | None:
        return next(
            (
                declared.operator
                for declared in self.program.operators.values()
                if declared.operator.kind is OperatorKind.CUSTOM
                and declared.operator.domain == node.operator.domain
                and declared.operator.name == node.operator.name
                and declared.operator.since <= node.operator.since
            ),
            None,
        )


def _fits(operator: Operator, node: Node) -> bool:
    given = node.attributes.as_dict()
    return (
        all(operator.attribute(name) is not None for name in given)
        and all(formal.name in given for formal in operator.attributes if formal.required)
        and operator.min_inputs <= len(node.inputs)
        and (operator.is_variadic or len(node.inputs) <= len(operator.inputs))
        and operator.min_outputs <= len(node.outputs) <= len(operator.outputs)
    )
