"""How many outputs an application is asked for.  Reports E0310.

Enters: an application and what it is assigned to.  Leaves: problems alone.
"""

from __future__ import annotations

from tensat_dl.language.check.variables import Context
from tensat_dl.sentences import counted
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import Operator


def check_starred_output(operator: Operator, call: ast.Call, context: Context) -> None:
    """Report `*y = Op(..)` where the operator has no list of outputs to spread over the group."""
    if any(formal.variadic for formal in operator.outputs):
        return
    names = ", ".join(formal.name for formal in operator.outputs)
    context.report.error(
        "E0310",
        f"`{operator.name}` does not give one output for each member",
        call.span,
        notes=(f"{operator.name} gives {names}",),
        help="assign the outputs of an operator that gives any number of them, as `Split`",
    )


def check_outputs(operator: Operator, wanted: int, call: ast.Call, context: Context) -> None:
    """Report more outputs than the operator can have."""
    if any(formal.variadic for formal in operator.outputs) or wanted <= len(operator.outputs):
        return
    count = len(operator.outputs)
    names = ", ".join(formal.name for formal in operator.outputs)
    context.report.error(
        "E0310",
        f"`{operator.name}` has {counted(count, 'output')}, not {wanted}",
        call.span,
        notes=(f"{operator.name} gives {names}",),
        help=f"write {counted(count, 'name')} before `=`",
    )
