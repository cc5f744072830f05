"""`default cost NAME`: which model it names, and which of several files is heard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensat_dl.language.load import load_rules


@pytest.fixture
def defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The models that files ask for; the first file is the one that is named."""
    monkeypatch.chdir(tmp_path)

    def asked(*texts: str, names: str = "f0.tsat") -> list[str]:
        for number, text in enumerate(texts):
            Path(f"f{number}.tsat").write_text(f"language 1\n{text}\n")
        program = load_rules(names)
        return [default.model for default in program.default_costs]

    return asked


def test_a_file_without_one_asks_for_nothing(defaults) -> None:
    assert defaults("cost model mine { _ = 1 }") == []


@pytest.mark.parametrize("model", ["measured", "roofline", "flops", "bytes", "nodes"])
def test_a_built_in_model(defaults, model: str) -> None:
    """A rule of that name does no harm."""
    rule = f"rewrite {model}: Relu(Relu(x)) => Relu(x)\n"
    assert defaults(f"{rule}default cost {model}") == [model]


def test_a_model_of_the_file_before_or_behind_it(defaults) -> None:
    assert defaults("default cost mine\ncost model mine { _ = 1 }") == ["mine"]


def test_a_model_of_an_imported_file_has_the_name_that_the_program_gives_it(defaults) -> None:
    model = "cost model mine { _ = 1 }"
    assert defaults('import "f1.tsat" as other\ndefault cost other.mine', model) == ["other.mine"]
    assert defaults('import "f1.tsat" { mine }\ndefault cost mine', model) == ["mine"]


def test_what_the_file_says_comes_before_what_its_imports_say(defaults) -> None:
    imports = 'import "f1.tsat" as a\nimport "f2.tsat" as b\n'
    said = ("default cost flops", "default cost bytes")
    assert defaults(imports + "default cost nodes", *said) == ["nodes"]
    assert defaults(imports, *said) == ["flops", "bytes"]
    assert defaults(imports, said[0], said[0]) == ["flops"]


def test_imports_of_imports_are_heard_and_single_names_bring_nothing_else(defaults) -> None:
    model = "cost model mine { _ = 1 }\ndefault cost mine"
    assert defaults('import "f1.tsat" as a', 'import "f2.tsat" as b', model) == ["a.b.mine"]
    assert defaults('import "f1.tsat" { mine }', model) == []


def test_files_that_are_named_together(defaults) -> None:
    rules = "rewrite relu_relu: Relu(Relu(x)) => Relu(x)"
    both = "f0.tsat,f1.tsat"
    assert defaults("default cost nodes", rules, names=both) == ["nodes"]
    assert defaults(rules, "default cost nodes", names=both) == ["nodes"]
    assert defaults("default cost flops", "default cost nodes", names=both) == ["flops", "nodes"]


def test_of_the_shipped_rulesets_std_measures(defaults) -> None:
    found = {name: defaults(names=name) for name in ("std", "extra", "tensat", "std,extra")}
    measured = ["measured"]
    assert found == {"std": measured, "extra": [], "tensat": [], "std,extra": measured}
