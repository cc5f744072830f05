"""What keeps a match whose structure is right from acting.

Enters: a rule, a binding.  Leaves: the first :class:`Obstacle` in the order in which the engine's
answerer looks (absent inputs, attributes, types, constants, weights, conditions, the right side)
after what the engine asks before it (rounds, relations); or None where nothing is in the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.matching import Binding
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.left import (
    Applied,
    AttributeRows,
    all_present,
    applied_patterns,
    ascriptions_hold,
    bind_attributes,
    literals_fit,
    required_fit,
    weights_fit,
    written_attributes,
)
from tensat_dl.egraph.plan import MatchPlan, RulePlan
from tensat_dl.egraph.question import recipe_for, require_same
from tensat_dl.egraph.typing import Refusal, Scope, Typer
from tensat_dl.language import program, walk
from tensat_dl.language.evaluate import UNKNOWN, Environment, evaluate, holds
from tensat_dl.language.values import Value
from tensat_dl.syntax.print_expressions import format_expr, format_type
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.canonical import default_of, has_other_spellings
from tensat_dl.vocabulary.signature import value_text
from tensat_dl.vocabulary.types import AbsentType, OtherType, TensorType, type_text


class Stage(IntEnum):
    """How far a match got."""

    ABSENT = 1
    ATTRIBUTES = 2
    TYPES = 3
    VALUES = 4
    WEIGHTS = 5
    CONDITIONS = 6
    ROUNDS = 7
    RELATIONS = 8
    RIGHT_SIDE = 9


@dataclass(frozen=True)
class Obstacle:
    """`place` orders the obstacles of one stage: conditions in the order of the text."""

    stage: Stage
    message: str
    place: int = 0


@dataclass(frozen=True)
class Judge:
    """Judges the matches of one rule."""

    index: Index
    plan: RulePlan
    checked: program.CheckedProgram

    def obstacle(self, binding: Binding) -> Obstacle | None:
        """The first thing in the way."""
        return next(self._obstacles(binding), None)

    def scope_of(self, binding: Binding) -> Scope | None:
        """What the variables of a match are, None where its left side does not hold; facts of
        relations are taken to do so."""
        scope = self._scope(binding)
        names = dict(scope.env.names)
        if next(self._left_obstacles(binding, scope, names), None) is not None:
            return None
        return Scope(Environment(names, self.checked.functions), scope.tensors, scope.lists)

    def _obstacles(self, binding: Binding) -> Iterator[Obstacle]:
        scope, rule = self._scope(binding), self.plan.rule
        names = dict(scope.env.names)
        yield from self._left_obstacles(binding, scope, names)
        yield from self._missing_facts(rule)
        if rule.each is None:
            env = Environment(names, self.checked.functions)
            yield from self._untyped(Scope(env, scope.tensors, scope.lists))

    def _left_obstacles(
        self, binding: Binding, scope: Scope, names: dict[str, Value]
    ) -> Iterator[Obstacle]:
        """`names` grows by what attributes, types and `let` bind."""
        rule, left = self.plan.rule, self.plan.left
        if not all_present(left, scope):
            yield Obstacle(Stage.ABSENT, "an input is absent that the pattern needs")
        rows = _rows(binding)
        inputs = [
            tuple(self.index.analysis(c) for c in binding.nodes[i].enode.children)
            for i in range(len(left.matches))
        ]
        applied = applied_patterns(left, rows, inputs, scope)
        yield from self._wrong_outputs(binding)
        for one in applied:
            if not bind_attributes(one, names):
                yield Obstacle(Stage.ATTRIBUTES, _attribute_text(one, names))
        for ascription in rule.ascriptions:
            before = dict(names)
            if not ascriptions_hold([ascription], scope, names, self.checked.functions):
                yield Obstacle(Stage.TYPES, _type_text(ascription, scope, before))
        env = Environment(names, self.checked.functions)
        for one in applied:
            if not required_fit([one], env):
                yield Obstacle(Stage.ATTRIBUTES, _required_text(one, env))
        if rule.each is None:
            for name, expr in rule.lets:
                names[name] = evaluate(expr, env)
        if not literals_fit(left, scope, env):
            yield Obstacle(Stage.VALUES, _literal_text(self.plan, scope, env))
        yield from _not_weights(rule, scope)
        yield from _untrue(rule, env)
        yield from _too_late(rule, binding)

    def _scope(self, binding: Binding) -> Scope:
        tensors = {name: self.index.analysis(c) for name, c in binding.tensors.items()}
        lists = {
            name: tuple(self.index.analysis(c) for c in classes)
            for name, classes in binding.lists.items()
        }
        names: dict[str, Value] = {name: a.type for name, a in tensors.items()}
        names.update({name: tuple(a.type for a in known) for name, known in lists.items()})
        return Scope(Environment(names, self.checked.functions), tensors, lists)

    def _wrong_outputs(self, binding: Binding) -> Iterator[Obstacle]:
        for number, match in enumerate(self.plan.left.matches):
            made = binding.nodes[number].head.outputs
            if match.exact_outputs and made != len(match.outputs):
                text = f"{match.operator.name} has {made} outputs, not {len(match.outputs)}"
                yield Obstacle(Stage.ATTRIBUTES, text)

    def _missing_facts(self, rule: program.Rule) -> Iterator[Obstacle]:
        """Relations are the engine's: where one is asked for, nothing more can be said here."""
        facts = [fact for fact in rule.facts if not fact.is_weight]
        if facts:
            asked = ", ".join(f"`{f.relation}({', '.join(f.arguments)})`" for f in facts)
            yield Obstacle(Stage.RELATIONS, f"everything else holds; {asked} was not derived")

    def _untyped(self, scope: Scope) -> Iterator[Obstacle]:
        typer = Typer(self.checked.operators, self.checked.functions, Interner())
        try:
            recipe = self.plan.recipes[recipe_for(self.plan, scope)]
            typer.build(recipe.builds, scope)
            for union in recipe.unions:
                require_same(scope, union.root, union.ref)
        except Refusal as refusal:
            yield Obstacle(Stage.RIGHT_SIDE, f"the right side cannot be made: {refusal}")


