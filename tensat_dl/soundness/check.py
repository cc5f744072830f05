"""One rule: instances drawn, judged, and what they show.

Enters: a program, one of its rules, how many instances.  Leaves: a :class:`Verdict`.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace

from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.sentences import listed
from tensat_dl.soundness.counterexample import describe, describe_clash, describe_departure
from tensat_dl.soundness.instances import Instance, Sampler
from tensat_dl.soundness.judgement import Judgement, Mismatch, judge
from tensat_dl.soundness.necessity import Need, need_of
from tensat_dl.soundness.older import Departure, OlderOpsets
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.shrink import Refuted, shrink, shrink_clash, shrink_departure
from tensat_dl.soundness.subject import Subject, make_subject
from tensat_dl.soundness.verdict import Status, Verdict
from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import format_expr

#: Attempts for each instance that is wanted, and before a rule is said to have none.
_ATTEMPTS = 12
_FIRST = 400
#: Ways of deriving the facts of a rule for each of which so many instances are drawn.
_WAYS = 4
#: Attempts at one condition without the others.
_ALONE = 100


@dataclass
class Tally:
    """What the instances of a rule showed so far."""

    instances: int = 0
    methods: Counter[str] = field(default_factory=Counter)
    error: float = 0.0
    refuted: tuple[Instance, Mismatch] | None = None
    departure: Departure | None = None
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
            self.refuted = (instance, judgement.mismatch)


def check_rule(program: CheckedProgram, rule: Rule, settings: Settings) -> Verdict:
    """Draw and judge instances; stop at the first that refutes."""
    start = time.perf_counter()
    subject = make_subject(program, rule)
    seed = settings.seed
    samples = settings.samples * min(max(len(subject.plans), 1), _WAYS)
    sampler = Sampler(subject, seed)
    tally, older = Tally(), OlderOpsets(subject, seed, samples)
    for attempt in range(max(_FIRST, samples * _ATTEMPTS)):
        if tally.instances >= samples or tally.refuted or tally.departure:
            break
        if attempt == _FIRST and not tally.instances:
            break
        instance = sampler.attempt()
        if instance is None:
            continue
        tally.note(instance, judge(subject, instance, seed * 1_000_003 + attempt * 17))
        if tally.refuted is None and older.is_due(tally.instances):
            tally.departure = older.depart(instance)
    if settings.unguarded and tally.refuted is None:
        _look_for_clash(sampler, samples * _ATTEMPTS)
    verdict = _verdict(program, subject, sampler, tally, settings)
    verdict = _at_opsets(subject, verdict, older, tally.departure)
    if verdict.status is Status.HOLDS and settings.conditions:
        verdict = _with_needs(program, rule, verdict, samples, seed)
    return replace(verdict, seconds=time.perf_counter() - start)


def _at_opsets(
    subject: Subject, verdict: Verdict, older: OlderOpsets, found: Departure | None
) -> Verdict:
    """What the rule is in models of the opsets that were drawn."""
    verdict = replace(verdict, opsets=tuple(sorted(set(older.drawn))))
    if verdict.status is not Status.HOLDS or found is None:
        return verdict
    example = describe_departure(subject, shrink_departure(subject, found, older))
    return replace(verdict, status=Status.REFUTED, counterexample=example)


def _look_for_clash(sampler: Sampler, attempts: int) -> None:
    """They are rare where only some shapes that broadcast make one."""
    for _ in range(attempts):
        if sampler.clashing is not None:
            return
        sampler.attempt()


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


def _verdict(
    program: CheckedProgram, subject: Subject, sampler: Sampler, tally: Tally, settings: Settings
) -> Verdict:
    rule = subject.rule
    status, reason, example = Status.HOLDS, "", None
    if tally.refuted is not None and tally.refuted[1].unknown:
        unknown = listed(tally.refuted[1].unknown)
        status = Status.NOT_EVALUATED
        reason = f"whether it holds depends on what {unknown} computes, which nothing here knows"
    elif tally.refuted is not None:
        small = shrink(subject, Refuted(*tally.refuted), sampler.seed)
        status, example = Status.REFUTED, describe(subject, small.instance, small.mismatch)
    elif settings.unguarded and sampler.clashing is not None:
        clashing = shrink_clash(subject, sampler.clashing, sampler.seed)
        status, example = Status.REFUTED, describe_clash(subject, clashing)
    elif not tally.instances and tally.unknown:
        status, reason = Status.NOT_EVALUATED, tally.unknown.most_common(1)[0][0]
    elif not tally.instances:
        status, reason = Status.NO_INSTANCE, why_none(program, subject, sampler)
    return Verdict(
        rule=rule.name,
        base=rule.base,
        status=status,
        real=rule.real,
        instances=tally.instances,
        methods=dict(tally.methods),
        error=tally.error,
        apart=sampler.apart,
        unguarded=settings.unguarded,
        counterexample=example,
        reason=reason,
    )


def why_none(program: CheckedProgram, subject: Subject, sampler: Sampler) -> str:
    """What stood in the way of the most attempts."""
    if not subject.plans:
        return "nothing derives a fact that the rule asks for"
    if sampler.refusals:
        reason, _ = sampler.refusals.most_common(1)[0]
        return f"the left side matched, but the right side never had its type: {reason}"
    failed = [c for c in subject.rule.conditions if f"`{format_expr(c)}`" in sampler.failures]
    never = [c for c in failed if not _is_met(program, subject.rule, c, sampler.seed)]
    if never:
        return f"the condition `{format_expr(never[0])}` was never met"
    if failed:
        conditions = listed(format_expr(c) for c in subject.rule.conditions)
        return f"the conditions {conditions} were never met together"
    if sampler.failures:
        return f"never met: {sampler.failures.most_common(1)[0][0]}"
    return "the left side never matched"


def _is_met(program: CheckedProgram, rule: Rule, condition: ast.Expr, seed: int) -> bool:
    """Can a condition be met where the others are not asked?"""
    sampler = Sampler(make_subject(program, replace(rule, conditions=(condition,))), seed)
    return any(sampler.attempt() is not None or sampler.refusals for _ in range(_ALONE))
