"""The codes of failing tests, each with its title; those of faulty tests are the checker's."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "E0701": "a statement of a test that has no type",
    "E0702": "a claim of a test that does not hold",
}
