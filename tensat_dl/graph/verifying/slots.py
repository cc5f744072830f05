"""What a model must be fed: one :class:`InputSlot` for each graph input without a value.

Enters: a model, the names of inputs that have a value.  Leaves: the :class:`Inputs` to find.  Dims
without a name get `INPUT.AXIS` as theirs.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace

import onnx
from onnx import TensorProto, numpy_helper
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.graph.interface import element_code, named_dims, tensor_dims
from tensat_dl.graph.running.plain import plain_code
from tensat_dl.graph.running.run import CannotRun, input_values
from tensat_dl.graph.tensors import all_tensors, inside_bytes
from tensat_dl.graph.verifying.switches import compared_numbers

#: So many sizes are taken from the constants of a model, none larger than this, and the numbers
#: in no longer lists.
_SIZES = 24
_LARGEST_SIZE = 1024
_LONGEST_LIST = 8


@dataclass(frozen=True)
class InputSlot:
    """One graph input: `dims` are numbers or names; `elements` is the element type code; `form` is
    "tensor", "sequence" (of tensors) or "map" (of `keys`, a type code, to numbers or texts)."""

    name: str
    elements: int
    dims: tuple[int | str, ...]
    form: str = "tensor"
    keys: int = 0

    @property
    def is_integer(self) -> bool:
        """Integers, fed as such."""
        return _kind(self.elements) in "iu"

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Its dims at `sizes` of the names; 2 for one that has none."""
        return tuple(sizes.get(dim, 2) if isinstance(dim, str) else dim for dim in self.dims)

    @property
    def is_float(self) -> bool:
        """Floats, fed as such."""
        return _kind(self.elements) in "fc"


@dataclass(frozen=True)
class Inputs:
    """The inputs to feed, and what the model says of their sizes.

    `shapes`: the declared dims of the outputs that have no symbols, which a list of integers might
    stand for; `sizes`: what a symbolic dim might have to be, as constants of the model say, the
    least first.
    """

    slots: tuple[InputSlot, ...]
    shapes: tuple[tuple[int, ...], ...] = ()
    sizes: tuple[int, ...] = ()
    switches: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def inputs_to_feed(proto: onnx.ModelProto, given: Container[str] = ()) -> Inputs:
    """The inputs that must be fed, but for those `given`.  Raises CannotRun for types that are not
    supported."""
    slots = tuple(slot for slot in map(_slot, input_values(proto)) if slot.name not in given)
    sizes = tuple(sorted(set(_constant_sizes(proto))))[:_SIZES]
    single = [
        s.name for s in slots if s.is_integer and s.form == "tensor" and {1}.issuperset(s.dims)
    ]
    switches = compared_numbers(proto, single)
    return Inputs(slots, tuple(_output_shapes(proto.graph)), sizes, switches)


def override_slots(proto: onnx.ModelProto) -> tuple[InputSlot, ...]:
    """Overridable initializers (IR version 4 and later) of floating-point type."""
    if proto.ir_version < 4:
        return ()
    dims = {tensor.name: tensor.dims for tensor in proto.graph.initializer}
    dims |= {tensor.values.name: tensor.dims for tensor in proto.graph.sparse_initializer}
    listed = (value for value in proto.graph.input if value.name in dims)
    values = (value for value in listed if _is_defined(element_code(value.type)))
    slots = (replace(_slot(value), dims=tuple(dims[value.name])) for value in values)
    return tuple(slot for slot in slots if slot.is_float)


def _slot(value: onnx.ValueInfoProto) -> InputSlot:
    kind, form, keys = named_dims(value), "tensor", 0
    while not kind.HasField("tensor_type"):
        if kind.HasField("sequence_type"):
            kind, form = kind.sequence_type.elem_type, "sequence"
        elif kind.HasField("optional_type"):
            kind = kind.optional_type.elem_type
        elif kind.HasField("map_type") and form == "tensor":
            form, keys, kind = "map", kind.map_type.key_type, kind.map_type.value_type
        else:
            raise CannotRun(f"input '{value.name}' is no tensor, sequence of tensors or map")
    dims = tuple(
        int(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or f"{value.name}.{axis}"
        for axis, dim in enumerate(tensor_dims(kind))
    )
    code = kind.tensor_type.elem_type
    if not _is_defined(code):
        said = f"the element type {code}, which ONNX does not define" if code else "no element type"
        raise CannotRun(f"input '{value.name}' has {said}")
    return InputSlot(value.name, code, dims, form, keys)


def _output_shapes(graph: onnx.GraphProto) -> Iterator[tuple[int, ...]]:
    for value in graph.output:
        dims = tensor_dims(value.type)
        if dims and all(dim.HasField("dim_value") for dim in dims):
            yield tuple(int(dim.dim_value) for dim in dims)


def _constant_sizes(proto: onnx.ModelProto) -> Iterator[int]:
    """Sizes in constants: their own, which must often fit those of an input, and the numbers in
    short lists of integers, such as the shape of a Reshape."""
    for tensor in all_tensors(proto):
        yield from (dim for dim in tensor.dims if 1 < dim <= _LARGEST_SIZE)
        if tensor.data_type == TensorProto.INT64 and 0 < inside_bytes(tensor) <= _LONGEST_LIST * 8:
            numbers = numpy_helper.to_array(tensor).flatten().tolist()
            yield from (number for number in numbers if 1 < number <= _LARGEST_SIZE)


def _is_defined(code: int) -> bool:
    return code != TensorProto.UNDEFINED and code in TensorProto.DataType.values()


def _kind(code: int) -> str:
    if code == TensorProto.STRING:
        return "O"
    return str(tensor_dtype_to_np_dtype(plain_code(code)).kind)
