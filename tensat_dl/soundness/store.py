"""Verdicts in the user's cache directory, by the content of what they speak of.

The key covers the rule as the checker read it, all that a rule may refer to in its program, the
settings, and the verifier: its own source, that of the stages it stands on, and the versions of
the packages that compute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from enum import Enum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from tensat_dl.cache import digest_of_makers, read_cached, write_cached
from tensat_dl.language.print_program import print_program
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.verdict import Computed, Counterexample, Status, Tensor, Verdict

#: Stages whose source a verdict depends on.
_STAGES = ("vocabulary", "syntax", "language", "graph", "egraph", "soundness")
_PACKAGES = ("numpy", "onnx", "ml_dtypes")


def key_of(program: CheckedProgram, rule: Rule, settings: str) -> str:
    """The name under which a verdict is stored."""
    alone = replace(
        program, rules=(rule,), rulesets={}, schedule=(), cost_models={}, default_costs=()
    )
    parts = (rule.name, print_program(alone), settings, _verifier())
    return "verify-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _verifier() -> str:
    """A digest of everything that computes verdicts."""
    root = Path(__file__).resolve().parent.parent
    files = (path for stage in _STAGES for path in sorted((root / stage).rglob("*.py")))
    return digest_of_makers(files, *map(metadata.version, _PACKAGES))


def load(key: str) -> Verdict | None:
    """The verdict stored under a key."""
    found = read_cached(key)
    return None if found is None else _verdict(found)


def store(key: str, verdict: Verdict) -> None:
    """Keep a verdict, where the directory allows it."""
    write_cached(key, asdict(verdict, dict_factory=_plain))


def _plain(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a dataclass without enums."""
    return {name: value.value if isinstance(value, Enum) else value for name, value in items}


def _verdict(data: Mapping[str, Any]) -> Verdict:
    example = data["counterexample"]
    found = None
    if example is not None:
        found = Counterexample(
            **{
                **example,
                "inputs": tuple(Tensor(**tensor) for tensor in example["inputs"]),
                "left": Tensor(**example["left"]),
                "right": Tensor(**example["right"]),
                "computed": Computed(example["computed"]),
            }
        )
    return Verdict(**{**data, "status": Status(data["status"]), "counterexample": found})
