"""The pages of `examples/` show what their commands print.

Every command of every ```console block is run, in order, in a copy of the folder.  `...` stands
for any number of lines; seconds, and what depends on the machine, may differ.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

#: What may differ between machines and versions of `std`: times, places, last digits, ids.
_VARIES = (
    r"\d+\.\d\d\b(?= s\b|,|$)",  # seconds
    r"\d+\.\d{3}$",  # seconds in tables
    r"(?<=% cheaper \(measured ).*(?=\)$)",
    r"(?<=times as fast; operators )\S+(?= % cheaper \(measured)",
    r"(?<=timed now in ).*|(?<=^comparison    ).*",
    r"(?<=before )\S+(?= ms)|(?<=after )\S+(?= ms)|\S+(?= times as fast)",
    r"(?<=largest difference )\S+",
    r"(?<=yes    )/\S+",
    r"(?<=^fold.batchnorm_affine).*|(?<=^fold.batchnorm_scale).*|(?<=^move.pool_before_conv).*",
    r"(?<=^exploration   ).*(?=: end of the schedule)",
    r"(?<=^class )\d+|(?<=^  output \d of )\d+",
    r"(?<=^  MatMul)\(\d.*?\)|(?<=^  Tanh)\(\d.*?\)",
    r"(?<=^  Split)\(\d+, \d+|(?<=^  Concat)\(\d+, \d+",
)
#: A row of a table that ends in seconds: such rows may stand in the order of these.
_TIMED_ROW = re.compile(r"(\s+\d+){3,}\s+~$")


def commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines that it shows."""
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown.splitlines()


def plain(text: str) -> str:
    for pattern in _VARIES:
        text = re.sub(pattern, "~", text, flags=re.MULTILINE)
    lines = [line.rstrip() for line in text.splitlines()]
    rows = groupby(lines, key=lambda line: bool(_TIMED_ROW.search(line)))
    return "\n".join(line for timed, group in rows for line in (sorted(group) if timed else group))


def pattern(shown: list[str]) -> str:
    lines = plain("\n".join(shown)).splitlines()
    return "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(p.name for p in EXAMPLES.iterdir() if p.is_dir()))
def test_the_page_shows_what_its_commands_print(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    for command, shown in commands(folder / "README.md"):
        done = subprocess.run(
            ["bash", "-c", f"{command} 2>&1"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        printed = plain(done.stdout) + "\n" if done.stdout else ""
        assert re.fullmatch(pattern(shown), printed), f"$ {command}\n{done.stdout}"


@pytest.mark.parametrize("page", sorted(EXAMPLES.glob("*/README.md")), ids=lambda p: p.parent.name)
def test_quoted_files_stand_in_the_folder(page: Path) -> None:
    """Every rule and setting that a page quotes is in a file beside it, as it stands."""
    files = "\n".join(f.read_text() for f in page.parent.iterdir() if f.suffix != ".md")
    squeezed = re.sub(r"\n+", "\n", files)
    for block in re.findall(r"^```(?:text|toml)\n(.*?)^```", page.read_text(), re.DOTALL | re.M):
        for item in block.strip().split("\n\n"):
            assert item in squeezed, item