def _rows(binding: Binding) -> AttributeRows:
    rows: AttributeRows = {}
    for number, made in binding.nodes.items():
        rows[number, False] = (made.head.attributes, made.head.outputs)
    for number, elements in binding.mapped.items():
        rows[number, True] = (elements[0].head.attributes, 1)
    return rows


# --- what is said ---------------------------------------------------------------------------


def _attribute_text(applied: Applied, names: Mapping[str, Value]) -> str:
    """Which attribute does not fit, and what it is."""
    operator, pattern, actual = applied.operator, applied.pattern, applied.actual
    for name, variable in pattern.bound:
        if name not in actual and not variable.startswith("$"):
            return f"{operator.name} has no attribute `{name}` here"
        if name in actual and variable in names and names[variable] != actual[name]:
            known = shown(names[variable])
            return f"`{variable}` is {known}, but {name}={value_text(actual[name])} here"
    if pattern.rest is None:
        for formal in operator.attributes:
            default = default_of(operator, formal.name, applied.inputs)
            here = actual.get(formal.name)
            if formal.name in pattern.mentioned or formal.implied or here == default:
                continue
            usual = "absent" if default is None else value_text(default)
            given = "absent" if here is None else value_text(here)
            return (
                f"{operator.name} has {formal.name}={given}; "
                f"the pattern does not mention it, so it must be {usual}"
            )
    return f"the attributes of {operator.name} are not those captured before"


def _required_text(applied: Applied, env: Environment) -> str:
    if has_other_spellings(applied.operator):
        return _node_text(applied, env)
    for name, expr in applied.pattern.required:
        actual = applied.actual.get(name, default_of(applied.operator, name, applied.inputs))
        wanted = evaluate(expr, env)
        given = "absent" if actual is None else value_text(actual)
        if wanted is UNKNOWN or wanted != actual:
            return (
                f"{applied.operator.name} has {name}={given}; "
                f"the pattern needs {format_expr(expr)} = {shown(wanted)}"
            )
    return f"an attribute of {applied.operator.name} has another value"


