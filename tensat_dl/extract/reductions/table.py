"""The stages of reduction in their order, and the loop that runs and counts them.

A stage has one job, is exact, takes a pruned graph and gives back a smaller one, or the same one
when it finds nothing.  A new reduction is a line in this table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.records import Recorder
from tensat_dl.extract.reductions.dominance import remove_dominated
from tensat_dl.extract.reductions.paths import remove_cut_off
from tensat_dl.extract.reductions.probing import remove_probed
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import close_required, remove_loops
from tensat_dl.extract.reductions.simplify import expand_aliases, merge_single_parents, settle_free
from tensat_dl.extract.reductions.upper import remove_by_landmarks, remove_dear
from tensat_dl.settings import Reduction


@dataclass(frozen=True)
class Context:
    """What stages may ask: the time left, and what the best answer known costs, by part."""

    deadline: Deadline
    upper: FloatArray = field(default_factory=lambda: np.array([np.inf]))


@dataclass(frozen=True)
class Stage:
    """`run` gives a reduced graph; `guarantee` says what survives."""

    name: str
    run: Callable[[Graph, Context], Graph]
    guarantee: str


_ALL, _BEST = "every acyclic selection", "an optimal selection"
_CHEAPER = "every acyclic selection no dearer than the one known"
STAGES: tuple[Stage, ...] = (
    Stage("prune", lambda graph, _: prune(graph), _ALL),
    Stage("free", lambda graph, _: settle_free(graph), _BEST),
    Stage("alias", lambda graph, _: expand_aliases(graph), _ALL),
    Stage("merge", lambda graph, _: merge_single_parents(graph), _ALL),
    Stage("closure", lambda graph, at: close_required(graph, at.deadline), _ALL),
    Stage("dominators", lambda graph, at: remove_loops(graph, at.deadline), _ALL),
    Stage("dominance", lambda graph, at: remove_dominated(graph, at.deadline), _BEST),
    Stage(
        "upper-bound",
        lambda graph, at: remove_dear(graph, at.upper, at.deadline),
        _CHEAPER,
    ),
    Stage(
        "landmarks",
        lambda graph, at: remove_by_landmarks(graph, at.upper, at.deadline),
        _CHEAPER,
    ),
    Stage("paths", lambda graph, at: remove_cut_off(graph, at.upper, at.deadline), _CHEAPER),
    Stage("probing", lambda graph, at: remove_probed(graph, at.upper, at.deadline), _CHEAPER),
)
_BY_NAME = {stage.name: stage for stage in STAGES}

# Cheap ones that make the graph small; enough for a heuristic.
SIMPLIFYING = ("prune", "free", "alias", "merge")
# For the whole graph, where an upper bound is too loose to pay.
WHOLE = (*SIMPLIFYING, "closure", "dominators", "dominance")
# For a graph with parts, whose upper bounds are tight.
PARTS = ("upper-bound", *WHOLE)
# For a part alone.
PART = ("landmarks", *PARTS)
_MOST_ROUNDS = 8


@dataclass
class Reducer:
    """Runs the stages that are switched on, on the whole "graph" or on "parts".  `prune` is always
    on, because the others stand on it."""

    recorder: Recorder = field(default_factory=Recorder)
    scope: str = "graph"
    switched_on: Sequence[str] = tuple(Reduction)

    def run(self, graph: Graph, names: Sequence[str], context: Context, part: int = 0) -> Graph:
        """Run the named stages in order, again and again until a round changes nothing."""
        chosen = [name for name in names if name == "prune" or name in self.switched_on]
        done_with: dict[str, Graph] = {}
        for _ in range(_MOST_ROUNDS):
            before = graph
            for name in chosen:
                if done_with.get(name) is not graph:
                    graph = self._run_stage(graph, name, context, part)
                    done_with[name] = graph
            if graph is before:
                break
        for name in done_with:
            self.recorder.leave(self.scope, name, part, graph)
        return graph

    def _run_stage(self, graph: Graph, name: str, context: Context, part: int) -> Graph:
        context.deadline.check()
        self.recorder.begin(name)
        started, before = context.deadline.elapsed, graph
        if graph.derivable:
            graph = _BY_NAME[name].run(graph, context)
        if graph.derivable and graph is not before:
            graph = prune(graph)
        seconds = context.deadline.elapsed - started
        self.recorder.add(self.scope, name, part, before, graph, seconds)
        return graph
