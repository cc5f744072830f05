"""Proposals cope with whatever is fixed: they find something, or say that nothing fits."""

from __future__ import annotations

import random

import pytest

from tensat_dl.soundness.draws import Draw
from tensat_dl.soundness.proposals import PROPOSALS, Application, Blank, Misfit, propose
from tensat_dl.soundness.proposals.application import Input
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import AttributeKind
from tensat_dl.vocabulary.types import TensorType


@pytest.mark.parametrize("name", sorted(PROPOSALS))
def test_what_is_fixed_may_leave_no_choice_but_never_fails(name: str) -> None:
    """Inputs of any rank, with any value, and any numbers in the attributes."""
    rng = random.Random(name)
    found = 0
    for _ in range(250):
        application = _fixed_at_random(name, rng)
        try:
            propose(application)
        except Misfit:
            continue
        found += 1
        assert all(given is None or isinstance(given, TensorType) for given in application.inputs)
    assert found >= 3


def _fixed_at_random(name: str, rng: random.Random) -> Application:
    operator = catalog.operator(name)
    assert operator is not None
    inputs: list[Input] = []
    for formal in operator.inputs:
        choice = rng.random()
        given: Input = Blank(dims=_dims(rng) if choice < 0.2 else None)
        if choice > 0.7:
            given = _type(rng)
        inputs.append(None if formal.optional and choice < 0.1 else given)
    attributes: dict[str, AttributeValue] = {}
    for attribute in operator.attributes:
        if attribute.kind is AttributeKind.INT and rng.random() < 0.3:
            attributes[attribute.name] = rng.randint(-6, 6)
        elif attribute.kind is AttributeKind.INTS and rng.random() < 0.3:
            attributes[attribute.name] = tuple(rng.choices(range(4), k=rng.randint(0, 6)))
    free = frozenset(formal.name for formal in operator.attributes) - attributes.keys()
    count = max(operator.min_outputs, 1)
    return Application(operator, Draw(rng), inputs, attributes, free, count)


def _dims(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choices(range(5), k=rng.randint(0, 5)))


def _type(rng: random.Random) -> TensorType:
    if rng.random() < 0.3:
        values = tuple(rng.choices(range(-5, 6), k=rng.randint(0, 5)))
        return TensorType(DType.I64, (len(values),), values)
    return TensorType(rng.choice((DType.F32, DType.I64)), _dims(rng))
