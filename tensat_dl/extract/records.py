"""Counts what the stages of an extraction do, for the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from tensat_dl.extract.graph import Graph
from tensat_dl.extract.problem import StageRecord

_Size = tuple[int, int]


@dataclass
class _Total:
    """Sums over the runs of one stage; sizes by part (0 for the whole graph)."""

    runs: int = 0
    seconds: float = 0.0
    removed_classes: int = 0
    removed_nodes: int = 0
    detail: str = ""
    before: dict[int, _Size] = field(default_factory=dict)
    after: dict[int, _Size] = field(default_factory=dict)


@dataclass
class Recorder:
    """Adds up what each stage did, in the order of first use; `begin` is told when one starts."""

    begin: Callable[[str], None] = lambda name: None
    _totals: dict[tuple[str, str], _Total] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(
        self,
        scope: str,
        name: str,
        part: int,
        before: Graph,
        after: Graph,
        seconds: float,
        detail: str = "",
    ) -> None:
        """One run of a stage on the whole ("graph") or a part ("parts"); the last detail stays."""
        with self._lock:
            total = self._totals.setdefault((scope, name), _Total())
            total.runs += 1
            total.seconds += seconds
            total.removed_classes += before.classes - after.classes
            total.removed_nodes += before.nodes - after.nodes
            total.before.setdefault(part, (before.classes, before.nodes))
            total.after[part] = (after.classes, after.nodes)
            total.detail = detail or total.detail

    def leave(self, scope: str, name: str, part: int, graph: Graph) -> None:
        """What was there when a stage had nothing more to do."""
        self._totals[scope, name].after[part] = (graph.classes, graph.nodes)

    def records(self) -> tuple[StageRecord, ...]:
        """What was done so far."""
        return tuple(_record(*key, total) for key, total in self._totals.items())


def _record(scope: str, name: str, total: _Total) -> StageRecord:
    return StageRecord(
        name=name,
        scope=scope,
        runs=total.runs,
        seconds=total.seconds,
        classes_before=sum(classes for classes, _ in total.before.values()),
        nodes_before=sum(nodes for _, nodes in total.before.values()),
        classes_after=sum(classes for classes, _ in total.after.values()),
        nodes_after=sum(nodes for _, nodes in total.after.values()),
        removed_classes=total.removed_classes,
        removed_nodes=total.removed_nodes,
        detail=total.detail,
    )
