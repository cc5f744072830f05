"""Rounds of a comparison: how many, how long, and what their ratios tell.

Enters: what times two models once.  Leaves: pairs of seconds, and an interval for the median of
their ratios that holds however often one looks, so that rounds end as soon as it tells enough.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tensat_dl.cost.measured.timer import Clock

#: The chance that all that is said of two models is wrong: intervals are those of 95 %.
ERROR = 0.05
#: A gain below this share is none: it is not worth another model.
GAIN = 0.005
#: As many rounds as are worth while.
MOST = 60
#: A round takes so many seconds or so many runs of each, whichever is less, but at least one run.
_SECONDS, _ENOUGH = 0.01, 50
#: The fewest rounds that tell anything may take the seconds that were given so many times.
_OVER = 1.5


def fewest(error: float) -> int:
    """How many rounds an interval takes that misses the median with a chance of `error`."""
    count = 1
    while 2**count * error < count + 1:
        count += 1
    return count


@dataclass(frozen=True)
class Allowance:
    """Rounds may take `seconds`, the fewest that tell anything up to `most`; their interval misses
    the median with a chance of `error`."""

    seconds: float
    most: float
    error: float = ERROR

    @classmethod
    def of(cls, seconds: float) -> Allowance:
        """That of a comparison in `seconds`."""
        return cls(seconds, _OVER * seconds)

    def half(self) -> Allowance:
        """That of the first of two comparisons, which share time and error."""
        return Allowance(self.seconds / 2, self.most, self.error / 2)

    def rest(self, spent: float) -> Allowance:
        """That of the second, after the first took `spent` seconds."""
        return Allowance(self.seconds - spent, self.most - spent, self.error / 2)

    def after(self, spent: float) -> Allowance:
        """What is left when `spent` seconds went into runs that are no rounds."""
        return Allowance(self.seconds - spent, self.most - spent, self.error)

    def suffices(self, once: float) -> bool:
        """Is there time for the fewest rounds, where one takes `once` seconds?"""
        return fewest(self.error) * once <= self.most


def interval(ordered: Sequence[float], error: float = ERROR) -> tuple[float, float]:
    """Bounds of the median of what `ordered` was drawn from, but for a chance of `error`.

    They hold at all numbers of rounds at once, so that one may stop when they please.  Of n values
    k are below the median with the chance C(n, k) / 2^n; below another quantile, any of which is
    as likely, with 1 / (n + 1).  The second divided by the first ever exceeds 1 / a with a chance
    of a at most (Ville 1939; Robbins 1970), so that a value where it does is not the median.
    """
    count = len(ordered)
    below = 0
    while 2**count * error >= (count + 1) * math.comb(count, below):
        below += 1
    if not below:
        return 0.0, math.inf
    return ordered[below - 1], ordered[count - below]


def is_gain(low: float, ratio: float) -> bool:
    """Is the new model faster, not by chance, and by a share that is worth while?"""
    return low > 1.0 and ratio >= 1.0 + GAIN


def is_clear(low: float, ratio: float, high: float) -> bool:
    """Would more rounds tell no more?"""
    return is_gain(low, ratio) or high < 1.0 + GAIN


def take_rounds(
    round_of: Callable[[Sequence[int]], tuple[float, float]], allowance: Allowance
) -> list[tuple[float, float]]:
    """Pairs of seconds until they tell enough or time is up, maybe too few to tell anything;
    `round_of` times both models, in the order that it is given."""
    order = random.Random(0)
    started = time.monotonic()
    found: list[tuple[float, float]] = []
    enough = fewest(allowance.error)
    while len(found) < MOST:
        spent = time.monotonic() - started
        if spent >= (allowance.seconds if len(found) >= enough else allowance.most):
            break
        if len(found) == 1 and not allowance.suffices(spent):
            break
        found.append(round_of(order.sample((0, 1), 2)))
        ratios = sorted(before / after for before, after in found)
        low, high = interval(ratios, allowance.error)
        if is_clear(low, median(ratios), high):
            break
    return found


def least_in_turns(
    runs: Sequence[Callable[[], object]], clock: Clock, order: Sequence[int]
) -> tuple[float, float]:
    """The least seconds of each of two in one round."""
    best = [math.inf, math.inf]
    end = time.perf_counter() + _SECONDS
    for _ in range(_ENOUGH):
        for place in order:
            best[place] = min(best[place], seconds_of(runs[place], clock))
        if time.perf_counter() > end:
            break
    return best[0], best[1]


def seconds_of(run: Callable[[], object], clock: Clock) -> float:
    """What one run takes by `clock`."""
    started = clock()
    run()
    return clock() - started
