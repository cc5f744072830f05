"""Both formats, plain and gzipped, and one clear message for each way a file can be wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from egglog.bindings import EGraph

from tensat_dl.errors import InputError
from tensat_dl.extract.readers import read_egraph

CSV = """# a comment
## root: top
top,1.5,Add(a; b),a,b
a,0,Var("x,y")
b,2,Mul(a),a,a
b,inf,Forbidden
"""

JSON = {
    "nodes": {
        "n0": {"op": "Add", "children": ["n1", "n2"], "eclass": "top", "cost": 1.5},
        "n1": {"op": "Var", "children": [], "eclass": "a", "cost": 0.0},
        "n2": {"op": "Mul", "children": ["n1", "n1"], "eclass": "b", "cost": 2},
        "n3": {"op": "One", "eclass": "b"},
    },
    "root_eclasses": ["top"],
    "class_data": {"a": {"type": "T"}},
}


def write(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["g.csv", "g.csv.gz"])
def test_csv(tmp_path: Path, name: str) -> None:
    read = read_egraph(write(tmp_path / name, CSV))
    problem = read.problem
    assert read.class_names == ("top", "a", "b")
    assert problem.node_class.tolist() == [0, 1, 2], "the node of infinite cost is left out"
    assert problem.node_cost.tolist() == [1.5, 0.0, 2.0]
    assert problem.child_start.tolist() == [0, 2, 2, 3]
    assert problem.children.tolist() == [1, 2, 1], "children are sorted and distinct"
    assert problem.roots.tolist() == [0]
    assert problem.node_name == ("Add(a; b)", 'Var("x,y")', "Mul(a)")


@pytest.mark.parametrize("name", ["g.json", "g.json.gz", "unnamed"])
def test_json(tmp_path: Path, name: str) -> None:
    read = read_egraph(write(tmp_path / name, json.dumps(JSON)))
    problem = read.problem
    assert read.class_names == ("top", "a", "b")
    assert problem.node_class.tolist() == [0, 1, 2, 2]
    assert problem.node_cost.tolist() == [1.5, 0.0, 2.0, 1.0], "a cost that is left out is 1"
    assert problem.children.tolist() == [1, 2, 1]
    assert problem.node_name == ("Add", "Var", "Mul", "One")


def json_with(**changes: object) -> str:
    return json.dumps({**JSON, **changes})


def node_with(**changes: object) -> str:
    nodes = {**JSON["nodes"], "n2": {**JSON["nodes"]["n2"], **changes}}  # type: ignore[dict-item]
    return json_with(nodes=nodes)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("g.csv", "## root: a\na,1\n", "line 2"),
        ("g.csv", "## root: a\n,1,A\n", "line 2"),
        ("g.csv", "## root: a\na,-1,A\n", "cost -1"),
        ("g.csv", "## root: a\na,nan,A\n", "cost nan"),
        ("g.csv", "## root: a\na,1e200,A\n", "too large"),
        ("g.csv", "## root: a\na,one,A\n", "'one' is not a number"),
        ("g.csv", "## root: a\na,1,A,b\n", "child class `b`"),
        ("g.csv", "## root: a\na,1,A,,a\n", "empty child"),
        ("g.csv", "## root: b\na,1,A\n", "class `b` has no node"),
        ("g.csv", "## stem: b\na,1,A\n", "## root: CLASS"),
        ("g.csv", "a,1,A\n", "names no root"),
        ("g.csv", "## root: a\n", "no nodes"),
        ("g.csv", "", "no nodes"),
        ("g.json", "", "line 1, column 1"),
        ("g.json", '{"nodes": ', "not valid JSON"),
        ("g.json", "[1, 2]", "no `nodes`"),
        ("g.json", '{"nodes": {}, "root_eclasses": ["a"]}', "no nodes"),
        ("g.json", '{"nodes": {"a": 1}, "root_eclasses": ["a"]}', "node `a`"),
        ("g.json", '{"nodes": {"a": {"op": "A"}}, "root_eclasses": []}', "`eclass`"),
        ("g.json", json_with(root_eclasses=[]), "names no root"),
        ("g.json", json_with(root_eclasses=["none"]), "class `none`"),
        ("g.json", json_with(root_eclasses="top"), "`root_eclasses`"),
        ("g.json", json.dumps({"nodes": JSON["nodes"]}), "`root_eclasses`"),
        ("g.json", node_with(cost=-2.0), "node `n2`: cost -2.0"),
        ("g.json", node_with(cost="much"), "node `n2`: cost 'much'"),
        ("g.json", node_with(cost=None), "node `n2`: cost None"),
        ("g.json", node_with(cost=10**400), "node `n2`"),
        ("g.json", node_with(children=["n9"]), "child `n9`"),
        ("g.json", node_with(children="n1"), "`children`"),
        ("g.json", node_with(children=[[]]), "not an id"),
        ("g.json", node_with(eclass=None), "not an id"),
        ("g.json", node_with(subsumed="no"), "node `n2`: subsumed 'no'"),
        ("g.json", json_with().replace('"n3"', '"n2"'), "`n2` is defined twice"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(InputError) as raised:
        read_egraph(path)
    message = f"{raised.value.message} {raised.value.help}"
    assert says in message and str(path) in message


def test_files_that_are_none(tmp_path: Path) -> None:
    for path, says in ((tmp_path / "none.csv", "does not exist"), (tmp_path, "directory")):
        with pytest.raises(InputError, match=says):
            read_egraph(path)


@pytest.mark.parametrize(
    "data", [b"\x1f\x8b\x08", gzip.compress(b"a" * 999, mtime=0)[:-9], b"\xff\xfe\xfa"]
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "g.csv.gz"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"gzip|is no text"):
        read_egraph(path)


def test_infinite_costs_in_json_forbid_a_node(tmp_path: Path) -> None:
    path = write(tmp_path / "g.json", node_with(cost=float("inf")))
    assert read_egraph(path).problem.node_class.tolist() == [0, 1, 2]


def test_subsumed_nodes_are_not_extracted(tmp_path: Path) -> None:
    """An engine marks so what its rules have replaced for good: egglog does not extract it."""
    egraph = EGraph()
    program = "(datatype M (A) (B)) (union (A) (B)) (subsume (A))"
    egraph.run_program(*egraph.parse_program(program))
    stated = json.loads(egraph.serialize([]).to_json())
    (eclass,) = {node["eclass"] for node in stated["nodes"].values()}
    text = json.dumps({**stated, "root_eclasses": [eclass]})
    assert read_egraph(write(tmp_path / "g.json", text)).problem.node_name == ("B",)


def test_lines_of_csv_end_where_editors_end_them(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_bytes("## root: a\r\na,1,Text(\u2028; \x0c)\rb,2,B\n".encode())
    read = read_egraph(path)
    assert read.problem.node_name == ("Text(\u2028; \x0c)", "B") and read.node_ids == (2, 3)
