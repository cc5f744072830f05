"""Settings from files and flags: values, precedence, and messages."""

import dataclasses
import typing
from enum import StrEnum
from pathlib import Path

import pytest

from tensat_dl import config, config_schema
from tensat_dl.errors import UsageError
from tensat_dl.settings import Settings

#: A number of more digits than Python reads, and brackets nested deeper than it recurses.
NINES = "9" * 5000
OPEN = "[" * 5000


def message(*sources: config.Source) -> str:
    with pytest.raises(UsageError) as caught:
        config.merge(sources)
    return caught.value.message


def tables(**content: object) -> config.Source:
    return config.Source("here", content)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_without_a_file_there_are_the_defaults(tmp_path: Path) -> None:
    assert config.load_settings(directory=tmp_path) == Settings()


def test_tensat_toml_of_the_directory_is_read(tmp_path: Path) -> None:
    write(tmp_path / "tensat.toml", '[explore]\nenodes = 7\n[extract]\nsolver = "highs"\n')
    settings = config.load_settings(directory=tmp_path)
    assert (settings.explore.enodes, settings.extract.solver) == (7, "highs")
    assert settings.explore.seconds == Settings().explore.seconds


def test_a_byte_order_mark_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "tensat.toml").write_bytes(b"\xef\xbb\xbf[explore]\r\nenodes = 7\r\n")
    assert config.load_settings(directory=tmp_path).explore.enodes == 7


def test_pyproject_table_is_read_where_there_is_no_tensat_toml(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.tensat-dl.verify]\nsamples = 9\n")
    assert config.load_settings(directory=tmp_path).verify.samples == 9
    write(tmp_path / "tensat.toml", "[verify]\nsamples = 4\n")
    assert config.load_settings(directory=tmp_path).verify.samples == 4


@pytest.mark.parametrize("text", ["[project]\nname = 'x'\n", "not toml ["])
def test_pyproject_of_others_is_left_alone(tmp_path: Path, text: str) -> None:
    write(tmp_path / "pyproject.toml", text)
    assert config.load_settings(directory=tmp_path) == Settings()


def test_an_explicit_file_wins_over_those_of_the_directory(tmp_path: Path) -> None:
    write(tmp_path / "tensat.toml", "[explore]\nenodes = 1\n")
    other = write(tmp_path / "other.toml", "[explore]\nseconds = 5\n")
    settings = config.load_settings(other, directory=tmp_path)
    assert settings.explore == dataclasses.replace(Settings().explore, seconds=5.0)


def test_later_sources_win_key_by_key_and_maps_are_joined() -> None:
    settings = config.merge(
        [
            tables(model={"dims": {"batch": 1, "seq": 8}}, explore={"enodes": 10}),
            config.dim_assignment("batch=2"),
            config.assignment("explore.seconds=3"),
        ]
    )
    assert settings.model.dims == {"batch": 2, "seq": 8}
    assert (settings.explore.enodes, settings.explore.seconds) == (10, 3.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("explore.cycles=prune", {"explore": {"cycles": "prune"}}),
        ("extract.options.threads=2", {"extract": {"options": {"threads": 2}}}),
        ("extract.options.ratio = 0.5", {"extract": {"options": {"ratio": 0.5}}}),
        ('extract.options."mip.gap"=true', {"extract": {"options": {"mip.gap": True}}}),
        ("extract.options.presolve=on=off", {"extract": {"options": {"presolve": "on=off"}}}),
        ("explore.memory=4GiB", {"explore": {"memory": "4GiB"}}),
        ('cost.model="mine"', {"cost": {"model": "mine"}}),
        ("model.dims.batch=1_000", {"model": {"dims": {"batch": 1000}}}),
        pytest.param(f"a.b={NINES}", {"a": {"b": NINES}}, id="endless"),
        pytest.param(f"a.b={OPEN}", {"a": {"b": OPEN}}, id="deep"),
    ],
)
def test_assignments(text: str, expected: object) -> None:
    assert config.assignment(text).tables == expected


@pytest.mark.parametrize("text", ["explore.cycles", "=3", "a b=3", "explore..cycles=check"])
def test_assignments_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        config.assignment(text)


def test_a_list_without_the_quotes_that_a_shell_took() -> None:
    with pytest.raises(UsageError, match="no list or table of TOML") as caught:
        config.assignment("extract.reductions=[free, alias]")
    assert "--set 'extract.ties=[\"nodes\"]'" in caught.value.help


@pytest.mark.parametrize("text", ["batch", "batch=", "=1", "batch=-1", "batch=x", f"n={NINES}"])
def test_dims_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="--dim"):
        config.dim_assignment(text)


