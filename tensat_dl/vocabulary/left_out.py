"""Why an operator that ONNX has is none of the language's.

Enters: a name that :mod:`tensat_dl.vocabulary.catalog` does not know.  Leaves: the reason and what
to do, for people; "" where ONNX does not know the name either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensat_dl.sentences import listed
from tensat_dl.vocabulary import catalog

if TYPE_CHECKING:
    from onnx.defs import OpSchema


def why_left_out(name: str) -> str:
    """In one line, to stand as help below `unknown operator`."""
    from onnx import defs

    for domain in catalog.VERSIONS:
        if domain and catalog.operator(name, domain) is not None:
            return f'write `"{domain}"::{name}(..)`: it is of that domain'
    return _reason(defs.get_schema(name)) if defs.has(name) else ""


def _reason(newest: OpSchema) -> str:
    name = newest.name
    if newest.deprecated:
        return f"`{name}` is deprecated: before rules see a model, it becomes what replaced it"
    if name == "Constant":
        return "a constant is a value, and no node: write it, as `f32(0.5)` or `i64([1, 2])`"
    if catalog.schema_at("", name, catalog.LANGUAGE_OPSET) is None:
        return (
            f"`{name}` came after ai.onnx {catalog.LANGUAGE_OPSET}; of such operators the language"
            f" has {listed(catalog.NEWER)} alone: in models it is carried along, and no rule can"
            " name it"
        )
    return f"`{name}` has subgraphs: it is carried along, and no rule can name it"
