"""Which rules led to an e-node.

Enters: an explored e-graph and its program.  Leaves: for an e-node that a rule made, the rules in
the order in which they had to act.  The engine records the rule that made an e-node, not what that
rule matched; so its matches are found again, and the one whose nodes are soonest made is taken.

What made two tensors one is not recorded: a chain names the rules that made nodes.  A `match each`
rule is the beginning of its chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.matching import Binding, Matcher
from tensat_dl.diagnosis.obstacles import Judge, Stage
from tensat_dl.egraph.build import ABSENT, Build, BuildConstant, BuildMap, BuildNode, Many, One
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.plan import RulePlan, plan_rule
from tensat_dl.egraph.question import recipe_for
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, LeafKind
from tensat_dl.egraph.typing import Columns, Refusal, Scope, Typer, first_id
from tensat_dl.language.program import CheckedProgram

#: A chain is not followed further than this.
_MAX_CHAIN = 32


@dataclass(frozen=True)
class Step:
    """One way in which a rule acted: the e-nodes of its left side and of its right side."""

    rule: str
    reads: tuple[ENode, ...]
    makes: tuple[ENode, ...]


@dataclass
class Derivations:
    """Finds chains; the matches of a rule are found once."""

    index: Index
    program: CheckedProgram
    _steps: dict[str, dict[ENode, list[Step]]] = field(default_factory=dict)
    _chains: dict[ENode, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Types are the same for all matches."""
        self._interner = Interner()
        self._typer = Typer(self.program.operators, self.program.functions, self._interner)

    def chain(self, enode: ENode) -> tuple[str, ...]:
        """The rules behind an e-node, the one that made it last; () for one of the original."""
        if not enode.rule:
            return ()
        if enode not in self._chains:
            self._chains[enode] = (enode.rule,)  # what a circle comes back to
            ways = [self._through(step) for step in self._made_by(enode)]
            self._chains[enode] = min(ways, key=len, default=(enode.rule,))
        return self._chains[enode]

    def _through(self, step: Step) -> tuple[str, ...]:
        before = [rule for read in step.reads for rule in self.chain(read)]
        return (*dict.fromkeys(before), step.rule)[-_MAX_CHAIN:]

    def _made_by(self, enode: ENode) -> list[Step]:
        if enode.rule not in self._steps:
            found: dict[ENode, list[Step]] = {}
            for step in self._find(enode.rule):
                for made in step.makes:
                    found.setdefault(made, []).append(step)
            self._steps[enode.rule] = found
        return self._steps[enode.rule].get(enode, [])

    def _find(self, name: str) -> Iterator[Step]:
        rule = next((r for r in self.program.rules if r.name == name), None)
        if rule is None or rule.each is not None:
            return
        plan = plan_rule(1, rule)
        judge = Judge(self.index, plan, self.program)
        for binding in Matcher(self.index, plan.left, rule.roots).matches():
            scope = judge.scope_of(binding, beside={Stage.RELATIONS})
            makes = None if scope is None else self._makes(plan, binding, scope)
            if makes:
                reads = tuple(made.enode for made in binding.nodes.values())
                mapped = tuple(m.enode for run in binding.mapped.values() for m in run)
                yield Step(name, (*reads, *mapped), makes)

    def _makes(self, plan: RulePlan, binding: Binding, scope: Scope) -> tuple[ENode, ...] | None:
        """The e-nodes of the right side, as far as the snapshot still has them."""
        recipe = plan.recipes[recipe_for(plan, scope)]
        finder = _Finder(self.index, self._interner, dict(binding.tensors), dict(binding.lists))
        try:
            for build in recipe.builds:
                finder.find(build, self._typer.build([build], scope))
        except (Refusal, KeyError):  # not here, or its e-nodes are gone
            return None
        return tuple(finder.found)


@dataclass
class _Finder:
    """Looks the builds of a right side up, inputs before what reads them."""

    index: Index
    interner: Interner
    tensors: dict[str, int]
    lists: dict[str, tuple[int, ...]]
    found: list[ENode] = field(default_factory=list)

    def find(self, build: Build, columns: Columns) -> None:
        """Find one build.  Raises KeyError where the snapshot has none."""
        number = first_id(columns)
        match build:
            case BuildConstant(name):
                leaf = Leaf(LeafKind.CONSTANT, self.interner.constant(number).digest)
                self.tensors[name] = self.index.rows[(leaf, ())].eclass
            case BuildNode():
                children = tuple(c for item in build.inputs for c in self._classes(item))
                head = Application(build.operator, *self.interner.attributes(number))
                self._name(build, self._row(head, children))
            case BuildMap():
                head = Application(build.operator, *self.interner.attributes(number))
                rows = [self._row(head, row) for row in self._mapped(build)]
                self.lists[build.name] = tuple(row.eclass for row in rows)

    def _row(self, head: Application, children: tuple[int, ...]) -> ENode:
        row = self.index.application(head, children)
        if row is None:
            raise KeyError(head.operator.name)
        self.found.append(row)
        return row

    def _name(self, build: BuildNode, row: ENode) -> None:
        for place, eclass in self.index.made[row].outputs.items():
            if place < len(build.outputs):
                self.tensors[build.outputs[place]] = eclass
            if place == 0:
                self.tensors[build.name] = eclass

    def _classes(self, item: str | One | Many) -> tuple[int, ...]:
        if isinstance(item, Many):
            return self.lists[item.ref]
        ref = item.ref if isinstance(item, One) else item
        return (self.index.absent if ref == ABSENT else self.tensors[ref],)

    def _mapped(self, build: BuildMap) -> Iterator[tuple[int, ...]]:
        for operand in self.lists[build.over]:
            fixed = [self._classes(ref)[0] for ref in build.inputs if ref != build.over]
            fixed.insert(build.position, operand)
            yield tuple(fixed)
