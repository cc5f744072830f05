"""Solvers are found, named, limited and stopped, and never believed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from tensat_dl.errors import UsageError
from tensat_dl.extract.problem import Extraction, Status, StopReason, build_problem
from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.extract.run import extract
from tensat_dl.extract.selection import check
from tensat_dl.extract.solvers import glpsol, table
from tensat_dl.extract.solvers.answer import Outcome, SolverProgress
from tensat_dl.extract.solvers.highs import HighsLog
from tensat_dl.extract.solvers.session import SolverSession
from tensat_dl.extract.solvers.table import (
    SOLVERS,
    Backend,
    Solver,
    availability,
    find_solver,
    require_solver,
)
from tensat_dl.settings import ExtractSettings

pytestmark = pytest.mark.slow

FAKE = Path(__file__).with_name("fake_solver.py")
#: Three required classes in a ring: each costs 1 through the next, or more by itself.  The bound
#: before solving is 3, so that a solver is asked.
RING = [(c, 1.0, [(c + 1) % 3]) for c in range(3)] + [(c, 10.0, []) for c in range(3)]
PROBLEM = build_problem(3, RING, [0, 1, 2])
OPTIMUM = 12.0
#: Nothing but a solver finds the answer then.
NO_REDUCTIONS: tuple[str, ...] = ()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `bin` whose `glpsol` and `cbc` are the fake; returns where its pid is written."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("glpsol", "cbc"):
        target = programs / name
        target.write_text(f"#!{sys.executable}\n" + FAKE.read_text())
        target.chmod(0o755)
    monkeypatch.setenv("FAKE_PID", str(tmp_path / "pid"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path / "pid"


def program(fake: Path, name: str = "glpsol") -> str:
    return str(fake.parent / "bin" / name)


def run(fake: Path, seconds: float = 5.0) -> Extraction:
    settings = ExtractSettings(seconds=seconds, executable=program(fake), reductions=NO_REDUCTIONS)
    answer = extract(PROBLEM, settings)
    assert answer.selection is not None
    assert check(PROBLEM, answer.selection) == answer.objective >= OPTIMUM
    assert answer.bound <= OPTIMUM + 1e-6
    return answer


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("crash", "signal 11"),
        ("error", "status 3: the licence has expired"),
        ("rubbish", "no readable solution"),
        ("nothing", "no readable solution"),
        ("infeasible", "says there is no answer, but one is in hand"),
        ("zeros", "incomplete solution"),
        ("loop", "returned a loop that its program forbids"),
        ("ones", "claims that nothing below"),
        ("bound", "but an answer of"),
        ("nan", "values that are no numbers"),
    ],
)
def test_a_solver_that_misbehaves_costs_nothing_but_the_proof(
    fake: Path, monkeypatch: pytest.MonkeyPatch, mode: str, says: str
) -> None:
    monkeypatch.setenv("FAKE", mode)
    answer = run(fake)
    assert says in " ".join(answer.warnings)
    assert all(warning.startswith("solver glpk") for warning in answer.warnings)
    assert answer.status is Status.FEASIBLE
    assert answer.stopped is StopReason.SOLVER_FAILED
    assert answer.bound == 3.0, "nothing that it claimed was believed"
    assert not list(fake.parent.glob("tensat-dl-*")), "temporary files are left"


def test_a_solver_that_hangs_is_stopped_in_time(
    fake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE", "hang")
    started = time.monotonic()
    answer = run(fake, seconds=3.0)
    assert time.monotonic() - started < 3.6
    assert answer.stopped is StopReason.TIME
    assert answer.bound == 300.0 / 64.0, "the last bound it printed, on its scale, is kept"
    assert "stopped" in " ".join(answer.warnings)
    wait_for(lambda: not is_running(int(fake.read_text())), seconds=1.0)
    assert not list(fake.parent.glob("tensat-dl-*"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_solver_outlives_the_run(
    fake: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    monkeypatch.setenv("FAKE", "hang")
    code = f"""
        from tensat_dl.extract.problem import build_problem
        from tensat_dl.extract.run import extract
        from tensat_dl.settings import ExtractSettings
        settings = ExtractSettings(executable={program(fake)!r}, reductions=())
        extract(build_problem(3, {RING!r}, [0, 1, 2]), settings)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.DEVNULL
    )
    wait_for(fake.exists)
    wait_for(lambda: fake.read_text() != "")
    pid = int(fake.read_text())
    parent.send_signal(how)
    parent.wait(timeout=2.0)
    wait_for(lambda: not is_running(pid), seconds=2.0)
    if how is signal.SIGINT:
        assert not list(fake.parent.glob("tensat-dl-*"))


