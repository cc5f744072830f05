"""Does the optimised model compute what the original does?

Enters: both models and the settings.  Leaves: a :class:`Verification`; :func:`require` turns a
failed one into a VerificationError.  Both run without onnxruntime's optimisations on the same
random inputs: `samples` seeds, symbolic dims at several sizes (1 among them), floats normal and
positive in turn, overridable initializers at their defaults and overridden in turn.  Then
onnxruntime loads the optimised model with all its optimisations on.  What depends on a random
operator is compared by type and shape alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from tensat_dl.errors import VerificationError
from tensat_dl.graph.compare import Difference, compare
from tensat_dl.graph.draws import draw
from tensat_dl.graph.feeds import Feed, FeedSearch
from tensat_dl.graph.randomness import random_outputs
from tensat_dl.graph.run import CannotRun, Runner, open_reference, open_runner
from tensat_dl.graph.slots import input_slots, override_slots
from tensat_dl.graph.source import Source, load_source
from tensat_dl.settings import VerifySettings

if TYPE_CHECKING:
    import onnx_ir


@dataclass(frozen=True)
class Mismatch:
    """One disagreement: the output ("" for the model as a whole), the sample (-1: none ran),
    and what is wrong with it, in words."""

    output: str
    sample: int
    problem: str
    relative: float = float("inf")
    index: tuple[int, ...] = ()

    def __str__(self) -> str:
        where = f" at {list(self.index)}" if self.index else ""
        what = f"output '{self.output}'{where}: " if self.output else ""
        return what + self.problem


@dataclass(frozen=True)
class Verification:
    """`samples`: how many were compared; `max_difference`: the largest relative difference of
    floats; `skipped`: what was not compared and why, "" where all was; `notes` for the report."""

    samples: int
    max_difference: float
    ok: bool
    mismatches: tuple[Mismatch, ...] = ()
    skipped: str = ""
    runner: str = ""


def verify(
    original: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    optimised: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    settings: VerifySettings,
    dims: Mapping[str, int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Compare two models; `dims` fixes symbolic dims, `progress` hears of each sample done."""
    if not settings.enabled:
        return Verification(0, 0.0, True, skipped="switched off")
    before = original if isinstance(original, Source) else load_source(original)
    after = optimised if isinstance(optimised, Source) else load_source(optimised)
    mismatches = _compare_interfaces(before.proto, after.proto)
    if mismatches:
        return Verification(0, float("inf"), False, mismatches)
    try:
        first = _open(before)
    except CannotRun as reason:
        return Verification(0, 0.0, False, skipped=f"the original model cannot be run: {reason}")
    try:
        second = open_reference(after) if first.name != "onnxruntime" else open_runner(after)
    except CannotRun as reason:
        return _failed(f"the optimised model does not load: {reason}")
    comparison = _Comparison(
        before, first, second, settings, dict(dims or {}), random_outputs(before.proto)
    )
    return comparison.run(after, progress)


def require(verification: Verification) -> None:
    """Raise VerificationError unless the models were compared and agree."""
    if verification.ok:
        return
    if not verification.mismatches:
        raise VerificationError(
            f"the result could not be verified: {verification.skipped}",
            help="--no-check writes it unverified",
        )
    worst = verification.mismatches[0]
    more = len(verification.mismatches) - 1
    also = f" (and {more} more)" if more else ""
    raise VerificationError(
        f"the optimised model does not compute what the original does: {worst}{also}",
        help="nothing was written; a rule is wrong, or its condition is",
    )


