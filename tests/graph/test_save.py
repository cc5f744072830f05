"""Files are written whole or not at all, with their external data, and never over the input."""

import errno
import os
import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from tensat_dl.errors import UsageError
from tensat_dl.graph import tensors
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.source import Source
from tensat_dl.graph.writing import save as saving
from tensat_dl.graph.writing.pieces import pieces
from tensat_dl.graph.writing.save import save
from tensat_dl.graph.writing.write import build_model, build_source
from tensat_dl.settings import ModelSettings

SIZE = 600


def weights() -> np.ndarray:
    return np.arange(SIZE, dtype=np.float32)


def model() -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [SIZE])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [SIZE])
    w = numpy_helper.from_array(weights(), "w")
    one = numpy_helper.from_array(np.float32(1), "one")
    nodes = [
        helper.make_node("Add", ["x", "w"], ["a"]),
        helper.make_node("Add", ["a", "one"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], [w, one])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    path = tmp_path / "in.onnx"
    onnx.save(model(), path)
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "in.onnx"
    onnx.save(model(), path, save_as_external_data=True, location="in.bin", size_threshold=100)
    return path


def run(path: Path) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": np.zeros(SIZE, np.float32)})[0])


def read_and_save(path: Path, target: Path, **more: object) -> Path:
    graph = read_model(path, ModelSettings())
    return save(build_source(graph), target, made_from=graph.source, **more)  # type: ignore[arg-type]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_writes_one_file(inside: Path) -> None:
    read_and_save(inside, inside.with_name("out.onnx"))
    assert files(inside.parent) == ["in.onnx", "out.onnx"]
    np.testing.assert_array_equal(run(inside.with_name("out.onnx")), weights() + 1)


def test_external_data_goes_beside_the_output(outside: Path) -> None:
    target = outside.with_name("out.onnx")
    read_and_save(outside, target)
    assert files(outside.parent) == ["in.bin", "in.onnx", "out.onnx", "out.onnx.data"]
    (outside.parent / "in.bin").unlink()
    np.testing.assert_array_equal(run(target), weights() + 1)


def test_external_data_is_found_wherever_it_is(tmp_path: Path) -> None:
    """In subgraphs, functions, sparse tensors, training information: all of it comes along."""
    proto = parser.parse_model(
        '<ir_version: 10, opset_import: ["": 18, "f": 1]>'
        "g (float[3] x, bool c) => (float[3] y, float[3] z) { z = f.add(x) y = If(c) <"
        "  then_branch = t () => (float[3] p) <float[3] w = {1,2,3}> { p = Add(x, w) },"
        "  else_branch = e () => (float[3] q) { k = Constant() q = Add(x, k) }> }"
        '<domain: "f", opset_import: ["": 18]> add (a) => (b)'
        "{ k = Constant<value = float[3] {1,2,3}>() b = Add(a, k) }"
    )
    branches = {a.name: a.g for a in proto.graph.node[1].attribute}
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("", TensorProto.FLOAT, [3], [1, 2, 3]),
        helper.make_tensor("", TensorProto.INT64, [3], [0, 1, 2]),
        [3],
    )
    branches["else_branch"].node[0].attribute.append(helper.make_attribute("sparse_value", sparse))
    step = parser.parse_graph("s () => (float[3] n) <float[3] r = {1,2,3}> { n = Neg(r) }")
    training = proto.training_info.add(algorithm=step)
    everywhere = [
        branches["then_branch"].initializer[0],
        branches["else_branch"].node[0].attribute[0].sparse_tensor.values,
        proto.functions[0].node[0].attribute[0].t,
        training.algorithm.initializer[0],
    ]
    (tmp_path / "in.bin").write_bytes(np.array([1, 2, 3], np.float32).tobytes())
    for tensor in everywhere:
        tensor.ClearField("float_data")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="in.bin")
    folder = tmp_path / "out"
    folder.mkdir()
    save(Source(proto, folder=tmp_path), folder / "m.onnx")
    text = (folder / "m.onnx").read_bytes()
    assert text.count(b"m.onnx.data") == len(everywhere)
    assert b"in.bin" not in text


def test_external_data_is_replaced_not_appended(outside: Path) -> None:
    target = outside.with_name("out.onnx")
    read_and_save(outside, target)
    size = (outside.parent / "out.onnx.data").stat().st_size
    assert size == 4 * SIZE
    read_and_save(outside, target)
    assert (outside.parent / "out.onnx.data").stat().st_size == size
    np.testing.assert_array_equal(run(target), weights() + 1)


