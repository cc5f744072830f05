"""A checked program: all that a rule file and its imports say, names resolved.

Enters: nothing (data only).  Written by `language/check`, read by the encoder, the cost models,
the exporter and `show`.  What a single rule says is in `program.rule`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensat_dl.diagnostics import Diagnostic, SourceFile, Span
from tensat_dl.language.allowances import Allowance
from tensat_dl.language.program.rule import Derivation, Emit, Rule
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import Operator, OperatorKind

# --- declarations ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Relation:
    """A user relation; every column is `Tensor` or `int`."""

    name: str
    columns: tuple[str, ...]
    doc: str
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Function:
    """A pure function; parameters by position."""

    name: str
    parameters: tuple[str, ...]
    body: ast.Expr


@dataclass(frozen=True)
class Lowering:
    """A virtual operator's meaning: statements over its formal inputs and attributes.

    `outputs` are the formal output names; `spread` is the name under which its attributes stand
    (`Conv` in `**Conv`).
    """

    emits: tuple[Emit, ...]
    outputs: tuple[str, ...]
    spread: str | None


@dataclass(frozen=True)
class CustomOperator:
    """An operator declared by `op`: `lowering` for a virtual one, `infer` for a foreign one.

    `infer` maps each output name to an expression over the inputs' types (`like(x)`, a type).
    """

    operator: Operator
    lowering: Lowering | None
    infer: tuple[tuple[str, ast.Expr], ...]
    cost: ast.Expr | None


# --- schedules, costs -----------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """Bounds on a part of a schedule; None is no bound of its own."""

    iters: int | None = None
    enodes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Run:
    """One step of all rules of a ruleset: `rules` are names of :class:`Rule`."""

    ruleset: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Saturate:
    """`body` until nothing changes or the limit is reached."""

    body: tuple[Step, ...]
    limit: Limit


@dataclass(frozen=True)
class Repeat:
    """`body` `count` times."""

    count: int
    body: tuple[Step, ...]
    limit: Limit


@dataclass(frozen=True)
class Prune:
    """Remove the newest e-nodes of every cycle."""


Step = Run | Saturate | Repeat | Prune


@dataclass(frozen=True)
class CostModel:
    """Rows: operator name -> expression over formal names (lower case) of inputs and outputs;
    `default` for operators without a row (None: 0)."""

    name: str
    rows: Mapping[str, ast.Expr]
    default: ast.Expr | None
    doc: str


@dataclass(frozen=True)
class DefaultCost:
    """`default cost NAME`: `model` is a built-in model, or one of the program's `cost_models`."""

    model: str
    span: Span = field(compare=False)


@dataclass(frozen=True)
class TestValue:
    """`input x: f32[8, 16]`, or a `weight`; its type says all but the sizes of symbolic dims."""

    name: str
    weight: bool
    type: ast.TypeExpr
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Claim:
    """What a test claims.

    FIRES: `rules` are (name as written, names in the program).  BEST: `emits` has one line, its
    targets among what is given, and `cost` the model (None: that of the run).  EQUAL: `emits` has
    two lines without targets.  ERROR: `code`.
    """

    kind: ast.ExpectKind
    negated: bool
    span: Span = field(compare=False)
    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()
    emits: tuple[Emit, ...] = ()
    cost: str | None = None
    code: str = ""


@dataclass(frozen=True)
class TestCase:
    """A `test` block.  `rules` are the names of those that run, None for the file's schedule;
    `given` are statements over `values`.  `problems` were found in a test that claims an error."""

    title: str
    rules: tuple[str, ...] | None
    values: tuple[TestValue, ...]
    given: tuple[Emit, ...]
    claims: tuple[Claim, ...]
    span: Span = field(compare=False)
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class CheckedProgram:
    """All that a rule file and its imports say.

    `schedule` is the schedule to run: the file's `main`, or all rules to saturation.
    `rulesets` maps every ruleset (and import alias) to rule names.  `operators` and the rows of
    cost models are keyed by `Operator.qualified_name`.  `off` rules are in `rulesets` and in
    `schedule` where the author names them, and nowhere else: whoever runs them need not ask.
    `default_costs`: the model where nobody asks for another; several are files that disagree.
    `tests` are those of the files that were named; `tested_imports` are other files with tests.
    """

    rules: tuple[Rule, ...]
    relations: tuple[Relation, ...]
    derivations: tuple[Derivation, ...]
    functions: Mapping[str, Function]
    operators: Mapping[str, CustomOperator]
    rulesets: Mapping[str, tuple[str, ...]]
    schedule: tuple[Step, ...]
    cost_models: Mapping[str, CostModel]
    tests: tuple[TestCase, ...]
    files: tuple[SourceFile, ...] = ()
    allowances: tuple[Allowance, ...] = ()
    tested_imports: tuple[str, ...] = ()
    default_costs: tuple[DefaultCost, ...] = ()

    @property
    def domains(self) -> Mapping[str, int]:
        """The domains of the operators that the file declares, each at the newest of them."""
        newest: dict[str, int] = {}
        for declared in self.operators.values():
            operator = declared.operator
            if operator.kind is OperatorKind.CUSTOM:
                newest[operator.domain] = max(operator.since, newest.get(operator.domain, 1))
        return newest
