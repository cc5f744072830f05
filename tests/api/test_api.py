"""The Python interface gives back what it was given, optimised, and a report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
import onnx.parser
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper

import tensat_dl
from tensat_dl.errors import InputError, RuleFileError, UsageError
from tensat_dl.progress import ProgressEvent
from tensat_dl.settings import CostSettings, Settings

RULES = "language 1\nrewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "r.tsat"
    path.write_text(RULES)
    return str(path)


@pytest.fixture
def proto() -> onnx.ModelProto:
    """y = relu(relu(x)) w, w of 8 x 8 ones."""
    weight = numpy_helper.from_array(np.ones((8, 8), np.float32), "w")
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 8]) for n in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def operators(proto: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


def test_a_proto_gives_a_proto_and_stays_as_it_is(proto: onnx.ModelProto, rules: str) -> None:
    before = proto.SerializeToString()
    result = tensat_dl.optimize(proto, rules)
    assert isinstance(result.model, onnx.ModelProto)
    assert operators(result.model) == ["Relu", "MatMul"]
    assert result.report["status"] == "improved"
    assert result.report["output"] is None
    assert proto.SerializeToString() == before


def test_a_model_that_cannot_be_improved_is_not_the_same_object(
    proto: onnx.ModelProto, rules: str
) -> None:
    once = tensat_dl.optimize(proto, rules).model
    twice = tensat_dl.optimize(once, rules)
    assert twice.report["status"] == "unchanged"
    assert operators(twice.model) == operators(once)
    assert twice.model is not once


def test_an_ir_model_gives_an_ir_model(proto: onnx.ModelProto, rules: str) -> None:
    result = tensat_dl.optimize(onnx_ir.from_proto(proto), rules)
    assert isinstance(result.model, onnx_ir.Model)
    assert [node.op_type for node in result.model.graph] == ["Relu", "MatMul"]


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_gives_the_path_that_was_written(
    proto: onnx.ModelProto, rules: str, tmp_path: Path, kind: type
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save_model(proto, path)
    result = tensat_dl.optimize(kind(path), rules)
    assert result.model == kind(tmp_path / "m.opt.onnx")
    assert operators(onnx.load(result.model)) == ["Relu", "MatMul"]
    other = tensat_dl.optimize(kind(path), rules, output=tmp_path / "o.onnx")
    assert other.model == kind(tmp_path / "o.onnx")
    with pytest.raises(UsageError, match="is the input"):
        tensat_dl.optimize(path, rules, output=path)
    assert tensat_dl.optimize(path, rules, output=path, force=True).model == path


@pytest.mark.parametrize("form", ["mapping", "settings", "file"])
def test_configuration_in_every_form(
    proto: onnx.ModelProto, rules: str, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[cost]\nmodel = "flops"\n')
    forms = {
        "mapping": {"cost": {"model": "flops"}},
        "settings": Settings(cost=CostSettings(model="flops")),
        "file": file,
    }
    report = tensat_dl.optimize(proto, rules, forms[form]).report
    # relu: 16 operations each; matmul: 2 * 2 * 8 * 8.
    assert report["cost"] == {
        "model": "flops",
        "default_of": "",
        "obstacle": "",
        "unit": "FLOP",
        "before": 288,
        "after": 272,
        "estimated": False,
    }


def test_progress_is_told_of_every_phase(proto: onnx.ModelProto, rules: str) -> None:
    events: list[ProgressEvent] = []
    tensat_dl.optimize(proto, rules, progress=events.append)
    phases = list(dict.fromkeys(event.phase for event in events))
    expected = ["check", "read", "explore", "cost", "extract", "export", "verify", "write"]
    assert phases == expected


def test_failures_are_exceptions(proto: onnx.ModelProto, rules: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown key"):
        tensat_dl.optimize(proto, rules, {"cost": {"modle": "flops"}})
    with pytest.raises(InputError, match="does not exist"):
        tensat_dl.optimize(tmp_path / "none.onnx", rules)
    with pytest.raises(UsageError, match="given as a path"):
        tensat_dl.optimize(proto, rules, output="o.onnx")
    with pytest.raises(RuleFileError):
        tensat_dl.optimize(proto, str(tmp_path / "none.tsat"))


def test_what_is_of_another_kind_is_named(proto: onnx.ModelProto, rules: str) -> None:
    with pytest.raises(UsageError, match=r"the model is a path, .* not int"):
        tensat_dl.optimize(3, rules)
    with pytest.raises(UsageError, match="`rules` is a path or a name, or a list of them, not int"):
        tensat_dl.optimize(proto, 5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="`config` is a path, tables or settings, not int"):
        tensat_dl.optimize(proto, rules, 7)  # type: ignore[arg-type]


def test_rules_are_paths_too(proto: onnx.ModelProto, rules: str) -> None:
    by_name = tensat_dl.optimize(proto, rules).report["cost"]
    assert tensat_dl.optimize(proto, Path(rules)).report["cost"] == by_name
    assert tensat_dl.optimize(proto, [Path(rules), rules]).report["cost"] == by_name
    assert [rule.base for rule in tensat_dl.load_rules(Path(rules)).rules] == ["relu_relu"]


def test_a_path_in_a_list_may_hold_a_comma(
    proto: onnx.ModelProto, rules: str, tmp_path: Path
) -> None:
    path = tmp_path / "a,b.tsat"
    path.write_text(Path(rules).read_text())
    expected = tensat_dl.optimize(proto, rules).report["cost"]
    assert tensat_dl.optimize(proto, path).report["cost"] == expected
    assert tensat_dl.optimize(proto, [str(path)]).report["cost"] == expected


def test_rules_load_and_check(rules: str, tmp_path: Path) -> None:
    assert [rule.base for rule in tensat_dl.load_rules(rules).rules] == ["relu_relu"]
    assert tensat_dl.check(rules) == ()
    bad = tmp_path / "bad.tsat"
    bad.write_text("language 1\nrewrite r: Relux(x) => x\n")
    (problem,) = tensat_dl.check([rules, str(bad)])
    assert "Relux" in problem.message
    with pytest.raises(RuleFileError) as caught:
        tensat_dl.load_rules(str(bad))
    assert caught.value.diagnostics == (problem,)
    assert str(caught.value).splitlines() == [
        "1 problem in the rule file:",
        f"{bad}:2:12: error[E0202]: unknown operator `Relux` (did you mean `Relu`?)",
    ]


def test_loaded_rules_serve_many_models(proto: onnx.ModelProto, rules: str, tmp_path: Path) -> None:
    loaded = tensat_dl.load_rules(rules)
    path = tmp_path / "m.onnx"
    onnx.save(proto, path)
    written = tensat_dl.optimize(path, loaded, output=tmp_path / "small.onnx").model
    answer = tensat_dl.optimize(proto, loaded).model
    assert operators(onnx.load(written)) == operators(answer) == ["Relu", "MatMul"]


def test_public_names_can_be_listed() -> None:
    assert {"Result", "check", "extract", "load_rules", "optimize"} <= set(dir(tensat_dl))


def test_extract_is_a_function_whatever_was_imported_before(tmp_path: Path) -> None:
    import tensat_dl.extract.problem

    path = tmp_path / "g.json"
    path.write_text(
        '{"nodes": {"a": {"op": "f", "children": [], "eclass": "0", "cost": 2.5}},'
        ' "root_eclasses": ["0"]}'
    )
    extraction = tensat_dl.extract(path)
    assert (extraction.objective, extraction.gap) == (2.5, 0.0)
    assert tensat_dl.extract(tensat_dl.extract.readers.read_egraph(path).problem).objective == 2.5


def test_importing_costs_nothing() -> None:
    script = "import tensat_dl, sys; sys.exit('numpy' in sys.modules or 'onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="frobnicate"):
        tensat_dl.frobnicate  # noqa: B018


def test_a_model_that_declares_wrong_types_passes_through(tmp_path: Path) -> None:
    """Such as one whose batch was made free at its inputs alone.  onnxruntime has the operator,
    of whose result nothing else is known."""
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18, "com.microsoft": 1]>'
        "g (float[N,4] x) => (float[A,B] y, float[N,4] z) <float[4] g>"
        "{ g = com.microsoft.Trilu(x) y = Transpose(g) a = Relu(x) z = Relu(a) }"
    )
    path = tmp_path / "r.tsat"
    path.write_text(RULES + "rewrite of_lists: Transpose(x) => x\n  where rank(x) == 1\n")
    result = tensat_dl.optimize(proto, str(path), {"cost": {"model": "nodes"}})
    assert [node.op_type for node in result.model.graph.node] == ["Trilu", "Transpose", "Relu"]
    assert any("declares a wrong type" in note for note in result.report["notes"])
    assert result.report["verification"]["ok"]


def test_costs_that_are_no_numbers_are_told(proto: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "r.tsat"
    path.write_text(RULES + 'cost model mine { Relu = "dear" _ = 2 }\ndefault cost mine\n')
    report = tensat_dl.optimize(proto, str(path)).report
    assert (report["cost"]["before"], report["cost"]["after"]) == (6, 4)
    (warning,) = report["warnings"]
    assert warning.startswith("the cost model `mine` gives Relu(f32[2, 8]) no number")


def test_functions_of_the_model_are_told_and_can_be_written_out(rules: str) -> None:
    """Both `Relu` of the function are one where it is written out, as the note says."""
    text = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[2] x) => (float[2] y) { a = own.twice(x) y = Neg(a) }
    <domain: "own", opset_import: ["" : 18]> twice (p) => (q) { r = Relu(p) q = Relu(r) }"""
    model = onnx.parser.parse_model(text)
    notes = tensat_dl.optimize(model, rules).report["notes"]
    (note,) = (each for each in notes if "functions" in each)
    assert "which 1 node calls: `onnx.inliner.inline_local_functions(model)`" in note
    result = tensat_dl.optimize(onnx.inliner.inline_local_functions(model), rules)
    assert operators(result.model) == ["Relu", "Neg"]
    assert not any("functions" in each for each in result.report["notes"])
