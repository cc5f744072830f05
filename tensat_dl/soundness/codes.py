"""The codes of what `verify` finds, each with its title."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "E1001": "a rule that does not hold",
    "E1002": "a rule without an instance",
    "W1001": "a condition that the rule does not need",
    "W1002": "a rule that could not be evaluated",
}
