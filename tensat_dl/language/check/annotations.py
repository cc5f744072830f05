"""`@real`, `@expansive`, `@rounds(n)`, `@cycles(policy)`, `@off("why")`, `@allow(code)`.

Enters: the annotations of a rule and of the ruleset around it.  Leaves: :class:`Flags`.
Reports E0209, E0210, W0404.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensat_dl.language.allowances import ALLOWABLE
from tensat_dl.language.check.report import Reporter, source_text
from tensat_dl.sentences import listed
from tensat_dl.settings import CyclePolicy
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast


@dataclass(frozen=True)
class Flags:
    """What annotations say; None where they say nothing."""

    real: bool = False
    expansive: bool = False
    rounds: int | None = None
    cycles: CyclePolicy | None = None
    off: str | None = None


#: Far more generations than any e-graph within the limits has.
_MAX_ROUNDS = 1_000_000

_USAGE = {
    "real": "`@real`",
    "expansive": "`@expansive`",
    "rounds": "`@rounds(2)`",
    "cycles": "`@cycles(check)`, `@cycles(prune)` or `@cycles(allow)`",
    "off": '`@off("why")`',
    "allow": "`@allow(W0406)`",
}


def read_flags(
    annotations: tuple[ast.Annotation, ...], report: Reporter, inherited: Flags | None = None
) -> Flags:
    """The flags of a rule: its own, over those of its ruleset."""
    flags = inherited or Flags()
    seen: set[str] = set()
    for annotation in annotations:
        name = annotation.name
        if name not in _USAGE:
            marked = [f"@{known}" for known in _USAGE]
            help = did_you_mean(f"@{name}", marked) or "there are " + ", ".join(_USAGE.values())
            report.error("E0209", f"unknown annotation `@{name}`", annotation.span, help=help)
        elif name in seen:
            help = "give all codes to one" if name == "allow" else "remove one of them"
            report.error("E0210", f"`@{name}` stands twice", annotation.span, help=help)
        else:
            flags = _apply(annotation, flags, report)
        seen.add(name)
    return flags


def check_effect(
    annotations: tuple[ast.Annotation, ...], flags: Flags, multi_output: bool, report: Reporter
) -> None:
    """Warn of annotations that only rules with several outputs heed."""
    heeded = {"rounds": flags.rounds, "cycles": flags.cycles}
    for annotation in annotations:
        if heeded.get(annotation.name) is not None and not multi_output:
            report.warning(
                "W0404",
                f"`@{annotation.name}` has no effect on a rule with one output",
                annotation.span,
                help="remove it",
            )


def _apply(annotation: ast.Annotation, flags: Flags, report: Reporter) -> Flags:
    args = annotation.args
    arg = args[0] if len(args) == 1 else None
    match annotation.name, arg:
        case "real", None if not args:
            return replace(flags, real=True)
        case "expansive", None if not args:
            return replace(flags, expansive=True)
        case "rounds", ast.Number(value=int() as count) if 0 < count <= _MAX_ROUNDS:
            return replace(flags, rounds=count)
        case "cycles", ast.Name(text=policy) if policy in set(CyclePolicy):
            return replace(flags, cycles=CyclePolicy(policy))
        case "off", ast.String(value=reason):
            return replace(flags, off=reason)
        case "allow", _ if args:
            _check_codes(args, report)
            return flags
    report.error(
        "E0210",
        f"wrong arguments of `@{annotation.name}`",
        annotation.span,
        help=f"write {_USAGE[annotation.name]}",
    )
    return flags


def _check_codes(codes: tuple[ast.Expr, ...], report: Reporter) -> None:
    """`language.allowances` reads what is right."""
    for code in codes:
        if isinstance(code, ast.Name) and code.text in ALLOWABLE:
            continue
        shown = source_text(code.span)
        near = did_you_mean(shown, ALLOWABLE) if shown.startswith("W") else ""
        report.error(
            "E0210",
            f"`{shown}` is no warning about a rule",
            code.span,
            help=near or f"errors cannot be allowed; warnings are {listed(ALLOWABLE)}",
        )
