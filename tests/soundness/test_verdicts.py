"""What a verdict says: the method, the reason, the conditions, a small counterexample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rule_files import program_of, refutation, statuses, verify

from tensat_dl.language.load import load_rules
from tensat_dl.soundness.findings import findings
from tensat_dl.soundness.necessity import Need, need_of
from tensat_dl.soundness.report import make_report
from tensat_dl.soundness.run import verify_program
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.verdict import Status
from tensat_dl.vocabulary.dtypes import DType

UNCACHED = Settings(cache=False)
IDEMPOTENT = "rewrite r: Relu(Relu(x)) => Relu(x)"


def test_polynomials_are_proved_with_an_error_probability() -> None:
    """Of two instances' rounds each, so below (degree / 2**31)**2."""
    rule = "@real\nrewrite r: Mul(a: f32[N], Add(b, c)) => Add(Mul(a, b), Mul(a, c))"
    verdict = verify(rule)["r"]
    assert dict(verdict.methods) == {"modular": 40}
    assert 0 < verdict.error <= (2 / (2**31 - 1)) ** 2


def test_order_is_tried_on_exact_numbers() -> None:
    verdict = verify("rewrite r: Max(x: f32[N], x) => x")["r"]
    assert verdict.method == "exact"
    assert verdict.status is Status.HOLDS


def test_an_uninterpreted_function_that_is_moved_is_proved() -> None:
    rule = "rewrite r: Relu(Transpose(x: f32[_, _], perm=p)) => Transpose(Relu(x), perm=p)"
    assert verify(rule)["r"].method == "modular"


def test_an_imported_rule_has_the_verdict_that_it_has_alone(tmp_path: Path) -> None:
    """A rule is drawn for under its own name, whatever the file is called where it is imported."""
    rule = "@real\nrewrite distribute: Mul(a, Add(b, c)) => Add(Mul(a, b), Mul(a, c))\n"
    (tmp_path / "own.tsat").write_text(f"language 1\n{rule}")
    (tmp_path / "all.tsat").write_text('language 1\nimport "own.tsat" as mine\n')
    alone, imported = (
        verify_program(program := load_rules(tmp_path / name), program.rules, UNCACHED)[0]
        for name in ("own.tsat", "all.tsat")
    )
    assert (alone.rule, imported.rule) == ("distribute", "mine.distribute")
    assert (alone.methods, alone.error) == (imported.methods, imported.error)


def test_each_way_of_deriving_a_fact_gets_its_instances() -> None:
    """Two plans: the fact of a Relu, and that of an Exp."""
    ways = ["derive up(y) if y = Relu(x)", "derive up(y) if y = Exp(x)"]
    rule = "relation up(y: Tensor)\n{}\n@real\nrewrite r: Relu(x) => x where up(x)"
    assert verify(rule.format(ways[0]))["r"].instances == 40
    assert verify(rule.format("\n".join(ways)))["r"].instances == 80


MYSTERY = 'op "com.acme"::Mystery(x: Tensor) -> y: Tensor { infer y = like(x) }\n'


@pytest.mark.parametrize(
    "rule",
    [
        '@real rewrite r: "com.acme"::Mystery(Neg(x)) => Neg("com.acme"::Mystery(x))',
        'rewrite r: Softplus(Neg(x)) => "com.acme"::Mystery(x)',
        """op Around(x: Tensor) -> y: Tensor { lower y = Neg("com.acme"::Mystery(x)) }
        rewrite r: Softplus(Neg(x)) => Around(x)""",
    ],
)
def test_what_depends_on_an_operator_that_nobody_knows_is_not_refuted(rule: str) -> None:
    """Mystery may be linear, and may be the other side: some function shows nothing of it."""
    verdict = verify(MYSTERY + rule)["r"]
    assert verdict.status is Status.NOT_EVALUATED
    reason = "whether it holds depends on what `Mystery` computes, which nothing here knows"
    assert verdict.reason == reason
    (found,) = findings(program_of(MYSTERY + rule), [verdict])
    assert (found.code, found.notes) == ("W1002", (reason,))


def test_a_condition_that_is_never_met_is_named() -> None:
    verdict = verify("rewrite r: Relu(Relu(x: f32[N])) => Relu(x) where rank(x) == 2")["r"]
    assert verdict.status is Status.NO_INSTANCE
    assert verdict.reason == "the condition `rank(x) == 2` was never met"


