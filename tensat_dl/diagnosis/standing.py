"""Where a rule that fires stands: whether the answer uses what it made, else what that would cost.

Enters: an explored e-graph with its answer, a rule.  Leaves: a :class:`Standing`, for a person to
read or as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tensat_dl.cost.bill import Piece, pieces_of_answer
from tensat_dl.cost.demand import EQUAL, usable
from tensat_dl.cost.forced import Forced, Solve, force
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.opset_notes import opset_notes
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.writable import Writable
from tensat_dl.diagnosis.changes import nodes_gone_by
from tensat_dl.diagnosis.derivation import Derivations
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.naming import Names
from tensat_dl.diagnosis.origins import find_origins
from tensat_dl.diagnosis.results import Results, leads_to, results_of
from tensat_dl.diagnosis.steps import Steps
from tensat_dl.diagnosis.verdict import Standing, Teller, Verdict
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.graph.model import Graph, Node
from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import ExtractSettings

_NOT_ALL = "the rule matches in too many ways; not all were looked at"


_TOO_LITTLE = (
    "what saves less than `cost.margin` where it differs from estimates is not taken, nor are more "
    "nodes for what times cannot tell apart"
)


@dataclass(frozen=True)
class Asker:
    """Asks of one explored model and its answer; `solve` finds others."""

    program: CheckedProgram
    graph: Graph
    saturated: Saturated
    writable: Writable
    model: CostModel
    settled: Settled
    settings: ExtractSettings
    solve: Solve

    def ask(self, rules: Collection[str], at: str | None = None) -> Standing:
        """Where some rules (one, in all its directions) stand, anywhere or at one place."""
        if self.settled.extraction.selection is None:
            return self._standing(Verdict.NONE, 0.0, reason="no answer at all was found")
        index = Index(self.saturated)
        names, steps = Names(self.graph, self.saturated, index), Steps(index, self.program)
        teller = Teller(names, index, self.saturated)
        place = None if at is None else names.find(at)
        results = results_of(steps, rules, place)
        cost = self._cost(self._answer())
        used = [node for node in self.settled.chosen.values() if node in results.enodes]
        if used:
            return self._standing(Verdict.IN_ANSWER, cost, places=teller.places(used))
        derivations = Derivations(steps, find_origins(self.graph, index))
        led = self._led(derivations, rules, None if at is None else results.made)
        if led:
            return self._standing(Verdict.LEADS, cost, places=teller.places(led))
        gone = self._gone(derivations, rules, place)
        if gone:
            return self._standing(Verdict.EFFECT, cost, places=teller.gone(gone))
        if not results.enodes:
            return self._standing(Verdict.NOTHING if results.traced else Verdict.UNTRACED, cost)
        wanted, settings = results.enodes, self.settings
        forced = force(self.saturated, self.model, self.settled, wanted, settings, self.solve)
        if not forced.pieces:
            return self._without(forced, results, cost)
        return self._with(forced, results, teller)

    def _answer(self) -> dict[int, Piece]:
        return pieces_of_answer(self.settled, self.model)

    @staticmethod
    def _cost(pieces: Mapping[int, Piece]) -> float:
        return math.fsum(piece.cost for piece in pieces.values())

    def _led(
        self, derivations: Derivations, rules: Collection[str], made: Collection[ENode] | None
    ) -> list[ENode]:
        """The nodes of the answer that other rules made of what these did (of `made`)."""
        chosen = [n for n in self.settled.chosen.values() if isinstance(n.head, Application)]
        return [
            node
            for node in chosen
            if not derivations.steps.index.saturated.weight[node.eclass]
            and not set(rules).isdisjoint(derivations.chain(node))
            and (made is None or leads_to(derivations.steps, node, made))
        ]

    def _gone(self, derivations: Derivations, rules: Collection[str], at: int | None) -> list[Node]:
        """The nodes (that make a tensor) that the answer does without by what rules found."""
        found = nodes_gone_by(rules, self.graph, self.settled, self.model, derivations)
        classes = self.saturated.value_class
        return [n for n in found if at is None or at in map(classes.__getitem__, n.outputs)]

    def _with(self, forced: Forced, results: Results, teller: Teller) -> Standing:
        """Against the best answer with it; prices may have been measured since the other one."""
        answer = self._answer()
        cost, other = self._cost(answer), self._cost(forced.pieces)
        verdict = _verdict(cost, other)
        return self._standing(
            verdict,
            cost,
            cost_with=other,
            least=min(forced.bound, other) if results.complete else self._least(),
            proven=forced.proven and results.complete,
            differences=teller.differences(answer, forced.pieces),
            reason=self._choice(verdict),
            notes=(
                *(() if forced.settled is None else forced.settled.notes),
                *(() if results.complete else [_NOT_ALL]),
            ),
        )

    def _least(self) -> float:
        """What no answer is below."""
        extraction = self.settled.extraction
        return self._cost(self._answer()) * (1.0 - extraction.gap)

    def _choice(self, verdict: Verdict) -> str:
        """Why the answer is not the one with it, where that costs no more."""
        if verdict is Verdict.EQUAL:
            ties = ", ".join(self.settings.ties)
            return f"of equal answers `extract.ties` decides: {ties}" if ties else ""
        if verdict is Verdict.CHEAPER and self.settled.tally is not None:
            return _TOO_LITTLE
        return "the answer was not proven" if verdict is Verdict.CHEAPER else ""

    def _standing(self, verdict: Verdict, cost: float, **rest: Any) -> Standing:
        notes = dict.fromkeys((*self.settled.notes, *rest.pop("notes", ())))
        return Standing(verdict, self.model.name, self.model.unit, cost, notes=tuple(notes), **rest)

    def _without(self, forced: Forced, results: Results, cost: float) -> Standing:
        """There is no answer with it, or none was found."""
        if forced.proven and results.complete:
            return self._standing(Verdict.NONE, cost, reason=self._obstacle(forced, results))
        least, notes = self._least(), [_NOT_ALL]
        if results.complete:
            least, notes = max(least, forced.bound), []
        return self._standing(Verdict.UNKNOWN, cost, least=least, proven=False, notes=notes)

    def _obstacle(self, forced: Forced, results: Results) -> str:
        """Why no answer has one of the results."""
        made = results.made | results.enodes
        left_out = [node for node in self.settled.posed.left_out if node in made]
        notes = opset_notes(left_out, self.saturated, self.writable)
        if notes:
            return f"what it makes cannot be written: {'; '.join(notes)}"
        limits = [] if forced.settled is None else forced.settled.extraction.limits
        if limits:
            return f"none is within the limits: {', '.join(limit.text for limit in limits)}"
        if not usable(self.settled.posed, results.enodes, anywhere=True):
            return "what it makes needs the tensor that it stands for"
        if forced.settled is None:
            return "no output needs what it makes"
        return "no output can be computed from what it makes"


def _verdict(cost: float, other: float) -> Verdict:
    if abs(other - cost) <= EQUAL * max(abs(cost), abs(other)):
        return Verdict.EQUAL
    return Verdict.DEARER if other > cost else Verdict.CHEAPER
