"""What `onnx.checker` says of a model, without looking at large tensors.

Enters: a model.  Leaves: its complaint in one line, or "".
"""

from __future__ import annotations

import onnx

from tensat_dl.graph.light import with_weights_as_inputs


def checker_complaint(proto: onnx.ModelProto) -> str:
    """Why `onnx.checker` refuses the model; "" where it accepts it."""
    try:
        onnx.checker.check_model(with_weights_as_inputs(proto))
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    return ""