def is_running(pid: int) -> bool:
    """A killed process that nobody has asked about yet does not run."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(condition: object, seconds: float = 10.0) -> None:
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.02)


def test_the_packaged_glpsol_is_run_whatever_is_on_path(
    fake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{fake.parent / 'bin'}{os.pathsep}/usr/bin:/bin")
    found = glpsol.find_glpsol()
    assert found is not None and found.path.parts[-3:] == ("cmeel.prefix", "bin", "glpsol")
    done = subprocess.run([found.path, "--version"], env=found.environment, capture_output=True)
    assert b"GLPSOL" in done.stdout
    named = glpsol.find_glpsol(program(fake))
    assert named is not None and str(named.path) == program(fake)


def test_without_a_package_the_program_on_path_is_run_but_not_a_wrapper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "glpsol"
    wrapper.write_text("#!/usr/bin/python\nfrom cmeel.run import cmeel_run\ncmeel_run()\n")
    wrapper.chmod(0o755)
    other = tmp_path / "other"
    other.mkdir()
    (other / "glpsol").write_bytes(b"\x7fELF")
    (other / "glpsol").chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda key: str(tmp_path / "nothing"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{other}")
    found = glpsol.find_glpsol()
    assert found is not None and found.path == other / "glpsol"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert glpsol.find_glpsol() is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"executable": "/no/such/glpsol"}, "/no/such/glpsol does not exist"),
        ({"executable": __file__}, "is not executable"),
        ({"solver": "highs", "executable": sys.executable}, "is a library"),
        ({"solver": "auto", "executable": sys.executable}, "the solver is `auto`"),
        ({"solver": "auto", "options": {"threads": 2}}, "the solver is `auto`"),
    ],
)
def test_programs_that_cannot_be_run(changes: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        extract(PROBLEM, ExtractSettings(**changes))  # type: ignore[arg-type]


def test_every_solver_says_whether_it_can_be_used() -> None:
    assert len({solver.name for solver in SOLVERS}) == len(SOLVERS)
    for solver in SOLVERS:
        found = availability(solver)
        assert found.detail and solver.needs
        assert found.solver.name == solver.name and solver.at_limit
    assert availability(find_solver("glpk")) and availability(find_solver("highs"))


def test_names_are_looked_up_in_the_table_then_in_pyomo() -> None:
    assert find_solver("highs").backend is Backend.DIRECT
    assert find_solver("appsi_highs").backend is Backend.PYOMO
    with pytest.raises(UsageError) as raised:
        find_solver("gurobbi")
    assert "gurobi" in raised.value.help and "glpk, highs" in raised.value.help
    with pytest.raises(UsageError, match="cannot be used") as raised:
        require_solver("xpress")
    assert "usable here: glpk, highs" in raised.value.help


def knapsack() -> Program:
    """Cover 20 with weights that do not fit it exactly."""
    program = Program()
    weights = (3.0, 5.0, 7.0, 9.0, 11.0, 13.0)
    columns = tuple(program.column(1.1 * weight, integer=True) for weight in weights)
    program.rows.append(Row(columns, weights, Sense.AT_LEAST, 20.5))
    return program


def installed(name: str) -> Solver:
    """The solver; skips the test where it is not installed."""
    found = availability(find_solver(name))
    if not found:
        pytest.skip(found.detail)
    return found.solver


@pytest.mark.parametrize("name", ["glpk", "highs", "cp-sat", "scip", "cbc", "appsi_highs"])
def test_a_program_is_solved_tightened_and_solved_again(name: str) -> None:
    with SolverSession(installed(name), {}) as session:
        session.load(knapsack())
        first = session.solve(20.0, 1e-6, 25.0, lambda progress: None)
        assert first.outcome is Outcome.OPTIMAL and first.values is not None
        value = knapsack().value(first.values)
        assert first.bound == pytest.approx(value, rel=1e-5)
        session.add_rows([Row((0,), (1.0,), Sense.EQUAL, 1.0), Row((1,), (1.0,), Sense.EQUAL, 1.0)])
        second = session.solve(20.0, 1e-6, 25.0, lambda progress: None)
        assert second.values is not None and second.values[:2] == pytest.approx((1.0, 1.0))
        assert knapsack().value(second.values) >= value - 1e-6
        session.add_rows([Row((0,), (1.0,), Sense.AT_MOST, 0.0)])
        assert session.solve(20.0, 1e-6, 25.0, lambda p: None).outcome is Outcome.INFEASIBLE


@pytest.mark.parametrize("name", ["glpk", "highs", "cp-sat", "scip", "cbc"])
def test_what_a_solver_had_at_its_time_limit_is_kept(name: str) -> None:
    program = market_split()
    with SolverSession(installed(name), {}) as session:
        session.load(program)
        answer = session.solve(4.0, 1e-6, 9.0, lambda progress: None)
    assert answer.outcome is Outcome.LIMIT
    assert answer.values is not None, "every point is feasible: an incumbent is found at once"
    assert answer.bound <= program.value(answer.values)


def market_split(rows: int = 4, columns: int = 30) -> Program:
    """Split markets with as little slack as possible: tiny, and very hard to prove."""
    rng = random.Random(1)
    program = Program()
    x = [program.column(0.0, integer=True) for _ in range(columns)]
    for _ in range(rows):
        weights = [float(rng.randrange(100)) for _ in x]
        more, less = program.column(1.0, upper=1e6), program.column(1.0, upper=1e6)
        terms = (*weights, 1.0, -1.0)
        program.rows.append(Row((*x, more, less), terms, Sense.EQUAL, sum(weights) // 2))
    return program


HIGHS_LOG = """\
Running HiGHS 1.16.0 (git hash: 1234567): Copyright (c) 2026 HiGHS under MIT licence terms
MIP has 4 rows; 38 cols; 124 nonzeros; 30 integer variables (30 binary)
        Nodes      |    B&B Tree     |            Objective Bounds            
