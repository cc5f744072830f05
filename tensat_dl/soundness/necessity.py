"""Does a rule need a condition?  Instances that only this condition leaves out, judged.

Enters: a rule and one of its conditions.  Leaves: needed, not needed, or unknown: where no
instance is found that only this condition leaves out (what it asks for may follow from the types),
nothing is said.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from tensat_dl.language.evaluate import holds
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.instances import Sampler
from tensat_dl.soundness.judgement import judge
from tensat_dl.soundness.subject import make_subject
from tensat_dl.syntax import ast

#: Attempts for each instance that is wanted.
_ATTEMPTS = 8
#: The same, where there was none so far.
_FIRST = 3
#: Half as many instances as are drawn of the rule are a first word, which is enough where the
#: author said that the condition is meant.  Else so many times as many have to agree.
_SURE = 4


class Need(Enum):
    """Whether a rule needs a condition."""

    NEEDED = "needed"
    UNNEEDED = "not needed"
    UNKNOWN = "unknown"


def is_meant(program: CheckedProgram, rule: Rule) -> bool:
    """Nobody is to be told of conditions that the rule does not need."""
    return any(a.code == "W1001" and a.covers(rule.span) for a in program.allowances)


def need_of(
    program: CheckedProgram, rule: Rule, condition: ast.Expr, samples: int, seed: int
) -> Need:
    """Judge instances on which `condition` is false or unknown, until one refutes or there are as
    many as are wanted; `samples`: instances of the whole rule.  Most needed conditions show at
    once, some on one instance of a hundred: a warning has to wait for many."""
    others = tuple(other for other in rule.conditions if other is not condition)
    subject = make_subject(program, replace(rule, conditions=others))
    sampler = Sampler(subject, seed, avoid=condition)
    few, many = samples * _FIRST, samples * _ATTEMPTS
    meant = is_meant(program, rule)
    least = max(samples // 2, 1)
    wanted = least if meant else samples * _SURE
    judged = 0
    for attempt in range(many if meant else many * _SURE):
        if (attempt == few and not judged) or (attempt == many and judged < least):
            break
        instance = sampler.attempt()
        if instance is None or all(holds(condition, r.scope.env) is True for r in instance.rows):
            continue
        found = judge(subject, instance, seed + attempt)
        if found.mismatch is not None:
            return Need.NEEDED
        judged += found.method is not None
        if judged == wanted:
            return Need.UNNEEDED
    return Need.UNKNOWN
