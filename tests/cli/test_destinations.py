"""What a command reads is never overwritten by what it writes, and devices stay devices."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from pathlib import Path

import onnx
import pytest
from onnx.external_data_helper import set_external_data

from tensat_dl.cache import kept_costs
from tensat_dl.destination import check_report
from tensat_dl.errors import UsageError

RELU = "rewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"
EGRAPH = (
    '{"nodes": {"a": {"op": "a", "children": [], "eclass": "A", "cost": 1}},'
    ' "root_eclasses": ["A"]}'
)


@pytest.fixture
def files(tmp_path: Path, two_products: Path) -> dict[Path, bytes]:
    (tmp_path / "my.tsat").write_text(RELU)
    (tmp_path / "c.toml").write_text("[explore]\nenodes = 1000\n")
    (tmp_path / "e.json").write_text(EGRAPH)
    (tmp_path / "own.tsat").write_text('language 1\nimport "deep.tsat" as deep\n' + RELU)
    (tmp_path / "deep.tsat").write_text('import "my.tsat" as my\n')
    (tmp_path / "link").symlink_to("m.onnx")
    os.link(two_products, tmp_path / "hard")
    return {path: path.read_bytes() for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    "options",
    [
        *(("--json", name) for name in ("m.onnx", "./m.onnx", "link", "hard", "my.tsat", "c.toml")),
        ("--json", "m.opt.onnx"),
        ("-o", "o.onnx", "--json", "./o.onnx"),
        ("-o", "my.tsat"),
        ("-o", "c.toml"),
        ("-o", "my.tsat", "--force"),
        ("--force", "--json", "m.onnx"),
    ],
    ids=" ".join,
)
def test_run_overwrites_nothing_that_it_uses(tensat, files, options: tuple[str, ...]) -> None:
    done = tensat("run", "my.tsat", "m.onnx", "--config", "c.toml", *options)
    assert done.code == 2
    assert "overwrite" in done.err
    assert {path: path.read_bytes() for path in Path.cwd().iterdir()} == files


@pytest.mark.parametrize(
    ("command", "read"),
    [
        (("verify", "my.tsat"), ("my.tsat",)),
        (("test", "std, my.tsat"), ("my.tsat", "c.toml", "tensat.toml")),
        (("profile", "my.tsat", "m.onnx"), ("my.tsat", "link", "c.toml")),
        (("why-not", "relu_relu", "m.onnx", "--rules", "my.tsat"), ("my.tsat", "hard", "c.toml")),
        (("extract", "e.json"), ("e.json", "c.toml", "tensat.toml")),
    ],
    ids=lambda given: given[0],
)
def test_no_report_replaces_what_the_command_reads(
    tensat, files, command: tuple[str, ...], read: tuple[str, ...]
) -> None:
    (Path.cwd() / "tensat.toml").write_text("")
    for name in read:
        config = ("--config", "c.toml") if name == "c.toml" else ()
        done = tensat(*command, *config, "--json", name)
        assert (done.code, "would overwrite a file" in done.err) == (2, True), name
        assert files.get(Path.cwd() / name, b"") == Path(name).read_bytes()


@pytest.mark.parametrize("written", ["--json", "-o"])
@pytest.mark.parametrize("name", ["deep.tsat", "my.tsat", "w/a.bin", "c.sqlite", "tensat.toml"])
def test_what_is_read_by_way_of_another_file_stays(tensat, files, written: str, name: str) -> None:
    """Rule files that are imported, weights beside the model, measurements of the configuration."""
    (Path.cwd() / "w").mkdir()
    model = onnx.load("m.onnx")
    for number, tensor in enumerate(model.graph.initializer):
        place = f"w/{'ab'[number % 2]}.bin"
        set_external_data(tensor, place)
        Path(place).write_bytes(tensor.raw_data)
        tensor.ClearField("raw_data")
    assert model.graph.initializer
    Path("out.onnx").write_bytes(model.SerializeToString())
    Path("tensat.toml").write_text('[cost]\ncache = "c.sqlite"\n')
    Path("c.sqlite").write_bytes(b"")
    before = Path(name).read_bytes()
    done = tensat("run", "own.tsat", "out.onnx", written, name)
    assert (done.code, "would overwrite a file" in done.err) == (2, True), done.err
    assert Path(name).read_bytes() == before


def test_the_measurements_of_the_user_stay(tensat, files) -> None:
    kept = kept_costs()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"")
    done = tensat("run", "my.tsat", "m.onnx", "--json", str(kept))
    assert (done.code, kept.read_bytes()) == (2, b"")


def test_a_write_protected_output_is_not_replaced(
    tensat, files, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("kept.onnx").write_bytes(b"mine")
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "kept.onnx")
    done = tensat("run", "my.tsat", "m.onnx", "-o", "kept.onnx")
    assert (done.code, Path("kept.onnx").read_bytes()) == (2, b"mine")
    assert "the output kept.onnx is write-protected" in done.err


def test_extract_does_not_overwrite_the_egraph(tensat, files) -> None:
    done = tensat("extract", "e.json", "--json", "e.json")
    assert done.code == 2
    assert Path("e.json").read_text() == EGRAPH


def test_a_pipe_takes_a_report_and_no_model(tensat, files) -> None:
    os.mkfifo("pipe")
    assert tensat("run", "my.tsat", "m.onnx", "-o", "pipe").code == 2
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()))
    reader.start()
    done = tensat("extract", "e.json", "--json", "pipe")
    reader.join(timeout=10)
    assert done.code == 0, done.err
    assert json.loads(read[0])["extraction"]["objective"] == 1
    assert Path("pipe").is_fifo()


def test_a_link_of_the_kernel_is_no_output(tensat, files) -> None:
    """As `/dev/stdout` is; a model moved there would replace it for everyone."""
    Path("stdout").symlink_to("/proc/self/fd/1")
    done = tensat("run", "my.tsat", "m.onnx", "-o", "stdout")
    assert done.code == 2
    assert "no regular file" in done.err
    assert Path("stdout").readlink() == Path("/proc/self/fd/1")


def test_a_closed_directory_is_named_before_any_work(tmp_path: Path, monkeypatch) -> None:
    """The model would be written, and the report not."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="cannot be written: its directory is write-protected"):
        check_report(str(tmp_path / "r.json"))
    check_report("/dev/stdout")


