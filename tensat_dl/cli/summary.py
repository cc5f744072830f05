"""The report of a run in words and tables.

Enters: a report as `--json` has it.  Leaves: text on stdout (stderr where stdout carries JSON).
"""

from __future__ import annotations

import sys
from typing import Any

from tensat_dl.cli.changes import change_blocks
from tensat_dl.cli.tables import Block, Line, Table, number, percent, print_blocks
from tensat_dl.cost.measured.rounds import GAIN
from tensat_dl.egraph.snapshot import StopReason as Ended
from tensat_dl.extract.problem import Status, StopReason
from tensat_dl.outcome import OutcomeStatus
from tensat_dl.report import Report
from tensat_dl.sentences import counted

#: Rules shown without -v.
SHOWN_RULES = 12

ENDED = {
    Ended.SATURATED: "nothing left to do",
    Ended.SCHEDULE: "end of the schedule",
    Ended.ENODES: "limit of e-nodes reached",
    Ended.SECONDS: "limit of seconds reached",
    Ended.MEMORY: "limit of memory reached",
    Ended.CRASHED: "the engine died",
}

LIMITS = frozenset((Ended.ENODES, Ended.SECONDS, Ended.MEMORY))

#: Why an answer is not proven the cheapest, where "stopped by .." would not say it.
_UNPROVEN = {StopReason.HEURISTIC: "not proven", StopReason.SOLVER_FAILED: "the solver failed"}


def print_summary(report: Report, *, verbose: bool, to_stderr: bool = False) -> None:
    """Print what a run did."""
    stream = sys.stderr if to_stderr else sys.stdout
    print_blocks(summary(report, verbose=verbose), stream)


def summary(report: Report, *, verbose: bool) -> list[Block]:
    """What a run did, as blocks."""
    blocks: list[Block] = [_headline(report), _nodes(report["nodes"])]
    rules = _rules(report["rules"], verbose)
    blocks += [rules] if rules else _silent_rules(report)
    if report["changes"]:
        blocks += [*change_blocks(report["changes"], report["cost"]["unit"]), Line("")]
    if report["cost"]["default_of"]:
        blocks.append(Line(f"cost model    {_cost_model(report['cost'])}"))
    blocks.append(Line(f"exploration   {_exploration(report['exploration'])}"))
    blocks.append(Line(f"extraction    {extraction_line(report['extraction'])}"))
    limits = report["extraction"]["limits"]
    blocks += [Line(f"limit         {limit_words(limit)}") for limit in limits]
    if report["measured"]:
        blocks.append(Line(f"measured      {_measured(report['measured'])}"))
    blocks.append(Line(f"verification  {_verification(report['verification'])}"))
    if report["comparison"]:
        blocks.append(Line(f"comparison    {_comparison(report['comparison'])}"))
    blocks.append(Line(f"seconds       {_seconds(report['seconds'])}"))
    blocks += [Line(f"note: {text}") for text in report["notes"]]
    blocks += [Line(f"warning: {text}", "yellow") for text in report["warnings"]]
    if report["output"]:
        blocks.append(Line(f"written       {report['output']}"))
    return blocks


def extraction_line(extraction: Report) -> str:
    """Method, solver, status, value, bound and gap in one line."""
    how = extraction["method"] + _solvers(extraction)
    if extraction["objective"] is None:
        return f"{how}: {extraction['status']}; {extraction['seconds']:.2f} s"
    parts = [f"{how}: {extraction['status']}", f"cost {number(extraction['objective'])}"]
    if extraction["bound"] is not None:
        parts.append(f"bound {number(extraction['bound'])}")
    if extraction["gap"] is not None:
        parts.append(f"gap {percent(extraction['gap'])}")
    if extraction["status"] == Status.FEASIBLE:
        parts.append(_UNPROVEN.get(extraction["stopped"], f"stopped by {extraction['stopped']}"))
    return ", ".join([*parts, f"{extraction['seconds']:.2f} s"])


def limit_words(limit: Report) -> str:
    """A limit, and what the selection takes of it."""
    return f"{limit['text']}; the selection has {number(limit['used'])}"


def _solvers(extraction: Report) -> str:
    """The solver that was asked for, and of `auto` those that ran, where any had to."""
    asked, ran = extraction["solver"], extraction["solvers"]
    if extraction["cached"]:
        return ", of an earlier run"
    if asked and not ran:
        return ", no solver needed"
    others = f" ({', '.join(ran)})" if ran != [asked] else ""
    return f" with {asked}{others}" if asked else ""


