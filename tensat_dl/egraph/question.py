"""Answers the engine's questions: may this match act, and what exactly would it make?

Enters: a question, that is the attribute and analysis ids of one or many matches.  Leaves: the
columns of the answer, or None.  Equal questions are asked once, so this is where Python may think.

A match may act when its attributes fit, its ascriptions hold, its conditions are *true* (neither
false nor unknown), its weights are weights, its right side has a type, and that type is the
left side's, root by root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tensat_dl.egraph.derive import EncodedDerivation
from tensat_dl.egraph.interning import ABSENT_ANALYSIS, Analysis, Interner
from tensat_dl.egraph.left import (
    AttributeRows,
    all_present,
    applied_patterns,
    ascriptions_hold,
    attributes_fit,
    is_hopeless,
    literals_fit,
    mapped_inputs,
    required_fit,
    varying_list,
    weights_fit,
)
from tensat_dl.egraph.plan import MatchPlan, RulePlan
from tensat_dl.egraph.typing import Refusal, Scope, Typer, same_type
from tensat_dl.language import program
from tensat_dl.language.evaluate import UNKNOWN, Environment, evaluate, holds
from tensat_dl.language.values import Value, equal
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type, TypeFault, type_text

#: A row of the engine: numbers.
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """`recipe` is the number of the recipe that acts; `columns` what its actions read."""

    recipe: int
    columns: tuple[int | tuple[int, ...], ...]


@dataclass
class Answerer:
    """Answers for all rules of a program.  `refusals` counts them by rule and reason."""

    interner: Interner
    typer: Typer
    functions: Mapping[str, program.Function]
    refusals: dict[tuple[str, str], int] = field(default_factory=dict)

    def rule(self, plan: RulePlan, row: Row) -> Answer | None:
        """May a match of `plan` with these columns act, and how?"""
        scope = self.scope(plan.left, row, plan.rule)
        if scope is None:
            return None
        try:
            return self._act(plan, scope)
        except Refusal as refusal:
            self.refuse(plan.rule, str(refusal))
            return None

    def derivation(self, encoded: EncodedDerivation, row: Row) -> tuple[int, ...] | None:
        """The integer arguments of the head, or None when the conditions do not hold."""
        scope = self.scope(encoded.left, row, encoded.derivation)
        if scope is None:
            return None
        values = [scope.env.names.get(name, UNKNOWN) for name in encoded.outputs]
        if not all(isinstance(v, int) for v in values):
            return None
        return tuple(int(v) for v in values)  # type: ignore[arg-type]

    def refuse(self, rule: program.Rule, reason: str) -> None:
        """Count a refused question."""
        key = (rule.name, reason)
        self.refusals[key] = self.refusals.get(key, 0) + 1

    def scope(
        self, left: MatchPlan, row: Row, rule: program.Rule | program.Derivation
    ) -> Scope | None:
        """What the variables of a left side are, or None when some condition does not hold."""
        scope, attributes = self._read(left, row)
        if is_hopeless(left, rule.facts, scope):
            return None
        names = dict(scope.env.names)
        inputs = self._infer(left, attributes, scope, names)
        if inputs is None:
            return None
        if not all_present(left, scope):
            return None
        applied = applied_patterns(left, attributes, inputs, scope)
        if not attributes_fit(left, attributes, applied, names):
            return None
        if not ascriptions_hold(rule.ascriptions, scope, names, self.functions):
            return None
        env = Environment(names, self.functions)
        if not required_fit(applied, env):
            return None
        if isinstance(rule, program.Rule) and rule.each is None:
            for name, expr in rule.lets:
                names[name] = evaluate(expr, env)
        if not literals_fit(left, scope, env) or not weights_fit(rule.facts, scope):
            return None
        if not all(holds(c, env) is True for c in rule.conditions):
            return None
        return Scope(env, scope.tensors, scope.lists)

    def _read(self, left: MatchPlan, row: Row) -> tuple[Scope, AttributeRows]:
        interner, reading = self.interner, left.reading
        tensors = {name: interner.analysis(row[place]) for place, name in reading.tensors}
        lists = {name: interner.analyses(row[place]) for place, name in reading.lists}
        attributes = {key: interner.attributes(row[place]) for place, key in reading.attributes}
        names: dict[str, Value] = {name: a.type for name, a in tensors.items()}
        for name, analyses in lists.items():
            names[name] = tuple([a.type for a in analyses])
        names.update((name, row[place]) for place, name in reading.numbers)
        return Scope(Environment(names), tensors, lists), attributes

    def _infer(
        self, left: MatchPlan, attributes: AttributeRows, scope: Scope, names: dict[str, Value]
    ) -> list[tuple[Analysis, ...]] | None:
        """The analyses of what the matches make, inputs before outputs; gives the inputs of each
        match, or None where something has no type."""
        inputs: dict[int, tuple[Analysis, ...]] = {}
        for index in left.inputs_first:
            match = left.matches[index]
            found = self._inputs(match, attributes.get((index, True)), scope)
            if found is None:
                return None
            inputs[index] = found
            if not self._infer_outputs(match, attributes[index, False], found, scope, names):
                return None
        if len(inputs) < len(left.matches):
            return None
        return [inputs[index] for index in range(len(left.matches))]

    def _infer_outputs(
        self,
        match: program.Match,
        attributes: tuple[Attributes, int],
        inputs: tuple[Analysis, ...],
        scope: Scope,
        names: dict[str, Value],
    ) -> bool:
        if match.operator.kind is not OperatorKind.ONNX:
            return True
        outputs = self._apply(match.operator, attributes, inputs)
        if outputs is None:
            return False
        for name, analysis in zip(match.outputs, outputs, strict=False):
            scope.tensors[name] = analysis
            names[name] = analysis.type
        return True

    def _apply(
        self, operator: Operator, attributes: tuple[Attributes, int], inputs: tuple[Analysis, ...]
    ) -> tuple[Analysis, ...] | None:
        found = self.typer.apply(operator, *attributes, inputs)
        return None if isinstance(found, TypeFault) else found

    def _inputs(
        self, match: program.Match, mapped: tuple[Attributes, int] | None, scope: Scope
    ) -> tuple[Analysis, ...] | None:
        """What is known of a match's inputs, absent ones included, lists spread."""
        found: list[Analysis] = []
        for item in match.inputs:
            match item:
                case program.InputVariable(name):
                    found.append(scope.tensors[name])
                case program.InputStar(name):
                    found += scope.lists[name]
                case program.InputMap():
                    assert mapped is not None
                    elements = self._elements(item, mapped, scope)
                    if elements is None:
                        return None
                    found += elements
                case _:
                    found.append(ABSENT_ANALYSIS)
        return tuple(found)

    def _elements(
        self, item: program.InputMap, attributes: tuple[Attributes, int], scope: Scope
    ) -> list[Analysis] | None:
        """What is known of the elements of a mapped run."""
        found: list[Analysis] = []
        for place in range(len(scope.lists[varying_list(item)])):
            outputs = self._apply(item.operator, attributes, mapped_inputs(item, place, scope))
            if outputs is None:
                return None
            found.append(outputs[0])
        return found

    def _act(self, plan: RulePlan, scope: Scope) -> Answer:
        number = recipe_for(plan, scope)
        recipe = plan.recipes[number]
        columns = self.typer.build(recipe.builds, scope)
        for union in recipe.unions:
            require_same(scope, union.root, union.ref)
        return Answer(number, tuple(columns))


