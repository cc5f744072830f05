"""Loading: imports, several files, names of rules, speed, and texts that nobody would write."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

from tensat_dl.cli.render import render
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_program, load_text
from tensat_dl.language.program import CheckedProgram, Run, Saturate
from tensat_dl.resources import data_directory

CASES = Path(__file__).parent.parent / "cases" / "check"
REFERENCE = (data_directory("grammar") / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```tsat\n(.*?)^```", REFERENCE, re.MULTILINE | re.DOTALL)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.tsat").write_text(text, encoding="utf-8")


def load(*names: object) -> tuple[CheckedProgram | None, list[str]]:
    diagnostics = Diagnostics()
    program = load_program([str(name) for name in names], diagnostics)
    return program, [diagnostic.code for diagnostic in diagnostics]


RELU = "rewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"
ABS = "rewrite abs_abs: Abs(Abs(x)) => Abs(x)\n"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.strip().split("\n")[0][:30])
def test_examples_of_the_reference(example: str) -> None:
    diagnostics = Diagnostics()
    assert load_text(example, "example.tsat", diagnostics) is not None
    assert [render(diagnostic) for diagnostic in diagnostics] == []


def test_a_file_is_loaded_once_and_its_rules_have_one_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        base=RELU + "fn one() -> int = 1\n",
        left='import "base.tsat" as base\n' + ABS,
        right='import "base.tsat" { relu_relu }\n',
        main='import "left.tsat" as left\nimport "right.tsat" as right\n',
    )
    program, codes = load(tmp_path / "main.tsat")
    assert codes == []
    assert program is not None
    assert [rule.name for rule in program.rules] == ["left.base.relu_relu", "left.abs_abs"]
    assert program.rulesets == {
        "left": ("left.abs_abs", "left.base.relu_relu"),
        "right": ("left.base.relu_relu",),
    }
    assert len(program.files) == 4


def test_imports_are_found_beside_the_importing_file(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    write(tmp_path / "inner", a='import "b.tsat" as b\n', b=RELU)
    write(tmp_path, main='import "inner/a.tsat" as a\nschedule main { run a.b }\n')
    program, codes = load(tmp_path / "main.tsat")
    assert codes == []
    assert program is not None
    assert program.schedule == (Run("a.b", ("a.b.relu_relu",)),)


def test_a_circle_of_imports(tmp_path: Path) -> None:
    write(tmp_path, a='import "b.tsat" as b\n', b='import "a.tsat" as a\n')
    program, codes = load(tmp_path / "a.tsat")
    assert program is None
    assert codes == ["E0206"]


def test_errors_of_imported_files_are_told(tmp_path: Path) -> None:
    write(
        tmp_path, a='import "b.tsat" as b\nrewrite r: Relu(y) => z\n', b="rewrite r: Relu(x) => z\n"
    )
    program, codes = load(tmp_path / "a.tsat")
    assert program is None
    assert codes == ["E0401", "E0401"]


def test_several_files_run_together(tmp_path: Path) -> None:
    write(tmp_path, a=RELU, b=ABS)
    program, codes = load(tmp_path / "a.tsat", tmp_path / "b.tsat")
    assert codes == []
    assert program is not None
    (saturate,) = program.schedule
    assert isinstance(saturate, Saturate)
    assert saturate.body == (Run("all", ("relu_relu", "abs_abs")),)


def test_several_files_with_one_name(tmp_path: Path) -> None:
    write(tmp_path, a=RELU, b="rewrite relu_relu: Abs(Abs(x)) => Abs(x)\n")
    program, codes = load(tmp_path / "a.tsat", tmp_path / "b.tsat", tmp_path / "a.tsat")
    assert codes == []
    assert program is not None
    assert [rule.name for rule in program.rules] == ["relu_relu", "b.relu_relu"]


def test_an_unknown_ruleset() -> None:
    program, codes = load("no_such_ruleset")
    assert program is None
    assert codes == ["E0205"]


def test_the_tests_of_shipped_rulesets_are_not_listed_among_them() -> None:
    diagnostics = Diagnostics()
    assert load_program(["xyzzy"], diagnostics) is None
    (found,) = diagnostics
    assert found.help.startswith("shipped are extra, onnx/arithmetic, ")
    assert found.help.endswith(", std, tensat")
    assert "tests/" not in found.help


def test_a_missing_file() -> None:
    program, codes = load("no_such_file.tsat")
    assert program is None
    assert codes == ["E0120"]


def test_both_sides_of_a_class_rule_are_named() -> None:
    text = "class F2 = Relu | Abs\nrewrite r for F in F2: F(Identity(x)) <=> Identity(F(x))\n"
    program = load_text(text, "t.tsat", Diagnostics())
    assert program is not None
    assert [rule.name for rule in program.rules] == ["r@Relu", "r@Relu<=", "r@Abs", "r@Abs<="]
    assert {rule.base for rule in program.rules} == {"r"}


@pytest.mark.slow
def test_two_thousand_rules_check_in_five_seconds() -> None:
    names = ("Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "Sqrt", "Floor", "Ceil")
    lines = (
        f"rewrite r{i}: {names[i % 9]}({names[i // 9 % 9]}(x: f32[M, K])) => "
        f"{names[i // 9 % 9]}({names[i % 9]}(x)) where rank(x) == {i}\n"
        for i in range(2000)
    )
    text = "".join(lines)
    start = time.process_time()  # other programs' work is not counted
    program = load_text(text, "t.tsat", Diagnostics())
    assert time.process_time() - start < 5
    assert program is not None
    assert len(program.rules) == 2000


def test_a_small_file_checks_in_a_third_of_a_second() -> None:
    text = (CASES / "pass" / "attributes.tsat").read_text(encoding="utf-8")
    load_text(text, "warm.tsat", Diagnostics())
    start = time.perf_counter()
    load_text(text, "t.tsat", Diagnostics())
    assert time.perf_counter() - start < 0.3


@pytest.mark.slow
def test_any_text_gives_a_program_or_an_error() -> None:
    """Files with words exchanged, lost and doubled: never an exception, never silence."""
    chance = random.Random(7)
    texts = [path.read_text(encoding="utf-8") for path in sorted(CASES.rglob("*.tsat"))]
    words = [re.findall(r"\s+|\w+|\"[^\"\n]*\"|=>|\*\*|.", text, re.DOTALL) for text in texts]
    pool = sorted({word for file in words for word in file if word.isidentifier()})
    for _ in range(1500):
        file = list(chance.choice(words))
        for _ in range(chance.randint(1, 3)):
            place = chance.choice([i for i, word in enumerate(file) if word.strip()])
            change = (chance.choice(pool), "_", "1", "[1]", "", "*" + file[place], file[place] * 2)
            file[place] = chance.choice(change) if file[place].isidentifier() else file[place]
        diagnostics = Diagnostics()
        program = load_text("".join(file), "t.tsat", diagnostics)
        assert (program is None) == diagnostics.has_errors
        for diagnostic in diagnostics:
            render(diagnostic)
