"""The body of a loop or branch, optimised as a model of its own, in the time there is.

Enters: a body as a model.  Leaves: a better graph of it, or None, and warnings of what was found
and proved wrong.  All bodies of a model share its limits of time, and the graph around them has
those once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tensat_dl.graph.model import Graph
from tensat_dl.graph.source import Source
from tensat_dl.progress import Phase
from tensat_dl.sentences import listed
from tensat_dl.settings import ModelSettings, Settings
from tensat_dl.story import Acts, Run
from tensat_dl.written_limits import is_limited

#: Comparisons of bodies may take so many times what that of the whole model may.
_COMPARISONS = 4
#: So many seconds may pass in comparing outputs: a body that accepts no input takes the longest.
_VERIFY_SECONDS = 30.0
#: The time is over where less than this share of any limit is left.
_LEAST_SHARE = 0.05
#: A warning names so many rules.
_SUSPECTS = 3


@dataclass
class BodyOptimizer:
    """`run` is the line up to the answer, None where no answer could be another graph; `seconds`
    by phase, of all that ran so far; `acts`: what rules did in each better body."""

    run: Callable[[Source, Settings], Run | None]
    settings: Settings
    seconds: Mapping[str, float]
    acts: list[Acts] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Is there anything to be done in bodies?"""
        return settings_of_body(self.settings, self.seconds) is not None

    def __call__(self, body: Source) -> Graph | None:
        """A better graph, found and verified as that of any model is; None where there is none."""
        settings = settings_of_body(self.settings, self.seconds)
        if settings is None:
            return None
        run = self.run(body, settings)
        if run is None:
            return None
        self.warnings += run.warnings
        verification, candidate = run.accepted.verification, run.accepted.candidate
        if verification.mismatches:
            suspects = listed(run.suspects[:_SUSPECTS])
            self.warnings.append(
                f"inside control flow, in '{body.proto.graph.name}', what rules made does not "
                f"compute what was there, and is left out: {verification.mismatches[0]}"
                + (f"; applied were {suspects}" if suspects else "")
            )
        compared = verification.ok and not verification.skipped
        if not candidate.changed or not (compared or not settings.verify.enabled):
            return None
        self.acts.append(run.acts)
        return candidate.graph


def settings_of_body(settings: Settings, seconds: Mapping[str, float]) -> Settings | None:
    """The settings for the next body, `seconds` by phase being over; None where no body is to be
    touched any more."""
    if not settings.rules.bodies or is_limited(settings.extract):
        return None
    explore, extract, cost = settings.explore, settings.extract, settings.cost
    limits = {
        Phase.EXPLORE: explore.seconds,
        Phase.EXTRACT: extract.seconds,
        Phase.MEASURE: cost.measure_seconds,
        Phase.VERIFY: _VERIFY_SECONDS,
        Phase.COMPARE: _COMPARISONS * cost.compare_seconds,
    }
    left = {phase: most - seconds.get(phase.value, 0.0) for phase, most in limits.items()}
    if any(left[phase] <= _LEAST_SHARE * most for phase, most in limits.items() if most):
        return None
    return replace(
        settings,
        model=ModelSettings(),
        explore=replace(explore, seconds=left[Phase.EXPLORE]),
        extract=replace(extract, seconds=left[Phase.EXTRACT]),
        cost=replace(cost, measure_seconds=max(left[Phase.MEASURE], 0.0)),
        verify=replace(settings.verify, input_data=""),
        export=replace(settings.export, explain=False),
    )
