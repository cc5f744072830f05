"""What tells two models apart: a digest of all that they say.

Enters: a graph and the model that it came from or was written to.  Leaves: a digest.  That of a
constant is known since it was made, so no large content is read again, wherever it is stored.
"""

from __future__ import annotations

import hashlib

import onnx

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.model import Graph
from tensat_dl.graph.tensors import is_too_large


def model_digest(graph: Graph, proto: onnx.ModelProto) -> str:
    """The digest of `proto`, whose constants are those of `graph`; "" where what is no constant is
    too large for one message."""
    rest = copy_model(proto, skip=("initializer",))
    constants = graph.constants
    rest.graph.initializer.extend(t for t in proto.graph.initializer if t.name not in constants)
    if is_too_large(rest):
        return ""
    digest = hashlib.sha256(rest.SerializeToString(deterministic=True))
    for tensor in proto.graph.initializer:
        if tensor.name in constants:
            digest.update(f"\0{tensor.name}\0{constants[tensor.name].digest}".encode())
    return digest.hexdigest()
