"""The Python interface: what the commands do, with values instead of files and exit codes.

`tensat_dl` re-exports these names and imports this module when one is first used.  Failures are
the exceptions of :mod:`tensat_dl.errors`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from tensat_dl import config as configuration
from tensat_dl.destination import choose_output
from tensat_dl.diagnostics import Diagnostic, Diagnostics
from tensat_dl.errors import UsageError
from tensat_dl.progress import Progress, silent
from tensat_dl.report import Report, make_report
from tensat_dl.settings import Settings

if TYPE_CHECKING:
    from tensat_dl.language.load import RuleNames
    from tensat_dl.language.program import CheckedProgram
    from tensat_dl.soundness.verdict import Verdict

Model = TypeVar("Model")

#: A configuration file, its tables as a mapping, or settings; None is the defaults.
Config = str | PathLike[str] | Mapping[str, Any] | Settings | None


@dataclass(frozen=True)
class Result(Generic[Model]):
    """`model` is of the kind that was given: for a path it is the path that was written, else an
    optimised `onnx.ModelProto` or `onnx_ir.Model`.  `report` is what `--json` holds."""

    model: Model
    report: Report = field(repr=False)


def optimize(
    model: Model,
    rules: RuleNames | CheckedProgram = "std",
    config: Config = None,
    progress: Progress | None = None,
    *,
    output: str | PathLike[str] | None = None,
    force: bool = False,
) -> Result[Model]:
    """The cheapest model that `rules` make of `model`, verified.

    `model` is a path, an `onnx.ModelProto` or an `onnx_ir.Model`; the latter two are left as
    they are.  `rules`: paths of rule files or names of shipped rulesets, one, a list or separated
    by commas, or what `load_rules` gave.  Where they measure costs by default, as `std` does, the
    first call times the model's operators; `config={"cost": {"model": "roofline"}}` estimates, in
    less time and alike on every machine.  `output` and `force` are for a path: where to write
    (default `NAME.opt.onnx` beside it), and whether that may be the input itself.
    """
    from tensat_dl.language.load import split_names
    from tensat_dl.language.program import CheckedProgram
    from tensat_dl.pipeline import optimize as run

    settings = as_settings(config)
    chosen = rules if isinstance(rules, CheckedProgram) else split_names(rules)
    if isinstance(model, str | PathLike):
        path = Path(model)
        names = [] if isinstance(chosen, CheckedProgram) else chosen
        used = [Path(name) for name in names if name]
        target = choose_output(path, Path(output) if output else None, force=force, used=used)
        outcome = run(path, chosen, settings, progress or silent, output=target, force=force)
        written = cast(Model, str(target) if isinstance(model, str) else target)
        return Result(written, make_report(outcome))
    if output is not None:
        raise UsageError(
            "`output` is for models given as a path",
            help="the optimised model is `.model` of the result: save it as you made it",
        )
    outcome = run(cast(Any, model), chosen, settings, progress or silent)
    from tensat_dl.graph.convert import model_like

    answer = model_like(cast(Any, model), outcome.model)
    return Result(cast(Model, answer), make_report(outcome))


def load_rules(rules: RuleNames = "std") -> CheckedProgram:
    """The checked program of rule files and shipped rulesets.

    Raises RuleFileError with every problem.
    """
    from tensat_dl.language.load import load_rules as load

    return load(rules)


def check(rules: RuleNames) -> tuple[Diagnostic, ...]:
    """Every problem of rule files; empty when there is none."""
    from tensat_dl.language.load import load_program, split_names

    diagnostics = Diagnostics()
    load_program(split_names(rules), diagnostics)
    return tuple(diagnostics)


def verify_rules(
    rules: RuleNames | CheckedProgram = "std",
    only: Sequence[str] = (),
    *,
    samples: int = 40,
    seed: int = 0,
    cache: bool = True,
    processes: int | None = 1,
    progress: Progress | None = None,
    unguarded: bool = False,
) -> tuple[Verdict, ...]:
    """Do the rules hold?  One verdict for each direction and operator of each rule.

    `rules`: paths of rule files, names of shipped rulesets, or a program of `load_rules`; `only`:
    names of rules and rulesets, or patterns (`fold.*`), all by default; `samples`: instances of
    each; `cache`: read and keep verdicts in the user's cache directory; `unguarded`: an instance
    whose sides differ in type refutes, though `optimize` would not join them; `processes`: how many
    share the work.  With more than one, and not on Linux, a script calls this below
    `if __name__ == "__main__":`.  Raises RuleFileError, and UsageError for an unknown name.
    """
    from tensat_dl.language.load import load_rules as load
    from tensat_dl.language.program import CheckedProgram
    from tensat_dl.soundness.run import chosen, verify_program
    from tensat_dl.soundness.settings import Settings as VerifySettings

    program = rules if isinstance(rules, CheckedProgram) else load(rules)
    settings = VerifySettings(samples, seed, unguarded=unguarded, cache=cache, processes=processes)
    return verify_program(program, chosen(program, only), settings, progress or silent)


def as_settings(config: Config) -> Settings:
    """Settings from any of the forms that `optimize` takes."""
    match config:
        case Settings():
            return config
        case None:
            return Settings()
        case Mapping():
            return configuration.merge([configuration.Source("config", config)])
        case str() | PathLike():
            return configuration.load_settings(Path(config))
    raise UsageError(f"`config` is a path, tables or settings, not {type(config).__name__}")
