"""A timer that is right every time, and the pieces of a measured run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import onnx

from tensat_dl.cost.measured.little_model import LittleModel
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.cost.measured.timer import Timing

SETTING = Setting("a machine", "a runtime 1.0", 1)


def by_operator(**seconds: float) -> Callable[[onnx.ModelProto], float | None]:
    """The sum over a model's nodes; None where one of them has no time."""

    def time(proto: onnx.ModelProto) -> float | None:
        names = [node.op_type for node in proto.graph.node]
        return sum(seconds[name] for name in names) if set(names) <= set(seconds) else None

    return time


@dataclass
class FakeTimer:
    """Seconds by a function of the model, None for one that does not run.  `timed` is what was
    asked, in order; `after` is called after each batch."""

    seconds: Callable[[onnx.ModelProto], float | None]
    timed: list[str] = field(default_factory=list)
    after: Callable[[], object] = lambda: None

    def time(
        self, models: Sequence[LittleModel], known: Mapping[str, float]
    ) -> list[Timing | None]:
        """See `Timer`; it knows no keys."""
        self.timed += ["+".join(n.op_type for n in model.proto.graph.node) for model in models]
        found = [self.seconds(model.proto) for model in models]
        self.after()
        return [None if seconds is None else Timing(seconds) for seconds in found]
