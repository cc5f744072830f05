"""Which unusual choices met in the instances so far, so that the next attempt brings together two
others.

Enters: choices of kinds (which operand is broadcast along an axis, is a stride more than 1, ..) as
an attempt makes them, and whether it became an instance.  Leaves: for each choice one of its
options.  A rule is mostly wrong where one or two choices are unusual.  So each attempt aims at a
choice, or a pair of choices, that was in no instance yet, and leaves the rest mostly as it is
usual: what is unusual everywhere fits nowhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

#: What is chosen: the place in the rule, and of what.
Factor = tuple[str, str]
Choice = tuple[Factor, Hashable]

_T = TypeVar("_T", bound=Hashable)

#: Attempts that are drawn without a design; the others are, where these become instances so many
#: times as often.
_FREE, _MUCH = 0.2, 3
#: How often a choice that is not aimed at is the usual one.
_USUAL = 0.85
#: What an aim counts for: one choice; two of a kind, at different places; any two.
_ALONE, _OF_A_KIND, _ANY = 4.0, 3.0, 1.0
#: What is left of that after each attempt that failed with it, and when it is given up.
_FADING, _LEAST = 0.7, 0.1
#: Choices of one rule that are looked at.
_MOST = 60


@dataclass
class Design:
    """`free`: the share of attempts without a design; `chosen`: the choices of this attempt so
    far; `_aims`: what no instance had yet, and what it counts for;
    `_aim`: that of this attempt; `_tries`, `_hits`: attempts and instances, apart for
    those with a design and those without."""

    random: Random
    free: float = _FREE
    chosen: list[Choice] = field(default_factory=list)
    _known: dict[Choice, None] = field(default_factory=dict)
    _aims: dict[frozenset[Choice], float] = field(default_factory=dict)
    _aim: frozenset[Choice] = frozenset()
    _designed: bool = True
    _tries: Counter[bool] = field(default_factory=Counter)
    _hits: Counter[bool] = field(default_factory=Counter)

    def begin(self) -> bool:
        """A new attempt; whether it is to be designed."""
        self.chosen.clear()
        seldom = self._yield(designed=False) > _MUCH * self._yield(designed=True)
        self._designed = self.random.random() >= (1 - _FREE if seldom else self.free)
        self._tries[self._designed] += 1
        best = max(self._aims.values(), default=0.0) if self._designed else 0.0
        likely = [aim for aim, weight in self._aims.items() if weight == best]
        self._aim = self.random.choice(likely) if likely else frozenset()
        return self._designed

    def choose(self, factor: Factor, options: Sequence[_T]) -> _T:
        """One of the options; the usual one is that which stands there most often."""
        counts = Counter(options)
        [(usual, most), *others] = counts.most_common()
        has_usual = not others or others[0][1] < most
        self._learn(factor, [o for o in counts if not (has_usual and o == usual)])
        aimed = [option for option in counts if (factor, option) in self._aim]
        if aimed:
            chosen = aimed[0]
        elif has_usual and self.random.random() < _USUAL:
            chosen = usual
        else:
            chosen = self.random.choice(options)
        self.chosen.append((factor, chosen))
        return chosen

    def failed(self) -> None:
        """The attempt became no instance."""
        left = self._aims.get(self._aim, 0.0) * _FADING
        if left >= _LEAST:
            self._aims[self._aim] = left
        else:
            self._aims.pop(self._aim, None)

    def found(self) -> None:
        """The attempt became an instance."""
        self._hits[self._designed] += 1
        self.failed()  # what was aimed at may not have been at hand
        unusual = [choice for choice in self.chosen if choice in self._known]
        for place, choice in enumerate(unusual):
            for other in unusual[: place + 1]:
                self._aims.pop(frozenset((choice, other)), None)

    def _yield(self, *, designed: bool) -> float:
        """How many attempts became instances, a little drawn to one half."""
        return (self._hits[designed] + 1) / (self._tries[designed] + 2)

    def _learn(self, factor: Factor, unusual: Sequence[Hashable]) -> None:
        """What may be aimed at from now on."""
        for option in unusual:
            choice = factor, option
            if choice in self._known or len(self._known) == _MOST:
                continue
            self._aims[frozenset((choice,))] = _ALONE
            for other in self._known:
                if other[0] != factor:
                    self._aims[frozenset((choice, other))] = _weight(factor, other[0])
            self._known[choice] = None


def _weight(one: Factor, other: Factor) -> float:
    """What a pair counts for: more where one goes for all places, or they are of a kind."""
    everywhere = not (one[0] and other[0])
    return _OF_A_KIND if everywhere or one[1] == other[1] else _ANY