@dataclass
class _Comparison:
    before: Source
    first: Runner
    second: Runner
    settings: VerifySettings
    dims: dict[str, int]
    random: frozenset[str]

    def run(self, after: Source, progress: Callable[[int], None] | None) -> Verification:
        try:
            slots = input_slots(self.before.proto)
        except CannotRun as reason:
            return Verification(0, 0.0, False, skipped=str(reason), runner=self.first.name)
        search = FeedSearch(slots, self.first, self.dims)
        found: list[Mismatch] = []
        largest = 0.0
        done = 0
        for sample in range(self.settings.samples):
            try:
                feed = self._feed(search, sample)
            except CannotRun as reason:
                text = f"no input was found that the original model accepts: {reason}"
                return Verification(done, largest, False, (), text, self.first.name)
            differences, mismatches = self._compare(feed, sample)
            largest = max([largest, *(d.relative for d in differences)])
            found += mismatches
            done += 1
            if progress is not None:
                progress(done)
        found += self._load_optimised(after)
        return Verification(done, largest, not found, tuple(found), runner=self.first.name)

    def _feed(self, search: FeedSearch, sample: int) -> Feed:
        """Odd samples also override the initializers that may be."""
        feed = search.find(sample, self.settings.seed + sample)
        overridable = override_slots(self.before.proto)
        if sample % 2 == 0 or not overridable:
            return feed
        rng = np.random.default_rng(self.settings.seed + sample)
        values = {**feed.values, **draw(overridable, feed.plan, rng)}
        try:
            return Feed(values, self.first.run(values), feed.plan)
        except CannotRun:
            return feed

    def _compare(self, feed: Feed, sample: int) -> tuple[list[Difference], list[Mismatch]]:
        outputs = self.before.proto.graph.output
        try:
            actual = self.second.run(feed.values)
        except CannotRun as reason:
            text = f"the optimised model fails where the original runs: {reason}"
            return [], [Mismatch("", sample, text)]
        differences, mismatches = [], []
        for value, left, right in zip(outputs, feed.outputs, actual, strict=True):
            if value.name in self.random:
                left, right = _shape_of(left), _shape_of(right)
            difference = compare(left, right, value.type.tensor_type.elem_type)
            differences.append(difference)
            if difference.problem:
                mismatches.append(_mismatch(value.name, sample, difference))
        return differences, mismatches

    def _load_optimised(self, after: Source) -> list[Mismatch]:
        if self.first.name != "onnxruntime":
            return []
        try:
            open_runner(after, optimise=True)
        except CannotRun as reason:
            return self._blame_optimiser(str(reason))
        return []

    def _blame_optimiser(self, reason: str) -> list[Mismatch]:
        """The original may not load with optimisations either: then it is no fault of ours."""
        try:
            open_runner(self.before, optimise=True)
        except CannotRun:
            return []
        text = f"the optimised model does not load with onnxruntime's optimisations on: {reason}"
        return [Mismatch("", -1, text)]


def _open(source: Source) -> Runner:
    try:
        return open_runner(source)
    except CannotRun as reason:
        first = str(reason)
    try:
        return open_reference(source)
    except CannotRun as reason:
        raise CannotRun(f"{first}; nor in the reference evaluator: {reason}") from None


def _compare_interfaces(before: onnx.ModelProto, after: onnx.ModelProto) -> tuple[Mismatch, ...]:
    left, right = before.graph.output, after.graph.output
    if [value.name for value in left] != [value.name for value in right]:
        names = ", ".join(value.name for value in right) or "none"
        wanted = ", ".join(value.name for value in left)
        return (Mismatch("", -1, f"the outputs are {names} instead of {wanted}"),)
    return tuple(
        Mismatch(one.name, -1, f"element type {_type_name(one)} became {_type_name(other)}")
        for one, other in zip(left, right, strict=True)
        if _type_name(one) != _type_name(other)
    )


def _type_name(value: onnx.ValueInfoProto) -> str:
    code = value.type.tensor_type.elem_type
    return str(onnx.TensorProto.DataType.Name(code)).lower() if code else "no tensor"


def _mismatch(name: str, sample: int, difference: Difference) -> Mismatch:
    return Mismatch(name, sample, difference.problem, difference.relative, difference.index)


def _failed(text: str) -> Verification:
    return Verification(0, float("inf"), False, (Mismatch("", -1, text),))


def _shape_of(value: Any) -> Any:
    """Zeros of the same type and shape, so that only those are compared."""
    if isinstance(value, list | tuple):
        return [_shape_of(item) for item in value]
    return None if value is None else np.zeros_like(value)
