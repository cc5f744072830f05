"""The parser as a function: spans, limits, reading files, the cache of its tables."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax import ast
from tensat_dl.syntax.nesting import walk
from tensat_dl.syntax.parse import MAX_ERRORS, parse, read_source
from tensat_dl.syntax.printer import format_module

CASES = Path(__file__).parent.parent / "cases" / "syntax"


def errors(text: str) -> list[tuple[str, str]]:
    """Code and the text under the carets of each error."""
    diagnostics = Diagnostics()
    assert parse(SourceFile("test.tsat", text), diagnostics) is None
    return [(d.code, text[d.span.start : d.span.end] if d.span else "") for d in diagnostics]


# --- trees and spans ------------------------------------------------------------------------


def test_attributes_inputs_and_rest_are_told_apart(parsed: Callable[[str], ast.Module]) -> None:
    rewrite = parsed('rewrite r: "d"::Op(x, k=1, **a) => x').items[0]
    assert isinstance(rewrite, ast.Rewrite)
    call = rewrite.left
    assert isinstance(call, ast.Call)
    assert call.domain == "d"
    assert call.function == "Op"
    assert [type(arg) for arg in call.args] == [ast.Name]
    assert [keyword.name for keyword in call.keywords] == ["k"]
    assert [splat.text for splat in call.splats] == ["a"]


def test_match_each_names_members_and_key(parsed: Callable[[str], ast.Module]) -> None:
    rule = parsed(
        "rule r { match each (y, N) by (x) { y = A(x) } emit { t = B(x) *y = S(t) } }"
    ).items[0]
    assert isinstance(rule, ast.Rule)
    assert rule.each is not None
    assert [n.text for n in rule.each.members] == ["y", "N"]
    assert [n.text for n in rule.each.key] == ["x"]
    assert [s.starred for s in rule.emit] == [False, True]


def test_a_star_after_a_term_is_a_product_unless_a_statement_follows(
    parsed: Callable[[str], ast.Module],
) -> None:
    model = parsed("cost model m { A = 2 * x B = 3 *y C = 4 }").items[0]
    assert isinstance(model, ast.CostModel)
    assert [row.operator.text for row in model.rows] == ["A", "B", "C"]
    assert isinstance(model.rows[1].value, ast.Binary)


@pytest.mark.parametrize("name", ["tour", "terms", "expressions", "documentation", "layout"])
def test_spans_hold_what_they_name(name: str, parsed: Callable[[str], ast.Module]) -> None:
    text = (CASES / f"{name}.tsat").read_text(encoding="utf-8")
    module = parsed(text)
    assert (module.span.start, module.span.end) == (0, len(text))
    for node, _ in walk(module.items):
        shown = text[node.span.start : node.span.end]
        assert shown == shown.strip()
        if isinstance(node, ast.Name):
            assert shown.strip("()") == node.text
        if isinstance(node, ast.Call):
            span = node.function_span
            assert text[span.start : span.end] == node.function
            assert shown.rstrip("?)").count("(") >= shown.rstrip("?)").count(")")
        for child, depth in walk(node):
            if depth == 1:
                assert node.span.start <= child.span.start <= child.span.end <= node.span.end


def test_span_of_a_call_includes_its_domain(parsed: Callable[[str], ast.Module]) -> None:
    text = 'rewrite r: Relu("d"::Op( x , k = 1 )) => (x)'
    rewrite = parsed(text).items[0]
    assert isinstance(rewrite, ast.Rewrite)
    assert isinstance(rewrite.left, ast.Call)
    inner = rewrite.left.args[0]
    assert text[inner.span.start : inner.span.end] == '"d"::Op( x , k = 1 )'
    assert text[rewrite.right.span.start : rewrite.right.span.end] == "(x)"


# --- limits ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "rewrite r: x => " + "(" * 10_000 + "x" + ")" * 10_000,
        "rewrite r: x => " + "(" * 10_000,
        "rewrite r: x => " + "[" * 10_000 + "]" * 10_000,
        "rewrite r: x => " + "Relu(" * 10_000 + "x" + ")" * 10_000,
        "rewrite r: x => y where " + "not " * 10_000 + "a",
        "rewrite r: x => y where " + "-" * 10_000 + "a",
        "rewrite r: x => y where " + "1 + " * 10_000 + "1",
        "rewrite r: x => y where " + "2 ** " * 10_000 + "1",
        "rewrite r: x => y where a" + "[0]" * 10_000,
        "rewrite r: x => y where a" + "?" * 10_000,
        "rewrite r: x => y where " + "if a then b else " * 10_000 + "c",
        "schedule s { " + "repeat 2 { " * 10_000 + "}" * 10_001,
    ],
    ids=lambda text: text[-12:],
)
def test_deep_nesting_is_one_diagnostic(text: str) -> None:
    assert [code for code, _ in errors(text)] == ["E0110"]


def test_nesting_within_the_limit_parses(parsed: Callable[[str], ast.Module]) -> None:
    nested = "Relu(" * 90 + "x" + ")" * 90
    assert format_module(parsed(f"rewrite r: {nested} => x")).count("Relu(") == 90


def test_wide_is_not_deep(parsed: Callable[[str], ast.Module]) -> None:
    wide = "Concat(" + ", ".join(["x"] * 10_000) + ")"
    assert format_module(parsed(f"rewrite r: {wide} => y")).count("x") == 10_000


def test_a_number_of_too_many_digits() -> None:
    assert errors("fn f() -> int = " + "9" * 5_000)[0][0] == "E0111"


def test_errors_are_counted_up_to_a_limit() -> None:
    assert len(errors("rewrite r: x = y\n" * (MAX_ERRORS + 50))) == MAX_ERRORS


@pytest.mark.slow
def test_two_thousand_rules_parse_in_time(parsed: Callable[[str], ast.Module]) -> None:
    rule = "Transpose(MatMul(a: f32[M, K], b), perm=[1, 0]) => MatMul(b, a) where rank(a) == 2"
    text = "\n".join(f"rewrite r{i}: {rule}" for i in range(2_000))
    parsed("")
    start = time.process_time()
    assert len(parsed(text).items) == 2_000
    assert time.process_time() - start < 3.0


# --- files ----------------------------------------------------------------------------------


def test_read_source_drops_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.tsat"
    path.write_bytes(b"\xef\xbb\xbflanguage 1\r\n")
    source = read_source(path, Diagnostics())
    assert source is not None
    assert (source.name, source.text) == (str(path), "language 1\r\n")


def test_a_return_alone_ends_a_line(tmp_path: Path, parsed: Callable[[str], ast.Module]) -> None:
    path = tmp_path / "a.tsat"
    path.write_bytes(b"# a\rclass A = B\r\n## c\rclass C = D\r")
    source = read_source(path, Diagnostics())
    assert source is not None
    assert source.text == "# a\nclass A = B\r\n## c\nclass C = D\n"
    assert len(parsed(source.text).items) == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "does not exist"),
        (b"a\nb\xff", "is not UTF-8: byte 0xff in line 2"),
        (b"language 1\0", "holds NUL bytes: it is no text file"),
        (b"\xff\xfel\0", "holds NUL bytes: it is no text file"),
    ],
)
def test_read_source_says_why_not(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "a.tsat"
    if content is not None:
        path.write_bytes(content)
    diagnostics = Diagnostics()
    assert read_source(path, diagnostics) is None
    assert [(d.code, d.message) for d in diagnostics] == [
        ("E0120", f"the rule file `{path}` {reason}")
    ]


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5_000])
def test_read_source_takes_any_path(tmp_path: Path, name: str) -> None:
    diagnostics = Diagnostics()
    assert read_source(f"{tmp_path}/{name}", diagnostics) is None
    assert [d.code for d in diagnostics] == ["E0120"]


# --- the cache ------------------------------------------------------------------------------

SCRIPT = """
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax.parse import parse
assert len(parse(SourceFile("a", "class A = B"), Diagnostics()).items) == 1
"""


def run(cache: Path | str, **variables: str) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **variables}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_tables_are_cached_and_a_broken_cache_is_mended(tmp_path: Path) -> None:
    run(tmp_path)
    (stored,) = (tmp_path / "tensat-dl").iterdir()
    content = stored.read_bytes()
    for broken in (b"", b"\x80garbage", content[: len(content) // 2]):
        stored.write_bytes(broken)
        run(tmp_path)
        assert [path.name for path in stored.parent.iterdir()] == [stored.name]
        assert len(stored.read_bytes()) == len(content)


@pytest.mark.slow
def test_parsing_needs_no_cache(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    run(file)
    run("/proc/nowhere")
    run("relative", HOME=str(file))
    assert not Path("relative").exists()


@pytest.mark.slow
def test_runs_at_the_same_time_share_the_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment) for _ in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    assert len(list((tmp_path / "tensat-dl").iterdir())) == 1


def test_threads_do_not_mix_their_files(parsed: Callable[[str], ast.Module]) -> None:
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        text = "\n".join(f"class A{number}_{i} = B" for i in range(100))
        found[number] = [item.name.text for item in parsed(text).items]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [f"A{n}_{i}" for i in range(100)] for n in range(4)}
