"""A checked rule: names resolved, patterns flat, every right side known to be bound.

Enters: nothing (data only).  Written by `language/check`.  Knows nothing of Lark, egglog or a
particular graph.

A rule is *flat*: `Relu(Conv(x, w))` on the left is two :class:`Match` rows joined by an internal
variable.  Expressions that remain (attributes, conditions, dims) are `syntax.ast` expressions,
evaluated by `language.evaluate` over an environment of attributes and types; they never see a
tensor's contents beyond the value its type carries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from tensat_dl.diagnostics import Span
from tensat_dl.settings import CyclePolicy
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import Operator

# --- the left side --------------------------------------------------------------------------


@dataclass(frozen=True)
class AttributePattern:
    """What a match says of one operator's attributes.

    `bound`: attribute -> variable bound here for the first time.  `required`: attribute ->
    expression that its value must equal.  `rest`: the variable that captures every attribute
    not mentioned (a mapping), or None: then the unmentioned equal their defaults.
    """

    bound: tuple[tuple[str, str], ...] = ()
    required: tuple[tuple[str, ast.Expr], ...] = ()
    rest: str | None = None

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The attributes that the pattern says something of."""
        return frozenset(name for name, _ in (*self.bound, *self.required))


@dataclass(frozen=True)
class InputVariable:
    """A tensor variable; `optional` also matches the absent input."""

    name: str
    optional: bool = False


@dataclass(frozen=True)
class InputAbsent:
    """The input must be missing."""


@dataclass(frozen=True)
class InputWildcard:
    """`_`: some tensor."""


@dataclass(frozen=True)
class InputLiteral:
    """A constant whose every element equals `value`, or whose elements are the list `value`.

    `dtype` is the element type that was written (`f32(2.0)`, `T(1)`), None where none was.
    """

    value: ast.Expr
    dtype: str | None = None


@dataclass(frozen=True)
class InputStar:
    """`*xs`: a run of variadic inputs, bound to a list variable."""

    name: str


@dataclass(frozen=True)
class InputMap:
    """`*F(a, xs, attr=v)`: a run of variadic inputs, each an `F` application.

    `operator` is applied elementwise; `inputs` has exactly one InputStar (the list of operands
    that vary) and otherwise InputVariables that are the same for all; attributes are shared.
    """

    operator: Operator
    attributes: AttributePattern
    inputs: tuple[MatchInput, ...]


MatchInput = InputVariable | InputAbsent | InputWildcard | InputLiteral | InputStar | InputMap


@dataclass(frozen=True)
class Match:
    """One operator application that must be in the e-graph: `outputs = operator(inputs)`.

    For operators without variadic inputs `inputs` is padded to the schema's length with
    InputAbsent.  `outputs` has one variable where the pattern was a term or `y = Op(..)` (it is
    output 0, whatever the number of outputs); `exact_outputs` is set when several targets were
    written, and then the node must have exactly that many.
    """

    operator: Operator
    attributes: AttributePattern
    inputs: tuple[MatchInput, ...]
    outputs: tuple[str, ...]
    exact_outputs: bool
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Ascription:
    """`x: T[*B, M, K]`: `variable` is a tensor (or a starred list: holds for each element)."""

    variable: str
    type: ast.TypeExpr


#: The relation that every program has; its rows come with the types.
WEIGHT = "weight"


@dataclass(frozen=True)
class Fact:
    """A relation atom in a condition: `weight(w)`, `rowwise(y, x)`; arguments are variables.

    A fact over a list variable holds for each element.  `weight` holds of an absent input.
    """

    relation: str
    arguments: tuple[str, ...]
    span: Span = field(compare=False)

    @property
    def is_weight(self) -> bool:
        """It asks for a tensor that depends on constants alone; all others are user relations."""
        return self.relation == WEIGHT


# --- the right side -------------------------------------------------------------------------


@dataclass(frozen=True)
class EmitAttributes:
    """Attributes of a node to build: `values` by expression, then all of each `spread` mapping
    (an explicit value wins); the rest take their defaults."""

    values: tuple[tuple[str, ast.Expr], ...] = ()
    spread: tuple[str, ...] = ()


@dataclass(frozen=True)
class EmitVariable:
    """A tensor bound on the left, by an earlier `emit` line, or an optional input."""

    name: str


@dataclass(frozen=True)
class EmitStar:
    """A list variable spliced into variadic inputs; in `match each`, a member variable."""

    name: str


