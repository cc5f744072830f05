"""`tensat-dl extract` on e-graphs small enough to solve by eye."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tensat_dl.cli.summary import extraction_line


def egraph(*nodes: tuple[str, str, float, list[str]], root: str = "r") -> str:
    """JSON of an e-graph; a node is (class, operator, cost, children as node ids)."""
    content = {
        f"n{index}": {"eclass": eclass, "op": op, "cost": cost, "children": children}
        for index, (eclass, op, cost, children) in enumerate(nodes)
    }
    return json.dumps({"nodes": content, "root_eclasses": [root]})


#: Two ways to make `r`: for 10, or for 1 + 2 through `a`; the cheap way through a loop is none.
SMALL = egraph(
    ("r", "dear", 10.0, []),
    ("r", "cheap", 1.0, ["n2"]),
    ("a", "leaf", 2.0, []),
    ("a", "loop", 0.0, ["n1"]),
)


@pytest.mark.parametrize("method", ["ilp", "tensat-ilp", "greedy-dag", "greedy-tree"])
def test_the_cheapest_acyclic_selection(tensat, method: str) -> None:
    Path("g.json").write_text(SMALL)
    done = tensat("extract", "g.json", "--method", method, "--json", "answer.json")
    assert done.code == 0, done.err
    assert "4 e-nodes in 2 e-classes" in done.out
    answer = json.loads(Path("answer.json").read_text())
    assert answer["extraction"]["method"] == method
    assert answer["extraction"]["objective"] == 3.0
    chosen = {name: node["op"] for name, node in answer["selection"].items()}
    assert chosen == {"r": "cheap", "a": "leaf"}
    assert {name: node["node"] for name, node in answer["selection"].items()} == {
        "r": "n1",
        "a": "n2",
    }


def test_nodes_of_a_csv_are_named_by_their_lines(tensat) -> None:
    Path("g.csv").write_text("## root: r\nr,inf,never\nr,1,cheap,a\n# a comment\na,2,leaf\n")
    assert tensat("extract", "g.csv", "--json", "answer.json").code == 0
    answer = json.loads(Path("answer.json").read_text())
    assert {name: node["node"] for name, node in answer["selection"].items()} == {"r": 3, "a": 5}


def test_stages_that_did_something_are_listed(tensat) -> None:
    Path("g.json").write_text(SMALL)
    short = tensat("extract", "g.json").out
    long = tensat("extract", "g.json", "-v").out
    assert "dominance" in short
    assert "closure " not in short and "closure " in long


def test_limits_are_told_and_kept(tensat) -> None:
    Path("g.json").write_text(SMALL)
    done = tensat("extract", "g.json", "--set", "extract.at_most.cheap=0", "--json", "answer.json")
    assert done.code == 0, done.err
    assert "limit: at most 0 cheap; the selection has 0" in done.out and "cost 10" in done.out
    nothing = tensat("extract", "g.json", "--set", "extract.at_most={cheap=0, dear=0}")
    assert nothing.code == 6
    assert "within the limits: at most 0 cheap, at most 0 dear" in nothing.err


def test_json_on_stdout_leaves_the_summary_to_stderr(tensat) -> None:
    Path("g.json.gz").write_bytes(gzip.compress(SMALL.encode()))
    done = tensat("extract", "g.json.gz", "--json", "-", "--seconds", "5", "--gap", "0.01")
    assert json.loads(done.out)["extraction"]["status"] == "optimal"
    assert "cost 3" in done.err


def test_no_acyclic_selection_is_exit_6_with_a_report(tensat) -> None:
    Path("g.json").write_text(egraph(("r", "loop", 1.0, ["n1"]), ("a", "loop", 1.0, ["n0"])))
    done = tensat("extract", "g.json", "--json", "answer.json")
    assert done.code == 6
    assert "no acyclic selection (proven)" in done.err
    assert "goes through a loop" in done.err
    answer = json.loads(Path("answer.json").read_text())
    assert answer["selection"] is None
    assert answer["extraction"]["objective"] is None


@pytest.mark.parametrize("text", ["", "{", '{"nodes": {}, "root_eclasses": ["r"]}', "a;b\n"])
def test_a_bad_egraph_is_exit_3(tensat, text: str) -> None:
    Path("g.json").write_text(text)
    done = tensat("extract", "g.json")
    assert done.code == 3
    assert done.err.startswith("tensat-dl: g.json")


def test_a_solver_that_is_not_there_is_exit_2(tensat) -> None:
    Path("g.json").write_text(SMALL)
    done = tensat("extract", "g.json", "--solver", "gplk")
    assert done.code == 2
    assert "did you mean `glpk`?" in done.err


@pytest.mark.parametrize(
    ("gap", "says"),
    [(0.0, "gap 0 %"), (0.0123, "gap 1.2 %"), (0.98, "gap 98 %"), (1.0, "gap 100 %"),
     (0.996, "gap 100 %"), (52.5, "gap 5,250 %"), (2e-6, "gap 0.0002 %")],
)  # fmt: skip
def test_gaps_in_words(gap: float, says: str) -> None:
    fields = {"method": "ilp", "solver": "", "solvers": [], "status": "feasible", "cached": False}
    costs = {"objective": 1.0, "bound": 0.0, "gap": gap}
    line = extraction_line({**fields, **costs, "stopped": "time", "seconds": 1.0})
    assert f", {says}, " in line
