"""Warnings that look at a rule beside the others: implied, feeding itself, leading nowhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_program, load_text, shipped_names
from tensat_dl.rule_tests.run import run_tests
from tensat_dl.settings import Settings


def warnings(text: str) -> list[tuple[str, str]]:
    """Code and rule of each warning of a file without errors."""
    diagnostics = Diagnostics()
    assert load_text(text, "mine.tsat", diagnostics) is not None, list(diagnostics)
    named = [(found.code, found.message.split("`")) for found in diagnostics]
    return [(code, parts[1] if len(parts) > 1 else "") for code, parts in named]


def implied(first: str, second: str) -> bool:
    """Is the second rule implied by the first?"""
    return warnings(f"{first.replace(':', ' a:', 1)}\n{second.replace(':', ' b:', 1)}") == [
        ("W0406", "b")
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # inside of a term, with a rule that keeps types
        ("rewrite: Neg(Neg(x)) => x", "rewrite: Relu(Neg(Neg(x))) => Relu(x)"),
        ("rewrite: Identity(x) => x", "rewrite: Conv(Identity(x), w) => Conv(x, w)"),
        # more special in inputs, attributes, types, conditions
        ("rewrite: Add(x, y) => Sum(x, y)", "rewrite: Add(x, Neg(x)) => Sum(Neg(x), x)"),
        (
            "rewrite: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(p, q))",
            "rewrite: Transpose(Transpose(x, perm=[1, 0]), perm=q)"
            " => Transpose(x, perm=compose([1, 0], q))",
        ),
        (
            "rewrite: Conv(Identity(x), w, b?, **a) => Conv(x, w, b, **a)",
            "rewrite: Conv(Identity(x), w, group=2) => Conv(x, w, group=2)",
        ),
        (
            "rewrite: MatMul(Identity(x: T[M, K]), w) => MatMul(x, w)",
            "rewrite: MatMul(Identity(x: f32[4, N]), w) => MatMul(x, w)",
        ),
        (
            "rewrite: MatMul(Identity(x), w) => MatMul(x, w) where weight(w)",
            "rewrite: MatMul(Identity(x), Neg(u)) => MatMul(x, Neg(u))"
            " where rank(x) == 2, weight(u)",
        ),
        ("rewrite: Mul(x, 1) => x", "rewrite: Mul(x, f32(1)) => x"),
    ],
)
def test_a_rule_that_another_implies(first: str, second: str) -> None:
    assert implied(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # another result
        ("rewrite: Neg(Neg(x)) => x", "rewrite: Relu(Neg(Neg(x))) => Abs(x)"),
        # the first asks for more
        ("rewrite: Neg(Neg(x: f32[M])) => x", "rewrite: Relu(Neg(Neg(x))) => Relu(x)"),
        (
            "rewrite: Identity(x) => x where rank(x) == 2",
            "rewrite: Relu(Identity(x)) => Relu(x) where rank(x) == 3",
        ),
        (
            "rewrite: Conv(Identity(x), w) => Conv(x, w)",
            "rewrite: Conv(Identity(x), w, group=2) => Conv(x, w, group=2)",
        ),
        ("rewrite: Add(x, x) => Sum(x, x)", "rewrite: Add(x, y) => Sum(x, y)"),
        (
            "rewrite: Conv(Identity(x), w, b) => Conv(x, w, b)",
            "rewrite: Conv(Identity(x), w, b?) => Conv(x, w, b)",
        ),
        # the first holds over the reals only
        ("@real rewrite: Neg(Neg(x)) => x", "rewrite: Relu(Neg(Neg(x))) => Relu(x)"),
        # the first does not run
        ('@off("slow") rewrite: Neg(Neg(x)) => x', "rewrite: Relu(Neg(Neg(x))) => Relu(x)"),
        # inside, the first would have to keep the type, and does not know of it
        (
            "rewrite: Cast(x, to=_, saturate=_) => x",
            "rewrite: Cast(Cast(x, to=_, saturate=_), to=c, saturate=s)"
            " => Cast(x, to=c, saturate=s)",
        ),
    ],
)
def test_a_rule_that_another_does_not_imply(first: str, second: str) -> None:
    text = f"{first.replace(':', ' a:', 1)}\n{second.replace(':', ' b:', 1)}"
    assert ("W0406", "b") not in warnings(text)


UNARY = st.sampled_from(["Relu", "Neg", "Abs", "Sign"])  # of the same element types
TERMS = st.recursive(
    st.sampled_from(["x", "y"]),
    lambda inner: (
        st.builds("{}({})".format, UNARY, inner)
        | st.builds("{}({}, {})".format, st.sampled_from(["Sub", "Div"]), inner, inner)
    ),
    max_leaves=4,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(left=TERMS, right=TERMS, x=TERMS, y=TERMS, around=st.lists(UNARY, max_size=2))
def test_what_is_put_into_a_rule_is_implied_by_it(
    left: str, right: str, x: str, y: str, around: list[str]
) -> None:
    """A special case of a rule, inside of something, follows from the rule."""
    names = set(re.findall(r"\b[xy]\b", left))
    assume("(" in left and set(re.findall(r"\b[xy]\b", right)) <= names and left != right)

    def special(term: str) -> str:
        for operator in around:
            term = f"{operator}({term})"
        return re.sub(r"\b[xy]\b", lambda name: {"x": x, "y": y}[name.group()], term)

    general = f"rewrite a: {left} => {right}"
    case = f"rewrite b: {special(left)} => {special(right)}"
    assume(special(left) != special(right))
    keeps_types = not re.search(r"Sub|Div", left + right)
    assume(keeps_types or not around)
    found = [(code, rule) for code, rule in warnings(f"{general}\n{case}") if rule == "b"]
    assert found in ([("W0406", "b")], [("W0403", "b")])


def test_a_rule_for_commutativity_says_nothing() -> None:
    assert warnings("rewrite a: Add(x, y) => Add(y, x)") == [("W0402", "")]
    assert warnings("rewrite a: Relu(Mul(x, Add(y, z))) <=> Relu(Mul(Add(z, y), x))") == [
        ("W0402", "")
    ]
    assert warnings("rewrite a: Sub(x, y) => Neg(Sub(y, x))") == []
    assert warnings("rewrite a: Relu(x) => Relu(x)") == [("W0402", "")]


def test_a_rule_that_runs_without_the_other_stays() -> None:
    rules = "rewrite a: Neg(Neg(x)) => x\nrewrite b: Relu(Neg(Neg(x))) => Relu(x)\n"
    assert warnings(f"{rules}schedule main {{ run b saturate {{ run a run b }} }}") == []
    assert warnings(f"{rules}schedule main {{ saturate {{ run a run b }} }}") == [("W0406", "b")]
    assert warnings(f"{rules}ruleset c {{ include a, b }} schedule main {{ run c }}") == [
        ("W0406", "b")
    ]


def test_the_first_of_two_that_imply_each_other_stays() -> None:
    one, two = "Identity(Neg(x)) => Neg(x)", "Identity(x) => x"
    assert warnings(f"rewrite a: {one}\nrewrite b: {two}") == [("W0406", "a")]
    assert warnings(f"rewrite a: {two}\nrewrite b: {one}") == [("W0406", "b")]
    mutual = (
        "rewrite a: Add(x, y) => Sum(x, y)\nrewrite b: Add(y, Identity(x)) => Sum(y, Identity(x))"
    )
    assert warnings(mutual) == [("W0406", "b")]


@pytest.mark.parametrize(
    ("rule", "grows"),
    [
        ("Exp(x) => Log(Exp(Exp(x)))", True),
        ("MatMul(x, y) => Transpose(MatMul(Transpose(y), Transpose(x)))", True),
        ("Sub(x, y) => Neg(Sub(Neg(y), x))", True),  # x, then -y, then -(-y), ...
        ("Sub(x, y) => Neg(Sub(Neg(y), y))", False),  # the second round finds what there is
        ("Exp(x) => Exp(Identity(x))", False),  # the result is the class that was matched
        ("Log(Exp(x)) => Log(Neg(Exp(x)))", False),  # no logarithm inside
        ("Exp(x) => Log(Exp(Exp(x))) where rank(x) == 2", False),  # may end by the condition
        ("MatMul(MatMul(a, b), c) <=> MatMul(a, MatMul(b, c))", False),
    ],
)
def test_a_rule_that_feeds_itself(rule: str, grows: bool) -> None:
    found = warnings(f"rewrite a: {rule}\nrewrite b: Log(Exp(x)) => Identity(Identity(x))")
    assert [code for code, name in found if name == "a"] == (["W0407"] if grows else [])


def test_what_is_meant_to_grow_is_marked() -> None:
    text = "@expansive rewrite a: Exp(x) => Log(Exp(Exp(x)))\n"
    text += "rewrite b: Log(Exp(x)) => Identity(Identity(x))\n"
    assert warnings(f"{text}schedule main {{ saturate {{ run a run b }} limit(iters=2) }}") == []


@pytest.mark.parametrize(
    ("rules", "useless"),
    [
        ("rewrite a: Relu(x: T[*S]) => Max(Relu(x), T(0))", True),
        # something goes on from the maximum
        (
            "rewrite a: Relu(x: T[*S]) => Max(Relu(x), T(0))\nrewrite b: Max(x, y) => Sum(x, y)",
            False,
        ),
        # the result does not hold what was matched
        ("rewrite a: Relu(x: T[*S]) => Max(x, T(0))", False),
        # as above, where what is new is an operator of the pattern
        ("rewrite a: Relu(x) => Relu(Relu(x))", True),
        (
            "rewrite a: Add(x, y) => Add(Neg(Neg(Add(x, y))), y)\nrewrite b: Add(x, 0) => Abs(x)",
            False,
        ),
        # a fact follows from the maximum
        (
            "rewrite a: Relu(x: T[*S]) => Max(Relu(x), T(0))\nrelation up(x: Tensor)\n"
            "derive up(y) if y = Max(x, c)\nrewrite b: Abs(x) => Identity(x) where up(x)",
            False,
        ),
    ],
)
def test_a_rule_that_can_lower_no_cost(rules: str, useless: bool) -> None:
    assert warnings(rules) == ([("W0408", "a")] if useless else [])


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_rules_have_no_warnings(name: str) -> None:
    diagnostics = Diagnostics()
    load_program([name], diagnostics)
    assert [(found.code, found.message) for found in diagnostics] == []


@pytest.mark.parametrize(
    "text",
    [
        "rewrite a: {n} => Relu(x)\nrewrite b: {n} => Abs(x)",
        "rewrite a: {n} => Relu({n})",
        "rule a {{ match {{ {rows} }} emit {{ y60 = y0 }} }}",
        "rule a {{ match {{ y = Relu(x) }} emit {{ y0 = x {rows} y = y60 }} }}",
        "{many}",
    ],
)
def test_large_rules_take_no_time(text: str) -> None:
    import time

    shapes = {
        "n": "Add(" * 90 + "x" + ", x)" * 90,
        "rows": " ".join(f"y{i + 1} = Add(y{i}, y{i})" for i in range(60)),
        "many": "\n".join(
            f"rewrite r{i}: Relu(Neg(Relu(Neg(Relu(Add(x, f32({i}))))))) => Abs(x)"
            for i in range(150)
        ),
    }
    started = time.process_time()
    load_text(text.format(**shapes), "mine.tsat", Diagnostics())
    assert time.process_time() - started < 2.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "left", "right", "inputs"),
    [
        ("Neg(Neg(x)) => x", "Relu(Neg(Neg(x)))", "Relu(x)", "x: f32[2, 3]"),
        ("Sub(x, y) => Add(x, Neg(y))", "Sub(x, Relu(x))", "Add(x, Neg(Relu(x)))", "x: f32[2, 3]"),
        (
            "Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(p, q))",
            "Transpose(Transpose(x, perm=[1, 0, 2]), perm=[2, 1, 0])",
            "Transpose(x, perm=compose([1, 0, 2], [2, 1, 0]))",
            "x: f32[2, 3, 4]",
        ),
        (
            "Conv(Identity(x), w, b?, **a) => Conv(x, w, b, **a)",
            "Conv(Identity(x), w, group=2)",
            "Conv(x, w, group=2)",
            "x: f32[1, 4, 5, 5], w: f32[6, 2, 3, 3]",
        ),
    ],
)
def test_the_engine_agrees(rule: str, left: str, right: str, inputs: str) -> None:
    """What is said to follow from a rule is found by the rule alone, and not without it."""
    assert warnings(f"rewrite a: {rule}\nrewrite b: {left} => {right}") == [("W0406", "b")]
    program = load_text(
        f"rewrite a: {rule}\nrewrite other: Abs(Abs(x)) => Abs(x)\n"
        f'test "with" using a {{ input {inputs} given y = {left} expect y == {right} }}\n'
        f'test "without" using other {{ input {inputs} given y = {left} expect not y == {right} }}',
        "mine.tsat",
        Diagnostics(),
    )
    assert program is not None
    results = list(run_tests(program, Settings(), ""))
    assert [(result.case.title, result.ok) for result in results] == [
        ("with", True),
        ("without", True),
    ]
