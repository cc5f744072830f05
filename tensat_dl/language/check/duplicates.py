"""Warns of rules that say the same as an earlier one.  Reports W0403."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tensat_dl.language.check.report import Reporter
from tensat_dl.language.check.rules import BACKWARD
from tensat_dl.language.print_program import rule_text
from tensat_dl.language.program import Rule
from tensat_dl.sentences import shortened

#: Parts of a rule that are named.
_SHOWN = 3
_WORD = re.compile(r"[A-Za-z_$][\w$.]*")


def warn_of_duplicates(rules: Iterable[Rule], report: Reporter) -> frozenset[str]:
    """Compare rules up to the names of their variables; the names of those that repeat others."""
    first: dict[str, Rule] = {}
    own: dict[str, list[Rule]] = {}
    repeats: dict[str, list[Rule]] = {}
    earlier_base: dict[str, str] = {}
    for rule in rules:
        own.setdefault(rule.base, []).append(rule)
        earlier = first.setdefault(_canonical(rule), rule)
        if earlier.base != rule.base:
            repeats.setdefault(rule.base, []).append(rule)
            earlier_base.setdefault(rule.base, earlier.base)
    for base, repeated in repeats.items():
        _warn(repeated, own[base], earlier_base[base], report)
    return frozenset(repeats)


def _warn(repeated: Sequence[Rule], own: Sequence[Rule], earlier: str, report: Reporter) -> None:
    """A rule with a class or two directions may repeat another one in part."""
    whole = len(repeated) == len(own)
    base, span = own[0].base, own[0].span
    both = any(rule.name.endswith(BACKWARD) for rule in own)
    parts = [_part(rule, both=both) for rule in repeated]
    report.warning(
        "W0403",
        f"{'' if whole else 'part of '}`{base}` says the same as `{earlier}`",
        span,
        label="" if whole else shortened(parts, _SHOWN),
        help="remove one of them" if whole else f"leave that part to `{earlier}`",
    )


def _part(rule: Rule, *, both: bool) -> str:
    """Which operator and which direction of its base a rule is: `Relu, from left to right`."""
    suffix = rule.name.removeprefix(rule.base)
    operator = suffix.removesuffix(BACKWARD).removeprefix("@")
    direction = "from right to left" if suffix.endswith(BACKWARD) else "from left to right"
    return ", ".join(filter(None, (operator, direction if both else "")))


def _canonical(rule: Rule) -> str:
    """The rule as text, its variables numbered in the order in which they appear."""
    variables = {name for name, _ in (*rule.sorts, *rule.lets)}
    variables |= {target for emit in rule.emits for target in emit.targets}
    numbers: dict[str, str] = {}

    def rename(word: re.Match[str]) -> str:
        name = word.group()
        return numbers.setdefault(name, f"${len(numbers)}") if name in variables else name

    return _WORD.sub(rename, rule_text(rule).partition("\n")[2])
