"""Sizes and values that are tried on a model's inputs."""

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from onnx import parser

from tensat_dl.graph.running.run import CannotRun
from tensat_dl.graph.verifying.feeds import FeedSearch
from tensat_dl.graph.verifying.sizes import SizeChoices
from tensat_dl.graph.verifying.slots import Inputs, InputSlot, inputs_to_feed

HEAD = '<ir_version: 9, opset_import: ["": 18]>'


class Demanding:
    """Accepts what `test` accepts, and counts how often it was asked."""

    name = "a test"

    def __init__(self, test: Any) -> None:
        self.test = test
        self.asked = 0

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        self.asked += 1
        if not self.test(**feeds):
            raise CannotRun("no")
        return list(feeds.values())


def inputs(text: str) -> Inputs:
    return inputs_to_feed(parser.parse_model(HEAD + text))


def test_samples_use_different_sizes_and_one() -> None:
    choices = SizeChoices(inputs("g (float[N,M] x) => (float[N] y) { y = Op(x) }"), {})
    first = [next(choices.for_sample(sample)) for sample in range(3)]
    assert first == [{"N": 2, "M": 3}, {"N": 1, "M": 1}, {"N": 3, "M": 7}]


def test_fixed_sizes_stay() -> None:
    choices = SizeChoices(inputs("g (float[N,M] x) => (float[N] y) { y = Op(x) }"), {"N": 8})
    assert all(sizes["N"] == 8 for sample in range(3) for sizes in choices.for_sample(sample))


def test_dims_that_are_sums_follow_their_parts() -> None:
    found = (
        InputSlot("past", 1, ("batch", "old")),
        InputSlot("ids", 7, ("batch", "new")),
        InputSlot("mask", 7, ("batch", "old + new")),
    )
    for sizes in SizeChoices(Inputs(found), {}).for_sample(0):
        assert sizes["old + new"] == sizes["old"] + sizes["new"]


@pytest.mark.parametrize("name", ["n +", "-n", "n / 0", "n @ n"])
def test_dims_that_only_look_like_sums(name: str) -> None:
    found = (InputSlot("x", 1, ("n",)), InputSlot("y", 1, (name,)))
    assert all(s[name] >= 0 for s in SizeChoices(Inputs(found), {}).for_sample(0) if name in s)


def test_dims_without_a_name_are_named_by_place() -> None:
    (slot,) = inputs("g (float[?,3,?,None,None] x) => (float y) { y = Op(x) }").slots
    assert slot.dims == ("x.0", 3, "x.2", "x.3", "x.4")


def test_a_size_that_is_demanded() -> None:
    runner = Demanding(lambda x: x.shape[1] % 32 == 0)
    search = FeedSearch(inputs("g (float[N,H] x) => (float y) { y = Op(x) }"), runner)
    assert [search.find(sample, 0).values["x"].shape for sample in range(3)] == [
        (2, 32),
        (1, 32),
        (3, 32),
    ]


@pytest.mark.parametrize(("height", "found"), [("H", 32), (9, 9)])
def test_a_batch_that_was_made_free_at_the_inputs_alone(height: int | str, found: int) -> None:
    """What is behind them was made for one image: that is found soon, and not sought again."""
    runner = Demanding(lambda x: x.shape[0] == 1 and x.shape[1] in (9, 32))
    search = FeedSearch(inputs(f"g (float[N,{height}] x) => (float y) {{ y = Op(x) }}"), runner)
    shapes = [search.find(sample, 0).values["x"].shape for sample in range(3)]
    assert shapes == [(1, found)] * 3
    assert runner.asked < 20


@pytest.mark.parametrize(
    "constant", [f"float[1,77] c = {{{', '.join(['0.5'] * 77)}}}", "int64[2] c = {-1, 77}"]
)
def test_a_size_that_constants_of_the_model_have(constant: str) -> None:
    """A table of 77 positions fits texts of 77 tokens alone, whatever the input's type says."""
    text = f"g (float[N,S] x) => (float y) <{constant}> {{ y = Op(x, c) }}"
    search = FeedSearch(inputs(text), Demanding(lambda x: x.shape[1] == 77))
    shapes = [search.find(sample, 0).values["x"].shape for sample in range(3)]
    assert shapes == [(2, 77), (1, 77), (3, 77)]


def test_sizes_that_fit_together() -> None:
    """As a Reshape to [2, 3, 4] demands of three free dims."""
    runner = Demanding(lambda x: x.size == 24)
    text = "g (float[A,B,C] x) => (float y) <int64[3] c = {2, 3, 4}> { y = Op(x, c) }"
    search = FeedSearch(inputs(text), runner)
    assert all(search.find(sample, 0).values["x"].size == 24 for sample in range(3))


