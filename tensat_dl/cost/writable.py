"""Which operator applications can be written to a model of given opsets.

Enters: a checked program, the opsets of the model.  Leaves: yes or no for an application.  A
virtual operator can be written where all that it is lowered to can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensat_dl.egraph.lowering import lower
from tensat_dl.egraph.snapshot import Application
from tensat_dl.egraph.typing import Refusal
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary.adapters import lowerable
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import Type


@dataclass
class Writable:
    """Equal questions about virtual operators are asked once."""

    program: CheckedProgram
    opsets: Mapping[str, int]
    _virtual: dict[object, bool] = field(default_factory=dict)

    def __call__(self, application: Application, inputs: tuple[Type, ...]) -> bool:
        """Has `application` an equal in the model's opsets?"""
        operator = application.operator
        match operator.kind:
            case OperatorKind.ONNX:
                opset = self.opsets.get(operator.domain, 1)
                attributes, outputs = application.attributes, application.outputs
                return lowerable(operator, attributes, inputs, opset, outputs)
            case OperatorKind.CUSTOM:
                return self.opsets.get(operator.domain, 0) >= operator.since
            case OperatorKind.OPAQUE:
                return True
            case OperatorKind.VIRTUAL:
                key = (application, inputs)
                if key not in self._virtual:
                    self._virtual[key] = self._lowered(application, inputs)
                return self._virtual[key]

    def _lowered(self, application: Application, inputs: tuple[Type, ...]) -> bool:
        try:
            lowered = lower(self.program, application, inputs)
        except Refusal:
            return False
        return all(
            self(node.application, tuple(map(lowered.type_of, node.inputs)))
            for node in lowered.nodes
        )
