"""A declared operator of a domain that the model does not import."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

import tensat_dl

MODEL = """<ir_version: 8, opset_import: ["": 17%s]>
g (float[2,4] x, float[4,3] w) => (float[2,3] y) { m = MatMul(x, w) y = Mul(m, m) }"""
RULES = """\
language 1
op "%s"::FusedMatMul(A: Tensor, B: Tensor) -> Y: Tensor {
  since %d
  infer Y = like(A, [dim(A, 0), dim(B, 1)])
}
rewrite fuse: MatMul(a: T[_, _], b: T[_, _]) => "%s"::FusedMatMul(a, b)
cost model mine { MatMul = 1 }
"""


def run(
    path: Path, domain: str, since: int = 1, imports: str = "", verified: bool = True
) -> tuple[onnx.ModelProto, dict[str, object]]:
    path.write_text(RULES % (domain, since, domain))
    settings = {"cost": {"model": "mine"}, "verify": {"enabled": verified}}
    result = tensat_dl.optimize(parser.parse_model(MODEL % imports), str(path), settings)
    return result.model, result.report


def imported(proto: onnx.ModelProto) -> dict[str, int]:
    return {entry.domain: entry.version for entry in proto.opset_import}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rules.tsat"


def test_the_domain_is_imported_where_the_answer_needs_it(path: Path) -> None:
    proto, report = run(path, "com.microsoft")
    assert [node.op_type for node in proto.graph.node] == ["FusedMatMul", "Mul"]
    assert imported(proto) == {"": 17, "com.microsoft": 1}
    assert report["status"] == "improved"
    assert report["verification"]["samples"] == 3


def test_what_onnxruntime_lacks_is_written_unverified_only(path: Path) -> None:
    proto, report = run(path, "com.acme")
    assert imported(proto) == {"": 17}
    assert report["status"] == "refused"
    (warning,) = report["warnings"]
    assert warning.endswith("; for a runtime that has it, write it with --no-check")
    proto, report = run(path, "com.acme", verified=False)
    assert imported(proto) == {"": 17, "com.acme": 1}
    assert report["warnings"] == []


def test_a_domain_that_is_imported_stays_at_its_version(path: Path) -> None:
    proto, report = run(path, "com.acme", 2, ', "com.acme": 1')
    assert imported(proto) == {"": 17, "com.acme": 1}
    assert report["notes"] == ["off: fuse (FusedMatMul is of com.acme 2, the model has com.acme 1)"]
