"""Rules: from `rewrite` and `rule` items to flat :class:`program.Rule`s.

Enters: the symbol of a rule.  Leaves: one rule for each direction and each operator of its
class.  Reports E0211, E0406, E0412, W0401, W0402, W0405 and what the sides report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tensat_dl.language import walk
from tensat_dl.language.check.annotations import Flags, check_effect
from tensat_dl.language.check.assignments import Assignments
from tensat_dl.language.check.conditions import check_lets, split_where
from tensat_dl.language.check.left import LeftSide
from tensat_dl.language.check.names import Kind, Symbol, report_other_kind
from tensat_dl.language.check.report import Reporter, source_text
from tensat_dl.language.check.right import RightSide
from tensat_dl.language.check.roots import find_roots
from tensat_dl.language.check.shapes import check_shapes
from tensat_dl.language.check.variables import Context, Declared, is_upper
from tensat_dl.language.program import Ascription, Each, Fact, Rule, Sort
from tensat_dl.sentences import listed
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import AttributeKind, Operator
from tensat_dl.vocabulary.written import DTYPE_ATTRIBUTES

#: What the name of the backward direction of a rule ends in.
BACKWARD = "<="


@dataclass(frozen=True)
class RuleSource:
    """A rule to check: its symbol, its flags, what the program declares.

    `contexts` has one for each direction and operator that was checked.
    """

    symbol: Symbol
    flags: Flags
    declared: Declared
    report: Reporter
    contexts: list[Context] = field(default_factory=list)

    @property
    def item(self) -> ast.Rewrite | ast.Rule:
        """The syntax tree of the rule."""
        item = self.symbol.item
        assert isinstance(item, ast.Rewrite | ast.Rule)
        return item


def check_rule(source: RuleSource) -> tuple[Rule, ...]:
    """Every direction and operator of one rule; nothing where it has errors."""
    errors = source.report.errors
    rules = []
    for suffix, operators in _instances(source):
        rules += _check_instance(source, suffix, operators)
        if source.report.errors > errors:
            return ()
    _warn_same_sides(source)
    for context in source.contexts:
        _warn_dropped(context)
        _warn_unused(context)
    for rule in rules:
        check_shapes(rule, source.report)
    return tuple(rules)


def _instances(source: RuleSource) -> Iterator[tuple[str, Mapping[str, Operator]]]:
    """The name's suffix and the class variable's operator, for each member of the class."""
    for_class = source.item.for_class
    if for_class is None:
        yield "", {}
        return
    for operator in _members(for_class, source):
        yield f"@{operator.name}", {for_class.variable.text: operator}


def _members(for_class: ast.ForClass, source: RuleSource) -> tuple[Operator, ...]:
    name = for_class.class_name
    symbol = source.symbol.scope.find(name.text)
    if symbol is not None and symbol.kind is Kind.CLASS:
        return source.declared.classes.get(symbol, ())
    candidates = (*source.symbol.scope.visible(Kind.CLASS),)
    if symbol is not None:
        report_other_kind(symbol, "a class", name.span, source.report, candidates)
        return ()
    help = did_you_mean(name.text, candidates) or f"declare it: `class {name.text} = Relu | Tanh`"
    source.report.error("E0201", f"unknown class `{name.text}`", name.span, help=help)
    return ()


def _check_instance(
    source: RuleSource, suffix: str, operators: Mapping[str, Operator]
) -> list[Rule]:
    item = source.item
    if isinstance(item, ast.Rule):
        return [_check_rule(source, item, suffix, operators)]
    rules = [_check_rewrite(source, item, (item.left, item.right), suffix, operators)]
    if item.both_ways:
        source.report.aside = "read from right to left, as `<=>` allows"
        sides = (item.right, item.left)
        rules.append(_check_rewrite(source, item, sides, suffix + BACKWARD, operators))
        source.report.aside = ""
    return rules


def _context(
    source: RuleSource, exprs: list[ast.Expr], operators: Mapping[str, Operator]
) -> Context:
    parts = [part for expr in exprs for part in walk.walk(expr)]
    return Context(
        source.symbol.scope,
        source.declared,
        source.report,
        operators,
        starred=frozenset(_starred(parts)),
        dtypes=frozenset(_dtypes(parts)),
    )


def _starred(parts: list[ast.Expr]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ast.Star) and isinstance(part.operand, ast.Name):
            yield part.operand.text


def _dtypes(parts: list[ast.Expr]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ast.Ascribed) and is_upper(part.type.dtype):
            yield part.type.dtype
        for keyword in part.keywords if isinstance(part, ast.Call) else ():
            value = keyword.value
            if keyword.name in DTYPE_ATTRIBUTES and isinstance(value, ast.Name):
                yield value.text


# --- rewrites -------------------------------------------------------------------------------


def _check_rewrite(
    source: RuleSource,
    item: ast.Rewrite,
    sides: tuple[ast.Expr, ast.Expr],
    suffix: str,
    operators: Mapping[str, Operator],
) -> Rule:
    pattern, term = sides
    clauses = [*item.where, *(let.value for let in item.lets)]
    context = _context(source, [pattern, term, *clauses], operators)
    left = LeftSide(context)
    root = left.root(pattern)
    if not left.matches and isinstance(pattern, ast.Name | ast.Ascribed):
        _check_expansive(pattern, source)
    _ascribe_from_right(term, left)
    body = _body(left, item.where, item.lets)
    lets = check_lets(item.lets, context)
    right = RightSide(context, Assignments(context, {root: pattern.span}))
    right.rewrite(root, term)
    check_effect(item.annotations, source.flags, False, source.report)
    return _rule(source, suffix, body, right, lets, (root,), None)


@dataclass(frozen=True)
class _Body:
    """What a left side and its `where` have become."""

    left: LeftSide
    ascriptions: tuple[Ascription, ...]
    facts: tuple[Fact, ...]
    conditions: tuple[ast.Expr, ...]
    sorts: tuple[tuple[str, Sort], ...]


def _body(left: LeftSide, where: tuple[ast.Expr, ...], lets: tuple[ast.Let, ...]) -> _Body:
    facts, conditions = split_where(where, lets, left.context)
    return _Body(left, left.finish(), facts, conditions, left.context.sorts())


def _rule(
    source: RuleSource,
    suffix: str,
    body: _Body,
    right: RightSide,
    lets: tuple[tuple[str, ast.Expr], ...],
    roots: tuple[str, ...],
    each: Each | None,
) -> Rule:
    source.contexts.append(right.context)
    multi_output = each is not None or len(roots) > 1
    return Rule(
        name=source.symbol.name + suffix,
        base=source.symbol.name,
        each=each,
        matches=tuple(body.left.matches),
        ascriptions=body.ascriptions,
        facts=body.facts,
        conditions=body.conditions,
        lets=lets,
        emits=tuple(right.emits),
        roots=roots,
        real=source.flags.real,
        rounds=source.flags.rounds or (1 if multi_output else None),
        cycles=source.flags.cycles,
        expansive=source.flags.expansive,
        off=source.flags.off,
        doc=source.item.doc,
        span=source.item.span,
        sorts=body.sorts,
    )


def _check_expansive(pattern: ast.Expr, source: RuleSource) -> None:
    if not source.flags.expansive:
        source.report.error(
            "E0406",
            "this left side matches every tensor",
            pattern.span,
            label="a bare name",
            help="put `@expansive` before the rule, and a limit into each schedule that reaches it",
        )


def _ascribe_from_right(term: ast.Expr, left: LeftSide) -> None:
    """A type holds wherever in the rule it is stated of a name."""
    for part in walk.walk(term):
        if not isinstance(part, ast.Ascribed):
            continue
        operand = part.operand
        while isinstance(operand, ast.Star | ast.Maybe):
            operand = operand.operand
        if isinstance(operand, ast.Name) and operand.text in left.context.variables:
            left.ascribe(operand.text, part.type)


def _warn_dropped(context: Context) -> None:
    for name, variable in context.variables.items():
        if variable.sort is Sort.ATTRIBUTES and not variable.used:
            context.report.warning(
                "W0401",
                f"the right side drops the attributes that `**{name}` captures",
                variable.span,
                help=f"pass them on as `**{name}`, or leave `**{name}` out to match defaults only",
            )


def _warn_unused(context: Context) -> None:
    for name, variable in context.variables.items():
        formal = variable.attribute
        grouped = bool(context.members)  # all that is named is the same for the group
        if formal is None or grouped or variable.used or name.startswith("$"):
            continue
        meant = f'`"{name}"` for this text, ' if formal.kind is AttributeKind.STRING else ""
        context.report.warning(
            "W0405",
            f"`{name}` takes any `{formal.name}`, and nothing uses it",
            variable.span,
            help=f"write {meant}`_` for any",
        )


def _warn_same_sides(source: RuleSource) -> None:
    item = source.item
    if isinstance(item, ast.Rewrite) and _squeezed(item.left) == _squeezed(item.right):
        source.report.warning(
            "W0402",
            "both sides are the same",
            item.span,
            help="mend one of the sides, or remove the rule",
        )


def _squeezed(expr: ast.Expr) -> str:
    return "".join(source_text(expr.span).split())


# --- rules with statements ------------------------------------------------------------------


def _check_rule(
    source: RuleSource, item: ast.Rule, suffix: str, operators: Mapping[str, Operator]
) -> Rule:
    values = [statement.value for statement in (*item.match, *item.emit)]
    clauses = [*item.where, *(let.value for let in item.lets)]
    context = _context(source, [*values, *clauses], operators)
    if not item.match:
        source.report.error(
            "E0415",
            "this rule matches nothing: its `match` is empty",
            item.name.span,
            help="write at least one statement `y = Op(..)`",
        )
    left = LeftSide(context)
    for statement in item.match:
        left.statement(statement)
    for statement in item.emit:
        _ascribe_from_right(statement.value, left)
    body = _body(left, item.where, () if item.each is not None else item.lets)
    each = None if item.each is None else _check_each(item.each, context)
    context.members = frozenset(() if each is None else each.members)
    lets = check_lets(item.lets, context)
    roots = find_roots(left.matches, item, context)
    right = RightSide(context, Assignments(context, roots))
    for statement in item.emit:
        right.statement(statement)
    right.assignments.finish()
    multi_output = each is not None or len(roots) > 1
    check_effect(item.annotations, source.flags, multi_output, source.report)
    return _rule(source, suffix, body, right, lets, tuple(roots), each)


def _check_each(each: ast.Each, context: Context) -> Each:
    for name in (*each.members, *each.key):
        if name.text not in context.variables:
            _report_each(name, f"`{name.text}` is not bound by the match", context)
    members = tuple(dict.fromkeys(name.text for name in each.members))
    for name in each.key:
        if name.text in members:
            _report_each(name, f"`{name.text}` cannot be both a member and a key", context)
    written = [name.text for name in each.key]
    others = [name for name in context.users_names() if name not in members]
    return Each(members, tuple(dict.fromkeys((*written, *others))))


def _report_each(name: ast.Name, message: str, context: Context) -> None:
    candidates = list(context.users_names())
    help = "let it stand in one of the two lists"
    if name.text not in candidates:
        help = did_you_mean(name.text, candidates) or f"the match binds {listed(candidates)}"
    context.report.error("E0412", message, name.span, help=help)