@dataclass(frozen=True)
class EmitMap:
    """`*F(xs)`: `F` applied to each element of the one EmitStar among its inputs."""

    operator: Operator
    attributes: EmitAttributes
    inputs: tuple[EmitTerm, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True)
class EmitAbsent:
    """The missing input."""


@dataclass(frozen=True)
class EmitConstant:
    """`i64([a, b])`, `f32(0.5)`, `T([1])`: a new constant.

    `dtype` is a concrete element type or a dtype variable of the rule.  `value` is a number or a
    (nested) list; one symbolic element of an i64 list that is a shape becomes -1 where the others
    are known and none is zero.
    """

    dtype: str
    value: ast.Expr
    span: Span = field(compare=False)


@dataclass(frozen=True)
class EmitMaybe:
    """`term?`: absent when any optional variable in it is absent."""

    term: EmitTerm


@dataclass(frozen=True)
class EmitNode:
    """An operator application; inputs padded with EmitAbsent as in Match."""

    operator: Operator
    attributes: EmitAttributes
    inputs: tuple[EmitTerm, ...]
    span: Span = field(compare=False)


EmitTerm = EmitVariable | EmitStar | EmitMap | EmitAbsent | EmitConstant | EmitMaybe | EmitNode


@dataclass(frozen=True)
class Emit:
    """`targets = term`.  Targets are roots of the match (then they are unioned with the outputs
    of `term`) or new names (then they are bound for later lines).  `starred`: `*y = term` in a
    `match each` rule, target i being output i.  A single target takes output 0.
    """

    targets: tuple[str, ...]
    starred: bool
    term: EmitTerm
    span: Span = field(compare=False)


# --- rules ----------------------------------------------------------------------------------


class Sort(Enum):
    """What a variable of a rule stands for.

    VALUE: an attribute or a dim; DIMS: the dims under `*B`; TENSORS: a run of inputs;
    ATTRIBUTES: what `**attrs` captures.  DTYPE may be bound by an attribute (`to=T`): its value
    is then the ONNX code, see `values.as_dtype`.
    """

    TENSOR = "a tensor"
    TENSORS = "a list of tensors"
    VALUE = "a number or an attribute"
    DIMS = "a list of dims"
    DTYPE = "an element type"
    ATTRIBUTES = "attributes"


@dataclass(frozen=True)
class Each:
    """`match each (members) by (key)`: names of tensors, dims, attributes.

    `key` holds every other name that the match binds, those written after `by` first.  Internal
    variables (`$1`) are in neither.
    """

    members: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """One direction of one rewrite, for one operator of its class.

    `name` is unique in the program: `base`, then `@Relu` for the operator of a class and `<=`
    for the backward direction.  `base` is the name the user wrote (`alias.name` if imported).
    `roots` are the match variables that `emits` assigns.  `sorts` gives the sort of each
    variable of the left side, internal ones (`$1`) included.  `lets` are (name, expression) over
    attributes, dims and types, in order; in a `match each` rule members stand starred in them.
    `conditions` and required attributes may mention any variable of the left side.  Facts of user
    relations may bind tensors that no match binds.  `cycles` is None where the rule leaves it to
    the run.
    """

    name: str
    base: str
    each: Each | None
    matches: tuple[Match, ...]
    ascriptions: tuple[Ascription, ...]
    facts: tuple[Fact, ...]
    conditions: tuple[ast.Expr, ...]
    lets: tuple[tuple[str, ast.Expr], ...]
    emits: tuple[Emit, ...]
    roots: tuple[str, ...]
    real: bool
    rounds: int | None
    cycles: CyclePolicy | None
    expansive: bool
    off: str | None
    doc: str
    span: Span = field(compare=False)
    sorts: tuple[tuple[str, Sort], ...] = ()

    @property
    def is_multi_output(self) -> bool:
        """True when the rule assigns several roots, or a group of them."""
        return self.each is not None or len(self.roots) > 1


@dataclass(frozen=True)
class Derivation:
    """`derive relation(arguments) if ...`: a Horn clause over matches, facts and conditions."""

    relation: str
    arguments: tuple[str, ...]
    matches: tuple[Match, ...]
    ascriptions: tuple[Ascription, ...]
    facts: tuple[Fact, ...]
    conditions: tuple[ast.Expr, ...]
    span: Span = field(compare=False)
    sorts: tuple[tuple[str, Sort], ...] = ()
