"""Chooses between answers of equal cost: fewest nodes, fewest that rules made, least bytes.

Enters: the answer in hand.  Leaves: in its place one of the same cost that is better by the first
of these measures that differs.  The reductions of extraction keep one of equal answers only, so
this starts again from the whole problem: nodes that are in no answer as cheap go, then parts that
do not depend on each other are searched one by one.  What is large is left alone: there, nodes
that no rule made are merely looked at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tensat_dl.extract.answer import TIE, Answer
from tensat_dl.extract.branching import branch
from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.graph import ROOT, Graph, graph_of
from tensat_dl.extract.greedy import Choice, used_classes
from tensat_dl.extract.joint import Bounded
from tensat_dl.extract.problem import MADE, NODES, WEIGHT_BYTES, FloatArray
from tensat_dl.extract.records import Recorder
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import close_required, remove_loops
from tensat_dl.extract.reductions.split import cut, part_labels
from tensat_dl.extract.reductions.upper import remove_by_landmarks, remove_dear
from tensat_dl.sentences import counted
from tensat_dl.settings import Tie

_MEASURE = {Tie.NODES: NODES, Tie.ORIGINAL: MADE, Tie.BYTES: WEIGHT_BYTES}
_MOST_ROUNDS = 6
_MOST_NODES = 10_000
_MOST_CLASSES = 1_500
_VISITS = 100_000
_SHARE = 0.2
# Measures are whole numbers: a choice is better when it is by one.
_STEP = 0.5


def break_ties(answer: Answer, recorder: Recorder) -> None:
    """Improve the answer without changing its cost, as the setting `ties` says."""
    measures = [answer.problem.measure(_MEASURE[name]) for name in answer.settings.ties]
    if answer.selection is None or not any(measure.any() for measure in measures):
        return
    whole = answer.deadline
    if not whole.remaining:
        return
    recorder.begin("ties")
    deadline = Deadline(whole.remaining * _SHARE, whole.clock)
    started = whole.elapsed
    before = prune(graph_of(answer.problem))
    if before.nodes > _MOST_NODES:
        recorder.add("graph", "ties", 0, before, before, 0.0, "too large to be searched for them")
        return
    try:
        after, detail = _Ties(answer, measures, deadline).run(before)
    except OutOfTime:
        after, detail = before, "out of time"
    recorder.add("graph", "ties", 0, before, after, whole.elapsed - started, detail)


class _Ties:
    def __init__(self, answer: Answer, measures: Sequence[FloatArray], deadline: Deadline) -> None:
        self.answer, self.measures, self.deadline = answer, measures, deadline
        self.choice = answer.choice()

    def run(self, graph: Graph) -> tuple[Graph, str]:
        """Reduce, split, search; the graph as it was split, and what was left undone."""
        graph = self._reduce(graph)
        undone = 0
        alone = np.bincount(graph.part) == 1
        for part in self._parts_with_decisions(graph):
            if not alone[part]:
                undone += not self._search(cut(graph, part, self.deadline))
        self._choose(graph, np.flatnonzero(alone[graph.part]).tolist())
        self.answer.prefer(self.choice)
        return graph, f"{counted(undone, 'part')} not searched to the end" if undone else ""

    def _reduce(self, graph: Graph) -> Graph:
        """Drop what no answer as cheap has; limits bind all parts together."""
        for _ in range(_MOST_ROUNDS):
            before = graph
            graph = remove_loops(close_required(graph, self.deadline), self.deadline)
            labels = np.zeros_like(graph.part)
            if not self.answer.limits:
                labels = part_labels(graph, self.deadline)
            graph = replace(graph, part=labels)
            graph = remove_dear(graph, self._costs(graph) * (1.0 + TIE), self.deadline)
            if graph.nodes == before.nodes:
                break
        return graph

    def _costs(self, graph: Graph) -> FloatArray:
        """What the answer costs in each part."""
        used = np.array([c for c in self._chosen(graph) if c != ROOT], dtype=np.int64)
        nodes = np.array([self._chosen(graph)[c] for c in used.tolist()], dtype=np.int64)
        count = int(graph.part.max()) + 1
        return np.bincount(graph.part[used], graph.cost[nodes], count).astype(np.float64)

    def _chosen(self, graph: Graph) -> Choice:
        """The answer on a graph; it has all the answer's nodes."""
        return graph.remember("answer", lambda: self._choice_on(graph))

    def _choice_on(self, graph: Graph) -> Choice:
        wanted = np.fromiter(self.choice.values(), dtype=np.int64)
        nodes = np.flatnonzero(np.isin(graph.node_id, wanted)).tolist()
        return {int(graph.owner[n]): n for n in nodes}

    def _parts_with_decisions(self, graph: Graph) -> list[int]:
        several = np.diff(graph.first) > 1
        parts: list[int] = np.unique(graph.part[np.flatnonzero(several)]).tolist()
        return parts

    def _choose(self, graph: Graph, alone: Sequence[int]) -> None:
        """Choose for classes that are parts by themselves.  All nodes left of such a class are as
        cheap; where one is the best by the measures, and the answer's is no worse, that stays."""
        measures = [_on(graph, measure) for measure in self.measures]
        chosen = self._chosen(graph)

        def key(n: int) -> tuple[float, ...]:
            return (*(measure[n] for measure in measures), n != chosen[int(graph.owner[n])])

        best = [min(graph.member_ranges[c], key=key) for c in alone if c in chosen]
        self.choice.update(replace(graph, settled={}).choice_of(best))

    def _search(self, graph: Graph) -> bool:
        """Search one part, measure after measure; False when that was not done to the end."""
        upper = self._total(graph, self._choice_on(graph), graph.cost) * (1.0 + TIE)
        graph = remove_by_landmarks(graph, np.array([upper]), self.deadline)
        if graph.classes > _MOST_CLASSES:
            return False
        chosen = self._choice_on(graph)
        bounds = [Bounded(graph.cost, upper)]
        for limit in self.answer.limits:
            bounds.append(Bounded(_on(graph, limit.weights), limit.at_most * (1.0 + TIE)))
        for measure in self.measures:
            cost = _on(graph, measure)
            best = Bounded(cost, self._total(graph, chosen, cost) - _STEP)
            found: list[Choice] = []

            def report(choice: Choice, best: Bounded = best, found: list[Choice] = found) -> None:
                found.append(choice)
                best.upper = self._total(graph, choice, best.cost) - _STEP

            left = branch(graph, [*bounds, best], _VISITS, self.deadline, report).graph
            if found:
                chosen = found[-1]
                self.choice.update(replace(graph, settled={}).choice_of(chosen.values()))
            if left is not None:
                return False
            bounds.append(Bounded(cost, self._total(graph, chosen, cost) + _STEP / 2.0))
        return True

    def _total(self, graph: Graph, choice: Choice, cost: FloatArray) -> float:
        return float(sum(cost[choice[c]] for c in used_classes(graph, choice) or ()))


def _on(graph: Graph, measure: FloatArray) -> FloatArray:
    """A measure of the problem's nodes on the nodes of a graph; the extra root has none."""
    values = measure[graph.node_id]
    values[ROOT] = 0.0
    return values