def test_each_input_gets_the_widest_range_it_may_have() -> None:
    def accepts(ids: np.ndarray, kinds: np.ndarray) -> bool:
        return bool((abs(ids) < 10).all() and (kinds >= 0).all() and (kinds < 2).all())

    text = "g (int64[40] ids, int64[40] kinds) => (float y) { y = Op(ids, kinds) }"
    feed = FeedSearch(inputs(text), Demanding(accepts)).find(0, 0)
    assert feed.plan.ranges == {"ids": (-9, 10), "kinds": (0, 2)}


def test_later_samples_start_where_the_first_one_ended() -> None:
    runner = Demanding(lambda i: bool((i == 1).all()))
    search = FeedSearch(inputs("g (int64[9] i) => (float y) { y = Op(i) }"), runner)
    search.find(0, 0)
    runner.asked = 0
    search.find(1, 1)
    assert runner.asked == 1


def test_giving_up_says_why() -> None:
    search = FeedSearch(
        inputs("g (float[2] x) => (float y) { y = Op(x) }"), Demanding(lambda x: False)
    )
    with pytest.raises(CannotRun, match="no"):
        search.find(0, 0)


def test_inputs_that_were_refused_are_let_go() -> None:
    """Many are tried, and some are large."""
    tried: list[weakref.ref[np.ndarray]] = []

    def refuse(x: np.ndarray) -> bool:
        tried.append(weakref.ref(x))
        return False

    text = "g (float[N,4] x) => (float y) { y = Op(x) }"
    with pytest.raises(CannotRun):
        FeedSearch(inputs(text), Demanding(refuse)).find(0, 0)
    assert len(tried) > 10
    assert sum(array() is not None for array in tried[:-1]) == 0


def test_odd_samples_are_between_zero_and_one() -> None:
    runner = Demanding(lambda x: True)
    search = FeedSearch(inputs("g (float[500] x) => (float y) { y = Op(x) }"), runner)
    assert search.find(0, 0).values["x"].min() < -1
    x = search.find(1, 0).values["x"]
    assert 0 < x.min() < x.max() < 1


def test_inputs_that_no_memory_holds_are_refused_like_any_other() -> None:
    runner = Demanding(lambda **_: True)
    search = FeedSearch(
        inputs(f"g (float[{2**40},{2**20}] x) => (float y) {{ y = Op(x) }}"), runner
    )
    with pytest.raises(CannotRun, match="no input of that size"):
        search.find(0, seed=0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("float[6,4] x, int64[2] s", lambda x, s: s.min() > 0 and s.sum() == 6),
        ("float[N,4] x, int64[2] s", lambda x, s: s.min() > 0 and s.sum() == x.shape[0]),
        ("float[1,5,5] x, int64[2] s", lambda x, s: s.tolist() == [7, 8]),
        ("float[1,5,5] x, int64[2] s", lambda x, s: s.tolist() == [1, 5]),
        (
            "float[1,5,5] x, int64[2] s, int64[2] t",
            lambda x, s, t: s.tolist() == [7, 8] and t.tolist() == [1, 5],
        ),
    ],
)
def test_lists_that_are_demanded(text: str, wanted: Callable[..., bool]) -> None:
    """The parts of a split, the end of an output's shape, a window."""
    runner = Demanding(lambda **feeds: bool(wanted(**feeds)))
    search = FeedSearch(inputs(f"g ({text}) => (float[1,1,7,8] y) {{ y = Op(x) }}"), runner)
    first, second = (search.find(sample, sample).values["s"] for sample in range(2))
    assert first.shape == second.shape == (2,)


SWITCHED = """g (int64 rate, float[N] x) => (float[N] y) <int64 high = {16000}> {
    low = Constant<value_int=8000>() one = Identity(rate) is_low = Equal(low, one)
    y = If(is_low) <
        then_branch = t () => (float[N] p) { p = Neg(x) },
        else_branch = e () => (float[N] q) {
            is_high = Equal(rate, high) q = If(is_high) <
                then_branch = t2 () => (float[N] r) { r = Exp(x) },
                else_branch = e2 () => (float[N] s) { s = Abs(x) }
            >
        }
    >
}"""


def test_samples_go_the_ways_that_numbers_open() -> None:
    """8000, 16000 and neither, by turns."""
    found = inputs(SWITCHED)
    assert found.switches == {"rate": (8000, 16000)}
    search = FeedSearch(found, Demanding(lambda **_: True))
    rates = [int(search.find(sample, seed=sample).values["rate"]) for sample in range(4)]
    assert (rates[0], rates[1], rates[3]) == (8000, 16000, 8000)
    assert 0 <= rates[2] < 10


def test_a_number_without_which_nothing_runs_is_found() -> None:
    search = FeedSearch(inputs(SWITCHED), Demanding(lambda rate, x: rate == 16000))
    assert [int(search.find(sample, seed=0).values["rate"]) for sample in range(3)] == [16000] * 3


def test_only_single_integers_have_numbers() -> None:
    """A list that is one number throughout is no usual one: all words a padding."""
    text = "g (int64[4] ids) => (bool[4] y) <int64 pad = {7}> { y = Equal(ids, pad) }"
    assert inputs(text).switches == {}
