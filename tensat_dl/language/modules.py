"""A rule file as loaded: its text, its tree, and the files it imports.

Enters: nothing (data only).  Written by `load`, read by the checker.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.diagnostics import SourceFile
from tensat_dl.syntax import ast


@dataclass(frozen=True, eq=False)
class LoadedModule:
    """One file, loaded once however often it is imported.

    `stem` names it where nothing else does; `imports` pairs each `import` with its file, None
    where that could not be loaded (which has been reported).
    """

    file: SourceFile
    tree: ast.Module
    stem: str
    imports: tuple[tuple[ast.Import, LoadedModule | None], ...]
