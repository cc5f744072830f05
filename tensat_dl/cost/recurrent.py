"""FLOPs of RNN, GRU and LSTM.

At each step of each sequence the gates are `W x + R h + biases`: two operations for each element
of W `[directions, gates * hidden, input]` and of R, one for the sum of both products and one for
a bias.  Activations count as in `pointwise`; the defaults are assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.cost.pointwise import PER_ELEMENT
from tensat_dl.cost.shapes import Shapes

_SIGMOID = PER_ELEMENT["Sigmoid"]
_TANH = PER_ELEMENT["Tanh"]


def _recurrent(per_unit: int) -> Callable[[Shapes], float]:
    """`per_unit`: operations for each hidden unit beyond the gates' sums."""

    def formula(shapes: Shapes) -> float:
        x, w, r, bias = (shapes.input(index) for index in range(4))
        steps = x.dims[0] * x.dims[1]  # sequence and batch, in either layout
        directions, gate_units, _ = w.dims
        hidden = r.dims[2]
        sums = directions * gate_units * (2 if bias.numel else 1)
        return steps * (2 * (w.numel + r.numel) + sums + directions * hidden * per_unit)

    return formula


FORMULAS: Mapping[str, Callable[[Shapes], float]] = {
    # h = tanh(.)
    "RNN": _recurrent(_TANH),
    # z, r = sigmoid(.); r * h; h' = tanh(.); h = (1 - z) * h' + z * h
    "GRU": _recurrent(2 * _SIGMOID + 1 + _TANH + 4),
    # i, o, f = sigmoid(.); c' = tanh(.); c = f * c + i * c'; h = o * tanh(c)
    "LSTM": _recurrent(3 * _SIGMOID + _TANH + 3 + 1 + _TANH),
}
