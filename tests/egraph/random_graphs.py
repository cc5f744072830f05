"""Random small graphs and a set of sound rules, against onnxruntime.

    python tests/egraph/random_graphs.py [FIRST [COUNT]]

runs the cases FIRST, FIRST + 1, ... and stops at the first that fails.  A case is a graph over a
handful of operators, drawn from its number.  What must hold: the exploration ends, the answer
verifies and is not dearer under each cost model, and *any* acyclic selection of the explored
e-graph computes what the graph computes.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from line import Line, explore, load
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.export import export_graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.verifying.verify import verify
from tensat_dl.graph.writing.write import build_source
from tensat_dl.settings import ModelSettings, VerifySettings

RULES = """
@real rewrite add_assoc: Add(Add(a, b), c) <=> Add(a, Add(b, c))
rewrite relu_relu: Relu(Relu(x)) => Relu(x)
rewrite transpose_twice: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(p, q))
rewrite transpose_none: Transpose(x, perm=p) => x where p == range(rank(x))
class Pointwise = Relu | Neg
rewrite pointwise_transpose for F in Pointwise: F(Transpose(x, perm=p)) <=> Transpose(F(x), perm=p)
rewrite pointwise_reshape for F in Pointwise: F(Reshape(x, s)) <=> Reshape(F(x), s)
rewrite pointwise_concat for F in Pointwise: Concat(*F(xs), axis=k) <=> F(Concat(*xs, axis=k))
class Binary = Add | Mul
rewrite binary_transpose for F in Binary:
  F(Transpose(a: T[*B], perm=p), Transpose(b: T[*B], perm=p)) <=> Transpose(F(a, b), perm=p)
@real rewrite distribute: MatMul(Add(a: T[*B, M, K], b: T[*B, M, K]), c: T[K, N])
  <=> Add(MatMul(a, c), MatMul(b, c))
@real rewrite matmul_assoc: MatMul(MatMul(a, b), c) <=> MatMul(a, MatMul(b, c))
  where rank(a) == 2, rank(b) == 2, rank(c) == 2
rewrite matmul_transpose: Transpose(MatMul(a: T[M, K], b: T[K, N]), perm=[1, 0])
  <=> MatMul(Transpose(b, perm=[1, 0]), Transpose(a, perm=[1, 0]))
rewrite reshape_twice: Reshape(Reshape(x, s), t) => Reshape(x, t) where known(t), 0 not in value(t)
rewrite concat_flat: Concat(Concat(*xs, axis=k), *ys, axis=k) => Concat(*xs, *ys, axis=k)
rule concat_of_split {
  match { a, b = Split(x, s, axis=k)  y = Concat(a, b, axis=k) }
  emit { y = x }
}
@real rewrite neg_conv: Conv(Neg(x), w, b?, **o) => Conv(x, Neg(w), b?, **o) where weight(w)
@real rewrite conv_add: Add(Conv(x, w, **o), Conv(z, w, **o))
  <=> Conv(Add(x: T[*B], z: T[*B]), w, **o)
