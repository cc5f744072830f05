"""The left side: nested patterns become flat rows, names become bound.

Enters: patterns (a rewrite's side, `match` statements, the body of a derivation).  Leaves:
matches, ascriptions; bindings in the context.  An operator's inputs are read before its
attributes, so that "first occurrence binds" follows the text.  Reports E0306, E0308, E0310, E0320,
E0404, E0415, E0418, and E0307 for a second `**`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tensat_dl.language import walk
from tensat_dl.language.check.attribute_patterns import attribute_pattern
from tensat_dl.language.check.calls import Application, resolve
from tensat_dl.language.check.constants import check_constant
from tensat_dl.language.check.expressions import check_value, resolve_functions
from tensat_dl.language.check.outputs import check_outputs
from tensat_dl.language.check.report import source_text
from tensat_dl.language.check.terms import (
    check_one_run,
    check_varying,
    reject_arithmetic,
    reject_list_of_inputs,
    split_ascription,
    unstarred,
)
from tensat_dl.language.check.types import (
    bind_type,
    check_computed_dims,
    check_consistent,
    ordered,
    resolved,
)
from tensat_dl.language.check.variables import Context, Variable
from tensat_dl.language.program import (
    Ascription,
    AttributePattern,
    InputAbsent,
    InputLiteral,
    InputMap,
    InputStar,
    InputVariable,
    InputWildcard,
    Match,
    MatchInput,
    Sort,
)
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.operators import Formal


@dataclass
class LeftSide:
    """Collects the rows of one left side; `finish` checks what had to wait for all bindings."""

    context: Context
    matches: list[Match] = field(default_factory=list)
    ascriptions: list[Ascription] = field(default_factory=list)
    _waiting: list[ast.Expr] = field(default_factory=list)
    _written: list[ast.TypeExpr] = field(default_factory=list)

    def root(self, pattern: ast.Expr) -> str:
        """A rewrite's left side: the variable of the tensor that it matches."""
        operand, ascribed = split_ascription(pattern)
        if isinstance(operand, ast.Name):
            self._name(operand)
            root = operand.text
        elif isinstance(operand, ast.Call) and not self.is_constant(operand):
            root = self._term(operand)
        else:
            self._reject_root(operand)
            return self.context.fresh(Sort.TENSOR, pattern.span)
        self.ascribe(root, ascribed)
        return root

    def _reject_root(self, operand: ast.Expr) -> None:
        if isinstance(operand, ast.Binary | ast.Unary):
            reject_arithmetic(operand, self.context)
        else:
            self.context.report.error(
                "E0415",
                f"`{source_text(operand.span)}` is no pattern",
                operand.span,
                label="the left side is an operator and its inputs",
                help="inputs stand in round brackets"
                if isinstance(operand, ast.Index)
                else "begin with an operator of the graph, as in `Relu(x)`",
            )
        for name in walk.names_in(operand):
            self._recover_input(name)

    def statement(self, statement: ast.Statement) -> tuple[str, ...]:
        """`y1, y2 = Op(..)`: binds and returns the targets; those named `_` are internal."""
        for target in statement.targets:
            if target.text != "_":
                self.context.bind_tensor(target.text, target.span)
        targets = tuple(
            self.context.fresh(Sort.TENSOR, target.span) if target.text == "_" else target.text
            for target in statement.targets
        )
        value, ascribed = split_ascription(statement.value)
        if statement.starred or not isinstance(value, ast.Call) or self.is_constant(value):
            self.context.report.error(
                "E0415",
                f"`{source_text(statement.value.span)}` is no pattern",
                statement.value.span,
                label="a statement of a match is `y = Op(..)`",
            )
            self._recover_input(value)
            return targets
        self._apply(value, targets, exact=len(targets) > 1)
        for output in targets if ascribed is not None else ():
            self.ascribe(output, ascribed)
        return targets

    def ascribe(self, variable: str, type_expr: ast.TypeExpr | None) -> None:
        """Record that a variable has a type, and bind the names in it."""
        if type_expr is not None:
            bind_type(type_expr, self.context)
            self._written.append(type_expr)
            self.ascriptions.append(Ascription(variable, resolved(type_expr, self.context)))

    def finish(self) -> tuple[Ascription, ...]:
        """Check computed attributes and dims; the ascriptions, in the order to evaluate them."""
        for expr in self._waiting:
            check_value(expr, self.context)
        for written in self._written:
            check_computed_dims(written, self.context)
        check_consistent(self.ascriptions, self.context)
        return ordered(self.ascriptions)

    def is_constant(self, call: ast.Call) -> bool:
        """`f32(..)`, or `T(..)` with an element type variable of the rule."""
        concrete = dtypes.from_name(call.function) is not None
        return call.domain is None and (concrete or call.function in self.context.dtypes)

    # --- operators ----------------------------------------------------------------------

    def _term(self, call: ast.Call) -> str:
        name = self.context.fresh(Sort.TENSOR, call.span)
        self._apply(call, (name,), exact=False)
        return name

    def _apply(self, call: ast.Call, outputs: tuple[str, ...], *, exact: bool) -> None:
        application = resolve(call, self.context)
        if application is None:
            self._recover(call)
            return
        check_outputs(application.operator, len(outputs), call, self.context)
        pairs = zip(application.inputs, application.formals, strict=True)
        inputs = tuple(self._input(expr, formal, application) for expr, formal in pairs)
        check_one_run(application, self.context)
        attributes = self._attributes(application)
        operator = application.operator
        self.matches.append(Match(operator, attributes, inputs, outputs, exact, call.span))

    def _recover(self, call: ast.Call) -> None:
        """Bind what a faulty application would have bound, so that one mistake is told once."""
        for arg in call.args:
            operand, ascribed = split_ascription(arg)
            if ascribed is not None:
                bind_type(ascribed, self.context)
            self._recover_input(operand)
        for keyword in call.keywords:
            if isinstance(keyword.value, ast.Name):
                self.context.variables.setdefault(
                    keyword.value.text, _variable(Sort.VALUE, keyword.value)
                )
        for splat in call.splats:
            self.context.variables.setdefault(splat.text, _variable(Sort.ATTRIBUTES, splat))

    def _recover_input(self, expr: ast.Expr) -> None:
        sort = Sort.TENSOR
        if isinstance(expr, ast.Star):
            expr, sort = expr.operand, Sort.TENSORS
        if isinstance(expr, ast.Maybe):
            expr = expr.operand
        if isinstance(expr, ast.Call) and not self.is_constant(expr):
            self._term(expr) if sort is Sort.TENSOR else self._recover(expr)
        elif isinstance(expr, ast.Name):
            self.context.variables.setdefault(expr.text, _variable(sort, expr))

    def _attributes(self, application: Application) -> AttributePattern:
        pattern = attribute_pattern(application, self.context)
        self._waiting += [
            keyword.value
            for formal, keyword in application.attributes
            if formal.name in dict(pattern.required)
        ]
        return pattern

    # --- inputs -------------------------------------------------------------------------

    def _input(self, expr: ast.Expr | None, formal: Formal, application: Application) -> MatchInput:
        if expr is None:
            return InputAbsent()
        operand, ascribed = split_ascription(expr)
        match operand:
            case ast.Name():
                self._name(operand)
                found: MatchInput = InputVariable(operand.text)
            case ast.Wildcard():
                found = self._wildcard(operand, ascribed)
            case ast.Maybe():
                found = self._maybe(operand, formal)
            case ast.Star():
                found = self._star(operand)
            case ast.Call() if not self.is_constant(operand):
                found = InputVariable(self._term(operand))
            case _:
                found = self._literal(operand, application)
        if isinstance(found, InputVariable | InputStar):
            self.ascribe(found.name, ascribed)
        elif ascribed is not None:
            self._reject_ascription(expr)
        return found

    def _name(self, name: ast.Name, *, optional: bool = False) -> None:
        self.context.bind_tensor(name.text, name.span, optional=optional)

    def _wildcard(self, wildcard: ast.Wildcard, ascribed: ast.TypeExpr | None) -> MatchInput:
        if ascribed is None:
            return InputWildcard()
        return InputVariable(self.context.fresh(Sort.TENSOR, wildcard.span))

    def _maybe(self, maybe: ast.Maybe, formal: Formal) -> MatchInput:
        if not formal.optional:
            self.context.report.error(
                "E0308",
                f"the input `{formal.name}` is always present",
                maybe.span,
                label="never absent",
                help=f"write `{source_text(maybe.operand.span)}` without `?`",
            )
        if isinstance(maybe.operand, ast.Name):
            self._name(maybe.operand, optional=True)
            return InputVariable(maybe.operand.text, optional=True)
        if isinstance(maybe.operand, ast.Wildcard):
            name = self.context.fresh(Sort.TENSOR, maybe.span)
            self.context.variables[name].optional = True
            return InputVariable(name, optional=True)
        self.context.report.error(
            "E0308",
            "only a name may be present or absent on the left",
            maybe.span,
            help="write two rules: one with the input, one without",
        )
        self._recover_input(maybe.operand)
        return InputAbsent()

    def _literal(self, expr: ast.Expr, application: Application) -> MatchInput:
        if isinstance(expr, ast.Call):
            return self._typed_literal(expr)
        if reject_list_of_inputs(expr, application.operator.name, self.context):
            return InputWildcard()
        if isinstance(expr, ast.Number | ast.Boolean | ast.ListExpr | ast.Unary | ast.String):
            self._waiting.append(expr)
            return InputLiteral(resolve_functions(expr, self.context))
        reject_arithmetic(expr, self.context)
        for name in walk.names_in(expr):
            self._recover_input(name)
        return InputWildcard()

    def _typed_literal(self, call: ast.Call) -> MatchInput:
        if not check_constant(call, self.context.report):
            return InputWildcard()
        self._waiting.append(call.args[0])
        return InputLiteral(resolve_functions(call.args[0], self.context), call.function)

    def _reject_ascription(self, expr: ast.Expr) -> None:
        self.context.report.error(
            "E0316", "only a name or an operator can have a type here", expr.span
        )

    # --- lists of inputs ----------------------------------------------------------------

    def _star(self, star: ast.Star) -> MatchInput:
        operand = star.operand
        if isinstance(operand, ast.Wildcard):
            return InputStar(self.context.fresh(Sort.TENSORS, star.span))
        if isinstance(operand, ast.Name):
            self.context.bind(operand.text, Sort.TENSORS, operand.span)
            return InputStar(operand.text)
        if isinstance(operand, ast.Call):
            return self._map(operand)
        self.context.report.error(
            "E0309", "a starred input is a name or an operator, as in `*xs`, `*F(xs)`", star.span
        )
        return InputStar(self.context.fresh(Sort.TENSORS, star.span))

    def _map(self, call: ast.Call) -> MatchInput:
        application = resolve(call, self.context, elementwise=True)
        if application is None:
            self._recover(call)
            return InputStar(self.context.fresh(Sort.TENSORS, call.span))
        varying = check_varying(application, self.context)
        pairs = zip(application.inputs, application.formals, strict=True)
        inputs = tuple(
            self._star(ast.Star(unstarred(expr), expr.span))
            if expr is not None and expr is varying
            else self._map_input(expr, formal, application)
            for expr, formal in pairs
        )
        return InputMap(application.operator, self._attributes(application), inputs)

    def _map_input(
        self, expr: ast.Expr | None, formal: Formal, application: Application
    ) -> MatchInput:
        operand = None if expr is None else split_ascription(expr)[0]
        if isinstance(operand, ast.Call) and not self.is_constant(operand):
            self.context.report.error(
                "E0418",
                "inside `*F(..)` the inputs are names",
                operand.span,
                help="match the inner operator by a statement of its own",
            )
        return self._input(expr, formal, application)


def _variable(sort: Sort, name: ast.Name) -> Variable:
    return Variable(sort, name.span)
