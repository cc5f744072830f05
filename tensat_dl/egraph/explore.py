"""Explores a graph with a program of rules, in a process of its own, within limits.

Enters: a graph, a checked program, settings.  Leaves: a snapshot of the e-graph.  Whatever a rule
does (an explosion within one step, a crash), a snapshot comes back: the last one taken, at worst
the original graph.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import psutil

from tensat_dl.egraph.clash import find_clash
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.snapshot import Exploration, RuleCount, Saturated, StopReason
from tensat_dl.egraph.typing import Typer
from tensat_dl.egraph.wire import unpack
from tensat_dl.egraph.worker import Job, run_in_process, work
from tensat_dl.errors import TensatError, UnsoundRuleError
from tensat_dl.graph.model import Graph
from tensat_dl.language import program
from tensat_dl.progress import Phase, Progress, ProgressEvent, silent
from tensat_dl.resources import heap_kept, process_context
from tensat_dl.settings import ExploreSettings, RuleSettings

#: Beyond its own limit the worker has this share of it, and this many seconds, to send its state.
_GRACE_SHARE = 0.15
_GRACE_SECONDS = 0.5
_POLL_SECONDS = 0.05

_GOES_ON = "what was known before is used"

_UNSOUND_HELP = 'restrict the rule with a type or a condition, or turn it off with `@off("why")`'


def explore(
    graph: Graph,
    checked: program.CheckedProgram,
    settings: ExploreSettings,
    rules: RuleSettings,
    progress: Progress = silent,
) -> Saturated:
    """Run the program's schedule on `graph`.

    Raises UnsoundRuleError when the rules give one tensor two types.
    """
    chosen = chosen_rules(checked, rules)
    job = Job(graph, checked, chosen, settings)
    watch = _Watch(job, progress)
    watch.run()
    known = _unpacked(job, watch)
    saturated = replace(
        known,
        constants={**known.constants, **{c.digest: c for c in graph.constants.values()}},
        exploration=watch.finished(known),
    )
    clash = watch.clash if watch.done else _clash(saturated, job)
    if clash:
        raise UnsoundRuleError(clash, help=_UNSOUND_HELP)
    return saturated


def _clash(saturated: Saturated, job: Job) -> str:
    """What the worker could not say any more."""
    typer = Typer(job.checked.operators, job.checked.functions, Interner())
    clash = find_clash(saturated, job.graph, typer, job.rules)
    return "" if clash is None else str(clash)


def _unpacked(job: Job, watch: _Watch) -> Saturated:
    """The last snapshot; the graph itself when the worker gave none at all."""
    if watch.result is not None:
        return unpack(watch.result)
    empty = replace(job, rules=(), checked=replace(job.checked, schedule=()), snapshots=False)
    try:
        saturated = run_in_process(empty)
    except (RuntimeError, ValueError, KeyError) as error:
        raise TensatError(f"the exploration failed: {watch.failure or error}") from error
    rules = {rule.name: RuleCount(0, 0) for rule in job.rules}
    return replace(saturated, exploration=replace(saturated.exploration, rules=rules))


def chosen_rules(
    checked: program.CheckedProgram, settings: RuleSettings
) -> tuple[program.Rule, ...]:
    """The rules that the schedule reaches, on request without those that are not exact.

    A rule that is `@off` is in the schedule only where its name is written.
    """
    reached = _reached(checked.schedule)
    return tuple(
        rule
        for rule in checked.rules
        if rule.name in reached and not (settings.exact and rule.real)
    )


def _reached(steps: Sequence[program.Step]) -> set[str]:
    found: set[str] = set()
    for step in steps:
        match step:
            case program.Run():
                found.update(step.rules)
            case program.Saturate() | program.Repeat():
                found |= _reached(step.body)
            case program.Prune():
                pass
    return found


@dataclass
class _Watch:
    """Starts the worker, listens, and stops it from outside when it must be."""

    job: Job
    progress: Progress
    result: bytes | None = None
    done: bool = False
    clash: str = ""
    ended: StopReason | None = None
    rule: str = ""
    failure: str = ""
    traceback: str = ""
    seconds: float = 0.0

    def run(self) -> None:
        """Run the job to its end, or to the end of its limits."""
        context = process_context()
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(self.job, theirs, ours), daemon=True)
        self.started = time.monotonic()
        with heap_kept():  # nor by the child: a session that it inherits waits for its threads
            process.start()
        theirs.close()
        try:
            self._listen(ours, process)
        finally:
            self.seconds = time.monotonic() - self.started
            process.kill()
            process.join()
            ours.close()

    def _listen(self, pipe: Connection, process: BaseProcess) -> None:
        settings = self.job.settings
        seconds = settings.seconds
        deadline = self.started + seconds + max(_GRACE_SECONDS, _GRACE_SHARE * seconds)
        watched = psutil.Process(process.pid)
        inherited = _memory(watched)
        looked = self.started
        while not (self.done or self.ended):
            if pipe.poll(_POLL_SECONDS):
                try:
                    self._take(pipe.recv())
                except EOFError:
                    self.ended = StopReason.CRASHED
                if self.done or self.ended:
                    return
            now = time.monotonic()
            if now > deadline:
                self.ended = StopReason.SECONDS
            elif now - looked >= _POLL_SECONDS:
                looked = now
                if _memory(watched) - inherited > settings.memory:
                    self.ended = StopReason.MEMORY

    def _take(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("rule", str(name)):
                self.rule = name
            case ("step", int(step), int(enodes)):
                seconds = time.monotonic() - self.started
                self.progress(
                    ProgressEvent(Phase.EXPLORE, seconds, step, enodes, message=self.rule)
                )
            case ("stopped", str(name)):
                self.rule = name
            case ("snapshot", bytes(packed)):
                self.result = packed
            case ("done", str(clash)):
                self.clash = clash
                self.done = True
            case ("failed", StopReason() as reason, str(text), str(where)):
                self.ended, self.failure, self.traceback = reason, text, where

    def finished(self, saturated: Saturated) -> Exploration:
        """The exploration as it ended, which the last snapshot could not know."""
        known = saturated.exploration
        whole = self.result is not None and known.stopped_by is not StopReason.UNFINISHED
        cut = None if whole and self.ended is not StopReason.CRASHED else self.ended
        ended = cut or known.stopped_by
        blamed = self.rule if cut else known.blamed
        return replace(
            known,
            eclasses=len(saturated.class_types),
            seconds=self.seconds,
            stopped_by=ended,
            blamed=blamed,
            warnings=_warnings(ended, blamed, self.failure, whole, known.rules),
            traceback=self.traceback,
        )


def _warnings(
    ended: StopReason, blamed: str, failure: str, whole: bool, rules: Mapping[str, RuleCount]
) -> tuple[str, ...]:
    rule = f" while rule `{blamed}` ran" if blamed else ""
    match ended:
        case StopReason.CRASHED:
            if not failure:
                return (f"the exploration's process died{rule}; {_GOES_ON}",)
            mistake = "a mistake in tensat-dl, not in your files: --debug shows where"
            return (f"the exploration crashed{rule} ({failure}), {mistake}; {_GOES_ON}",)
        case StopReason.MEMORY:
            return (f"the exploration reached its memory limit{rule}",)
        case StopReason.SECONDS | StopReason.ENODES if blamed:
            return (f"the exploration reached its limit ({ended}){rule}",)
        case StopReason.SECONDS if not whole:
            return (f"time ran out while the e-graph was copied; {_GOES_ON}",)
        case StopReason.SECONDS | StopReason.ENODES:
            return (f"the exploration reached its limit ({ended}){_growing(rules, ended)}",)
        case _:
            return ()


def _growing(rules: Mapping[str, RuleCount], ended: StopReason) -> str:
    """The rule that a limit is mostly spent on."""
    if not rules:
        return ""
    if ended is StopReason.SECONDS:
        name = max(rules, key=lambda r: rules[r].seconds)
        return f"; rule `{name}` took {rules[name].seconds:.1f} s of it"
    name = max(rules, key=lambda r: rules[r].applied)
    return f"; rule `{name}` acted most often, {rules[name].applied:,} times"


def _memory(process: psutil.Process) -> int:
    """What it uses, with what it shares: after a fork all that the other process uses."""
    with contextlib.suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0
