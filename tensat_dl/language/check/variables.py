"""What a rule's names stand for, and where it is being checked.

A :class:`Context` follows one direction of one rule (or a derivation, a lowering, a function):
its variables with their sorts, the operators that class variables stand for, the reporter.
Reports E0408, E0416.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tensat_dl.diagnostics import Label, Span
from tensat_dl.language.check.names import Kind, Scope, Symbol
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.program import CustomOperator, Relation, Sort
from tensat_dl.vocabulary.operators import FormalAttribute, Operator


@dataclass
class Variable:
    """One name of a rule.

    `optional`: the tensor may be absent.  `captures`: the attributes that `**name` may hold.
    `used` is set when the right side, a condition or a `let` reads it.  `attribute` is the one
    whose value the name takes, if any.
    """

    sort: Sort
    span: Span
    optional: bool = False
    captures: frozenset[str] = frozenset()
    used: bool = False
    attribute: FormalAttribute | None = None


@dataclass
class Declared:
    """Checked declarations of the whole program, by symbol."""

    operators: dict[Symbol, CustomOperator] = field(default_factory=dict)
    classes: dict[Symbol, tuple[Operator, ...]] = field(default_factory=dict)
    relations: dict[Symbol, Relation] = field(default_factory=dict)


@dataclass
class Context:
    """The state of checking one rule.

    `operators`: class variable -> operator.  `starred`, `dtypes`: names that stand starred, or
    as element types, anywhere in the rule.  `members`: the names of `match each` that must stand
    starred in what is being checked now.  `building`: the right side is being checked.  `unbound`:
    names of tensors that were reported as such.
    For messages: `binder` is what binds names here; `place` and `binds` are for what is built.
    """

    scope: Scope
    declared: Declared
    report: Reporter
    operators: Mapping[str, Operator] = field(default_factory=dict)
    starred: frozenset[str] = frozenset()
    dtypes: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    variables: dict[str, Variable] = field(default_factory=dict)
    unbound: set[str] = field(default_factory=set)
    building: bool = False
    binder: str = "by the pattern"
    place: str = "on the left"
    binds: str = "the left side binds"
    fresh_count: int = 0

    def bind(self, name: str, sort: Sort, span: Span, *, optional: bool = False) -> bool:
        """Bind a name, or bind it again; False (and E0408) where it stands for something else."""
        known = self.variables.get(name)
        if known is None:
            self.variables[name] = Variable(sort, span, optional)
            return True
        known.optional = known.optional and optional
        if known.sort is sort:
            return True
        self.report.error(
            "E0408",
            f"`{name}` stands for {known.sort.value} and for {sort.value}",
            span,
            label=f"here {sort.value}",
            related=(Label(known.span, f"here {known.sort.value}"),),
            help="use two names",
        )
        return False

    def bind_tensor(self, name: str, span: Span, *, optional: bool = False) -> bool:
        """Bind a tensor variable; upper-case names are dims (E0416)."""
        if not is_upper(name):
            return self.bind(name, Sort.TENSOR, span, optional=optional)
        self.report.error(
            "E0416",
            f"`{name}` is a tensor here, but upper-case names are dims and element types",
            span,
            help=f"write `{name.lower()}`",
        )
        self.variables.setdefault(name, Variable(Sort.TENSOR, span))
        return False

    def fresh(self, sort: Sort, span: Span) -> str:
        """A new internal variable: `$1`, `$2`, ... which no user can write."""
        self.fresh_count += 1
        name = f"${self.fresh_count}"
        self.variables[name] = Variable(sort, span)
        return name

    def sorts(self) -> tuple[tuple[str, Sort], ...]:
        """Every variable with its sort, in order of binding."""
        return tuple((name, variable.sort) for name, variable in self.variables.items())

    def users_names(self) -> Iterator[str]:
        """The variables that the author named."""
        return (name for name in self.variables if not name.startswith("$"))

    def relation(self, name: str) -> Relation | None:
        """The user relation of that name."""
        symbol = self.scope.find(name)
        return None if symbol is None else self.declared.relations.get(symbol)

    def is_relation(self, name: str) -> bool:
        """`weight`, or a relation of a rule file."""
        symbol = self.scope.find(name)
        return name == "weight" or (symbol is not None and symbol.kind is Kind.RELATION)


def is_upper(name: str) -> bool:
    """Dims and element types begin with a capital."""
    return name[:1].isupper()
