"""Initializers that the training information of a model names.

Enters: a model.  Leaves: names.  What training changes is no constant, though nothing but training
may change it; what training reads is there to be read.
"""

from __future__ import annotations

import onnx

from tensat_dl.graph.subgraphs import captured


def trained_names(proto: onnx.ModelProto) -> frozenset[str]:
    """Values that training gives at its start or in a step."""
    return frozenset(
        entry.key
        for info in proto.training_info
        for entry in (*info.initialization_binding, *info.update_binding)
    )


def names_read_by_training(proto: onnx.ModelProto) -> tuple[str, ...]:
    """Values of the model that its training graphs read."""
    graphs = [
        graph for info in proto.training_info for graph in (info.initialization, info.algorithm)
    ]
    return tuple(dict.fromkeys(name for graph in graphs for name in captured(graph)))
