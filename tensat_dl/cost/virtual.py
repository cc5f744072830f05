"""What a virtual operator is made of, with types: its lowering, typed at one application.

Enters: a checked program.  Leaves: a function from an application to the applications it is
lowered to; none where the lowering has no type there.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.cost.work import Lower, Part
from tensat_dl.egraph.build import ABSENT, BuildMap, BuildNode, Many, One, build_lowering
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.snapshot import Application
from tensat_dl.egraph.typing import Refusal, Scope, Typer, lowering_scope
from tensat_dl.language.program import CheckedProgram, Lowering
from tensat_dl.vocabulary.types import ABSENT as ABSENT_TYPE
from tensat_dl.vocabulary.types import AbsentType, Type


def make_lower(program: CheckedProgram | None) -> Lower:
    """The lowering of every virtual operator of `program`."""
    declared = {} if program is None else program.operators.values()
    lowerings = {custom.operator: custom.lowering for custom in declared if custom.lowering}

    def lower(part: Part) -> list[Part]:
        lowering = lowerings.get(part.application.operator)
        if program is None or lowering is None:
            return []
        try:
            return list(_parts(part, lowering, program))
        except Refusal:
            return []

    return lower


def _parts(part: Part, lowering: Lowering, program: CheckedProgram) -> Iterator[Part]:
    operator, attributes = part.application.operator, part.application.attributes
    scope = lowering_scope(lowering, operator, attributes, part.inputs, program.functions)
    absent = {name for name, known in scope.tensors.items() if isinstance(known.type, AbsentType)}
    builds, _ = build_lowering(lowering, frozenset(absent))
    interner = Interner()
    typer = Typer(program.operators, program.functions, interner)
    for build in builds:
        columns = typer.build([build], scope)
        if not isinstance(build, BuildNode | BuildMap):
            continue
        number = columns[0]
        assert isinstance(number, int), "the first column of a node is its attributes"
        application = Application(build.operator, *interner.attributes(number))
        if isinstance(build, BuildNode):
            yield _node(application, build, scope)
        else:
            yield from _map(application, build, scope)


def _node(application: Application, build: BuildNode, scope: Scope) -> Part:
    inputs = [type_ for item in build.inputs for type_ in _types(item, scope)]
    outputs = tuple(scope.tensors[name].type for name in build.outputs)
    return Part(application, tuple(inputs), outputs)


def _map(application: Application, build: BuildMap, scope: Scope) -> Iterator[Part]:
    results = scope.lists[build.name]
    for element, result in zip(scope.lists[build.over], results, strict=True):
        inputs = [next(_types(name, scope)) for name in build.inputs if name != build.over]
        inputs.insert(build.position, element.type)
        yield Part(application, tuple(inputs), (result.type,))


def _types(item: str | One | Many, scope: Scope) -> Iterator[Type]:
    name = item if isinstance(item, str) else item.ref
    if isinstance(item, Many):
        yield from (known.type for known in scope.lists[name])
    elif name == ABSENT:
        yield ABSENT_TYPE
    else:
        yield scope.tensors[name].type
