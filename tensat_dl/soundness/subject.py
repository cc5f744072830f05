"""A rule with all that is needed to find its instances and to type its right side.

Enters: a checked program and one of its rules.  Leaves: a :class:`Subject`.  Facts of user
relations are replaced by what a derivation asks for, so that they hold by construction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.plan import RulePlan, plan_rule
from tensat_dl.egraph.question import Answerer
from tensat_dl.egraph.typing import Typer
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.derived import ways


@dataclass(frozen=True)
class Subject:
    """`plans`: the rule with its facts spelled out, one for each way of deriving them;
    `resembled`: for virtual operators by name, the one whose attributes they take over."""

    rule: Rule
    plans: tuple[RulePlan, ...]
    answerer: Answerer
    resembled: Mapping[str, str]


def make_subject(program: CheckedProgram, rule: Rule) -> Subject:
    """Prepare a rule."""
    interner = Interner()
    typer = Typer(program.operators, program.functions, interner)
    answerer = Answerer(interner, typer, program.functions)
    plans = tuple(plan_rule(1, spelled) for spelled in ways(rule, program.derivations))
    resembled = {
        custom.operator.qualified_name: custom.lowering.spread
        for custom in program.operators.values()
        if custom.lowering is not None and custom.lowering.spread is not None
    }
    return Subject(rule, plans, answerer, resembled)
