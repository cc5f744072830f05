"""The items of a file as they are written: rules, declarations, schedules, tests.

Enters: nothing (data only).  What items hold of terms and expressions is of `ast.expressions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tensat_dl.diagnostics import Span
from tensat_dl.syntax.ast.expressions import Call, Expr, Name, TypeExpr


@dataclass(frozen=True)
class Annotation:
    """`@real`, `@rounds(2)`, `@cycles(check)`, `@off("why")`."""

    name: str
    args: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True)
class Statement:
    """`y1, y2 = Split(...)`; a starred target (`*y = ...`) stands in `match each` rules."""

    targets: tuple[Name, ...]
    starred: bool
    value: Expr
    span: Span


@dataclass(frozen=True)
class Let:
    """`let k = dim(x, 1)` after the `where` clause."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True)
class ForClass:
    """`for F in Pointwise`."""

    variable: Name
    class_name: Name
    span: Span


@dataclass(frozen=True)
class Each:
    """`match each (y, w, N) by (x)`: names that vary from member to member, and the key."""

    members: tuple[Name, ...]
    key: tuple[Name, ...]
    span: Span


@dataclass(frozen=True)
class Rewrite:
    """`rewrite name [for F in C]: lhs => rhs [where ...] [let ...]`; `both_ways` for `<=>`."""

    name: Name
    for_class: ForClass | None
    left: Expr
    right: Expr
    both_ways: bool
    where: tuple[Expr, ...]
    lets: tuple[Let, ...]
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class Rule:
    """`rule name [for F in C] { match {..} where .. let .. emit {..} }`."""

    name: Name
    for_class: ForClass | None
    each: Each | None
    match: tuple[Statement, ...]
    where: tuple[Expr, ...]
    lets: tuple[Let, ...]
    emit: tuple[Statement, ...]
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class OperatorClass:
    """`class Pointwise = Relu | Sigmoid`."""

    name: Name
    members: tuple[Name, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class Parameter:
    """`x: Tensor`, `b: Tensor?`, `*xs: Tensor`, `k: int`, `p: ints = [1]`."""

    name: Name
    sort: str
    optional: bool
    variadic: bool
    default: Expr | None
    span: Span


@dataclass(frozen=True)
class Relation:
    """`relation rowwise(y: Tensor, x: Tensor)`."""

    name: Name
    parameters: tuple[Parameter, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class Derive:
    """`derive rowwise(y, x) if y = Relu(x), weight(w), ...`.

    Body items are statements (patterns) or expressions (facts and conditions).
    """

    head: Call
    body: tuple[Statement | Expr, ...]
    span: Span
    doc: str = ""


@dataclass(frozen=True)
class Function:
    """`fn same_pad(k: int, d: int) -> int = d * (k - 1) // 2`."""

    name: Name
    parameters: tuple[Parameter, ...]
    result: str
    body: Expr
    doc: str
    span: Span


@dataclass(frozen=True)
class Operator:
    """`op [domain::]Name(params, **Conv) -> y: Tensor { since 1 infer .. cost .. lower .. }`.

    `attributes_of` is the operator named after `**`: its attributes are taken over.
    Custom operators have `infer`; virtual ones have `lower`.
    """

    domain: str | None
    name: Name
    parameters: tuple[Parameter, ...]
    attributes_of: Name | None
    outputs: tuple[Parameter, ...]
    since: int
    infer: tuple[Statement, ...]
    cost: Expr | None
    lower: tuple[Statement, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class Include:
    """`include a, b` in a ruleset: names of rules or rulesets."""

    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True)
class Ruleset:
    """`ruleset name { include ..  rewrite ..  rule .. }`; annotations hold for all its rules."""

    name: Name
    members: tuple[Include | Rewrite | Rule, ...]
    annotations: tuple[Annotation, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class Limit:
    """`limit(iters=10, enodes=50_000, seconds=30)`."""

    iters: int | None
    enodes: int | None
    seconds: float | None
    span: Span


@dataclass(frozen=True)
class Run:
    """`run name`: one step of a ruleset (or rule)."""

    name: Name
    span: Span


@dataclass(frozen=True)
class Saturate:
    """`saturate name`, `saturate { .. } limit(..)`."""

    body: tuple[Step, ...]
    limit: Limit | None
    span: Span


@dataclass(frozen=True)
class Repeat:
    """`repeat 3 { .. }`."""

    count: int
    body: tuple[Step, ...]
    limit: Limit | None
    span: Span


@dataclass(frozen=True)
class Prune:
    """`prune cycles`."""

    span: Span


Step = Run | Saturate | Repeat | Prune


@dataclass(frozen=True)
class Schedule:
    """`schedule main { .. }`."""

    name: Name
    body: tuple[Step, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class CostRow:
    """`MatMul = 2 * numel(y) * dim(a, -1)`; operator `_` sets the default of the model."""

    operator: Name
    value: Expr
    span: Span


@dataclass(frozen=True)
class CostModel:
    """`cost model mine { .. }`."""

    name: Name
    rows: tuple[CostRow, ...]
    doc: str
    span: Span


@dataclass(frozen=True)
class DefaultCost:
    """`default cost measured`: the model where nobody asks for another."""

    name: Name
    doc: str
    span: Span


@dataclass(frozen=True)
class TestInput:
    """`input x: f32[8, 16]` or `weight wq: f32[16, 4], wk: f32[16, 4]`."""

    kind: str
    values: tuple[tuple[Name, TypeExpr], ...]
    span: Span


@dataclass(frozen=True)
class TestGiven:
    """`given q = MatMul(x, wq)`."""

    statement: Statement
    span: Span


class ExpectKind(Enum):
    """What a test claims."""

    FIRES = "fires"
    BEST = "best"
    ERROR = "error"
    EQUAL = "equal"


@dataclass(frozen=True)
class TestExpect:
    """`expect fires NAME`, `expect best [under COST] y = ..`, `expect error E0402`,
    `expect a == b`; `negated` for `expect not fires NAME`, `expect not a == b`.
    """

    kind: ExpectKind
    names: tuple[Name, ...]
    under: Name | None
    statement: Statement | None
    terms: tuple[Expr, ...]
    negated: bool
    span: Span


@dataclass(frozen=True)
class Test:
    """`test "title" [using ruleset, ..] { .. }`."""

    title: str
    using: tuple[Name, ...]
    body: tuple[TestInput | TestGiven | TestExpect, ...]
    span: Span
    doc: str = ""


Item = (
    Rewrite
    | Rule
    | OperatorClass
    | Relation
    | Derive
    | Function
    | Operator
    | Ruleset
    | Schedule
    | CostModel
    | DefaultCost
    | Test
)


@dataclass(frozen=True)
class Import:
    """`import "path" as alias` or `import "path" { a, b }`."""

    path: str
    alias: Name | None
    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True)
class Module:
    """One file: its documentation (`#!`), language version, imports, items in order."""

    doc: str
    language: int
    imports: tuple[Import, ...]
    items: tuple[Item, ...]
    span: Span
