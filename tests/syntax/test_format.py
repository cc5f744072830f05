"""The canonical layout: nothing but white space changes, and one layout is left of any."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from trees import MODULES

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax import ast
from tensat_dl.syntax.comments import pieces
from tensat_dl.syntax.format import format_source, lay_out
from tensat_dl.syntax.layout.files import FileLayout
from tensat_dl.syntax.parse import parse
from tensat_dl.syntax.printer import format_module

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(
    path for part in ("rulesets", "examples") for path in (ROOT / part).rglob("*.tsat")
)
PAGES = [ROOT / "grammar" / "README.md", ROOT / "rulesets" / "README.md"]
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(
        r"^```tsat(?: fragment)?\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    )
]
CASES = [
    path
    for part in ("syntax", "check/pass")
    for path in sorted((ROOT / "tests/cases" / part).glob("*.tsat"))
    if not path.name.startswith("E")
]
TEXTS = [path.read_bytes().decode("utf-8") for path in (*SHIPPED, *CASES)]
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def comments(text: str) -> list[str]:
    return [p.group().rstrip() for p in pieces(text) if p.group().startswith("#")]


def check_layout(text: str, bare: Any) -> str:
    """Laid out, the text has the same tree and comments, and is laid out already."""
    diagnostics = Diagnostics()
    before = parse(SourceFile("before", text), diagnostics)
    laid_out = format_source(SourceFile("before", text), diagnostics)
    assert before is not None
    assert laid_out is not None
    after = parse(SourceFile("after", laid_out), diagnostics)
    assert not diagnostics.found
    assert bare(after) == bare(before)
    assert comments(laid_out) == comments(text)
    assert lay_out(laid_out) == laid_out
    assert not re.search(r"[ \t]+$|\n\n\n|\r|\n\n\Z|\A\n", laid_out, re.MULTILINE)
    return laid_out


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_files_are_in_it(path: Path, bare: Any) -> None:
    text = path.read_text(encoding="utf-8")
    assert check_layout(text, bare) == text


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().split("\n")[0][:30])
def test_blocks_of_the_pages_are_in_it(block: str) -> None:
    assert lay_out(block) == block


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_any_layout_of_a_file_is_laid_out(path: Path, bare: Any) -> None:
    check_layout(path.read_bytes().decode("utf-8"), bare)


@pytest.mark.slow
@SLOW
@given(module=MODULES)
def test_any_program_prints_in_it_and_parses_back(module: ast.Module, bare: Any) -> None:
    printed = format_module(module)
    assert check_layout(printed, bare) == printed
    reparsed = parse(SourceFile("printed", printed), Diagnostics())
    assert [type(item) for item in reparsed.items] == [type(item) for item in module.items]


SPACES = st.sampled_from(
    [" ", "\n", "\t ", "  # why\n", "\n# on its own\n", "\n\n  # far\n\n", "\r\n"]
)
TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*\n|[\w.]+|\s+|=>|<=>|->|==|[!<>]=|\*\*|//|::|.')


@pytest.mark.slow
@SLOW
@given(data=st.data())
def test_white_space_and_comments_may_stand_anywhere(data: st.DataObject, bare: Any) -> None:
    tokens = TOKENS.findall(data.draw(st.sampled_from(TEXTS)))
    places = data.draw(st.lists(st.integers(0, len(tokens)), max_size=20))
    for place in sorted(places, reverse=True):
        behind = tokens[place - 1] if place else ""
        ahead = "".join(tokens[place : place + 3]).lstrip(" ")
        if not re.match(r"##|#!|\*", behind + ahead) and "#" not in ahead + behind:
            tokens.insert(place, data.draw(SPACES))
    text = "".join(tokens)
    if parse(SourceFile("mixed", text), Diagnostics()) is not None:
        check_layout(text, bare)


@pytest.mark.slow
@SLOW
@given(data=st.data())
def test_white_space_does_not_show(data: st.DataObject) -> None:
    """Without comments, and but for empty lines between short items."""
    text = data.draw(st.sampled_from([text for text in TEXTS if '"' not in text]))
    plain = "\n".join(re.sub(r"(^|\s+)#.*$", "", line) for line in text.splitlines())
    spread = re.sub(r" ", lambda _: data.draw(st.sampled_from([" ", "\n", "\t"])), plain, count=20)
    assert without_gaps(spread) == without_gaps(plain)


def without_gaps(text: str) -> str:
    return lay_out(text).replace("\n\n", "\n")


def test_every_rule_of_the_grammar_has_a_layout(parsed: Callable[[str], ast.Module]) -> None:
    grammar = (ROOT / "grammar" / "tsat.lark").read_text(encoding="utf-8")
    inlined = set(re.findall(r"^\?([a-z_]+):", grammar, re.MULTILINE))
    rules = re.findall(r"^\??([a-z_]+):|-> ([a-z_]+)$", grammar, re.MULTILINE)
    named = {a or b for a, b in rules if not (a or b).startswith("_")} - inlined
    assert [rule for rule in sorted(named) if not hasattr(FileLayout, rule)] == []


def test_a_file_with_errors_is_not_laid_out() -> None:
    diagnostics = Diagnostics()
    assert format_source(SourceFile("a", "rewrite a: x = y"), diagnostics) is None
    assert [found.code for found in diagnostics] == ["E0101"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n\n# a\n\n\n# b\n", "# a\n\n# b\n"),
        ("## Doc.\n\nclass A = B", "## Doc.\nclass A = B\n"),
        ("class A=|B|C class D=E", "class A = B | C\nclass D = E\n"),
        ("class A = B\n\n\n\nclass D = E", "class A = B\n\nclass D = E\n"),
        (
            "rewrite a: F(x, # the input\ny,) => x",
            "rewrite a:\n  F(\n    x,  # the input\n    y\n  )\n    => x\n",
        ),
        (
            "rewrite a: F(x) => x where p(x),# one\n# two\nq(x)",
            "rewrite a: F(x) => x\n  where p(x),  # one\n    # two\n    q(x)\n",
        ),
        (
            "rule r {\n# in front\nmatch { y = F(x) # behind\n}\nemit { y = x }\n# last\n}",
            "rule r {\n  # in front\n  match {\n    y = F(x)  # behind\n  }\n"
            "  emit { y = x }\n  # last\n}\n",
        ),
        (
            "schedule s { saturate { run a run b } repeat 2 { prune cycles run a } }",
            "schedule s {\n  saturate { run a run b }\n  repeat 2 {\n    prune cycles\n    run a\n"
            "  }\n}\n",
        ),
        (
            f"rewrite r: Long{'g' * 45}(x, axis=1, keepdims=0) => Op(x, perm=[1, 0], axis=2, k=3)",
            f"rewrite r:\n  Long{'g' * 45}(x, axis=1, keepdims=0)\n"
            "    => Op(x, perm=[1, 0], axis=2, k=3)\n",
        ),
    ],
)
def test_layout_by_hand(text: str, expected: str) -> None:
    assert lay_out(text) == expected


def test_lines_are_broken_at_a_hundred_columns() -> None:
    head = "fn f(a: int) -> int = "
    fits = head + "b" * (100 - len(head))
    assert lay_out(fits) == fits + "\n"
    assert lay_out(fits + "b") == f"{head.strip()}\n  {'b' * (101 - len(head))}\n"


def test_a_long_file_is_laid_out_in_time() -> None:
    import time

    text = "rewrite r: Concat(" + ", ".join(["Relu(x)"] * 5_000) + ") => x\n"
    started = time.process_time()
    assert lay_out(text).count("\n") == 5_000 + 4
    assert time.process_time() - started < 3.0
