"""The examples of `grammar/README.md` parse, and print to what parses to the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tensat_dl.resources import data_directory
from tensat_dl.syntax import ast
from tensat_dl.syntax.files import Builder
from tensat_dl.syntax.grammar import RESERVED, SOFT_WORDS
from tensat_dl.syntax.printer import format_module

REFERENCE = (data_directory("grammar") / "README.md").read_text(encoding="utf-8")
GRAMMAR = (data_directory("grammar") / "tsat.lark").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```tsat(?: fragment)?\n(.*?)^```", REFERENCE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().split("\n")[0][:30])
def test_example(block: str, parsed: Callable[[str], ast.Module], bare: Any) -> None:
    module = parsed(block)
    assert bare(parsed(format_module(module))) == bare(module)


def test_every_reserved_word_is_listed() -> None:
    listed = re.search(r"^```text\n(rewrite .*?)```", REFERENCE, re.MULTILINE | re.DOTALL)
    assert listed is not None
    assert set(listed[1].split()) == RESERVED


def test_every_word_of_the_grammar_is_known_and_shown() -> None:
    words = set(re.findall(r'^[A-Z]+: "([a-z]+)"$', GRAMMAR, re.MULTILINE))
    assert words == RESERVED | SOFT_WORDS
    text = "".join(BLOCKS)
    assert [word for word in sorted(words - {"error"}) if not re.search(rf"\b{word}\b", text)] == []


def test_the_builder_has_a_method_for_each_rule_and_none_for_inlined_ones() -> None:
    rules = re.findall(r"^\??([a-z_]+):", GRAMMAR, re.MULTILINE)
    passed_through = set(re.findall(r"^\?([a-z_]+):", GRAMMAR, re.MULTILINE))
    aliases = re.findall(r"-> ([a-z_]+)$", GRAMMAR, re.MULTILINE)
    named = {rule for rule in (*rules, *aliases) if not rule.startswith("_")} - passed_through
    inlined = {rule for rule in rules if rule.startswith("_")}
    assert [rule for rule in sorted(named) if not hasattr(Builder, rule)] == []
    assert [rule for rule in sorted(inlined | passed_through) if hasattr(Builder, rule)] == []
