"""Finds the shipped grammar and rulesets from a wheel, an editable install or a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_directory(name: str) -> Path:
    """The directory of shipped files: `name` is "grammar" or "rulesets".

    Raises FileNotFoundError when the installation lacks it.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the installation of tensat-dl lacks its `{name}` directory")
