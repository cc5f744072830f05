"""Does the optimised model compute what the original does?

Enters: both models and the settings.  Leaves: a :class:`Verification`; :func:`require` turns a
failed one into a VerificationError.  Both run without onnxruntime's optimisations on the same
inputs: those of `input_data`, else `samples` random ones, symbolic dims at several sizes (1 among
them), floats normal and between 0 and 1 in turn, overridable initializers at their defaults and
overridden in turn.  Where outputs are saturated, what they are made of is compared too.  The
result must pass `onnx.checker` where the original does, and onnxruntime must load it with all its
optimisations on.  What depends on a random operator is compared by type and shape alone; of models
with unknown operators the parts between them are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from tensat_dl.errors import UsageError
from tensat_dl.graph.interface import element_code
from tensat_dl.graph.randomness import random_outputs
from tensat_dl.graph.running.beside import Divided
from tensat_dl.graph.running.run import (
    CannotRun,
    OrtRunner,
    Runner,
    open_reference,
    open_runner,
    try_optimised,
)
from tensat_dl.graph.source import Source, load_source
from tensat_dl.graph.verifying.check import checker_complaint
from tensat_dl.graph.verifying.feeds import FeedSearch
from tensat_dl.graph.verifying.given import read_given, sizes_of
from tensat_dl.graph.verifying.parts import cut
from tensat_dl.graph.verifying.precision import coarsest_types
from tensat_dl.graph.verifying.probes import find_probes
from tensat_dl.graph.verifying.sampling import Comparison, Samples, Shown, take_samples
from tensat_dl.graph.verifying.slots import inputs_to_feed, override_slots
from tensat_dl.graph.verifying.verification import Mismatch, Verification, failed, require
from tensat_dl.sentences import shortened
from tensat_dl.settings import VerifySettings
from tensat_dl.vocabulary.dims import is_unknown
from tensat_dl.vocabulary.types import TensorType, Type

if TYPE_CHECKING:
    import onnx_ir

__all__ = ["Mismatch", "Verification", "require", "verify"]

#: So many things that were not compared are named.
_NAMED = 6


def verify(
    original: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    optimised: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    settings: VerifySettings,
    dims: Mapping[str, int] | None = None,
    progress: Callable[[int], None] | None = None,
    types: Mapping[str, Type] | None = None,
) -> Verification:
    """Compare two models; `dims` fixes symbolic dims, `progress` hears of each sample done,
    `types` are those of the original's values."""
    if not settings.enabled:
        return Verification(0, 0.0, True, skipped="switched off")
    before, after = load_source(original), load_source(optimised)
    mismatches = _compare_interfaces(before.proto, after.proto)
    if mismatches:
        return Verification(0, float("inf"), False, mismatches)
    complaint = checker_complaint(after.proto)
    if complaint and not checker_complaint(before.proto):
        return failed(f"onnx.checker refuses the optimised model: {complaint}")
    return _Verifier(before, after, settings, dims or {}, progress, types or {}).verdict()