def _headline(report: Report) -> Line:
    cost = report["cost"]
    before, after = cost["before"], cost["after"]
    unit = f" {cost['unit']}" if cost["unit"] else ""
    how = "estimated" if cost["estimated"] else cost["model"]
    costs = f"{how} {number(before)}{unit} -> {number(after)}{unit}"
    nodes = report["nodes"]
    kept = f"the original is kept{_tidied(report)}"
    if report["status"] == OutcomeStatus.NOT_FASTER:
        verdict = _not_faster(nodes, report["comparison"] or {})
        return Line(f"{verdict}; {kept} (--keep-anyway writes the new one)", "bold")
    if report["status"] == OutcomeStatus.REFUSED:
        return Line(f"what was found cannot be run; {kept} ({costs})", "bold")
    if report["status"] == OutcomeStatus.UNCHANGED:
        return Line(f"nothing better found; the model is unchanged ({costs})", "bold")
    if report["status"] == OutcomeStatus.LIMITED:
        return Line(f"within the limits, which the model was not; it costs more ({costs})", "bold")
    whole = _whole(report["comparison"] or {})
    if after >= before:
        fewer = counted(_total(nodes["before"]) - _total(nodes["after"]), "node")
        how = f", {fewer} fewer" if _acted(report) else _tidied(report)
        if report["bodies"]:
            how = " outside of it"
            whole += "better inside control flow, "
        return Line(f"{whole}as cheap as before{how} ({costs})", "bold green")
    # Seconds of operators leave out what a run costs by itself, and what a runtime makes of them.
    what = "operators " if cost["unit"] == "s" else ""
    where = ", without what is inside control flow" if report["bodies"] else ""
    return Line(f"{whole}{what}{_saved(before, after)} % cheaper{where} ({costs})", "bold green")


def _tidied(report: Report) -> str:
    """What was done to a model that is the original otherwise."""
    nodes = report["nodes"]
    if report["bodies"]:
        return ", better inside control flow"
    return ", constants folded" if nodes["before"] != nodes["after"] else ""


def _not_faster(nodes: Report, comparison: Report) -> str:
    """Why the new model is not written."""
    new = f"the new model ({_total(nodes['slower']):,} nodes, was {_total(nodes['before']):,})"
    if comparison.get("vague"):
        return f"noise hides whether {new} is faster"
    return f"{new} is {_speed(comparison)}"


def _speed(comparison: Report) -> str:
    """Of a model that is no faster."""
    low, high = comparison.get("low"), comparison.get("high")
    if high is not None and high < 1:
        return "slower"
    if low is not None and low > 1:
        return f"faster by less than {100 * GAIN:g} %"
    return "not faster beyond noise"


def _whole(comparison: Report) -> str:
    """Where the whole models were timed, that comes before what their operators cost."""
    if not comparison or comparison["refused"]:
        return ""
    ratio = comparison["ratio"]
    if comparison["faster"]:
        return f"{ratio:.{2 if ratio >= 1.01 else 3}f} times as fast; "
    if comparison["vague"]:
        return "noise hides whether it is faster; "
    return f"{_speed(comparison)}; "


def _saved(before: float, after: float) -> str:
    """The share that is saved, with a digit that is not 0."""
    saved = 100 * (1 - after / before) if before else 0.0
    return f"{saved:.1f}" if abs(saved) >= 0.1 else f"{saved:.1g}"


def _nodes(nodes: dict[str, dict[str, int]]) -> Table:
    """Nodes of the original and of what is written; and of what is not written, where there is
    something."""
    before, after, slower = nodes["before"], nodes["after"], nodes["slower"]
    names = sorted({*before, *after, *(slower or ())})
    counts = [(n, before.get(n, 0), after.get(n, 0), (slower or {}).get(n, 0)) for n in names]
    counts.append(("total", _total(before), _total(after), _total(slower or {})))
    rows = [
        (name, f"{old:,}", f"{new:,}", f"{new - old:+,}" if new != old else "", f"{other:,}")
        for name, old, new, other in counts
    ]
    head = ("nodes", ">before", ">after", ">change", ">not written")
    shown = len(head) - (slower is None)
    return Table(head[:shown], [row[:shown] for row in rows])


def _total(nodes: dict[str, int]) -> int:
    return sum(nodes.values())


def _acted(report: Report) -> bool:
    """Have rules a part in the answer?"""
    return any(rule["in_answer"] for rule in report["rules"])


