"""Pairs of unusual choices meet in few attempts, also where most of the unusual fits nowhere."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from tensat_dl.soundness.design import Design

FACTORS = [(f"place {number}", "narrow") for number in range(7)]
PAIRS = {frozenset(pair) for pair in combinations(FACTORS, 2)}


def attempt(design: Design, most: int) -> frozenset[tuple[str, str]]:
    """The unusual choices of an instance; an attempt with more than `most` of them is none."""
    if not design.begin():
        design.failed()
        return frozenset()
    drawn = {factor: design.choose(factor, (False, False, False, True)) for factor in FACTORS}
    unusual = frozenset(factor for factor, is_unusual in drawn.items() if is_unusual)
    if len(unusual) > most:
        design.failed()
        return frozenset()
    design.found()
    return unusual


@pytest.mark.parametrize("seed", range(10))
def test_all_pairs_meet_where_no_three_fit_together(seed: int) -> None:
    """28 aims; a fifth of the attempts has none, and of the others some are unusual elsewhere."""
    design = Design(Random(seed))
    met = [attempt(design, 2) for _ in range(150)]
    assert {frozenset(pair) for found in met for pair in combinations(found, 2)} == PAIRS


def test_what_never_fits_is_given_up() -> None:
    """No pair is possible: single choices go on being in instances."""
    design = Design(Random(0))
    met = [attempt(design, 1) for _ in range(800)]
    assert sum(bool(found) for found in met[600:]) > 15
