"""The sides of a rule as terms, to be compared with the sides of other rules.

Enters: a :class:`Rule`.  Leaves: its :class:`Sides`; None where terms cannot show it (several
outputs, lists of inputs, terms that may be absent).  Expressions stand as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tensat_dl.language.program import (
    AttributePattern,
    EmitAbsent,
    EmitAttributes,
    EmitConstant,
    EmitNode,
    EmitTerm,
    EmitVariable,
    InputAbsent,
    InputLiteral,
    InputVariable,
    InputWildcard,
    Match,
    MatchInput,
    Rule,
)
from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import format_expr
from tensat_dl.vocabulary.operators import Operator


@dataclass(frozen=True)
class Variable:
    """A tensor; `optional`: it may be absent."""

    name: str
    optional: bool = False


@dataclass(frozen=True)
class Absent:
    """An input that is missing."""


@dataclass(frozen=True)
class Constant:
    """A constant as it is written; on the left `dtype` is "" where any will do."""

    value: str
    dtype: str


@dataclass(frozen=True)
class Bound:
    """An attribute that a name takes."""

    name: str


@dataclass(frozen=True)
class Rest:
    """An attribute among those that `**name` takes."""

    name: str


@dataclass(frozen=True)
class Text:
    """An attribute that equals an expression."""

    expr: str


@dataclass(frozen=True)
class Default:
    """An attribute that is not mentioned."""


Attribute = Bound | Rest | Text | Default


@dataclass(frozen=True)
class Node:
    """An operator applied; `attributes` has each of the operator, in its order."""

    operator: Operator
    attributes: tuple[tuple[str, Attribute], ...]
    inputs: tuple[Term, ...]

    @cached_property
    def size(self) -> int:
        """How many nodes it has."""
        return 1 + sum(child.size for child in self.inputs if isinstance(child, Node))


Term = Variable | Absent | Constant | Node


@dataclass(frozen=True, eq=False)
class Sides:
    """What a rule matches and what it makes of it."""

    rule: Rule
    left: Node
    right: Term

    @cached_property
    def operators(self) -> frozenset[str]:
        """The names of the operators on the left."""
        return frozenset(node.operator.qualified_name for node in subterms(self.left))


#: Nodes of the largest term that is looked at, names written out.
_MOST_NODES = 100


class _NoTermError(Exception):
    """The rule says more than a term can."""


def sides(rule: Rule) -> Sides | None:
    """The two sides; None where they are no terms."""
    try:
        left = _Left(rule)
        root = left.term(rule.roots[0]) if len(rule.roots) == 1 and rule.each is None else None
        if not isinstance(root, Node):
            return None
        return Sides(rule, root, _Right(rule, left.captured).root())
    except _NoTermError:
        return None


def subterms(term: Term) -> Iterator[Node]:
    """The nodes of a term, itself first."""
    if isinstance(term, Node):
        yield term
        for child in term.inputs:
            yield from subterms(child)


def variables(term: Term) -> Iterator[str]:
    """The names of the tensors in a term."""
    if isinstance(term, Variable):
        yield term.name
    for child in term.inputs if isinstance(term, Node) else ():
        yield from variables(child)


class _Left:
    """Nests the flat rows of a left side.  `captured`: what each `**name` takes."""

    def __init__(self, rule: Rule) -> None:
        self.rows: dict[str, Match] = {}
        for match in rule.matches:
            if match.exact_outputs or len(match.outputs) > 1:
                raise _NoTermError
            self.rows[match.outputs[0]] = match
        self.captured: dict[str, frozenset[str]] = {}
        self._wildcards = 0

    def term(self, name: str) -> Term:
        row = self.rows.get(name)
        if row is None:
            return Variable(name)
        attributes = self._attributes(row.operator, row.attributes)
        inputs = tuple(self._input(i) for i in row.inputs)
        return _small(Node(row.operator, attributes, inputs))

    def _input(self, found: MatchInput) -> Term:
        match found:
            case InputVariable(name=name, optional=optional):
                return Variable(name, optional=True) if optional else self.term(name)
            case InputAbsent():
                return Absent()
            case InputWildcard():
                self._wildcards += 1
                return Variable(f"_{self._wildcards}")
            case InputLiteral(value=value, dtype=dtype):
                return Constant(format_expr(value), dtype or "")
        raise _NoTermError

    def _attributes(
        self, operator: Operator, pattern: AttributePattern
    ) -> tuple[tuple[str, Attribute], ...]:
        said: dict[str, Attribute] = {name: Bound(variable) for name, variable in pattern.bound}
        said |= {name: Text(format_expr(expr)) for name, expr in pattern.required}
        other: Attribute = Default() if pattern.rest is None else Rest(pattern.rest)
        found = tuple((name, said.get(name, other)) for name in _names(operator))
        if pattern.rest is not None:
            self.captured[pattern.rest] = frozenset(n for n, a in found if isinstance(a, Rest))
        return found


class _Right:
    """Writes out the names that `emit` introduces."""

    def __init__(self, rule: Rule, captured: Mapping[str, frozenset[str]]) -> None:
        self.rule = rule
        self.captured = captured
        self.made: dict[str, Term] = {}

    def root(self) -> Term:
        for emit in self.rule.emits:
            if emit.starred or len(emit.targets) != 1:
                raise _NoTermError
            self.made[emit.targets[0]] = self._term(emit.term)
        return self.made[self.rule.roots[0]]

    def _term(self, term: EmitTerm) -> Term:
        match term:
            case EmitVariable(name=name):
                return self.made.get(name, Variable(name))
            case EmitAbsent():
                return Absent()
            case EmitConstant(dtype=dtype, value=value):
                return Constant(format_expr(value), dtype)
            case EmitNode(operator=operator, attributes=attributes, inputs=inputs):
                made = tuple(self._term(each) for each in inputs)
                return _small(Node(operator, self._attributes(operator, attributes), made))
        raise _NoTermError

    def _attributes(
        self, operator: Operator, attributes: EmitAttributes
    ) -> tuple[tuple[str, Attribute], ...]:
        said: dict[str, Attribute] = {}
        for spread in attributes.spread:
            said |= {name: Rest(spread) for name in self.captured.get(spread, ())}
        said |= {name: _value(expr) for name, expr in attributes.values}
        return tuple((name, said.get(name, Default())) for name in _names(operator))


def _small(node: Node) -> Node:
    """The node, where it is not too large: names that are written out can grow beyond measure."""
    if node.size > _MOST_NODES:
        raise _NoTermError
    return node


def _value(expr: ast.Expr) -> Attribute:
    return Text(format_expr(expr))


def _names(operator: Operator) -> tuple[str, ...]:
    return tuple(formal.name for formal in operator.attributes if not formal.implied)
