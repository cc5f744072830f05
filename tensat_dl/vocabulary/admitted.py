"""The values that an attribute can have in the one spelling in which nodes are kept.

Enters: an operator, the name of an attribute.  Leaves: :class:`Admitted`, or None where the values
cannot be listed.  ONNX's schemas have the texts in their prose only, so they stand in a table here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensat_dl.vocabulary.canonical import AXES
from tensat_dl.vocabulary.operators import Operator

#: No tensor has more axes.
_RANK = 64

_REDUCTION = ("none", "add", "mul", "max", "min")
_DIRECTION = ("forward", "reverse", "bidirectional")

#: The texts of ai.onnx 21: (operator, attribute) -> values.
TEXTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("BitShift", "direction"): ("LEFT", "RIGHT"),
    ("DepthToSpace", "mode"): ("DCR", "CRD"),
    ("GRU", "direction"): _DIRECTION,
    ("Gelu", "approximate"): ("none", "tanh"),
    ("GridSample", "mode"): ("linear", "nearest", "cubic"),
    ("GridSample", "padding_mode"): ("zeros", "border", "reflection"),
    ("LSTM", "direction"): _DIRECTION,
    ("Pad", "mode"): ("constant", "reflect", "edge", "wrap"),
    ("RNN", "direction"): _DIRECTION,
    ("Resize", "mode"): ("nearest", "linear", "cubic"),
    ("Resize", "nearest_mode"): ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    ("RoiAlign", "mode"): ("avg", "max"),
    ("ScatterElements", "reduction"): _REDUCTION,
    ("ScatterND", "reduction"): _REDUCTION,
}

#: What every operator with an `auto_pad` may be given.
AUTO_PAD = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True)
class Admitted:
    """`usual` where all shapes are known, `rare` only where some are not; `because` of what."""

    usual: tuple[int | str, ...]
    rare: tuple[int | str, ...]
    because: str


def admitted(op: Operator, name: str) -> Admitted | None:
    """The values of the attribute `name`."""
    if op.domain:
        return None
    if (op.name, name) in TEXTS:
        texts = TEXTS[op.name, name]
        return Admitted(texts, (), "is one of " + ", ".join(f'"{text}"' for text in texts))
    if name == "auto_pad" and op.attribute(name) is not None:
        return _auto_pad(op)
    if name == "axis" and (name in AXES.get(op.name, ()) or op.name == "OneHot"):
        because = "is counted from the front wherever the rank is known"
        return Admitted(tuple(range(_RANK)), tuple(range(-_RANK, 0)), because)
    return None


def texts_of(op: Operator, name: str) -> tuple[str, ...]:
    """The texts that a model may give the attribute `name`; () where they are not listed."""
    if op.domain:
        return ()
    if name == "auto_pad" and op.attribute(name) is not None:
        return AUTO_PAD
    return TEXTS.get((op.name, name), ())


def _auto_pad(op: Operator) -> Admitted:
    if op.name == "ConvTranspose":
        because = 'is "NOTSET" in place of "VALID", and the pads are in `pads`'
        return Admitted(AUTO_PAD[:3], AUTO_PAD[3:], because)
    because = 'is "NOTSET" wherever the shapes tell the pads, which are then in `pads`'
    return Admitted(AUTO_PAD[:1], AUTO_PAD[1:], because)
