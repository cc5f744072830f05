"""The process that holds the engine.

Enters: a job and one end of a pipe.  Leaves: messages: ("rule", name) before a rule runs,
("step", steps, e-nodes), ("snapshot", bytes) now and then, ("stopped", blamed rule) when the
schedule has ended, a last snapshot, and ("done", clash) or ("failed", reason, message, traceback).
The bytes are snapshots, see `egraph.wire`; the clash, "" where there is none, is looked for here,
where the types that this takes have been inferred already.

Snapshots cost time, so one is taken only when ten times what it will cost has passed.
"""

from __future__ import annotations

import gc
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from tensat_dl.egraph.clash import find_clash
from tensat_dl.egraph.driver import Driver
from tensat_dl.egraph.encode import encode
from tensat_dl.egraph.engine import Engine
from tensat_dl.egraph.harvest import Naming, harvest
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.limits import Limits, Stop
from tensat_dl.egraph.loading import Facts, load_facts
from tensat_dl.egraph.question import Answerer
from tensat_dl.egraph.relevance import relevant
from tensat_dl.egraph.snapshot import Exploration, RuleCount, Saturated, StopReason
from tensat_dl.egraph.typing import Typer
from tensat_dl.egraph.wire import Harvest, pack, snapshot_of, unpack
from tensat_dl.graph.model import Graph
from tensat_dl.language import program
from tensat_dl.settings import ExploreSettings

#: So much of the time, at most, is kept for copying out.
_MOST_COPYING = 0.2

#: A snapshot may cost a tenth of the time since the last one.
_SNAPSHOT_SHARE = 10.0


@dataclass(frozen=True)
class Job:
    """What to explore: `rules` is the choice of rules that run."""

    graph: Graph
    checked: program.CheckedProgram
    rules: tuple[program.Rule, ...]
    settings: ExploreSettings
    snapshots: bool = True


def work(job: Job, pipe: Connection, other_end: Connection) -> None:
    """Explore and report; the entry point of the process.  It has the end that is read, too, and
    gives it up: else it would wait for ever for a reader that was killed."""
    other_end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # nothing here is cyclic garbage, and copying out makes a million objects
    try:
        _Worker(job, pipe.send).work()
    except MemoryError:
        pipe.send(("failed", StopReason.MEMORY, "", ""))
    except (BrokenPipeError, EOFError):
        return
    except Exception as error:  # the other side shows it, whatever it is
        said = " ".join(f"{type(error).__name__}: {error}".split())
        pipe.send(("failed", StopReason.CRASHED, said, traceback.format_exc()))
    finally:
        pipe.close()


@dataclass
class _Worker:
    job: Job
    send: Callable[[tuple[Any, ...]], None]
    interner: Interner = field(default_factory=Interner)
    engine: Engine = field(default_factory=Engine)
    started: float = field(default_factory=time.monotonic)
    last_snapshot: float = field(default_factory=time.monotonic)
    busy_before: float = field(default_factory=time.process_time)
    enode_cost: float = 3e-5  # seconds of this process to copy out one

    def work(self) -> None:
        """Load, run the schedule, send the end state."""
        job = self.job
        facts = load_facts(job.graph, self.interner)
        self._load(facts)
        limits = Limits(job.settings.enodes, self.started + job.settings.seconds)
        self.driver = Driver(
            self.engine,
            self.encoded,
            self.answerer,
            limits,
            lambda name: self.send(("rule", name)),
            self._after_step,
        )
        reason, blamed = self._explore()
        self.send(("stopped", blamed))  # copying out may take longer than is left
        last = self._harvest(reason, blamed)
        self.send(("snapshot", self._packed(last)))
        clash = find_clash(snapshot_of(last), job.graph, self.answerer.typer, job.rules)
        self.send(("done", "" if clash is None else str(clash)))

    def _load(self, facts: Facts) -> None:
        job = self.job
        operators = [node.operator for node in job.graph.nodes]
        policy = job.settings.cycles
        rules, derivations = relevant(job.rules, job.checked.derivations, operators)
        needed = replace(job.checked, derivations=derivations)
        self.encoded = encode(needed, rules, operators, policy)
        typer = Typer(job.checked.operators, job.checked.functions, self.interner)
        self.answerer = Answerer(self.interner, typer, job.checked.functions)
        self.names = Naming(
            self.encoded.operators,
            ("", *[r.name for r in rules]),
            {facts.values[name]: name for name in job.graph.inputs},
            facts.values,
            [o.value for o in job.graph.outputs],
        )
        self.engine.commands(self.encoded.commands)
        self.engine.unions(facts.unions)
        for function, rows in _by_function(facts).items():
            self.engine.set(function, rows)

    def _explore(self) -> tuple[StopReason, str]:
        try:
            return self.driver.run(self.job.checked.schedule), ""
        except Stop as stop:
            return stop.reason, stop.blamed

    def _after_step(self, enodes: int) -> None:
        self.send(("step", len(self.driver.counts.steps), enodes))
        now = time.monotonic()
        copying = self.enode_cost * enodes * self._slowness(now)
        seconds = self.job.settings.seconds
        kept = min(copying, _MOST_COPYING * seconds)
        self.driver.limits.deadline = self.started + seconds - kept
        cost = max(copying, 0.02)
        if not self.job.snapshots or now - self.last_snapshot < _SNAPSHOT_SHARE * cost:
            return
        busy = time.process_time()
        self.send(("snapshot", self._packed(self._harvest(StopReason.UNFINISHED, ""))))
        self.last_snapshot = time.monotonic()
        self.enode_cost = (time.process_time() - busy) / max(enodes, 1)

    def _slowness(self, now: float) -> float:
        """Seconds that pass for one of ours: more than 1 where others use the machine."""
        busy = time.process_time() - self.busy_before
        return max(1.0, (now - self.started) / max(busy, 0.01))

    def _packed(self, harvested: Harvest) -> bytes:
        return pack(harvested, {c.digest for c in self.job.graph.constants.values()})

    def _harvest(self, reason: StopReason, blamed: str) -> Harvest:
        counts = self.driver.counts
        rejected: dict[str, int] = {}
        for (name, _), count in self.answerer.refusals.items():
            rejected[name] = rejected.get(name, 0) + count
        rules = {
            r.name: RuleCount(
                counts.matches.get(r.name, 0),
                min(counts.applied.get(r.name, 0), counts.matches.get(r.name, 0)),
                rejected.get(r.name, 0),
                counts.seconds.get(r.name, 0.0),
            )
            for r in self.job.rules
        }
        exploration = Exploration(
            self.driver.count_enodes(),
            0,
            len(counts.steps),
            time.monotonic() - self.started,
            reason,
            blamed,
            rules,
            tuple(counts.steps),
        )
        return harvest(self.engine, self.interner, self.names, exploration)


def _by_function(facts: Facts) -> dict[str, list[tuple[Any, Any]]]:
    """Rows of each function, for one call each."""
    grouped: dict[str, list[tuple[Any, Any]]] = {}
    for function, arguments, value in facts.sets:
        grouped.setdefault(function, []).append((arguments, value))
    return grouped


def run_in_process(job: Job) -> Saturated:
    """The end state of a job that is run here, without limits from outside; its constants lack
    those of the graph."""
    messages: list[tuple[Any, ...]] = []
    _Worker(job, messages.append).work()
    return unpack(next(rest[0] for kind, *rest in reversed(messages) if kind == "snapshot"))
