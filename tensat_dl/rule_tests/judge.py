"""What each claim of a test comes to.

Enters: a test's explored e-graph and its claims.  Leaves: a :class:`Verdict` for each: whether it
holds, and if not, what was found and which rules led there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import Pricer, pose
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.extract.problem import Extraction, StopReason
from tensat_dl.extract.run import extract
from tensat_dl.language.check.report import source_text
from tensat_dl.language.program import CheckedProgram, Claim
from tensat_dl.rule_tests.drawing import Drawing, constant_text, term_text
from tensat_dl.rule_tests.example import Example, Term
from tensat_dl.rule_tests.lookup import Lookup, Missing
from tensat_dl.rule_tests.obstacles import obstacles
from tensat_dl.sentences import counted, listed
from tensat_dl.settings import ExtractSettings

#: Costs that differ by less than this share are equal.
_EQUAL = 1e-9


@dataclass(frozen=True)
class Verdict:
    """`message` says what is wrong where the claim fails, `notes` what was found instead."""

    claim: Claim
    ok: bool
    message: str = ""
    notes: tuple[str, ...] = ()


def judge_fires(
    claim: Claim, program: CheckedProgram, example: Example, saturated: Saturated
) -> Verdict:
    """Did each rule act at least once (or never)?"""
    counts = saturated.exploration.rules
    wrong = []
    for written, names in claim.rules:
        applied = sum(counts[n].applied for n in names if n in counts)
        if (applied == 0) is not claim.negated:
            wrong.append((written, names))
    if not wrong:
        return Verdict(claim, True)
    if claim.negated:
        return Verdict(claim, False, f"{listed(written for written, _ in wrong)} fired")
    message = "; ".join(_not_fired(written, names, saturated) for written, names in wrong)
    asked = [name for _, names in wrong for name in names if name in counts]
    return Verdict(claim, False, message, tuple(obstacles(asked, program, example, saturated)))


def _not_fired(written: str, names: Sequence[str], saturated: Saturated) -> str:
    counts = [saturated.exploration.rules[n] for n in names if n in saturated.exploration.rules]
    if not counts:
        return f"`{written}` is not among the rules that run in this test"
    matches, rejected = sum(c.matches for c in counts), sum(c.rejected for c in counts)
    if not matches:
        return f"`{written}` did not match"
    refused = f", {rejected} of them with a right side of another type" if rejected else ""
    return f"`{written}` matched {counted(matches, 'time')} and changed nothing{refused}"


def judge_equal(
    claim: Claim, saturated: Saturated, example: Example, terms: tuple[Term, Term]
) -> Verdict:
    """Were the two terms found equal?  The terms are part of the graph."""
    lookup = Lookup(saturated, example.constants)
    left, right = (lookup.find(term)[0] for term in terms)
    if (left == right) is not claim.negated:
        return Verdict(claim, True)
    sides = [f"`{source_text(emit.span)}`" for emit in claim.emits]
    found = "were found equal" if claim.negated else "were not found equal"
    return Verdict(claim, False, f"{sides[0]} and {sides[1]} {found}")


@dataclass(frozen=True)
class Best:
    """Judges `expect best` under one cost model."""

    program: CheckedProgram
    example: Example
    saturated: Saturated
    model: CostModel
    settings: ExtractSettings

    def judge(self, claim: Claim, term: Term) -> Verdict:
        """Is the term in the e-graph, is it what is given, and is nothing cheaper?"""
        targets = claim.emits[0].targets
        roots = [self.saturated.value_class[self.example.given[t]] for t in targets]
        answer, chosen = self._answer(roots)
        found = ("found:", *self._drawn(chosen, dict(zip(roots, targets, strict=True))))
        lookup = Lookup(self.saturated, self.example.constants)
        try:
            classes = lookup.find(term)
        except Missing as missing:
            return Verdict(claim, False, self._missing(missing), found)
        wrong = [t for t, a, b in zip(targets, classes, roots, strict=True) if a != b]
        if wrong:
            return Verdict(claim, False, f"{listed(wrong)} was not found equal to this", found)
        pricer = Pricer(self.saturated, self.model)
        price = math.fsum(pricer.price(node) for node in lookup.enodes)
        cost, name = answer.objective, self.model.name
        if price > cost * (1 + _EQUAL):
            message = f"a cheaper graph was found: {name} {cost:g}, this is {price:g}"
            return Verdict(claim, False, message, found)
        if answer.gap <= max(self.settings.gap, _EQUAL):
            return Verdict(claim, True)
        return Verdict(claim, False, *self._unproven(answer, price))

    def _unproven(self, answer: Extraction, price: float) -> tuple[str, tuple[str, ...]]:
        """Nothing cheaper was found, but there may be something."""
        name, asked = self.model.name, f"{self.settings.seconds:g} s"
        within = f" within {asked}" if answer.stopped is StopReason.TIME else ""
        message = f"it was not proven{within} that nothing is cheaper"
        proven = (
            f"this is {name} {price:g}; what is proven is that nothing is below {answer.bound:g}"
        )
        more = (
            "give it longer (`--proof-seconds`), let less be explored, or claim less of the graph"
        )
        return message, (proven, more)

    def _answer(self, roots: Sequence[int]) -> tuple[Extraction, list[ENode]]:
        asked = replace(self.saturated, outputs=tuple(roots))
        posed = pose(asked, self.model, Writable(self.program, self.example.graph.opsets))
        extraction = extract(posed.problem, self.settings)
        assert extraction.selection is not None, "the given graph is an answer"
        return extraction, [posed.nodes[i] for i in extraction.selection.chosen()]

    def _drawn(self, chosen: Sequence[ENode], targets: Mapping[int, str]) -> tuple[str, ...]:
        inputs = {*self.example.graph.inputs, *self.example.graph.constants}
        names = {
            self.saturated.value_class[value]: name
            for name, value in self.example.given.items()
            if value in inputs
        }
        plain = [f"{name} = {names[root]}" for root, name in targets.items() if root in names]
        made = {root: name for root, name in targets.items() if root not in names}
        drawing = Drawing(self.saturated, {**names, **made})
        return tuple(f"  {line}" for line in (*drawing.lines(chosen), *plain))

    def _missing(self, missing: Missing) -> str:
        shown = term_text(missing.node, self._written)
        return f"no rule made `{shown}`"

    def _written(self, name: str | None) -> str:
        if name is None:
            return "_"
        constant = self.example.constants.get(name)
        if constant is not None:
            return constant_text(constant)
        given = {value: known for known, value in self.example.given.items()}
        return given.get(name, "..")
