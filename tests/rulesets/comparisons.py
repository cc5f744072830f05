"""Does one model compute what another one does, to the last special value?

Enters: two models.  Leaves: nothing, or an AssertionError.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from tensat_dl.graph.verifying.verify import verify
from tensat_dl.settings import VerifySettings

_SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 1e-30, 3e4, -7.0])


def assert_equal(original: onnx.ModelProto, other: onnx.ModelProto, samples: int = 2) -> None:
    """In onnxruntime, on random inputs, within rounding."""
    found = verify(original, other, VerifySettings(samples=samples))
    assert found.ok, [str(mismatch) for mismatch in found.mismatches] or found.skipped


def assert_equal_on_specials(original: onnx.ModelProto, other: onnx.ModelProto) -> None:
    """In the reference evaluator, on NaN, infinities and zeros."""
    rng = np.random.default_rng(7)
    feed = {value.name: _special(value, rng) for value in original.graph.input}
    with np.errstate(all="ignore"):
        before = ReferenceEvaluator(original).run(None, feed)
        after = ReferenceEvaluator(other).run(None, feed)
    for name, left, right in zip(original.graph.output, before, after, strict=True):
        np.testing.assert_allclose(right, left, rtol=1e-5, atol=1e-6, err_msg=name.name)


def _special(value: onnx.ValueInfoProto, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    tensor = value.type.tensor_type
    dims = [3 if dim.dim_param else dim.dim_value for dim in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype.kind == "f":
        return rng.choice(_SPECIAL, dims).astype(dtype)
    return rng.integers(0, 2, dims).astype(dtype)
