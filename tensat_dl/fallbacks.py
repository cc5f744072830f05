"""Another answer where one is wrong, and no rule need be to blame for that.

Enters: a run whose answer was compared with the original, and what makes another run of the same
model.  Leaves: the first run whose answer is right, else that which entered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import Settings
from tensat_dl.story import Run
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

#: The notes of answers without rules over the reals, and without any.
_EXACT = (
    "the model makes NaN, infinities or sums that cancel, which rules over the real numbers alone "
    "do not keep: they are left out, as with --set rules.exact=true"
)
_NO_RULE = (
    "the model makes NaN, infinities or sums that cancel, and which of them depends on where the "
    "runtime rounds half floats: no rule is applied"
)
_NO_BODIES = (
    "what rules made inside control flow is not right there, or the runtime refuses it: it is left "
    "out, as with --set rules.bodies=false"
)
_HALF = (DType.F16, DType.BF16)


class Again(Protocol):
    """All stages once more, of the same model."""

    def __call__(
        self, program: CheckedProgram, settings: Settings, *, doubted: bool = False
    ) -> Run:
        """The run; `doubted`: what the model declares of its inner types is not believed."""
        ...


def fall_back(run: Run, program: CheckedProgram, settings: Settings, again: Again) -> Run:
    """The run, or one that is right where it is wrong."""
    if _is_misled(run):
        another = again(program, settings, doubted=True)
        run = another if another.accepted.verification.ok else run
    if run.original.source.improved and _is_lost(run):
        run = _without_bodies(run, program, settings, again)
    return _with_fewer_rules(run, program, settings, again) if _is_beyond_reals(run) else run


def _is_lost(run: Run) -> bool:
    """The answer is wrong, or the model stays as it was although bodies in it are better."""
    return bool(run.accepted.verification.mismatches) or not run.accepted.candidate.changed


def _without_bodies(run: Run, program: CheckedProgram, settings: Settings, again: Again) -> Run:
    """The run whose bodies of control flow are as they were, where that is right, or is more."""
    outer = replace(settings, rules=replace(settings.rules, bodies=False))
    another = again(program, outer, doubted=run.original.source.doubted)
    right, more = another.accepted.verification.ok, another.accepted.candidate.changed
    if not right or (run.accepted.verification.ok and not more):
        return run
    return replace(another, notes=(_NO_BODIES, *another.notes))


def _is_misled(run: Run) -> bool:
    """The answer is wrong, and the model's own word on types may be why."""
    return bool(run.accepted.verification.mismatches and run.original.source.believed)


def _is_beyond_reals(run: Run) -> bool:
    """The answer is wrong where the real numbers do not tell why: no rule need be."""
    return any(mismatch.beyond_reals for mismatch in run.accepted.verification.mismatches)


def _with_fewer_rules(run: Run, program: CheckedProgram, settings: Settings, again: Again) -> Run:
    """The answer without rules over the reals; of half floats, which onnxruntime rounds where its
    nodes end, else without any; `run` where none is right."""
    exact = replace(settings, rules=replace(settings.rules, exact=True))
    trials = [(program, exact, _EXACT)]
    if any(isinstance(t, TensorType) and t.dtype in _HALF for t in run.original.types.values()):
        trials.append((replace(program, schedule=()), settings, _NO_RULE))
    for kept, chosen, note in trials:
        another = again(kept, chosen)
        if another.accepted.verification.ok:
            return replace(another, notes=(note, *another.notes))
    return run
