"""The computation graph between ONNX and the e-graph: lifted to the vocabulary, SSA, frozen.

Values are named by strings, unique in the graph; "" never names a value.  Nodes are in
topological order.  What the e-graph does not need in order to reason (metadata, doc strings,
functions, opset imports, external storage) stays in `source` and is put back by `graph.writing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, UNDECLARED, TensorType, Type


@dataclass(frozen=True)
class Constant:
    """A tensor known now: an initializer, a Constant node's value, or one a rule wrote.

    Equal content (dtype, dims, bytes) has equal `digest`.  `load()` returns a numpy array; it is
    called late, so that large external data stays on disk.  `source_name` is the initializer's
    name in the source model, None for others.  `value` is the flat content where small (see
    `vocabulary.types`), else None; `fill` is the one number in a larger one.
    """

    digest: str
    dtype: DType
    dims: tuple[int, ...]
    load: Callable[[], Any] = field(compare=False, repr=False)
    source_name: str | None = field(default=None, compare=False)
    value: tuple[int | float | bool, ...] | None = None
    fill: int | float | bool | None = None

    @property
    def type(self) -> TensorType:
        """Its type, with the value where that is known."""
        return TensorType(self.dtype, self.dims, self.value, self.fill)

    @property
    def nbytes(self) -> int:
        """Size in bytes (packed for sub-byte types)."""
        count = 1
        for dim in self.dims:
            count *= dim
        return (count * self.dtype.bits + 7) // 8


@dataclass(frozen=True)
class Node:
    """`outputs = operator(inputs)`; None is an absent optional input.

    `inputs` is padded to the schema's length for operators without variadic inputs; captured
    values of subgraphs follow at the end of an opaque node's inputs.  `outputs` has an entry for
    every output the node declares up to its last used one; unused ones in between keep a name.
    `name` and `index` are those of the source node (`index` -1 for nodes that were made).
    """

    operator: Operator
    attributes: Attributes
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    name: str = field(default="", compare=False)
    index: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Output:
    """A graph output: its public name and the value that it shows."""

    name: str
    value: str


@dataclass(frozen=True)
class Graph:
    """`inputs` are value names whose types stand in `types`; so do those of every other value
    (best known).  `constants` are values known now."""

    inputs: tuple[str, ...]
    constants: Mapping[str, Constant]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    types: Mapping[str, Type]
    opsets: Mapping[str, int]
    source: Any = field(compare=False, repr=False)

    def type_of(self, name: str | None) -> Type:
        """The type of a value, with its content where that is known; ABSENT for None, UNDECLARED
        where nothing is known."""
        if name is None:
            return ABSENT
        constant = self.constants.get(name)
        return self.types.get(name, UNDECLARED) if constant is None else constant.type
