"""Write down how tensor graphs may be rewritten, and get the best graph back.

`optimize`, `load_rules`, `check`, `verify_rules` and `extract` do what the commands do.  Nothing is
imported before it is used, so that `import tensat_dl` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from tensat_dl.api import Result, check, load_rules, optimize, verify_rules
    from tensat_dl.extract.problem import Extraction, Problem
    from tensat_dl.progress import Progress
    from tensat_dl.settings import ExtractSettings

    def extract(
        egraph: str | PathLike[str] | Problem,
        settings: ExtractSettings | None = None,
        progress: Progress | None = None,
    ) -> Extraction:
        """The cheapest acyclic selection of an e-graph: a file or a problem."""


__all__ = ["Result", "check", "extract", "load_rules", "optimize", "verify_rules"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name == "extract":
        return import_module("tensat_dl.extract")  # a package that can be called
    if name in __all__:
        return getattr(import_module("tensat_dl.api"), name)
    raise AttributeError(f"module 'tensat_dl' has no attribute {name!r}")
