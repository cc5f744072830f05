"""Names in models may hold anything; what is printed is lines that no terminal obeys."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from tensat_dl.sentences import seen

NAME = "a\nb\x1b[31m\u202ec"
SHOWN = r"a\nb\x1b[31m\u202ec"


def save(outputs: list[str], *nodes: onnx.NodeProto) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in outputs]
    graph = helper.make_graph(list(nodes), "g", [x], infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, "m.onnx")


RULES = "language 1\nrewrite twice: Relu(Relu(x)) => Relu(x)\nrewrite bad: Sin(x) => Cos(x)\n"


@pytest.fixture(autouse=True)
def rules(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.tsat").write_text(RULES)


def printed(done) -> str:
    text = done.out + done.err
    assert all(line.isprintable() for line in text.split("\n"))
    return text


def test_in_what_changed(tensat) -> None:
    first = helper.make_node("Relu", ["x"], ["a"], name="first")
    save(["y"], first, helper.make_node("Relu", ["a"], ["y"], name=NAME))
    done = tensat("run", "r.tsat", "m.onnx", "--explain", "--cost", "nodes")
    assert f"Relu node '{SHOWN}'" in printed(done)
    assert f"Relu node '{SHOWN}'" in printed(tensat("explain", "m.opt.onnx"))
    done = tensat("why-not", "bad", "m.onnx", "--rules", "r.tsat", "--at", NAME)
    assert SHOWN in printed(done)


def test_in_warnings_and_operators(tensat) -> None:
    save(["y"], helper.make_node(NAME, ["x"], ["y"], name=NAME, domain="acme"))
    assert SHOWN in printed(tensat("run", "r.tsat", "m.onnx"))


def test_in_failures(tensat) -> None:
    save(["y"], helper.make_node("Relu", [NAME], ["y"], name=NAME))
    done = tensat("run", "r.tsat", "m.onnx")
    assert (done.code, printed(done).count(SHOWN)) == (3, 2)
    save([NAME], helper.make_node("Sin", ["x"], [NAME]))
    (Path.cwd() / "r.tsat").write_text(RULES + "cost model ours { Sin = 9 _ = 1 }\n")
    done = tensat("run", "r.tsat", "m.onnx", "--cost", "ours")
    assert done.code == 5
    assert f"output '{SHOWN}'" in printed(done)


def test_problems_of_settings_stay_lines_of_their_own(tensat) -> None:
    Path("tensat.toml").write_text('[extract]\ngap = "x"\n[explore]\nenodes = "y"\n')
    done = tensat("run", "r.tsat", "m.onnx")
    assert done.code == 2
    first, second, help = printed(done).rstrip("\n").split("\n")
    assert first.startswith("tensat-dl: tensat.toml: ")
    assert second.startswith("tensat.toml: ")
    assert help.startswith("help: ")


def test_letters_of_any_alphabet_are_letters() -> None:
    assert seen("größe/模型 weights") == "größe/模型 weights"
    assert seen("\t\u2028\x7f") == r"\t\u2028\x7f"
