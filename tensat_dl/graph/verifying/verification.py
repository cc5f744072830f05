"""The verdict on an optimised model, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensat_dl.errors import VerificationError
from tensat_dl.sentences import shortened

#: So many rules are named where the models disagree.
_SUSPECTS = 8


@dataclass(frozen=True)
class Mismatch:
    """One disagreement: the output ("" for the model as a whole), the sample (-1: none ran),
    and what is wrong with it, in words.  `relative`, `index` and `beyond_reals` as in
    `compare`.  `label` is the name in messages of what is no output of the whole model."""

    output: str
    sample: int
    problem: str
    relative: float = float("inf")
    index: tuple[int, ...] = ()
    label: str = ""
    beyond_reals: bool = False

    def __str__(self) -> str:
        where = f" at {list(self.index)}" if self.index else ""
        what = self.label or (f"output '{self.output}'" if self.output else "")
        what = f"{what}{where}: " if what else ""
        return what + self.problem


@dataclass(frozen=True)
class Verification:
    """`samples`: how many were compared; `max_difference`: the largest relative difference of
    floats; `skipped`: what was not compared or tells little, and why, else ""; `runner` ran the
    models; `refused`: why the checker or the runtime does not take the new model, though they
    take the original, "" where they do.  What they take and what fails on its way is no refusal,
    unless it has an operator that the runtime has no code for."""

    samples: int
    max_difference: float
    ok: bool
    mismatches: tuple[Mismatch, ...] = ()
    skipped: str = ""
    runner: str = ""
    refused: str = ""


def failed(problem: str) -> Verification:
    """The verdict where the new model is refused, so that there is nothing to compare."""
    return Verification(0, float("inf"), False, (Mismatch("", -1, problem),), refused=problem)


def require(verification: Verification, rules: Sequence[str] = ()) -> None:
    """Raise VerificationError unless the models were compared and agree; `rules` are those that
    could be at fault."""
    if verification.ok:
        return
    if not verification.mismatches:
        raise VerificationError(
            f"the result could not be verified: {verification.skipped}",
            help="--input-data gives inputs that it accepts; --no-check writes it unverified",
        )
    worst = verification.mismatches[0]
    more = len(verification.mismatches) - 1
    also = f" (and {more} more)" if more else ""
    raise VerificationError(
        f"the optimised model does not compute what the original does: {worst}{also}",
        help=f"nothing was written; a rule is wrong, or its condition is{_suspects(rules)}",
    )


def _suspects(rules: Sequence[str]) -> str:
    if not rules:
        return ""
    return f"; applied were {shortened([f'`{rule}`' for rule in rules], _SUSPECTS)}"
