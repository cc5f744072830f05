"""Answers that are kept: found for the same problem alone, checked as any, never made up."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tensat_dl.cost.measured.answers import KeptAnswers
from tensat_dl.cost.measured.cache import CostCache
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.extract.problem import Extraction, Problem
from tensat_dl.extract.run import extract
from tensat_dl.settings import ExtractSettings

HERE = Setting("a machine", "a runtime 1.0", 1)
SETTINGS = ExtractSettings()


def problem(*costs: float) -> Problem:
    """Class 0 is node 0, on class 1, or node 1; class 1 is node 2 or node 3, on class 0: a loop."""
    return Problem(
        classes=2,
        node_class=np.array([0, 0, 1, 1]),
        node_cost=np.array(costs),
        child_start=np.array([0, 1, 1, 1, 2]),
        children=np.array([1, 0]),
        roots=np.array([0]),
        node_name=["a", "b", "c", "d"],
        measures={},
    )


CHEAP = problem(1.0, 9.0, 2.0, 0.5)  # node 0 on node 2 costs 3


@pytest.fixture
def kept(tmp_path: Path) -> KeptAnswers:
    return KeptAnswers(CostCache(tmp_path / "costs.sqlite"), HERE)


def never() -> Extraction:
    raise AssertionError("nothing needs to be solved")


def solving(asked: Problem, settings: ExtractSettings = SETTINGS) -> Callable[[], Extraction]:
    return lambda: extract(asked, settings)


def nodes(found: Extraction) -> list[int]:
    assert found.selection is not None
    return sorted(found.selection.chosen().tolist())


def test_the_same_problem_is_not_solved_again(kept: KeptAnswers) -> None:
    first = kept.get(CHEAP, SETTINGS, solving(CHEAP))
    again = kept.get(CHEAP, replace(SETTINGS, seconds=1.0), never)
    for found, cached in ((first, False), (again, True)):
        assert (nodes(found), found.objective, found.gap, found.cached) == (
            [0, 2],
            3.0,
            0.0,
            cached,
        )


@pytest.mark.parametrize(
    ("asked", "settings"),
    [
        (problem(1.0, 2.5, 2.0, 0.5), SETTINGS),
        (replace(CHEAP, roots=np.array([1])), SETTINGS),
        (replace(CHEAP, measures={"nodes": np.ones(4)}), SETTINGS),
        (CHEAP, replace(SETTINGS, gap=0.5)),
        (CHEAP, replace(SETTINGS, solver="highs")),
        (CHEAP, replace(SETTINGS, ties=())),
        (CHEAP, replace(SETTINGS, at_most={"c": 3})),
    ],
)
def test_another_problem_is_solved(
    kept: KeptAnswers, asked: Problem, settings: ExtractSettings
) -> None:
    kept.get(CHEAP, SETTINGS, solving(CHEAP))
    assert not kept.get(asked, settings, solving(asked)).cached


def test_what_time_ended_is_not_kept(kept: KeptAnswers) -> None:
    greedy = replace(SETTINGS, method="greedy-dag")
    kept.get(CHEAP, greedy, solving(CHEAP, greedy))
    assert not kept.get(CHEAP, greedy, solving(CHEAP, greedy)).cached


def test_nothing_is_kept_without_a_cache_or_in_one_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database")
    for cache in (None, CostCache(tmp_path / "text")):
        kept = KeptAnswers(cache, HERE)
        kept.get(CHEAP, SETTINGS, solving(CHEAP))
        assert not kept.get(CHEAP, SETTINGS, solving(CHEAP)).cached
    assert (tmp_path / "text").read_text() == "no database"


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": [1]},  # another answer than the one of that cost
        {"nodes": [0, 3]},  # a loop
        {"nodes": [0]},
        {"nodes": [0, 2, 4]},
        {"nodes": [0, -2]},
        {"nodes": [True, 2]},
        {"nodes": None},
        {"objective": 2.0},
        {"objective": float("nan")},
        {"bound": 4.0},
        {"bound": "3"},
        {"status": "excellent"},
        {"stopped": 3},
    ],
)
def test_what_is_no_answer_is_not_taken(kept: KeptAnswers, change: dict[str, object]) -> None:
    kept.get(CHEAP, SETTINGS, solving(CHEAP))
    assert kept.cache is not None
    with sqlite3.connect(kept.cache.path) as connection:
        ((content,),) = connection.execute("SELECT content FROM answers").fetchall()
        told = json.dumps({**json.loads(content), **change})
        connection.execute("UPDATE answers SET content = ?", (told,))
    found = kept.get(CHEAP, SETTINGS, solving(CHEAP))
    assert (nodes(found), found.cached) == ([0, 2], False)
    assert kept.get(CHEAP, SETTINGS, never).cached
