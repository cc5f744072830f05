"""The texts of attributes against ONNX's own descriptions; what the canonical form leaves."""

from __future__ import annotations

import re

import onnx
import pytest

from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.admitted import AUTO_PAD, TEXTS, admitted
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType


@pytest.mark.parametrize(("name", "attribute"), sorted(TEXTS))
def test_the_texts_are_those_of_the_description(name: str, attribute: str) -> None:
    formal = onnx.defs.get_schema(name, 21).attributes[attribute]
    texts = TEXTS[name, attribute]
    words = set(re.findall(r"\w+", formal.description))
    assert set(texts) <= words
    quoted = set(re.findall(r"[`'\"](\w+)[`'\"]", formal.description))
    assert quoted - {"mode", "nearest"} <= set(texts)
    assert not formal.default_value.s or formal.default_value.s.decode() in texts


@pytest.mark.parametrize("mode", AUTO_PAD)
@pytest.mark.parametrize("name", ["Conv", "ConvTranspose", "MaxPool"])
def test_what_is_kept_is_admitted(name: str, mode: str) -> None:
    operator = catalog.operator(name)
    assert operator is not None
    known = [TensorType(DType.F32, (1, 4, 9)), TensorType(DType.F32, (4, 4, 3))]
    given = {"auto_pad": mode, "strides": (2,), "kernel_shape": (3,)}
    found = admitted(operator, "auto_pad")
    kept = canonical_attributes(operator, given, known).get("auto_pad")
    assert found is not None
    assert kept in found.usual


def test_axes_are_counted_from_the_front() -> None:
    operator = catalog.operator("Softmax")
    assert operator is not None
    found = admitted(operator, "axis")
    assert found is not None
    kept = canonical_attributes(operator, {"axis": -1}, [TensorType(DType.F32, (2, 3))]).get("axis")
    assert kept in found.usual and -1 not in found.usual
    unknown = canonical_attributes(operator, {"axis": -1}, [TensorType(DType.F32, None)]).get(
        "axis"
    )
    assert unknown in found.rare
