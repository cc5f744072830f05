"""Files of substitutions, whole, broken, and of another kind."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from wire import encode, message, node, number, numbers, substitution

from tensat_dl.errors import InputError
from tensat_dl.taso.read import decode_substitutions, read_substitutions

RELU, ADD = 8, 16
TWO = [
    substitution([node(RELU, -1), node(RELU, 0)], [node(RELU, -1)]),
    substitution([node(ADD, -1, -22, parameters={9: 0, 4: 3})], [node(ADD, (-22, 0), (-1, 0))]),
]
GOOD = encode(TWO)


def test_what_is_written_by_hand_is_read() -> None:
    assert decode_substitutions(GOOD, "f.pb") == tuple(TWO)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"language 1\nrewrite a: Relu(x) => x\n",
        bytes(range(256)),
        onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [])).SerializeToString(),
        GOOD + message(2, b"x"),  # a field that the format has not
        message(1, message(1, number(1, 8)) + number(7, 1)),
        message(1, message(1, message(2, numbers(-1, 0)))),  # an operator without a type
        message(1, message(3, numbers(0, 0, 0))),  # an output without its last number
    ],
    ids=["empty", "text", "bytes", "model", "field", "deep", "type", "number"],
)
def test_what_is_no_such_file_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        decode_substitutions(content, "f.pb")
    assert caught.value.message.startswith("f.pb")
    assert "\n" not in caught.value.message


def test_a_file_that_is_cut_off_is_refused_or_has_fewer_substitutions() -> None:
    first = len(encode(TWO[:1]))
    for length in range(1, len(GOOD)):
        if length == first:
            assert decode_substitutions(GOOD[:length], "f.pb") == tuple(TWO[:1])
            continue
        with pytest.raises(InputError, match="cut off"):
            decode_substitutions(GOOD[:length], "f.pb")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pb", tmp_path):
        with pytest.raises(InputError, match=r"does not exist|is a directory"):
            read_substitutions(path)
