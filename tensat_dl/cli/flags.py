"""Flags that several subcommands share, and how they become settings.

A flag with a setting of its own stands in a table here: flag, setting, type, help.  Everything
else is reached with `--set`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensat_dl import config, config_schema
from tensat_dl.cache import kept_costs
from tensat_dl.references import imported_files, weight_files
from tensat_dl.settings import Settings


@dataclass(frozen=True)
class Flag:
    """A flag that overrides the setting `table.key`."""

    name: str
    table: str
    key: str
    metavar: str
    type: Callable[[str], object]
    help: str

    @property
    def destination(self) -> str:
        """Its attribute of the parsed arguments."""
        return self.name.removeprefix("--").replace("-", "_")


SOLVER = Flag(
    "--solver", "extract", "solver", "NAME", str, "extract with this solver, or auto (glpk)"
)
COST = Flag(
    "--cost",
    "cost",
    "model",
    "NAME",
    str,
    "measured, roofline, flops, bytes, nodes, or one of RULES (the default of RULES, which for std"
    " is measured; else roofline)",
)
COST_CACHE = Flag("--cost-cache", "cost", "cache", "FILE", str, "measurements (that of the user)")
ENODES = Flag("--enodes", "explore", "enodes", "N", int, "explore up to N e-nodes (50000)")
MEMORY = Flag("--memory", "explore", "memory", "SIZE", str, "memory of the exploration (4GiB)")
EXPLORE_SECONDS = Flag(
    "--seconds", "explore", "seconds", "S", float, "explore for up to S seconds (30)"
)
OPSET = Flag("--opset", "model", "opset", "N", int, "allow operators up to ai.onnx N (the model's)")
INPUT_DATA = Flag(
    "--input-data", "verify", "input_data", "FILE", str, "verify with the inputs in this .npz file"
)
METHOD = Flag(
    "--method", "extract", "method", "NAME", str, "ilp, tensat-ilp, greedy-dag or greedy-tree (ilp)"
)
GAP = Flag("--gap", "extract", "gap", "G", float, "stop at this relative gap (1e-6)")
EXTRACT_SECONDS = Flag(
    "--seconds", "extract", "seconds", "S", float, "extract for up to S seconds (60)"
)
PROOF_SECONDS = Flag(
    "--proof-seconds",
    "test",
    "proof_seconds",
    "S",
    float,
    "prove for up to S seconds that what is claimed as best is (10)",
)


def add_settings(parser: argparse.ArgumentParser, flags: Sequence[Flag], *, dims: bool) -> None:
    """Add `flags`, `--config`, `--set` and, for commands that read a model, `--dim`."""
    group = parser.add_argument_group("settings (they override the configuration file)")
    for flag in flags:
        group.add_argument(flag.name, type=flag.type, metavar=flag.metavar, help=flag.help)
    if dims:
        group.add_argument(
            "--dim",
            action="append",
            default=[],
            metavar="NAME=SIZE",
            help="fix a symbolic dim of the model's inputs, e.g. batch=1",
        )
    group.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="settings from FILE (else ./tensat.toml, else ./pyproject.toml)",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="any setting, e.g. explore.cycles=prune or extract.gap=0.01",
    )


def read_settings(arguments: argparse.Namespace, flags: Sequence[Flag]) -> Settings:
    """The settings of this invocation.  Raises UsageError."""
    given = [(flag, getattr(arguments, flag.destination)) for flag in flags]
    overrides = [
        config.flag(f"{flag.name} {value}", flag.table, flag.key, value)
        for flag, value in given
        if value is not None
    ]
    overrides += [config.dim_assignment(text) for text in getattr(arguments, "dim", ())]
    overrides += [config.assignment(text) for text in arguments.set]
    return config.load_settings(arguments.config, overrides)


def files_used(arguments: argparse.Namespace, settings: Settings | None = None) -> list[Path]:
    """What the command reads, and nothing that it writes may replace: rules and what they import,
    model and its weights, e-graph, configuration, measurements, inputs.  Names of shipped rulesets
    are no files here, and do no harm."""
    given = vars(arguments)
    rules = _paths((given.get("rules") or "").split(","))
    model = _paths([given.get("graph") or ""])
    files = _paths(given.get(name) or "" for name in ("egraph", "config"))
    files += [*rules, *imported_files(rules), *model]
    files += [weights for path in model for weights in weight_files(path)]
    if settings is not None:
        files += _paths([settings.cost.cache or kept_costs(), settings.verify.input_data])
        files += _paths([] if given.get("config") else [config.CONFIG_NAME, config.PYPROJECT_NAME])
    return files


def _paths(files: Iterable[object]) -> list[Path]:
    return [Path(str(file).strip()) for file in files if str(file).strip()]


def settings_help() -> str:
    """Every setting with its default, for the end of a help text."""
    lines = [f"  {key} = {_toml(key, value)}" for key, value in config_schema.defaults().items()]
    return "settings of tensat.toml and --set, with their defaults:\n" + "\n".join(lines)


def _toml(key: str, value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case int() if key in config_schema.SIZES:
            return f'"{config_schema.size_text(value)}"'
        case float():
            return f"{value:g}"
        case tuple():
            return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value)
