"""The right side: what a rule builds, from what its left side bound.

Enters: terms and `emit` statements, with the context that the left side filled.  Leaves: emits.
Reports E0308, E0309, E0316, E0320, E0401 to E0403, E0405, E0412, E0414.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tensat_dl.diagnostics import Label
from tensat_dl.language import walk
from tensat_dl.language.check.assignments import Assignments
from tensat_dl.language.check.calls import Application, resolve
from tensat_dl.language.check.constants import check_constant, reject_bare
from tensat_dl.language.check.expressions import check_value
from tensat_dl.language.check.outputs import check_outputs, check_starred_output
from tensat_dl.language.check.report import source_text
from tensat_dl.language.check.terms import (
    check_varying,
    reject_arithmetic,
    reject_list_of_inputs,
    split_ascription,
)
from tensat_dl.language.check.unbound import report_member
from tensat_dl.language.check.variables import Context, Variable
from tensat_dl.language.program import (
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
    Sort,
)
from tensat_dl.sentences import listed
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.operators import Formal


@dataclass
class RightSide:
    """Builds the emits of one rule, or of a lowering, and keeps book of what they assign."""

    context: Context
    assignments: Assignments
    emits: list[Emit] = field(default_factory=list)

    def __post_init__(self) -> None:
        """From here on, names are read, not bound."""
        self.context.building = True

    def rewrite(self, root: str, term: ast.Expr) -> None:
        """The right side of a rewrite, which becomes what `root` is."""
        self.emits.append(Emit((root,), False, self.term(term), term.span))

    def statement(self, statement: ast.Statement) -> None:
        """`y1, y2 = Op(..)`, `t = Op(..)`, `*y = Op(..)`."""
        value, ascribed = split_ascription(statement.value)
        if isinstance(value, ast.Call) and not self._is_constant(value):
            term = self._node(value, outputs=len(statement.targets))
            if statement.starred and isinstance(term, EmitNode):
                check_starred_output(term.operator, value, self.context)
        else:
            term = self.term(value)
            self._check_single(statement, value)
        if ascribed is not None:
            self._reject_type(statement.value)
        targets = tuple(
            self.assignments.assign(target, statement.starred) for target in statement.targets
        )
        self.emits.append(Emit(targets, statement.starred, term, statement.span))

    def _check_single(self, statement: ast.Statement, value: ast.Expr) -> None:
        if len(statement.targets) > 1 or statement.starred:
            self.context.report.error(
                "E0310",
                f"`{source_text(value.span)}` is one tensor, not {len(statement.targets)}"
                if not statement.starred
                else f"`{source_text(value.span)}` is one tensor, not a list",
                value.span,
            )

    # --- terms --------------------------------------------------------------------------

    def term(
        self, expr: ast.Expr, formal: Formal | None = None, *, inside_maybe: bool = False
    ) -> EmitTerm:
        """One tensor; `formal` is the input it is for, None for a whole right side."""
        if isinstance(expr, ast.Ascribed):
            if not isinstance(expr.operand, ast.Name | ast.Star | ast.Maybe):
                self._reject_type(expr)
            return self.term(expr.operand, formal, inside_maybe=inside_maybe)
        match expr:
            case ast.Name():
                return self._variable(expr, formal, inside_maybe)
            case ast.Maybe():
                return self._maybe(expr, formal)
            case ast.Star():
                return self._star(expr, inside_maybe)
            case ast.Call() if self._is_constant(expr):
                return self._constant(expr)
            case ast.Call():
                return self._node(expr, outputs=1, inside_maybe=inside_maybe)
        if not reject_list_of_inputs(expr, "Op", self.context):
            self._reject(expr)
        return EmitAbsent()

    def _variable(self, name: ast.Name, formal: Formal | None, inside_maybe: bool) -> EmitTerm:
        variable = self._bound(name)
        if variable is None:
            return EmitAbsent()
        variable.used = True
        if variable.sort is Sort.TENSORS or name.text in self.context.members:
            self._report_list(name, variable)
        elif variable.sort is not Sort.TENSOR:
            self._report_value(name, variable)
        elif variable.optional and not inside_maybe and not (formal and formal.optional):
            self._report_absent(name, variable)
        return EmitVariable(name.text)

    def _bound(self, name: ast.Name) -> Variable | None:
        variable = self.context.variables.get(name.text)
        if variable is None and name.text not in self.context.unbound:
            self.context.unbound.add(name.text)
            candidates = [
                known
                for known in self.context.users_names()
                if self.context.variables[known].sort in (Sort.TENSOR, Sort.TENSORS)
            ]
            self.context.report.error(
                "E0401",
                f"`{name.text}` is not bound {self.context.place}",
                name.span,
                help=did_you_mean(name.text, candidates)
                or (f"{self.context.binds} {listed(candidates)}" if candidates else ""),
            )
        return variable

    def _report_list(self, name: ast.Name, variable: Variable) -> None:
        if variable.sort is not Sort.TENSORS:
            report_member(name, self.context)
            return
        self.context.report.error(
            "E0309",
            f"`{name.text}` is a list of tensors; one tensor is needed here",
            name.span,
            related=(Label(variable.span, "bound here"),),
            help=f"write `*{name.text}` among the inputs of a variadic operator",
        )

    def _report_value(self, name: ast.Name, variable: Variable) -> None:
        self.context.report.error(
            "E0311",
            f"`{name.text}` is {variable.sort.value}; a tensor is needed here",
            name.span,
            related=(Label(variable.span, "bound here"),),
            help=f"write `i64({name.text})` for a new constant"
            if variable.sort is Sort.VALUE
            else "",
        )

    def _report_absent(self, name: ast.Name, variable: Variable) -> None:
        self.context.report.error(
            "E0414",
            f"`{name.text}` may be absent, but a tensor is needed here",
            name.span,
            related=(Label(variable.span, "present or absent"),),
            help="an operator over an absent input is absent where it is written `Op(..)?`",
        )

    def _maybe(self, expr: ast.Maybe, formal: Formal | None) -> EmitTerm:
        shown = source_text(expr.operand.span)
        if formal is None or not formal.optional:
            self.context.report.error(
                "E0308",
                f"`{shown}` cannot be absent here",
                expr.span,
                help=f"write `{shown}` without `?`",
            )
        elif not any(self._is_optional(part) for part in walk.walk(expr.operand)):
            self.context.report.error(
                "E0308",
                f"nothing in `{shown}` can be absent",
                expr.span,
                help=f"write `{shown}` without `?`",
            )
        return EmitMaybe(self.term(expr.operand, formal, inside_maybe=True))

    def _is_optional(self, expr: ast.Expr) -> bool:
        known = self.context.variables.get(expr.text) if isinstance(expr, ast.Name) else None
        return isinstance(expr, ast.Name) and (known is None or known.optional)

    def _node(self, call: ast.Call, *, outputs: int, inside_maybe: bool = False) -> EmitTerm:
        application = resolve(call, self.context)
        if application is None:
            for arg in call.args:
                self._recover(arg)
            return EmitAbsent()
        check_outputs(application.operator, outputs, call, self.context)
        pairs = zip(application.inputs, application.formals, strict=True)
        inputs = tuple(
            EmitAbsent() if expr is None else self.term(expr, formal, inside_maybe=inside_maybe)
            for expr, formal in pairs
        )
        attributes = self._attributes(application)
        return EmitNode(application.operator, attributes, inputs, call.span)

    def _recover(self, expr: ast.Expr) -> None:
        """After a faulty application: report what is wrong inside its inputs too."""
        if isinstance(expr, ast.Call | ast.Name | ast.Ascribed):
            self.term(expr, Formal("", optional=True))

    # --- lists, constants, attributes -----------------------------------------------------

    def _star(self, star: ast.Star, inside_maybe: bool) -> EmitTerm:
        operand = star.operand
        if isinstance(operand, ast.Call):
            return self._map(operand, inside_maybe)
        if not isinstance(operand, ast.Name):
            self._reject(operand)
            return EmitAbsent()
        variable = self._bound(operand)
        if variable is None:
            return EmitAbsent()
        variable.used = True
        member = variable.sort is Sort.TENSOR and operand.text in self.context.members
        if variable.sort is not Sort.TENSORS and not member:
            self.context.report.error(
                "E0309",
                f"`{operand.text}` is {variable.sort.value}, not a list of tensors",
                star.span,
                related=(Label(variable.span, "bound here"),),
                help=f"write `{operand.text}` without the star",
            )
        return EmitStar(operand.text)

    def _map(self, call: ast.Call, inside_maybe: bool) -> EmitTerm:
        application = resolve(call, self.context, elementwise=True)
        if application is None:
            return EmitAbsent()
        varying = check_varying(application, self.context)
        pairs = zip(application.inputs, application.formals, strict=True)
        inputs: list[EmitTerm] = []
        for expr, formal in pairs:
            if expr is None:
                inputs.append(EmitAbsent())
            elif expr is varying and not isinstance(expr, ast.Star):
                inputs.append(self._star(ast.Star(expr, expr.span), inside_maybe))
            else:
                inputs.append(self.term(expr, formal, inside_maybe=inside_maybe))
        attributes = self._attributes(application)
        return EmitMap(application.operator, attributes, tuple(inputs), call.span)

    def _is_constant(self, call: ast.Call) -> bool:
        if call.domain is not None:
            return False
        variable = self.context.variables.get(call.function)
        is_variable = variable is not None and variable.sort is Sort.DTYPE
        return is_variable or dtypes.from_name(call.function) is not None

    def _constant(self, call: ast.Call) -> EmitTerm:
        variable = self.context.variables.get(call.function)
        if variable is not None:
            variable.used = True
        if not check_constant(call, self.context.report):
            return EmitAbsent()
        return EmitConstant(call.function, check_value(call.args[0], self.context), call.span)

    def _attributes(self, application: Application) -> EmitAttributes:
        values = tuple(
            (formal.name, check_value(keyword.value, self.context))
            for formal, keyword in application.attributes
        )
        spread = tuple(
            splat.text for splat in application.splats if self._spreads(splat, application)
        )
        return EmitAttributes(values, spread)

    def _spreads(self, splat: ast.Name, application: Application) -> bool:
        variable = self.context.variables.get(splat.text)
        report = self.context.report
        if variable is None:
            report.error(
                "E0401",
                f"`**{splat.text}` is not bound {self.context.place}",
                splat.span,
                help=f"capture them in the pattern: `{application.call.function}(..,"
                f" **{splat.text})`",
            )
            return False
        variable.used = True
        if variable.sort is not Sort.ATTRIBUTES:
            report.error(
                "E0408", f"`{splat.text}` is {variable.sort.value}, not attributes", splat.span
            )
            return False
        own = {formal.name for formal in application.operator.attributes}
        foreign = sorted(variable.captures - own)
        if foreign:
            report.error(
                "E0302",
                f"`**{splat.text}` may hold {listed(foreign)}, "
                f"which `{application.operator.name}` does not have",
                splat.span,
                related=(Label(variable.span, "captured here"),),
                help="mention them in the pattern, so that `**` does not capture them",
            )
        return True

    # --- what cannot be built -------------------------------------------------------------

    def _reject_type(self, expr: ast.Expr) -> None:
        self.context.report.error(
            "E0316",
            "a built tensor has the type that its operator gives it",
            expr.span,
            label="no type can be stated here",
            help="types are stated of names, and of operators on the left",
        )

    def _reject(self, expr: ast.Expr) -> None:
        if isinstance(expr, ast.Number | ast.Boolean | ast.String | ast.ListExpr | ast.Unary):
            reject_bare(expr, self.context.report)
        elif isinstance(expr, ast.Wildcard):
            self.context.report.error(
                "E0401",
                "`_` names nothing that can be used",
                expr.span,
                help="give it a name on the left",
            )
        else:
            reject_arithmetic(expr, self.context)
