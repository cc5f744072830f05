"""Warns of rules that say the same as an earlier one.  Reports W0403."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tensat_dl.language.check.report import Reporter
from tensat_dl.language.print_program import rule_text
from tensat_dl.language.program import Rule

_WORD = re.compile(r"[A-Za-z_$][\w$.]*")


def warn_of_duplicates(rules: Iterable[Rule], report: Reporter) -> frozenset[str]:
    """Compare rules up to the names of their variables; the names of those that repeat others."""
    first: dict[str, Rule] = {}
    repeated: set[str] = set()
    for rule in rules:
        earlier = first.setdefault(_canonical(rule), rule)
        if earlier.base != rule.base:
            repeated.add(rule.base)
            report.warning(
                "W0403",
                f"`{rule.base}` says the same as `{earlier.base}`",
                rule.span,
                help="remove one of them",
            )
    return frozenset(repeated)


def _canonical(rule: Rule) -> str:
    """The rule as text, its variables numbered in the order in which they appear."""
    variables = {name for name, _ in (*rule.sorts, *rule.lets)}
    variables |= {target for emit in rule.emits for target in emit.targets}
    numbers: dict[str, str] = {}

    def rename(word: re.Match[str]) -> str:
        name = word.group()
        return numbers.setdefault(name, f"${len(numbers)}") if name in variables else name

    return _WORD.sub(rename, rule_text(rule).partition("\n")[2])
