"""`--cost measured` and `tensat-dl costs` from the command line.

The timer and the comparison are fakes, but for one run that measures."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import onnx
import onnx.parser
import pytest

from tensat_dl import answer
from tensat_dl.cost.measured import machine
from tensat_dl.cost.measured.cache import CostCache, Measurement
from tensat_dl.cost.measured.comparison import Comparison
from tensat_dl.cost.measured.little_model import LittleModel
from tensat_dl.cost.measured.timer import OrtTimer, Timing
from tensat_dl.graph.running.run import Loader

RELU = "language 1\nrewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"
RUN = ("run", "rules.tsat", "m.onnx", "--cost", "measured", "--cost-cache", "c.sqlite")


@pytest.fixture
def measuring(two_products: Path, monkeypatch: pytest.MonkeyPatch):
    """Every node takes a second; the comparison finds what it is told."""
    Path("rules.tsat").write_text(RELU)

    def times(_: OrtTimer, models: Sequence[LittleModel], known: object) -> list[Timing | None]:
        return [Timing(float(len(model.proto.graph.node))) for model in models]

    def found(comparison: Comparison) -> None:
        monkeypatch.setattr(OrtTimer, "time", times)
        monkeypatch.setattr(answer, "compare_models", lambda *_: comparison)

    return found


FASTER = Comparison(2.0, 1.0, 2.0, 1.9, 2.1, 25, {"N": 16})
SAME = Comparison(1.0, 1.0, 1.0, 0.98, 1.02, 25)
VAGUE = Comparison(1.0, 1.1, 0.9, 0.5, 1.8, 60)


def nodes(path: str) -> int:
    return len(onnx.load(path).graph.node)


def test_a_faster_model_is_written(tensat, measuring) -> None:
    measuring(FASTER)
    done = tensat(*RUN, "--json", "r.json")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "2.00 times as fast; operators 25.0 % cheaper (measured 4 s -> 3 s)"
    assert any(line.startswith("measured      2 operators, 0 from the cache;") for line in lines)
    assert (
        "comparison    2000 ms -> 1000 ms, 2.000 times as fast (1.900 to 2.100); 25 rounds; N = 16"
        in lines
    )
    assert nodes("m.opt.onnx") == 3
    report = json.loads(Path("r.json").read_text())
    assert report["measured"]["used"] == 2
    assert report["comparison"]["faster"] is True


def test_a_second_run_times_nothing_unless_it_is_asked_to(tensat, measuring) -> None:
    measuring(FASTER)
    tensat(*RUN)
    measuring(SAME)
    told = "comparison    2000 ms -> 1000 ms, 2.000 times as fast (1.900 to 2.100); 25 rounds"
    assert f"{told} of an earlier run; N = 16" in tensat(*RUN, "--json", "r.json").out.splitlines()
    assert nodes("m.opt.onnx") == 3
    assert json.loads(Path("r.json").read_text())["comparison"]["cached"] is True
    assert "1.000 times as fast (0.980 to 1.020); 25 rounds\n" in tensat(*RUN, "--compare").out
    assert nodes("m.opt.onnx") == 4


def test_a_model_that_is_not_faster_is_not_written(tensat, measuring) -> None:
    measuring(SAME)
    done = tensat(*RUN, "--json", "r.json")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == (
        "the new model (3 nodes, was 4) is not faster beyond noise; the original is kept"
        " (--keep-anyway writes the new one)"
    )
    assert Path("m.opt.onnx").read_bytes() == Path("m.onnx").read_bytes()
    report = json.loads(Path("r.json").read_text())
    assert report["status"] == "not faster"
    assert (report["cost"]["before"], report["cost"]["after"]) == (4.0, 4.0)
    assert report["comparison"]["ratio"] == 1.0
    assert report["nodes"]["before"] == report["nodes"]["after"] == {"MatMul": 2, "Relu": 2}
    assert report["nodes"]["slower"] == {"MatMul": 2, "Relu": 1}
    assert [line.split() for line in done.out.splitlines()[2:6]] == [
        ["nodes", "before", "after", "change", "not", "written"],
        ["MatMul", "2", "2", "2"],
        ["Relu", "2", "2", "1"],
        ["total", "4", "4", "3"],
    ]


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        (Comparison(1.0, 1.1, 0.9, 0.88, 0.95, 8), "(3 nodes, was 4) is slower; the original"),
        (Comparison(1.1, 1.1, 1.008, 1.001, 1.01, 8), "1.008 times as fast; operators 25.0 %"),
        (
            Comparison(1.1, 1.1, 1.004, 1.001, 1.01, 8),
            "(3 nodes, was 4) is faster by less than 0.5 %; the original",
        ),
    ],
)
def test_the_headline_is_as_exact_as_the_comparison(
    tensat, measuring, comparison: Comparison, words: str
) -> None:
    measuring(comparison)
    assert words in tensat(*RUN).out.splitlines()[0]


def test_where_noise_hides_which_is_faster_that_is_said_and_not_kept(tensat, measuring) -> None:
    measuring(VAGUE)
    done = tensat(*RUN, "--json", "r.json")
    lines = done.out.splitlines()
    assert lines[0] == (
        "noise hides whether the new model (3 nodes, was 4) is faster; the original is kept"
        " (--keep-anyway writes the new one)"
    )
    (note,) = [line for line in lines if line.startswith("note: ")]
    assert "1.8 times as fast would not show: run again when the machine does less" in note
    assert json.loads(Path("r.json").read_text())["comparison"]["vague"] is True
    assert note in tensat(*RUN, "--keep-anyway").out.splitlines()
    measuring(FASTER)
    assert tensat(*RUN).out.startswith("2.00 times as fast; ")
    assert nodes("m.opt.onnx") == 3


def test_costs_that_there_was_no_time_to_measure_are_called_estimates(tensat, measuring) -> None:
    measuring(FASTER)
    done = tensat(*RUN, "--set", "cost.measure_seconds=0", "--json", "r.json")
    assert " % cheaper (estimated " in done.out.splitlines()[0]
    assert "warning: measuring stopped after 0 s" in done.out
    assert "run again to go on from there, or with `--set cost.threads=1`" in done.out
    assert json.loads(Path("r.json").read_text())["cost"]["estimated"] is True


def test_where_it_is_not_faster_constants_are_folded_all_the_same(tensat, measuring) -> None:
    """The comparison is that of what was found, not of what is written."""
    measuring(SAME)
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
        n = Neg(w) a = Relu(x) b = Relu(a) y = Mul(b, n)
    }"""
    onnx.save(onnx.parser.parse_model(text), "m.onnx")
    done = tensat(*RUN, "--json", "r.json")
    assert done.out.splitlines()[0] == (
        "the new model (2 nodes, was 4) is not faster beyond noise; the original is kept, constants"
        " folded"
        " (--keep-anyway writes the new one)"
    )
    assert [n.op_type for n in onnx.load("m.opt.onnx").graph.node] == ["Relu", "Relu", "Mul"]
    assert json.loads(Path("r.json").read_text())["status"] == "not faster"


