"""Element types: one name each, as rule files write them, with what the stages need to know.

Knows the numeric codes of ONNX's `TensorProto.DataType` (a fixed wire format) but not `onnx`.
"""

from __future__ import annotations

from enum import Enum
from functools import cache


class DType(Enum):
    """An element type; the value is (name, ONNX code, bits, family)."""

    F32 = ("f32", 1, 32, "float")
    U8 = ("u8", 2, 8, "unsigned")
    I8 = ("i8", 3, 8, "signed")
    U16 = ("u16", 4, 16, "unsigned")
    I16 = ("i16", 5, 16, "signed")
    I32 = ("i32", 6, 32, "signed")
    I64 = ("i64", 7, 64, "signed")
    STRING = ("string", 8, 64, "string")
    BOOL = ("bool", 9, 8, "bool")
    F16 = ("f16", 10, 16, "float")
    F64 = ("f64", 11, 64, "float")
    U32 = ("u32", 12, 32, "unsigned")
    U64 = ("u64", 13, 64, "unsigned")
    C64 = ("c64", 14, 64, "complex")
    C128 = ("c128", 15, 128, "complex")
    BF16 = ("bf16", 16, 16, "float")
    F8E4M3FN = ("f8e4m3fn", 17, 8, "float")
    F8E4M3FNUZ = ("f8e4m3fnuz", 18, 8, "float")
    F8E5M2 = ("f8e5m2", 19, 8, "float")
    F8E5M2FNUZ = ("f8e5m2fnuz", 20, 8, "float")
    U4 = ("u4", 21, 4, "unsigned")
    I4 = ("i4", 22, 4, "signed")
    F4E2M1 = ("f4e2m1", 23, 4, "float")
    F8E8M0 = ("f8e8m0", 24, 8, "float")
    U2 = ("u2", 25, 2, "unsigned")
    I2 = ("i2", 26, 2, "signed")

    def __init__(self, label: str, onnx_code: int, bits: int, family: str) -> None:
        """`label`: the name in rule files; `onnx_code`: the number in `TensorProto.data_type`;
        `bits`: per element as stored (strings: one pointer, an estimate)."""
        self.label = label
        self.onnx_code = onnx_code
        self.bits = bits
        self.family = family

    #: By identity, which is quicker: types are asked for it all the time.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.label

    @property
    def is_float(self) -> bool:
        """A real floating-point type, of any width."""
        return self.family == "float"

    @property
    def is_integer(self) -> bool:
        """A signed or unsigned integer type (bool is not one)."""
        return self.family in ("signed", "unsigned")

    @property
    def is_signed(self) -> bool:
        """A signed integer type."""
        return self.family == "signed"


@cache
def from_onnx(code: int) -> DType | None:
    """The element type with that ONNX code, or None (undefined, or newer than this table)."""
    return next((dtype for dtype in DType if dtype.onnx_code == code), None)


@cache
def from_name(name: str) -> DType | None:
    """The element type of that name in rule files, or None."""
    return next((dtype for dtype in DType if dtype.label == name), None)


def names() -> tuple[str, ...]:
    """All names, in the order of the ONNX codes."""
    return tuple(dtype.label for dtype in DType)
