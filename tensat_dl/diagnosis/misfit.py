"""In what a node differs from a pattern of the same operator, in words.

Enters: the :class:`~tensat_dl.diagnosis.matching.Stuck` end of a match.  Leaves: the difference,
where it is one input.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.diagnosis.index import Index, Made
from tensat_dl.diagnosis.matching import Stuck
from tensat_dl.diagnosis.naming import Names
from tensat_dl.language import program

_UNSAID = "its inputs are not those of the pattern"


def misfit(match: program.Match, made: Made, stuck: Stuck, index: Index, names: Names) -> str:
    """What in `made` is not as `match` has it."""
    if match.operator.is_variadic or match.operator.commutative:
        return _UNSAID
    return next(_differences(match, made, stuck, index, names), _UNSAID)


def _differences(
    match: program.Match, made: Made, stuck: Stuck, index: Index, names: Names
) -> Iterator[str]:
    bound = stuck.binding.tensors
    pairs = zip(match.operator.inputs, match.inputs, made.enode.children, strict=False)
    for formal, item, child in pairs:
        absent = child == index.absent
        match item:
            case program.InputAbsent() if not absent:
                yield f"it has the input `{formal.name}`, which the pattern leaves out"
            case program.InputVariable(name, optional) if absent and not optional:
                yield (
                    f"it leaves out the input `{formal.name}`, which the pattern has; "
                    f"{_either(name)}"
                )
            case program.InputVariable(name) if bound.get(name, child) != child:
                given = "left out" if absent else names.tensor(child)
                yield f"its input `{formal.name}` is {given}, not {names.tensor(bound[name])}"


def _either(name: str) -> str:
    """What matches an input that may be left out; literals have internal names."""
    if name.startswith("%l"):
        return "a rule without it matches where it is left out"
    return f"`{name}?` matches both"
