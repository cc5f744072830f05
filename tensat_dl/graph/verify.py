"""Does the optimised model compute what the original does?

Enters: both models and the settings.  Leaves: a :class:`Verification`; :func:`require` turns a
failed one into a VerificationError.  Both run without onnxruntime's optimisations on the same
random inputs: `samples` seeds, symbolic dims at several sizes (1 among them), floats normal and
between 0 and 1 in turn, overridable initializers at their defaults and overridden in turn.  The
result must pass `onnx.checker` where the original does, and onnxruntime must load it with all
its optimisations on.  What depends on a random operator is compared by type and shape alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from tensat_dl.graph.check import checker_complaint
from tensat_dl.graph.compare import Difference, compare
from tensat_dl.graph.draws import draw
from tensat_dl.graph.feeds import Feed, FeedSearch
from tensat_dl.graph.randomness import random_outputs
from tensat_dl.graph.run import CannotRun, Runner, open_reference, open_runner
from tensat_dl.graph.slots import input_slots, override_slots
from tensat_dl.graph.source import Source, load_source
from tensat_dl.graph.verification import Mismatch, Verification, failed, require
from tensat_dl.settings import VerifySettings

if TYPE_CHECKING:
    import onnx_ir

__all__ = ["Mismatch", "Verification", "require", "verify"]


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
    complaint = checker_complaint(after.proto)
    if complaint and not checker_complaint(before.proto):
        return failed(f"onnx.checker refuses the optimised model: {complaint}")
    return _compare_models(before, after, settings, dims or {}, progress)


def _compare_models(
    before: Source,
    after: Source,
    settings: VerifySettings,
    dims: Mapping[str, int],
    progress: Callable[[int], None] | None,
) -> Verification:
    try:
        first = _open(before)
        search = FeedSearch(input_slots(before.proto), first, dims)
    except CannotRun as reason:
        return _skipped(before, after, f"the original model cannot be run: {reason}")
    try:
        second = open_runner(after) if first.name == "onnxruntime" else open_reference(after)
    except CannotRun as reason:
        return failed(f"the optimised model does not load: {reason}")
    comparison = _Comparison(before, first, second, search, settings.seed)
    for sample in range(settings.samples):
        comparison.run(sample)
        if progress is not None:
            progress(sample + 1)
    if not comparison.done:
        return _skipped(before, after, comparison.refusal)
    verdict = comparison.verdict()
    if verdict.ok and first.name == "onnxruntime" and (problem := _load_optimised(before, after)):
        return failed(problem)
    return verdict


@dataclass
class _Comparison:
    """Runs samples and remembers what they showed."""

    before: Source
    first: Runner
    second: Runner
    search: FeedSearch
    seed: int
    done: int = 0
    largest: float = 0.0
    mismatches: list[Mismatch] = field(default_factory=list)
    refusal: str = ""

    def __post_init__(self) -> None:
        self.random = random_outputs(self.before.proto)
        self.overridable = () if self.before.frozen else override_slots(self.before.proto)

    def run(self, sample: int) -> None:
        """Compare on one sample; one for which no input is found is left out."""
        try:
            feed = self._feed(sample)
        except CannotRun as reason:
            self.refusal = f"no input was found that the original model accepts: {reason}"
            return
        self.done += 1
        try:
            actual = self.second.run(feed.values)
        except CannotRun as reason:
            text = f"the optimised model fails where the original runs: {reason}"
            self.mismatches.append(Mismatch("", sample, text))
            return
        outputs = self.before.proto.graph.output
        for value, left, right in zip(outputs, feed.outputs, actual, strict=True):
            self._note(value.name, sample, self._difference(value, left, right))

    def verdict(self) -> Verification:
        """What all samples showed."""
        return Verification(
            self.done,
            self.largest,
            not self.mismatches,
            tuple(self.mismatches),
            self.refusal,
            self.first.name,
        )

    def _feed(self, sample: int) -> Feed:
        """Odd samples also override the initializers that may be."""
        feed = self.search.find(sample, self.seed + sample)
        if sample % 2 == 0 or not self.overridable:
            return feed
        rng = np.random.default_rng(self.seed + sample)
        values = {**feed.values, **draw(self.overridable, feed.plan, rng)}
        try:
            return Feed(values, self.first.run(values), feed.plan)
        except CannotRun:
            return feed

    def _difference(self, value: onnx.ValueInfoProto, left: Any, right: Any) -> Difference:
        if value.name in self.random:
            left, right = _shape_of(left), _shape_of(right)
        return compare(left, right, value.type.tensor_type.elem_type)

    def _note(self, name: str, sample: int, found: Difference) -> None:
        self.largest = max(self.largest, found.relative)
        if found.problem:
            mismatch = Mismatch(name, sample, found.problem, found.relative, found.index)
            self.mismatches.append(mismatch)


def _open(source: Source) -> Runner:
    try:
        return open_runner(source)
    except CannotRun as reason:
        first = str(reason)
    try:
        return open_reference(source)
    except CannotRun as reason:
        raise CannotRun(f"{first}; nor in the reference evaluator: {reason}") from None


def _skipped(before: Source, after: Source, reason: str) -> Verification:
    """A model that nothing can run is right where it is as it was."""
    if before.proto is after.proto or before.proto == after.proto:
        return Verification(0, 0.0, True, skipped=f"{reason} (the model is unchanged)")
    return Verification(0, 0.0, False, skipped=reason)


def _load_optimised(before: Source, after: Source) -> str:
    """Why the new model does not load with optimisations on; "" where the original neither."""
    try:
        open_runner(after, optimise=True)
    except CannotRun as reason:
        problem = f"the optimised model does not load with optimisations on: {reason}"
    else:
        return ""
    try:
        open_runner(before, optimise=True)
    except CannotRun:
        return ""
    return problem


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


def _shape_of(value: Any) -> Any:
    """Zeros of the same type and shape, so that only those are compared."""
    if isinstance(value, list | tuple):
        return [_shape_of(item) for item in value]
    return None if value is None else np.zeros_like(value)
