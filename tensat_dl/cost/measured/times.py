"""Seconds by signature, those that must be the same shared.

Enters: measurements.  Leaves: the least seconds of each signature.  Signatures of which the runtime
makes the same have one key, and the least of all their times: what noise alone would tell apart is
a tie, which other measures than time then break.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Times:
    """All that is known under one setting."""

    _seconds: dict[str, float] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)

    @property
    def by_key(self) -> Mapping[str, float]:
        """Key -> seconds; where a signature has no key, it stands for itself."""
        return self._seconds

    def get(self, signature: str | None) -> float | None:
        """The seconds of a signature, None where nothing is known of it."""
        return self._seconds.get(self._keys.get(signature, signature)) if signature else None

    def key(self, signature: str) -> str:
        """Its key, "" where it has none."""
        return self._keys.get(signature, "")

    def add(self, signature: str, seconds: float, key: str = "") -> None:
        """Another measurement."""
        if key:
            self._keys[signature] = key
        place = self._keys.get(signature, signature)
        self._seconds[place] = min(seconds, self._seconds.get(place, seconds))
