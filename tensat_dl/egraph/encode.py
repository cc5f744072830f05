"""The checked program as an engine program.

Enters: a checked program and the operators of the graph.  Leaves: an :class:`EncodedProgram`:
commands as text, and for each rule the names of its tables and rulesets.  Knows nothing of the
engine's Python interface, nor of any particular graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tensat_dl.egraph import cycles, naming
from tensat_dl.egraph.demand import demand_rules, demand_table, demanded_arguments, uses_of
from tensat_dl.egraph.derive import (
    DERIVE,
    EncodedDerivation,
    base_table,
    declare_rulesets,
    encode_derivations,
)
from tensat_dl.egraph.numbering import DECLARATIONS as NUMBER_DECLARATIONS
from tensat_dl.egraph.operators import NORMAL, all_operators, operator_commands, young_commands
from tensat_dl.egraph.plan import plan_rule
from tensat_dl.egraph.prune import prune_rules
from tensat_dl.egraph.rules import WANTS, EncodedRule, EncodeOptions, encode_rule
from tensat_dl.egraph.runs import DECLARATIONS as RUN_DECLARATIONS, FOLDS, RUNS
from tensat_dl.egraph.typed import typed_declarations, typed_rule
from tensat_dl.language import program
from tensat_dl.language.sides import matched_operators
from tensat_dl.settings import CyclePolicy
from tensat_dl.vocabulary.operators import Operator

_PRELUDE = (
    "(sort Tensor)",
    "(sort Bundle)",
    "(sort Tensors (Vec Tensor))",
    "(sort Ids (Vec i64))",
    "(constructor Value (i64) Tensor)",
    "(constructor Input (i64) Tensor)",
    "(constructor Const (i64) Tensor)",
    "(constructor Absent () Tensor)",
    "(constructor Out (Bundle i64) Tensor)",
    "(function type (Tensor) i64 :merge (max old new))",
    "(function key (Tensor) i64 :merge old)",
    "(function bkey (Bundle) i64 :merge old)",
    "(function vtypes (Tensors) Ids :merge old)",
    "(function vkey (Tensors) i64 :merge old)",
    "(function gate () i64 :merge new)",
    f"(ruleset {RUNS})",
    f"(ruleset {FOLDS})",
    f"(ruleset {cycles.REACH})",
    f"(ruleset {cycles.BLOCKS})",
    f"(ruleset {cycles.FORGET})",
    f"(ruleset {WANTS})",
    f"(ruleset {NORMAL})",
    *RUN_DECLARATIONS,
    *NUMBER_DECLARATIONS,
    *cycles.DECLARATIONS,
)


@dataclass(frozen=True)
class EncodedProgram:
    """Commands in order that all rules rest on, and the rules with those of their own.
    `checking` writes the commands to run before the first cycle check.  `prunes_steps`: some rule
    asks for cycles to be pruned, so that is done after every step.  `matched` are the operators
    whose e-nodes left sides look at beside the analyses of their inputs (see `egraph.typed`)."""

    commands: tuple[str, ...]
    rules: tuple[EncodedRule, ...]
    derivations: tuple[EncodedDerivation, ...]
    operators: tuple[Operator, ...]
    prunes_steps: bool
    checking: Callable[[], Iterable[str]] = tuple
    matched: tuple[Operator, ...] = ()

    def all_commands(self) -> Iterator[str]:
        """Also those that wait until they are needed."""
        yield from self.commands
        for operator in self.matched:
            yield from typed_rule(operator)
        for rule in self.rules:
            yield from rule.finding()
            yield from rule.acting()
        yield from self.checking()


def encode(
    checked: program.CheckedProgram,
    rules: Sequence[program.Rule],
    graph_operators: Iterable[Operator],
    policy: CyclePolicy,
) -> EncodedProgram:
    """Write the engine program for `rules` (a choice of the program's)."""
    multiple = [rule for rule in rules if rule.is_multi_output]
    prunes_steps = any((r.cycles or policy) == CyclePolicy.PRUNE for r in multiple)
    prunable = prunes_steps or _prunes(checked.schedule)
    lists = prunable or _looks_into_lists(checked, rules)
    options = EncodeOptions(bool(multiple), policy, lists)
    plans = [plan_rule(number, rule) for number, rule in enumerate(rules, start=1)]
    operators = all_operators(plans, checked.derivations, graph_operators)
    commands = list(_PRELUDE)
    for operator in operators:
        commands += operator_commands(operator)
    matched = tuple(filter(naming.has_types, _matched(operators, rules, checked.derivations)))
    commands += typed_declarations(matched)
    uses = tuple(uses_of(rules, checked.derivations))
    arguments = demanded_arguments(uses, checked.derivations)
    derivations = encode_derivations(checked, arguments)
    commands += declare_rulesets()
    commands += _relation_tables(checked.relations, arguments)
    for derivation in derivations:
        commands += derivation.commands
    commands += young_commands(plans)
    encoded = tuple(encode_rule(plan, options) for plan in plans)
    commands += demand_rules(uses, arguments, DERIVE)
    if prunable:
        commands += prune_rules(operators, matched)
    checks = any(rule.check for rule in encoded)
    checking = partial(cycles.checking_rules, operators) if checks else tuple
    return EncodedProgram(
        tuple(commands), encoded, derivations, operators, prunes_steps, checking, matched
    )


def _matched(
    operators: Iterable[Operator],
    rules: Iterable[program.Rule],
    derivations: Iterable[program.Derivation],
) -> Iterator[Operator]:
    """Those of `operators` that stand in a left side."""
    sides: list[program.Rule | program.Derivation] = [*rules, *derivations]
    wanted = {operator for side in sides for operator in matched_operators(side)}
    return (operator for operator in operators if operator in wanted)


def _relation_tables(
    relations: Iterable[program.Relation], demanded: Mapping[str, int]
) -> Iterator[str]:
    """The tables of each relation, and one of what is asked for where an argument is `demanded`."""
    for relation in relations:
        sorts = ["Tensor" if column == "Tensor" else "i64" for column in relation.columns]
        columns = " ".join(sorts)
        yield f"(relation {naming.relation_table(relation.name)} ({columns}))"
        yield f"(relation {base_table(relation.name)} ({columns}))"
        if relation.name in demanded:
            yield f"(relation {demand_table(relation.name)} ({sorts[demanded[relation.name]]}))"


def _looks_into_lists(checked: program.CheckedProgram, rules: Sequence[program.Rule]) -> bool:
    left_sides = [r.matches for r in rules] + [d.matches for d in checked.derivations]
    return any(m.operator.is_variadic for matches in left_sides for m in matches)


def _prunes(steps: Sequence[program.Step]) -> bool:
    return any(
        isinstance(step, program.Prune)
        or (isinstance(step, program.Saturate | program.Repeat) and _prunes(step.body))
        for step in steps
    )


def program_text(encoded: EncodedProgram) -> str:
    """The engine program for people to read (`show --stage egglog`)."""
    return "\n".join(encoded.all_commands()) + "\n"
