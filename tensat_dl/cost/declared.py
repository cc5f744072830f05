"""FLOPs that an `op` item declares (`cost 4 * numel(y)`) for an operator ONNX lacks.

Enters: a checked program.  Leaves: a function from an application to its FLOPs.
"""

from __future__ import annotations

from collections.abc import Callable

from tensat_dl.cost.formal import as_number, environment
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part
from tensat_dl.language.evaluate import evaluate
from tensat_dl.language.program import CheckedProgram, CustomOperator


def declared_flops(
    program: CheckedProgram | None, sizes: SymbolSizes
) -> Callable[[Part], float | None]:
    """A function from an application to its declared FLOPs; None where nothing is declared, or
    the expression has no value at these types."""
    custom = {} if program is None else {op.operator: op for op in program.operators.values()}

    def declared(part: Part) -> float | None:
        declaration: CustomOperator | None = custom.get(part.application.operator)
        if program is None or declaration is None or declaration.cost is None:
            return None
        names = environment(part, program.functions, sizes)
        flops = as_number(evaluate(declaration.cost, names))
        return None if flops is None else max(0.0, flops)

    return declared
