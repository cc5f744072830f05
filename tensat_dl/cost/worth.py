"""Warns of rules whose result is never cheaper under the chosen cost model (W0408).

Enters: a checked program, the name of a model.  Leaves: warnings.  Said of a rule is what can be
proved without a graph: one node of the result costs at least as much as all nodes of the pattern,
the result reads all that the pattern reads, and no other rule goes on from what is new.  Models
whose prices depend on sizes are silent but for what is free in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tensat_dl.cost.flops import DATA_MOVEMENT
from tensat_dl.diagnostics import Diagnostic, Severity
from tensat_dl.graph.folding.choice import is_foldable
from tensat_dl.language.allowances import remaining
from tensat_dl.language.evaluate import Environment, evaluate
from tensat_dl.language.lint.matching import key
from tensat_dl.language.lint.sides import Node, Sides, sides, subterms, variables
from tensat_dl.language.lint.uses import leads_on, new_nodes
from tensat_dl.language.program import CheckedProgram, CostModel, Rule
from tensat_dl.vocabulary.operators import Operator, OperatorKind

#: What an operator of ONNX costs at all sizes, by cost model; None where that depends on sizes.
_FIXED: Mapping[str, Callable[[Operator], float | None]] = {
    "nodes": lambda operator: 1.0,
    "flops": lambda operator: 0.0 if operator.name in DATA_MOVEMENT else None,
}


def warn_of_worth(program: CheckedProgram, model: str) -> dict[str, Diagnostic]:
    """A warning for each rule of no use, by the name that it has in its file: one of which that can
    be said in all directions, and with all operators of its class."""
    by_base: dict[str, list[Rule]] = {}
    for rule in program.rules:
        by_base.setdefault(rule.base, []).append(rule)
    found = {base: _warning(rules, program, model) for base, rules in by_base.items()}
    return {
        base: diagnostic
        for base, diagnostic in found.items()
        if diagnostic is not None and remaining([diagnostic], program.allowances)
    }


def useless_rules(program: CheckedProgram, model: str) -> tuple[str, ...]:
    """The names of all the rules that there is a warning about."""
    if model not in program.cost_models and model not in _FIXED:
        return ()
    found = warn_of_worth(program, model)
    return tuple(rule.name for rule in program.rules if rule.base in found)


def _warning(rules: Sequence[Rule], program: CheckedProgram, model: str) -> Diagnostic | None:
    costs = [_never_cheaper(rule, program, model) for rule in rules]
    if not all(costs):
        return None
    return Diagnostic(
        "W0408",
        f"`{rules[0].base}` makes nothing cheaper under `{model}`: {costs[0]}",
        rules[0].span,
        label="no other rule matches what is new",
        help="choose another cost model, remove the rule, or add one that goes on from its result",
        severity=Severity.WARNING,
    )


def _never_cheaper(rule: Rule, program: CheckedProgram, model: str) -> str:
    """What both sides cost, "" where the result may be cheaper."""
    terms = None if rule.off else sides(rule)
    if terms is None or not isinstance(terms.right, Node) or not _is_kept(terms):
        return ""
    old = {key(node): _price(node.operator, program, model) for node in subterms(terms.left)}
    known = [price for price in old.values() if price is not None]
    new = _price(terms.right.operator, program, model)
    if len(known) < len(old) or new is None or sum(known) > new:
        return ""
    if leads_on(terms, program):
        return ""
    return f"what it matches costs {sum(known):g}, its result {new:g} or more"


def _is_kept(terms: Sides) -> bool:
    """The result is new, and needs all that the pattern does."""
    reads = set(variables(terms.left)) <= set(variables(terms.right))
    folds = all(is_foldable(node.operator) for node in subterms(terms.left))
    return reads and folds and terms.right in new_nodes(terms)


def _price(operator: Operator, program: CheckedProgram, model: str) -> float | None:
    """The price of an operator where it is the same for all sizes."""
    if model in program.cost_models:
        return _written_price(operator, program.cost_models[model])
    if model not in _FIXED or operator.kind is not OperatorKind.ONNX:
        return None
    return _FIXED[model](operator)


def _written_price(operator: Operator, model: CostModel) -> float | None:
    expr = model.rows.get(operator.qualified_name, model.default)
    if operator.qualified_name not in model.rows and operator.kind is OperatorKind.VIRTUAL:
        return None
    if expr is None:
        return 0.0
    value = evaluate(expr, Environment({}, {}))
    return float(value) if isinstance(value, int | float) and value >= 0 else None
