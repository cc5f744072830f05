"""The engine: egglog behind a few plain calls.  The only module that imports it.

Enters: commands as text, rows as numbers and tuples of numbers.  Leaves: the same, and the whole
e-graph as rows.  Few facts are built as command objects: parsing them as text would keep a copy of
the whole text in every parsed span.  Many go in as a file of numbers, where the machine has files
that are in memory alone; what stands for terms is made of the numbers by a rule.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any


def _load_bindings() -> ModuleType:
    """egglog's engine alone: its Python front end, which nothing here uses, takes as long to
    import as a small model to explore."""
    name = "egglog.bindings"
    if name not in sys.modules:
        package = find_spec("egglog")
        places = None if package is None else package.submodule_search_locations
        spec = PathFinder.find_spec(name, places)
        if spec is None or spec.loader is None:
            raise ImportError("egglog is not installed", name="egglog")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module  # it can be loaded only once: `import egglog` finds it there
    return sys.modules[name]


bindings = _load_bindings()

#: A term: a number, a tuple of numbers (a vector), or (function name, arguments..).
Row = tuple[Any, ...]
_SPAN = bindings.PanicSpan()

#: Printing a row takes as long as copying out so many, but all rows are copied out together.
_PRINTING = 50

#: So many facts at least are read from a file.
_MANY = 30 if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir() else 1 << 62


@dataclass(frozen=True)
class RunCount:
    """One run: did anything change; matches and seconds by rule name."""

    changed: bool
    matches: dict[str, int]
    seconds: dict[str, float]


@dataclass(frozen=True)
class Table:
    """All rows of one function: inputs, output, and whether the row is subsumed.

    Numbers are numbers, vectors tuples; classes are numbered as they come, for all tables that
    were copied out together.
    """

    rows: tuple[tuple[tuple[Any, ...], Any, bool], ...]


class _Numbers(dict[Any, int]):
    """Numbers values as they come."""

    def __missing__(self, value: Any) -> int:
        self[value] = number = len(self)
        return number


class EngineError(Exception):
    """The engine refused a command: a defect of the encoder, never of a user's file."""


