"""Reads an e-graph from a file into an extraction problem.

Enters: egraph-serialize JSON, or the CSV of the extraction gym's TENSAT graphs; either may be
gzipped.  Leaves: a Problem and the file's class names, or one InputError that says what is wrong,
where, and what to do.  Knows nothing of operators.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import NoReturn

from tensat_dl.errors import InputError
from tensat_dl.extract.problem import Problem, build_problem
from tensat_dl.reading import UnreadableError, read_bytes

# Above this, sums over an e-graph could leave the range of a float.
LARGEST_COST = 1e100


@dataclass(frozen=True)
class EGraphFile:
    """`class_names[c]` is what the file calls class c, `node_ids[i]` what it calls node i: its id
    in JSON, its line in CSV."""

    problem: Problem
    class_names: Sequence[str]
    node_ids: Sequence[str | int] = ()


@dataclass
class _Rows:
    """Nodes as the file states them, classes and children by name."""

    file: str
    classes: list[str] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    children: list[list[str]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    ids: list[str | int] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)

    def add(
        self, eclass: str, cost: float, op: str, children: list[str], id: str | int, place: str
    ) -> None:
        """Record a node; one of infinite cost can never be chosen, so it only names its class."""
        self.ids.append(id)
        self.classes.append(eclass)
        self.costs.append(cost)
        self.ops.append(op)
        self.children.append(children)
        self.places.append(place)


def read_egraph(path: str | Path) -> EGraphFile:
    """Read `path` (.json, .csv, either with .gz).  Raises InputError."""
    path = Path(path)
    text = _read_text(path)
    stem = path.name.removesuffix(".gz")
    if stem.endswith(".json") or text.lstrip().startswith("{"):
        return _resolve(_json_rows(text, str(path)))
    return _resolve(_csv_rows(text, str(path)))


def _read_text(path: Path) -> str:
    try:
        data = read_bytes(path)
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnreadableError as reason:
        raise InputError(f"{path} {reason}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a complete gzip file: {error}") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is no text, and so no e-graph",
            help="expected is the JSON of egraph-serialize or the CSV of the extraction gym",
        ) from None


def _fail(file: str, place: str, what: str, help: str = "") -> NoReturn:
    raise InputError(f"{file}: {place}: {what}" if place else f"{file}: {what}", help=help)


def _cost(value: object, file: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        _fail(file, place, f"cost {value!r} is not a number")
    try:
        cost = float(value)
    except (ValueError, OverflowError):
        _fail(file, place, f"cost {value!r} is not a number that a float can hold")
    if math.isnan(cost) or cost < 0:
        _fail(file, place, f"cost {value} is not allowed", "costs are numbers from 0 up")
    if LARGEST_COST < cost < math.inf:
        _fail(file, place, f"cost {value} is too large", "write `inf` for a node never to choose")
    return cost


# --- egraph-serialize JSON ---------------------------------------------------------------------


def _json_rows(text: str, file: str) -> _Rows:
    data = _parse_json(text, file)
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), dict):
        _fail(
            file,
            "",
            "this JSON has no `nodes` object",
            "an e-graph has `nodes` (id -> op, children, eclass, cost) and `root_eclasses`",
        )
    nodes: Mapping[str, object] = data["nodes"]
    rows = _Rows(file)
    eclass_of = {name: _eclass(node, file, name) for name, node in nodes.items()}
    for name, node in nodes.items():
        _json_node(rows, name, node, eclass_of)
    roots = data.get("root_eclasses")
    if not isinstance(roots, list):
        _fail(file, "", "`root_eclasses` is missing or not a list", "list the classes to extract")
    rows.roots = [_name(root, file, "root_eclasses") for root in roots]
    return rows


def _parse_json(text: str, file: str) -> object:
    def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            _fail(file, "", f"`{twice}` is defined twice", "ids and keys must be distinct")
        return found

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        _fail(file, f"line {error.lineno}, column {error.colno}", f"not valid JSON: {error.msg}")
    except RecursionError:
        _fail(file, "", "this JSON is nested too deeply to be an e-graph")
    except ValueError as error:
        _fail(file, "", f"a number cannot be read: {error}")


def _eclass(node: object, file: str, name: str) -> str:
    if not isinstance(node, dict):
        _fail(file, f"node `{name}`", "is not an object", "a node has op, children, eclass, cost")
    if "eclass" not in node:
        _fail(file, f"node `{name}`", "has no `eclass`")
    return _name(node["eclass"], file, f"node `{name}`")


def _json_node(rows: _Rows, name: str, node: object, eclass_of: Mapping[str, str]) -> None:
    assert isinstance(node, dict)
    place = f"node `{name}`"
    children = node.get("children", [])
    if not isinstance(children, list):
        _fail(rows.file, place, "`children` is not a list")
    names = [_name(child, rows.file, place) for child in children]
    missing = next((child for child in names if child not in eclass_of), None)
    if missing is not None:
        _fail(rows.file, place, f"has a child `{missing}`, which is no node of this file")
    cost = _cost(node.get("cost", 1.0), rows.file, place)
    if _subsumed(node, rows.file, place):
        cost = math.inf
    op = str(node.get("op", name))
    rows.add(eclass_of[name], cost, op, [eclass_of[child] for child in names], name, place)


def _subsumed(node: Mapping[str, object], file: str, place: str) -> bool:
    """Has the engine that wrote the file taken this node out of what may be extracted?"""
    value = node.get("subsumed", False)
    if not isinstance(value, bool):
        _fail(file, place, f"subsumed {value!r} is not true or false")
    return value


def _name(value: object, file: str, place: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    _fail(file, place, f"{value!r} is not an id")


# --- CSV ---------------------------------------------------------------------------------------


def _csv_rows(text: str, file: str) -> _Rows:
    rows = _Rows(file)
    for number, line in enumerate(StringIO(text, newline=None), start=1):
        line = line.strip()
        if line.startswith("##"):
            rows.roots.extend(_csv_roots(line, file, f"line {number}"))
        elif line and not line.startswith("#"):
            _csv_node(rows, line, number)
    return rows


def _csv_roots(line: str, file: str, place: str) -> list[str]:
    key, colon, value = line.lstrip("#").partition(":")
    if key.strip() not in ("root", "roots") or not colon:
        _fail(file, place, f"cannot read `{line}`", "roots are written `## root: CLASS`")
    return [name.strip() for name in value.split(",") if name.strip()]


def _csv_node(rows: _Rows, line: str, number: int) -> None:
    """`class,cost,op,child,...`; the operator may hold commas inside its parentheses or quotes."""
    place = f"line {number}"
    fields = _split(line)
    if len(fields) < 3 or not fields[0]:
        _fail(rows.file, place, f"`{line[:60]}` is no node", "a node is `class,cost,op,child,...`")
    eclass, cost, op, *children = fields
    if not all(children):
        _fail(rows.file, place, "has an empty child", "children are class names, comma between")
    rows.add(eclass, _cost(cost, rows.file, place), op, children, number, place)


def _split(line: str) -> list[str]:
    if '"' not in line:
        return [part.strip() for part in line.split(",")]
    fields, quoted, current = [], False, ""
    for char in line:
        quoted ^= char == '"'
        if char == "," and not quoted:
            fields.append(current.strip())
            current = ""
        else:
            current += char
    return [*fields, current.strip()]


# --- names to numbers --------------------------------------------------------------------------


def _resolve(rows: _Rows) -> EGraphFile:
    if not rows.classes:
        _fail(rows.file, "", "holds no nodes")
    if not rows.roots:
        _fail(rows.file, "", "names no root", "write `## root: CLASS`, or `root_eclasses` in JSON")
    number = {name: i for i, name in enumerate(dict.fromkeys(rows.classes))}
    for kids, place in zip(rows.children, rows.places, strict=True):
        unknown = next((kid for kid in kids if kid not in number), None)
        if unknown is not None:
            _fail(rows.file, place, f"has a child class `{unknown}`, which has no node")
    unknown = next((root for root in rows.roots if root not in number), None)
    if unknown is not None:
        _fail(rows.file, "roots", f"class `{unknown}` has no node")
    keep = [i for i, cost in enumerate(rows.costs) if cost < math.inf]
    problem = build_problem(
        classes=len(number),
        nodes=((number[rows.classes[i]], rows.costs[i], _numbers(rows, i, number)) for i in keep),
        roots=[number[root] for root in rows.roots],
        names=[rows.ops[i] for i in keep],
    )
    return EGraphFile(problem, tuple(number), tuple(rows.ids[i] for i in keep))


def _numbers(rows: _Rows, i: int, number: Mapping[str, int]) -> Iterable[int]:
    return (number[kid] for kid in rows.children[i])
