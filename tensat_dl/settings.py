"""Every setting of a run, as frozen dataclasses with their defaults.

One dataclass is one table of `tensat.toml`; `config.py` reads, validates and overrides them.
Stages receive their own table and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SettingValue = str | int | float | bool

#: The reductions of an extraction that can be switched off, in their order.
REDUCTIONS = (
    "free",
    "alias",
    "merge",
    "closure",
    "dominators",
    "dominance",
    "upper-bound",
    "isomorphism",
    "branching",
    "chain",
    "relaxation",
    "kernel",
)

#: What may decide between answers of equal cost, in this order.
TIES = ("nodes", "original", "bytes")


@dataclass(frozen=True)
class RuleSettings:
    """`[rules]`.  `exact`: leave out rules that hold over the real numbers only."""

    exact: bool = False


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
    that name none: "check", "prune" or "allow"."""

    enodes: int = 50_000
    seconds: float = 30.0
    memory: int = 4 << 30
    cycles: str = "check"


@dataclass(frozen=True)
class CostSettings:
    """`[cost]`.  `model`: measured, roofline, flops, bytes, nodes, or one of the rule file.

    `flops_per_second` and `bytes_per_second` are the machine of the roofline model, `overhead`
    its seconds per operator.  `symbolic_dim`: what a dim without a number counts as.  The rest is
    for `measured`: `threads` of onnxruntime (0: its own choice), the file `cache` ("": that of the
    user), the share `margin` by which what a rule made must be cheaper, seconds for timing
    operators and for timing both models at the end, and whether a model that is not faster then
    is written all the same."""

    model: str = "roofline"
    flops_per_second: float = 5e10
    bytes_per_second: float = 1e10
    overhead: float = 2e-6
    symbolic_dim: int = 16
    threads: int = 0
    cache: str = ""
    margin: float = 0.03
    measure_seconds: float = 60.0
    compare_seconds: float = 3.0
    keep_anyway: bool = False


@dataclass(frozen=True)
class ExtractSettings:
    """`[extract]`.  `method`: ilp, tensat-ilp, greedy-dag, greedy-tree; `gap` is relative;
    `solver`: a name, or "auto"; `executable`: the program to run as the solver, "" for the one that
    is found; `options` go to the solver verbatim; `cycles`: how the model forbids loops: "lazy",
    "order" (order variables), "order-integer" (the same, whole) or "filter" (cycles removed before,
    which may lose the best answer); `reductions`: those that run before the model is built, each
    exact; `max_weight_bytes`: of the weights in the result (0: any); `at_most`: operator -> nodes;
    `ties`: what decides between answers of equal cost, one after another: fewest nodes, fewest that
    rules made, least bytes of weights; `workers`: so many independent parts are solved at a
    time."""

    method: str = "ilp"
    solver: str = "glpk"
    executable: str = ""
    seconds: float = 60.0
    gap: float = 1e-6
    cycles: str = "lazy"
    reductions: tuple[str, ...] = REDUCTIONS
    max_weight_bytes: int = 0
    at_most: Mapping[str, int] = field(default_factory=dict)
    ties: tuple[str, ...] = ("nodes", "original")
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
class Settings:
    """All tables."""

    rules: RuleSettings = RuleSettings()
    model: ModelSettings = ModelSettings()
    explore: ExploreSettings = ExploreSettings()
    cost: CostSettings = CostSettings()
    extract: ExtractSettings = ExtractSettings()
    verify: VerifySettings = VerifySettings()
    export: ExportSettings = ExportSettings()
