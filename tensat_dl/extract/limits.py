"""Limits on what is chosen: bytes of weights, nodes of an operator.

Enters: a problem with its measures, the settings.  Leaves: limits as weights of nodes, and words
for people where nothing fits them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.errors import InfeasibleError, UsageError
from tensat_dl.extract.problem import (
    NODES,
    WEIGHT_BYTES,
    Extraction,
    FloatArray,
    IntArray,
    LimitRecord,
    Problem,
    Selection,
    StopReason,
)
from tensat_dl.settings import ExtractSettings
from tensat_dl.suggest import closest

_ROUNDING = 1e-9
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


@dataclass(frozen=True)
class Limit:
    """The `weights` (one a node of the problem) of the chosen nodes sum to at most `at_most`;
    `words` says such a sum."""

    text: str
    weights: FloatArray
    at_most: float
    words: Callable[[float], str] = "{:g}".format

    def used(self, nodes: IntArray) -> float:
        """What some nodes sum to."""
        return float(self.weights[nodes].sum())

    def admits(self, nodes: IntArray) -> bool:
        """Whether they keep to the limit."""
        return self.used(nodes) <= self.at_most * (1.0 + _ROUNDING)


def limits_of(problem: Problem, settings: ExtractSettings) -> tuple[Limit, ...]:
    """The limits that the settings put on a problem.  Raises UsageError where the problem does
    not know what is to be limited."""
    found = [_of_operator(problem, name, most) for name, most in settings.at_most.items()]
    if settings.max_weight_bytes:
        weights = problem.measures.get(WEIGHT_BYTES)
        if weights is None:
            raise UsageError(
                "`extract.max_weight_bytes` is set, but this e-graph does not say which tensors "
                "are weights",
                help="leave it out; `tensat-dl run` knows them",
            )
        most = settings.max_weight_bytes
        found.append(Limit(f"weights of at most {in_bytes(most)}", weights, float(most), in_bytes))
    return tuple(found)


def unknown_operators(problem: Problem, settings: ExtractSettings) -> list[str]:
    """Warnings about operators to be limited that the e-graph does not have."""
    known = {operator for name in set(problem.node_name) for operator in _operators(name)}
    warnings = []
    for name in settings.at_most:
        if name not in known:
            close = closest(name, sorted(known))
            hint = f"; did you mean `{close}`?" if close else ""
            warnings.append(f"`extract.at_most.{name}`: no e-node is a `{name}`{hint}")
    return warnings


def records(limits: Sequence[Limit], nodes: IntArray | None) -> tuple[LimitRecord, ...]:
    """What the report says of limits, and of what a selection takes of them."""
    return tuple(
        LimitRecord(limit.text, limit.at_most, None if nodes is None else limit.used(nodes))
        for limit in limits
    )


def require_selection(extraction: Extraction, what: str = "no acyclic graph") -> Selection:
    """The selection of an extraction.  Raises InfeasibleError where there is none: `what` could
    not be had."""
    if extraction.selection is None:
        raise _no_selection(extraction, what)
    return extraction.selection


def _no_selection(extraction: Extraction, what: str) -> InfeasibleError:
    within = ", ".join(limit.text for limit in extraction.limits)
    proven = extraction.stopped is StopReason.PROVEN
    if not within:
        return InfeasibleError(
            f"{what} ({extraction.stopped.value})",
            help="every way to build the roots goes through a loop"
            if proven
            else "give it more time with `extract.seconds`",
        )
    least = "; ".join(extraction.warnings)
    if proven:
        return InfeasibleError(
            f"{what} within the limits: {within}" + (f"; {least}" if least else ""),
            help="raise `extract.at_most` or `extract.max_weight_bytes`",
        )
    return InfeasibleError(
        f"{what} was found within the limits: {within} ({extraction.stopped.value})",
        help="raise the limits, or give it more time with `extract.seconds`",
    )


def in_bytes(count: float) -> str:
    """Bytes in the largest unit that they fill."""
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count:.0f} bytes"


def _of_operator(problem: Problem, operator: str, most: int) -> Limit:
    counts = [_operators(name).count(operator) for name in problem.node_name]
    weights = np.array(counts or [0] * problem.nodes, dtype=np.float64)
    weights[problem.measure(NODES) == 0.0] = 0.0
    return Limit(f"at most {most} {operator}", weights, float(most))


def _operators(name: str) -> list[str]:
    """The operators of a node's name: several where they run as one (`Conv+Relu`); other engines
    write arguments behind it."""
    return name.partition("(")[0].strip().split("+")
