"""The order of the stages and the fences around third-party packages, held by parsing imports.

A stage imports only stages before it; `lark`, `egglog`, `pyomo` and `onnx` stay behind their
fences; starting the command line imports none of the heavy packages.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tensat_dl"

#: A stage may import itself and those named here.  Leaf modules are open to all.
LEAVES = {
    "cache",
    "components",
    "diagnostics",
    "errors",
    "settings",
    "progress",
    "reading",
    "references",
    "resources",
    "suggest",
    "sentences",
    "phases",
}
STAGES: dict[str, set[str]] = {
    **dict.fromkeys(LEAVES, LEAVES),
    "vocabulary": LEAVES,
    "syntax": LEAVES,
    "language": LEAVES | {"vocabulary", "syntax"},
    "taso": LEAVES | {"syntax"},
    "graph": LEAVES | {"vocabulary"},
    "egraph": LEAVES | {"vocabulary", "syntax", "language", "graph"},
    "extract": LEAVES,
    "cost": LEAVES | {"vocabulary", "syntax", "language", "graph", "egraph", "extract"},
    "export": LEAVES | {"vocabulary", "syntax", "language", "graph", "egraph", "cost", "extract"},
    "diagnosis": LEAVES
    | {"vocabulary", "syntax", "language", "graph", "egraph", "cost", "extract"},
    "rule_tests": LEAVES
    | {"vocabulary", "syntax", "language", "graph", "egraph", "extract", "cost", "diagnosis"},
    "soundness": LEAVES | {"vocabulary", "syntax", "language", "graph", "egraph"},
    "written_limits": LEAVES | {"vocabulary", "graph", "extract"},
    "blame": LEAVES | {"vocabulary", "graph", "egraph"},
    "answer": LEAVES
    | {
        "vocabulary",
        "syntax",
        "language",
        "graph",
        "egraph",
        "cost",
        "extract",
        "export",
        "written_limits",
        "blame",
    },
    "attempts": LEAVES | {"graph", "egraph", "extract", "cost", "export", "blame", "answer"},
    "config_schema": LEAVES,
    "config": LEAVES | {"config_schema"},
    "destination": LEAVES,
    "outcome": LEAVES | {"cost", "egraph", "extract", "graph", "diagnosis"},
    "report": LEAVES | {"cost", "egraph", "extract", "graph", "outcome", "diagnosis"},
}
_BELOW_PIPELINE = set(STAGES)
STAGES["story"] = set(_BELOW_PIPELINE)
_BELOW_PIPELINE.add("story")
STAGES["fallbacks"] = LEAVES | {"vocabulary", "language", "story"}
STAGES["bodies"] = LEAVES | {"graph", "story", "written_limits"}
_BELOW_PIPELINE |= {"fallbacks", "bodies"}
STAGES["pipeline"] = _BELOW_PIPELINE
STAGES["api"] = _BELOW_PIPELINE | {"pipeline"}
STAGES["cli"] = _BELOW_PIPELINE | {"pipeline", "api"}
STAGES["__main__"] = {"cli"}

#: The packages inside a stage, in order: one imports those before it, modules beside them none.
INSIDE = {"graph": ("writing", "running", "folding", "reading", "verifying")}

#: Package -> the only places (path prefixes below tensat_dl/) that may import it.
FENCES: dict[str, tuple[str, ...]] = {
    "lark": ("syntax/",),
    "egglog": ("egraph/engine.py",),
    "pyomo": ("extract/model.py", "extract/solvers"),
    "highspy": ("extract/solvers",),
    "ortools": ("extract/solvers/cpsat.py",),
    "onnx": ("vocabulary/", "graph/", "cost/", "soundness/reference.py"),
    "onnx_ir": ("vocabulary/", "graph/", "cost/"),
    "onnxruntime": ("vocabulary/", "graph/", "cost/"),
    "platformdirs": ("cache.py",),
    "rich": ("cli/",),
    "argparse": ("cli/",),
    "psutil": ("cli/", "cost/measured/", "egraph/", "extract/"),
}

#: Where any exception whatever may be caught: processes end there, and what failed is passed on.
CATCHES_ALL = {"cli/command_line.py", "egraph/worker.py", "extract/parallel.py"}

#: Nothing of these is imported by `tensat-dl --help`, nor (but for onnx) by `check`.
HEAVY = ("onnx", "egglog", "pyomo", "onnxruntime", "rich", "numpy", "lark")


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def stage_of(dotted: str) -> str:
    """`tensat_dl.egraph.engine` -> `egraph`; "" for the package itself."""
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every imported dotted name, with its line; imports for types only do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write imports in full"
            assert node.module is not None
            package = node.module == "tensat_dl"
            names = [f"tensat_dl.{a.name}" for a in node.names] if package else [node.module]
            yield from ((name, node.lineno) for name in names)


def test_every_module_belongs_to_a_stage() -> None:
    stages = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in modules()}
    assert stages - set(STAGES) - {"__init__"} == set()


def test_the_stages_have_an_order() -> None:
    for stage, allowed in STAGES.items():
        for earlier in allowed - LEAVES:
            assert stage not in STAGES[earlier], f"{stage} and {earlier} import each other"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_stage_imports_only_earlier_ones(path: Path) -> None:
    stage = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = set(STAGES) if stage == "__init__" else STAGES[stage] | {stage}
    wrong = [
        f"line {line}: {name}"
        for name, line in imports(path)
        if name.split(".")[0] == "tensat_dl"
        and stage_of(name) not in allowed
        and not is_attribute_of_package(name)
    ]
    assert wrong == []


@pytest.mark.parametrize("stage", INSIDE)
def test_packages_inside_a_stage_have_an_order(stage: str) -> None:
    place = {name: number for number, name in enumerate(INSIDE[stage])}
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in (PACKAGE / stage).rglob("*.py")
        for name, line in imports(path)
        if name.startswith(f"tensat_dl.{stage}.")
        and place.get(name.split(".")[2], -1) > place.get(path.parent.name, -1)
    ]
    assert wrong == []
    packages = {
        path.name for path in (PACKAGE / stage).iterdir() if (path / "__init__.py").exists()
    }
    assert packages == set(place)


def test_the_table_of_contributing_has_the_order_of_imports() -> None:
    """A stage imports only what stands above it there."""
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
    row = {
        name: i for i, cell in enumerate(cells) for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)
    }
    assert {"vocabulary", "extract", "pipeline", "cli"} <= row.keys()
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in modules()
        if (stage := path.relative_to(PACKAGE).parts[0].removesuffix(".py")) in row
        for name, line in imports(path)
        if row.get(stage_of(name), -1) > row[stage] and not is_attribute_of_package(name)
    ]
    assert wrong == []


def is_attribute_of_package(name: str) -> bool:
    """`from tensat_dl import x` where x is no module."""
    parts = name.split(".")
    return len(parts) == 2 and not any(
        (PACKAGE / parts[1]).with_suffix(s).exists() for s in ("", ".py")
    )


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_third_party_packages_stay_behind_their_fences(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    wrong = [
        f"line {line}: {name} belongs to {' and '.join(FENCES[name.split('.')[0]])}"
        for name, line in imports(path)
        if name.split(".")[0] in FENCES and not place.startswith(FENCES[name.split(".")[0]])
    ]
    assert wrong == []


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_say_what_they_are_and_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module opens with its docstring"
    assert text.count("\n") <= 400
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            assert node.end_lineno - node.lineno < 60, f"{node.name} is too long"


def catches_all(handler: ast.ExceptHandler) -> bool:
    """`except:`, `except Exception`, also among others."""
    caught = ast.walk(handler.type) if handler.type is not None else ()
    names = {node.id for node in caught if isinstance(node, ast.Name)}
    return handler.type is None or bool(names & {"Exception", "BaseException"})


def test_failures_are_caught_by_their_kind() -> None:
    broad = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and catches_all(node)
    }
    assert broad == CATCHES_ALL


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["extract", "--help"]]
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    assert heavy_after(arguments) == ""


def heavy_after(arguments: list[str]) -> str:
    """Heavy packages in memory after a command line has run, space separated."""
    script = (
        "import sys\n"
        "from tensat_dl.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    return done.stderr.strip()
