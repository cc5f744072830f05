"""A checked program as text, for `show --stage checked` and for comparing rules.

Enters: a program.  Leaves: lines a person can read: flat rows, what each binds and requires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensat_dl.language.program import (
    AttributePattern,
    CheckedProgram,
    CostModel,
    CustomOperator,
    Derivation,
    Emit,
    EmitAbsent,
    EmitAttributes,
    EmitConstant,
    EmitMap,
    EmitMaybe,
    EmitNode,
    EmitStar,
    EmitTerm,
    EmitVariable,
    Fact,
    InputAbsent,
    InputLiteral,
    InputMap,
    InputStar,
    InputVariable,
    InputWildcard,
    Limit,
    Match,
    MatchInput,
    Prune,
    Repeat,
    Rule,
    Run,
    Saturate,
    Step,
)
from tensat_dl.sentences import counted
from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import format_expr
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.signature import signature


def print_program(program: CheckedProgram) -> str:
    """The whole program, ending in a newline."""
    parts = [
        *(_operator_text(custom) for custom in program.operators.values()),
        *(f"relation {r.name}({', '.join(r.columns)})" for r in program.relations),
        *(_derivation_text(derivation) for derivation in program.derivations),
        *(
            f"fn {f.name}({', '.join(f.parameters)}) = {format_expr(f.body)}"
            for f in program.functions.values()
        ),
        *(rule_text(rule) for rule in program.rules),
        *(f"ruleset {name} {{ {', '.join(rules)} }}" for name, rules in program.rulesets.items()),
        "\n".join(("schedule {", *_indented(_step_lines(program.schedule)), "}")),
        *(_cost_text(model) for model in program.cost_models.values()),
        *(f"default cost {default.model}" for default in program.default_costs),
    ]
    return "\n\n".join(parts) + "\n"


def rule_text(rule: Rule) -> str:
    """One rule: its name and flags, then `match`, `type`, `if`, `let` and `emit` lines."""
    lines = [*_body_lines(rule.matches, rule)]
    if rule.each is not None:
        lines.append(f"each ({', '.join(rule.each.members)}) by ({', '.join(rule.each.key)})")
    lines += [f"let {name} = {format_expr(value)}" for name, value in rule.lets]
    lines += [_emit_text(emit) for emit in rule.emits]
    return "\n".join((f"rule {rule.name}{_flags(rule)}", *_indented(lines)))


def _derivation_text(derivation: Derivation) -> str:
    head = f"derive {derivation.relation}({', '.join(derivation.arguments)})"
    return "\n".join((head, *_indented(_body_lines(derivation.matches, derivation))))


def _body_lines(matches: Iterable[Match], body: Rule | Derivation) -> Iterator[str]:
    yield from (f"match {_match_text(match)}" for match in matches)
    yield from (f"type {a.variable}: {type_text(a.type)}" for a in body.ascriptions)
    yield from (f"if {_fact_text(fact)}" for fact in body.facts)
    yield from (f"if {format_expr(condition)}" for condition in body.conditions)


def _fact_text(fact: Fact) -> str:
    return f"{fact.relation}({', '.join(fact.arguments)})"


def _flags(rule: Rule) -> str:
    flags = {
        "@real": rule.real,
        "@expansive": rule.expansive,
        f"@rounds({rule.rounds})": rule.rounds is not None,
        f"@cycles({rule.cycles.value if rule.cycles else ''})": rule.cycles is not None,
        f'@off("{rule.off}")': rule.off is not None,
    }
    return "".join(f" {text}" for text, stands in flags.items() if stands)


def type_text(type_expr: ast.TypeExpr) -> str:
    """`T[*B, M]`."""
    if type_expr.dims is None:
        return type_expr.dtype
    return f"{type_expr.dtype}[{', '.join(format_expr(dim) for dim in type_expr.dims)}]"


# --- the left side --------------------------------------------------------------------------


def _match_text(match: Match) -> str:
    outputs = ", ".join(match.outputs) + (" (all)" if match.exact_outputs else "")
    return f"{outputs} = {_applied(match.operator, match.inputs, match.attributes)}"


def _applied(
    operator: Operator, inputs: tuple[MatchInput, ...], attributes: AttributePattern
) -> str:
    written = [_input_text(found) for found in inputs]
    written += [f"{attribute}->{name}" for attribute, name in attributes.bound]
    written += [f"{attribute}={format_expr(value)}" for attribute, value in attributes.required]
    written += [f"**{attributes.rest}"] if attributes.rest is not None else []
    return f"{operator.qualified_name}({', '.join(written)})"


def _input_text(found: MatchInput) -> str:
    match found:
        case InputVariable():
            return found.name + ("?" if found.optional else "")
        case InputAbsent():
            return "absent"
        case InputWildcard():
            return "_"
        case InputLiteral():
            value = format_expr(found.value)
            return value if found.dtype is None else f"{found.dtype}({value})"
        case InputStar():
            return f"*{found.name}"
        case InputMap():
            return "*" + _applied(found.operator, found.inputs, found.attributes)


# --- the right side -------------------------------------------------------------------------


def _emit_text(emit: Emit) -> str:
    return f"emit {'*' if emit.starred else ''}{', '.join(emit.targets)} = {_term_text(emit.term)}"


def _term_text(term: EmitTerm) -> str:
    match term:
        case EmitVariable():
            return term.name
        case EmitStar():
            return f"*{term.name}"
        case EmitAbsent():
            return "absent"
        case EmitConstant():
            return f"{term.dtype}({format_expr(term.value)})"
        case EmitMaybe():
            return _term_text(term.term) + "?"
        case EmitNode():
            return _built(term.operator, term.inputs, term.attributes)
        case EmitMap():
            return "*" + _built(term.operator, term.inputs, term.attributes)


def _built(operator: Operator, inputs: tuple[EmitTerm, ...], attributes: EmitAttributes) -> str:
    written = [_term_text(found) for found in inputs]
    written += [f"{attribute}={format_expr(value)}" for attribute, value in attributes.values]
    written += [f"**{name}" for name in attributes.spread]
    return f"{operator.qualified_name}({', '.join(written)})"


# --- the rest -------------------------------------------------------------------------------


def _operator_text(custom: CustomOperator) -> str:
    lines = [f"infer {_inferred(name, value)}" for name, value in custom.infer]
    lines += [f"cost {format_expr(custom.cost)}"] if custom.cost is not None else []
    lines += [_emit_text(emit) for emit in custom.lowering.emits] if custom.lowering else []
    return "\n".join((f"op {signature(custom.operator)}", *_indented(lines)))


def _inferred(name: str, value: ast.Expr) -> str:
    if isinstance(value, ast.Ascribed):
        return f"{name}: {type_text(value.type)}"
    return f"{name} = {format_expr(value)}"


def _cost_text(model: CostModel) -> str:
    rows = [f"{name} = {format_expr(value)}" for name, value in model.rows.items()]
    rows += [f"_ = {format_expr(model.default)}"] if model.default is not None else []
    return "\n".join((f"cost model {model.name}", *_indented(rows)))


def _step_lines(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        match step:
            case Run():
                yield f"run {step.ruleset} ({counted(len(step.rules), 'rule')})"
            case Prune():
                yield "prune cycles"
            case Saturate():
                yield from ("saturate {", *_indented(_step_lines(step.body)))
                yield "}" + _limit_text(step.limit)
            case Repeat():
                yield from (f"repeat {step.count} {{", *_indented(_step_lines(step.body)))
                yield "}" + _limit_text(step.limit)


def _limit_text(limit: Limit) -> str:
    bounds = {"iters": limit.iters, "enodes": limit.enodes, "seconds": limit.seconds}
    given = ", ".join(f"{name}={value}" for name, value in bounds.items() if value is not None)
    return f" limit({given})" if given else ""


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
