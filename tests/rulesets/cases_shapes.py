# ruff: noqa: E501  (a line is a model)
"""More cases of `reshape`, `concat`, `identity` and `transpose`: symbolic shapes, inverse pairs."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_ALL = "Concat(Gather(Shape(x), i64([0, 1])), i64({}), axis=0)"

SHAPES: list[Case] = [
    *acts(
        "reshape.reshape_sink",
        "x: f32[2, 6]; y = F(Reshape(x, i64([3, 4])))",
        "x: f32[N, 6]; y = F(Reshape(x, i64([0, 2, 3])))",
        "x: f32[0, 6]; y = F(Reshape(x, i64([6, 0]), allowzero=1))",
    ),
    *rests("reshape.reshape_sink", "x: f32[2, 6]; y = F(Transpose(x, perm=[1, 0]))"),
    *acts(
        "reshape.reshape_copies_one",
        "x: f32[N, 6]; y = Reshape(x, Concat(Shape(x, start=0, end=1), i64([2, 3]), axis=0))",
        "x: f32[N, 2, 3]; y = Reshape(x, i64([-1, 6]))",
    ),
    *rests("reshape.reshape_copies_one", "x: f32[N, 6]; y = Reshape(x, i64([-1, 3]))"),
    *acts("reshape.reshape_copies_two", f"x: f32[N, S, 6]; y = Reshape(x, {_ALL.format([2, 3])})"),
    *rests(
        "reshape.reshape_copies_two",
        "x: f32[N, S, 6]; y = Reshape(x, i64([0, 2, -1, 3]))",
        "x: f32[N, S, 6]; y = Reshape(x, Concat(Shape(x, start=1, end=2), Shape(x, start=0, end=1), i64([6]), axis=0))",
    ),
    *acts(
        "reshape.reshape_copies_three",
        "x: f32[N, S, D, 6]; y = Reshape(x, Concat(Shape(x, start=0, end=3), i64([2, 3]), axis=0))",
    ),
    *rests(
        "reshape.reshape_copies_three", "x: f32[N, S, D, 6]; y = Reshape(x, i64([0, 0, 6, -1]))"
    ),
    *acts(
        "reshape.shape_slice", "x: f32[N, S, 3]; y = Slice(Shape(x), i64([0]), i64([2]), i64([0]))"
    ),
    *rests(
        "reshape.shape_slice",
        "x: f32[N, S, 3]; y = Slice(Shape(x), i64([-1]), i64([3]), i64([0]))",
        "x: f32[N, S, 3]; y = Slice(Shape(x), i64([0]), i64([-1]), i64([0]))",
        "x: f32[N, S, 3]; e: i64[1]; y = Slice(Shape(x), i64([0]), e, i64([0]))",
        "x: f32[N, S, 3]; y = Slice(Shape(x, start=1), i64([0]), i64([1]), i64([0]))",
    ),
    *acts("reshape.shape_entry", "x: f32[N, S, 3]; y = Gather(Shape(x), i64([1]))"),
    *rests(
        "reshape.shape_entry",
        "x: f32[N, S, 3]; y = Gather(Shape(x), i64([0, 1]))",
        "x: f32[N, S, 3]; y = Gather(Shape(x), i64([-1]))",
        "x: f32[N, S, 3]; y = Gather(Shape(x, start=1), i64([1]))",
        "x: f32[N, S, 3]; i: i64[1]; y = Gather(Shape(x), i)",
    ),
    *acts(
        "reshape.shape_entry_list",
        "x: f32[N, S, 3]; y = Unsqueeze(Gather(Shape(x), i64(1)), i64([0]))",
    ),
    *rests(
        "reshape.shape_entry_list",
        "x: f32[N, S, 3]; y = Unsqueeze(Gather(Shape(x), i64(-1)), i64([0]))",
        "x: f32[N, S, 3]; y = Unsqueeze(Gather(Shape(x), i64(1)), i64([0, 1]))",
        "x: f32[N, S, 3]; y = Unsqueeze(Gather(Shape(x, start=1), i64(1)), i64([0]))",
    ),
]

_TEXT = "x: f32[1, 3]; z: f32[2, 3]; "


def _broadcasting(text: str) -> str:
    return _TEXT + text


EXPANDS: list[Case] = [
    *acts("reshape.expand_left", _broadcasting("y = F(Expand(x, i64([2, 3])), z)")),
    *rests("reshape.expand_left", _broadcasting("y = F(Expand(z, i64([4, 2, 3])), x)")),
    *acts("reshape.expand_right", _broadcasting("y = F(z, Expand(x, i64([2, 1])))")),
    *rests("reshape.expand_right", _broadcasting("y = F(x, Expand(z, i64([4, 2, 3])))")),
    *acts(
        "reshape.expand_expand", "x: f32[1, N]; y = Expand(Expand(x, i64([2, 1])), i64([4, 2, 1]))"
    ),
    *rests(
        "reshape.expand_expand", "x: f32[1, 3]; y = Expand(Expand(x, i64([2, 1])), i64([1, 3]))"
    ),
]

_CUT = "y = Concat(Slice(x, i64([0]), i64([{}]), i64([1])), Slice(x, i64([{}]), i64([{}]), i64([-1])), axis={})"
PAIRS: list[Case] = [
    *acts(
        "concat.concat_of_slices",
        "x: f32[2, 5]; " + _CUT.format(2, 2, 99, 1),
        "x: f32[N, 5]; " + _CUT.format(4, 4, 99, 1),
    ),
    *rests(
        "concat.concat_of_slices",
        "x: f32[2, 4]; " + _CUT.format(2, 1, 3, 1),
        "x: f32[4, 4]; " + _CUT.format(2, 2, 9, 0),
        "x: f32[2, 5]; " + _CUT.format(2, 2, 4, 1),
        "x: f32[2, 5]; " + _CUT.format(-2, -2, 9, 1),
        "x: f32[N, 5]; " + _CUT.format(9, 9, 99, 1),
    ),
    *acts(
        "concat.slice_of_padded",
        "x: f32[2, 5]; y = Slice(Pad(x, i64([0, 1, 0, 2])), i64([1]), i64([6]), i64([1]))",
        "x: f32[2, 5]; y = Slice(Pad(x, i64([1, 1, 0, 2]), mode='edge'), i64([1, 1]), i64([6, 3]), i64([1, 0]))",
    ),
    *rests(
        "concat.slice_of_padded",
        "x: f32[2, 5]; y = Slice(Pad(x, i64([0, 1, 0, 2])), i64([0]), i64([5]), i64([1]))",
        "x: f32[2, 5]; y = Slice(Pad(x, i64([0, 1, 0, 2])), i64([1]), i64([7]), i64([1]))",
        "x: f32[2, 5]; y = Slice(Pad(x, i64([-1, 1, 1, 0])), i64([1]), i64([6]), i64([1]))",
    ),
    *acts("identity.sum_two", "x: f32[2, N]; z: f32[2, 1]; y = Sum(x, z)"),
    *rests("identity.sum_two", "x: f32[2]; y = Sum(x, x, x)"),
    *acts("identity.sum_three", "x: f32[2, N]; z: f32[2, 1]; y = Sum(x, z, x)"),
    *rests("identity.sum_three", "x: f32[2]; y = Sum(x, x)"),
]

_T = "x: f32[2, 3, 4, 5]; t = Transpose(x, perm=[0, 2, 3, 1]); "
TRANSPOSES: list[Case] = [
    *acts("transpose.transpose_sink_weight", _T + "c: f32[1, 4, 1, 3] = weight; y = F(t, c)"),
    *rests(
        "transpose.transpose_sink_weight",
        _T + "c: f32[1, 4, 1, 3]; y = F(t, c)",
        _T + "c: f32[3] = weight; y = F(t, c)",
    ),
    *acts("transpose.transpose_sink_cast", _T + "y = Cast(t, to=f16)"),
    *rests("transpose.transpose_sink_cast", "x: f32[2, 3]; y = Cast(x, to=f16)"),
    *acts(
        "transpose.transpose_sink_pad",
        _T + "c: f32; y = Pad(t, i64([0, 1, 0, 0, 0, 0, 2, 0]), c)",
        _T + "y = Pad(t, i64([0, 1, 0, 0, 0, 0, 2, 0]), mode='reflect')",
    ),
    *acts(
        "transpose.transpose_sink_pad",
        _T + "y = Pad(t, i64([0, 1, 2, 3, 1, 0, -1, 2]))",
        specials=False,  # the reference evaluator knows no negative pads
    ),
    *rests("transpose.transpose_sink_pad", _T + "p: i64[8]; y = Pad(t, p)"),
    *acts("transpose.transpose_sink_extreme", _T + "y = F(t, i64([-1, 1]))"),
    *rests("transpose.transpose_sink_extreme", _T + "y = F(t, i64([1]), keepdims=0)"),
    *acts("transpose.transpose_sink_sum", _T + "y = ReduceSum(t, i64([-1, 1]))"),
    *rests("transpose.transpose_sink_sum", _T + "y = ReduceSum(t, i64([1]), keepdims=0)"),
    *acts("transpose.pooling_of_channels_last", _T + "y = F(t, i64([1, 2]), keepdims=0)"),
    *rests(
        "transpose.pooling_of_channels_last",
        _T + "y = F(t, i64([1, 3]), keepdims=0)",
        "x: f32[2, 3, 4, 5]; y = F(Transpose(x, perm=[0, 3, 2, 1]), i64([1, 2]), keepdims=0)",
        _T + "y = F(t, i64([1, 2]))",
    ),
    *acts(
        "transpose.argmax_moved_axis",
        _T + "y = ArgMax(t, axis=3, keepdims=0)",
        "x: f32[N, 4]; y = ArgMax(Transpose(x, perm=[1, 0]), axis=-1, keepdims=0, select_last_index=1)",
    ),
    *rests(
        "transpose.argmax_moved_axis",
        _T + "y = ArgMax(t, axis=3)",
        _T + "y = ArgMax(t, axis=1, keepdims=0)",
        "x: f32[3, 3, 3]; y = ArgMax(Transpose(x, perm=[2, 1, 0]), axis=2, keepdims=0)",
    ),
]

CASES = [*SHAPES, *EXPANDS, *PAIRS, *TRANSPOSES]