def test_conditions_that_exclude_each_other_are_named_together() -> None:
    rule = "rewrite r: Relu(Relu(x)) => Relu(x) where rank(x) == 2, rank(x) == 3"
    verdict = verify(rule)["r"]
    assert verdict.status is Status.NO_INSTANCE
    assert verdict.reason == (
        "the conditions `rank(x) == 2` and `rank(x) == 3` were never met together"
    )


def test_of_several_conditions_the_one_that_is_never_met_is_named() -> None:
    rule = "rewrite r: Relu(Relu(x)) => Relu(x) where rank(x) == 2, numel(x) < 0"
    assert verify(rule)["r"].reason == "the condition `numel(x) < 0` was never met"


def test_a_right_side_that_never_has_the_type_is_named() -> None:
    verdict = verify("rewrite r: Neg(x) => Unsqueeze(x, i64([0]))")["r"]
    assert verdict.status is Status.NO_INSTANCE
    assert "the right side never had its type: the type would change from " in verdict.reason


def test_sides_of_two_types_are_kept_apart_unless_there_is_no_guard() -> None:
    """`x` is as large as the sum where `c` adds no axis and no size."""
    rule = "@real rewrite r: Add(x, Sub(c: T[N], c)) => x"
    kept, refuted = verify(rule)["r"], verify(rule, unguarded=True)["r"]
    assert kept.status is Status.HOLDS
    assert kept.apart > 0
    found = refutation(refuted)
    dims = {t.name: tuple(eval(t.type.removeprefix("f32"))) for t in found.inputs}
    assert found.left.type == f"f32{list(np.broadcast_shapes(dims['x'], dims['c']))}"
    assert found.right.type == f"f32{list(dims['x'])}" != found.left.type


def test_a_right_side_that_always_has_another_type_is_refuted_without_the_guard() -> None:
    rule = "rewrite r: Neg(x) => Unsqueeze(x, i64([0]))"
    found = refutation(verify(rule, unguarded=True)["r"])
    assert (found.left.type, found.right.type) == ("f32[]", "f32[1]")


def test_a_group_is_kept_apart_as_a_whole() -> None:
    rule = """
        rule r {
          match each (y, w, N) by (x) { y = MatMul(x: T[M, K], w: T[K, N]) }
          emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=0) }
        }"""
    found = refutation(verify(rule, unguarded=True)["r"])
    assert found.left.name.startswith("y[")


def test_a_fact_that_nothing_derives_is_named() -> None:
    text = """
        relation never(x: Tensor)
        rewrite r: Relu(Relu(x)) => Relu(x) where never(x)"""
    verdict = verify(text)["r"]
    assert verdict.status is Status.NO_INSTANCE
    assert verdict.reason == "nothing derives a fact that the rule asks for"


def test_needed_and_needless_conditions() -> None:
    text = """
        rewrite r: Gather(MatMul(x, w: T[_, _]), i, axis=k) => MatMul(Gather(x, i, axis=k), w)
          where k < rank(x) - 1, numel(i) < 100"""
    verdict = verify(text, samples=60)["r"]
    assert verdict.status is Status.HOLDS
    assert verdict.needed == ("k < rank(x) - 1",)
    assert verdict.unneeded == ()  # no instance is that large


def test_a_needless_condition_is_a_warning_with_the_stronger_rule() -> None:
    program = program_of("rewrite r: Relu(Relu(x)) => Relu(x) where rank(x) == 2, numel(x) > 3")
    verdicts = verify_program(program, program.rules, Settings(cache=False, processes=1))
    first, second = findings(program, verdicts)
    assert (first.code, first.severity.value) == ("W1001", "warning")
    assert first.span is not None
    assert first.span.file.text[first.span.start : first.span.end] == "rank(x) == 2"
    assert "`where numel(x) > 3`" in first.help
    assert "`where rank(x) == 2`" in second.help


