"""A virtual operator at one application, written out: what costs it and what exports it read this.

Enters: a checked program, an application of a virtual operator, the types of its inputs.  Leaves:
a :class:`Lowered`: constants and nodes over local names, lists written out element by element.
Virtual operators inside a lowering are left as they are: whoever reads them lowers them in turn.
The statements of a `test` block are written out the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from tensat_dl.diagnostics import Span
from tensat_dl.egraph.build import (
    ABSENT,
    Build,
    BuildConstant,
    BuildMap,
    BuildNode,
    Many,
    One,
    build_terms,
)
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.snapshot import Application
from tensat_dl.egraph.typing import Columns, Refusal, Scope, Typer
from tensat_dl.graph.model import Constant
from tensat_dl.language.program import CheckedProgram, Emit
from tensat_dl.vocabulary.types import ABSENT as ABSENT_TYPE, Type


@dataclass(frozen=True)
class LoweredNode:
    """`outputs = application(inputs)` over local names; None is a missing input."""

    application: Application
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Lowered:
    """`inputs` are the local names of what the application reads, `outputs` of what it makes (an
    input or a constant may be among them); `types` has those of all names that something reads.
    Nodes stand in topological order."""

    inputs: tuple[str, ...]
    constants: Mapping[str, Constant]
    nodes: tuple[LoweredNode, ...]
    outputs: tuple[str, ...]
    types: Mapping[str, Type]

    def type_of(self, name: str | None) -> Type:
        """The type behind a local name."""
        return ABSENT_TYPE if name is None else self.types[name]


def lower(program: CheckedProgram, application: Application, inputs: tuple[Type, ...]) -> Lowered:
    """Write out a virtual operator; raises Refusal where its lowering has no type."""
    interner = Interner()
    typer = Typer(program.operators, program.functions, interner)
    typed = typer.lowering(application.operator, application.attributes, inputs)
    writer = _Writer(interner, typed.scope)
    for build, columns in typed.builds:
        writer.write(build, columns)
    given = (n for f in application.operator.inputs for n in writer.names(f.name, f.variadic))
    return Lowered(
        tuple(given), writer.constants, tuple(writer.nodes), typed.outputs, writer.types()
    )


class Unwritable(Refusal):
    """A statement has no type, or cannot be made; `span` is where it stands, `label` says what
    is wrong there."""

    def __init__(self, refusal: Refusal, span: Span, label: str = "this has no type") -> None:
        super().__init__(str(refusal))
        self.span = span
        self.label = label


@dataclass(frozen=True)
class Written:
    """Statements outside a rule, written out: the nodes of each, and the names of what it assigns.
    `types` has those of all names."""

    constants: Mapping[str, Constant]
    nodes: tuple[tuple[LoweredNode, ...], ...]
    refs: tuple[tuple[str, ...], ...]
    types: Mapping[str, Type]


def write_out(
    program: CheckedProgram,
    scope: Scope,
    given: Sequence[Emit],
    claimed: Sequence[Emit] = (),
) -> Written:
    """Write out statements over what `scope` knows: those `given` bind names, those `claimed` only
    read them.  Raises Unwritable."""
    interner = Interner()
    typer = Typer(program.operators, program.functions, interner)
    writer = _Writer(interner, scope)
    terms = build_terms(given, claimed)
    nodes = []
    for term, emit in zip(terms, (*given, *claimed), strict=True):
        start = len(writer.nodes)
        for build in term.builds:
            try:
                writer.write(build, typer.build([build], scope))
            except Refusal as refusal:
                raise Unwritable(refusal, emit.span) from refusal
        nodes.append(tuple(writer.nodes[start:]))
    refs = tuple(term.refs for term in terms)
    return Written(writer.constants, tuple(nodes), refs, writer.types())


@dataclass
class _Writer:
    interner: Interner
    scope: Scope
    constants: dict[str, Constant] = field(default_factory=dict)
    nodes: list[LoweredNode] = field(default_factory=list)

    def write(self, build: Build, columns: Columns) -> None:
        """Add one build, whose first column is its constant or its attributes."""
        number = cast(int, columns[0])
        match build:
            case BuildConstant():
                self.constants[build.name] = self.interner.constant(number)
            case BuildNode():
                inputs = tuple(n for item in build.inputs for n in self._item(item))
                self._node(build, number, inputs, build.outputs or (build.name,))
            case BuildMap():
                for operand, result in zip(
                    self.names(build.over, True), self.names(build.name, True), strict=True
                ):
                    fixed = [ref or None for ref in build.inputs]
                    fixed[build.position] = operand
                    self._node(build, number, tuple(fixed), (result,))

    def _node(
        self,
        build: BuildNode | BuildMap,
        number: int,
        inputs: tuple[str | None, ...],
        outputs: tuple[str, ...],
    ) -> None:
        application = Application(build.operator, *self.interner.attributes(number))
        unread = range(len(outputs), application.outputs)
        names = (*outputs, *[f"{outputs[0]}/{place}" for place in unread])
        self.nodes.append(LoweredNode(application, inputs, names))

    def _item(self, item: str | One | Many) -> Iterator[str | None]:
        ref = item if isinstance(item, str) else item.ref
        if ref == ABSENT:
            yield None
        else:
            yield from self.names(ref, isinstance(item, Many))

    def names(self, ref: str, is_list: bool) -> Iterator[str]:
        """The name of a tensor, or of each element of a list."""
        if not is_list:
            yield ref
            return
        yield from (f"{ref}[{place}]" for place in range(len(self.scope.lists[ref])))

    def types(self) -> dict[str, Type]:
        """The types of all names."""
        found = {name: analysis.type for name, analysis in self.scope.tensors.items()}
        for ref, elements in self.scope.lists.items():
            names = self.names(ref, True)
            found.update(zip(names, (e.type for e in elements), strict=True))
        return found
