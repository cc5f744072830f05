"""Files that cannot be read, and why."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tensat_dl.reading import UnreadableError, bytes_of, read_bytes, why_no_file


def reason(path: Path) -> str:
    with pytest.raises(UnreadableError) as raised:
        read_bytes(path)
    with pytest.raises(UnreadableError, match=re.escape(str(raised.value))), bytes_of(path):
        pass
    return str(raised.value)


def test_why_a_file_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    reasons = {
        "none": "does not exist",
        "file/below": "does not exist",
        ".": "is a directory",
        "broken": "is a link to a file that does not exist",
        "circle": f"cannot be read: {os.strerror(40)}",
        "a\0b": "has a name that is no path",
    }
    assert {name: reason(tmp_path / name) for name in reasons} == reasons
    assert {name: why_no_file(tmp_path / name) for name in reasons} == reasons
    assert (read_bytes(tmp_path / "file", 2), why_no_file(tmp_path / "file")) == (b"ab", "")


@pytest.mark.parametrize("content", [b"", b"abc"])
def test_the_bytes_of_a_file_can_be_looked_at(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with bytes_of(path) as view:
        assert bytes(view) == content
        assert bool(view) == bool(content)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no such device here")
def test_a_device_can_be_read_and_is_no_file() -> None:
    assert read_bytes(Path("/dev/null")) == b""
    with bytes_of(Path("/dev/null")) as view:
        assert bytes(view) == b""
    assert why_no_file(Path("/dev/null")) == "is no regular file"
