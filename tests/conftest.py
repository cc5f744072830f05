"""Options and surroundings of all tests."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

# A busy machine is no fault of the code; tests of speed count processor time.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


# What a shell starts in the background is deaf to Ctrl-C; commands that tests interrupt are not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="write the expected texts of file tests anew instead of comparing with them",
    )


@pytest.fixture(scope="module", autouse=True)
def light_heap() -> None:
    """The garbage collector leaves alone what earlier modules made: walking through all of it takes
    a second in a long run, in the middle of a test of speed."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test reads or writes what the user has measured."""
    before = os.environ.get("XDG_CACHE_HOME")
    folder = tmp_path_factory.mktemp("cache")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(autouse=True)
def nothing_is_timed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`std` measures by default, which takes time and tells what it likes: no test does so by
    mistake.  Nor does one depend on how busy the machine is."""
    from tensat_dl.cost.measured import machine
    from tensat_dl.cost.measured.timer import OrtTimer

    monkeypatch.setattr(machine, "busy_share", lambda: 0.0)

    def refuse(*_: object) -> None:
        raise AssertionError("this test times operators: choose another cost model")

    if request.node.get_closest_marker("measures") is None:
        monkeypatch.setattr(OrtTimer, "time", refuse)


@pytest.fixture
def interrupt() -> Callable[..., None]:
    """Ctrl-C ends a running command within two seconds, its children with it, in one line."""

    def end(process: subprocess.Popen[str], *, whole_group: bool = False) -> None:
        children = psutil.Process(process.pid).children(recursive=True)
        started = time.monotonic()
        if whole_group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert time.monotonic() - started < 2
        assert (process.returncode, err) == (130, "tensat-dl: interrupted\n")
        assert not psutil.wait_procs(children, timeout=1)[1]

    return end
