"""Instances of a left side: types, attributes and list lengths under which the rule may act.

Enters: a subject and a random generator.  Leaves: :class:`~tensat_dl.soundness.rows.Row`s.

An attempt goes through the matches from the inputs to the roots.  For each it proposes what is
not fixed yet, types it, and asks the conditions that can be decided; where one says no, only this
match is drawn again, some times.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from tensat_dl.egraph.left import (
    Applied,
    bind_attributes,
    mapped_inputs,
    required_fit,
    varying_list,
)
from tensat_dl.egraph.typing import Scope
from tensat_dl.language import program
from tensat_dl.soundness.known import Failure, Known, Untyped
from tensat_dl.soundness.proposals import Application, Blank, Misfit, propose
from tensat_dl.soundness.proposals.application import Input, Site
from tensat_dl.soundness.rows import Row, accepted, analysed, tensors_read
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type, TypeFault

#: How often one match is drawn again before an attempt is given up.
_TRIES = 24
#: How many of these tries are left to the design; then anything will do.
_DESIGNED = 5
#: How often it may have no type: mostly what was drawn before it does not fit.
_HOPELESS = 8
#: Elements of the largest tensor of an instance.
_MOST_ELEMENTS = 6000


class Dead(Exception):
    """The attempt leads nowhere."""


@dataclass
class Attempt(Known):
    """One attempt; `run` goes through the matches.  `has_choice`: the last one left a choice."""

    has_choice: bool = False

    # --- the way through ----------------------------------------------------------------------

    def run(self) -> Row:
        """Raises Dead where no instance is found."""
        waiting = list(enumerate(self.plan.left.matches))
        made = {name for _, match in waiting for name in match.outputs}
        while waiting:
            ready = [(i, m) for i, m in waiting if not tensors_read(m) & made - set(self.types)]
            if not ready:
                raise Dead
            index, match = ready[0]
            self._match(index, match)
            waiting.remove((index, match))
        self._rest()
        return self._accepted()

    def _match(self, index: int, match: program.Match) -> None:
        before = self.saved()
        self.wait()
        hopeless = 0
        for number in range(_TRIES):
            self.has_choice = False
            try:
                with self.draw.free() if number >= _DESIGNED else nullcontext():
                    self._draw_match(index, match)
                self.decide()
            except Failure as failure:
                self.failures[failure.reason] += 1
                hopeless += isinstance(failure, Untyped) and failure.operator == match.operator
            except Misfit:
                hopeless += 1
            else:
                return
            self.restore(before)
            if hopeless == _HOPELESS or not self.has_choice:
                break
        raise Dead

    def _rest(self) -> None:
        """Tensors that no match reads: left sides that are a bare variable."""
        for name in self.plan.left.tensors:
            if name not in self.types:
                application = Application(_any(), self.draw, [self.blank(name)], {}, frozenset(), 1)
                application.finish()
                found = application.inputs[0]
                assert isinstance(found, TensorType)
                self.bind(name, found)

    def _accepted(self) -> Row:
        scope = accepted(
            self.subject, self.plan, self.types, self.lists, self.names, self.attributes
        )
        if scope is None:
            raise Dead
        return Row(scope, self.attributes, self.spans)

    # --- one match ----------------------------------------------------------------------------

    def _draw_match(self, index: int, match: program.Match) -> None:
        inputs: list[Input] = []
        sources: list[str | None] = []
        for place, item in enumerate(match.inputs):
            found, names = self._input(index, match, place, item)
            inputs += found
            sources += names
        count = self._outputs(match)
        site = Site(f"{self.member} {index}", self.written_dims(next(iter(match.outputs), "")))
        application = self._apply(match.operator, match.attributes, inputs, count, site)
        self._settle(application, sources)
        self.decide()  # what the inputs decide already costs no inference
        # What the rule computes from the inputs can be computed only now.
        application.attributes |= self.fixed(match.operator, match.attributes)[0]
        types = application.types()
        outputs = self._typed(match.operator, application, types, count)
        self.attributes[index, False] = outputs[0]
        for name, type_ in zip(match.outputs, outputs[1], strict=False):
            if name in self.types and self.types[name] != type_:
                raise Failure("a tensor would have two types")
            self.bind(name, type_)
        self._pattern(match.operator, match.attributes, outputs[0][0], types)

    def _outputs(self, match: program.Match) -> int:
        if not match.operator.has_bundle:
            return 1
        if match.exact_outputs:
            return len(match.outputs)
        self.has_choice = True
        last = match.operator.outputs[-1]
        if last.variadic:
            return self.draw.random.choice((1, 2, 3))
        return max(1, match.operator.min_outputs)

    def _apply(
        self,
        operator: Operator,
        pattern: program.AttributePattern,
        inputs: list[Input],
        count: int,
        site: Site,
        fixed: Attributes | None = None,
    ) -> Application:
        given, free = self.fixed(operator, pattern)
        self.has_choice |= bool(free) or any(isinstance(i, Blank) for i in inputs)
        if fixed is not None:
            given, free = fixed.as_dict(), frozenset()
        application = Application(operator, self.draw, inputs, given, free, count, site=site)
        propose(application, self.subject.resembled.get(operator.qualified_name))
        return application

    def _typed(
        self, operator: Operator, application: Application, types: tuple[Type, ...], count: int
    ) -> tuple[tuple[Attributes, int], tuple[Type, ...]]:
        attributes = canonical_attributes(operator, application.attributes, types)
        found = self.subject.answerer.typer.outputs(operator, attributes, types, count)
        if isinstance(found, TypeFault):
            raise Untyped(operator, found.reason)
        if not all(_is_small(type_) for type_ in found):
            raise Failure(f"the type of {operator.name} is not known")
        return (attributes, count if operator.has_bundle else 1), found

    def _pattern(
        self,
        operator: Operator,
        pattern: program.AttributePattern,
        attributes: Attributes,
        types: tuple[Type, ...],
    ) -> None:
        applied = Applied(operator, pattern, attributes.as_dict(), types)
        if not bind_attributes(applied, self.names):
            raise Failure(f"the attributes of {operator.name} do not match")
        decided = all(self.is_bound(expr) for _, expr in pattern.required)
        if decided and not required_fit([applied], self.env):
            raise Failure(f"the attributes of {operator.name} do not match")

    def _settle(self, application: Application, sources: Sequence[str | None]) -> None:
        """Remember what was drawn: tensors by name, lists element by element."""
        drawn: dict[str, list[Type]] = {}
        for place, (type_, source) in enumerate(zip(application.types(), sources, strict=True)):
            if source is None:
                continue
            if place in application.spans:
                self.narrow(source.removeprefix("*"), application.spans[place])
            if source.startswith("*"):
                drawn.setdefault(source[1:], []).append(type_)
            elif source not in self.types:
                self.bind(source, type_)
        for name, types in drawn.items():
            if name not in self.lists:
                self.bind_list(name, types)

    # --- inputs -------------------------------------------------------------------------------

    def _input(
        self, index: int, match: program.Match, place: int, item: program.MatchInput
    ) -> tuple[list[Input], list[str | None]]:
        """The inputs that one item of a pattern stands for, with the names they are bound to."""
        match item:
            case program.InputVariable(name, optional):
                return [self._variable(match.operator, place, name, optional)], [name]
            case program.InputStar(name):
                elements = self.lists.get(name)
                if elements is not None:
                    return list(elements), [f"*{name}"] * len(elements)  # type: ignore[arg-type]
                length = self.draw.pick((f"{self.member} {name}", "length"), (1, 2, 2, 3))
                return [self.blank(name) for _ in range(length)], [f"*{name}"] * length
            case program.InputMap():
                types = self._mapped(index, item)
                return [t if isinstance(t, TensorType) else None for t in types], [None] * len(
                    types
                )
        return [None], [None]

    def _variable(self, operator: Operator, place: int, name: str, optional: bool) -> Input:
        if name in self.types:
            known = self.types[name]
            return known if isinstance(known, TensorType) else None
        formals = operator.inputs
        formal = formals[min(place, len(formals) - 1)] if formals else None
        may_miss = optional and (formal is None or formal.optional or place >= operator.min_inputs)
        factor = (f"{self.member} {name}", "absent")
        self.has_choice |= may_miss
        if may_miss and self.draw.pick(factor, (True, False)):
            self.bind(name, ABSENT)
            return None
        return self.blank(name)

    # --- lists that are mapped ----------------------------------------------------------------

    def _mapped(self, index: int, item: program.InputMap) -> list[Type]:
        """`*F(xs)`: the same application for each element, with the same attributes."""
        name = varying_list(item)
        known = self.lists.get(name)
        self.has_choice |= known is None
        length = len(known) if known is not None else self.draw.random.choice((1, 2, 2, 3))
        elements: list[Type] = list(known or ())
        results: list[Type] = []
        attributes: tuple[Attributes, int] | None = None
        for place in range(length):
            fixed = None if attributes is None else attributes[0]
            given = elements[place] if known is not None else None
            site = Site(f"{self.member} {index} {place}")
            element, attributes, result = self._element(item, name, given, fixed, site)
            if known is None:
                elements.append(element)
            if (
                results
                and results[0] != result
                and fixed is not None
                and not _alike(results[0], result)
            ):
                raise Failure("the elements of a list have different ranks")
            results.append(result)
        assert attributes is not None
        if known is None:
            self.bind_list(name, elements)
        self.attributes[index, True] = attributes
        scope = Scope(self.env, {n: analysed(t) for n, t in self.types.items()},
                      {name: tuple(analysed(t) for t in elements)})  # fmt: skip
        types = tuple(a.type for a in mapped_inputs(item, 0, scope))
        self._pattern(item.operator, item.attributes, attributes[0], types)
        return results

    def _element(
        self,
        item: program.InputMap,
        name: str,
        given: Type | None,
        fixed: Attributes | None,
        site: Site,
    ) -> tuple[Type, tuple[Attributes, int], Type]:
        inputs: list[Input] = []
        sources: list[str | None] = []
        for place, inner in enumerate(item.inputs):
            match inner:
                case program.InputStar():
                    blank = self.blank(name) if given is None else given
                    inputs.append(blank if isinstance(blank, TensorType | Blank) else None)
                    sources.append("*")
                case program.InputVariable(variable, optional):
                    inputs.append(self._variable(item.operator, place, variable, optional))
                    sources.append(variable)
                case _:
                    inputs.append(None)
                    sources.append(None)
        count = max(1, item.operator.min_outputs)
        application = self._apply(item.operator, item.attributes, inputs, count, site, fixed)
        types = application.types()
        attributes, outputs = self._typed(item.operator, application, types, count)
        if fixed is not None and attributes[0] != fixed:
            raise Failure("the elements of a list need different attributes")
        varying = next(i for i, source in enumerate(sources) if source == "*")
        rest = [None if source == "*" else source for source in sources]
        self._settle(application, rest)
        return types[varying], attributes, outputs[0]


def _is_small(type_: Type) -> bool:
    """A tensor of known dims that is quickly computed."""
    if not isinstance(type_, TensorType) or type_.dims is None:
        return False
    count = 1
    for dim in type_.dims:
        if not isinstance(dim, int) or dim < 0:
            return False
        count *= dim
    return count <= _MOST_ELEMENTS


def _alike(left: Type, right: Type) -> bool:
    if not (isinstance(left, TensorType) and isinstance(right, TensorType)):
        return False
    return left.rank == right.rank


def _any() -> Operator:
    """An operator that takes any tensor."""
    found = catalog.operator("Identity")
    assert found is not None
    return found
