"""A rule's right side as a straight line of builds, for one choice of absent inputs.

Enters: the `emits` of a rule and the set of optional variables that are absent.  Leaves: a
:class:`Recipe`, read twice: by `egraph.actions`, which writes it as actions of the engine, and
by `egraph.question`, which finds the type of everything it makes before anything is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tensat_dl.language import program
from tensat_dl.vocabulary.operators import Operator

#: The name of the missing input among references.
ABSENT = ""


@dataclass(frozen=True)
class One:
    """A tensor in a run of variadic inputs."""

    ref: str


@dataclass(frozen=True)
class Many:
    """A list of tensors in a run of variadic inputs."""

    ref: str


Segment = One | Many


@dataclass(frozen=True)
class BuildConstant:
    """A new constant; `reshapes` when it is the target of a Reshape, where one symbolic element
    may become -1; its zeros copy dims of the tensor `copied`, if that is not ""."""

    name: str
    emit: program.EmitConstant
    reshapes: bool
    copied: str = ""


@dataclass(frozen=True)
class BuildNode:
    """An operator application.  `inputs` are references (ABSENT for a missing one) or, for
    variadic operators, segments.  `outputs` names the tensors taken from it; with `each`
    there are as many as a `match each` group has members, and no names."""

    name: str
    operator: Operator
    attributes: program.EmitAttributes
    inputs: tuple[str, ...] | tuple[Segment, ...]
    outputs: tuple[str, ...]
    each: bool = False


@dataclass(frozen=True)
class BuildMap:
    """A list made by applying an operator to each element of the list `over`, which stands at
    `position` among the inputs; the others are the same for all."""

    name: str
    operator: Operator
    attributes: program.EmitAttributes
    inputs: tuple[str, ...]
    position: int

    @property
    def over(self) -> str:
        """The list variable that is mapped."""
        return self.inputs[self.position]


Build = BuildConstant | BuildNode | BuildMap


@dataclass(frozen=True)
class Union:
    """`root` (a variable of the match) is equal to `ref`."""

    root: str
    ref: str


@dataclass(frozen=True)
class Recipe:
    """Builds in order, then unions.  `absent` are the optional variables taken as absent.
    `each_unions` are (root, bundle name): member i of the group is output i."""

    absent: frozenset[str]
    builds: tuple[Build, ...]
    unions: tuple[Union, ...]
    each_unions: tuple[tuple[str, str], ...] = ()

    @property
    def size(self) -> int:
        """The number of e-nodes that one application makes, at most (maps count as one)."""
        return sum(not isinstance(b, BuildConstant) for b in self.builds)


def build_lowering(
    lowering: program.Lowering, absent: frozenset[str]
) -> tuple[tuple[Build, ...], tuple[str, ...]]:
    """The builds of a virtual operator's meaning, and the references of its outputs."""
    flattener = _Flattener(lowering.outputs, absent)
    for emit in lowering.emits:
        flattener.emit(emit)
    results = {union.root: union.ref for union in flattener.unions}
    return tuple(flattener.builds), tuple(results[name] for name in lowering.outputs)


@dataclass(frozen=True)
class BuiltTerm:
    """The builds of one statement, and the references of what it assigns."""

    builds: tuple[Build, ...]
    refs: tuple[str, ...]


def build_terms(
    given: Sequence[program.Emit], claimed: Sequence[program.Emit]
) -> tuple[BuiltTerm, ...]:
    """Statements outside a rule: those `given` bind names, those `claimed` only read them."""
    flattener = _Flattener((), frozenset())
    terms = []
    for place, emit in enumerate((*given, *claimed)):
        start = len(flattener.builds)
        refs = flattener.statement(emit)
        if place < len(given):
            flattener.locals.update(zip(emit.targets, refs, strict=True))
        terms.append(BuiltTerm(tuple(flattener.builds[start:]), refs))
    return tuple(terms)


def make_recipe(rule: program.Rule, absent: frozenset[str]) -> Recipe:
    """Flatten the right side of `rule`, the variables of `absent` being missing."""
    flattener = _Flattener(rule.roots, absent)
    for emit in rule.emits:
        flattener.emit(emit)
    return Recipe(
        absent,
        tuple(flattener.builds),
        tuple(flattener.unions),
        tuple(flattener.each_unions),
    )