rule split_relu {
  match { a, b = Split(x, s, axis=k)  y = Relu(a)  z = Relu(b) }
  emit { all = Relu(x)  y, z = Split(all, s, axis=k) }
}
rule concat_split {
  match { a, b = Split(Concat(p, q, axis=k), s, axis=k) }
  where value(s) == [dim(p, k), dim(q, k)]
  emit { a = p  b = q }
}
rule merge_pairs {
  match { y1 = MatMul(x, w1: T[K, N1])  y2 = MatMul(x, w2: T[K, N2]) }
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
rule merge_all {
  match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
  where weight(w)
  emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=-1) }
}
rule merge_convolutions {
  match each (y, w, C) by (x) { y = Conv(x, w: T[C, I, H, W], **o) }
  where weight(w)
  emit { *y = Split(Conv(x, Concat(*w, axis=0), **o), i64([*C]), axis=1) }
}
"""

Dims = tuple[int, ...]


@dataclass
class Draw:
    """Grows a graph: `pool` are the tensors so far, each with its dims."""

    random: random.Random
    pool: dict[str, Dims] = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)

    def pick(self, fits: Callable[[Dims], bool]) -> str | None:
        """A tensor that fits, rather a late one than an early one."""
        names = [name for name, dims in self.pool.items() if fits(dims)]
        return self.random.choice(names[-self.random.randint(1, len(names)) :]) if names else None

    def weight(self, dims: Dims) -> str:
        """A weight of these dims, old or new."""
        known = [t.name for t in self.weights if tuple(t.dims) == dims and t.data_type == 1]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        values = np.random.default_rng(len(self.weights)).standard_normal(dims)
        return self.constant(values.astype(np.float32))

    def constant(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op_type: str, inputs: list[str], *dims: Dims, **attributes: object) -> None:
        names = [f"t{len(self.pool) + i}" for i in range(len(dims))]
        self.nodes.append(helper.make_node(op_type, inputs, names, **attributes))
        self.pool.update(zip(names, dims, strict=True))

    # --- one method an operator -----------------------------------------------------------------

    def unary(self) -> None:
        x = self.pick(lambda dims: True)
        assert x is not None
        self.node(self.random.choice(["Relu", "Neg"]), [x], self.pool[x])

    def binary(self) -> None:
        a = self.pick(lambda dims: True)
        assert a is not None
        b = self.pick(lambda dims: dims == self.pool[a]) or a
        self.node(self.random.choice(["Add", "Mul"]), [a, b], self.pool[a])

    def matmul(self) -> None:
        a = self.pick(lambda dims: len(dims) == 2)
        if a is None:
            return
        rows, inner = self.pool[a]
        b = self.pick(lambda dims: len(dims) == 2 and dims[0] == inner)
        if b is None or self.random.random() < 0.6:
            columns = self.random.choice([2, 4])
            self.node("MatMul", [a, self.weight((inner, columns))], (rows, columns))
        else:
            self.node("MatMul", [a, b], (rows, self.pool[b][1]))

    def transpose(self) -> None:
        x = self.pick(lambda dims: True)
        assert x is not None
        perm = list(range(len(self.pool[x])))
        self.random.shuffle(perm)
        self.node("Transpose", [x], tuple(self.pool[x][p] for p in perm), perm=perm)

    def concat(self) -> None:
        a = self.pick(lambda dims: max(dims) <= 8)
        if a is None:
            return
        axis, dims = self.random.randrange(len(self.pool[a])), self.pool[a]
        others = [n for n, d in self.pool.items() if _agree(d, dims, axis) and max(d) <= 8]
        chosen = [a, *self.random.choices(others, k=self.random.choice([1, 1, 2]))]
        total = sum(self.pool[name][axis] for name in chosen)
        made = (*dims[:axis], total, *dims[axis + 1 :])
        self.node("Concat", chosen, made, axis=axis)

    def split(self) -> None:
        x = self.pick(lambda dims: max(dims) >= 2)
        if x is None:
            return
        dims = self.pool[x]
        axis = self.random.choice([i for i, d in enumerate(dims) if d >= 2])
        first = self.random.randint(1, dims[axis] - 1)
        sizes = self.constant(np.array([first, dims[axis] - first]))
        made = [(*dims[:axis], n, *dims[axis + 1 :]) for n in (first, dims[axis] - first)]
        self.node("Split", [x, sizes], *made, axis=axis)
        self.join(list(self.pool)[-2:], dims, axis)

    def join(self, halves: list[str], dims: Dims, axis: int) -> None:
        """Sometimes both halves get a Relu, or are put together again, so that rules apply."""
        kind = self.random.choice(["Relu", "Concat", "nothing"])
        if kind == "Relu":
            for half in halves:
                self.node("Relu", [half], self.pool[half])
        elif kind == "Concat":
            self.node("Concat", halves, dims, axis=axis)

    def reshape(self) -> None:
        x = self.pick(lambda dims: True)
        assert x is not None
        size = int(np.prod(self.pool[x]))
        first = self.random.choice([n for n in range(1, size + 1) if size % n == 0])
        dims = self.random.choice([(first, size // first), (1, first, size // first), (size,)])
        self.node("Reshape", [x, self.constant(np.array(dims))], dims)

    def convolution(self) -> None:
        x = self.pick(lambda dims: len(dims) == 4 and dims[2] >= 2 and dims[3] >= 2)
        if x is None:
            return
        batch, channels, height, width = self.pool[x]
        out, stride = self.random.choice([1, 2]), self.random.choice([1, 1, 2])
        made = (batch, out, (height - 2) // stride + 1, (width - 2) // stride + 1)
        weight = self.weight((out, channels, 2, 2))
        self.node("Conv", [x, weight], made, strides=[stride, stride])


def _agree(a: Dims, b: Dims, axis: int) -> bool:
    return len(a) == len(b) and all(
        i == axis or m == n for i, (m, n) in enumerate(zip(a, b, strict=True))
    )


def random_graph(seed: int) -> onnx.ModelProto:
    """The graph of a case: up to 20 nodes of a few operators; what nothing reads is an output."""
    draw = Draw(random.Random(seed))
    draw.pool = {"x": (2, 4), "z": (4, 4), "v": (1, 2, 4, 4)}
    inputs = dict(draw.pool)
    methods = [
        *[draw.unary, draw.binary, draw.matmul, draw.matmul, draw.transpose],
        *[draw.concat, draw.split, draw.reshape, draw.convolution],
    ]
    few = draw.random.sample(methods, 4)
    for _ in range(draw.random.randint(8, 20)):
        draw.random.choice(few)()
    read = {name for node in draw.nodes for name in node.input}
    outputs = {n: d for n, d in draw.pool.items() if n not in read and n not in inputs}
    graph = helper.make_graph(
        draw.nodes, f"case {seed}", _infos(inputs), _infos(outputs), draw.weights
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(proto)
    return proto


def _infos(values: Mapping[str, Dims]) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in values.items()]


def random_selection(saturated: Saturated, seed: int) -> dict[int, ENode]:
    """An e-node for each class that can have one: each after its children, so acyclic."""
    draw = random.Random(seed)
    nodes = list(saturated.nodes)
    draw.shuffle(nodes)
    chosen: dict[int, ENode] = {}
    grown = True
    while grown:
        grown = False
        for node in nodes:
            if node.eclass not in chosen and all(child in chosen for child in node.children):
                chosen[node.eclass] = node
                grown = True
    return chosen


def check_selections(proto: onnx.ModelProto, seed: int, rules: str = RULES, count: int = 3) -> None:
    """Random selections of the explored e-graph compute what the graph computes."""
    policy = ("check", "allow", "prune")[seed % 3]
    saturated = explore(rules, proto, enodes=1500, seconds=10, cycles=policy)
    graph, program = read_model(proto, ModelSettings()), load(rules)
    for number in range(count):
        chosen = random_selection(saturated, seed * 1000 + number)
        other = build_source(export_graph(graph, saturated, chosen, program))
        verification = verify(graph.source, other, VerifySettings(samples=2))
        assert verification.ok, (seed, number, verification)


def check_answers(proto: onnx.ModelProto, line: Line) -> None:
    """The answer verifies (the line holds that) and is not dearer."""
    for cost in ("nodes", "roofline"):
        outcome = line(RULES, proto, cost=cost, enodes=800, seconds=10, method="greedy-dag").outcome
        assert outcome.cost_after <= outcome.cost_before
        assert outcome.exploration.stopped_by in ("saturated", "enodes")
        assert outcome.exploration.warnings == () or outcome.exploration.stopped_by == "enodes"


def main(first: int, count: int) -> None:
    """The command."""
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(first, first + count):
            proto = random_graph(seed)
            print(f"case {seed}: {len(proto.graph.node)} nodes", flush=True)
            check_selections(proto, seed)
            check_answers(proto, Line(Path(directory)))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:3]]
    main(*[*numbers, *[0, 100][len(numbers) :]])
