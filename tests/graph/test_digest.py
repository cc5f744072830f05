"""The digest of a model: another for whatever differs, the same where nothing does."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
from onnx.external_data_helper import convert_model_to_external_data

from tensat_dl.graph.digest import model_digest
from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import ModelSettings


def model_of(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')


TEXT = "(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Add(x, w) y = Exp(a) }"


def digest(proto: onnx.ModelProto | Path) -> str:
    graph = read_model(proto, ModelSettings())
    return model_digest(graph, graph.source.proto)


def test_all_that_a_model_says_is_in_its_digest() -> None:
    texts = [
        TEXT,
        TEXT.replace("Exp", "Abs"),
        TEXT.replace("{1, 2}", "{1, 3}"),
        TEXT.replace("Add(x, w)", "Add(w, x)"),
        "(float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> "
        "{ a = Add(x, w) y = Exp(a) }",
        "(float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 3}> "
        "{ a = Add(x, w) y = Exp(a) }",
    ]
    found = {digest(model_of(text)) for text in texts}
    assert len(found) == len(texts)
    assert digest(model_of(TEXT)) in found


def test_data_in_another_file_is_part_of_it(tmp_path: Path) -> None:
    found = set()
    for number in (1, 2):
        proto = model_of(TEXT.replace("{1, 2}", f"{{1, {number}}}"))
        convert_model_to_external_data(proto, location="w.bin", size_threshold=0)
        path = tmp_path / str(number) / "m.onnx"
        path.parent.mkdir()
        onnx.save(proto, path)
        found.add(digest(path))
    assert len(found) == 2
