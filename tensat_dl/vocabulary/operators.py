"""Operators as rules see them: ONNX's own, plus declared and opaque ones."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from tensat_dl.vocabulary.attributes import AttributeValue

#: The version of the default domain that `language 1` fixes, but for a few operators that came
#: later (`catalog.NEWER`).
LANGUAGE_OPSET = 21


class OperatorKind(Enum):
    """Where an operator's meaning comes from."""

    ONNX = "onnx"
    CUSTOM = "custom"
    VIRTUAL = "virtual"
    OPAQUE = "opaque"


class AttributeKind(Enum):
    """Type of an attribute as rule authors write it."""

    INT = "int"
    FLOAT = "float"
    STRING = "string"
    INTS = "ints"
    FLOATS = "floats"
    STRINGS = "strings"
    OTHER = "other"


@dataclass(frozen=True)
class Formal:
    """A formal input or output: its ONNX name, and whether it may be absent or repeated."""

    name: str
    optional: bool = False
    variadic: bool = False
    type_name: str = "T"


@dataclass(frozen=True)
class FormalAttribute:
    """An attribute: `default` is None where it is "absent"; `rank_dependent` ones (strides, pads,
    dilations, perm) get their default from the node's rank, see `canonical`; `implied` ones
    (kernel_shape of a convolution) follow from the inputs and are not part of a node's key."""

    name: str
    kind: AttributeKind
    default: AttributeValue | None = None
    required: bool = False
    rank_dependent: bool = False
    implied: bool = False


@dataclass(frozen=True)
class Operator:
    """One operator.  Equal and hashed by (domain, name, kind).

    `commutative`: its inputs may be permuted (all of them).  `deterministic` is False for random
    operators: never merged, never folded.  `has_bundle`: the schema allows several outputs, so
    an application is a bundle.  `min_outputs`..`len(outputs)` outputs (last one variadic: any).
    """

    domain: str
    name: str
    kind: OperatorKind
    inputs: tuple[Formal, ...] = ()
    outputs: tuple[Formal, ...] = ()
    attributes: tuple[FormalAttribute, ...] = ()
    since: int = 1
    min_inputs: int = 0
    min_outputs: int = 1
    commutative: bool = False
    deterministic: bool = True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        return (self.domain, self.name, self.kind) == (other.domain, other.name, other.kind)

    def __hash__(self) -> int:
        return hash(self.name)  # which text keeps; hardly any two share it

    @property
    def qualified_name(self) -> str:
        """`MatMul`, `"com.acme"::FusedGelu`."""
        return self.name if not self.domain else f'"{self.domain}"::{self.name}'

    @property
    def folds(self) -> bool:
        """Applied to constants it is a constant that can be computed."""
        return self.deterministic and self.kind in (OperatorKind.ONNX, OperatorKind.VIRTUAL)

    @property
    def is_variadic(self) -> bool:
        """The last formal input may be repeated."""
        return bool(self.inputs) and self.inputs[-1].variadic

    @property
    def has_bundle(self) -> bool:
        """The schema allows more than one output."""
        return len(self.outputs) > 1 or any(f.variadic for f in self.outputs)

    def commutes(self, inputs: int) -> bool:
        """Permuting `inputs` operands keeps the result, rounding included."""
        return self.commutative and (inputs == 2 or self.name not in ("Sum", "Mean"))

    def attribute(self, name: str) -> FormalAttribute | None:
        """The formal attribute of that name, or None."""
        return self._attributes_by_name.get(name)

    @cached_property
    def _attributes_by_name(self) -> dict[str, FormalAttribute]:
        return {attribute.name: attribute for attribute in self.attributes}
