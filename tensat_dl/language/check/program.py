"""The whole program: every declaration of every file checked, in the order of their needs.

Enters: the loaded files, imported ones first.  Leaves: a :class:`CheckedProgram`, or None after
errors.  This page reads as the table of contents of the checker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.allowances import VERIFIED, Allowance, allowances, idle, remaining
from tensat_dl.language.check.annotations import Flags, read_flags
from tensat_dl.language.check.costs import check_cost_model
from tensat_dl.language.check.declarations import (
    check_class,
    check_derive,
    check_functions,
    check_relation,
)
from tensat_dl.language.check.default_costs import check_default_costs
from tensat_dl.language.check.duplicates import warn_of_duplicates
from tensat_dl.language.check.names import Kind, Scope, Symbol, build_scopes, name_symbols
from tensat_dl.language.check.operators import (
    check_lowerings_end,
    complete_operator,
    declare_operator,
)
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.check.rules import RuleSource, check_rule
from tensat_dl.language.check.schedules import Scheduler
from tensat_dl.language.check.tests import check_test
from tensat_dl.language.check.variables import Declared
from tensat_dl.language.lint.spellings import warn_of_spellings
from tensat_dl.language.lint.uses import Beside, warn_of_uses
from tensat_dl.language.modules import LoadedModule
from tensat_dl.language.program import (
    CheckedProgram,
    Derivation,
    Limit,
    Repeat,
    Rule,
    Run,
    Saturate,
    Step,
    TestCase,
)
from tensat_dl.syntax import ast


def check_program(
    roots: Sequence[LoadedModule], modules: Sequence[LoadedModule], diagnostics: Diagnostics
) -> CheckedProgram | None:
    """Check `modules` (imports before importers), of which the user named `roots`."""
    allowed = tuple(a for module in modules for a in allowances(module.tree))
    program = _check(roots, modules, allowed, diagnostics)
    _leave_out_allowed(roots, allowed, diagnostics, complete=program is not None)
    return program


def _leave_out_allowed(
    roots: Sequence[LoadedModule],
    allowed: Sequence[Allowance],
    diagnostics: Diagnostics,
    *,
    complete: bool,
) -> None:
    """Leave out the warnings that are meant.  Rules of imported files are not looked at beside the
    others, and not all is looked at after an error: nothing is said of allowances there."""
    warned = list(diagnostics)
    diagnostics.found[:] = remaining(warned, allowed)
    own = {root.file for root in roots}
    for allowance in allowed if complete else ():
        judged = allowance.item.file in own and allowance.code not in VERIFIED
        if judged and len(remaining(warned, [allowance])) == len(warned):
            diagnostics.found.append(idle(allowance))


def _check(
    roots: Sequence[LoadedModule],
    modules: Sequence[LoadedModule],
    allowed: tuple[Allowance, ...],
    diagnostics: Diagnostics,
) -> CheckedProgram | None:
    report = Reporter(diagnostics)
    scopes = build_scopes(modules, report)
    root_scopes = [scopes[root] for root in roots]
    name_symbols(root_scopes)
    symbols = [symbol for scope in scopes.values() for symbol in scope.own]
    declared = Declared()
    _declare(symbols, declared, report)
    functions = check_functions(list(_of(symbols, Kind.FUNCTION)), declared, report)
    _complete(symbols, declared, report)
    derivations = _derivations(scopes, declared, report)
    rules = _rules(symbols, declared, report)
    models = [check_cost_model(s, declared, report) for s in _of(symbols, Kind.COST_MODEL)]
    default_costs = check_default_costs(scopes, root_scopes, report)
    scheduler = Scheduler(rules, report)
    rulesets = _rulesets(scopes, root_scopes, scheduler)
    schedule = _schedule(root_scopes, scheduler)
    tests = _tests(root_scopes, declared, scheduler, report)
    if report.errors or diagnostics.has_errors:
        return None
    program = CheckedProgram(
        rules=_visible(root_scopes, rules, rulesets, schedule),
        relations=tuple(declared.relations.values()),
        derivations=derivations,
        functions=functions,
        operators={c.operator.qualified_name: c for c in declared.operators.values()},
        rulesets=rulesets,
        schedule=schedule,
        cost_models={model.name: model for model in models},
        tests=tests,
        files=tuple(module.file for module in modules),
        allowances=allowed,
        tested_imports=tuple(m.file.name for m in modules if m not in roots and _has_tests(m)),
        default_costs=default_costs,
    )
    _warn_beside(program, roots, report)
    return program


def _warn_beside(program: CheckedProgram, roots: Sequence[LoadedModule], report: Reporter) -> None:
    """What can be said of a rule only with the others in mind."""
    repeated = warn_of_duplicates(program.rules, report)
    steps = tuple(_together(program.schedule))
    files = {root.file for root in roots}
    warn_of_uses(Beside(program, files, repeated, steps), report)
    warn_of_spellings(program, files, report)


def _of(symbols: Sequence[Symbol], kind: Kind) -> Iterator[Symbol]:
    return (symbol for symbol in symbols if symbol.kind is kind)


def _declare(symbols: Sequence[Symbol], declared: Declared, report: Reporter) -> None:
    for symbol in _of(symbols, Kind.OPERATOR):
        declare_operator(symbol, declared, report)
    for symbol in _of(symbols, Kind.CLASS):
        check_class(symbol, declared, report)
    for symbol in _of(symbols, Kind.RELATION):
        check_relation(symbol, declared, report)


def _complete(symbols: Sequence[Symbol], declared: Declared, report: Reporter) -> None:
    for symbol in _of(symbols, Kind.OPERATOR):
        complete_operator(symbol, declared, report)
    check_lowerings_end(declared, report)


def _derivations(
    scopes: dict[LoadedModule, Scope], declared: Declared, report: Reporter
) -> tuple[Derivation, ...]:
    found = [
        check_derive(item, scope, declared, report)
        for module, scope in scopes.items()
        for item in module.tree.items
        if isinstance(item, ast.Derive)
    ]
    return tuple(derivation for derivation in found if derivation is not None)


# --- rules and rulesets ---------------------------------------------------------------------


def _rules(
    symbols: Sequence[Symbol], declared: Declared, report: Reporter
) -> dict[Symbol, tuple[Rule, ...]]:
    around = _rulesets_around(symbols, report)
    rules = {}
    for symbol in _of(symbols, Kind.RULE):
        item = symbol.item
        assert isinstance(item, ast.Rewrite | ast.Rule)
        flags = read_flags(item.annotations, report, around.get(id(item)))
        rules[symbol] = check_rule(RuleSource(symbol, flags, declared, report))
    return rules


def _rulesets_around(symbols: Sequence[Symbol], report: Reporter) -> dict[int, Flags]:
    """The flags of the ruleset in which each rule is written, by the identity of its item."""
    around = {}
    for symbol in _of(symbols, Kind.RULESET):
        item = symbol.item
        assert isinstance(item, ast.Ruleset)
        flags = read_flags(item.annotations, report)
        around.update({id(member): flags for member in item.members})
    return around


def _rulesets(
    scopes: dict[LoadedModule, Scope], roots: Sequence[Scope], scheduler: Scheduler
) -> dict[str, tuple[str, ...]]:
    """Rulesets by their names in the program, and the files that roots import by alias."""
    found: dict[str, tuple[Rule, ...]] = {}
    for scope in scopes.values():
        for symbol in scope.own:
            if symbol.kind is Kind.RULESET:
                found[symbol.name] = scheduler.ruleset(symbol)
    for root in roots:
        for alias, inner in root.aliases.items():
            found.setdefault(alias, scheduler.all_rules(inner))
    return {name: tuple(rule.name for rule in rules) for name, rules in found.items()}


def _schedule(roots: Sequence[Scope], scheduler: Scheduler) -> tuple[Step, ...]:
    """The schedules of the roots one after the other; without any, all rules to saturation."""
    own = [(root, scheduler.main(root)) for root in roots]
    if all(steps is None for _, steps in own):
        return (_saturate(roots, scheduler),)
    found: list[Step] = []
    for root, steps in own:
        found += (_saturate([root], scheduler),) if steps is None else steps
    return tuple(found)


def _saturate(roots: Sequence[Scope], scheduler: Scheduler) -> Saturate:
    rules: dict[str, Rule] = {}
    for root in roots:
        rules.update({rule.name: rule for rule in scheduler.all_rules(root)})
    scheduler.check_default(rules.values(), roots)
    return Saturate((Run("all", tuple(rules)),), Limit())


def _visible(
    roots: Sequence[Scope],
    rules: dict[Symbol, tuple[Rule, ...]],
    rulesets: dict[str, tuple[str, ...]],
    schedule: tuple[Step, ...],
) -> tuple[Rule, ...]:
    """The rules that the roots declare, import, or run."""
    wanted = {name for names in rulesets.values() for name in names}
    wanted |= {name for run in _runs(schedule) for name in run.rules}
    offered = {symbol for root in roots for symbol in (*root.own, *root.picked)}
    return tuple(
        rule
        for symbol, made in rules.items()
        for rule in made
        if symbol in offered or rule.name in wanted
    )


def _runs(steps: tuple[Step, ...]) -> Iterator[Run]:
    for step in steps:
        if isinstance(step, Run):
            yield step
        elif isinstance(step, Saturate | Repeat):
            yield from _runs(step.body)


def _together(steps: Sequence[Step]) -> Iterator[frozenset[str]]:
    """Rules that run together: those of a step, or of all that is saturated."""
    for step in steps:
        if isinstance(step, Run):
            yield frozenset(step.rules)
        elif isinstance(step, Saturate):
            yield frozenset(name for run in _runs(step.body) for name in run.rules)
        elif isinstance(step, Repeat):
            yield from _together(step.body)


def _has_tests(module: LoadedModule) -> bool:
    return any(isinstance(item, ast.Test) for item in module.tree.items)


def _tests(
    roots: Sequence[Scope], declared: Declared, scheduler: Scheduler, report: Reporter
) -> tuple[TestCase, ...]:
    return tuple(
        check_test(item, root, declared, scheduler, report)
        for root in roots
        for item in root.module.tree.items
        if isinstance(item, ast.Test)
    )
