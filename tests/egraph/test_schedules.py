"""Rulesets, schedules, cost models, annotations: what runs, how often, and what it costs."""

from __future__ import annotations

import pytest
from line import Line, applications, explore
from onnx_text import model, operators, terms

#: Neg over Relu over ... moves down by one node a step.
RULES = """rewrite down: Neg(Abs(x)) => Abs(Neg(x)) where 1 == 2
rewrite grow: Relu(x) => Relu(Relu(x)) where 1 == 2
rewrite step: Sin(Cos(x)) => Cos(Sin(x))
rewrite clean: Neg(Neg(x)) => x
ruleset steps { include step }
ruleset cleaning { include clean }
"""
#: Sin above five Cos: every step moves it one down, and makes a Cos and a Sin.
CHAIN = (
    "(float[2] x) => (float[2] y) "
    "{ a = Cos(x) b = Cos(a) c = Cos(b) d = Cos(c) e = Cos(d) y = Sin(e) }"
)


def sines(schedule: str) -> tuple[int, str]:
    saturated = explore(RULES + schedule, model(CHAIN))
    return len(applications(saturated, "Sin")), saturated.exploration.stopped_by


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("", (6, "saturated")),
        ("schedule main { run steps }", (2, "schedule")),
        ("schedule main { run step }", (2, "schedule")),
        ("schedule main { run steps run steps }", (3, "schedule")),
        ("schedule main { run cleaning }", (1, "saturated")),
        ("schedule main { repeat 3 { run steps } }", (4, "schedule")),
        ("schedule main { repeat 2 { run steps run steps } }", (5, "schedule")),
        ("schedule main { repeat 9 { run steps } }", (6, "saturated")),
        ("schedule main { saturate steps }", (6, "saturated")),
        ("schedule main { saturate { run steps } }", (6, "saturated")),
        ("schedule main { saturate steps limit(iters=4) }", (5, "schedule")),
        ("schedule main { saturate { run steps run cleaning } limit(iters=2) }", (3, "schedule")),
        # Seven applications at first, two more a step: nine are reached by the first step.
        ("schedule main { saturate steps limit(enodes=8) }", (2, "schedule")),
        ("schedule main { saturate steps limit(enodes=9) }", (3, "schedule")),
        ("schedule only { run steps }", (2, "schedule")),
        ("schedule other { saturate steps } schedule main { run steps }", (2, "schedule")),
        ("schedule main { repeat 2 { repeat 2 { run steps } } }", (5, "schedule")),
        ("schedule main { saturate { repeat 2 { run steps } } limit(iters=1) }", (3, "schedule")),
        ("schedule main { repeat 999_999_999_999 { run steps } }", (6, "saturated")),
        ("schedule main { repeat 999_999_999_999 { } }", (1, "saturated")),
    ],
)
def test_schedules(schedule: str, expected: tuple[int, str]) -> None:
    assert sines(schedule) == expected


