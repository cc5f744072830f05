"""Rule files from disk, with all they import, checked.

Enters: paths and names of shipped rulesets.  Leaves: a :class:`CheckedProgram`, or None and the
reasons in the diagnostics.  An import is looked up beside the importing file first, then among
the shipped rulesets.  A file is loaded once, however many paths lead to it.  Parser and checker
are imported where a program is not at hand already.  Reports E0205, E0206.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span
from tensat_dl.errors import RuleFileError, UsageError
from tensat_dl.language.kept import keep, load_kept
from tensat_dl.language.modules import LoadedModule
from tensat_dl.language.program import CheckedProgram
from tensat_dl.reading import MISSING, why_no_file
from tensat_dl.resources import data_directory, real_path
from tensat_dl.suggest import closest, did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.syntax.source import read_source

#: Paths of rule files and names of shipped rulesets, as people give them.
RuleNames = str | PathLike[str] | Sequence[str | PathLike[str]]

_SUFFIX = ".tsat"


def load_rules(rules: RuleNames) -> CheckedProgram:
    """Load and check; raises RuleFileError with all that is wrong."""
    diagnostics = Diagnostics()
    program = load_program(split_names(rules), diagnostics)
    if program is None or diagnostics.has_errors:
        raise RuleFileError(tuple(diagnostics))
    return program


def split_names(rules: RuleNames) -> list[str]:
    """Names that may be given as one text, separated by commas.  Raises UsageError."""
    if isinstance(rules, str):
        names = [name.strip() for name in rules.split(",")]
        if not all(names):
            raise UsageError(
                f"a name is missing in `{rules}`",
                help="name rule files or shipped rulesets, separated by commas: `std,my.tsat`",
            )
        return names
    given = [rules] if isinstance(rules, PathLike) else rules
    if not isinstance(given, Sequence) or not all(isinstance(n, str | PathLike) for n in given):
        raise UsageError(
            f"`rules` is a path or a name, or a list of them, not {type(rules).__name__}"
        )
    return [fspath(name) for name in given]


def load_program(names: Sequence[str], diagnostics: Diagnostics) -> CheckedProgram | None:
    """Load and check rule files; each name is a path, or a shipped ruleset such as `std`."""
    files = [_Loader(Diagnostics()).find(name) for name in names]
    program = load_kept(files)
    if program is not None:
        return program
    found = Diagnostics()
    loader = _Loader(found)
    roots = [loader.load(path, None) for name in names if (path := loader.find(name)) is not None]
    program = _checked(roots, loader, found)
    diagnostics.found.extend(found.found)
    if program is not None and not found.found:
        keep(files, program)
    return program


def load_text(text: str, name: str, diagnostics: Diagnostics) -> CheckedProgram | None:
    """Load and check a rule file that is given as text; its imports are found as if in `.`."""
    loader = _Loader(diagnostics)
    root = loader.load_source(SourceFile(name, text), Path(name))
    return _checked([root], loader, diagnostics)


def _checked(
    roots: Sequence[LoadedModule | None], loader: _Loader, diagnostics: Diagnostics
) -> CheckedProgram | None:
    from tensat_dl.language.check.program import check_program

    known = list(dict.fromkeys(root for root in roots if root is not None))
    return check_program(known, loader.modules, diagnostics) if known else None


@dataclass
class _Loader:
    """Follows imports.  `modules`: what was loaded, imported files before those that import."""

    diagnostics: Diagnostics
    modules: list[LoadedModule] = field(default_factory=list)
    _by_path: dict[Path, LoadedModule | None] = field(default_factory=dict)
    _open: list[Path] = field(default_factory=list)

    def find(self, name: str) -> Path | None:
        """The file that a name on the command line means."""
        path = Path(name)
        found = _shipped(name)
        reason = why_no_file(path)
        if not reason or (found is None and (path.suffix == _SUFFIX or reason != MISSING)):
            return path
        if found is None:
            shipped = shipped_names()
            rulesets = [name for name in shipped if not name.startswith("tests/")]
            self.diagnostics.error(
                "E0205",
                f"`{name}` is neither a rule file nor a shipped ruleset",
                None,
                help=did_you_mean(name, shipped)
                or _did_you_mean_file(name, Path())
                or f"shipped are {', '.join(rulesets)}",
            )
        return found

    def load(self, path: Path, asked: Span | None) -> LoadedModule | None:
        """The module of a file; None where it has syntax errors or cannot be read."""
        key = real_path(path)
        if key in self._open:
            self._report_circle(key, asked)
            return None
        if key in self._by_path:
            return self._by_path[key]
        near = "" if path.exists() else _did_you_mean_file(str(path), Path())
        source = read_source(path, self.diagnostics, span=asked, missing=near)
        module = None if source is None else self.load_source(source, path)
        self._by_path[key] = module
        return module

    def load_source(self, source: SourceFile, path: Path) -> LoadedModule | None:
        """Parse a text and load what it imports."""
        from tensat_dl.syntax.parse import parse

        tree = parse(source, self.diagnostics)
        if tree is None:
            return None
        self._open.append(real_path(path))
        imports = tuple((item, self._import(item, path)) for item in tree.imports)
        self._open.pop()
        module = LoadedModule(source, tree, path.stem.replace("-", "_"), imports)
        self.modules.append(module)
        return module

    def _import(self, item: ast.Import, importer: Path) -> LoadedModule | None:
        beside = importer.parent / item.path
        reason = why_no_file(beside)
        path = _shipped(item.path) if reason else beside
        if path is not None:
            return self.load(path, item.span)
        if reason != MISSING:
            message = f"`{item.path}` cannot be imported: it {reason}"
            self.diagnostics.error("E0205", message, item.span, help="import a rule file")
            return None
        self.diagnostics.error(
            "E0205",
            f"there is no file `{item.path}` to import",
            item.span,
            label=f"neither beside `{importer.name}` nor shipped",
            help=did_you_mean(item.path.removesuffix(_SUFFIX), shipped_names())
            or _did_you_mean_file(item.path, importer.parent)
            or "a path is relative to the file it stands in; `tensat-dl rules` lists the shipped",
        )
        return None

    def _report_circle(self, key: Path, asked: Span | None) -> None:
        chain = [path.name for path in self._open[self._open.index(key) :]]
        self.diagnostics.error(
            "E0206",
            f"`{key.name}` imports itself",
            asked,
            notes=(" -> ".join([*chain, key.name]),),
            help="move what both files need into a third one",
        )


def shipped_names() -> tuple[str, ...]:
    """The rulesets that come with the program, without their suffix, sorted."""
    try:
        root = data_directory("rulesets")
    except FileNotFoundError:
        return ()
    files = root.rglob(f"*{_SUFFIX}")
    return tuple(sorted(file.relative_to(root).with_suffix("").as_posix() for file in files))


def _did_you_mean_file(name: str, folder: Path) -> str:
    """`did you mean ..?` of the rule files beside one that is missing; `name` is taken from
    `folder`."""
    wanted = Path(name)
    found = {file.stem: file.name for file in (folder / wanted).parent.glob(f"*{_SUFFIX}")}
    near = closest(wanted.stem, found)
    return f"did you mean `{wanted.parent / found[near]}`?" if near else ""


def _shipped(name: str) -> Path | None:
    plain = name.removesuffix(_SUFFIX)
    if plain not in shipped_names():
        return None
    return data_directory("rulesets") / f"{plain}{_SUFFIX}"
