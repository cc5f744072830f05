"""`tensat-dl rules` shows shipped rulesets: those of a made-up installation, and the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensat_dl import resources
from tensat_dl.cli import rules
from tensat_dl.language.load import shipped_names

FILE = """#! Rewrites of one thing.
#! More about them.
language 1

## ReLU is idempotent.
rewrite relu_relu: Relu(Relu(x)) => Relu(x)

ruleset more {
  rewrite double: Neg(Neg(x))
      => x
}
"""


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rulesets" / "onnx").mkdir(parents=True)
    (tmp_path / "rulesets" / "one.tsat").write_text(FILE)
    (tmp_path / "rulesets" / "onnx" / "two.tsat").write_text(
        'language 1\nimport "one.tsat" as one\n'
    )
    monkeypatch.setattr(rules, "data_directory", lambda name: tmp_path / name)


def test_the_list(tensat, shipped: None) -> None:
    done = tensat("rules")
    assert done.code == 0
    assert [line.split(None, 2) for line in done.out.splitlines()] == [
        ["ruleset", "rules", "about"],
        ["one", "2", "Rewrites of one thing."],
        ["onnx/two", "2"],
    ]


def test_one_ruleset_with_documentation_and_text(tensat, shipped: None) -> None:
    out = tensat("rules", "one").out
    assert "Rewrites of one thing.\nMore about them.\n" in out
    assert (
        "relu_relu: ReLU is idempotent.\n    rewrite relu_relu: Relu(Relu(x)) => Relu(x)\n" in out
    )
    expected = "double: (no documentation)\n    rewrite double: Neg(Neg(x))\n        => x\n"
    assert expected in out
    assert "imports one" in tensat("rules", "onnx/two").out


@pytest.mark.parametrize("name", [n for n in shipped_names() if not n.startswith("tests/")])
def test_every_rule_that_is_shipped_is_documented(tensat, name: str) -> None:
    done = tensat("rules", name)
    assert done.code == 0
    assert "(no documentation)" not in done.out


def test_shipped_files_are_found_in_a_wheel_and_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (resources.data_directory("grammar") / "tsat.lark").is_file()
    package = tmp_path / "tensat_dl"
    monkeypatch.setattr(resources, "_PACKAGE", package)
    with pytest.raises(FileNotFoundError, match="lacks its `grammar` directory"):
        resources.data_directory("grammar")
    (tmp_path / "grammar").mkdir()
    assert resources.data_directory("grammar") == tmp_path / "grammar"
    (package / "_data" / "grammar").mkdir(parents=True)
    assert resources.data_directory("grammar") == package / "_data" / "grammar"
