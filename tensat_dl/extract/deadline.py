"""The overall time budget of an extraction.

One deadline is made at the start and handed down; long loops ask it, so that no stage can spend
another one's time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
_STRIDE = 512


class OutOfTime(Exception):
    """The budget is spent; whoever holds an incumbent returns it."""


@dataclass(frozen=True)
class Deadline:
    """`seconds` from the moment of construction; `clock` is a test seam."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    started: float = field(default=-1.0)

    def __post_init__(self) -> None:
        if self.started < 0:
            object.__setattr__(self, "started", self.clock())

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.seconds - self.elapsed)

    def check(self) -> None:
        """Raise OutOfTime when nothing is left."""
        if self.elapsed >= self.seconds:
            raise OutOfTime

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """The same items, looking at the clock now and then."""
        for count, item in enumerate(items):
            if count % _STRIDE == 0:
                self.check()
            yield item