def test_a_model_of_onnx_ir_is_saved_with_its_external_data(outside: Path) -> None:
    target = outside.with_name("out.onnx")
    save(build_model(read_model(outside, ModelSettings())), target)
    np.testing.assert_array_equal(run(target), weights() + 1)


def test_external_data_in_another_folder(outside: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    read_and_save(outside, other / "out.onnx")
    assert files(other) == ["out.onnx", "out.onnx.data"]
    np.testing.assert_array_equal(run(other / "out.onnx"), weights() + 1)


def test_a_location_that_goes_up_and_stays_inside(outside: Path) -> None:
    proto = onnx.load(outside, load_external_data=False)
    places = [e for e in proto.graph.initializer[0].external_data if e.key == "location"]
    places[0].value = "./made/../in.bin"
    outside.write_bytes(proto.SerializeToString())
    outside.with_name("made").mkdir()
    np.testing.assert_array_equal(run(outside), weights() + 1)
    target = read_and_save(outside, outside.with_name("out.onnx"))
    np.testing.assert_array_equal(run(target), weights() + 1)


def test_the_input_is_not_overwritten(inside: Path) -> None:
    before = inside.read_bytes()
    with pytest.raises(UsageError, match="is the input model"):
        read_and_save(inside, inside)
    link = inside.with_name("link.onnx")
    link.symlink_to(inside)
    with pytest.raises(UsageError, match="is the input model"):
        read_and_save(inside, link)
    assert inside.read_bytes() == before


def test_force_overwrites_the_input_and_its_data(outside: Path) -> None:
    read_and_save(outside, outside, force=True)
    np.testing.assert_array_equal(run(outside), weights() + 1)
    assert "in.onnx.data" in files(outside.parent)


def test_data_of_the_input_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "in.onnx"
    onnx.save(model(), path, save_as_external_data=True, location="out.onnx.data", size_threshold=1)
    before = (tmp_path / "out.onnx.data").read_bytes()
    read_and_save(path, tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx.data").read_bytes() == before
    np.testing.assert_array_equal(run(tmp_path / "out.onnx"), weights() + 1)


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_a_failure_leaves_nothing(
    outside: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    target = outside.with_name("out.onnx")
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(saving._Temporaries, "commit", fail)
    with pytest.raises((KeyboardInterrupt, UsageError)):
        read_and_save(outside, target)
    assert files(outside.parent) == ["in.bin", "in.onnx", "out.onnx"]
    assert target.read_bytes() == b"old"


def test_what_does_not_fit_is_named(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    target = inside.parent / "out.onnx"
    with pytest.raises(UsageError, match=f"cannot write {re.escape(str(target))}: No space left"):
        read_and_save(inside, target)
    assert not target.exists()


def test_places_that_cannot_be_written(inside: Path) -> None:
    with pytest.raises(UsageError, match="is a directory"):
        read_and_save(inside, inside.parent)
    with pytest.raises(UsageError, match="does not exist"):
        read_and_save(inside, inside.parent / "none" / "out.onnx")


def test_a_model_too_large_for_one_message_gets_a_data_file(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensors, "PROTO_LIMIT", 1000)
    target = inside.with_name("out.onnx")
    read_and_save(inside, target)
    assert files(inside.parent) == ["in.onnx", "out.onnx", "out.onnx.data"]
    assert target.stat().st_size < 1000
    np.testing.assert_array_equal(run(target), weights() + 1)


def test_permissions_are_those_of_an_ordinary_file(inside: Path) -> None:
    target = inside.with_name("out.onnx")
    read_and_save(inside, target)
    assert target.stat().st_mode == inside.stat().st_mode


@pytest.mark.parametrize("force", [False, True])
def test_the_data_of_the_input_is_no_output(outside: Path, force: bool) -> None:
    data = outside.with_name("in.bin")
    before = data.read_bytes()
    with pytest.raises(UsageError, match="holds weights of the input"):
        read_and_save(outside, data, force=force)
    assert data.read_bytes() == before


def test_pieces_together_are_what_protobuf_writes() -> None:
    proto = model()
    proto.metadata_props.add(key="after", value="the graph")
    proto.graph.doc_string = "after the initializers"
    proto.graph.initializer.add(name="empty")
    proto.graph.initializer.add(name="no", raw_data=bytes(1 << 15))  # its length takes 3 bytes
    whole = proto.SerializeToString()
    parts = list(pieces(proto))
    assert b"".join(parts) == whole
    assert len(parts) > 2 * len(proto.graph.initializer)
    newer = onnx.ModelProto.FromString(whole + b"\xfa\x3f\x01x")  # a field that is not known here
    assert b"".join(pieces(newer)) == newer.SerializeToString() != whole
