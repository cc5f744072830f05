"""What tells two models apart: a digest of all that they say.

Enters: a graph and the model that it came from or was written to.  Leaves: a digest.  That of a
constant is known since it was made, so no large content is read again, wherever it is stored.
"""

from __future__ import annotations

import hashlib

import onnx

from tensat_dl.graph.light import lighten
from tensat_dl.graph.model import Graph
from tensat_dl.graph.tensors import is_too_large


def model_digest(graph: Graph, proto: onnx.ModelProto) -> str:
    """The digest of `proto`, whose constants are those of `graph`; "" where what is no constant is
    too large for one message."""
    light = lighten(proto, lambda name, _: name in graph.constants)
    if is_too_large(light.proto):
        return ""
    digest = hashlib.sha256(light.proto.SerializeToString(deterministic=True))
    for name in light.moved:
        digest.update(f"\0{name}\0{graph.constants[name].digest}".encode())
    return digest.hexdigest()
