"""Whatever a file holds, `check` says what is wrong with it, or checks it, within a second."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tensat_dl.cli.render import render, render_json
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_program, load_text
from tensat_dl.language.print_program import print_program
from tensat_dl.resources import data_directory

CASES = Path(__file__).parents[1] / "cases"
SHIPPED = sorted(data_directory("rulesets").rglob("*.tsat"))
FILES = [
    path
    for path in (*SHIPPED, *sorted(CASES.rglob("*.tsat")))
    if b"\xff" not in path.read_bytes() and path.stat().st_size < 20_000
]
TEXTS = [path.read_text(encoding="utf-8", errors="replace") for path in FILES]
ITEM = re.compile(r"^(?=\S)(?!#)", re.MULTILINE)
TOKENS = re.compile(r"\s+|\w+|.", re.DOTALL)
WORDS = sorted({token for text in TEXTS for token in TOKENS.findall(text) if token.strip()})
SECONDS = 1.0
SLOW = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def check(text: str) -> None:
    """Checked, or explained; every diagnostic can be drawn; no word of what lies below."""
    diagnostics = Diagnostics()
    started = time.process_time()
    program = load_text(text, "any.tsat", diagnostics)
    assert time.process_time() - started < SECONDS
    assert (program is None) == diagnostics.has_errors
    for found in diagnostics:
        said = " ".join([found.message, found.label, found.help, *found.notes])
        for foreign in ("lark", "egglog", "Token(", "__ANON", "Traceback"):
            assert foreign in text or foreign not in said
        render(found, color=True)
        render_json(found)
    if program is not None:
        print_program(program)


@SLOW
@given(st.binary(max_size=300))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.tsat"
    path.write_bytes(content)
    diagnostics = Diagnostics()
    program = load_program([str(path)], diagnostics)
    assert (program is None) == diagnostics.has_errors


@pytest.mark.slow
@SLOW
@given(st.data())
def test_any_edit_of_a_few_items(data: st.DataObject) -> None:
    """Words are swapped, dropped, doubled, and taken from other files."""
    items = [item for item in ITEM.split(data.draw(st.sampled_from(TEXTS))) if item.strip()]
    chosen = data.draw(st.lists(st.sampled_from(items or [""]), max_size=4))
    tokens = TOKENS.findall("\n".join(chosen))
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(tokens)))
        removed = data.draw(st.integers(0, 3))
        tokens[place : place + removed] = data.draw(st.lists(st.sampled_from(WORDS), max_size=2))
    check("".join(tokens))


@pytest.mark.slow
@SLOW
@given(st.data())
def test_any_exchange_of_words(data: st.DataObject) -> None:
    """Names for names, numbers for numbers: the syntax mostly holds, the meaning does not."""
    text = data.draw(st.sampled_from(TEXTS))
    names = list(re.finditer(r"\b[A-Za-z_]\w*\b|\b\d+\b", text))
    for _ in range(data.draw(st.integers(1, 5)) if names else 0):
        place = data.draw(st.sampled_from(names))
        other = data.draw(st.sampled_from(names))
        text = text[: place.start()] + other.group() + text[place.end() :]
        names = list(re.finditer(r"\b[A-Za-z_]\w*\b|\b\d+\b", text))
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "rewrite r: Relu(x) => Concat(" + ", ".join(["x"] * 2_000) + ", axis=0)",
        "rewrite r: Concat(" + ", ".join(f"x{i}" for i in range(2_000)) + ", axis=0) => x1",
        "rewrite r: Relu(x) => x where " + ", ".join(["rank(x) == 2"] * 1_000),
        "class C = " + " | ".join(["Relu", "Abs"] * 500) + "\nrewrite r for F in C: F(x) => x",
        "rewrite r: " + "Relu(" * 98 + "x" + ")" * 98 + " => x",
        "rewrite r: " + "Add(" * 90 + "x" + ", x)" * 90 + " => x",
        "rewrite r: Relu(x) => x where rank(x) == " + "2 ** " * 90 + "2",
        "rewrite r: Relu(x) => x where rank(x) == 9 ** 9 ** 9 ** 9",
        "rewrite r: Relu(x) => x where rank(x) == " + "9" * 4_000 + " ** 999",
        "rewrite r: Relu(x: f32[" + "9" * 40 + ", M]) => x",
        "rewrite r: Relu(x: f32[M ** 99 ** 9]) => x",
        "rewrite r: Relu(x: f32[" + ", ".join(f"M{i}" for i in range(500)) + "]) => x",
        "fn f(k: int) -> ints = range(10 ** 9)\nrewrite r: Relu(x) => x where sum(f(1)) == 2",
        "rewrite r: Reshape(x, i64([" + "9, " * 3_000 + "])) => x",
        "rewrite r: Relu(x) => Reshape(x, i64(range(999999999)))",
        "\n".join(f"rewrite r{i}: Relu(Relu(x)) => Relu(x)" for i in range(150)),
    ],
    ids=lambda text: text[:40],
)
def test_large_things_within_a_second(text: str) -> None:
    check(text)
