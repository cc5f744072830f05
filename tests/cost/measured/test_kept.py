"""Comparisons that are kept: found for the same models and conditions alone, never made up."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tensat_dl.cost.measured import kept as kept_comparisons
from tensat_dl.cost.measured.cache import CostCache
from tensat_dl.cost.measured.comparison import Comparison, Conditions
from tensat_dl.cost.measured.kept import KeptComparisons, pair_key
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.cost.measured.rounds import MOST
from tensat_dl.cost.symbol_sizes import SymbolSizes

HERE = Setting("a machine", "a runtime 1.0", 1)
FASTER = Comparison(2.0, 1.0, 2.0, 1.9, 2.1, 8, {"N": 16})
SAME = Comparison(1.0, 1.0, 1.0, 0.99, 1.001, 12)
OPEN = Comparison(1.0, 1.0, 1.0, 0.98, 1.02, 20)
VAGUE = Comparison(1.0, 1.0, 1.0, 0.5, 2.0, MOST)


@pytest.fixture
def kept(tmp_path: Path) -> KeptComparisons:
    return KeptComparisons(CostCache(tmp_path / "new" / "costs.sqlite"), HERE)


def never() -> Comparison:
    raise AssertionError("nothing needs to be timed")


def times(comparison: Comparison) -> Callable[[], Comparison]:
    return lambda: comparison


@pytest.mark.parametrize("told", [FASTER, SAME, OPEN])
def test_what_was_told_is_found_again(kept: KeptComparisons, told: Comparison) -> None:
    assert kept.get("a", times(told)) == told
    assert kept.get("a", never) == replace(told, cached=True)
    assert kept.get("b", times(VAGUE)) == VAGUE
    for other in (replace(HERE, machine="m"), replace(HERE, runtime="r"), replace(HERE, threads=0)):
        assert replace(kept, setting=other).get("a", times(VAGUE)) == VAGUE


@pytest.mark.parametrize("untold", [VAGUE, Comparison(refused="too long"), Comparison()])
def test_what_tells_too_little_is_timed_again(kept: KeptComparisons, untold: Comparison) -> None:
    kept.get("a", times(untold))
    assert kept.get("a", times(FASTER)) == FASTER


def test_who_wants_it_anew_gets_it_and_leaves_it_to_others(kept: KeptComparisons) -> None:
    kept.get("a", times(SAME))
    assert replace(kept, anew=True).get("a", times(FASTER)) == FASTER
    assert kept.get("a", never).ratio == 2.0


@pytest.mark.parametrize(
    "content",
    [
        *("", "{}", "[1]", "no JSON", '{"low": 2.0}', b"\xff", "[" * 100_000),
        json.dumps(asdict(replace(FASTER, rounds=-1))),
        json.dumps(asdict(replace(FASTER, threads=-1))),
        json.dumps({**asdict(FASTER), "sizes": {"N": "many"}}),
    ],
    ids=range(10),
)
def test_a_damaged_row_counts_as_none(kept: KeptComparisons, content: str | bytes) -> None:
    kept.get("a", times(FASTER))
    connection = sqlite3.connect(kept.cache.path)
    with connection:
        connection.execute("UPDATE comparisons SET content = ?", (content,))
    connection.close()
    assert kept.get("a", times(SAME)) == SAME
    assert kept.get("a", never) == replace(SAME, cached=True)


def test_a_file_of_before_there_were_comparisons_takes_them(kept: KeptComparisons) -> None:
    kept.cache.store(HERE, {"s": 1.0})
    connection = sqlite3.connect(kept.cache.path)
    with connection:
        connection.execute("DROP TABLE IF EXISTS comparisons")
    connection.close()
    assert kept.get("a", times(FASTER)) == FASTER
    assert kept.get("a", never).cached
    assert kept.cache.load(HERE) == {"s": 1.0}


def test_a_file_that_is_none_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"no database" * 400)
    kept = KeptComparisons(CostCache(tmp_path / "c"), HERE)
    assert kept.get("a", times(FASTER)) == FASTER
    assert kept.get("a", times(SAME)) == SAME


def test_the_key_has_all_that_a_comparison_depends_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conditions = Conditions({"N": 2}, SymbolSizes(16), 3.0)
    inputs = tmp_path / "in.npz"
    inputs.write_bytes(b"one")
    given = replace(conditions, input_data=str(inputs))
    keys = [
        pair_key("a", "b", conditions),
        pair_key("b", "a", conditions),
        pair_key("a", "c", conditions),
        pair_key("a", "b", replace(conditions, dims={"N": 3})),
        pair_key("a", "b", replace(conditions, sizes=SymbolSizes(8))),
        pair_key("a", "b", given),
    ]
    inputs.write_bytes(b"two")
    keys.append(pair_key("a", "b", given))
    with monkeypatch.context() as changed:
        changed.setattr(kept_comparisons, "_code", lambda: "other code")
        keys.append(pair_key("a", "b", conditions))
    assert len(set(keys)) == len(keys)
    assert pair_key("a", "b", replace(conditions, seconds=1.0)) == keys[0]
    assert pair_key("", "b", conditions) == pair_key("a", "", conditions) == ""
