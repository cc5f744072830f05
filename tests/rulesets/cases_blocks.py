# ruff: noqa: E501  (a line is a model)
"""Cases of recurrent cells that begin with zeros, and of blocks and channels before a convolution."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_LSTM = "x: f32[5, B, 3]; w: f32[1, 16, 3] = weight; r: f32[1, 16, 4] = weight; b: f32[1, 32] = weight; "
_ZEROS = "h = ConstantOfShape(Concat(i64([1]), Shape(x, start=1, end=2), i64([4]), axis=0)); "
_GIVEN = "h: f32[1, B, 4]; "
#: Weights of a GRU, which an RNN reads as those of six units.
_GRU = "x: f32[5, 2, 3]; w: f32[1, 6, 3] = weight; r: f32[1, 6, 2] = weight; "
_RNN = "x: f32[5, 2, 3]; w: f32[1, 6, 3] = weight; r: f32[1, 6, 6] = weight; "

RECURRENT: list[Case] = [
    *acts(
        "identity.lstm_from_zeros",
        _LSTM + _ZEROS + "y = LSTM(x, w, r, b, None, h, h, hidden_size=4)",
        _LSTM + _ZEROS + "y = LSTM(x, w, r, None, None, h, h, hidden_size=4, direction='reverse')",
        specials=False,
    ),
    *rests(
        "identity.lstm_from_zeros",
        _LSTM + _ZEROS + "c: f32[1, B, 4]; y = LSTM(x, w, r, b, None, h, c, hidden_size=4)",
        _LSTM + _GIVEN + "y = LSTM(x, w, r, b, None, h, h, hidden_size=4)",
        _LSTM + _ZEROS + "p: f32[1, 12]; y = LSTM(x, w, r, b, None, h, h, p, hidden_size=4)",
    ),
    *acts(
        "identity.lstm_states_from_zeros",
        _LSTM + _ZEROS + "y, u, v = LSTM(x, w, r, b, None, h, h, hidden_size=4)",
        specials=False,
    ),
    *rests(
        "identity.lstm_states_from_zeros",
        _LSTM + _GIVEN + "y, u, v = LSTM(x, w, r, b, None, h, h, hidden_size=4)",
        _LSTM + _ZEROS + "p: f32[1, 12]; y, u, v = LSTM(x, w, r, b, None, h, h, p, hidden_size=4)",
    ),
    *acts(
        "identity.gru_from_zeros",
        _GRU + "h: f32[1, 2, 2] = [[[0]]]; y = GRU(x, w, r, None, None, h, hidden_size=2)",
        specials=False,
    ),
    *rests(
        "identity.gru_from_zeros",
        _GRU + "h: f32[1, 2, 2] = weight; y = GRU(x, w, r, None, None, h, hidden_size=2)",
    ),
    *acts(
        "identity.gru_state_from_zeros",
        _GRU + "h: f32[1, 2, 2] = [[[0]]]; y, u = GRU(x, w, r, None, None, h, hidden_size=2)",
        specials=False,
    ),
    *rests(
        "identity.gru_state_from_zeros",
        _GRU + "h: f32[1, 2, 2]; y, u = GRU(x, w, r, None, None, h, hidden_size=2)",
    ),
    *acts(
        "identity.rnn_from_zeros",
        _RNN + "h: f32[1, 2, 6] = [[[0]]]; y = RNN(x, w, r, None, None, h, hidden_size=6)",
        specials=False,
    ),
    *rests(
        "identity.rnn_from_zeros",
        _RNN + "h: f32[1, 2, 6] = weight; y = RNN(x, w, r, None, None, h, hidden_size=6)",
    ),
    *acts(
        "identity.rnn_state_from_zeros",
        _RNN + "h: f32[1, 2, 6] = [[[0]]]; y, u = RNN(x, w, r, None, None, h, hidden_size=6)",
        specials=False,
    ),
    *rests(
        "identity.rnn_state_from_zeros",
        _RNN + "h: f32[1, 2, 6]; y, u = RNN(x, w, r, None, None, h, hidden_size=6)",
    ),
]

_FOUR = "y = Concat({}, axis=1)".format(
    ", ".join(
        f"Slice(x, i64([{a}, {b}]), i64([{{0}}]), i64([2, 3]), i64([{{1}}]))"
        for b in (0, 1)
        for a in (0, 1)
    )
)
_ALL = "99, 99"
_W = "x: f32[2, 3, H, 6]; w: f32[4, 3, 3, 3] = weight; b: f32[4]; "
_BLOCKS = "x: f32[N, 2, 6, 8]; w: f32[4, 8, 2, 3] = weight; b: f32[4]; "

BLOCKS: list[Case] = [
    *acts(
        "concat.slice_steps_across",
        "x: f32[2, H, 7]; y = Slice(Slice(x, i64([1]), i64([99]), i64([1]), i64([2])), i64([0]), i64([5]), i64([-1]), i64([3]))",
        "x: f32[4, 5, 7]; y = Slice(Slice(x, i64([-1]), i64([-9]), i64([0]), i64([-2])), i64([0, 1]), i64([5, 6]), i64([2, 1]), i64([1, 2]))",
    ),
    *rests(
        "concat.slice_steps_across",
        "x: f32[2, H, 9]; y = Slice(Slice(x, i64([1]), i64([99]), i64([2]), i64([2])), i64([0]), i64([3]), i64([-1]), i64([2]))",
        "x: f32[5, 5, 9]; y = Slice(Slice(x, i64([1, 0]), i64([9, 9]), i64([2, 1]), i64([2, 2])), i64([0]), i64([3]), i64([0]), i64([2]))",
    ),
    *acts(
        "concat.focus",
        "x: f32[2, 3, 4, 6]; " + _FOUR.format(_ALL, "2, 2"),
        "x: f64[N, 1, 2, 2]; " + _FOUR.format("2, 2", "2, 2"),
    ),
    *rests(
        "concat.focus",
        "x: f32[2, 3, 8, 6]; " + _FOUR.format("6, 99", "2, 2"),
        "x: f32[2, 3, 6, 8]; " + _FOUR.format("99, 6", "2, 2"),
        "x: f32[2, 3, 6, 6]; " + _FOUR.format(_ALL, "3, 3"),
        "x: f32[2, 3, 4, H]; y = Concat({0}, {0}, {0}, {0}, axis=1)".format(
            "Slice(x, i64([0, 0]), i64([99, 99]), i64([2, 3]), i64([2, 2]))"
        ),
        "x: i32[2, 3, 4, 6]; " + _FOUR.format(_ALL, "2, 2"),
    ),
    *acts(
        "fold.conv_of_gathered",
        _W + "y = Conv(Gather(x, i64([2, 0, 1]), axis=1), w, b, pads=[1, 1, 1, 1])",
        "x: f32[2, 2, N]; w: f32[4, 2, 1] = weight; y = Conv(Gather(x, i64([1, 0]), axis=1), w)",
    ),
    *rests(
        "fold.conv_of_gathered",
        _W + "y = Conv(Gather(x, i64([2, 0, 0]), axis=1), w)",
        _W + "i: i64[3]; y = Conv(Gather(x, Clip(i, i64(0), i64(2)), axis=1), w)",
        "x: f32[2, 3, 5, 6]; w: f32[4, 3, 3, 3]; y = Conv(Gather(x, i64([2, 0, 1]), axis=1), w)",
        "x: f32[2, 3, 5, 6]; w: f32[3, 1, 3, 3] = weight; y = Conv(Gather(x, i64([2, 0, 1]), axis=1), w, group=3)",
        "x: f32[2, 4, 5, 6]; w: f32[4, 2, 3, 3] = weight; y = Conv(Gather(x, i64([1, 0]), axis=1), w)",
    ),
    *acts(
        "fold.conv_of_space_to_depth",
        _BLOCKS + "y = Conv(SpaceToDepth(x, blocksize=2), w, b, pads=[1, 0, 0, 2], strides=[1, 2])",
        "x: f32[1, 1, 6, 6]; w: f32[4, 9, 1, 1] = weight; y = Conv(SpaceToDepth(x, blocksize=3), w)",
    ),
    *rests(
        "fold.conv_of_space_to_depth",
        "x: f32[1, 2, 6, 6]; w: f32[4, 8, 2, 2]; y = Conv(SpaceToDepth(x, blocksize=2), w)",
        _BLOCKS + "y = Conv(SpaceToDepth(x, blocksize=2), w, dilations=[2, 1])",
        "x: f32[1, 2, 6, 6]; w: f32[4, 4, 2, 2] = weight; y = Conv(SpaceToDepth(x, blocksize=2), w, group=2)",
    ),
]

CASES = [*RECURRENT, *BLOCKS]