NEEDED_WHERE = {
    "a slice is reversed": "Slice(x, s, e, axes, t) => x where min(value(t)) > 0",
    "a reversed slice reaches the summand": """Slice(Sub(x, c), s, e, axes, t)
      => Sub(Slice(x, s, e, axes, t), c) where rank(c) == 0""",
    "a factor is a vector": """MatMul(a, MatMul(b, MatMul(b, c)))
      => MatMul(MatMul(MatMul(a, b), b), c) where min(rank(a), rank(b), rank(c)) >= 2""",
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", NEEDED_WHERE.values(), ids=NEEDED_WHERE)
def test_a_condition_that_is_seldom_needed_is_found_needed_with_any_seed(rule: str) -> None:
    program = program_of("rewrite r: " + rule)
    (checked,) = program.rules
    (condition,) = checked.conditions
    found = {need_of(program, checked, condition, 40, seed) for seed in range(10)}
    assert found == {Need.NEEDED}


@pytest.mark.slow
def test_a_condition_that_is_not_needed_is_said_with_any_seed() -> None:
    """Few matrices have three elements or less, so that the second takes many attempts."""
    program = program_of("rewrite r: Relu(Relu(x)) => Relu(x) where rank(x) == 2, numel(x) > 3")
    (rule,) = program.rules
    for condition in rule.conditions:
        found = {need_of(program, rule, condition, 40, seed) for seed in (3, 5, 6)}
        assert found == {Need.UNNEEDED}


def test_nothing_is_said_of_a_condition_that_follows_from_the_types() -> None:
    program = program_of("rewrite r: Relu(Relu(x: f32[2, 2])) => Relu(x) where dim(x, 0) == 2")
    (rule,) = program.rules
    assert need_of(program, rule, rule.conditions[0], 40, 0) is Need.UNKNOWN


@pytest.mark.slow
def test_needless_conditions_that_are_meant() -> None:
    """`n` needs its condition: its allowance silences nothing."""
    program = program_of(
        """@allow(W1001)
        rewrite a: Relu(Relu(x)) => Relu(x) where rank(x) == 2
        @allow(W1001)
        ruleset some { rewrite b: Abs(Abs(x)) => Abs(x) where rank(x) == 2 }
        @allow(W1001) @real
        rewrite n: Concat(x, y, axis=k) => Concat(y, x, axis=k) where dim(x, k) == 0"""
    )
    verdicts = verify_program(program, program.rules, Settings(cache=False, processes=1))
    assert {v.rule: bool(v.unneeded) for v in verdicts} == {"a": True, "b": True, "n": False}
    (found,) = findings(program, verdicts)
    assert (found.code, found.message) == ("W0404", "`@allow(W1001)` silences nothing")
    assert found.span is not None and found.span.position() == (6, 9)


def test_a_condition_that_one_operator_of_a_class_needs_is_needed() -> None:
    """`Identity` commutes with every factor, `Relu` with those that are not negative."""
    text = """
        class Piecewise = Relu | Identity
        @real
        rewrite r for F in Piecewise: F(Mul(x, c: f32[])) => Mul(F(x), c)
          where value(c) >= 0"""
    program = program_of(text)
    verdicts = verify_program(program, program.rules, Settings(cache=False, processes=1))
    found = {v.rule: v for v in verdicts}
    assert found["r@Relu"].needed == ("value(c) >= 0",)
    assert found["r@Identity"].unneeded == ("value(c) >= 0",)
    assert findings(program, verdicts) == []


def test_a_counterexample_is_small() -> None:
    """One element each, 1 and -1: nothing smaller refutes it."""
    verdict = verify("@real\nrewrite r: Relu(Add(a, b)) => Add(Relu(a), Relu(b))")["r"]
    found = refutation(verdict)
    assert all(np.asarray(tensor.elements).size == 1 for tensor in found.inputs)
    elements = [np.asarray(tensor.elements).item() for tensor in found.inputs]
    assert sum(map(abs, elements)) <= 4
    left, right = np.maximum(sum(elements), 0), np.maximum(elements, 0).sum()
    assert left != right
    assert found.left_element == left
    assert found.right_element == right


def test_a_counterexample_of_two_permutations_can_be_recomputed() -> None:
    rule = "rewrite r: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(q, p))"
    found = refutation(verify(rule)["r"])
    p, q = (eval(found.names[name]) for name in "pq")  # lists of numbers
    x = np.array(found.inputs[0].elements)
    expected = x.transpose(p).transpose(q)
    assert np.array_equal(expected, found.left.elements)
    assert expected[found.index] == found.left_element


def test_the_counterexample_of_an_overflow_is_the_least_integer() -> None:
    found = refutation(verify("rewrite r: Relu(Abs(a: i32[N])) => Abs(a)")["r"])
    assert found.inputs[0].elements == [-(2**31)]
    assert (found.left_element, found.right_element) == (0, -(2**31))
    assert found.computed == "in integers, which wrap"


@pytest.mark.slow
@pytest.mark.parametrize(
    "applied",
    [
        *("AffineGrid(a, b)", "BitShift(a, b, direction=d)", "Col2Im(a, b, c)"),
        *("DeformConv(a, b, c, d?, e?)", "RegexFullMatch(a, pattern=p)", "NonZero(a)"),
        *("QLinearMatMul(a, b, c, d, e, f, g, h)", "SoftmaxCrossEntropyLoss(a, b, c?)"),
    ],
)
def test_what_only_the_reference_evaluator_knows_is_computed(applied: str) -> None:
    right = applied.replace("?", "")
    verdict = verify(f"rewrite r: Identity({applied}) => {right}", samples=2)["r"]
    assert verdict.status is Status.HOLDS
    assert verdict.instances == 2


def test_equal_seeds_draw_equal_instances() -> None:
    text = "rewrite r: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(q, p))"
    first, second = verify(text, seed=3)["r"], verify(text, seed=3)["r"]
    assert first.counterexample == second.counterexample


def test_the_report_has_no_number_that_json_lacks() -> None:
    import json

    verdict = verify("rewrite r: Sub(x: f32[N], x) => Mul(x, f32(0))")["r"]
    assert verdict.status is Status.REFUTED
    text = json.dumps(make_report([verdict]), allow_nan=False)
    assert json.loads(text)["rules"][0]["status"] == "refuted"


def test_an_order_that_onnx_leaves_open_is_not_taken_for_one() -> None:
    """The reference evaluator sorts although `sorted` is 0; a runtime need not."""
    rule = (
        "rule r { match { v, i = TopK(x, k, axis=0, sorted=1) } "
        "emit { v, i = TopK(x, k, axis=0, sorted=0) } }"
    )
    verdict = verify(rule)["r"]
    assert verdict.status is Status.NOT_EVALUATED
    assert verdict.reason == "ONNX leaves the order open where `sorted` is 0"


def test_strings_are_compared_as_strings() -> None:
    """Operators that take nothing else get strings without a type in the rule."""
    verdicts = verify(
        "rewrite nested: StringConcat(StringConcat(a, b), c) => StringConcat(a, StringConcat(b, c))"
        "\nrewrite swapped: StringConcat(a, b) => StringConcat(b, a)"
        "\nrewrite read: Cast(Cast(x: i32[N], to=8), to=6) => x"
    )
    assert statuses(verdicts) == {"nested": "holds", "swapped": "refuted", "read": "holds"}
    found = refutation(verdicts["swapped"])
    a, b = (tensor.elements for tensor in found.inputs)
    assert np.char.add(a, b).tolist() == found.left.elements
    assert np.char.add(b, a).tolist() == found.right.elements


@pytest.mark.slow
def test_regions_scale_but_their_largest_does_not() -> None:
    """`max` takes the largest of products with interpolation weights: a negative scale turns it."""
    verdicts = verify(
        "@real rewrite avg: RoiAlign(Mul(x, c), r, b) => Mul(RoiAlign(x, r, b), c)"
        "  where rank(c) == 0\n"
        '@real rewrite max: RoiAlign(Mul(x, c), r, b, mode="max")'
        '  => Mul(RoiAlign(x, r, b, mode="max"), c) where rank(c) == 0'
    )
    assert statuses(verdicts) == {"avg": "holds", "max": "refuted"}
    found = refutation(verdicts["max"])
    images, _, _, chosen = (np.array(tensor.elements) for tensor in found.inputs)
    assert np.all((chosen >= 0) & (chosen < images.shape[0]))


def test_a_negative_pad_crops_before_the_edge_is_repeated() -> None:
    """1 2 3 cropped to 2 3 and padded by one is 2 2 3: the element that went does not return."""
    verdicts = verify(
        'rewrite back: Pad(Pad(x: f32[N], i64([-1, 0]), mode="edge"), i64([1, 0]), mode="edge")'
        "  => x"
        '\nrewrite on: Pad(Pad(x: f32[N], i64([-1, 1]), mode="edge"), i64([0, 1]), mode="edge")'
        '  => Pad(x, i64([-1, 2]), mode="edge")'
    )
    assert statuses(verdicts) == {"back": "refuted", "on": "holds"}


def test_a_name_of_an_element_type_is_shown_as_one() -> None:
    """`to` of Cast is a number in ONNX."""
    verdict = verify("rewrite r: Relu(Cast(x: i64, to=t)) => Cast(Neg(x), to=t)")["r"]
    assert verdict.counterexample is not None
    assert verdict.counterexample.names["t"] in {dtype.label for dtype in DType}