@dataclass(frozen=True)
class _Verifier:
    before: Source
    after: Source
    settings: VerifySettings
    dims: Mapping[str, int]
    progress: Callable[[int], None] | None
    types: Mapping[str, Type]

    def verdict(self) -> Verification:
        """The models as a whole where the original runs, else the parts of them that do."""
        probes = find_probes(self.before.proto, self.after.proto)
        try:
            first = _open(self.before, [probe.before for probe in probes])
        except CannotRun as reason:
            return self._in_parts(f"the original model cannot be run: {reason}")
        opener = _opener_like(first)
        taken = self._sampled(self.before, first)
        if self.before.proto is self.after.proto:
            return self._unchanged(taken, first.name)
        del first
        try:
            second = opener(self.after, also=[probe.after for probe in probes])
        except CannotRun as reason:
            return failed(f"the optimised model does not load: {reason}")
        found = self._compared(
            Comparison(_outputs_of(self.before.proto, self.types), probes, second), taken
        )
        if found.ok and found.samples and isinstance(second, OrtRunner):
            problem = self._load_optimised(second.divided)
            return failed(problem) if problem else found
        return found

    def _unchanged(self, taken: Samples, runner: str) -> Verification:
        """It runs, and what it computes it would compute again."""
        if not taken.feeds:
            return self._skipped(taken.refusal)
        for number, _ in taken.feeds:
            self._tell_done(number)
        return Verification(len(taken.feeds), 0.0, True, (), taken.refusal, runner)

    def _tell_done(self, number: int) -> None:
        if self.progress is not None:
            self.progress(number + 1)

    def _in_parts(self, reason: str) -> Verification:
        if self.before.proto is self.after.proto:
            return self._skipped(reason)
        parts = cut(self.before, self.after, self.types)
        if parts is None:
            return self._skipped(reason)
        try:
            first = _open(parts.before)
            opener, taken = _opener_like(first), self._sampled(parts.before, first)
        except CannotRun:
            return self._skipped(reason)
        del first
        try:
            second = opener(parts.after)
        except CannotRun as problem:
            return failed(f"parts of the optimised model do not load: {problem}")
        random = random_outputs(parts.before.proto)
        names = (value.name for value in parts.before.proto.graph.output)
        shown = [
            Shown(name, random=name in random, label=label)
            for name, label in zip(names, parts.labels, strict=True)
        ]
        missing = f"not compared: {shortened(parts.missing, _NAMED)} ({reason})"
        return self._compared(Comparison(shown, (), second), taken, missing)

    def _sampled(self, before: Source, runner: Runner) -> Samples:
        """What the original makes of the inputs that are given, else of random ones."""
        given = read_given(self.settings.input_data, self.before.proto)
        try:
            inputs = inputs_to_feed(before.proto, given)
        except CannotRun as reason:
            return Samples((), f"the original model cannot be run: {reason}")
        sizes = {**sizes_of(given, before.proto), **self.dims}
        overridable = () if before.frozen else override_slots(before.proto)
        free = tuple(slot for slot in overridable if slot.name not in given)
        search = FeedSearch(inputs, runner, sizes, given)
        count = self.settings.samples if inputs.slots or not given else 1
        taken = take_samples(count, search, free, self.settings.seed)
        if given and not taken.feeds:
            raise UsageError(f"{self.settings.input_data}: {taken.refusal}")
        return taken

    def _compared(self, comparison: Comparison, taken: Samples, missing: str = "") -> Verification:
        if not taken.feeds:
            return self._skipped(taken.refusal)
        for number, feed in taken.feeds:
            comparison.check(number, feed)
            self._tell_done(number)
        return comparison.verdict([taken.refusal, missing])

    def _load_optimised(self, divided: Divided | None) -> str:
        """Why the new model does not load with optimisations on; "" where the original neither."""
        try:
            try_optimised(self.after, divided)
        except CannotRun as reason:
            problem = f"the optimised model does not load with optimisations on: {reason}"
        else:
            return ""
        try:
            try_optimised(self.before)
        except CannotRun:
            return ""
        return problem

    def _skipped(self, reason: str) -> Verification:
        """A model that nothing can run is right where it is as it was."""
        if self.before.proto is self.after.proto or self.before.proto == self.after.proto:
            return Verification(0, 0.0, True, skipped=f"{reason} (the model is unchanged)")
        return Verification(0, 0.0, False, skipped=reason)


def _outputs_of(proto: onnx.ModelProto, types: Mapping[str, Type]) -> list[Shown]:
    """The outputs, each to be as precise as the coarsest of what it is computed from."""
    random, coarsest = random_outputs(proto), coarsest_types(proto, types)
    return [
        Shown(
            value.name,
            coarsest.get(value.name, element_code(value.type)),
            value.name in random,
            _may_vary(types.get(value.name)),
        )
        for value in proto.graph.output
    ]


def _may_vary(type_: Type | None) -> bool:
    """The shape of such a value may depend on more than those of the inputs."""
    if not isinstance(type_, TensorType):
        return type_ is not None
    return type_.dims is None or any(map(is_unknown, type_.dims))


def _opener_like(runner: Runner) -> Callable[..., Runner]:
    """What opens a model in the same runtime."""
    return open_runner if runner.name == "onnxruntime" else open_reference


def _open(source: Source, also: Sequence[str] = ()) -> Runner:
    try:
        return open_runner(source, also=also)
    except CannotRun as reason:
        first = str(reason)
    try:
        return open_reference(source, also=also)
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
    if not code:
        return "no tensor"
    known = code in onnx.TensorProto.DataType.values()
    return str(onnx.TensorProto.DataType.Name(code)).lower() if known else f"number {code}"
