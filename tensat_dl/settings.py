"""Every setting of a run, as frozen dataclasses with their defaults.

One dataclass is one table of `tensat.toml`; `config.py` reads, validates and overrides them.
Stages receive their own table and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

SettingValue = str | int | float | bool


#: The cost models that need no rule file; no rule file can give one of these names to its own.
COST_MODELS = ("measured", "roofline", "flops", "bytes", "nodes")
#: The one where neither settings nor rules name another.
ROOFLINE = "roofline"


class CyclePolicy(StrEnum):
    """What a rule with several outputs does about cycles (`@cycles`, `explore.cycles`)."""

    CHECK = "check"
    PRUNE = "prune"
    ALLOW = "allow"


class Method(StrEnum):
    """How the answer is extracted: the exact ones, then the greedy ones."""

    ILP = "ilp"
    TENSAT_ILP = "tensat-ilp"
    GREEDY_DAG = "greedy-dag"
    GREEDY_TREE = "greedy-tree"


class Acyclicity(StrEnum):
    """How the program of an extraction forbids loops: by rows against those that turn up, by order
    variables, by the same as whole numbers, or not at all, since cycles were removed before (which
    may lose the best answer)."""

    LAZY = "lazy"
    ORDER = "order"
    ORDER_INTEGER = "order-integer"
    FILTER = "filter"


class Reduction(StrEnum):
    """The reductions of an extraction that can be switched on and off, in their order; each is
    exact."""

    FREE = "free"
    ALIAS = "alias"
    MERGE = "merge"
    CLOSURE = "closure"
    DOMINATORS = "dominators"
    DOMINANCE = "dominance"
    UPPER_BOUND = "upper-bound"
    LANDMARKS = "landmarks"
    ISOMORPHISM = "isomorphism"
    BRANCHING = "branching"
    PATHS = "paths"
    PROBING = "probing"
    CHAIN = "chain"
    RELAXATION = "relaxation"
    KERNEL = "kernel"


#: Those that run where nothing else is asked for.  Probing finds little to do after branching, and
#: takes up to twice as long as all the rest then; where a solver stalls on loops it may pay.
DEFAULT_REDUCTIONS = tuple(name for name in Reduction if name is not Reduction.PROBING)


class Tie(StrEnum):
    """What may decide between answers of equal cost, in this order: fewest nodes, fewest that
    rules made, least bytes of weights."""

    NODES = "nodes"
    ORIGINAL = "original"
    BYTES = "bytes"


@dataclass(frozen=True)
class RuleSettings:
    """`[rules]`.  `exact`: leave out rules that hold over the real numbers only; `bodies`: act in
    the bodies of If, Loop and Scan, too."""

    exact: bool = False
    bodies: bool = True


@dataclass(frozen=True)
class ModelSettings:
    """`[model]`.  `dims`: symbolic dim name -> size; `opset`: allow operators up to this opset
    (0: the model's own); `freeze_initializers`: treat overridable initializers as constants."""

    dims: Mapping[str, int] = field(default_factory=dict)
    opset: int = 0
    freeze_initializers: bool = False


@dataclass(frozen=True)
class ExploreSettings:
    """`[explore]`.  Limits of the exploration; `memory` in bytes; `cycles` is the policy of rules
    that name none."""

    enodes: int = 50_000
    seconds: float = 30.0
    memory: int = 4 << 30
    cycles: CyclePolicy = CyclePolicy.CHECK


@dataclass(frozen=True)
class CostSettings:
    """`[cost]`.  `model`: measured, roofline, flops, bytes, nodes, or one of the rule file; "" is
    the default of the rules (`std`: measured), else roofline.

    `flops_per_second` and `bytes_per_second` are the machine of the roofline model, `overhead`
    its seconds per operator.  `symbolic_dim`: what a dim without a number counts as.  For
    `measured`: the file `cache` ("": that of the user), the share `margin` by which what differs
    from the answer by estimates must be cheaper, and seconds for timing operators.  `compare`:
    time both models at the end, as `measured` always does, for `compare_seconds`, half as long
    again at most; a model that is not faster is not written, unless `keep_anyway`.  `threads` of
    onnxruntime, 0 is its own choice."""

    model: str = ""
    flops_per_second: float = 5e10
    bytes_per_second: float = 1e10
    overhead: float = 2e-6
    symbolic_dim: int = 16
    threads: int = 0
    cache: str = ""
    margin: float = 0.03
    measure_seconds: float = 60.0
    compare: bool = False
    compare_seconds: float = 5.0
    keep_anyway: bool = False


@dataclass(frozen=True)
class ExtractSettings:
    """`[extract]`.  `gap` is relative; `solver`: a name, or "auto"; `executable`: the program to
    run as the solver, "" for the one that is found; `options` go to the solver verbatim;
    `reductions`: those that run before the model is built; `max_weight_bytes`: of the weights in
    the result (0: any); `at_most`: operator -> nodes; `ties`: what decides between answers of
    equal cost, one after another; `workers`: so many independent parts are solved at a time."""

    method: Method = Method.ILP
    solver: str = "glpk"
    executable: str = ""
    seconds: float = 60.0
    gap: float = 1e-6
    cycles: Acyclicity = Acyclicity.LAZY
    reductions: tuple[Reduction, ...] = DEFAULT_REDUCTIONS
    max_weight_bytes: int = 0
    at_most: Mapping[str, int] = field(default_factory=dict)
    ties: tuple[Tie, ...] = (Tie.NODES, Tie.ORIGINAL)
    workers: int = 1
    options: Mapping[str, SettingValue] = field(default_factory=dict)


@dataclass(frozen=True)
class VerifySettings:
    """`[verify]`.  `enabled` False skips the comparison (`--no-check`); `input_data`: an .npz file
    of inputs, "" for none."""

    enabled: bool = True
    samples: int = 3
    seed: int = 0
    input_data: str = ""


@dataclass(frozen=True)
class ExportSettings:
    """`[export]`.  Folding of weights may add at most `max(fold_bytes, fold_ratio * file size)`.
    `explain`: say which rules made each change and what it saves, in the report and the model."""

    fold_ratio: float = 0.10
    fold_bytes: int = 1 << 20
    explain: bool = False


@dataclass(frozen=True)
class ClaimSettings:
    """`[test]`.  `proof_seconds`: for the proof that nothing is cheaper than what a test of a rule
    file says is best."""

    proof_seconds: float = 10.0


@dataclass(frozen=True)
class Settings:
    """All tables."""

    rules: RuleSettings = RuleSettings()
    model: ModelSettings = ModelSettings()
    explore: ExploreSettings = ExploreSettings()
    cost: CostSettings = CostSettings()
    extract: ExtractSettings = ExtractSettings()
    verify: VerifySettings = VerifySettings()
    export: ExportSettings = ExportSettings()
    test: ClaimSettings = ClaimSettings()
