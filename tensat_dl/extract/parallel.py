"""Runs tasks that each need a solver, several at a time.

The work is done in the solvers' processes, so that threads do to wait for them; each thread has
solver processes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue

from tensat_dl.extract.solvers.pool import SolverPool
from tensat_dl.settings import ExtractSettings

Task = Callable[[SolverPool], None]


def in_parallel(tasks: Sequence[Task], first: SolverPool, settings: ExtractSettings) -> None:
    """Run the tasks, in their order, up to `settings.workers` at a time.  `first` is the pool of
    one of them; an interruption ends the processes of all."""
    workers = min(settings.workers, len(tasks))
    if workers <= 1:
        for task in tasks:
            task(first)
        return
    with ExitStack() as stack:
        others = [stack.enter_context(SolverPool(settings)) for _ in range(workers - 1)]
        _run(tasks, [first, *others])
        for pool in others:
            first.used_names.extend(n for n in pool.used_names if n not in first.used_names)


def _run(tasks: Sequence[Task], pools: Sequence[SolverPool]) -> None:
    free: SimpleQueue[SolverPool] = SimpleQueue()
    for pool in pools:
        free.put(pool)

    def run(task: Task) -> None:
        pool = free.get()
        try:
            task(pool)
        finally:
            free.put(pool)

    with ThreadPoolExecutor(len(pools)) as executor:
        futures = [executor.submit(run, task) for task in tasks]
        try:
            for future in futures:
                future.result()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for pool in pools:
                pool.kill()
            raise
