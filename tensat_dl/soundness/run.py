"""All rules of a program, verified: what is known already is read, the rest is computed by several
processes.

Enters: a checked program, settings.  Leaves: a verdict for each rule, in the order of the program.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase

from tensat_dl.errors import UsageError
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.progress import Phase, Progress, ProgressEvent, silent
from tensat_dl.resources import process_context, processors
from tensat_dl.sentences import shortened
from tensat_dl.soundness.check import check_rule
from tensat_dl.soundness.necessity import is_meant
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.store import key_of, load, store
from tensat_dl.soundness.verdict import Verdict
from tensat_dl.suggest import nearest_or_all

#: Fewer rules than this are not worth a process.
_WORTH_A_PROCESS = 6

#: Rules that a message names.
_NAMED = 8


def chosen(program: CheckedProgram, names: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of these names, as the author wrote them or as the program has them, those of
    rulesets of these names, and those that fit them as patterns (`fold.*`); where no name is given,
    all that are not `@off`.  Raises UsageError for a name by which there is nothing to verify."""
    if not names:
        return tuple(rule for rule in program.rules if rule.off is None)
    found = {member for name in names for member in _named(program, name)}
    return tuple(rule for rule in program.rules if rule.name in found)


def _named(program: CheckedProgram, name: str) -> set[str]:
    """Who names a rule means it even if it is `@off`."""
    exact = {rule.name for rule in program.rules if name in (rule.name, rule.base)}
    if exact:
        return exact
    members = program.rulesets.get(name, ())
    fitting = [
        rule
        for rule in program.rules
        if rule.name in members or any(fnmatchcase(n, name) for n in (rule.name, rule.base))
    ]
    found = {rule.name for rule in fitting if rule.off is None}
    if not found:
        raise _without_rules(program, name, [rule.name for rule in fitting])
    return found


def _without_rules(program: CheckedProgram, name: str, off: Sequence[str]) -> UsageError:
    """Nothing is to be verified by that name; `off` are rules that fit it and are `@off`."""
    if off or name in program.rulesets:
        which = f": {shortened(off, _NAMED)}" if off else ""
        help = f"a rule that is `@off` is verified where it is named itself{which}"
        return UsageError(f"`{name}` has no rules but such as are `@off`", help=help)
    known = {each for rule in program.rules for each in (rule.name, rule.base)}
    help = nearest_or_all(name, known | program.rulesets.keys())
    return UsageError(f"there is no rule or ruleset `{name}`", help=help)


def verify_program(
    program: CheckedProgram,
    rules: Sequence[Rule],
    settings: Settings,
    progress: Progress = silent,
) -> tuple[Verdict, ...]:
    """Verify `rules` of `program`; `progress` hears of each verdict that was computed."""
    start = time.perf_counter()
    shown = f"{settings.samples} {settings.seed} {settings.conditions} {settings.unguarded}"
    keys = _keys(program, rules, shown) if settings.cache else {}
    known = {name: found for name, key in keys.items() if (found := load(key)) is not None}
    waiting = [rule for rule in rules if rule.name not in known]
    verdicts = dict(known)
    for verdict in _computed(program, waiting, settings):
        verdicts[verdict.rule] = verdict
        if settings.cache:
            store(keys[verdict.rule], verdict)
        message = f"{len(verdicts)} of {len(rules)} rules, now {verdict.rule}"
        progress(ProgressEvent(Phase.VERIFY, time.perf_counter() - start, message=message))
    return tuple(verdicts[rule.name] for rule in rules)


def _keys(program: CheckedProgram, rules: Sequence[Rule], shown: str) -> dict[str, str]:
    """By the rule's name, where its verdict is kept."""
    return {
        rule.name: key_of(program, rule, f"{shown} {is_meant(program, rule)}") for rule in rules
    }


def _computed(
    program: CheckedProgram, rules: Sequence[Rule], settings: Settings
) -> Iterator[Verdict]:
    processes = min(settings.processes or processors(), len(rules) // _WORTH_A_PROCESS + 1)
    if processes <= 1:
        yield from (check_rule(program, rule, settings) for rule in rules)
        return
    names = [rule.name for rule in rules]
    with ProcessPoolExecutor(processes, process_context(), _start, (program, settings)) as pool:
        gc.freeze()  # the others collect nothing that they inherit
        verdicts = pool.map(_check, names, chunksize=4)
        gc.unfreeze()
        yield from verdicts


# --- in the other processes -----------------------------------------------------------------

_work: list[tuple[CheckedProgram, Settings]] = []


def _start(program: CheckedProgram, settings: Settings) -> None:
    _work.append((program, settings))


def _check(name: str) -> Verdict:
    [(program, settings)] = _work
    rule = next(rule for rule in program.rules if rule.name == name)
    return check_rule(program, rule, settings)
