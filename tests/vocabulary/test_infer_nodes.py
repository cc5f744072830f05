"""Inference against what ONNX's node tests compute: with numbers, with symbols, folded values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from node_cases import NodeCase, node_cases

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.dims import Dim, symbol
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.refine import meet
from tensat_dl.vocabulary.types import TensorType, Type, TypeFault

#: Their dims follow from contents in a way that is not worth repeating here.
DATA_DEPENDENT = {
    "Compress", "ImageDecoder", "NonMaxSuppression", "NonZero", "StringNormalizer", "StringSplit",
    "Unique",
}  # fmt: skip
#: The rank is unknown too.
RANK_UNKNOWN = {"MaxUnpool"}
#: Element types of opset 26 and later, and an input of Attention that came with opset 24.
NEWER = ("unsupported type", "`Attention` takes at most 6 inputs, not 7")


def answers(case: NodeCase) -> tuple[Type, ...] | TypeFault:
    return infer(case.op, case.attributes, case.inputs, len(case.expected))


@pytest.mark.slow
def test_dims_and_values_with_numbers() -> None:
    seen: Counter[str] = Counter()
    for case in node_cases():
        found = answers(case)
        if isinstance(found, TypeFault):
            assert any(text in found.reason for text in NEWER), f"{case.name}: {found.reason}"
            continue
        for type_, expected in zip(found, case.expected, strict=True):
            if expected is None:
                continue
            assert isinstance(type_, TensorType), case.name
            dtype, array = expected
            assert type_.dtype is dtype, case.name
            seen["types"] += 1
            if type_.dims is None:
                assert case.op.name in RANK_UNKNOWN, case.name
                continue
            known = [isinstance(dim, int) for dim in type_.dims]
            assert all(known) or case.op.name in DATA_DEPENDENT, case.name
            sizes = zip(type_.dims, array.shape, known, strict=True)
            assert all(dim == size for dim, size, is_known in sizes if is_known), case.name
            if type_.value is not None:
                seen["values"] += 1
                np.testing.assert_array_equal(
                    np.array(type_.value).reshape(array.shape), array, case.name
                )
    assert seen["types"] > 1000
    assert seen["values"] > 100


def symbolic(case: NodeCase) -> NodeCase:
    """Each dim above 1 of inputs without a value becomes the symbol of that number."""

    def widened(given: Type) -> Type:
        if not isinstance(given, TensorType) or given.value is not None or given.dims is None:
            return given
        sizes = tuple(s if not isinstance(s, int) or s < 2 else symbol(f"d{s}") for s in given.dims)
        return replace(given, dims=sizes)

    inputs = tuple(map(widened, case.inputs))
    given = case.attributes.as_dict()
    return replace(case, inputs=inputs, attributes=canonical_attributes(case.op, given, inputs))


NUMBERS: dict[str, Dim] = {f"d{size}": size for size in range(2, 20000)}

#: What ours completes: no dim of these may stay unknown when only sizes are symbolic.
COMPLETED = {
    "Add", "ArgMax", "AveragePool", "BatchNormalization", "Concat", "Conv", "ConvTranspose",
    "Equal", "Expand", "Flatten", "Gather", "Gemm", "LayerNormalization",
    "MatMul", "MaxPool", "Mul", "PRelu", "Pad", "ReduceMean", "ReduceSum", "Relu", "Reshape",
    "Slice", "Softmax", "Split", "Squeeze", "Tile", "TopK", "Transpose",
    "Unsqueeze", "Where",
}  # fmt: skip


def test_symbols_become_the_numbers() -> None:
    seen: Counter[str] = Counter()
    for original in node_cases():
        case = symbolic(original)
        found, exact = answers(case), answers(original)
        if isinstance(exact, TypeFault) or case.inputs == original.inputs:
            continue
        assert not isinstance(found, TypeFault), f"{case.name}: {found}"
        for type_, expected in zip(found, exact, strict=True):
            if not isinstance(type_, TensorType) or not isinstance(expected, TensorType):
                continue
            if type_.dims is None or expected.dims is None:
                assert case.op.name not in COMPLETED, case.name
                continue
            assert len(type_.dims) == len(expected.dims), case.name
            for dim, size in zip(type_.dims, expected.dims, strict=True):
                if dims.is_unknown(dim):
                    assert case.op.name not in COMPLETED, case.name
                    continue
                assert dims.substitute(dim, NUMBERS) == size, f"{case.name}: {dim} is not {size}"
                seen["symbols"] += not isinstance(dim, int)
    assert seen["symbols"] > 500


def forgotten(given: Type) -> Iterator[Type]:
    """The type with less that is known: no value, no dims, not even a rank."""
    if isinstance(given, TensorType) and given.dims is not None:
        yield TensorType(given.dtype, given.dims)
        yield TensorType(given.dtype, tuple(symbol(f"q{axis}") for axis in range(len(given.dims))))
        yield TensorType(given.dtype, None)


def half_known(case: NodeCase) -> Iterator[NodeCase]:
    """The case with less known of one of its inputs."""
    given = case.attributes.as_dict()
    for index, type_ in enumerate(case.inputs):
        for less in forgotten(type_):
            inputs = (*case.inputs[:index], less, *case.inputs[index + 1 :])
            attributes = canonical_attributes(case.op, given, inputs)
            yield replace(case, inputs=inputs, attributes=attributes)


@pytest.mark.slow
def test_less_knowledge_contradicts_nothing() -> None:
    compared = 0
    for exact, case in (
        (answers(whole), case) for whole in node_cases() for case in half_known(whole)
    ):
        found = answers(case)
        if isinstance(exact, TypeFault) or isinstance(found, TypeFault):
            continue
        pairs = zip(found, exact, strict=True)
        for said, true in ((s, t) for s, t in pairs if isinstance(t, TensorType)):
            assert meet(said, true) is not None, f"{case.name} of {case.inputs}: {said}"
            compared += 1
    assert compared > 4000


def test_completed_operators_have_cases() -> None:
    names = {case.op.name for case in node_cases()}
    assert names >= COMPLETED


@pytest.mark.parametrize("name", ["test_relu", "test_conv_with_strides_padding"])
def test_cases_are_found(name: str) -> None:
    assert any(case.name == name for case in node_cases())
