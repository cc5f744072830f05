"""What is said of a name that nothing binds, or that is used in the wrong form.

Enters: the name and the context of its rule.  Leaves: diagnostics E0401, E0404 and E0412, which
say what is bound there.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.language.builtins import BUILTINS
from tensat_dl.language.check.variables import Context, is_upper
from tensat_dl.sentences import listed
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes

#: What stands for these words of Python.
_PYTHON = {
    "None": "an input that is absent is left out of the pattern: write a rule for each case",
    "True": "write `true`",
    "False": "write `false`",
}

#: Words for inputs that may be left out; none of them is a function.
_PRESENCE = ("present", "absent", "exists", "is_present", "is_absent", "is_none")

_SHOWN = 6

#: How a rule asks for an optional input.
PRESENCE = (
    "`known(rank({0}))` holds only where the optional input is present; for the other case, write "
    "a rule without it"
)


def report_unbound(expr: ast.Name, context: Context) -> None:
    """E0404, or E0401 on the right side: nothing binds the name."""
    names = list(context.users_names())
    context.report.error(
        "E0401" if context.building else "E0404",
        f"`{expr.text}` is not bound " + (context.place if context.building else context.binder),
        expr.span,
        help=elsewhere(expr.text, context)
        or did_you_mean(expr.text, [*names, *dtypes.names()])
        or _what_is_bound(expr.text, names, context),
    )


def elsewhere(name: str, context: Context) -> str:
    """For words of Python, and for `x.rank`."""
    owner, dot, function = name.rpartition(".")
    if dot and owner in context.variables and function in BUILTINS:
        return f"write `{function}({owner})`"
    if name in _PRESENCE:
        return PRESENCE.format("b")
    return _PYTHON.get(name, "")


def _what_is_bound(name: str, names: Sequence[str], context: Context) -> str:
    tensors = [known for known in names if not is_upper(known)]
    if is_upper(name) and tensors and context.binder == "by the pattern":
        return f"a dim is bound by a type, as in `{tensors[0]}: _[{name}, ..]`"
    more = ", .." if len(names) > _SHOWN else ""
    return f"bound are {listed(names[:_SHOWN])}{more}" if names else ""


def report_member(expr: ast.Name, context: Context) -> None:
    """E0412: a member of `match each` without its star."""
    context.report.error(
        "E0412",
        f"`{expr.text}` varies from member to member",
        expr.span,
        help=f"write `*{expr.text}` for all of them",
    )