@pytest.mark.parametrize("how", [["--keep-anyway"], ["--set", "cost.keep_anyway=true"]])
def test_it_is_written_anyway_where_that_is_wanted(tensat, measuring, how: list[str]) -> None:
    """The headline begins with what it is as a whole."""
    for told, whole in (
        (SAME, "not faster beyond noise"),
        (VAGUE, "noise hides whether it is faster"),
        (Comparison(1.0, 1.1, 0.9, 0.88, 0.95, 8), "slower"),
    ):
        measuring(told)
        Path("c.sqlite").unlink(missing_ok=True)
        done = tensat(*RUN, *how)
        first = done.out.splitlines()[0]
        assert first == f"{whole}; operators 25.0 % cheaper (measured 4 s -> 3 s)"
        assert nodes("m.opt.onnx") == 3


LEVEL = "language 1\nrewrite one: Neg(Neg(Abs(x))) => Sin(x)\n"


@pytest.mark.parametrize(
    ("comparison", "flags", "first", "written"),
    [
        (SAME, [], "the new model (2 nodes, was 4) is not faster beyond noise; the", 4),
        (
            SAME,
            ["--keep-anyway"],
            "not faster beyond noise; as cheap as before, 2 nodes fewer (measured 4 s -> 4 s)",
            2,
        ),
        (
            FASTER,
            [],
            "2.00 times as fast; as cheap as before, 2 nodes fewer (measured 4 s -> 4 s)",
            2,
        ),
        (Comparison(refused="no"), [], "nothing better found; the model is unchanged (measured", 4),
    ],
)
def test_fewer_nodes_that_take_as_long_are_compared_as_a_whole(
    tensat, measuring, monkeypatch, comparison: Comparison, flags: list[str], first: str, written
) -> None:
    measuring(comparison)
    seconds = {"Sin": 3.0}

    def times(_: OrtTimer, models: Sequence[LittleModel], known: object) -> list[Timing | None]:
        nodes = ([seconds.get(n.op_type, 1.0) for n in m.proto.graph.node] for m in models)
        return [Timing(sum(each)) for each in nodes]

    monkeypatch.setattr(OrtTimer, "time", times)
    Path("rules.tsat").write_text(LEVEL)
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x) => (float[2] y) { a = Abs(x) b = Neg(a) c = Neg(b) y = Exp(c) }"""
    onnx.save(onnx.parser.parse_model(text), "m.onnx")
    done = tensat(*RUN, "--no-check", *flags)
    assert done.out.splitlines()[0].startswith(first)
    assert nodes("m.opt.onnx") == written


PLAIN = ("run", "rules.tsat", "m.onnx", "--cost", "nodes")


@pytest.mark.parametrize("how", [["--compare"], ["--set", "cost.compare=true"]])
def test_models_of_other_costs_are_timed_where_that_is_wanted(
    tensat, measuring, how: list[str]
) -> None:
    measuring(SAME)
    done = tensat(*PLAIN, *how)
    assert done.out.splitlines()[0].startswith("the new model (3 nodes, was 4) is not faster")
    assert nodes("m.opt.onnx") == 4
    done = tensat(*PLAIN, *how, "--keep-anyway")
    first = done.out.splitlines()[0]
    assert first == "not faster beyond noise; 25.0 % cheaper (nodes 4 -> 3)"
    measuring(FASTER)
    assert "comparison    2000 ms -> 1000 ms, 2.000 times" in tensat(*PLAIN, *how).out
    assert nodes("m.opt.onnx") == 3
    assert "comparison" not in tensat(*PLAIN).out


def test_a_busy_machine_compares_with_one_thread(tensat, measuring, monkeypatch) -> None:
    """Where nothing is compared, nothing is said of it."""
    threads: list[int] = []
    measuring(FASTER)

    def compare(before: object, after: object, conditions: object, loader: Loader) -> Comparison:
        threads.append(loader.threads)
        return FASTER

    monkeypatch.setattr(answer, "compare_models", compare)
    for busy, flags in ((0.6, []), (0.0, []), (0.6, ["--set", "cost.threads=2"])):
        monkeypatch.setattr(machine, "processors", lambda: 4)
        monkeypatch.setattr(machine, "busy_share", lambda share=busy: share)
        done = tensat(*PLAIN, "--compare", *flags)
        said = "warning: other processes take 60% of this machine" in done.out
        assert said == (threads[-1] == 1)
    assert threads == [1, 0, 2]
    monkeypatch.setattr(machine, "busy_share", lambda: 0.6)
    assert "other processes" not in tensat(*PLAIN).out


def test_where_the_original_is_beyond_the_limits_the_answer_need_not_be_faster(
    tensat, measuring
) -> None:
    measuring(SAME)
    done = tensat(*PLAIN, "--compare", "--set", "extract.at_most.Relu=1")
    assert (done.code, done.err) == (0, "")
    assert "limit         at most 1 Relu; the selection has 1" in done.out.splitlines()
    assert nodes("m.opt.onnx") == 3


def test_what_cannot_be_compared_goes_by_its_cost(tensat, measuring) -> None:
    measuring(Comparison(refused="no input was found"))
    done = tensat(*RUN)
    assert "comparison    none: no input was found" in done.out.splitlines()
    assert nodes("m.opt.onnx") == 3


def test_measurements_are_kept_and_reused(tensat, measuring) -> None:
    measuring(FASTER)
    tensat(*RUN)
    done = tensat(*RUN)
    assert "2 operators, 2 from the cache; nothing timed now; 1 round;" in done.out


def test_a_damaged_cache_is_one_warning(tensat, measuring) -> None:
    measuring(FASTER)
    Path("c.sqlite").write_text("damaged " * 1000)
    done = tensat(*RUN)
    assert (done.code, done.err) == (0, "")
    (warning,) = [line for line in done.out.splitlines() if line.startswith("warning: ")]
    assert "c.sqlite is no cost cache" in warning
    assert Path("c.sqlite").read_text() == "damaged " * 1000


def test_a_report_never_replaces_the_cache(tensat, measuring) -> None:
    measuring(FASTER)
    tensat(*RUN)
    done = tensat(*RUN, "--json", "c.sqlite")
    assert done.code == 2
    assert "would overwrite" in done.err


def test_the_stages_show_measured_prices(tensat, measuring) -> None:
    measuring(FASTER)
    done = tensat("show", *RUN[1:], "--stage", "selection")
    assert done.code == 0, done.err
    total, *nodes = done.out.splitlines()
    assert total == "cost 3, optimal"
    # What nodes count for beside their time is not among the prices.
    assert sum(float(line.rpartition("cost ")[2]) for line in nodes) == 3


def test_costs_are_listed_exported_imported_and_cleared(tensat, measuring) -> None:
    measuring(FASTER)
    tensat(*RUN)
    count = len(CostCache(Path("c.sqlite")).rows())
    done = tensat("costs", "--cost-cache", "c.sqlite")
    first = f"{count} measurements in c.sqlite, and 1 comparison of whole models"
    assert done.out.splitlines()[0] == first
    assert "MatMul-13(0, 1)" in done.out
    assert tensat("costs", "export", "all.json", "--cost-cache", "c.sqlite").code == 0
    done = tensat("costs", "import", "all.json", "--cost-cache", "d.sqlite")
    assert (done.code, done.out) == (0, f"{count} measurements added to d.sqlite\n")
    assert CostCache(Path("d.sqlite")).rows() == CostCache(Path("c.sqlite")).rows()
    done = tensat("costs", "clear", "--cost-cache", "c.sqlite")
    assert (done.out, Path("c.sqlite").exists()) == ("c.sqlite removed\n", False)
    done = tensat("costs", "clear", "--cost-cache", "c.sqlite")
    assert (done.code, done.out) == (0, "c.sqlite does not exist: nothing to clear\n")
    done = tensat("costs", "list", "--cost-cache", "c.sqlite")
    assert done.out == "0 measurements in c.sqlite\n"


def test_an_export_goes_to_stdout(tensat, tmp_path: Path) -> None:
    done = tensat("costs", "export", "-", "--cost-cache", "none.sqlite")
    assert json.loads(done.out) == {"tensat-dl costs": 1, "costs": []}


def test_an_import_comes_from_stdin(tensat, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"machine": "m", "runtime": "r", "threads": 1, "signature": "s", "seconds": 1e-6}
    text = json.dumps({"tensat-dl costs": 1, "costs": [row]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    done = tensat("costs", "import", "-", "--cost-cache", "c.sqlite")
    assert (done.code, done.out) == (0, "1 measurement added to c.sqlite\n")
    assert CostCache(Path("c.sqlite")).rows() == [Measurement("m", "r", 1, "s", 1e-6)]


def test_the_cache_of_the_settings_is_used(tensat, tmp_path: Path) -> None:
    (tmp_path / "tensat.toml").write_text('[cost]\ncache = "own.sqlite"\n')
    assert tensat("costs", "list").out == "0 measurements in own.sqlite\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["list", "x.json"], 2, "`costs list` takes no file"),
        (["export"], 2, "`costs export` needs a file"),
        (["export", "nowhere/x.json"], 2, "the directory nowhere of the report does not exist"),
        (["export", "c.sqlite", "--cost-cache", "c.sqlite"], 2, "would overwrite"),
        (["import"], 2, "`costs import` needs a file"),
        (["import", "x.json"], 3, "x.json does not exist"),
        (["import", "bad.json"], 3, "bad.json cannot be imported: it was not written by"),
        (["import", "latin"], 3, "latin is no text"),
        (["clear", "--cost-cache", "bad.json"], 3, "bad.json is no cost cache"),
        (["list", "--cost-cache", "bad.json"], 3, "bad.json is no cost cache; choose another file"),
        (["import", "ok.json", "--cost-cache", "bad.json"], 3, "bad.json is no cost cache"),
        (["sort"], 2, "invalid choice"),
    ],
)
def test_bad_commands(
    tensat, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "bad.json").write_text("{}" * 100)
    (tmp_path / "ok.json").write_text('{"tensat-dl costs": 1, "costs": []}')
    (tmp_path / "latin").write_bytes(b"\xe9\xe9")
    done = tensat("costs", *arguments)
    assert done.code == code, done.err
    assert message in done.err
    assert "Traceback" not in done.err
    assert (tmp_path / "bad.json").read_text() == "{}" * 100


@pytest.mark.slow
@pytest.mark.measures
def test_a_run_that_measures(tensat, two_products: Path) -> None:
    """Two products and two ReLUs; which model is faster is the machine's business."""
    Path("rules.tsat").write_text(RELU)
    done = tensat(*RUN, "--json", "r.json", "--set", "cost.compare_seconds=0.5")
    assert done.code == 0, done.err
    report = json.loads(Path("r.json").read_text())
    assert report["status"] in ("improved", "not faster")
    assert report["measured"]["estimated"] == []
    assert report["measured"]["left"] == 0
    assert report["measured"]["setting"]["runtime"].startswith("onnxruntime ")
    assert report["comparison"]["rounds"] >= 7
    seconds = {
        row.signature.split("-")[0]: row.seconds for row in CostCache(Path("c.sqlite")).rows()
    }
    assert {"MatMul", "Relu"} <= set(seconds)
    assert all(0 < each < 1 for each in seconds.values())


SLOWLY = """
import sys, time
from tensat_dl import answer
from tensat_dl.cost.measured.timer import OrtTimer, Timing
def sleep(*asked):
    print("begun", flush=True)
    time.sleep(30)
def at_once(self, models, known):
    return [Timing(float(len(model.proto.graph.node))) for model in models]
OrtTimer.time = sleep if sys.argv.pop(1) == "measuring" else at_once
answer.compare_models = sleep
from tensat_dl.cli.main import main
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(("phase", "kept"), [("measuring", []), ("comparing", ["c.sqlite"])])
def test_an_interruption_leaves_nothing_but_what_was_measured(
    interrupt, two_products: Path, tmp_path: Path, phase: str, kept: list[str]
) -> None:
    (tmp_path / "rules.tsat").write_text(RELU)
    before = {path.name for path in tmp_path.iterdir()}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, phase, *RUN, "--json", "r.json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    interrupt(process)
    assert {path.name for path in tmp_path.iterdir()} == before | set(kept)
    rows = CostCache(tmp_path / "c.sqlite").rows()
    assert {row.signature.split("-")[0] for row in rows} == ({"MatMul", "Relu"} if kept else set())
