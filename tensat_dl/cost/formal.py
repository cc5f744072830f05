"""What a cost expression of a rule file can name: formal inputs, outputs, attributes.

Enters: an application with its types.  Leaves: an environment for `language.evaluate`, names in
lower case as in the language.  Symbolic dims have become numbers, because a price is a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tensat_dl.cost.shapes import concrete
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part
from tensat_dl.language.evaluate import Environment
from tensat_dl.language.program import Function
from tensat_dl.language.values import Value
from tensat_dl.vocabulary.operators import Formal
from tensat_dl.vocabulary.types import ABSENT, Type


def as_number(value: Value) -> float | None:
    """A finite number as a float; None for all else."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def environment(part: Part, functions: Mapping[str, Function], sizes: SymbolSizes) -> Environment:
    """The names of `part`.  An input and an output of one name: the output wins, as both have
    then the same meaning in ONNX only for operators that pass it on."""
    operator = part.application.operator
    names: dict[str, Value] = dict(part.application.attributes.items)
    names |= _bind(operator.inputs, part.inputs, sizes)
    names |= _bind(operator.outputs, part.outputs, sizes)
    return Environment(names, functions)


def _bind(formals: Sequence[Formal], types: Sequence[Type], sizes: SymbolSizes) -> dict[str, Value]:
    sized = [concrete(type_, sizes) for type_ in types]
    names: dict[str, Value] = {}
    for index, formal in enumerate(formals):
        rest = tuple(sized[index:])
        names[formal.name.lower()] = rest if formal.variadic else (rest or (ABSENT,))[0]
    return names
