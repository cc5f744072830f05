"""The limits of a result, held against a graph as it would be written.

Enters: a folded graph, the settings.  Leaves: what it has too much of, in words.  Extraction counts
e-nodes; this counts what is there in the end.
"""

from __future__ import annotations

from collections import Counter

from tensat_dl.extract.limits import in_bytes
from tensat_dl.graph.model import Graph
from tensat_dl.graph.prune import remove_dead
from tensat_dl.settings import ExtractSettings


def is_limited(settings: ExtractSettings) -> bool:
    """Has a result any limit?"""
    return bool(settings.at_most or settings.max_weight_bytes)


def beyond_limits(graph: Graph, settings: ExtractSettings) -> list[str]:
    """Each limit that the graph does not keep to, with what it has; none where all is well."""
    if not is_limited(settings):
        return []
    live = remove_dead(graph)
    operators = Counter(node.operator.name for node in live.nodes)
    found = [
        f"{operators[name]} {name} (`extract.at_most.{name}` is {most})"
        for name, most in settings.at_most.items()
        if operators[name] > most
    ]
    weights = sum(constant.nbytes for constant in live.constants.values())
    if settings.max_weight_bytes and weights > settings.max_weight_bytes:
        most_text = in_bytes(settings.max_weight_bytes)
        found.append(f"weights of {in_bytes(weights)} (`extract.max_weight_bytes` is {most_text})")
    return found
