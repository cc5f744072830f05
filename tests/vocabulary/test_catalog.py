"""The catalog against ONNX's own words, and the lines that rule authors read."""

from __future__ import annotations

import subprocess
import sys

import pytest
from onnx import defs

from tensat_dl.vocabulary import catalog, dtypes
from tensat_dl.vocabulary.left_out import why_left_out
from tensat_dl.vocabulary.operators import AttributeKind, OperatorKind


def test_every_operator_of_opset_21_is_known_or_left_out_for_a_reason() -> None:
    schemas = {s.name for s in defs.get_all_schemas_with_history() if s.domain == ""}
    at_21 = {name for name in schemas if defs.has(name, 21, "")}
    left_out = at_21 - set(catalog.names())
    assert left_out == {"Constant", "If", "Loop", "Scan", "Scatter", "SequenceMap", "Upsample"}
    assert all(map(why_left_out, left_out))
    assert not any(map(why_left_out, ("Rleu", "", "com.acme.Gelu")))


def test_signature_of_the_language_page() -> None:
    concat = catalog.operator("Concat")
    assert concat is not None
    assert catalog.signature(concat) == "Concat(inputs: T+, *, axis: int)   (ai.onnx, since 13)"


def test_every_operator_is_described() -> None:
    for name in catalog.names():
        op = catalog.operator(name)
        assert op is not None
        page = catalog.describe(op)
        assert page.startswith(name + "(")
        assert "outputs:" in page


def test_conv() -> None:
    conv = catalog.operator("Conv")
    assert conv is not None
    assert [(f.name, f.optional) for f in conv.inputs] == [("X", False), ("W", False), ("B", True)]
    assert [a.name for a in conv.attributes if a.implied] == ["kernel_shape"]
    assert [a.name for a in conv.attributes if a.rank_dependent] == ["dilations", "pads", "strides"]
    group = conv.attribute("group")
    assert group is not None
    assert (group.kind, group.default, group.required) == (AttributeKind.INT, 1, False)
    assert not conv.has_bundle


@pytest.mark.parametrize(
    ("name", "inputs", "commutes"),
    [("Add", 2, True), ("Sub", 2, False), ("Max", 5, True), ("Sum", 2, True), ("Sum", 3, False)],
)
def test_commutes(name: str, inputs: int, commutes: bool) -> None:
    op = catalog.operator(name)
    assert op is not None
    assert op.commutes(inputs) is commutes


def test_random_operators() -> None:
    random = [n for n in catalog.names() if not catalog.operator(n).deterministic]  # type: ignore[union-attr]
    assert random == sorted(catalog.RANDOM)


def test_tables_name_operators_and_attributes_that_exist() -> None:
    for name in catalog.COMMUTATIVE | catalog.RANDOM:
        assert catalog.operator(name) is not None
    for table in (catalog.RANK_DEPENDENT, catalog.IMPLIED):
        for name, attributes in table.items():
            op = catalog.operator(name)
            assert op is not None
            assert attributes <= {a.name for a in op.attributes}


def test_unknown_and_newer_operators() -> None:
    assert catalog.operator("Concta") is None
    assert catalog.operator("Swish") is None
    assert catalog.operator("Gelu", "com.microsoft") is None
    assert catalog.operator("Relu", "ai.onnx") == catalog.operator("Relu")


def test_newer_operators_are_those_of_the_version_they_came_with() -> None:
    for name, version in catalog.NEWER.items():
        op = catalog.operator(name)
        assert op is not None and op.since == version
        assert catalog.schema_at("", name, version - 1) is None
    attention, relu = catalog.operator("Attention"), catalog.operator("Relu")
    assert attention is not None and relu is not None
    assert catalog.versions_of([relu])[""] == 21
    assert catalog.versions_of([relu, attention])[""] == 23


def test_opaque() -> None:
    op = catalog.opaque("com.acme", "Fused", 3)
    assert op.kind is OperatorKind.OPAQUE
    assert op.is_variadic
    assert op.has_bundle
    assert not op.deterministic
    assert catalog.opaque("", "Softmax", 11).deterministic
    assert op.qualified_name == '"com.acme"::Fused'


def test_import_is_lazy() -> None:
    code = "import sys, tensat_dl.vocabulary.catalog; assert 'onnx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dtypes_have_the_codes_of_onnx() -> None:
    from onnx import TensorProto

    onnx_names = {
        "f32": "FLOAT", "f64": "DOUBLE", "f16": "FLOAT16", "bf16": "BFLOAT16", "bool": "BOOL",
        "i8": "INT8", "u64": "UINT64", "c64": "COMPLEX64", "f8e4m3fn": "FLOAT8E4M3FN",
        "f8e5m2fnuz": "FLOAT8E5M2FNUZ", "i4": "INT4", "string": "STRING", "f4e2m1": "FLOAT4E2M1",
    }  # fmt: skip
    for name, onnx_name in onnx_names.items():
        dtype = dtypes.from_name(name)
        assert dtype is not None
        assert dtype.onnx_code == TensorProto.DataType.Value(onnx_name)
        assert dtypes.from_onnx(dtype.onnx_code) is dtype
    assert len({d.onnx_code for d in dtypes.DType}) == len(dtypes.DType)
    assert dtypes.from_name("f31") is None
    assert dtypes.from_onnx(0) is None


def test_families_and_widths() -> None:
    assert dtypes.DType.F16.is_float
    assert not dtypes.DType.BOOL.is_integer
    assert dtypes.DType.U8.is_integer
    assert not dtypes.DType.U8.is_signed
    assert [dtypes.DType.I4.bits, dtypes.DType.C128.bits] == [4, 128]
