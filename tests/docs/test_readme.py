"""What README.md and CONTRIBUTING.md say is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tensat_dl import config
from tensat_dl.cli.commands import COMMANDS
from tensat_dl.settings import Settings

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not any(part.startswith(".") for part in page.relative_to(ROOT).parts)
)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def test_the_settings_shown_are_the_defaults_and_all_of_them() -> None:
    (text,) = blocks(ROOT / "README.md", "toml")
    tables = tomllib.loads(text)
    assert config.merge([config.Source("README", tables)]) == Settings()
    shown = {f"{table}.{key}" for table, keys in tables.items() for key in keys}
    assert shown == set(config.config_schema.keys())


def test_every_command_is_listed() -> None:
    text = (ROOT / "README.md").read_text()
    for each in COMMANDS:
        assert f"| `tensat-dl {each.name}" in text


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    tests = (ROOT / "README.md").read_text().partition("## Tests")[2]
    match = re.search(r"```sh\n(.*?)```", tests, re.DOTALL)
    assert match is not None
    script = (ROOT / ".ci" / "run").read_text()
    environment, *rest = match[1].splitlines()
    assert environment.startswith("python3 -m venv ")  # the script makes its own
    for line in rest:
        assert f"\n{line}\n" in script


def test_the_first_rule_file_and_its_summary_are_those_of_the_first_example() -> None:
    rules, summary = blocks(ROOT / "README.md", "text")
    example = ROOT / "examples" / "01-first-rules"
    assert (example / "first.tsat").read_text().endswith(rules)
    page = (example / "README.md").read_text()
    for line in summary.splitlines():
        assert line in page


def test_what_commands_print_is_what_the_first_example_shows() -> None:
    page = (ROOT / "examples" / "01-first-rules" / "README.md").read_text().splitlines()
    shown = [line for block in blocks(ROOT / "README.md", "console") for line in block.splitlines()]
    assert len([line for line in shown if line.startswith("$ ")]) == 7
    assert [line for line in shown if line not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text())
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert broken == []
