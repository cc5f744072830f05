"""A right side as the actions of an engine rule.

Enters: a recipe.  Leaves: actions as text, and the columns of the answer that they read.

Everything a rule makes is made with its analysis, key and origin, so that no rule has to find
them later.  The analyses come with the answer, see `egraph.question`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from tensat_dl.egraph import naming
from tensat_dl.egraph.build import (
    ABSENT,
    Build,
    BuildConstant,
    BuildMap,
    BuildNode,
    Many,
    One,
    Recipe,
    Segment,
)
from tensat_dl.egraph.keys import mix_lets, operator_seed, output_key
from tensat_dl.vocabulary.operators import Operator


class AnswerKind(Enum):
    """What an answer gives for a build: its constant, its attributes, the analysis of its output,
    or those of a mapped list or of the members' outputs."""

    CONSTANT = "constant"
    ATTRIBUTES = "attributes"
    ANALYSIS = "analysis"
    ANALYSES = "analyses"


@dataclass(frozen=True)
class AnswerColumn:
    """A value that an answer gives to the actions."""

    kind: AnswerKind
    build: str

    @property
    def variable(self) -> str:
        """The engine's variable that holds it."""
        prefix = {AnswerKind.CONSTANT: "c", AnswerKind.ATTRIBUTES: "a"}.get(self.kind, "t")
        return f"{prefix}_{safe(self.build)}"

    @property
    def sort(self) -> str:
        """The engine's sort."""
        return "Ids" if self.kind is AnswerKind.ANALYSES else "i64"


def safe(name: str) -> str:
    """The name of a build as part of an engine's name."""
    return name.replace("%", "b_").replace(".", "_o")


def answer_columns(builds: Sequence[Build]) -> tuple[AnswerColumn, ...]:
    """The columns of an answer, in order."""
    columns: list[AnswerColumn] = []
    for build in builds:
        match build:
            case BuildConstant(name):
                columns += [
                    AnswerColumn(AnswerKind.CONSTANT, name),
                    AnswerColumn(AnswerKind.ANALYSIS, name),
                ]
            case BuildMap(name):
                columns += [
                    AnswerColumn(AnswerKind.ATTRIBUTES, name),
                    AnswerColumn(AnswerKind.ANALYSES, name),
                ]
            case BuildNode(name, each=True):
                columns += [
                    AnswerColumn(AnswerKind.ATTRIBUTES, name),
                    AnswerColumn(AnswerKind.ANALYSES, name),
                ]
            case BuildNode(name):
                columns.append(AnswerColumn(AnswerKind.ATTRIBUTES, name))
                columns += [AnswerColumn(AnswerKind.ANALYSIS, output) for output in build.outputs]
    return tuple(columns)