def _node_text(applied: Applied, env: Environment) -> str:
    """Which attribute would be another one, were the node as the pattern writes it."""
    wanted = written_attributes(applied, env)
    for name, value in wanted.items if wanted is not None else ():
        actual = applied.actual.get(name)
        if value != actual:
            given = "absent" if actual is None else value_text(actual)
            needed = value_text(value)
            return f"{applied.operator.name} has {name}={given}; the pattern says {name}={needed}"
    return f"an attribute of {applied.operator.name} has another value"


def _type_text(ascription: program.Ascription, scope: Scope, names: Mapping[str, Value]) -> str:
    name = ascription.variable
    known = scope.lists[name] if name in scope.lists else (scope.tensors[name],)
    actual = ", ".join(type_text(a.type) for a in known)
    bound = [n for n in _upper_names(ascription) if n in names]
    where = ", ".join(f"{n} = {shown(names[n])}" for n in bound)
    return f"`{name}` is {actual}, not {format_type(ascription.type)}" + (
        f" (with {where})" if where else ""
    )


def _upper_names(ascription: program.Ascription) -> Iterator[str]:
    for dim in ascription.type.dims or ():
        yield from (name.text for name in walk.names_in(dim) if name.text != "_")


def _literal_text(plan: RulePlan, scope: Scope, env: Environment) -> str:
    for name, literal in plan.left.literals:
        type_ = scope.tensors[name].type
        wanted = format_expr(literal.value)
        known = (type_.value, type_.fill) if isinstance(type_, TensorType) else (None, None)
        if known == (None, None):
            return f"the pattern needs the constant {wanted}; this is no known constant"
        here = str(known[1]) if known[0] is None else ", ".join(map(str, known[0]))
        if not literals_fit(_only(plan, name), scope, env):
            return f"the pattern needs the constant {wanted}; here it is {here}"
    return "a constant has another value"


def _only(plan: RulePlan, name: str) -> MatchPlan:
    return replace(plan.left, literals=tuple(x for x in plan.left.literals if x[0] == name))


def _not_weights(rule: program.Rule, scope: Scope) -> Iterator[Obstacle]:
    for fact in rule.facts:
        if fact.is_weight and not weights_fit([fact], scope):
            text = f"`{fact.arguments[0]}` is no weight: it depends on the model's inputs"
            yield Obstacle(Stage.WEIGHTS, text)


def _untrue(rule: program.Rule, env: Environment) -> Iterator[Obstacle]:
    for place, condition in enumerate(rule.conditions):
        answer = holds(condition, env)
        if answer is not True:
            known = dict.fromkeys(n.text for n in walk.names_in(condition) if n.text in env.names)
            values = ", ".join(f"{name} is {shown(env.names[name])}" for name in known)
            verdict = "false" if answer is False else "unknown"
            text = f"`{format_expr(condition)}` is {verdict}" + (f": {values}" if values else "")
            yield Obstacle(Stage.CONDITIONS, text, place)


def _too_late(rule: program.Rule, binding: Binding) -> Iterator[Obstacle]:
    """E-nodes of a generation that `@rounds` keeps from rules with several outputs."""
    rounds = rule.rounds or 1
    late = [made for made in binding.nodes.values() if made.enode.generation >= rounds]
    if rule.is_multi_output and late:
        last = max(late, key=lambda made: made.enode.generation)
        by = f"{last.head.operator.name} by `{last.enode.rule}` is of round {last.enode.generation}"
        why = f"`@rounds({rounds})` matches what is of earlier ones"
        yield Obstacle(Stage.ROUNDS, f"the {by} of rules with several outputs: {why}")


def shown(value: Value) -> str:
    """A value as a rule author writes it."""
    match value:
        case TensorType() | OtherType() | AbsentType():
            return type_text(value)
        case tuple():
            return f"[{', '.join(shown(item) for item in value)}]"
        case Attributes():
            return ", ".join(f"{name}={value_text(item)}" for name, item in value.items)
        case str():
            return f'"{value}"'
    return "unknown" if value is UNKNOWN else str(value)
