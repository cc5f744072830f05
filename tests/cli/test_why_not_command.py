"""`tensat-dl why-not`: what it prints, its JSON, its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

from tensat_dl.cli.main import main

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[8,16] x) => (float[8,16] y) { a = Abs(x) b = Relu(a) y = Sigmoid(b) }
"""
RULES = "language 1\nrewrite relu_tanh: Sigmoid(Relu(Tanh(x))) => Sigmoid(Tanh(x))\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    model, rules = tmp_path / "model.onnx", tmp_path / "rules.tsat"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    rules.write_text(RULES)
    return str(model), str(rules)


def test_text_and_json(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    model, rules = files
    assert main(["why-not", "relu_tanh", model, "--rules", rules]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "`relu_tanh` does not fire",
        "",
        "  matches        Sigmoid(Relu(Tanh(x)))  Sigmoid of `y`",
        "  matches        Relu(Tanh(x))           Relu of `b`",
        "  does not match Tanh(x)",
        "  relu_tanh: `a` is made by Abs, not by Tanh",
    ]
    assert main(["why-not", "relu_tanh", model, "--rules", rules, "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["applied"] == 0
    assert report["attempts"][0]["pattern"] == "Tanh(x)"
    assert report["attempts"][0]["matched"][1] == {
        "pattern": "Relu(Tanh(x))",
        "node": "Relu of `b`",
    }


def test_a_rule_that_is_none(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    model, rules = files
    assert main(["why-not", "relu_tan", model, "--rules", rules]) == 2
    assert "did you mean `relu_tanh`?" in capsys.readouterr().err


def test_at_a_place(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """What it does elsewhere is not said of the place.  Once joined, `a` is matched again."""
    model, rules = files
    Path(rules).write_text("language 1\nrewrite of_abs: Relu(Abs(x)) => Abs(x)\n")
    heads = []
    for place in ("b", "y"):
        assert main(["why-not", "of_abs", model, "--rules", rules, "--at", place]) == 0
        heads.append(capsys.readouterr().out.splitlines()[0])
    assert heads == [
        "`of_abs` fires at `b`, 2 times in all the model",
        "`of_abs` does not fire at `y`; elsewhere it does, 2 times",
    ]


def test_a_rule_that_the_opset_has_no_use_for(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """`run` leaves it out, and so does what is said here."""
    model, rules = files
    text = "language 1\nrewrite rms: Relu(x) => RMSNormalization(x, x)\n"
    Path(rules).write_text(text)
    heads = []
    for flags in ([], ["--opset", "23"]):
        assert main(["why-not", "rms", model, "--rules", rules, *flags]) == 0
        heads.append(capsys.readouterr().out.splitlines()[0])
    want = "for want of RMSNormalization; --opset 23 has it"
    assert heads[0] == f"`rms` matches, and is off at ai.onnx 17 ({want})"
    assert heads[1].startswith("`rms` fires, ")


def test_long_patterns_are_cut(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    model, rules = files
    pattern = "Sigmoid(Relu(" + "Abs(" * 30 + "x" + ")" * 32
    Path(rules).write_text(f"language 1\nrewrite long: {pattern} => x\n")
    assert main(["why-not", "long", model, "--rules", rules]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "  matches        Sigmoid(Relu(" + "Abs(" * 14 + "A..  Sigmoid of `y`"
    assert max(map(len, lines)) < 120


def test_the_rules_that_were_searched_are_named(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = files
    assert main(["why-not", "mine", model]) == 2
    assert "no rule `mine` in std (--rules names other rule files)" in capsys.readouterr().err


def test_a_rule_that_is_not_in_the_answer(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Three nodes; with the rule two for the Relu, four in all."""
    model, rules = files
    Path(rules).write_text("language 1\nrewrite two: Relu(x) => Neg(Tanh(x))\n")
    ask = ("why-not", "two", model, "--rules", rules, "--cost", "nodes")
    assert main([*ask]) == 0
    assert capsys.readouterr().out.splitlines()[4:] == [
        "the answer (nodes) does without it; the cheapest with it is 1 dearer (33 %): "
        "4 instead of 3",
        "",
        "tensor      the answer   cost  with it                  cost",
        "`b`         Relu of `b`     1  Neg made by rule `two`      1",
        "a new Tanh                     Tanh made by rule `two`     1",
    ]
    assert main([*ask, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["standing"]
    assert (found["verdict"], found["cost"], found["cost_with"]) == ("dearer", 3, 4)


def test_a_rule_that_is_in_the_answer(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    model, rules = files
    Path(rules).write_text("language 1\nrewrite one: Relu(Abs(x)) => Abs(x)\n")
    assert main(["why-not", "one", model, "--rules", rules, "--cost", "nodes"]) == 0
    assert "\nthe answer (nodes 2) uses it\n  `a`: Abs of `a`\n" in capsys.readouterr().out


def test_a_limit_that_came_first(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    model, rules = files
    Path(rules).write_text("language 1\nrewrite of_abs: Relu(Abs(x)) => Sqrt(Mul(x, x))\n")
    command = ["why-not", "of_abs", model, "--rules", rules, "--cost", "nodes"]
    assert main([*command, "--enodes", "1"]) == 0
    assert "the exploration ended: limit of e-nodes reached" in capsys.readouterr().out
    assert main([*command, "--enodes", "1", "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["applied"], report["stopped_by"]) == (0, "enodes")
    assert main(command) == 0
    assert "`of_abs` fires" in capsys.readouterr().out