@dataclass
class ActionWriter:
    """Writes the builds of one recipe.  `code` is the expression of the origin; `keys` are the
    variables of the match whose keys the actions read, found while writing.  Without
    `describe_lists` nothing is recorded of new vectors: no rule will look into them."""

    code: str
    describe_lists: bool = True
    lines: list[str] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)

    def build(self, build: Build) -> None:
        """Write one build.  Maps are lists made beforehand, see `egraph.runs`."""
        match build:
            case BuildConstant(name):
                self._constant(name)
            case BuildMap():
                pass
            case BuildNode():
                self._node(build)

    def tensor(self, ref: str) -> str:
        """The engine's term for a reference."""
        if ref == ABSENT:
            return "(Absent)"
        return f"n_{safe(ref)}" if ref.startswith("%") else naming.variable(ref)

    def key(self, ref: str) -> str:
        """The engine's variable for the key of a reference."""
        if ref == ABSENT:
            return "0"
        if ref.startswith("%"):
            return f"kn_{safe(ref)}"
        self.keys[ref] = None
        return naming.key_variable(ref)

    def analyses(self, segment: Segment) -> str:
        """The analysis id or ids of a part of a vector."""
        if segment.ref == ABSENT:
            return "0"
        return (
            f"t_{safe(segment.ref)}"
            if segment.ref.startswith("%")
            else (naming.analysis_variable(segment.ref))
        )

    def _constant(self, name: str) -> None:
        node, column = self.tensor(name), f"c_{safe(name)}"
        self.lines.append(f"(let {node} (Const {column}))")
        self._know(name, "Const", [column])

    def _analysed(self, ref: str) -> None:
        self.lines.append(f"(set (type {self.tensor(ref)}) t_{safe(ref)})")

    def _know(self, ref: str, seed: str, parts: Sequence[str]) -> None:
        node, key = self.tensor(ref), self.key(ref)
        self._analysed(ref)
        self.lines += mix_lets(key, operator_seed(seed), parts)
        self.lines.append(f"(set (key {node}) {key})")

    def _node(self, build: BuildNode) -> None:
        operator, attributes = build.operator, f"a_{safe(build.name)}"
        if operator.is_variadic:
            arguments, keys = self._vector(build)
        else:
            refs = [i for i in build.inputs if isinstance(i, str)]
            arguments = " ".join(self.tensor(r) for r in refs)
            keys = [self.key(r) for r in refs]
        row = f"{attributes} {arguments}".strip()
        seed, parts = naming.operator_suffix(operator), [attributes, *keys]
        if not operator.has_bundle:
            self.lines.append(
                f"(let {self.tensor(build.name)} ({naming.node_table(operator)} {row}))"
            )
            self._origin(operator, row)
            self._know(build.name, seed, parts)
            return
        bundle = f"bundle_{safe(build.name)}"
        self.lines.append(f"(let {bundle} ({naming.node_table(operator)} {row}))")
        self._origin(operator, row)
        key = f"kb_{safe(build.name)}"
        self.lines += mix_lets(key, operator_seed(seed), parts)
        self.lines.append(f"(set (bkey {bundle}) {key})")
        for place, output in enumerate(build.outputs):
            self.lines.append(f"(let {self.tensor(output)} (Out {bundle} {place}))")
            self._analysed(output)
            self.lines.append(f"(let {self.key(output)} {output_key(key, str(place))})")
            self.lines.append(f"(set (key {self.tensor(output)}) {self.key(output)})")

    def _origin(self, operator: Operator, row: str) -> None:
        self.lines.append(f"(set ({naming.made_table(operator)} {row}) {self.code})")

    def _vector(self, build: BuildNode) -> tuple[str, list[str]]:
        segments = [s for s in build.inputs if isinstance(s, One | Many)]
        if len(segments) == 1 and isinstance(segments[0], Many):
            return self.tensor(segments[0].ref), [self.key(segments[0].ref)]
        vector = f"vec_{safe(build.name)}"
        parts = [
            self.tensor(s.ref) if isinstance(s, Many) else f"(vec-of {self.tensor(s.ref)})"
            for s in segments
        ]
        ids = [
            self.analyses(s) if isinstance(s, Many) else f"(vec-of {self.analyses(s)})"
            for s in segments
        ]
        keys = [self.key(s.ref) for s in segments]
        self.lines.append(f"(let {vector} (vec-append {' '.join(parts)}))")
        if not self.describe_lists:
            return vector, keys
        key = f"kv_{safe(build.name)}"
        self.lines.append(f"(set (vtypes {vector}) (vec-append {' '.join(ids)}))")
        self.lines.append(f"(set (vlength {vector}) (vec-length {vector}))")
        self.lines += mix_lets(key, operator_seed("vector"), keys)
        self.lines.append(f"(set (vkey {vector}) {key})")
        return vector, [key]


def write_unions(writer: ActionWriter, recipe: Recipe) -> None:
    """Write the unions of roots with what was made."""
    for union in recipe.unions:
        writer.lines.append(f"(union {naming.variable(union.root)} {writer.tensor(union.ref)})")
