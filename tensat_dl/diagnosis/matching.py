"""A left side matched over an e-graph, step by step.

Enters: the plan of a left side, an index.  Leaves: every :class:`Binding` that satisfies its
structure (operators and who reads whom; attributes, types and conditions are `diagnosis.obstacles`'
part), and the furthest :class:`Stuck` of those that did not get through.

The engine finds all matches at once and says nothing of those that fail; this is the slow way
that can tell where one ended.  It gives up after `MAX_STEPS` tries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tensat_dl.diagnosis.index import Index, Made
from tensat_dl.egraph.left import varying_list
from tensat_dl.egraph.plan import MatchPlan
from tensat_dl.egraph.query import run_position
from tensat_dl.language import program

#: Candidates that are looked at in all.
MAX_STEPS = 200_000
#: How many of the furthest partial matches are kept.
_SHOWN = 3


@dataclass(frozen=True)
class Binding:
    """`tensors`: variable -> class; `lists`: variable -> classes; `nodes`: number of the match ->
    what stands for it; `mapped`: number of the match -> the elements of its mapped run."""

    tensors: Mapping[str, int] = field(default_factory=dict)
    lists: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    nodes: Mapping[int, Made] = field(default_factory=dict)
    mapped: Mapping[int, tuple[Made, ...]] = field(default_factory=dict)

    def with_tensor(self, name: str, eclass: int) -> Binding | None:
        """The binding in which `name` is `eclass`, None where it is another already."""
        known = self.tensors.get(name)
        if known is not None:
            return self if known == eclass else None
        return replace(self, tensors={**self.tensors, name: eclass})

    def with_list(self, name: str, classes: tuple[int, ...]) -> Binding | None:
        """The binding in which the list `name` is `classes`."""
        known = self.lists.get(name)
        if known is not None:
            return self if known == classes else None
        return replace(self, lists={**self.lists, name: classes})


@dataclass(frozen=True)
class Stuck:
    """No node stands for match number `match`, with `binding` up to there.  `tried` are nodes of
    the right operator at the right place whose inputs are not the pattern's."""

    match: int
    binding: Binding
    tried: tuple[Made, ...]


