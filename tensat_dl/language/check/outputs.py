"""How many outputs an application is asked for.  Reports E0310."""

from __future__ import annotations

from tensat_dl.language.check.variables import Context
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import Operator


def check_outputs(operator: Operator, wanted: int, call: ast.Call, context: Context) -> None:
    """Report more outputs than the operator can have."""
    if any(formal.variadic for formal in operator.outputs) or wanted <= len(operator.outputs):
        return
    count = len(operator.outputs)
    names = ", ".join(formal.name for formal in operator.outputs)
    context.report.error(
        "E0310",
        f"`{operator.name}` has {count} output{'s' if count != 1 else ''}, not {wanted}",
        call.span,
        notes=(f"{operator.name} gives {names}",),
    )
