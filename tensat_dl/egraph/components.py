"""Strongly connected components of a class graph, iteratively (no recursion limit)."""

from __future__ import annotations

from collections.abc import Sequence


def components(size: int, edges: Sequence[tuple[int, Sequence[int]]]) -> list[int]:
    """For each of `size` vertices the number of its component, or -1 where it is on no cycle.

    `edges` are (vertex, successors), a vertex may stand in several.  Tarjan's algorithm.
    """
    successors: list[list[int]] = [[] for _ in range(size)]
    for vertex, targets in edges:
        successors[vertex].extend(targets)
    order = [-1] * size
    low = [0] * size
    on_stack = [False] * size
    result = [-1] * size
    stack: list[int] = []
    counter = 0
    for start in range(size):
        if order[start] >= 0:
            continue
        work = [(start, 0)]
        while work:
            vertex, place = work.pop()
            if place == 0:
                order[vertex] = low[vertex] = counter
                counter += 1
                stack.append(vertex)
                on_stack[vertex] = True
            descended = False
            for position in range(place, len(successors[vertex])):
                target = successors[vertex][position]
                if order[target] < 0:
                    work += [(vertex, position + 1), (target, 0)]
                    descended = True
                    break
                if on_stack[target]:
                    low[vertex] = min(low[vertex], order[target])
            if descended:
                continue
            if low[vertex] == order[vertex]:
                _pop_component(vertex, stack, on_stack, result, successors)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[vertex])
    return result


def _pop_component(
    root: int,
    stack: list[int],
    on_stack: list[bool],
    result: list[int],
    successors: Sequence[Sequence[int]],
) -> None:
    members = []
    while True:
        vertex = stack.pop()
        on_stack[vertex] = False
        members.append(vertex)
        if vertex == root:
            break
    if len(members) > 1 or root in successors[root]:
        for vertex in members:
            result[vertex] = root
