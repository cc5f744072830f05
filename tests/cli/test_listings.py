"""`ops` and `solvers` list what there is."""

from __future__ import annotations

from tensat_dl.extract.solvers.table import SOLVERS
from tensat_dl.vocabulary import catalog


def test_ops_lists_every_operator_on_a_line(tensat) -> None:
    done = tensat("ops")
    assert done.code == 0
    names = [line.partition("(")[0] for line in done.out.splitlines()]
    assert names == list(catalog.names())


def test_ops_describes_one(tensat) -> None:
    out = tensat("ops", "Concat").out
    assert out.startswith("Concat(inputs: T+, *, axis: int)   (ai.onnx, since 13)\n")
    assert "axis: int   (required)" in out


def test_solvers_lists_every_solver_and_why_not(tensat) -> None:
    done = tensat("solvers")
    assert done.code == 0
    header, *rows = [line.split(None, 3) for line in done.out.splitlines()]
    assert header[:3] == ["solver", "usable", "tried"]
    assert [row[0] for row in rows] == [solver.name for solver in SOLVERS]
    by_name = {name: (usable, detail) for name, usable, _, detail in rows}
    tried = {name: mark == "yes" for name, _, mark, _ in rows}
    assert tried == {solver.name: solver.ran_here for solver in SOLVERS}
    assert by_name["glpk"][0] == "yes"
    assert all(detail for _, detail in by_name.values())
    unusable = [name for name, (usable, _) in by_name.items() if usable == "no"]
    needs = {solver.name: solver.needs for solver in SOLVERS}
    assert all(needs[name] in by_name[name][1] for name in unusable)


def test_solvers_says_more_when_asked(tensat) -> None:
    out = tensat("solvers", "-v").out
    more = [line.split(None, 2) for line in out.split("\n\n")[1].splitlines()[1:]]
    assert [row[0] for row in more] == [solver.name for solver in SOLVERS]
    assert ["glpk", "badly"] in [row[:2] for row in more]
