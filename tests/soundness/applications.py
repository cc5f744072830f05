"""Random applications of one operator, as the search of `verify` proposes them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Scheme
from tensat_dl.soundness.contents import Style, draw_tensor
from tensat_dl.soundness.draws import Draw
from tensat_dl.soundness.operators import Call
from tensat_dl.soundness.proposals import Application, Blank, Misfit, propose
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.types import ABSENT, AbsentType, TensorType, TypeFault


def calls(name: str, count: int, scheme: Scheme, seed: int = 0) -> Iterator[Call]:
    """Up to `count` applications that have a type, optional inputs there and absent."""
    rng = random.Random(f"{name} {seed}")
    numbers = np.random.default_rng(seed)
    found = 0
    for _ in range(80 * count):
        call = _call(name, rng, numbers, scheme)
        if call is not None:
            yield call
            found += 1
        if found == count:
            return


def _call(
    name: str, rng: random.Random, numbers: np.random.Generator, scheme: Scheme
) -> Call | None:
    operator = catalog.operator(name)
    assert operator is not None
    draw = Draw(rng)
    if rng.random() < 0.5:
        draw.element = rng.choice((DType.F32, DType.F64, DType.I64, DType.BOOL))
    formals = list(operator.inputs)
    if formals and formals[-1].variadic:
        formals = formals[:-1] + [formals[-1]] * rng.randint(1, 3)
    given = [None if formal.optional and rng.random() < 0.4 else Blank() for formal in formals]
    count = rng.randint(1, 3) if operator.outputs[-1].variadic else operator.min_outputs
    free = frozenset(formal.name for formal in operator.attributes)
    application = Application(operator, draw, list(given), {}, free, count)
    try:
        propose(application)
    except Misfit:
        return None
    types = tuple(ABSENT if t is None else t for t in application.inputs)
    attributes = canonical_attributes(operator, application.attributes, types)  # type: ignore[arg-type]
    results = infer(operator, attributes, types, count)  # type: ignore[arg-type]
    if isinstance(results, TypeFault) or not all(map(_is_concrete, results)):
        return None
    arrays: list[Array | None] = [
        None
        if isinstance(type_, AbsentType)
        else draw_tensor(type_, application.spans.get(place), Style.QUARTERS, scheme, numbers)  # type: ignore[arg-type]
        for place, type_ in enumerate(types)
    ]
    return Call(operator, attributes, tuple(arrays), types, results, scheme)  # type: ignore[arg-type]


def _is_concrete(type_: object) -> bool:
    return (
        isinstance(type_, TensorType)
        and type_.dims is not None
        and all(isinstance(dim, int) and dim >= 0 for dim in type_.dims)
    )
