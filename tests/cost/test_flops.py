"""FLOPs by operator, against counts worked out by hand or by brute force."""

import itertools
import math

import numpy as np
import pytest

from tensat_dl.cost.flops import DATA_MOVEMENT, FORMULAS, UNCOUNTED, flops
from tensat_dl.cost.shapes import NOTHING, UNKNOWN, Shapes, Tensor
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.operators import Operator


def op(name: str) -> Operator:
    operator = catalog.operator(name)
    assert operator is not None
    return operator


def count(
    name: str,
    inputs: list[tuple[int, ...] | None],
    *outputs: tuple[int, ...],
    **attributes: AttributeValue,
) -> float:
    """FLOPs of `name` at these dims; None is a missing input."""
    operands = tuple(NOTHING if dims is None else Tensor(dims) for dims in inputs)
    return flops(op(name), Shapes(operands, tuple(Tensor(dims) for dims in outputs), attributes))


def multiplications_of_conv(x: np.ndarray, w: np.ndarray, groups: int, stride: int) -> int:
    """Count the multiplications of a 2-d convolution without pads, one by one."""
    batch, channels, height, width = x.shape
    filters, per_group, kh, kw = w.shape
    assert channels == per_group * groups
    rows, columns = (height - kh) // stride + 1, (width - kw) // stride + 1
    total = 0
    for _ in itertools.product(range(batch), range(filters), range(rows), range(columns)):
        total += per_group * kh * kw
    return total


@pytest.mark.parametrize(("groups", "stride"), [(1, 1), (1, 2), (2, 1), (6, 2)])
def test_convolution_counts_each_multiplication_twice(groups: int, stride: int) -> None:
    x, w = np.zeros((2, 6, 9, 8)), np.zeros((12, 6 // groups, 3, 2))
    products = multiplications_of_conv(x, w, groups, stride)
    y = (2, 12, (9 - 3) // stride + 1, (8 - 2) // stride + 1)
    assert count("Conv", [x.shape, w.shape], y, group=groups) == 2 * products
    assert count("Conv", [x.shape, w.shape, (12,)], y, group=groups) == 2 * products + math.prod(y)


def test_first_convolution_of_resnet50() -> None:
    # 118,013,952 multiply-adds: the figure every published table gives for this layer.
    inputs: list[tuple[int, ...] | None] = [(1, 3, 224, 224), (64, 3, 7, 7)]
    assert count("Conv", inputs, (1, 64, 112, 112)) == 2 * 118_013_952


def test_transposed_convolution_spreads_each_input_element() -> None:
    # 2*3*5*5 inputs, each times 4 output channels of a 2x2 kernel.
    inputs: list[tuple[int, ...] | None] = [(2, 3, 5, 5), (3, 4, 2, 2)]
    assert count("ConvTranspose", inputs, (2, 4, 10, 10)) == 2 * (2 * 3 * 5 * 5) * (4 * 2 * 2)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 4), (4, 5)),
        ((7, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
    ],
)
def test_matrix_product_with_broadcast_batches(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    y = np.matmul(np.zeros(a), np.zeros(b))
    assert count("MatMul", [a, b], y.shape) == 2 * y.size * 4


def test_gemm() -> None:
    # A' is 3x4, B 4x5: 60 multiply-adds; alpha scales 15; beta scales the 5 of C; adding C: 15.
    inputs: list[tuple[int, ...] | None] = [(4, 3), (4, 5), (5,)]
    assert count("Gemm", inputs, (3, 5), transA=1) == 120 + 15
    assert count("Gemm", inputs, (3, 5), transA=1, alpha=0.5, beta=2.0) == 120 + 15 + 15 + 5
    assert count("Gemm", [(3, 4), (4, 5), None], (3, 5)) == 120


@pytest.mark.parametrize(
    ("equation", "inputs", "output", "expected"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)], (3, 5), 2 * 3 * 4 * 5),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), 2 * 2 * 3 * 4 * 5),
        ("i,j->ij", [(3,), (4,)], (3, 4), 3 * 4),
        ("ij->ji", [(3, 4)], (4, 3), 0),
        ("ij->i", [(3, 4)], (3,), 3 * 4),
        ("...ij,...jk->...ik", [(7, 2, 3, 4), (2, 4, 5)], (7, 2, 3, 5), 2 * 7 * 2 * 3 * 4 * 5),
        ("ij, jk", [(3, 4), (4, 5)], (3, 5), 2 * 3 * 4 * 5),
        ("i,j", [(3,), (4,)], (3, 4), 3 * 4),
        ("...i,...i->...i", [(2, 3), (5, 2, 3)], (5, 2, 3), 5 * 2 * 3),
        ("...i", [(5, 2, 3)], (5, 2, 3), 0),
    ],
)
def test_einsum_counts_its_index_space(
    equation: str, inputs: list[tuple[int, ...] | None], output: tuple[int, ...], expected: int
) -> None:
    assert count("Einsum", inputs, output, equation=equation) == expected


def test_attention_is_two_products_and_a_softmax() -> None:
    batch, heads, queries, keys, size = 2, 3, 5, 7, 4
    q, k = (batch, heads, queries, size), (batch, heads, keys, size)
    products = 2 * (2 * batch * heads * queries * keys * size)
    scores = batch * heads * queries * keys
    attention = catalog.opaque("", "Attention", 23)
    shapes = Shapes((Tensor(q), Tensor(k), Tensor(k)), (Tensor(q),), {})
    assert flops(attention, shapes) == products + scores * (1 + 5)
    flat_q, flat_k = (batch, queries, heads * size), (batch, keys, heads * size)
    flat = Shapes((Tensor(flat_q), Tensor(flat_k), Tensor(flat_k)), (Tensor(flat_q),), {})
    flat = Shapes(flat.inputs, flat.outputs, {"q_num_heads": heads})
    assert flops(attention, flat) == products + scores * (1 + 5)


