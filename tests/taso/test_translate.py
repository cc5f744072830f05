"""What operators of TASO become, and what is left out and why; all that is written checks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from wire import node, substitution

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_text
from tensat_dl.taso.codes import Operator, Parameter
from tensat_dl.taso.compose import RuleFile, compose
from tensat_dl.taso.read import Node, Substitution, Tensor

CONV, MAX, RELU, TANH, CONCAT, SPLIT = 3, 6, 8, 10, 12, 13
TRANSPOSE, ADD, MULTIPLY, MATMUL, SCALE, ENLARGE, MERGE = 15, 16, 17, 18, 19, 20, 21


def conv(x: int, w: int, *, kernel: int = 3, stride: int = 1, pad: int = 0, act: int = 0) -> Node:
    """`pad`: 0 for SAME, 1 for VALID."""
    parameters = {4: kernel, 5: kernel, 6: stride, 7: stride, 8: pad, 9: act}
    return node(CONV, x, w, parameters=parameters)


def concat(*inputs: int, axis: int, rank: int) -> Node:
    return node(CONCAT, *inputs, parameters={1: len(inputs), 11: axis, 10: rank})


def text_of(*found: Substitution) -> str:
    """The rules alone, on one line each; checked."""
    file = compose(found, "f.pb")
    assert file.missing == ()
    checked(file)
    return " ".join(file.text.partition("## Substitution 0.")[2].split())


def checked(file: RuleFile) -> None:
    diagnostics = Diagnostics()
    program = load_text(file.text, "f.tsat", diagnostics)
    assert not diagnostics.has_errors, (list(diagnostics), file.text)
    assert program is not None
    assert len(program.rules) == file.rules


def reason(found: Substitution) -> str:
    file = compose([found], "f.pb")
    checked(file)
    assert file.rules == 0
    assert f"# Substitution 0 is not expressed: {file.missing[0][1]}." in file.text
    return file.missing[0][1]


def test_elementwise_operators_have_no_rank() -> None:
    found = substitution([node(ADD, -1, -2), node(TANH, 0)], [node(ADD, -2, -1), node(TANH, 0)])
    assert text_of(found) == "@real rewrite taso_0: Tanh(Add(a, b)) => Tanh(Add(b, a))"


def test_products_are_of_one_rank_and_batch() -> None:
    found = substitution(
        [node(MATMUL, -1, -2, parameters={9: 0}), node(MATMUL, 0, -3, parameters={9: 0})],
        [node(MATMUL, -2, -3, parameters={9: 0}), node(MATMUL, -1, 0, parameters={9: 0})],
    )
    assert text_of(found) == (
        "@real rewrite taso_0: MatMul(MatMul(a: _[*B1, _, _], b: _[*B1, _, _]), c: _[*B1, _, _]) "
        "=> MatMul(a, MatMul(b, c))"
    )


def test_a_convolution_has_its_kernel_its_padding_and_any_groups() -> None:
    found = substitution([conv(-1, -2, act=2)], [conv(-1, -2), node(RELU, 0)])
    assert text_of(found) == (
        "@real rewrite taso_0: ConvRelu(a: _[_, _, _, _], b: _[_, _, 3, 3], group=_, "
        "pads=[1, 1, 1, 1]) => Relu(Conv(a, b, group=(dim(a, 1)) // (dim(b, 1)), "
        "pads=[1, 1, 1, 1]))"
    )
    strided = conv(-1, -2, kernel=5, stride=2, pad=1)
    found = substitution([strided], [strided])
    assert "Conv(a: _[_, _, _, _], b: _[_, _, 5, 5], group=_, strides=[2, 2])" in text_of(found)


def test_a_split_is_where_it_was_joined() -> None:
    found = substitution(
        [node(RELU, -1), node(RELU, -2)],
        [concat(-1, -2, axis=1, rank=2), node(RELU, 0), node(SPLIT, 1, parameters={2: 2, 11: 1})],
        (0, (2, 0)),
        (1, (2, 1)),
    )
    assert text_of(found) == (
        "@real rule taso_0 { match { y1 = Relu(a: _[_, _]) y2 = Relu(b: _[_, _]) } emit { "
        "y1, y2 = Split(Relu(Concat(a, b, axis=1)), i64([dim(a, 1), dim(b, 1)]), axis=1) } }"
    )


def test_what_is_read_twice_has_a_name() -> None:
    found = substitution(
        [node(ADD, -1, -2), node(MULTIPLY, 0, 0)], [node(ADD, -2, -1), node(MULTIPLY, 0, 0)]
    )
    assert text_of(found) == (
        "@real rule taso_0 { match { t1_0 = Add(a, b) y1 = Mul(t1_0, t1_0) } "
        "emit { u1_0 = Add(b, a) y1 = Mul(u1_0, u1_0) } }"
    )


def test_transposition_scale_pooling_and_enlarged_kernels() -> None:
    turned = node(TRANSPOSE, -1, parameters={10: 3, 12: 2 * 9 + 0 * 3 + 1, 13: 0})
    again = node(TRANSPOSE, 0, parameters={10: 3, 12: 1 * 9 + 2 * 3 + 0, 13: 0})
    assert "Transpose(Transpose(a: _[_, _, _], perm=[2, 0, 1]), perm=[1, 2, 0]) => a" in text_of(
        substitution([turned, again], [], (1, -1))
    )
    scaled = substitution(
        [node(SCALE, -1, -2), node(RELU, 0)], [node(SCALE, -1, -2), node(RELU, 0)]
    )
    assert "Relu(Mul(a, b: _[]))" in text_of(scaled)
    pool = node(MAX, -1, parameters={4: 3, 5: 3, 6: 1, 7: 1, 8: 0, 9: 0})
    assert "MaxPool(a: _[_, _, _, _], kernel_shape=[3, 3], pads=[1, 1, 1, 1])" in text_of(
        substitution([pool], [pool])
    )
    enlarged = node(ENLARGE, -2, parameters={4: 3, 5: 3})
    found = substitution([conv(-1, -2, kernel=1)], [enlarged, conv(-1, 0)])
    assert "Pad( b, i64( [ 0, 0, (3 - (dim(b, 2))) // 2, (3 - (dim(b, 3))) // 2, 0, 0, " in text_of(
        found
    )


def test_an_output_may_be_a_variable_and_one_tensor_two_outputs() -> None:
    found = substitution([node(RELU, -1), node(TANH, -1)], [node(TANH, -1)], (0, 0), (1, 0))
    assert text_of(found).endswith("emit { u1_0 = Tanh(a) y1 = u1_0 y2 = u1_0 } }")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (substitution([], [], (0, 0)), "not there"),
        (Substitution((node(RELU, -1),), (), ()), "maps no output"),
        (substitution([node(99, -1)], [node(RELU, -1)]), "the operator 99 is not known"),
        (substitution([node(MERGE, -1)], [node(RELU, -1)]), "MERGE_GCONV"),
        (substitution([node(RELU, -1, -2)], [node(RELU, -1)]), "RELU has 2 inputs"),
        (substitution([node(RELU, 0)], [node(RELU, -1)]), "comes later"),
        (substitution([node(RELU, (-1, 1))], [node(RELU, -1)]), "no output 1"),
        (substitution([node(RELU, -1)], [node(RELU, -2)]), "does not have"),
        (substitution([node(RELU, -1), node(TANH, -1)], [node(RELU, -1)], (0, 0)), "neither"),
        (substitution([node(RELU, -1)], [node(RELU, -1)], (-1, 0)), "not one output"),
        (substitution([node(RELU, -1)], [node(RELU, -1)], (0, 0), (0, 0)), "not one output"),
        (substitution([conv(-1, -2, stride=2)], [conv(-1, -2)]), "size of the image"),
        (substitution([conv(-1, -2, act=7)], [conv(-1, -2)]), "activation 7"),
        (substitution([conv(-1, -2, kernel=0)], [conv(-1, -2)]), "KERNEL_H of CONV2D is 0"),
        (substitution([node(CONV, -1, -2)], [conv(-1, -2)]), "KERNEL_H of CONV2D is None"),
        (substitution([concat(-1, -2, axis=2, rank=2)], [node(ADD, -1, -2)]), "no axis 2"),
        (
            substitution([conv(-1, -2), node(MATMUL, 0, -3), concat(1, -3, axis=0, rank=2)], []),
            "ranks",
        ),
        (substitution([node(SPLIT, -1, parameters={2: 2, 11: 0}), node(ADD, 0, (0, 1))],
                      [node(RELU, -1)]), "splits"),
        (substitution([node(RELU, -1)], [node(SPLIT, -1, parameters={2: 2, 11: 0})]), "is split"),
        (substitution([node(RELU, -1)] + [node(RELU, n) for n in range(50)], [node(RELU, -1)]),
         "51 operators"),
        (substitution([conv(-1, -2), conv(0, -2, kernel=1)], [conv(-1, -2)]), "two sizes"),
        (substitution([node(ENLARGE, -1, parameters={4: 3, 5: 3})], [node(RELU, -1)]), "matched"),
        (substitution([node(TRANSPOSE, -1, parameters={10: 2, 12: 3})], [node(RELU, -1)]), "PERM"),
    ],
)  # fmt: skip
def test_what_is_not_expressed_stands_there_with_its_reason(found: Substitution, why: str) -> None:
    assert why in reason(found)


def test_a_name_of_a_file_cannot_break_the_text() -> None:
    checked(compose([], "a\nrewrite b: Relu(x) => x\n.pb"))


_TENSORS = st.builds(Tensor, st.integers(-4, 4), st.sampled_from([0, 0, 0, 1]))
_PARAMETERS = st.fixed_dictionaries(
    {
        Parameter.NUM_INPUTS: st.just(2),
        Parameter.NUM_OUTPUTS: st.sampled_from([2, 2, 3]),
        Parameter.KERNEL_H: st.integers(1, 3),
        Parameter.KERNEL_W: st.integers(1, 3),
        Parameter.STRIDE_H: st.sampled_from([1, 1, 2]),
        Parameter.STRIDE_W: st.sampled_from([1, 1, 2]),
        Parameter.PAD: st.integers(0, 1),
        Parameter.ACTI: st.integers(0, 3),
        Parameter.NUMDIM: st.sampled_from([2, 4]),
        Parameter.AXIS: st.integers(0, 1),
        Parameter.PERM: st.sampled_from([1, 2]),
    }
)
_NODES = st.builds(
    lambda kind, inputs, parameters, arity: Node(
        int(kind), tuple(inputs[:arity]), {int(k): v for k, v in parameters.items()}
    ),
    st.sampled_from([k for k in Operator if k not in (Operator.MERGE_GCONV, Operator.ANY)]),
    st.lists(_TENSORS, min_size=2, max_size=2),
    _PARAMETERS,
    st.integers(1, 2),
)


@st.composite
def _sides(draw: st.DrawFn) -> tuple[Node, ...]:
    nodes = []
    for index in range(draw(st.integers(1, 3))):
        found = draw(_NODES)
        inputs = tuple(Tensor(min(t.operator, index - 1), t.output) for t in found.inputs)
        nodes.append(Node(found.kind, inputs, found.parameters))
    return tuple(nodes)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(_sides(), _sides(), st.lists(st.tuples(_TENSORS, _TENSORS), max_size=1))
def test_whatever_a_file_says_the_rules_check(
    left: tuple[Node, ...], right: tuple[Node, ...], more: list[tuple[Tensor, Tensor]]
) -> None:
    last = (Tensor(len(left) - 1, 0), Tensor(len(right) - 1, 0))
    checked(compose([Substitution(left, right, (last, *more))], "f.pb"))
