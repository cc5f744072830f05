"""What one run of the whole line gives back: the answer and all that a report says of it.

Written by `story.py`; read by `report.py`, the command line and the Python API.  Plain data,
free of terminals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensat_dl.cost.choice import CostChoice
    from tensat_dl.cost.measured.comparison import Comparison
    from tensat_dl.cost.measured.tally import Tally
    from tensat_dl.diagnosis.changes import Change
    from tensat_dl.egraph.snapshot import Exploration
    from tensat_dl.extract.problem import Extraction
    from tensat_dl.graph.source import Source
    from tensat_dl.graph.verifying.verify import Verification


class OutcomeStatus(StrEnum):
    """Whether a cheaper graph was found.  Where one was, but proved no faster, the original is
    the answer, its constants folded where there are any.  LIMITED: the original is beyond the
    limits of the settings, and the cheapest within them costs more.  REFUSED: a cheaper graph was
    found that cannot be run, and the original is the answer in the same way.  Whatever the answer
    is, it is written."""

    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    NOT_FASTER = "not faster"
    LIMITED = "limited"
    REFUSED = "refused"


@dataclass(frozen=True)
class Outcome:
    """The answer and its story.

    `model` is the optimised model.  `cost_choice`: the cost model, and why it is that one.  Costs
    are in `cost_unit` ("" for models of rule files); `cost_estimated`: the time for measuring did
    not suffice, and they are estimates.  `nodes_before` and `nodes_after` count nodes by operator
    name, those inside control flow too, where `bodies` of If, Loop and Scan are better;
    `nodes_slower` are those of a better answer that is no faster and not written.
    `rules_in_answer`: rule name -> e-nodes it made that the answer uses.  `verification` is None
    where it was switched off.  `seconds` is by phase (the names of
    :class:`tensat_dl.progress.ProgressEvent`).  `output_path` is None where nothing was written.
    `changes` are there where an explanation was asked for, `tally` where costs were measured,
    `comparison` where both models were timed.
    """

    status: OutcomeStatus
    cost_choice: CostChoice
    cost_before: float
    cost_after: float
    nodes_before: Mapping[str, int]
    nodes_after: Mapping[str, int]
    exploration: Exploration
    extraction: Extraction
    rules_in_answer: Mapping[str, int]
    verification: Verification | None
    seconds: Mapping[str, float]
    model: Source = field(compare=False, repr=False)
    output_path: str | None = None
    cost_unit: str = ""
    warnings: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    nodes_slower: Mapping[str, int] | None = None
    bodies: int = 0
    cost_estimated: bool = False
    tally: Tally | None = None
    comparison: Comparison | None = None