Src  Proc. InQueue |  Leaves   Expl. | BestBound       BestSol              Gap |   Cuts

         0       0         0   0.00%   0               inf                  inf        0      0
 S       0       0         0   0.00%   1.5             123              98.78%        0      0
         1       0         0   0.39%   2               3                33.33%      252     24
"""


def test_the_log_of_highs_tells_bounds_while_it_runs() -> None:
    seen: list[SolverProgress] = []
    log = HighsLog(seen.append)
    for start in range(0, len(HIGHS_LOG), 7):
        log.write(HIGHS_LOG[start : start + 7])
    assert [(p.objective, p.bound) for p in seen] == [(None, 0.0), (123.0, 1.5), (3.0, 2.0)]


def test_options_reach_the_solver_verbatim() -> None:
    assert glpsol._arguments({"cuts": True, "mir": False, "seed": 3}) == ["--cuts", "--seed", "3"]
    with SolverSession(find_solver("glpk"), {"no-such-option": True}) as session:
        session.load(knapsack())
        answer = session.solve(5.0, 1e-6, 6.0, lambda progress: None)
    assert answer.outcome is Outcome.FAILED and "no-such-option" in answer.message
    for option in ({"no-such-option": True}, {"presolve": 3}, {"mip_max_nodes": -5}):
        with SolverSession(find_solver("highs"), option) as session:
            session.load(knapsack())
            answer = session.solve(5.0, 1e-6, 6.0, lambda progress: None)
        assert answer.outcome is Outcome.FAILED and next(iter(option)) in answer.message
    with SolverSession(find_solver("highs"), {"mip_max_nodes": 0}) as session:
        session.load(market_split())
        answer = session.solve(20.0, 1e-6, 25.0, lambda progress: None)
    assert answer.outcome is not Outcome.OPTIMAL


@pytest.mark.parametrize("mode", ["crash", "error", "nothing", "hang"])
def test_a_program_run_by_pyomo_that_fails(
    fake: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("FAKE", mode)
    settings = ExtractSettings(
        solver="cbc", seconds=4.0, executable=program(fake, "cbc"), reductions=NO_REDUCTIONS
    )
    answer = extract(PROBLEM, settings)
    (warning,) = answer.warnings
    assert warning.startswith("solver cbc") and answer.objective >= OPTIMUM
    assert answer.stopped is (StopReason.TIME if mode == "hang" else StopReason.SOLVER_FAILED)
    assert answer.bound == 3.0 and answer.status is Status.FEASIBLE


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("crash", "signal 11"),
        ("raise", "the licence server does not answer"),
        ("hang", "was stopped"),
        ("rubbish", "no attribute"),
        ("infeasible", "says there is no answer, but one is in hand"),
        ("zeros", "incomplete solution"),
        ("loop", "returned a loop that its program forbids"),
        ("nan", "values that are no numbers"),
    ],
)
def test_a_library_that_misbehaves(monkeypatch: pytest.MonkeyPatch, mode: str, says: str) -> None:
    fake = Solver("fake", Backend.DIRECT, "fake_plugin", "nothing", module="fake_plugin")
    monkeypatch.setattr(table, "SOLVERS", (*SOLVERS, fake))
    monkeypatch.setenv("FAKE", mode)
    seconds = 4.0 if mode == "hang" else 20.0
    settings = ExtractSettings(solver="fake", seconds=seconds, reductions=NO_REDUCTIONS)
    answer = extract(PROBLEM, settings)
    (warning,) = answer.warnings
    assert warning.startswith("solver fake") and says in warning
    assert answer.selection is not None
    assert check(PROBLEM, answer.selection) == answer.objective >= OPTIMUM
    assert answer.bound == 3.0 and answer.status is Status.FEASIBLE


def test_a_session_goes_on_after_its_process_died() -> None:
    with SolverSession(find_solver("glpk"), {}) as session:
        session.load(knapsack())
        assert session.solve(5.0, 1e-6, 8.0, lambda p: None).outcome is Outcome.OPTIMAL
        assert session._process is not None
        os.killpg(session._process.pid, signal.SIGKILL)
        answer = session.solve(5.0, 1e-6, 8.0, lambda p: None)
        assert answer.outcome is Outcome.FAILED and "signal 9" in answer.message
        assert session.solve(5.0, 1e-6, 8.0, lambda p: None).outcome is Outcome.OPTIMAL
