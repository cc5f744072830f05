"""One rule: instances drawn, judged, and what they show.

Enters: a program, one of its rules, how many instances.  Leaves: a :class:`Verdict`.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace

from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.counterexample import describe
from tensat_dl.soundness.instances import Instance, Sampler
from tensat_dl.soundness.judgement import Judgement, judge
from tensat_dl.soundness.necessity import Need, need_of
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.shrink import Refuted, shrink
from tensat_dl.soundness.subject import Subject, make_subject
from tensat_dl.soundness.verdict import Status, Verdict
from tensat_dl.syntax.printer import format_expr

#: Attempts for each instance that is wanted, and before a rule is said to have none.
_ATTEMPTS = 12
_FIRST = 400


@dataclass
class Tally:
    """What the instances of a rule showed so far."""

    instances: int = 0
    methods: Counter[str] = field(default_factory=Counter)
    error: float = 0.0
    refuted: tuple[Instance, Judgement] | None = None
    unknown: Counter[str] = field(default_factory=Counter)

    def note(self, instance: Instance, judgement: Judgement) -> None:
        """Count one instance."""
        if judgement.method is None:
            self.unknown[judgement.reason] += 1
            return
        self.instances += 1
        self.methods[judgement.method.value] += 1
        self.error = max(self.error, judgement.error)
        if judgement.mismatch is not None:
            self.refuted = (instance, judgement)


def check_rule(program: CheckedProgram, rule: Rule, settings: Settings) -> Verdict:
    """Draw and judge instances; stop at the first that refutes."""
    samples, seed = settings.samples, settings.seed
    start = time.perf_counter()
    subject = make_subject(program, rule)
    sampler = Sampler(subject, seed)
    tally = Tally()
    for attempt in range(max(_FIRST, samples * _ATTEMPTS)):
        if tally.instances >= samples or tally.refuted is not None:
            break
        if attempt == _FIRST and not tally.instances:
            break
        instance = sampler.attempt()
        if instance is not None:
            tally.note(instance, judge(subject, instance, seed * 1_000_003 + attempt * 17))
    verdict = _verdict(subject, sampler, tally, seed)
    if verdict.status is Status.HOLDS and settings.conditions:
        verdict = _with_needs(program, rule, verdict, max(samples // 2, 1), seed)
    return replace(verdict, seconds=time.perf_counter() - start)


def _with_needs(
    program: CheckedProgram, rule: Rule, verdict: Verdict, samples: int, seed: int
) -> Verdict:
    """Which conditions it needs, and which it does not."""
    needs = {c: need_of(program, rule, c, samples, seed) for c in rule.conditions}
    return replace(
        verdict,
        needed=tuple(format_expr(c) for c, need in needs.items() if need is Need.NEEDED),
        unneeded=tuple(format_expr(c) for c, need in needs.items() if need is Need.UNNEEDED),
    )


def _verdict(subject: Subject, sampler: Sampler, tally: Tally, seed: int) -> Verdict:
    rule = subject.rule
    status, reason, example = Status.HOLDS, "", None
    if tally.refuted is not None:
        instance, judgement = tally.refuted
        assert judgement.mismatch is not None
        small = shrink(subject, Refuted(instance, judgement.mismatch), seed)
        status, example = Status.REFUTED, describe(subject, small.instance, small.mismatch)
    elif not tally.instances and tally.unknown:
        status, reason = Status.NOT_EVALUATED, tally.unknown.most_common(1)[0][0]
    elif not tally.instances:
        status, reason = Status.NO_INSTANCE, why_none(subject, sampler)
    return Verdict(
        rule=rule.name,
        base=rule.base,
        status=status,
        real=rule.real,
        instances=tally.instances,
        methods=dict(tally.methods),
        error=tally.error,
        counterexample=example,
        reason=reason,
    )


def why_none(subject: Subject, sampler: Sampler) -> str:
    """What stood in the way of the most attempts."""
    if not subject.plans:
        return "nothing derives a fact that the rule asks for"
    if sampler.refusals:
        reason, _ = sampler.refusals.most_common(1)[0]
        return f"the left side matched, but the right side never had its type: {reason}"
    conditions = [reason for reason in sampler.failures if reason.startswith("`")]
    if conditions:
        most = max(conditions, key=lambda reason: sampler.failures[reason])
        return f"the condition {most} was never met"
    if sampler.failures:
        return f"never met: {sampler.failures.most_common(1)[0][0]}"
    return "the left side never matched"
