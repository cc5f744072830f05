"""Nodes that say which they are in the messages of a runtime.

Enters: a model, or a message.  Leaves: the model with its nodes renamed after their places, or the
place that a message names.  Names of nodes mean nothing to what is computed.
"""

from __future__ import annotations

import re

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.running.run import known_operators
from tensat_dl.graph.source import Source, plain_domain

_MARK = "tensat-dl.node.{}."
_MARKED = re.compile(re.escape(_MARK).replace(r"\{\}", r"(\d+)"))


def marked(source: Source) -> Source:
    """The same model, each node named after its place; those of operators that nothing here knows
    keep their names, by which they are known to be the original's."""
    proto = copy_model(source.proto)
    for place, node in enumerate(proto.graph.node):
        if (plain_domain(node.domain), node.op_type) in known_operators():
            node.name = _MARK.format(place)
    return Source(proto, folder=source.folder, dims=source.dims, frozen=source.frozen)


def place_in(message: str) -> int | None:
    """The place of the node that a message on a marked model names."""
    found = _MARKED.search(message)
    return int(found[1]) if found else None