def test_a_link_that_leads_nowhere_is_named(tensat, files) -> None:
    Path("out.onnx").symlink_to("none/out.onnx")
    done = tensat("run", "my.tsat", "m.onnx", "-o", "out.onnx")
    assert done.code == 2
    assert "the output out.onnx is a link into a directory that does not exist" in done.err


def test_models_and_rules_do_not_go_to_stdout(tensat, files) -> None:
    """Nor into a file of that name, as nobody means one."""
    for command in (("run", "my.tsat", "m.onnx"), ("import", "my.tsat")):
        done = tensat(*command, "-o", "-")
        assert done.code == 2
        assert "the output `-` is no file" in done.err
    assert not Path("-").exists()


def test_a_report_on_a_full_disk_is_named(tensat, files, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object, **__: object) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = tensat("extract", "e.json", "--json", "r.json")
    assert (done.code, done.out) == (2, "")
    assert done.err == "tensat-dl: cannot write r.json: No space left on device\n"
    assert not [path for path in Path().iterdir() if "r.json" in path.name]


def test_what_a_killed_run_left_beside_the_output_goes(tensat, files) -> None:
    left = Path(".tensat-dl-999999999-half")
    left.write_bytes(b"half a model")
    for age, stays in ((0.5, True), (2.0, False)):
        then = time.time() - age * 86_400
        os.utime(left, (then, then))
        assert tensat("run", "my.tsat", "m.onnx", "--cost", "nodes").code == 0
        assert left.exists() is stays