def test_what_an_inner_loop_made_wakes_the_outer_one() -> None:
    """`settle` has nothing to do until the inner loop, quiet in the end, has made both Abs."""
    rules = """
    rewrite settle: Abs(Abs(x)) => Sqrt(x)
    rewrite turn: Relu(x) => Abs(x)
    schedule main { saturate { run settle  saturate { run turn } } }
    """
    graph = model("(float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    exploration = explore(rules, graph).exploration
    assert exploration.rules["settle"].applied == 1
    assert exploration.stopped_by == "saturated"


def test_limits_of_seconds_end_a_part() -> None:
    """The part that explodes is left at its own limit; the rest of the schedule runs."""
    rules = """
    rewrite grow: Add(a, b) => Add(Add(a, f32(0)), b)
    rewrite clean: Neg(Neg(x)) => x
    schedule main { saturate grow limit(seconds=0.2) run clean }
    """
    graph = model(
        "(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(a) c = Add(b, x) y = Relu(c) }"
    )
    saturated = explore(rules, graph)
    assert saturated.exploration.rules["clean"].applied >= 1
    assert saturated.exploration.seconds < 2


def test_what_no_schedule_reaches_does_not_run(line: Line) -> None:
    rules = RULES + "schedule main { run steps }\ncost model ours { _ = 1 }"
    graph = model("(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(a) y = Relu(b) }")
    answer = line(rules, graph, cost="ours")
    assert operators(answer.model) == ["Neg", "Neg", "Relu"]
    assert set(answer.outcome.exploration.rules) == {"step"}


def test_rulesets_within_rulesets(line: Line) -> None:
    rules = """rewrite a: Neg(Neg(x)) => x
    ruleset one { include a  rewrite b: Relu(Relu(x)) => Relu(x) }
    ruleset two { include one }
    schedule main { saturate two }"""
    graph = model("(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(a) c = Relu(b) y = Relu(c) }")
    assert terms(line(rules, graph).model) == {"y": "Relu(x)"}


def test_imported_files_are_rulesets(line: Line) -> None:
    (line.directory / "part.tsat").write_text("rewrite a: Neg(Neg(x)) => x\n")
    rules = """import "part.tsat" as part
    rewrite b: Relu(Relu(x)) => Relu(x)
    schedule main { saturate part }"""
    graph = model("(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(a) c = Relu(b) y = Relu(c) }")
    answer = line(rules, graph)
    assert terms(answer.model) == {"y": "Relu(Relu(x))"}
    assert set(answer.outcome.exploration.rules) == {"part.a"}


NEGS = "(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(a) y = Relu(b) }"


@pytest.mark.parametrize(
    ("rules", "exact", "fires"),
    [
        ("rewrite r: Neg(Neg(x)) => x", True, True),
        ("@real rewrite r: Neg(Neg(x)) => x", False, True),
        ("@real rewrite r: Neg(Neg(x)) => x", True, False),
        ("@real ruleset s { rewrite r: Neg(Neg(x)) => x }", True, False),
        ('@off("slow") rewrite r: Neg(Neg(x)) => x', False, False),
        ('@off("slow") rewrite r: Neg(Neg(x)) => x\nschedule main { run r }', False, True),
    ],
)
def test_annotations(line: Line, rules: str, exact: bool, fires: bool) -> None:
    answer = line(rules, model(NEGS), exact=exact)
    assert terms(answer.model) == {"y": "Relu(x)" if fires else "Relu(Neg(Neg(x)))"}


def test_expansive_rules_run_within_their_limit() -> None:
    rules = """@expansive rewrite double: (x: f32[2]) => Neg(Neg(x))
    schedule main { saturate double limit(iters=2) }"""
    saturated = explore(rules, model("(float[2] x) => (float[2] y) { y = Relu(x) }"))
    # The first step gives x and y a negation each; the second gives one to these and no more,
    # as the negation of the negation of x is x.
    assert saturated.exploration.steps == 2
    assert len(applications(saturated, "Neg")) == 4


def test_cost_models_of_rule_files(line: Line) -> None:
    rules = """rewrite r: Add(MatMul(a, b), c) => Gemm(a, b, c)
      where rank(a) == 2, rank(b) == 2, rank(c) == 2
    cost model ours {
      MatMul = 2 * numel(y) * dim(a, -1)
      Gemm = 2 * numel(y) * dim(a, 1) + 1
      Add = numel(c)
    }"""
    graph = model(
        "(float[2,3] x, float[3,4] v, float[2,4] u) => (float[2,4] y) "
        "{ a = MatMul(x, v) y = Add(a, u) }"
    )
    outcome = line(rules, graph, cost="ours").outcome
    # MatMul: 2 * 8 * 3; Add: 8.
    assert (outcome.cost_before, outcome.cost_after) == (56, 49)


def test_equal_nodes_are_counted_each_before_and_once_after(line: Line) -> None:
    graph = model("(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(x) y = Add(a, b) }")
    outcome = line("rewrite r: Relu(Relu(x)) => Relu(x)", graph).outcome
    assert (outcome.cost_before, outcome.cost_after) == (3, 2)


def test_what_depends_on_weights_alone_is_free(line: Line) -> None:
    graph = model(
        "(float[2] x) => (float[2] y) <float[2] w> { a = Neg(w) b = Relu(a) y = Add(x, b) }"
    )
    outcome = line("rewrite r: Relu(Relu(x)) => Relu(x)", graph).outcome
    assert outcome.cost_before == outcome.cost_after == 1
