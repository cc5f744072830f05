"""Where a rule that fires stands, as `tensat-dl why-not` prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensat_dl.cli.tables import Block, Line, Table, number, percent
from tensat_dl.diagnosis.standing import Asker
from tensat_dl.diagnosis.verdict import Difference, Place, Standing, Verdict
from tensat_dl.sentences import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from tensat_dl.cli.stages import Subject
    from tensat_dl.cost.demand import Demand
    from tensat_dl.cost.settled import Settled
    from tensat_dl.egraph.snapshot import ENode
    from tensat_dl.settings import ExtractSettings

#: Rows of a table, and places.
_SHOWN = 8


def standing_of(subject: Subject, rule: str, at: str | None) -> Standing:
    """Where a rule stands: the answer is found, and one that uses the rule where it does not."""
    from tensat_dl.cost.settle import settle
    from tensat_dl.diagnosis.why_not import rules_called
    from tensat_dl.phases import Phases

    def solve(settings: ExtractSettings, barred: Collection[ENode], demand: Demand) -> Settled:
        phases = Phases(subject.progress)
        given = (subject.graph, subject.saturated, subject.prices, subject.writable)
        return settle(*given, settings, phases, barred, demand)

    asker = Asker(
        subject.program,
        subject.graph,
        subject.saturated,
        subject.writable,
        subject.prices,
        subject.settled,
        subject.settings.extract,
        solve,
    )
    return asker.ask([each.name for each in rules_called(rule, subject.program)], at)


def standing_blocks(standing: Standing) -> list[Block]:
    """It in words, what differs as a table, notes."""
    notes = [Line(f"note: {note}", "yellow") for note in standing.notes]
    return [*_told(standing), *notes]


def _told(standing: Standing) -> list[Block]:
    match standing.verdict:
        case Verdict.IN_ANSWER | Verdict.LEADS | Verdict.EFFECT:
            return _in_answer(standing)
        case Verdict.NONE:
            return [Line(f"no answer uses it: {standing.reason}", "bold")]
        case Verdict.NOTHING:
            text = "it adds nothing: what it makes is, in the end, what it matched or came from"
            return [Line(text, "bold")]
        case Verdict.UNTRACED:
            text = "what it did cannot be traced: it made no node that is still there"
            return [Line(text, "bold")]
        case Verdict.UNKNOWN:
            least = _cost(standing.least or 0.0, standing)
            whole = f"{standing.cost_model} {_cost(standing.cost, standing)}"
            text = f"the answer ({whole}) does without it; none with it was found, nor ruled out"
            return [Line(text, "bold"), Line(f"none with it is below {least}")]
    return [*_sentences(standing), *_table(standing)]


def _in_answer(standing: Standing) -> list[Block]:
    whole = f"{standing.cost_model} {_cost(standing.cost, standing)}"
    text = f"the answer ({whole}) uses it"
    if standing.verdict is Verdict.LEADS:
        text = f"the answer ({whole}) has what other rules made of it"
    if standing.verdict is Verdict.EFFECT:
        text = f"the answer ({whole}) does without these, by what it found equal or constant"
    blocks: list[Block] = [Line(text, "bold")]
    places = Counter(map(_place, standing.places))
    for place, count in list(places.items())[:_SHOWN]:
        blocks.append(Line(f"  {place}" + (f", {count} times" if count > 1 else "")))
    left = sum(list(places.values())[_SHOWN:])
    if left:
        blocks.append(Line(f"  and {counted(left, 'node')} more"))
    return blocks


def _place(place: Place) -> str:
    return place.node if place.node == place.tensor else f"{place.tensor}: {place.node}"


def _sentences(standing: Standing) -> list[Block]:
    answer, other = standing.cost, standing.cost_with
    assert other is not None, "there is an answer with it"
    costs = f"{_cost(other, standing)} instead of {_cost(answer, standing)}"
    apart = _cost(abs(other - answer), standing)
    share = f" ({percent(abs(other - answer) / answer)})" if answer else ""
    text = {
        Verdict.EQUAL: f"as cheap: {_cost(answer, standing)}",
        Verdict.DEARER: f"{apart} dearer{share}: {costs}",
        Verdict.CHEAPER: f"{apart} cheaper{share}: {costs}",
    }[standing.verdict]
    does = f"the answer ({standing.cost_model}) does without it"
    blocks: list[Block] = [Line(f"{does}; the cheapest with it is {text}", "bold")]
    if standing.reason:
        blocks.append(Line(standing.reason))
    if not standing.proven:
        least = _cost(standing.least or 0.0, standing)
        text = f"not proven: another with it may be cheaper, but not below {least}"
        blocks.append(Line(text, "yellow"))
    return blocks


def _table(standing: Standing) -> list[Block]:
    shown = standing.differences[:_SHOWN]
    if not shown:
        return [Line("they differ in what costs nothing")]
    columns = ("tensor", "the answer", ">cost", "with it", ">cost")
    left = len(standing.differences) - len(shown)
    more = [Line(f"and {counted(left, 'tensor')} more")] if left else []
    return [Table(columns, [_row(each) for each in shown]), *more]


def _row(each: Difference) -> Sequence[str]:
    def price(node: str, cost: float) -> str:
        return number(cost) if node else ""

    return (
        each.tensor,
        each.answer,
        price(each.answer, each.answer_cost),
        each.other,
        price(each.other, each.other_cost),
    )


def _cost(cost: float, standing: Standing) -> str:
    return f"{number(cost)} {standing.unit}".rstrip()