def test_dims_may_have_any_name() -> None:
    assert config.dim_assignment("past + 1=4").tables == {"model": {"dims": {"past + 1": 4}}}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 << 30),
        ("512MiB", 512 << 20),
        ("1.5 GiB", 3 << 29),
        ("2GB", 2_000_000_000),
        ("100m", 100_000_000),
        ("1_000_000_000", 1_000_000_000),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert config.merge([tables(explore={"memory": text})]).explore.memory == size


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"explore": {"enode": 3}}, "unknown key `enode` in [explore]; did you mean `enodes`?"),
        ({"explorer": {}}, "unknown table `explorer`; did you mean `explore`?"),
        ({"enodes": 3}, "unknown table `enodes`; did you mean `explore.enodes`?"),
        ({"rules": {"zzz": 3}}, "unknown key `zzz` in [rules]; there are: bodies, exact"),
        ({"explore": 3}, "`explore` is a table"),
        ({"explore": {"enodes": "many"}}, "`explore.enodes` is a whole number, not 'many'"),
        ({"explore": {"enodes": True}}, "`explore.enodes` is a whole number, not True"),
        ({"explore": {"enodes": 2.5}}, "`explore.enodes` is a whole number, not 2.5"),
        ({"explore": {"enodes": 0}}, "`explore.enodes` must be at least 1, not 0"),
        ({"explore": {"seconds": float("nan")}}, "`explore.seconds` is a finite number"),
        ({"explore": {"memory": "4 cats"}}, "`explore.memory` is a size such as 4GiB"),
        ({"explore": {"memory": 5}}, "`explore.memory` must be at least 67_108_864, not 5"),
        ({"explore": {"cycles": "never"}}, "is one of check, prune, allow, not 'never'"),
        ({"extract": {"gap": 2}}, "`extract.gap` must be from 0.0 to 1.0, not 2.0"),
        (
            {"extract": {"reductions": ["free", "dominator"]}},
            "`extract.reductions` holds an unknown name `dominator`; did you mean `dominators`?",
        ),
        ({"extract": {"reductions": "free"}}, "`extract.reductions` is a list of strings"),
        ({"extract": {"options": 3}}, "`extract.options` is a table of names and values, not 3"),
        ({"extract": {"options": {"a": [1]}}}, "`a` is a list"),
        ({"model": {"dims": {"n": 1.5}}}, "`model.dims` holds whole numbers from 0 up; `n` is 1.5"),
        ({"rules": {"exact": 1}}, "`rules.exact` is true or false, not 1"),
        ({"cost": {"model": 1}}, "`cost.model` is a string, not 1"),
    ],
)
def test_wrong_values_say_what_and_where(content: dict[str, object], expected: str) -> None:
    text = message(tables(**content))
    assert text.startswith("here: ")
    assert expected in text


def test_every_problem_of_every_source_is_told() -> None:
    first = config.Source("a.toml", {"explore": {"enode": 1, "seconds": -1}})
    text = message(first, config.assignment("verify.seeds=1"))
    assert [line.split(":")[0] for line in text.splitlines()] == [
        "a.toml",
        "a.toml",
        "--set verify.seeds=1",
    ]


def test_a_file_that_is_missing_or_no_toml(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        config.load_settings(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="not valid TOML"):
        config.load_settings(write(tmp_path / "bad.toml", "[explore\n"))


SAMPLES: dict[object, tuple[str, object]] = {
    bool: ("false", False),
    int: ("77", 77),
    float: ("1", 1.0),
    str: ("mine", "mine"),
}


def sample(key: str, hint: object) -> tuple[str, object]:
    """A text for `--set`, and the value it stands for."""
    if key in config_schema.SIZES:
        return "128MiB", 128 << 20
    if typing.get_origin(hint) is tuple:
        first, *_, last = typing.get_args(hint)[0]
        return f'["{last}", "{first}"]', (first, last)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return str([*hint][-1]), [*hint][-1]
    return SAMPLES[hint]


@pytest.mark.parametrize("key", sorted(config_schema.keys()))
def test_set_reaches_every_key(key: str) -> None:
    hint = config_schema.keys()[key]
    is_map = typing.get_origin(hint) not in (None, tuple)
    text, expected = ("3", {"anything": 3}) if is_map else sample(key, hint)
    name = f"{key}.anything" if is_map else key
    settings = config.merge([config.assignment(f"{name}={text}")])
    table, field = key.split(".")
    assert getattr(getattr(settings, table), field) == expected


def test_limits_are_of_keys_that_exist_and_every_number_has_them() -> None:
    known = config_schema.keys()
    assert set(config_schema.RANGES) <= set(known)
    assert set(known) >= config_schema.SIZES
    numbers = {key for key, hint in known.items() if hint in (int, float)}
    assert numbers == set(config_schema.RANGES)


def test_the_defaults_are_valid() -> None:
    defaults = dataclasses.asdict(Settings())
    assert config.merge([config.Source("defaults", defaults)]) == Settings()


@pytest.mark.parametrize("value", [NINES, OPEN], ids=["endless", "deep"])
def test_a_file_with_a_value_that_python_cannot_read(value: str, tmp_path: Path) -> None:
    path = write(tmp_path / "tensat.toml", f"[explore]\nenodes = {value}\n")
    with pytest.raises(UsageError, match="not valid TOML"):
        config.read_file(path)


@pytest.mark.parametrize(
    ("size", "text"),
    [(4 << 30, "4GiB"), (3 << 20, "3MiB"), (1025, "1025"), (0, "0"), (2048, "2KiB")],
)
def test_sizes_are_shown_as_they_may_be_written(size: int, text: str) -> None:
    assert config_schema.size_text(size) == text
    source = config.Source("t", {"export": {"fold_bytes": text}})
    assert config.merge([source]).export.fold_bytes == size
