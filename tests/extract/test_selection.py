"""A choice is an answer only if it is rooted, closed, one node a class, and acyclic."""

from __future__ import annotations

import numpy as np
import pytest

from tensat_dl.extract.problem import Selection, build_problem
from tensat_dl.extract.selection import InvalidSelectionError, check, select

# 0 -> 1 (node 0) or -> 2 (node 1); 1 -> 2 (node 2); 2 -> 1 (node 3) or nothing (node 4)
PROBLEM = build_problem(
    3, [(0, 1.0, [1]), (0, 1.5, [2]), (1, 2.0, [2]), (2, 4.0, [1]), (2, 8.0, [])], [0]
)


def selection(*nodes: int) -> Selection:
    return Selection(np.array(nodes, dtype=np.int64))


def test_the_value_of_an_answer() -> None:
    assert check(PROBLEM, selection(0, 2, 4)) == 11.0
    assert check(PROBLEM, selection(1, -1, 4)) == 9.5


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ((-1, 2, 4), "root"),
        ((0, -1, 4), "class 1 is used but has no node"),
        ((0, 2, 3), "loop among 2 classes"),
        ((0, 4, 4), "not its own"),
        ((0, 2, 99), "another e-graph"),
        ((0, 2), "another e-graph"),
    ],
)
def test_what_is_no_answer(nodes: tuple[int, ...], says: str) -> None:
    with pytest.raises(InvalidSelectionError, match=says):
        check(PROBLEM, selection(*nodes))


def test_select_takes_what_the_roots_reach() -> None:
    assert select(PROBLEM, {0: 1, 1: 2, 2: 4}).node_of_class.tolist() == [1, -1, 4]
    assert select(PROBLEM, {0: 1, 1: 2, 2: 4}).chosen().tolist() == [1, 4]
    with pytest.raises(InvalidSelectionError, match="class 1"):
        select(PROBLEM, {0: 0, 2: 4})