def presence_choices(rule: program.Rule) -> tuple[frozenset[str], ...]:
    """Every set of optional variables whose absence changes the shape of the right side."""
    optional = {
        i.name
        for match in rule.matches
        for i in match.inputs
        if isinstance(i, program.InputVariable) and i.optional
    }
    relevant = sorted(
        {name for emit in rule.emits for name in _maybe_variables(emit.term) if name in optional}
    )
    choices = [frozenset[str]()]
    for name in relevant:
        choices += [choice | {name} for choice in choices]
    return tuple(choices)


def _maybe_variables(term: program.EmitTerm, inside: bool = False) -> set[str]:
    match term:
        case program.EmitVariable(name):
            return {name} if inside else set()
        case program.EmitMaybe(inner):
            return _maybe_variables(inner, True)
        case program.EmitNode() | program.EmitMap():
            return {n for i in term.inputs for n in _maybe_variables(i, inside)}
        case _:
            return set()


@dataclass
class _Flattener:
    roots: tuple[str, ...]
    absent: frozenset[str]
    builds: list[Build] = field(default_factory=list)
    unions: list[Union] = field(default_factory=list)
    each_unions: list[tuple[str, str]] = field(default_factory=list)
    locals: dict[str, str] = field(default_factory=dict)

    def emit(self, emit: program.Emit) -> None:
        """Add the builds and unions of one line."""
        if emit.starred:
            name = self._node(_as_node(emit.term), (), each=True)
            self.each_unions.append((emit.targets[0], name))
            return
        for target, ref in zip(emit.targets, self.statement(emit), strict=True):
            if target in self.roots:
                self.unions.append(Union(target, ref))
            else:
                self.locals[target] = ref

    def statement(self, emit: program.Emit) -> tuple[str, ...]:
        """Add the builds of one line; gives the references of what its targets stand for."""
        if len(emit.targets) < 2:
            return (self._term(emit.term),)
        outputs = tuple(f"{self._fresh()}.{i}" for i in range(len(emit.targets)))
        self._node(_as_node(emit.term), outputs)
        return outputs

    def _fresh(self) -> str:
        return f"%{len(self.builds)}"

    def _term(self, term: program.EmitTerm, reshapes: bool = False, copied: str = "") -> str:
        match term:
            case program.EmitVariable(name):
                return ABSENT if name in self.absent else self.locals.get(name, name)
            case program.EmitAbsent():
                return ABSENT
            case program.EmitMaybe(inner):
                missing = _maybe_variables(inner, True) & self.absent
                return ABSENT if missing else self._term(inner, reshapes, copied)
            case program.EmitConstant():
                name = self._fresh()
                self.builds.append(BuildConstant(name, term, reshapes, copied))
                return name
            case program.EmitNode():
                return self._node(term, None)
            case program.EmitStar(name):
                return self.locals.get(name, name)
            case program.EmitMap():
                return self._map(term)

    def _node(
        self, node: program.EmitNode, outputs: tuple[str, ...] | None, each: bool = False
    ) -> str:
        inputs: tuple[str, ...] | tuple[Segment, ...]
        if node.operator.is_variadic:
            inputs = tuple(self._segment(i) for i in node.inputs if i != program.EmitAbsent())
        else:
            inputs = tuple(self._inputs(node))
        name = self._fresh()
        names = (name,) if outputs is None else outputs
        self.builds.append(BuildNode(name, node.operator, node.attributes, inputs, names, each))
        return name

    def _inputs(self, node: program.EmitNode) -> Iterator[str]:
        if node.operator.name != "Reshape" or node.operator.domain:
            yield from map(self._term, node.inputs)
            return
        data, *target = node.inputs
        source = self._term(data)
        yield source
        copies = not node.attributes.values and not node.attributes.spread
        yield from (self._term(term, True, source if copies else "") for term in target)

    def _segment(self, term: program.EmitTerm) -> Segment:
        ref = self._term(term)
        return Many(ref) if isinstance(term, program.EmitStar | program.EmitMap) else One(ref)

    def _map(self, term: program.EmitMap) -> str:
        position = next(i for i, t in enumerate(term.inputs) if isinstance(t, program.EmitStar))
        inputs = tuple(self._term(t) for t in term.inputs)
        name = self._fresh()
        self.builds.append(BuildMap(name, term.operator, term.attributes, inputs, position))
        return name


def _as_node(term: program.EmitTerm) -> program.EmitNode:
    if not isinstance(term, program.EmitNode):
        raise TypeError("several targets need an operator application; the checker holds this")
    return term
