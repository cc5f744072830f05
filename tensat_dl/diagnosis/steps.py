"""How rules acted: their matches, found again in the explored e-graph.

Enters: an explored e-graph and its program.  Leaves: :class:`Step`s, of a rule or at a tensor.  The
engine keeps of a match what it made and no more; what it matched, and what it only found equal, is
read off the finished e-graph, where the left and the right side of each match are in one class.
`match each` rules are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tensat_dl.diagnosis.index import Index, Made
from tensat_dl.diagnosis.matching import Binding, Matcher
from tensat_dl.diagnosis.obstacles import Judge
from tensat_dl.egraph.build import ABSENT, Build, BuildConstant, BuildMap, BuildNode, Many, One
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.plan import RulePlan, plan_rule
from tensat_dl.egraph.question import recipe_for, require_same
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, LeafKind, Projection
from tensat_dl.egraph.typing import Columns, Refusal, Scope, Typer, first_id
from tensat_dl.language.program import CheckedProgram, InputVariable, Rule


@dataclass(frozen=True)
class Join:
    """The tensor `left` of a match is equal to `right`; None: to a variable of the pattern,
    whatever makes that."""

    left: ENode
    right: ENode | None


@dataclass(frozen=True)
class Step:
    """One way in which a rule acted: the e-nodes of its left side and of its right side.

    `inner` are pairs of an e-node of the left side and another one whose tensor it reads.
    """

    rule: str
    reads: tuple[ENode, ...]
    inner: tuple[tuple[ENode, ENode], ...]
    makes: tuple[ENode, ...]
    joins: tuple[Join, ...]


@dataclass
class Steps:
    """Finds steps; those of a rule, or at a tensor, are looked for once."""

    index: Index
    program: CheckedProgram
    _of_rule: dict[str, dict[ENode, list[Step]]] = field(default_factory=dict)
    _at: dict[tuple[str, int], list[Step]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Types are the same for all matches."""
        self._interner = Interner()
        self._typer = Typer(self.program.operators, self.program.functions, self._interner)
        counts = self.index.saturated.exploration.rules
        acted = {name for name, count in counts.items() if count.applied}
        rules = [r for r in self.program.rules if r.name in acted and r.each is None]
        self._plans = {rule.name: plan_rule(1, rule) for rule in rules}

    def making(self, enode: ENode) -> list[Step]:
        """The steps by which the rule that made an e-node can have made it."""
        if enode.rule not in self._of_rule:
            found: dict[ENode, list[Step]] = {}
            plan = self._plans.get(enode.rule)
            for step in () if plan is None else self._find(plan):
                for made in step.makes:
                    found.setdefault(made, []).append(step)
            self._of_rule[enode.rule] = found
        return self._of_rule[enode.rule].get(enode, [])

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules that acted."""
        return tuple(self._plans)

    def at(self, eclass: int, rules: Iterable[str]) -> Iterator[Step]:
        """The steps of some rules with a root that is this tensor."""
        for name in rules:
            if (name, eclass) not in self._at and name in self._plans:
                self._at[name, eclass] = list(self._find(self._plans[name], eclass))
            yield from self._at.get((name, eclass), ())

    def tensor(self, made: Made, place: int) -> ENode:
        """The e-node that stands for an output of an application, in the class of the tensor."""
        if not made.head.operator.has_bundle:
            return made.enode
        return self.index.rows[(Projection(place), (made.enode.eclass,))]

    def _find(self, plan: RulePlan, at: int | None = None) -> Iterator[Step]:
        judge = Judge(self.index, plan, self.program)
        for binding in Matcher(self.index, plan.left, plan.rule.roots).matches(at):
            scope = judge.scope_of(binding)
            step = None if scope is None else self._step(plan, binding, scope)
            if step is not None:
                yield step

    def _step(self, plan: RulePlan, binding: Binding, scope: Scope) -> Step | None:
        """The match with its right side, None where the snapshot has not all of that."""
        recipe = plan.recipes[recipe_for(plan, scope)]
        finder = _Finder(self, self._interner, dict(binding.tensors), dict(binding.lists))
        tensors = self._left(plan.rule, binding)
        try:
            for build in recipe.builds:
                finder.find(build, self._typer.build([build], scope))
            for union in recipe.unions:
                require_same(scope, union.root, union.ref)
        except (Refusal, KeyError):  # not here, or its e-nodes are gone
            return None
        joins = (
            Join(tensors[union.root], finder.made.get(union.ref))
            for union in recipe.unions
            if union.root in tensors
        )
        mapped = tuple(m.enode for run in binding.mapped.values() for m in run)
        reads = tuple(made.enode for made in binding.nodes.values())
        inner = tuple(self._inner(plan, binding, tensors))
        return Step(plan.rule.name, (*reads, *mapped), inner, tuple(finder.found), tuple(joins))

    def _left(self, rule: Rule, binding: Binding) -> dict[str, ENode]:
        """The tensors that the left side makes."""
        return {
            name: self.tensor(binding.nodes[number], place)
            for number, match in enumerate(rule.matches)
            for place, name in enumerate(match.outputs)
            if place in binding.nodes[number].outputs
        }

    def _inner(
        self, plan: RulePlan, binding: Binding, tensors: dict[str, ENode]
    ) -> Iterator[tuple[ENode, ENode]]:
        for number, match in enumerate(plan.left.matches):
            reader = binding.nodes[number].enode
            names = (i.name for i in match.inputs if isinstance(i, InputVariable))
            yield from ((reader, tensors[name]) for name in names if name in tensors)
            yield from ((reader, made.enode) for made in binding.mapped.get(number, ()))


@dataclass
class _Finder:
    """Looks the builds of a right side up, inputs before what reads them."""

    steps: Steps
    interner: Interner
    tensors: dict[str, int]
    lists: dict[str, tuple[int, ...]]
    found: list[ENode] = field(default_factory=list)
    made: dict[str, ENode] = field(default_factory=dict)

    def find(self, build: Build, columns: Columns) -> None:
        """Find one build.  Raises KeyError where the snapshot has none."""
        number = first_id(columns)
        match build:
            case BuildConstant(name):
                leaf = Leaf(LeafKind.CONSTANT, self.interner.constant(number).digest)
                self._name(name, self.steps.index.rows[(leaf, ())])
            case BuildNode():
                children = tuple(c for item in build.inputs for c in self._classes(item))
                head = Application(build.operator, *self.interner.attributes(number))
                self._outputs(build, self._row(head, children))
            case BuildMap():
                head = Application(build.operator, *self.interner.attributes(number))
                rows = [self._row(head, row) for row in self._mapped(build)]
                self.lists[build.name] = tuple(row.eclass for row in rows)

    def _row(self, head: Application, children: tuple[int, ...]) -> ENode:
        row = self.steps.index.application(head, children)
        if row is None:
            raise KeyError(head.operator.name)
        self.found.append(row)
        return row

    def _outputs(self, build: BuildNode, row: ENode) -> None:
        made = self.steps.index.made[row]
        for place in made.outputs:
            tensor = self.steps.tensor(made, place)
            if place < len(build.outputs):
                self._name(build.outputs[place], tensor)
            if place == 0:
                self._name(build.name, tensor)

    def _name(self, name: str, tensor: ENode) -> None:
        self.tensors[name], self.made[name] = tensor.eclass, tensor

    def _classes(self, item: str | One | Many) -> tuple[int, ...]:
        if isinstance(item, Many):
            return self.lists[item.ref]
        ref = item.ref if isinstance(item, One) else item
        return (self.steps.index.absent if ref == ABSENT else self.tensors[ref],)

    def _mapped(self, build: BuildMap) -> Iterator[tuple[int, ...]]:
        for operand in self.lists[build.over]:
            fixed = [self._classes(ref)[0] for ref in build.inputs if ref != build.over]
            fixed.insert(build.position, operand)
            yield tuple(fixed)
