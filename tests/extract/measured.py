"""Random e-graphs whose nodes have operators, bytes and makers; their best answers by trial."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from oracle import random_problem, selections

from tensat_dl.extract.problem import MADE, NODES, WEIGHT_BYTES, Problem


def measured_problem(seed: int) -> Problem:
    """As `random_problem`, with costs that are often equal."""
    problem = random_problem(seed)
    rng = random.Random(-seed)
    count = problem.nodes

    def draw(*values: float) -> np.ndarray:
        return np.array([rng.choice(values) for _ in range(count)], dtype=np.float64)

    return replace(
        problem,
        node_cost=draw(0.0, 1.0, 1.0, 2.0),
        node_name=[rng.choice(("Add", "Mul(x)", "Split")) for _ in range(count)],
        measures={
            NODES: draw(0.0, 1.0, 1.0),
            MADE: draw(0.0, 1.0),
            WEIGHT_BYTES: draw(0.0, 0.0, 100.0, 1000.0),
        },
    )


def operators(problem: Problem, nodes: list[int], name: str) -> int:
    """How many counted nodes of an operator there are among some nodes."""
    counted = problem.measures[NODES]
    return sum(counted[n] > 0 and problem.node_name[n].split("(")[0] == name for n in nodes)


def total(problem: Problem, nodes: list[int], measure: str) -> float:
    values = problem.node_cost if measure == "cost" else problem.measures[measure]
    return float(sum(values[n] for n in nodes))


__all__ = ["measured_problem", "operators", "selections", "total"]
