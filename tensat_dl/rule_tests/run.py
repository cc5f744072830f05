"""All tests of a program.

Enters: a checked program, settings.  Leaves: a :class:`TestResult` for each test, as it ends.  A
test explores its own graph, in its own process, within the limits of the settings.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tensat_dl.cost.choice import named_model
from tensat_dl.cost.models import MEASURED, make_cost_model
from tensat_dl.diagnostics import Diagnostic, Severity
from tensat_dl.egraph.explore import explore
from tensat_dl.egraph.lowering import Unwritable
from tensat_dl.egraph.snapshot import Saturated, StopReason
from tensat_dl.errors import TensatError, UsageError
from tensat_dl.graph.model import Graph
from tensat_dl.language.program import CheckedProgram, Claim, Limit, Run, Saturate, TestCase
from tensat_dl.rule_tests.example import build_example
from tensat_dl.rule_tests.judge import Best, Verdict, judge_equal, judge_fires
from tensat_dl.settings import ROOFLINE, ExtractSettings, Settings
from tensat_dl.syntax.ast import ExpectKind


@dataclass(frozen=True)
class TestResult:
    """`failures` are diagnostics for a person: where the claim stands, what was found instead.
    `fired` are the names of the rules that changed something."""

    case: TestCase
    failures: tuple[Diagnostic, ...]
    fired: frozenset[str]
    seconds: float

    @property
    def ok(self) -> bool:
        """Did every claim hold?"""
        return not self.failures


def run_tests(
    program: CheckedProgram, settings: Settings, containing: str = ""
) -> Iterator[TestResult]:
    """Run the tests whose title has `containing` in it, in the order of the text."""
    for case in program.tests:
        if containing in case.title:
            started = time.monotonic()
            run = _TestRun(program, settings, case)
            failures = tuple(run.failures())
            yield TestResult(case, failures, frozenset(run.fired), time.monotonic() - started)


@dataclass(frozen=True)
class _TestRun:
    """One test."""

    program: CheckedProgram
    settings: Settings
    case: TestCase
    fired: set[str] = field(default_factory=set)

    def failures(self) -> Iterator[Diagnostic]:
        """What fails."""
        expected = {claim.code for claim in self.case.claims if claim.kind is ExpectKind.ERROR}
        found = self.case.problems or self._unwritable()
        if expected:
            yield from self._judge_errors(found)
        elif found:
            yield from found
        else:
            yield from (_diagnostic(v) for v in self._verdicts() if not v.ok)

    def _unwritable(self) -> tuple[Diagnostic, ...]:
        """The statement that has no type, if there is one."""
        try:
            build_example(self.program, self.case, self.case.claims)
        except Unwritable as error:
            return (Diagnostic("E0701", str(error), error.span, label=error.label),)
        return ()

    def _judge_errors(self, found: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
        codes = {d.code for d in found if d.severity is Severity.ERROR}
        for claim in self.case.claims:
            if claim.kind is not ExpectKind.ERROR:
                note = ("a test that expects an error claims nothing else",)
                yield Diagnostic("E0702", "this is not looked at", claim.span, notes=note)
            elif claim.code not in codes:
                message = f"the test does not have the error {claim.code}"
                notes = tuple(f"it has {d.code}: {d.message}" for d in found)
                yield Diagnostic("E0702", message, claim.span, notes=notes)

    def _verdicts(self) -> list[Verdict]:
        """In the order of the text."""
        equal = [c for c in self.case.claims if c.kind is ExpectKind.EQUAL]
        others = [c for c in self.case.claims if c.kind is not ExpectKind.EQUAL]
        verdicts = [*self._judge_given(others), *self._judge_equal(equal)]
        return sorted(verdicts, key=lambda v: v.claim.span.start)

    def _judge_equal(self, claims: list[Claim]) -> Iterator[Verdict]:
        """The terms of these claims are part of the graph, so that rules see them."""
        if not claims:
            return
        example = build_example(self.program, self.case, claims, together=True)
        saturated = self._explore(example.graph)
        terms = iter(example.terms)
        for claim in claims:
            verdict = judge_equal(claim, saturated, example, (next(terms), next(terms)))
            yield _with_limits(verdict, saturated)

    def _judge_given(self, claims: list[Claim]) -> Iterator[Verdict]:
        if not claims:
            return
        example = build_example(self.program, self.case, claims)
        saturated = self._explore(example.graph)
        terms = iter(example.terms)
        for claim in claims:
            if claim.kind is ExpectKind.FIRES:
                verdict = judge_fires(claim, self.program, example, saturated)
                yield _with_limits(verdict, saturated)
                continue
            term = next(terms)
            try:
                name = self._cost_model(claim)
                model = make_cost_model(name, self.settings.cost, self.program)
            except TensatError as error:
                yield Verdict(claim, False, str(error))
                continue
            best = Best(self.program, example, saturated, model, self._proof_settings())
            yield _with_limits(best.judge(claim, term), saturated)

    def _cost_model(self, claim: Claim) -> str:
        """No test rests on measurements, which differ from machine to machine."""
        if claim.cost == MEASURED:
            raise UsageError("`measured` differs from machine to machine: name another cost model")
        settings = self.settings.cost
        model = named_model(
            replace(settings, model=claim.cost or settings.model), self.program
        ).model
        return ROOFLINE if model == MEASURED else model

    def _proof_settings(self) -> ExtractSettings:
        """Of tests there are many, and their graphs are small."""
        seconds = self.settings.test.proof_seconds
        return replace(self.settings.extract, seconds=seconds, max_weight_bytes=0, at_most={})

    def _explore(self, graph: Graph) -> Saturated:
        program = self.program
        if self.case.rules is not None:
            steps = (Saturate((Run("test", self.case.rules),), Limit()),)
            program = replace(program, schedule=steps)
        saturated = explore(graph, program, self.settings.explore, self.settings.rules)
        counts = saturated.exploration.rules
        self.fired.update(name for name, count in counts.items() if count.applied)
        return saturated


def _with_limits(verdict: Verdict, saturated: Saturated) -> Verdict:
    """What fails may do so because not all was explored, and so may what holds because something
    was not found."""
    cut = saturated.exploration.stopped_by not in (StopReason.SATURATED, StopReason.SCHEDULE)
    if verdict.ok and not (cut and verdict.claim.negated):
        return verdict
    if verdict.ok:
        message = "this was not found, but not all was explored"
        verdict = replace(verdict, ok=False, message=message)
    return replace(verdict, notes=(*saturated.exploration.warnings, *verdict.notes))


def _diagnostic(verdict: Verdict) -> Diagnostic:
    return Diagnostic("E0702", verdict.message, verdict.claim.span, notes=verdict.notes)
