"""Large data is read once: its digest does not depend on where it is, and what is remembered of a
model is what the model holds."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.graph import external, hashing
from tensat_dl.graph.constants import constant_of_array, constant_of_tensor
from tensat_dl.graph.folding.fold import fold_constants
from tensat_dl.graph.light import lighten
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.running.run import open_runner
from tensat_dl.graph.source import Source
from tensat_dl.graph.stored import Contents
from tensat_dl.graph.writing.write import build_source
from tensat_dl.settings import ExportSettings, ModelSettings

SIZE = 1 << 15  # elements; 128 KiB


def weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)


def model(ir_version: int = 8) -> onnx.ModelProto:
    """y = (x + w) * c - (v + v): w and v are initializers, c is made by a node."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [SIZE]) for n in "xy")
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(weights(1))),
        helper.make_node("Add", ["x", "w"], ["a"]),
        helper.make_node("Mul", ["a", "c"], ["b"]),
        helper.make_node("Add", ["v", "v"], ["d"]),
        helper.make_node("Sub", ["b", "d"], ["y"]),
    ]
    held = [numpy_helper.from_array(weights(seed), name) for seed, name in ((0, "w"), (2, "v"))]
    listed = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [SIZE]) for n in "wv"]
    inputs = [x] if ir_version >= 4 else [x, *listed]
    graph = helper.make_graph(nodes, "g", inputs, [y], held)
    opset = helper.make_opsetid("", 13)
    return helper.make_model(graph, opset_imports=[opset], ir_version=ir_version)


def held(proto: onnx.ModelProto) -> dict[str, bytes]:
    """All data of a model by name, as protobuf has it."""
    graph = proto.graph
    nodes = (node for node in graph.node if node.op_type == "Constant")
    made = {node.output[0]: node.attribute[0].t.raw_data for node in nodes}
    return {**{tensor.name: tensor.raw_data for tensor in graph.initializer}, **made}


@pytest.mark.parametrize("length", [4, 5, 8, 23])
def test_the_digest_is_that_of_the_digests_of_its_pieces(
    length: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (hashing, external):
        monkeypatch.setattr(module, "PIECE", 4)
    content = np.arange(length, dtype=np.uint8)
    raw = content.tobytes()
    pieces = (raw[start : start + 4] for start in range(0, length, 4))
    expected = sha256(f"2:{length}:".encode() + b"".join(sha256(p).digest() for p in pieces))
    inside = numpy_helper.from_array(content, "w")
    (tmp_path / "data").write_bytes(b"before" + raw)
    outside = TensorProto(name="w", data_type=TensorProto.UINT8, dims=[length], data_location=1)
    for key, value in (("location", "data"), ("offset", "6"), ("length", str(length))):
        outside.external_data.add(key=key, value=value)
    constants = (
        constant_of_array(content),
        constant_of_tensor(inside),
        constant_of_tensor(outside, tmp_path),
    )
    assert {constant.digest for constant in constants} == {expected.hexdigest()}


@pytest.mark.parametrize("ir_version", [3, 8])
def test_what_is_remembered_of_a_model_is_what_it_holds(ir_version: int) -> None:
    original = model(ir_version)
    graph = read_model(original, ModelSettings())
    assert graph.source.known_data == held(original)
    folded = build_source(fold_constants(graph, ExportSettings()))
    assert folded.known_data == held(folded.proto)
    assert sorted(folded.known_data) == ["c", "d", "w"]
    np.testing.assert_array_equal(np.frombuffer(folded.known_data["d"], np.float32), weights(2) * 2)


def test_a_model_that_was_read_is_not_looked_at_again() -> None:
    first = read_model(model(), ModelSettings())
    again = read_model(first.source, ModelSettings())
    written = build_source(again)
    for name in ("w", "v"):
        assert again.source.known_data[name] is first.source.known_data[name]
        assert written.known_data[name] is first.source.known_data[name]


def test_what_is_remembered_of_one_model_is_nothing_to_another() -> None:
    source = read_model(model(), ModelSettings()).source
    other = model()
    other.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights(5), "w"))
    replaced = replace(source, proto=other)
    assert replaced.known_data == {}
    x = weights(3)
    expected = (x + weights(5)) * weights(1) - (weights(2) + weights(2))
    np.testing.assert_array_equal(open_runner(replaced).run({"x": x})[0], expected)


def test_weights_are_run_as_they_are_remembered() -> None:
    """The runner takes the bytes at hand: were they others, the result would be."""
    proto = model()
    source = read_model(proto, ModelSettings()).source
    data = {**source.known_data, "w": weights(6).tobytes()}
    x = weights(3)
    expected = (x + weights(6)) * weights(1) - (weights(2) + weights(2))
    (y,) = open_runner(replace(source, contents=Contents(proto, data))).run({"x": x})
    np.testing.assert_array_equal(y, expected)


def test_of_a_tensor_that_is_defined_twice_the_last_counts() -> None:
    proto = model()
    typed = helper.make_tensor("w", TensorProto.FLOAT, [SIZE], weights(7))
    proto.graph.initializer.append(typed)
    source = read_model(proto, ModelSettings()).source
    assert "w" not in source.known_data
    x = weights(3)
    for given in (source, Source(proto)):
        np.testing.assert_array_equal(
            read_model(given, ModelSettings()).constants["w"].load(), weights(7)
        )
    light = lighten(proto, lambda _, tensor: tensor.HasField("raw_data"))
    assert "w" not in light.moved
    assert len([t for t in light.proto.graph.initializer if t.name == "w"]) == 2
    built = build_source(read_model(source, ModelSettings()))
    (y,) = open_runner(built).run({"x": x})
    expected = (x + weights(7)) * weights(1) - (weights(2) + weights(2))
    np.testing.assert_array_equal(y, expected)