def _rules(rules: list[Report], verbose: bool) -> Table | None:
    shown = rules if verbose else [rule for rule in rules if rule["in_answer"]][:SHOWN_RULES]
    rows = [
        tuple(f"{rule[key]:,}" if key != "name" else rule[key] for key in _RULE_COLUMNS)
        for rule in shown
    ]
    return Table(tuple(_RULE_COLUMNS.values()), rows) if rows else None


def _silent_rules(report: Report) -> list[Block]:
    """Where no rule made a node of the answer, there is no table: what they did is said."""
    acted = sum(rule["applied"] > 0 for rule in report["rules"])
    cost = report["cost"]
    if report["status"] == OutcomeStatus.UNCHANGED:
        words = f"{acted:,} acted, and nothing cheaper came of it (-v shows which)"
        return [Line(f"rules         {words if acted else _NONE_ACTED}")]
    if report["status"] != OutcomeStatus.IMPROVED or not acted or cost["before"] == cost["after"]:
        return []
    words = f"{acted:,} acted and made no node of the answer, but found tensors equal (--explain)"
    return [Line(f"rules         {words}")]


_NONE_ACTED = "none acted (`tensat-dl why-not RULE GRAPH` says what is in the way of one)"

_RULE_COLUMNS = {
    "name": "rule",
    "matches": ">matches",
    "applied": ">applied",
    "rejected": ">rejected",
    "in_answer": ">in answer",
}


def _exploration(exploration: Report) -> str:
    stopped = ENDED.get(exploration["stopped_by"], exploration["stopped_by"])
    blamed = f" in rule {exploration['blamed']}" if exploration["blamed"] else ""
    steps = counted(exploration["steps"], "step")
    return (
        f"{counted(exploration['enodes'], 'e-node')}, {exploration['eclasses']:,} e-classes, "
        f"{steps}, {exploration['seconds']:.2f} s: {stopped}{blamed}"
    )


def _cost_model(cost: Report) -> str:
    """The cost model that the rules asked for, or what stands in for it."""
    if not cost["obstacle"]:
        return f"{cost['model']}, the default of {cost['default_of']}"
    return (
        f"{cost['model']} instead of measured, the default of {cost['default_of']}: onnxruntime "
        f"does not run the model ({cost['obstacle']})"
    )


def _measured(measured: Report) -> str:
    setting = measured["setting"]
    threads = setting["threads"]
    timed = f"{measured['measured']:,} timed now in {measured['seconds']:.1f} s"
    facts = [
        f"{counted(measured['used'], 'operator')}, {measured['cached']:,} from the cache",
        timed if measured["measured"] else "nothing timed now",
        counted(measured["rounds"], "round"),
        setting["runtime"] + (f", {counted(threads, 'thread')}" if threads else ""),
    ]
    if measured["estimated"]:
        facts.append(f"estimated: {', '.join(measured['estimated'])}")
    return "; ".join([*facts, *_sizes(measured["sizes"])])


def _comparison(comparison: Report) -> str:
    if comparison["refused"]:
        return f"none: {comparison['refused']}"
    low, high = comparison["low"], comparison["high"]
    interval = "" if low is None or high is None else f" ({low:.3f} to {high:.3f})"
    before, after = 1000 * comparison["before"], 1000 * comparison["after"]
    when = " of an earlier run" if comparison["cached"] else ""
    return "; ".join(
        [
            f"{before:.4g} ms -> {after:.4g} ms, {comparison['ratio']:.3f} times as fast{interval}",
            counted(comparison["rounds"], "round") + when + _alone(comparison),
            *_sizes(comparison["sizes"]),
        ]
    )


def _alone(comparison: Report) -> str:
    """Rounds with one thread count the processor's time, whether asked for or not."""
    return ", one thread" if comparison["threads"] == 1 else ""


def _sizes(sizes: dict[str, int]) -> list[str]:
    return [", ".join(f"{name} = {size}" for name, size in sizes.items())] if sizes else []


def _verification(verification: dict[str, Any] | None) -> str:
    if verification is None:
        return "switched off"
    if not verification["samples"]:
        return f"skipped: {verification['skipped']}"
    samples = counted(verification["samples"], "sample")
    difference = verification["max_difference"]
    text = samples + ("" if difference is None else f", largest difference {difference:.3g}")
    return text + (f"; {verification['skipped']}" if verification["skipped"] else "")


def _seconds(seconds: dict[str, float]) -> str:
    return ", ".join(f"{phase} {value:.2f}" for phase, value in seconds.items())