def recipe_for(plan: RulePlan, scope: Scope) -> int:
    """The number of the recipe for the inputs that are absent in this match."""
    if len(plan.recipes) == 1:
        return 0
    absent = {n for n, a in scope.tensors.items() if isinstance(a.type, AbsentType)}
    relevant = set().union(*(r.absent for r in plan.recipes))
    return next(i for i, r in enumerate(plan.recipes) if r.absent == frozenset(absent & relevant))


def require_same(scope: Scope, root: str, ref: str) -> None:
    """Raise Refusal unless what a right side made has the type of the root it is joined to."""
    require_same_types(scope.tensors[root].type, scope.tensors[ref].type if ref else AbsentType())


def require_same_types(left: Type, right: Type) -> None:
    """Raise Refusal, with the reason, unless two tensors of these types may be joined."""
    if not same_type(left, right):
        raise Refusal(f"the type would change from {type_text(left)} to {type_text(right)}")
    if isinstance(left, TensorType) and isinstance(right, TensorType):
        _require_values(left, right)


def _require_values(left: TensorType, right: TensorType) -> None:
    values = zip(left.value or (), right.value or (), strict=False)
    fills = () if None in (left.fill, right.fill) else ((left.fill, right.fill),)
    if any(equal(a, b) is False for a, b in (*values, *fills)):
        raise Refusal("the value would change: the rule is not sound here")