@dataclass
class Matcher:
    """Enumerates the matches of one left side."""

    index: Index
    plan: MatchPlan
    roots: Sequence[str]
    furthest: list[Stuck] = field(default_factory=list)
    steps: int = 0

    def matches(self, at: int | None = None) -> Iterator[Binding]:
        """All bindings, or those in which some root is the class `at`."""
        if at is None:
            yield from self._extend(Binding(), _order(self.plan.matches, self.roots))
            return
        for root in self.roots:
            others = [name for name in self.roots if name != root]
            order = _order(self.plan.matches, [root, *others])
            yield from self._extend(Binding({root: at}), order)

    def _extend(self, binding: Binding, left: Sequence[int]) -> Iterator[Binding]:
        if not left:
            yield binding
            return
        match = self.plan.matches[left[0]]
        tried: list[Made] = []
        found = False
        for made in self._candidates(match, binding):
            self.steps += 1
            if self.steps > MAX_STEPS:
                return
            tried.append(made)
            for extended in self._readings(left[0], match, made, binding):
                found = True
                yield from self._extend(extended, left[1:])
        if not found:
            self._stuck(Stuck(left[0], binding, tuple(tried)))

    def _stuck(self, stuck: Stuck) -> None:
        depth = len(stuck.binding.nodes)
        if self.furthest and len(self.furthest[0].binding.nodes) > depth:
            return
        if self.furthest and len(self.furthest[0].binding.nodes) < depth:
            self.furthest.clear()
        if len(self.furthest) < _SHOWN:
            self.furthest.append(stuck)

    # --- one application --------------------------------------------------------------------

    def _candidates(self, match: program.Match, binding: Binding) -> Iterator[Made]:
        """Applications of the operator, found through what is bound already."""
        for place, name in enumerate(match.outputs):
            if name in binding.tensors:
                makers = self.index.makers(binding.tensors[name])
                yield from (
                    m for m, p in makers if p == place and m.head.operator == match.operator
                )
                return
        for item in match.inputs:
            if isinstance(item, program.InputVariable) and item.name in binding.tensors:
                eclass = binding.tensors[item.name]
                if eclass != self.index.absent:
                    readers = self.index.readers(eclass)
                    yield from (m for m in readers if m.head.operator == match.operator)
                    return
        yield from self.index.by_operator.get(match.operator, ())

    def _readings(
        self, number: int, match: program.Match, made: Made, binding: Binding
    ) -> Iterator[Binding]:
        bound: Binding | None = replace(binding, nodes={**binding.nodes, number: made})
        for place, name in enumerate(match.outputs):
            if bound is not None and place in made.outputs:
                bound = bound.with_tensor(name, made.outputs[place])
            elif bound is not None and match.exact_outputs:
                continue  # an output that nothing reads has no class of its own
            else:
                bound = None
        if bound is None:
            return
        children = made.enode.children
        yield from self._inputs(number, match, children, bound)
        swapped = children[::-1]
        if match.operator.commutative and len(children) == 2 and swapped != children:
            yield from self._inputs(number, match, swapped, bound)

    def _inputs(
        self, number: int, match: program.Match, children: tuple[int, ...], binding: Binding
    ) -> Iterator[Binding]:
        if not match.operator.is_variadic:
            bound = self._fixed(match.inputs, children, binding)
            if bound is not None:
                yield bound
            return
        place = run_position(match)
        if place is None:
            if len(children) == len(match.inputs):
                bound = self._fixed(match.inputs, children, binding)
                if bound is not None:
                    yield bound
            return
        behind = len(match.inputs) - place - 1
        if len(children) < place + behind:
            return
        end = len(children) - behind
        singles = (*match.inputs[:place], *match.inputs[place + 1 :])
        bound = self._fixed(singles, (*children[:place], *children[end:]), binding)
        if bound is not None:
            yield from self._run(number, match.inputs[place], children[place:end], bound)

    def _fixed(
        self, inputs: Sequence[program.MatchInput], children: Sequence[int], binding: Binding
    ) -> Binding | None:
        bound: Binding | None = binding
        for item, child in zip(inputs, children, strict=False):
            if bound is None:
                return None
            match item:
                case program.InputVariable(name, optional):
                    allowed = optional or child != self.index.absent
                    bound = bound.with_tensor(name, child) if allowed else None
                case program.InputAbsent():
                    bound = bound if child == self.index.absent else None
                case _:
                    raise TypeError(f"{item} stands in no fixed input; the plan holds this")
        return bound

    # --- runs of variadic inputs ------------------------------------------------------------

    def _run(
        self, number: int, item: program.MatchInput, classes: tuple[int, ...], binding: Binding
    ) -> Iterator[Binding]:
        if isinstance(item, program.InputStar):
            bound = binding.with_list(item.name, classes)
            if bound is not None:
                yield bound
        elif isinstance(item, program.InputMap) and classes:
            yield from self._mapped(number, item, classes, (), (), binding)

    def _mapped(
        self,
        number: int,
        item: program.InputMap,
        classes: tuple[int, ...],
        elements: tuple[Made, ...],
        operands: tuple[int, ...],
        binding: Binding,
    ) -> Iterator[Binding]:
        """Every element is the operator of the map, over one operand of the list."""
        if len(elements) == len(classes):
            bound = binding.with_list(varying_list(item), operands)
            if bound is not None:
                yield replace(bound, mapped={**bound.mapped, number: elements})
            return
        for made, place in self.index.makers(classes[len(elements)]):
            self.steps += 1
            same = not elements or made.head.attributes == elements[0].head.attributes
            if place or made.head.operator != item.operator or not same:
                continue
            star = next(i for i, x in enumerate(item.inputs) if isinstance(x, program.InputStar))
            children = made.enode.children
            if len(children) <= star or self.steps > MAX_STEPS:
                continue
            others = [x for i, x in enumerate(item.inputs) if i != star]
            rest = (*children[:star], *children[star + 1 :])
            bound = self._fixed(others, rest, binding)
            if bound is not None:
                yield from self._mapped(
                    number, item, classes, (*elements, made), (*operands, children[star]), bound
                )


def _order(matches: Sequence[program.Match], roots: Sequence[str]) -> list[int]:
    """Roots before what they read."""
    makes = {name: i for i, match in enumerate(matches) for name in match.outputs}
    order: list[int] = []
    pending = [makes[root] for root in reversed(roots) if root in makes]
    while pending:
        number = pending.pop()
        if number in order:
            continue
        order.append(number)
        names = [i.name for i in matches[number].inputs if isinstance(i, program.InputVariable)]
        pending += [makes[name] for name in reversed(names) if name in makes]
    return order + [i for i in range(len(matches)) if i not in order]