@dataclass
class Engine:
    """One database.  Not safe to share between threads."""

    _egraph: Any = field(default_factory=lambda: bindings.EGraph())
    _loads: int = 0

    def commands(self, texts: Iterable[str]) -> None:
        """Run commands one by one."""
        for text in texts:
            self._run(*self._parse(text))

    def facts(self, relation: str, rows: Iterable[Row]) -> None:
        """Add rows to a relation."""
        known = list(rows)
        if len(known) < _MANY or not all(isinstance(v, int) for row in known for v in row):
            self._run(*[_action(bindings.Expr_(_SPAN, _call(relation, row))) for row in known])
        else:
            self._read(relation, known)

    def set(self, function: str, rows: Iterable[tuple[Row, Any]]) -> None:
        """Set function values: (arguments, value)."""
        self._act([("set", (function, *arguments), value) for arguments, value in rows])

    def unions(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Make pairs of terms equal."""
        self._act([("union", left, right) for left, right in pairs])

    def _act(self, actions: Iterable[Row]) -> None:
        """Do actions, the ones that differ in numbers alone together."""
        alike: dict[str, list[list[int]]] = {}
        examples: dict[str, list[Row]] = {}
        for action in actions:
            numbers: list[int] = []
            shape = _shape(action, numbers)
            alike.setdefault(shape, []).append(numbers)
            examples.setdefault(shape, []).append(action)
        for shape, rows in alike.items():
            if len(rows) < _MANY:
                self._run(*map(_command, examples[shape]))
            else:
                self._act_alike(shape, rows)

    def _act_alike(self, shape: str, rows: list[list[int]]) -> None:
        """Load the numbers, then let a rule act on each row and drop it."""
        name = f"load_{self._loads}"
        self._loads += 1
        columns = range(len(rows[0]))
        row = f"({name} {' '.join(f'c{c}' for c in columns)})"
        action = shape.format(*(f"c{c}" for c in columns))
        self.commands(
            [
                f"(ruleset {name}s)",
                f"(relation {name} ({' '.join('i64' for _ in columns)}))",
                f"(rule ({row}) ({action} (delete {row})) :ruleset {name}s)",
            ]
        )
        self.facts(name, map(tuple, rows))
        self.run(f"{name}s")

    def _read(self, relation: str, rows: list[Row]) -> None:
        """Add rows of numbers by way of a file in memory."""
        file = os.memfd_create(relation)
        try:
            text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
            with open(file, "w", encoding="ascii", closefd=False) as stream:
                stream.write(text)
            self._run(bindings.Input(_SPAN, relation, f"/proc/self/fd/{file}"))
        finally:
            os.close(file)

    def run(self, ruleset: str) -> RunCount:
        """One step of a ruleset."""
        schedule = bindings.Run(_SPAN, bindings.RunConfig(ruleset, None))
        started = time.perf_counter()
        [output] = self._run(bindings.RunSchedule(schedule))
        return _run_count(output.report, time.perf_counter() - started)

    def saturate(self, ruleset: str) -> RunCount:
        """Steps of a ruleset until nothing changes."""
        run = bindings.Run(_SPAN, bindings.RunConfig(ruleset, None))
        started = time.perf_counter()
        [output] = self._run(bindings.RunSchedule(bindings.Saturate(_SPAN, run)))
        return _run_count(output.report, time.perf_counter() - started)

    def rows(self, relations: Sequence[str]) -> dict[str, list[Row]]:
        """All rows of relations over numbers and vectors of numbers."""
        if not relations:
            return {}
        sizes = self.sizes()
        if _PRINTING * sum(sizes[name] for name in relations) < sum(sizes.values()):
            return {name: self._printed(name) for name in relations}
        frozen = self._egraph.freeze().functions
        return {name: self._frozen(frozen[name]) for name in relations}

    def _frozen(self, relation: Any) -> list[Row]:
        readers = [self._reader(sort, _Numbers()) for sort in relation.input_sorts]
        return [
            tuple([read(value) for read, value in zip(readers, row.inputs, strict=True)])
            for row in relation.rows
        ]

    def _printed(self, relation: str) -> list[Row]:
        mode = bindings.DefaultPrintFunctionMode()
        command = bindings.PrintFunction(_SPAN, relation, 1 << 40, None, mode)
        [output] = self._run(command)
        dag = output.termdag
        return [tuple(_value(dag, a) for a in dag.get(key).args) for key, _ in output.terms]

    def size(self, function: str) -> int:
        """Rows of one function."""
        [output] = self._run(bindings.PrintSize(_SPAN, function))
        return int(output.size)

    def sizes(self) -> dict[str, int]:
        """Rows of every function."""
        [output] = self._run(bindings.PrintSize(_SPAN, None))
        return dict(output.sizes)

    def tables(self, wanted: Callable[[str], bool]) -> dict[str, Table]:
        """Copy out all functions whose names are wanted."""
        frozen = self._egraph.freeze()
        numbers = _Numbers()
        return {
            name: self._table(function, numbers)
            for name, function in frozen.functions.items()
            if wanted(name)
        }

    def _table(self, function: Any, numbers: _Numbers) -> Table:
        readers = [self._reader(sort, numbers) for sort in function.input_sorts]
        rows = function.rows
        inputs = [row.inputs for row in rows]
        columns = [
            map(read, [values[place] for values in inputs]) for place, read in enumerate(readers)
        ]
        keys: Iterable[tuple[Any, ...]] = (
            zip(*columns, strict=True) if columns else [()] * len(rows)
        )
        outputs = map(self._reader(function.output_sort, numbers), [row.output for row in rows])
        subsumed = [row.subsumed for row in rows]
        return Table(tuple(zip(keys, outputs, subsumed, strict=True)))

    def _reader(self, sort: str, numbers: _Numbers) -> Callable[[Any], Any]:
        to_number, to_list = self._egraph.value_to_i64, self._egraph.value_to_vec
        match sort:
            case "i64":
                return to_number  # type: ignore[no-any-return]
            case "Tensors":
                return lambda value: tuple([numbers[v] for v in to_list(value)])
            case "Ids":
                return lambda value: tuple(map(to_number, to_list(value)))
            case _:
                return numbers.__getitem__

    def _parse(self, text: str) -> Sequence[Any]:
        try:
            return self._egraph.parse_program(text)  # type: ignore[no-any-return]
        except bindings.EggSmolError as error:
            raise EngineError(f"{error.context}\n{text}") from error

    def _run(self, *commands: Any) -> Sequence[Any]:
        try:
            return self._egraph.run_program(*commands)  # type: ignore[no-any-return]
        except bindings.EggSmolError as error:
            raise EngineError(error.context) from error


def _run_count(report: Any, elapsed: float) -> RunCount:
    """What a run of `elapsed` seconds did.  The engine's times are a thousandth of what passed, and
    leave out that what was made is put in its place: they say what share of it was whose."""
    said = report.search_and_apply_time_per_rule
    shares = {name: said[name].total_seconds() for name in said}
    whole = sum(shares.values())
    seconds = {name: elapsed * share / whole for name, share in shares.items() if share}
    return RunCount(report.updated, dict(report.num_matches_per_rule), seconds)


def _command(action: Row) -> Any:
    """A set or a union."""
    if action[0] == "union":
        return _action(bindings.Union(_SPAN, _term(action[1]), _term(action[2])))
    (function, *arguments), value = action[1:]
    return _action(bindings.Set(_SPAN, function, [_term(a) for a in arguments], _term(value)))


def _shape(value: Any, numbers: list[int]) -> str:
    """A term or an action as text, with {} for each number; these are appended to `numbers`."""
    if isinstance(value, int):
        numbers.append(value)
        return "{}"
    parts = []
    for part in value:
        if isinstance(part, int):  # most parts: a call for each would take longer than the rest
            numbers.append(part)
            parts.append("{}")
        else:
            parts.append(part if isinstance(part, str) else _shape(part, numbers))
    if not value:
        return "(vec-empty)"
    words = " ".join(parts)
    return f"({words})" if isinstance(value[0], str) else f"(vec-of {words})"


def _action(action: Any) -> Any:
    return bindings.ActionCommand(action)


def _call(name: str, arguments: Sequence[Any]) -> Any:
    return bindings.Call(_SPAN, name, [_term(a) for a in arguments])


def _term(value: Any) -> Any:
    if isinstance(value, int):
        return bindings.Lit(_SPAN, bindings.Int(value))
    if value and isinstance(value[0], str):
        return _call(value[0], value[1:])
    return _call("vec-of", value) if value else _call("vec-empty", ())


def _value(dag: Any, term: int) -> Any:
    node = dag.get(term)
    if isinstance(node, bindings.TermLit):
        return getattr(node.value, "value", None)
    return tuple(_value(dag, a) for a in node.args)
