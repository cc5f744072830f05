"""Fields that the installed ONNX does not know: those of a newer one are kept."""

from pathlib import Path

import onnx
import onnx.parser

import tensat_dl
from tensat_dl.graph.copies import copy_fields, copy_model
from tensat_dl.graph.wire import unknown_fields

#: Fields 1000 to 1004 of each kind, byte by byte as protobuf's documentation has them.
FIELDS = (
    b"\xc0\x3e\xac\x02"  # varint: 300
    b"\xc9\x3e\x01\x02\x03\x04\x05\x06\x07\x08"  # eight bytes
    b"\xd2\x3e\x02hi"  # length 2
    b"\xdb\x3e\xc0\x3e\x05\xdc\x3e"  # group, with a varint
    b"\xe5\x3e\x01\x02\x03\x04"  # four bytes
)
TEXT = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { %s }'


def model(nodes: str = "a = Neg(x) y = Neg(a)") -> onnx.ModelProto:
    proto = onnx.parser.parse_model(TEXT % nodes)
    proto.MergeFromString(FIELDS)
    proto.graph.MergeFromString(FIELDS[:4])
    return proto


def test_a_copy_has_them() -> None:
    copy = copy_model(model(), skip=("node",))
    assert unknown_fields(copy) == FIELDS
    assert unknown_fields(copy.graph) == FIELDS[:4]
    part = onnx.ModelProto()
    copy_fields(model(), part, skip=("graph",))
    assert part.SerializeToString().endswith(FIELDS)


def test_a_model_that_changes_keeps_them(tmp_path: Path) -> None:
    source, target = tmp_path / "m.onnx", tmp_path / "o.onnx"
    onnx.save(model(), source)
    tensat_dl.optimize(source, "std", {"cost": {"model": "nodes"}}, output=target)
    found = onnx.load(target)
    assert [node.op_type for node in found.graph.node] == ["Identity"]
    assert unknown_fields(found) == FIELDS
    assert unknown_fields(found.graph) == FIELDS[:4]
