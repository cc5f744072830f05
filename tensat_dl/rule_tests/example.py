"""The graph of a test.

Enters: a checked program and a test.  Leaves: an :class:`Example`: the graph of what is given, and
the nodes of the terms that are claimed, which no rule sees.  Raises Unwritable where a statement
has no type.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.egraph.interning import Analysis
from tensat_dl.egraph.lowering import LoweredNode, Unwritable, Written, write_out
from tensat_dl.egraph.typing import Refusal, Scope
from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.model import Constant, Graph, Node, Output
from tensat_dl.graph.stored import numpy_type
from tensat_dl.language.evaluate import Environment
from tensat_dl.language.program import CheckedProgram, Claim, Emit, TestCase, TestValue
from tensat_dl.language.values import Value
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dims, dtypes
from tensat_dl.vocabulary.catalog import versions_of
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

#: Integer weights are below this: small enough to be indices, axes and sizes.
_INTEGERS = 4
#: Elements of all weights together: they are drawn, and held in memory.
_MOST_ELEMENTS = 1 << 27


@dataclass(frozen=True)
class Term:
    """One claimed statement: its nodes, and the names of its results."""

    nodes: tuple[LoweredNode, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """`given`: name in the test -> value of the graph.  `terms` are those of the claims, in order,
    over `constants` and the graph's values."""

    graph: Graph
    given: Mapping[str, str]
    terms: tuple[Term, ...]
    constants: Mapping[str, Constant]


def build_example(
    program: CheckedProgram, case: TestCase, claims: Sequence[Claim], *, together: bool = False
) -> Example:
    """The graph of a test and the terms of `claims`; with `together` they are part of the graph."""
    types = {value.name: _type(value) for value in case.values}
    _check_sizes(case, types)
    weights = {v.name: _weight(v.name, types[v.name]) for v in case.values if v.weight}
    tensors = {v.name: _analysis(v, types, weights) for v in case.values}
    claimed = [emit for claim in claims for emit in claim.emits]
    written = write_out(program, _scope(program, tensors), case.given, claimed)
    count = len(case.given)
    terms = tuple(
        Term(nodes, refs)
        for nodes, refs in zip(written.nodes[count:], written.refs[count:], strict=True)
    )
    graph = _graph(program, written, types, weights, len(written.nodes) if together else count)
    given = {**{name: name for name in types}, **_named(case.given, written.refs)}
    return Example(graph, given, terms, written.constants)


def _type(value: TestValue) -> TensorType:
    dtype = dtypes.from_name(value.type.dtype)
    assert dtype is not None and value.type.dims is not None, "the checker holds this"
    return TensorType(dtype, tuple(_dim(dim) for dim in value.type.dims))


def _dim(expr: ast.Expr) -> Dim:
    match expr:
        case ast.Number(value=int() as size):
            return size
        case ast.Name(text):
            return dims.symbol(text)
    raise TypeError("a dim of a test is a number or a name; the checker holds this")


def _check_sizes(case: TestCase, types: Mapping[str, TensorType]) -> None:
    left = _MOST_ELEMENTS
    for value in case.values:
        if value.weight:
            count = math.prod(d for d in types[value.name].dims or () if isinstance(d, int))
            left -= count
            if left < 0:
                raise Unwritable(
                    Refusal(
                        f"the weight `{value.name}` has {count:,} elements; those of a test "
                        f"may have {_MOST_ELEMENTS:,} together"
                    ),
                    value.span,
                    "too large",
                )


def _weight(name: str, type_: TensorType) -> Constant:
    """Content that depends on the name alone, so that a test never changes by itself."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    shape = [size for size in type_.dims or () if isinstance(size, int)]
    target = numpy_type(type_.dtype)
    if type_.dtype is DType.STRING:
        return constant_of_array(generator.integers(0, _INTEGERS, shape).astype(str).astype(object))
    if target.kind in "iub":
        drawn = generator.integers(0, 2 if target.kind == "b" else _INTEGERS, shape)
        return constant_of_array(drawn.astype(target))
    return constant_of_array(generator.standard_normal(shape).astype(target))


def _analysis(
    value: TestValue, types: Mapping[str, TensorType], weights: Mapping[str, Constant]
) -> Analysis:
    if value.weight:
        return Analysis(weights[value.name].type, True)
    return Analysis(types[value.name], False)


def _scope(program: CheckedProgram, tensors: dict[str, Analysis]) -> Scope:
    names: dict[str, Value] = {name: analysis.type for name, analysis in tensors.items()}
    for analysis in tensors.values():
        assert isinstance(analysis.type, TensorType)
        sizes = [d for d in analysis.type.dims or () if isinstance(d, dims.SymbolicDim)]
        names.update({str(size): size for size in sizes})
    return Scope(Environment(names, program.functions), dict(tensors), {})


def _named(given: Sequence[Emit], refs: Sequence[tuple[str, ...]]) -> dict[str, str]:
    pairs = zip(given, refs, strict=False)
    return {n: r for emit, names in pairs for n, r in zip(emit.targets, names, strict=True)}


def _graph(
    program: CheckedProgram,
    written: Written,
    types: Mapping[str, TensorType],
    weights: Mapping[str, Constant],
    statements: int,
) -> Graph:
    """The graph of the first statements; everything that they assign is an output."""
    nodes = tuple(
        Node(n.application.operator, n.application.attributes, n.inputs, n.outputs)
        for statement in written.nodes[:statements]
        for n in statement
    )
    results = tuple(dict.fromkeys(ref for refs in written.refs[:statements] for ref in refs))
    used = {*results, *(name for node in nodes for name in node.inputs)}
    constants = {name: c for name, c in written.constants.items() if name in used}
    made = {name for node in nodes for name in node.outputs}
    return Graph(
        inputs=tuple(name for name in types if name not in weights),
        constants={**weights, **constants},
        nodes=nodes,
        outputs=tuple(Output(ref, ref) for ref in results),
        types={**{n: t for n, t in written.types.items() if n in made}, **types},
        opsets={**program.domains, "": versions_of(node.operator for node in nodes)[""]},
        source=None,
    )
