"""Times by signature: the least counts, and what is run alike shares it."""

from __future__ import annotations

from tensat_dl.cost.measured.times import Times


def test_the_least_of_all_measurements_counts() -> None:
    times = Times()
    for seconds in (3.0, 2.0, 4.0):
        times.add("a", seconds)
    assert (times.get("a"), times.get("b"), times.get(None)) == (2.0, None, None)


def test_signatures_of_one_key_have_the_least_time_of_all() -> None:
    times = Times()
    times.add("a", 3.0, "k")
    times.add("b", 2.0, "k")
    times.add("c", 1.0)
    assert [times.get(signature) for signature in "abc"] == [2.0, 2.0, 1.0]
    assert [times.key(signature) for signature in "abc"] == ["k", "k", ""]
    assert times.by_key == {"k": 2.0, "c": 1.0}
