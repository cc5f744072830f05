"""Checked programs of shipped rulesets, kept in the user's cache directory.

Enters: the files that were named.  Leaves: their program, or None.  Reading it back takes a tenth
of checking the files.  Only programs of shipped files without any remark are kept, by the content
of all shipped files, and by everything that makes programs.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from tensat_dl.cache import digest_of_makers, read_cached, write_cached
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.language.program import CheckedProgram
from tensat_dl.resources import data_directory, real_path
from tensat_dl.syntax.source import read_source
from tensat_dl.syntax.stored import makers_of_trees
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.operators import Operator, OperatorKind

_PACKAGE = Path(__file__).resolve().parent.parent


def load_kept(files: Sequence[Path | None]) -> CheckedProgram | None:
    """The program that was kept of these files."""
    texts = _shipped_texts()
    if not _are_shipped(files, texts):
        return None
    content = read_cached(_key(files, texts))
    if not isinstance(content, bytes):
        return None
    try:
        found = pickle.loads(content)
    except pickle.UnpicklingError:
        return None
    return found if isinstance(found, CheckedProgram) else None


def keep(files: Sequence[Path | None], program: CheckedProgram) -> None:
    """Keep the program of these files, if all are shipped and the directory allows it."""
    texts = _shipped_texts()
    if _are_shipped(files, texts):
        stream = io.BytesIO()
        _Writer(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(program)
        write_cached(_key(files, texts), stream.getvalue())


class _Writer(pickle.Pickler):
    """Leaves out files, and the operators that ONNX defines: they are at hand later."""

    def reducer_override(self, value: Any) -> Any:
        """How such a value is had again; everything else as usual."""
        if isinstance(value, SourceFile):
            return _source, (value.name,)
        if isinstance(value, Operator) and value.kind is OperatorKind.ONNX:
            return catalog.operator, (value.name, value.domain)
        return NotImplemented


def _source(name: str) -> SourceFile:
    source = read_source(name, Diagnostics())
    if source is None:
        raise pickle.UnpicklingError(f"{name} is gone")
    return source


def _shipped_texts() -> Mapping[Path, str]:
    """The texts of all shipped files, without those of their tests."""
    try:
        root = real_path(data_directory("rulesets"))
    except FileNotFoundError:
        return {}
    files = sorted(file for file in root.rglob("*.tsat") if file.parent != root / "tests")
    sources = ((file, read_source(file, Diagnostics())) for file in files)
    return {file: source.text for file, source in sources if source is not None}


def _are_shipped(files: Sequence[Path | None], texts: Mapping[Path, str]) -> bool:
    return bool(files) and all(file is not None and real_path(file) in texts for file in files)


def _key(files: Sequence[Path | None], texts: Mapping[Path, str]) -> str:
    digest = hashlib.sha256(_makers().encode())
    for part in (*files, None, *(item for pair in texts.items() for item in pair)):
        digest.update(f"{part}\0".encode())
    return f"program-{digest.hexdigest()}"


@cache
def _makers() -> str:
    """A digest of everything that makes programs: what makes trees, ONNX, and this package up to
    this stage."""
    stages = (_PACKAGE / "vocabulary", _PACKAGE / "language")
    files = (file for stage in stages for file in stage.rglob("*.py"))
    return digest_of_makers(
        sorted([*_PACKAGE.glob("*.py"), *files]),
        sys.version,
        metadata.version("onnx"),
        makers_of_trees(),
    )
