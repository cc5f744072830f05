"""Random small e-graphs, and the best selection of one by trying everything.

Independent of the code under test: it knows the Problem arrays only.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tensat_dl.extract.problem import Problem, build_problem

COSTS = (0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.5, 10.0)


def random_problem(seed: int) -> Problem:
    """Up to 9 classes of up to 3 nodes: shared children, loops, self-loops, several roots; a few
    have no selection at all."""
    rng = random.Random(seed)
    classes = rng.randint(1, 9)
    backward = rng.choice((0.0, 0.2, 0.5, 1.0))
    rows = []
    for c in range(classes):
        for _ in range(rng.choice((1, 1, 2, 3))):
            later = list(range(c + 1, classes))
            pool = list(range(classes)) if rng.random() < backward else later
            kids = rng.sample(pool, min(len(pool), rng.choice((0, 1, 1, 2, 3))))
            rows.append((c, rng.choice(COSTS), kids))
    rng.shuffle(rows)
    roots = rng.sample(range(classes), min(classes, rng.choice((1, 1, 2, 3))))
    return build_problem(classes, rows, roots)


def hard_problem(seed: int) -> Problem:
    """8 to 12 classes with a choice almost everywhere and costs that differ: reductions leave
    much of it."""
    rng = random.Random(seed)
    classes = rng.randint(8, 12)
    backward = rng.choice((0.0, 0.15, 0.3))
    rows = []
    for c in range(classes):
        for _ in range(rng.choice((1, 2, 2, 3, 3))):
            pool = [d for d in range(classes) if d > c or (d != c and rng.random() < backward)]
            kids = rng.sample(pool, min(len(pool), rng.choice((0, 1, 2, 2, 3))))
            rows.append((c, round(rng.uniform(0.2, 5.0), 3), kids))
    rng.shuffle(rows)
    return build_problem(classes, rows, rng.sample(range(classes), rng.choice((1, 1, 2))))


def staged_problem(seed: int) -> Problem:
    """A chain of stages; the first class of each needs that of the stage below, and others may
    use what is anywhere below."""
    rng = random.Random(seed)
    rows: list[tuple[int, float, list[int]]] = []
    below: list[int] = []
    top: list[int] = []
    for _ in range(rng.randint(2, 3)):
        stage = [len(below) + i for i in range(rng.randint(3, 4))]
        for i, c in enumerate(stage):
            for _ in range(rng.choice((2, 2, 3))):
                lower = rng.sample(below, min(2, len(below))) if rng.random() < 0.6 else []
                loops = [d for d in stage if d != c] if rng.random() < 0.15 else []
                pool = list(dict.fromkeys([*stage[i + 1 :], *lower, *loops]))
                kids = rng.sample(pool, min(len(pool), rng.choice((0, 1, 2, 2))))
                rows.append((c, round(rng.uniform(0.2, 5.0), 3), [*kids, *(top if i == 0 else ())]))
        below, top = [*below, *stage], stage[:1]
    rng.shuffle(rows)
    return build_problem(len(below), rows, top)


def looped_problem(seed: int) -> Problem:
    """9 to 11 classes, each with edges to near ones on both sides: mostly one component, with
    several ways into it; a few nodes have their own class as a child."""
    rng = random.Random(seed)
    classes = rng.randint(9, 11)
    rows: list[tuple[int, float, set[int]]] = []
    for c in range(classes):
        near = [d for d in range(c - 3, c + 4) if 0 <= d < classes]
        for _ in range(rng.choice((2, 3))):
            sides = [rng.random() < 0.3 for _ in range(rng.choice((1, 1, 2, 2)))]
            pools = [[d for d in near if (d < c if back else d > c)] for back in sides]
            rows.append((c, rng.choice(COSTS), {rng.choice(pool) for pool in pools if pool}))
            if rng.random() < 0.03:
                rows[-1][2].add(c)
        if rng.random() < 0.3:
            rows.append((c, rng.choice(COSTS), set()))
    rng.shuffle(rows)
    return build_problem(classes, rows, rng.choice(([0], [0], [0, 1], [0, 4])))


def copies(problem: Problem, count: int, seed: int) -> Problem:
    """The problem several times side by side, each time with its classes and nodes in another
    order."""
    rng = random.Random(seed)
    rows = []
    roots: list[int] = []
    for copy in range(count):
        place = [copy * problem.classes + c for c in range(problem.classes)]
        rng.shuffle(place)
        mine = []
        for n, c in enumerate(problem.node_class.tolist()):
            kids = problem.children[problem.child_start[n] : problem.child_start[n + 1]]
            mine.append((place[c], float(problem.node_cost[n]), [place[k] for k in kids]))
        rng.shuffle(mine)
        rows += mine
        roots += [place[root] for root in problem.roots]
    return build_problem(count * problem.classes, rows, roots)


def best_cost(problem: Problem) -> float | None:
    """The least cost of an acyclic selection, None if there is none."""
    cost = problem.node_cost.tolist()
    return min((sum(cost[n] for n in nodes) for nodes in selections(problem)), default=None)


def selections(problem: Problem) -> Iterator[list[int]]:
    """The nodes of every acyclic selection."""
    members: dict[int, list[int]] = {}
    for n, c in enumerate(problem.node_class.tolist()):
        members.setdefault(c, []).append(n)
    kids = [
        problem.children[problem.child_start[n] : problem.child_start[n + 1]].tolist()
        for n in range(problem.nodes)
    ]

    def expand(todo: list[int], chosen: dict[int, int]) -> Iterator[list[int]]:
        todo = [c for c in todo if c not in chosen]
        if not todo:
            if not _has_loop(chosen, kids):
                yield list(chosen.values())
            return
        for n in members.get(todo[0], []):
            yield from expand([*todo[1:], *kids[n]], {**chosen, todo[0]: n})

    yield from expand(problem.roots.tolist(), {})


def _has_loop(chosen: dict[int, int], kids: list[list[int]]) -> bool:
    """Depth-first search for a way back to a class that is still open."""
    state: dict[int, str] = {}

    def visit(c: int) -> bool:
        if state.get(c) == "open":
            return True
        if state.get(c) == "done":
            return False
        state[c] = "open"
        looping = any(visit(k) for k in kids[chosen[c]])
        state[c] = "done"
        return looping

    return any(visit(c) for c in chosen)
