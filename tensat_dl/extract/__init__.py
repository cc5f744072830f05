"""Extraction: the cheapest acyclic selection of an e-graph, and how good it is.

Knows problems, solvers and settings; nothing of operators, types or models.  The package can be
called, because Python users write `tensat_dl.extract(...)` while its modules live here, too.
"""

from __future__ import annotations

import sys
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensat_dl.extract.problem import Extraction, Problem
    from tensat_dl.progress import Progress
    from tensat_dl.settings import ExtractSettings


class _Package(ModuleType):
    def __call__(
        self,
        egraph: str | PathLike[str] | Problem,
        settings: ExtractSettings | None = None,
        progress: Progress | None = None,
    ) -> Extraction:
        """Extract from an e-graph: a file (see `readers`) or a problem."""
        from pathlib import Path

        from tensat_dl.extract.problem import Problem
        from tensat_dl.extract.readers import read_egraph
        from tensat_dl.extract.run import extract
        from tensat_dl.progress import silent
        from tensat_dl.settings import ExtractSettings

        problem = egraph if isinstance(egraph, Problem) else read_egraph(Path(egraph)).problem
        return extract(problem, settings or ExtractSettings(), progress or silent)


sys.modules[__name__].__class__ = _Package
