"""The stages of reduction in their order, and the loop that runs and counts them.

A stage has one job, is exact, and does nothing when run twice in a row; each is followed by
`prune`, so that all but the first see a pruned graph.  A new reduction is a line in this table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.problem import StageRecord
from tensat_dl.extract.reductions.dominance import remove_dominated
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import remove_loops
from tensat_dl.extract.reductions.simplify import expand_aliases, merge_single_parents, settle_free
from tensat_dl.extract.reductions.upper import remove_dear
from tensat_dl.extract.work import Work
from tensat_dl.settings import REDUCTIONS


@dataclass(frozen=True)
class Context:
    """What stages may ask: the time left, and the cost of the best answer known (of this graph)."""

    deadline: Deadline
    upper: float = float("inf")


@dataclass(frozen=True)
class Stage:
    """`run` reduces the graph in place; `guarantee` says what survives."""

    name: str
    run: Callable[[Work, Context], None]
    guarantee: str


STAGES: tuple[Stage, ...] = (
    Stage("prune", lambda work, _: prune(work), "every acyclic selection"),
    Stage("free", lambda work, _: settle_free(work), "an optimal selection"),
    Stage("alias", lambda work, _: expand_aliases(work), "every acyclic selection"),
    Stage("merge", lambda work, _: merge_single_parents(work), "every acyclic selection"),
    Stage(
        "dominators", lambda work, at: remove_loops(work, at.deadline), "every acyclic selection"
    ),
    Stage(
        "dominance", lambda work, at: remove_dominated(work, at.deadline), "an optimal selection"
    ),
    Stage(
        "upper-bound",
        lambda work, at: remove_dear(work, at.upper, at.deadline),
        "every acyclic selection better than the one known",
    ),
)
_BY_NAME = {stage.name: stage for stage in STAGES}

# Cheap ones that make the graph small; enough for a heuristic.
SIMPLIFYING = ("prune", "free", "alias", "merge")
# For the whole graph, where an upper bound is too loose to pay.
WHOLE = (*SIMPLIFYING, "dominators", "dominance")
# For a component, whose upper bound is tight.
COMPONENT = ("upper-bound", *WHOLE)
_MOST_ROUNDS = 8


@dataclass
class _Total:
    """Sums over the runs of one stage."""

    runs: int = 0
    seconds: float = 0.0
    classes_before: int = 0
    nodes_before: int = 0
    classes_after: int = 0
    nodes_after: int = 0
    removed_classes: int = 0
    removed_nodes: int = 0


@dataclass
class Reducer:
    """Runs the stages that are switched on and adds up what each did; `scope` is "graph" or
    "parts".  `prune` is always on, because the others stand on it."""

    scope: str = "graph"
    switched_on: Sequence[str] = REDUCTIONS
    _totals: dict[str, _Total] = field(default_factory=dict)

    def run(self, work: Work, names: Sequence[str], context: Context) -> None:
        """Run the named stages in order, again and again until a round changes nothing."""
        chosen = [name for name in names if name == "prune" or name in self.switched_on]
        settled_at: dict[str, int] = {}
        for _ in range(_MOST_ROUNDS):
            before = work.version
            for name in chosen:
                if settled_at.get(name) != work.version:
                    self._run_stage(work, name, context, first=name not in settled_at)
                    settled_at[name] = work.version
            if work.version == before:
                break
        for name in settled_at:
            self._totals[name].classes_after += work.classes
            self._totals[name].nodes_after += work.nodes

    def records(self) -> tuple[StageRecord, ...]:
        """What was done so far, in the order of first use."""
        return tuple(
            StageRecord(name, self.scope, **asdict(total)) for name, total in self._totals.items()
        )

    def _run_stage(self, work: Work, name: str, context: Context, *, first: bool) -> None:
        context.deadline.check()
        started, classes, nodes = context.deadline.elapsed, work.classes, work.nodes
        version = work.version
        if work.derivable:
            _BY_NAME[name].run(work, context)
        if work.version != version:
            prune(work)
        total = self._totals.setdefault(name, _Total())
        total.runs += 1
        total.seconds += context.deadline.elapsed - started
        total.classes_before += classes if first else 0
        total.nodes_before += nodes if first else 0
        total.removed_classes += classes - work.classes
        total.removed_nodes += nodes - work.nodes
