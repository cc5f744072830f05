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


class Need(Enum):
    """Whether a rule needs a condition."""

    NEEDED = "needed"
    UNNEEDED = "not needed"
    UNKNOWN = "unknown"


def need_of(
    program: CheckedProgram, rule: Rule, condition: ast.Expr, samples: int, seed: int
) -> Need:
    """Judge up to `samples` instances on which `condition` is false or unknown."""
    others = tuple(other for other in rule.conditions if other is not condition)
    subject = make_subject(program, replace(rule, conditions=others))
    sampler = Sampler(subject, seed, avoid=condition)
    judged = 0
    for attempt in range(samples * _ATTEMPTS):
        if not judged and attempt == samples * _FIRST:
            break
        instance = sampler.attempt()
        if instance is None or all(holds(condition, r.scope.env) is True for r in instance.rows):
            continue
        found = judge(subject, instance, seed + attempt)
        if found.mismatch is not None:
            return Need.NEEDED
        judged += found.method is not None
        if judged == samples:
            return Need.UNNEEDED
    return Need.UNKNOWN