def test_pools() -> None:
    assert count("MaxPool", [(1, 2, 8, 8)], (1, 2, 4, 4), kernel_shape=(3, 2)) == 32 * 6
    assert count("AveragePool", [(1, 2, 8, 8)], (1, 2, 4, 4), kernel_shape=(2, 2)) == 32 * 4
    assert count("GlobalAveragePool", [(1, 2, 8, 8)], (1, 2, 1, 1)) == 128


def test_softmax_and_norms() -> None:
    assert count("Softmax", [(4, 10)], (4, 10)) == 5 * 40
    assert count("LayerNormalization", [(4, 10), (10,), (10,)], (4, 10)) == 7 * 40
    assert count("LayerNormalization", [(4, 10), (10,)], (4, 10)) == 6 * 40
    channel = (3,)
    norm = count("BatchNormalization", [(2, 3, 5, 5), *[channel] * 4], (2, 3, 5, 5))
    assert norm == 2 * 150 + 5 * 3


def lstm_cells(steps: int, batch: int, size: int, hidden: int, *, bias: bool) -> int:
    """Operations of an LSTM, counted step by step from its equations."""
    total = 0
    for _ in range(steps * batch):
        for gate in ("i", "o", "f", "c"):
            product = 2 * size * hidden + 2 * hidden * hidden + hidden
            activation = (1 if gate == "c" else 4) * hidden
            total += product + activation + (hidden if bias else 0)
        total += 3 * hidden  # f * c + i * c'
        total += 2 * hidden  # o * tanh(c)
    return total


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("bias", [False, True])
def test_lstm(directions: int, bias: bool) -> None:
    steps, batch, size, hidden = 5, 2, 3, 4
    inputs: list[tuple[int, ...] | None] = [
        (steps, batch, size),
        (directions, 4 * hidden, size),
        (directions, 4 * hidden, hidden),
        (directions, 8 * hidden) if bias else None,
    ]
    expected = directions * lstm_cells(steps, batch, size, hidden, bias=bias)
    assert count("LSTM", inputs, (steps, directions, batch, hidden)) == expected


def test_gru_and_rnn() -> None:
    # One step, one unit, one feature: each gate is 2 products of 2 operations and their sum.
    unit: list[tuple[int, ...] | None] = [(1, 1, 1), (1, 3, 1), (1, 3, 1)]
    assert count("GRU", unit, (1, 1, 1, 1)) == 3 * 5 + 2 * 4 + 1 + 1 + 4
    unit = [(1, 1, 1), (1, 1, 1), (1, 1, 1)]
    assert count("RNN", unit, (1, 1, 1, 1)) == 5 + 1


@pytest.mark.parametrize(
    ("name", "per_element"),
    [("Add", 1), ("Relu", 1), ("Sigmoid", 4), ("Tanh", 1), ("Clip", 2), ("Gelu", 5)],
)
def test_elementwise(name: str, per_element: int) -> None:
    assert count(name, [(3, 4)], (3, 4)) == 12 * per_element


def test_elementwise_follows_the_broadcast_output() -> None:
    assert count("Add", [(3, 1), (1, 4)], (3, 4)) == 12


def test_sum_of_n() -> None:
    assert count("Sum", [(3,), (3,), (3,)], (3,)) == 6
    assert count("Mean", [(3,), (3,), (3,)], (3,)) == 9
    assert count("Max", [(3,)], (3,)) == 0


def test_reductions() -> None:
    assert count("ReduceSum", [(3, 4)], (3,)) == 12
    assert count("ReduceMean", [(3, 4)], (3,)) == 12 + 3
    assert count("ReduceL2", [(3, 4)], (3,)) == 2 * 12 + 3
    assert count("ArgMax", [(3, 4)], (3,)) == 12


def test_moving_data_is_no_arithmetic() -> None:
    assert count("Transpose", [(3, 4)], (4, 3)) == 0
    assert count("Reshape", [(3, 4), (1,)], (12,)) == 0
    assert count("Concat", [(3, 4), (3, 4)], (6, 4)) == 0


def test_resize() -> None:
    assert count("Resize", [(1, 2, 4, 4)], (1, 2, 8, 8), mode="nearest") == 0
    assert count("Resize", [(1, 2, 4, 4)], (1, 2, 8, 8), mode="linear") == 3 * 2 * 128


def test_unknown_operators_and_ranks_count_their_outputs() -> None:
    foreign = catalog.opaque("com.acme", "Fused", 1)
    assert flops(foreign, Shapes((Tensor((5,)),), (Tensor((3, 4)),), {})) == 12
    assert flops(op("MatMul"), Shapes((UNKNOWN, Tensor((4, 5))), (UNKNOWN,), {})) == 0


def test_every_operator_of_the_vocabulary_is_accounted_for() -> None:
    known = set(FORMULAS) | DATA_MOVEMENT | UNCOUNTED
    assert set(catalog.names()) - known == set()
    assert not (set(FORMULAS) & DATA_MOVEMENT)
    assert not (set(FORMULAS) & UNCOUNTED)


@pytest.mark.parametrize("name", catalog.names())
def test_no_formula_fails_on_unknown_or_empty_tensors(name: str) -> None:
    operator = op(name)
    unknown = Shapes((UNKNOWN,) * 6, (UNKNOWN,), {})
    empty = Shapes((Tensor((0, 0, 0, 0)),) * 4, (Tensor((0, 0, 0, 0)),), {})
    assert flops(operator, unknown) == 0
    if name not in ("RNN", "GRU", "LSTM"):
        assert 0 <= flops(operator, empty) < math.inf
