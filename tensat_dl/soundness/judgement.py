"""One instance judged: is the right side the left side there?

Enters: a subject and an instance.  Leaves: a :class:`Judgement`.

First modulo a prime, where agreement proves.  Where that cannot say, or the sides disagree (which
shows nothing of functions that stand as random ones), in float64 on numbers that are computed
without rounding where that is possible.  A rule that is not `@real` is also tried in the element
types themselves, with NaN, infinities, signed zeros and rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.soundness import arithmetic
from tensat_dl.soundness.arithmetic import (
    PRIME,
    Array,
    Reals,
    Residues,
    Scheme,
    Unsupported,
)
from tensat_dl.soundness.comparison import PARTIAL, Difference, first_difference
from tensat_dl.soundness.contents import Style, draw_contents
from tensat_dl.soundness.degree import degree
from tensat_dl.soundness.evaluator import Contents, Evaluator
from tensat_dl.soundness.instances import Instance, Root
from tensat_dl.soundness.mentioned import operators_of
from tensat_dl.soundness.rows import open_names
from tensat_dl.soundness.sides import evaluate_sides
from tensat_dl.soundness.subject import Subject
from tensat_dl.soundness.verdict import Method
from tensat_dl.vocabulary.types import TensorType, Type

#: How often an instance is evaluated modulo the prime: twice, and more often where many elements of
#: random functions might collide, until the error is below this.
_ROUNDS = range(2, 7)
_SMALL_ERROR = 1e-9


@dataclass(frozen=True)
class Mismatch:
    """The sides differ at `difference` of `root`, on `contents`, computed in `scheme`, where some
    function stood for each operator of `unknown`."""

    root: Root
    left: Array
    right: Array
    difference: Difference
    scheme: str
    style: Style
    contents: tuple[Contents, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """`method` None: it could not be evaluated, for `reason`.  `error`: the probability that
    sides that differ were taken for equal; 0 where the method gives none."""

    method: Method | None
    mismatch: Mismatch | None = None
    error: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Trial:
    """`told`: the left side was a number everywhere, so that agreement says something."""

    mismatch: Mismatch | None
    exact: bool
    told: bool = True


def judge(subject: Subject, instance: Instance, seed: int) -> Judgement:
    """Judge one instance."""
    try:
        found = _over_the_reals(subject, instance, seed)
        if found.mismatch is None:
            found = _at_the_extremes(subject, instance, seed, found)
        if found.mismatch is not None or subject.rule.real:
            return found
        mismatch = _as_computed(subject, instance, seed)
        return found if mismatch is None else Judgement(found.method, mismatch)
    except Unsupported as reason:
        return Judgement(None, reason=str(reason))


def _over_the_reals(subject: Subject, instance: Instance, seed: int) -> Judgement:
    proved = _prove(subject, instance, seed) if _has_floats(instance) else None
    if proved is not None:
        undefined = _where_undefined(subject, instance, seed)
        return proved if undefined is None else Judgement(Method.FLOAT64, undefined)
    exact, told = True, False
    styles = (Style.QUARTERS, Style.POSITIVE, Style.SMALL, Style.NORMAL)
    for number, style in enumerate(styles):
        trial = _try(subject, instance, arithmetic.reals(), style, seed + number)
        if trial.mismatch is not None:
            return Judgement(Method.EXACT if trial.exact else Method.FLOAT64, trial.mismatch)
        exact &= trial.exact
        told |= trial.told
    if not told:
        return Judgement(None, reason="no numbers were found for which the left side is defined")
    return Judgement(Method.EXACT if exact else Method.FLOAT64)


def _where_undefined(subject: Subject, instance: Instance, seed: int) -> Mismatch | None:
    """Residues have no quotient by zero: is the right side a number wherever the left side is?"""
    if not PARTIAL & operators_of(instance):
        return None
    trial = _try(subject, instance, arithmetic.reals(), Style.SMALL, seed)
    return trial.mismatch


def _at_the_extremes(
    subject: Subject, instance: Instance, seed: int, so_far: Judgement
) -> Judgement:
    """Integers wrap, in rules of either kind: also with the least and the largest ones."""
    if so_far.method is None or not _has_integers(instance):
        return so_far
    try:
        trial = _try(subject, instance, arithmetic.reals(), Style.EXTREME, seed)
    except Unsupported:  # no place to shift by, no count
        return so_far
    if trial.mismatch is None:
        return so_far
    return Judgement(Method.EXACT if trial.exact else Method.FLOAT64, trial.mismatch)


def _has_integers(instance: Instance) -> bool:
    """Some open integers may be any."""
    tensors, lists = open_names(instance.plan)
    for row in instance.rows:
        given = [(name, row.scope.tensors[name].type) for name in tensors]
        given += [(name, a.type) for name in lists for a in row.scope.lists[name]]
        if any(name not in row.spans and _is_free_integer(type_) for name, type_ in given):
            return True
    return False


def _is_free_integer(type_: Type) -> bool:
    return isinstance(type_, TensorType) and type_.dtype.is_integer and type_.value is None


def _prove(subject: Subject, instance: Instance, seed: int) -> Judgement | None:
    """Agreement modulo the prime, or None."""
    error = 1.0
    try:
        for number in range(_ROUNDS.stop - 1):
            if number >= _ROUNDS.start and error < _SMALL_ERROR:
                break
            scheme = arithmetic.residues(seed + number)
            trial = _try(subject, instance, scheme, Style.RESIDUES, seed + number)
            if trial.mismatch is not None:
                return None
            assert isinstance(scheme.floats, Residues)
            error *= _bound(instance, scheme.floats.applied)
    except Unsupported:
        return None
    return Judgement(Method.MODULAR, error=error)


def _bound(instance: Instance, applied: int) -> float:
    """Schwartz and Zippel for the answer, and for each pair of arguments of random functions that
    must not collide."""
    return min(1.0, degree(instance) * (1 + applied * (applied - 1) / 2) / PRIME)


def _as_computed(subject: Subject, instance: Instance, seed: int) -> Mismatch | None:
    for number, style in enumerate((Style.SPECIAL, Style.NORMAL)):
        trial = _try(subject, instance, arithmetic.native(), style, seed + number)
        if trial.mismatch is not None:
            return trial.mismatch
    return None


def _try(subject: Subject, instance: Instance, scheme: Scheme, style: Style, seed: int) -> Trial:
    contents = draw_contents(instance, style, scheme, np.random.default_rng(seed))
    return compare_on(subject, instance, scheme, style, contents)


def compare_on(
    subject: Subject,
    instance: Instance,
    scheme: Scheme,
    style: Style,
    contents: Sequence[Contents],
) -> Trial:
    """Evaluate and compare on given contents.  Raises Unsupported."""
    by = Evaluator(subject.answerer.typer, scheme)
    operators = operators_of(instance)
    with np.errstate(all="ignore"):
        try:
            found = evaluate_sides(instance, contents, by)
        except (IndexError, ValueError) as error:  # contents that an operator does not take
            raise Unsupported(str(error)) from None
        if isinstance(scheme.floats, Reals) and not all(_is_number(left) for _, left, _ in found):
            return Trial(None, scheme.is_exact, told=False)
        for root, left, right in found:
            difference = first_difference(left, right, scheme, operators)
            if difference is not None:
                mismatch = Mismatch(
                    root,
                    left,
                    right,
                    difference,
                    scheme.name,
                    style,
                    tuple(contents),
                    tuple(sorted(by.unknown)),
                )
                return Trial(mismatch, scheme.is_exact)
    return Trial(None, scheme.is_exact)


def _is_number(array: Array) -> bool:
    return array.dtype.kind != "f" or bool(np.all(np.isfinite(array)))


def _has_floats(instance: Instance) -> bool:
    """What is compared stood as residues."""
    types = [instance.type_of(root) for root in instance.roots]
    return all(isinstance(t, TensorType) and t.dtype.is_float for t in types)
