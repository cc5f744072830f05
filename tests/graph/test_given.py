"""Inputs that the user gives for the verification."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from tensat_dl.errors import UsageError
from tensat_dl.graph.verifying.verify import Verification, verify
from tensat_dl.settings import VerifySettings

HEAD = '<ir_version: 9, opset_import: ["": 18]>'
#: Only indices from a million on, near to each other, are in the table.
PICKY = (
    "g (int64[N] i, float[N] w) => (float[N] y) <int64 k = {1000000}>"
    "{ d = Sub(i, k) q = Gather(t, d) y = %s(w, q) }"
)

INDICES = np.array([1_000_000, 1_000_001, 1_000_002])
WEIGHTS = np.array([1, 2, 3], np.float32)


def model(op: str = "Mul") -> onnx.ModelProto:
    proto = parser.parse_model(HEAD + PICKY % op)
    proto.graph.initializer.append(numpy_helper.from_array(WEIGHTS, "t"))
    return proto


def check(path: Path, op: str = "Mul", **arrays: np.ndarray) -> Verification:
    np.savez(path, **arrays)
    return verify(model(), model(op), VerifySettings(input_data=str(path)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "in.npz"


def test_without_them_no_input_is_found() -> None:
    result = verify(model(), model("Add"), VerifySettings())
    assert not result.ok
    assert "no input was found" in result.skipped


def test_given_inputs_are_compared_once(path: Path) -> None:
    result = check(path, i=INDICES, w=WEIGHTS)
    assert (result.ok, result.samples) == (True, 1)
    wrong = check(path, "Add", i=INDICES, w=WEIGHTS)
    assert [m.output for m in wrong.mismatches] == ["y"]


def test_what_is_not_given_is_drawn_and_its_size_follows(path: Path) -> None:
    assert check(path, i=INDICES).samples == 3
    assert not check(path, "Add", i=INDICES).ok


def test_keys_with_a_prefix(path: Path) -> None:
    assert check(path, **{"in:i": INDICES, "in:w": WEIGHTS, "out:y": WEIGHTS}).ok


def test_types_are_widened_and_never_narrowed(path: Path) -> None:
    assert check(path, i=INDICES.astype(np.int32), w=WEIGHTS.astype(np.float64)).ok
    with pytest.raises(UsageError, match="input 'i' is float32, the model takes int64"):
        check(path, i=WEIGHTS)


def test_what_does_not_fit_is_named(path: Path) -> None:
    with pytest.raises(UsageError, match="the model has no input 'j'"):
        check(path, j=INDICES)
    with pytest.raises(UsageError, match=r"input 'i' is \[1, 3\], the model takes \[N\]"):
        check(path, i=INDICES[None])
    with pytest.raises(UsageError, match="no input was found that the original model accepts"):
        check(path, i=INDICES + 5000, w=WEIGHTS)


def test_files_that_are_none(path: Path) -> None:
    settings = VerifySettings(input_data=str(path))
    with pytest.raises(UsageError, match="does not exist"):
        verify(model(), model("Add"), settings)
    path.write_bytes(b"no zip")
    with pytest.raises(UsageError, match=r"is no \.npz file"):
        verify(model(), model("Add"), settings)
    with path.open("wb") as file:
        np.savez(file, i=np.array([{}], dtype=object))
    with pytest.raises(UsageError, match=r"is no \.npz file"):
        verify(model(), model("Add"), settings)
