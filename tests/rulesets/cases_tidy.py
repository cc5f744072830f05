# ruff: noqa: E501  (a line is a model)
"""Cases of `identity`, `cast`, `reshape` and `concat`."""

from __future__ import annotations

from rule_cases import Case, acts, rests

IDENTITY: list[Case] = [
    *acts("identity.identity", "x: f32[2, N]; y = Identity(x)", "x: i64[0, 3]; y = Identity(x)"),
    *acts(
        "identity.dropout_inference",
        "x: f32[2, 3]; y = Dropout(x)",
        "x: f32[2, 3]; y = Dropout(x, f32(0.5), seed=3)",
        "x: f32[2, 3]; y = Dropout(x, f32(0.5), bool(False))",
    ),
    *rests(
        "identity.dropout_inference",
        "x: f32[2, 3]; y = Dropout(x, f32(0.5), bool(True))",
        "x: f32[2, 3]; t: bool; y = Dropout(x, f32(0.5), t)",
    ),
    *acts(
        "identity.add_zero",
        "x: f32[2, 3]; y = Add(x, f32(0))",
        "x: i32[2, 3]; y = Add(i32([0, 0, 0]), x)",
    ),
    *rests(
        "identity.add_zero",
        "x: f32[2, 3]; y = Add(x, f32([0, 1, 0]))",
        "x: f32[3]; y = Add(x, f32([[0, 0, 0]]))",
        "x: f32[N]; y = Add(x, f32([0, 0, 0]))",
        "x: f32[1]; y = Add(x, f32([0, 0, 0]))",
    ),
    *acts("identity.sub_zero", "x: f32[2, 3]; y = Sub(x, f32([[0, 0, 0]]))"),
    *rests(
        "identity.sub_zero",
        "x: f32[2, 3]; y = Sub(f32(0), x)",
        "x: f32[2, 3]; y = Sub(x, f32(1))",
    ),
    *acts(
        "identity.mul_one",
        "x: f32[2, N]; y = Mul(x, f32(1))",
        "x: i64[2, 3]; y = Mul(i64([1]), x)",
    ),
    *rests(
        "identity.mul_one",
        "x: f32[2, 1]; y = Mul(x, f32([1, 1]))",
        "x: f32[2, 3]; y = Mul(x, f32(2))",
        "x: f32; y = Mul(x, f32([1]))",
    ),
    *acts("identity.div_one", "x: i32[2, 3]; y = Div(x, i32(1))"),
    *rests("identity.div_one", "x: f32[2, 3]; y = Div(f32(1), x)"),
    *acts("identity.pow_one", "x: f32[2, 3]; y = Pow(x, i64(1))"),
    *rests("identity.pow_one", "x: f32[2, 3]; y = Pow(x, f32(2))"),
    *acts("identity.pow_two", "x: f32[2, 3]; y = Pow(x, f32(2))"),
    *rests(
        "identity.pow_two",
        "x: f32[2, 1]; y = Pow(x, f32([2, 2]))",
        "x: f32[2, 3]; y = Pow(x, f32(3))",
    ),
    *acts("identity.pow_half", "x: f32[2, 3]; y = Pow(Exp(x), f32(0.5))"),
    *rests("identity.pow_half", "x: i32[2, 3]; y = Pow(x, f32(0.5))"),
    *acts(
        "identity.neg_zero",
        "x: f32[3]; y = Add(x, Neg(f32([0, 0, 0])))",
        "x: i32[3]; y = Add(x, Neg(i32(0)))",
    ),
    *rests("identity.neg_zero", "x: f32[3]; y = Add(x, Neg(f32([0, 1, 0])))"),
    *acts(
        "identity.mul_zero",
        "x: f32[2, 3]; y = Mul(x, f32([0, 0, 0]))",
        "x: i32; y = Mul(i32([[0], [0]]), x)",
        "x: f32[20]; y = Mul(x, Expand(f32(0), i64([20])))",
    ),
    *rests(
        "identity.mul_zero",
        "x: f32[3]; y = Mul(x, f32([0, 1, 0]))",
        "x: f32[20]; y = Mul(x, Expand(f32(1), i64([20])))",
    ),
    *acts("identity.sum_zero", "y = ReduceSum(f32([[0, 0], [0, 0]]), i64([-1]), keepdims=0)"),
    *rests("identity.sum_zero", "y = ReduceSum(f32([1, -1]), i64([0]))"),
    *acts(
        "identity.matmul_zero_left",
        "w: f32[3, 4]; y = MatMul(f32([0, 0, 0]), w)",
        "w: f32[5, 3, 4]; y = MatMul(Reshape(f32([0, 0, 0]), i64([1, 3])), w)",
    ),
    *rests("identity.matmul_zero_left", "w: f32[3, 4]; y = MatMul(f32([0, 0, 1]), w)"),
    *acts("identity.matmul_zero_right", "x: f32[2, 4, 3]; y = MatMul(x, f32([[0], [0], [0]]))"),
    *rests("identity.matmul_zero_right", "x: f32[4, 3]; y = MatMul(x, f32([[0], [1], [0]]))"),
    *acts("identity.reciprocal_one", "x: f32[3]; y = Mul(x, Reciprocal(f32([[1, 1, 1]])))"),
    *rests("identity.reciprocal_one", "x: f32[3]; y = Mul(x, Reciprocal(f32([2, 1, 1])))"),
    *acts("identity.neg_neg", "x: i32[2, 3]; y = Neg(Neg(x))"),
    *acts("identity.not_not", "x: bool[2, 3]; y = Not(Not(x))"),
    *acts("identity.where_same", "c: bool[2, 1]; x: f32[2, 3]; y = Where(c, x, x)"),
    *rests("identity.where_same", "c: bool[2, 3]; x: f32[3]; y = Where(c, x, x)"),
    *acts(
        "identity.where_true",
        "x: f32[2]; z: f32[2]; y = Where(bool(True), x, z)",
        "x: f32[2]; z: f32[2]; y = Where(bool([True, True]), x, z)",
    ),
    *rests(
        "identity.where_true",
        "x: f32[2]; z: f32[2]; y = Where(bool([True, False]), x, z)",
        "x: f32[2]; z: f32[3, 2]; y = Where(bool(True), x, z)",
        "c: bool[2]; x: f32[2]; z: f32[2]; y = Where(c, x, z)",
    ),
    *acts(
        "identity.where_true_wide",
        "x: f32[2]; z: f32[3, 2]; y = Where(bool(True), x, z)",
        "x: f32[2]; z: f32[2]; y = Where(bool([[True], [True]]), x, z)",
    ),
    *rests(
        "identity.where_true_wide",
        "x: f32[2]; z: f32[3, 2]; y = Where(bool([True, False]), x, z)",
        "c: bool; x: f32[2]; z: f32[3, 2]; y = Where(c, x, z)",
    ),
    *acts("identity.where_false_wide", "x: f32[3, 2]; z: f32; y = Where(bool(False), x, z)"),
    *rests("identity.where_false_wide", "x: f32[3, 2]; z: f32; y = Where(bool(True), x, z)"),
    *acts(
        "identity.where_false",
        "x: f32[2]; z: f32[2]; y = Where(bool([[False]]), x, Identity(Reshape(z, i64([1, 2]))))",
    ),
    *rests("identity.where_false", "x: f32[2]; z: f32[2]; y = Where(bool([True, False]), x, z)"),
    *acts("identity.and_same", "x: bool[2, 3]; y = And(x, x)"),
    *acts("identity.or_same", "x: bool[2, 3]; y = Or(x, x)"),
    *acts("identity.min_same", "x: f32[2, 3]; y = Min(x, x)"),
    *rests("identity.min_same", "x: f32[2, 3]; z: f32[3]; y = Min(x, z)"),
    *acts("identity.max_same", "x: f32[2, 3]; y = Max(x, x)"),
    *acts("identity.min_one", "x: f32[2, 3]; y = Min(x)"),
    *acts("identity.max_one", "x: f32[2, 3]; y = Max(x)"),
    *acts("identity.sum_one", "x: f32[2, 3]; y = Sum(x)"),
    *acts("identity.mean_one", "x: f32[2, 3]; y = Mean(x)"),
    *rests("identity.sum_one", "x: f32[2, 3]; y = Sum(x, x)"),
    *acts("identity.idempotent", "x: f32[2, 3]; y = F(F(x))"),
    *acts("identity.relu_of_positive", "x: f32[2, 3]; y = Relu(F(x))"),
    *acts("identity.abs_of_positive", "x: f32[2, 3]; y = Abs(F(x))"),
    *acts("identity.relu_of_abs", "x: f32[2, 3]; y = Relu(Abs(x))"),
    *rests("identity.relu_of_abs", "x: i32[2, 3]; y = Relu(Abs(x))"),  # of -2**31 it is 0
    *acts("identity.relu_of_softmax", "x: f32[2, 3]; y = Relu(Softmax(x, axis=0))"),
    *rests("identity.relu_of_softmax", "x: f32[2, 3]; y = Relu(LogSoftmax(x, axis=0))"),
    *acts(
        "identity.clip_clip",
        "x: f32[9]; y = Clip(Clip(x, f32(-1), f32(0.5)), f32(0), f32(2))",
        "x: i32[9]; y = Clip(Clip(x, i32(-1), i32(5)), i32(0), i32(2))",
    ),
    *rests(
        "identity.clip_clip",
        "x: f32[9]; y = Clip(Clip(x, f32(-1), f32(-0.5)), f32(0), f32(2))",
        "x: f32[9]; y = Clip(Clip(x, f32(2), f32(1)), f32(0), f32(3))",
        "x: f32[9]; a: f32; y = Clip(Clip(x, a, f32(1)), f32(0), f32(3))",
        "x: f32[9]; y = Clip(Clip(x, f32(0)), f32(0), f32(3))",
    ),
    *acts("identity.clip_of_relu", "x: f32[9]; y = Clip(Relu(x), f32(0), f32(0.5))"),
    *rests(
        "identity.clip_of_relu",
        "x: f32[9]; y = Clip(Relu(x), f32(-1), f32(0.5))",
        "x: f32[9]; y = Clip(Relu(x), f32(0), f32(-1))",
    ),
    *acts("identity.relu_of_clip", "x: f32[9]; y = Relu(Clip(x, f32(0), f32(0.5)))"),
    *rests("identity.relu_of_clip", "x: f32[9]; y = Relu(Clip(x, f32(-1), f32(0.5)))"),
]

CAST: list[Case] = [
    *acts("cast.cast_to_same", "x: f32[2, N]; y = Cast(x, to=f32)"),
    *rests("cast.cast_to_same", "x: f32[2, 3]; y = Cast(x, to=f64)"),
    *acts("cast.castlike_to_same", "x: f32[2, 3]; z: f32[1]; y = CastLike(x, z)"),
    *rests("cast.castlike_to_same", "x: f32[2, 3]; z: i32[1]; y = CastLike(x, z)"),
    *acts(
        "cast.cast_through_wider",
        "x: f32[4]; y = Cast(Cast(x, to=f64), to=f32)",
        "x: i32[4]; y = Cast(Cast(x, to=i64), to=f32)",
        "x: bool[4]; y = Cast(Cast(x, to=f32), to=i32)",
        "x: u8[4]; y = Cast(Cast(x, to=f32), to=i32)",
        "x: f16[4]; y = Cast(Cast(x, to=f32), to=f64)",
    ),
    *rests(
        "cast.cast_through_wider",
        "x: f32[4]; y = Cast(Cast(x, to=i32), to=f32)",
        "x: f64[4]; y = Cast(Cast(x, to=f32), to=f64)",
        "x: i64[4]; y = Cast(Cast(x, to=f32), to=i64)",
        "x: i8[4]; y = Cast(Cast(x, to=f32), to=u8)",
        "x: i32[4]; y = Cast(Cast(x, to=bool), to=f32)",
        "x: i32[4]; y = Cast(Cast(x, to=i8), to=i64)",
        "x: bool[4]; y = Cast(Cast(x, to=f32), to=string)",
    ),
]

RESHAPE: list[Case] = [
    *acts(
        "reshape.reshape_of_reshaped",
        "x: f32[2, 3, 4]; y = Reshape(Reshape(x, i64([6, 4])), i64([-1]))",
        "x: f32[2, 3, 4]; y = Reshape(Flatten(x), i64([4, 6]))",
        "x: f32[N, 3, 4]; y = Reshape(Unsqueeze(x, i64([0])), i64([-1, 12]))",
        "x: f32[2, 1, 4]; y = Reshape(Squeeze(x), i64([8]))",
        "x: f32[1, 6]; y = Reshape(Transpose(x, perm=[1, 0]), i64([2, 3]))",
        "x: f32[2, 8, 1, 1]; y = Reshape(Transpose(x, perm=[0, 2, 3, 1]), i64([2, 8]))",
        "x: f32[0, 3]; y = Reshape(Reshape(x, i64([3, 0]), allowzero=1), i64([0, 5]), allowzero=1)",
    ),
    *rests(
        "reshape.reshape_of_reshaped",
        "x: f32[2, 6]; y = Reshape(Transpose(x, perm=[1, 0]), i64([12]))",
        "x: f32[2, 3, 1, 4]; y = Reshape(Transpose(x, perm=[0, 2, 3, 1]), i64([24]))",
        "x: f32[2, 6]; s: i64[2]; y = Reshape(Reshape(x, i64([12])), s)",
    ),
    *acts("reshape.flatten_of_reshaped", "x: f32[2, 3, 4]; y = Flatten(Unsqueeze(x, i64([3])))"),
    *rests("reshape.flatten_of_reshaped", "x: f32[2, 3]; y = Flatten(Relu(x))"),
    *acts(
        "reshape.squeeze_of_reshaped",
        "x: f32[2, N]; y = Squeeze(Unsqueeze(x, i64([1])), i64([1]))",
        "x: f32[2, 3]; y = Squeeze(Unsqueeze(x, i64([1])))",
    ),
    *rests("reshape.squeeze_of_reshaped", "x: f32[2, 1]; y = Squeeze(Relu(x))"),
    *acts(
        "reshape.unsqueeze_of_reshaped",
        "x: f32[2, 1, 3]; y = Unsqueeze(Squeeze(x, i64([1])), i64([0, 2]))",
    ),
    *rests("reshape.unsqueeze_of_reshaped", "x: f32[2]; y = Unsqueeze(Relu(x), i64([0]))"),
    *acts(
        "reshape.reshape_to_known",
        "x: f32[2, 6]; z: f32[3, 4]; y = Reshape(x, Shape(z))",
        "x: f32[N, 6]; y = Reshape(x, Concat(Shape(x, start=0, end=1), i64([2, 3]), axis=0))",
    ),
    *rests(
        "reshape.reshape_to_known",
        "x: f32[2, 6]; s: i64[2]; y = Reshape(x, s)",
        "x: f32[N, M]; y = Reshape(x, Concat(Shape(x), i64([1]), axis=0))",
    ),
    *acts("reshape.expand_to_known", "x: f32[3]; z: f32[2, 3]; y = Expand(x, Shape(z))"),
    *rests("reshape.expand_to_known", "x: f32[3]; z: f32[N, 3]; y = Expand(x, Shape(z))"),
    *acts(
        "reshape.reshape_nothing",
        "x: f32[2, 3]; y = Reshape(x, i64([2, -1]))",
        "x: f32[N, 3]; y = Reshape(x, i64([0, 3]))",
    ),
    *rests(
        "reshape.reshape_nothing",
        "x: f32[2, 3]; y = Reshape(x, i64([3, 2]))",
        "x: f32[N, M]; s: i64[2]; y = Reshape(x, s)",
    ),
    *acts("reshape.flatten_nothing", "x: f32[N, 3]; y = Flatten(x)"),
    *rests("reshape.flatten_nothing", "x: f32[2, 3]; y = Flatten(x, axis=0)"),
    *acts("reshape.squeeze_nothing", "x: f32[2, 3]; y = Squeeze(x)"),
    *rests("reshape.squeeze_nothing", "x: f32[N, 3]; y = Squeeze(x)"),
    *acts("reshape.expand_nothing", "x: f32[2, 3]; y = Expand(x, i64([1, 3]))"),
    *rests(
        "reshape.expand_nothing",
        "x: f32[2, 1]; y = Expand(x, i64([2, 3]))",
        "x: f32[N, 3]; y = Expand(x, i64([2, 3]))",
    ),
    *acts("reshape.tile_nothing", "x: f32[2, 3]; y = Tile(x, i64([1, 1]))"),
    *rests("reshape.tile_nothing", "x: f32[2, 3]; y = Tile(x, i64([1, 2]))"),
    *acts(
        "reshape.reduce_nothing",
        "x: f32[2, 1, 3]; y = F(x, i64([1]), keepdims=0)",
        "x: i32[1, 1]; y = F(x, keepdims=0)",
        "x: f32[N, 1]; y = F(x, i64([-1]), keepdims=1)",
        "x: f32[0, 3, 1]; y = F(x, i64([2]))",
    ),
    *rests(
        "reshape.reduce_nothing",
        "x: f32[2, 1, 3]; y = F(x, i64([0]), keepdims=0)",
        "x: f32[N, 1]; y = F(x, i64([0]), keepdims=0)",
        "x: f32[1, 2]; a: i64[1]; y = F(x, a, keepdims=0)",
    ),
    *acts("reshape.pad_nothing", "x: f32[2, 3]; y = Pad(x, i64([0, 0, 0, 0]), mode='reflect')"),
    *rests(
        "reshape.pad_nothing",
        "x: f32[2, 3]; y = Pad(x, i64([0, 1, 0, -1]))",
        "x: f32[2, 3]; p: i64[4]; y = Pad(x, p)",
    ),
    *acts(
        "reshape.shape_known",
        "x: f32[2, 3]; z: i64[2]; y = Add(z, Shape(x))",
        "x: f32[N, 3]; z: i64[1]; y = Add(z, Shape(x, start=1))",
    ),
    *rests("reshape.shape_known", "x: f32[N, 3]; y = Identity(Shape(x))"),
    *acts("reshape.size_known", "x: f32[2, 3]; z: i64[2]; y = Add(z, Size(x))"),
    *rests("reshape.size_known", "x: f32[N, 3]; z: i64[2]; y = Add(z, Size(x))"),
    *acts(
        "reshape.gather_known",
        "x: f32[N, 3]; z: i64[2]; y = Add(z, Gather(Shape(x), i64(1)))",
        "x: f32[N, 3]; z: i64[2]; y = Add(z, Gather(Shape(x), i64([1])))",
    ),
    *rests("reshape.gather_known", "x: f32[N, 3]; z: i64[2]; y = Add(z, Gather(Shape(x), i64(0)))"),
    *acts(
        "reshape.slice_known",
        "x: f32[N, 3]; z: i64[2]; y = Add(z, Slice(Shape(x), i64([1]), i64([2])))",
    ),
    *rests(
        "reshape.slice_known",
        "x: f32[N, 3]; z: i64[1]; y = Add(z, Slice(Shape(x), i64([0]), i64([1])))",
    ),
]

CONCAT: list[Case] = [
    *acts("concat.concat_one", "x: f32[2, N]; y = Concat(x, axis=1)"),
    *acts(
        "concat.concat_first",
        "a: f32[2, 3]; b: f32[2, N]; c: f32[2, 1]; y = Concat(Concat(a, b, axis=1), c, axis=-1)",
    ),
    *rests(
        "concat.concat_first",
        "a: f32[2, 3]; b: f32[4, 3]; y = Concat(Concat(a, a, axis=0), b, axis=1)",
    ),
    *acts(
        "concat.concat_last",
        "a: f32[2, 3]; b: f32[2, 2]; y = Concat(a, Concat(b, a, axis=1), axis=1)",
    ),
    *rests(
        "concat.concat_last",
        "a: f32[2, 3]; b: f32[4, 3]; y = Concat(b, Concat(a, a, axis=0), axis=1)",
    ),
    *acts(
        "concat.split_one",
        "x: f32[2, 3]; y = Split(x, i64([3]), axis=1)",
        "x: f32[2, 3]; y = Split(x, axis=1, num_outputs=1)",
    ),
    *rests("concat.split_one", "x: f32[2, 3]; y, z = Split(x, i64([1, 2]), axis=1)"),
    *acts(
        "concat.concat_of_split_2",
        "x: f32[2, 5]; a, b = Split(x, i64([2, 3]), axis=1); y = Concat(a, b, axis=1)",
        "x: f32[N, 6]; a, b = Split(x, axis=1, num_outputs=2); y = Concat(a, b, axis=1)",
    ),
    *rests(
        "concat.concat_of_split_2",
        "x: f32[2, 4]; a, b = Split(x, i64([2, 2]), axis=1); y = Concat(b, a, axis=1)",
        "x: f32[2, 4]; a, b = Split(x, i64([2, 2]), axis=1); y = Concat(a, b, axis=0)",
        "x: f32[6]; a, b, c = Split(x, axis=0, num_outputs=3); y = Concat(a, b, axis=0)",
    ),
    *acts(
        "concat.concat_of_split_3",
        "x: f32[6]; a, b, c = Split(x, axis=0, num_outputs=3); y = Concat(a, b, c, axis=0)",
    ),
    *rests(
        "concat.concat_of_split_3",
        "x: f32[6]; a, b, c = Split(x, axis=0, num_outputs=3); y = Concat(a, c, b, axis=0)",
    ),
    *acts(
        "concat.concat_of_split_4",
        "x: f32[8]; a, b, c, d = Split(x, axis=0, num_outputs=4); y = Concat(a, b, c, d, axis=0)",
    ),
    *rests(
        "concat.concat_of_split_4",
        "x: f32[8]; a, b, c, d = Split(x, axis=0, num_outputs=4); y = Concat(a, b, c, c, axis=0)",
    ),
    *acts(
        "concat.split_of_concat_2",
        "x: f32[2, 3]; z: f32[2, 2]; a, b = Split(Concat(x, z, axis=1), i64([3, 2]), axis=1)",
    ),
    *rests(
        "concat.split_of_concat_2",
        "x: f32[2, 3]; z: f32[2, 2]; a, b = Split(Concat(x, z, axis=1), i64([2, 3]), axis=1)",
        "x: f32[2, 3]; z: f32[2, 3]; a, b = Split(Concat(x, z, axis=0), i64([2, 1]), axis=1)",
        "x: f32[N]; z: f32[N]; a, b = Split(Concat(x, z, axis=0), i64([2, 3]), axis=0)",
    ),
    *acts(
        "concat.split_of_concat_3",
        "x: f32[1]; y: f32[2]; z: f32[3]; a, b, c = Split(Concat(x, y, z, axis=0), i64([1, 2, 3]))",
    ),
    *rests(
        "concat.split_of_concat_3",
        "x: f32[1]; y: f32[2]; z: f32[3]; a, b, c = Split(Concat(x, y, z, axis=0), i64([2, 1, 3]))",
    ),
    *acts(
        "concat.slice_steps",
        "x: f32[2, 9]; y = Slice(x, i64([1, 2]), i64([2, 5]), i64([0, 1]), i64([1, 1]))",
    ),
    *rests(
        "concat.slice_steps",
        "x: f32[2, 9]; y = Slice(x, i64([1]), i64([5]), i64([1]), i64([2]))",
        "x: f32[2, 9]; y = Slice(x, i64([5]), i64([1]), i64([1]), i64([-1]))",
    ),
    *acts("concat.slice_nothing", "x: f32[2, N]; y = Slice(x, i64([0]), i64([9]), i64([0]))"),
    *rests(
        "concat.slice_nothing",
        "x: f32[2, 3]; y = Slice(x, i64([1]), i64([9]), i64([0]))",
        "x: f32[2, 3]; y = Slice(x, i64([-1]), i64([-9]), i64([0]), i64([-1]))",
        "x: f32[N, 3]; y = Slice(x, i64([0]), i64([9]), i64([0]))",
    ),
    *acts(
        "concat.slice_slice_same",
        "x: f32[9]; y = Slice(Slice(x, i64([1]), i64([7]), i64([0])), i64([2]), i64([4]), i64([0]))",
        "x: f32[N, 9]; y = Slice(Slice(x, i64([1]), i64([4]), i64([1])), i64([1]), i64([9]), i64([-1]))",
        "x: f32[9]; y = Slice(Slice(x, i64([3]), i64([5]), i64([0])), i64([4]), i64([6]), i64([0]))",
    ),
    *rests(
        "concat.slice_slice_same",
        "x: f32[9]; y = Slice(Slice(x, i64([-5]), i64([7]), i64([0])), i64([1]), i64([2]), i64([0]))",
        "x: f32[9]; y = Slice(Slice(x, i64([1]), i64([7]), i64([0])), i64([0]), i64([-1]), i64([0]))",
        "x: f32[9, 9]; y = Slice(Slice(x, i64([1]), i64([7]), i64([0])), i64([1]), i64([2]), i64([1]))",
    ),
    *acts(
        "concat.slice_slice_across",
        "x: f32[9, 8]; y = Slice(Slice(x, i64([-5]), i64([7]), i64([0])), i64([1]), i64([-2]), i64([-1]))",
    ),
    *rests(
        "concat.slice_slice_across",
        "x: f32[9, 9]; y = Slice(Slice(x, i64([1]), i64([7]), i64([0])), i64([1]), i64([2]), i64([0]))",
    ),
    *acts(
        "concat.slice_of_concat_first",
        "x: f32[2, 5]; z: f32[2, N]; y = Slice(Concat(x, z, z, axis=1), i64([1]), i64([5]), i64([1]))",
    ),
    *rests(
        "concat.slice_of_concat_first",
        "x: f32[2, 5]; z: f32[2, 4]; y = Slice(Concat(x, z, axis=1), i64([1]), i64([6]), i64([1]))",
        "x: f32[2, 5]; z: f32[2, 4]; y = Slice(Concat(x, z, axis=1), i64([1]), i64([-5]), i64([1]))",
        "x: f32[2, 5]; z: f32[2, 5]; y = Slice(Concat(x, z, axis=0), i64([1]), i64([2]), i64([1]))",
    ),
    *acts(
        "concat.slice_of_concat_second",
        "x: f32[2, 5]; z: f32[2, 4]; y = Slice(Concat(x, z, axis=1), i64([6]), i64([99]), i64([-1]))",
    ),
    *rests(
        "concat.slice_of_concat_second",
        "x: f32[2, 5]; z: f32[2, 4]; y = Slice(Concat(x, z, axis=1), i64([4]), i64([99]), i64([1]))",
        "x: f32[2, N]; z: f32[2, 4]; y = Slice(Concat(x, z, axis=1), i64([6]), i64([99]), i64([1]))",
    ),
    *acts(
        "concat.slices_are_split",
        "x: f32[2, 5]; y = Slice(x, i64([0]), i64([2]), i64([1])); z = Slice(x, i64([2]), i64([99]), i64([-1]))",
        "x: f32[N, 4]; y = Slice(x, i64([0]), i64([1]), i64([-1])); z = Slice(x, i64([1]), i64([4]), i64([1]))",
    ),
    *rests(
        "concat.slices_are_split",
        "x: f32[2, 5]; y = Slice(x, i64([0]), i64([2]), i64([1])); z = Slice(x, i64([2]), i64([4]), i64([1]))",
        "x: f32[2, 5]; y = Slice(x, i64([0]), i64([2]), i64([1])); z = Slice(x, i64([1]), i64([5]), i64([1]))",
        "x: f32[2, 5]; y = Slice(x, i64([1]), i64([2]), i64([1])); z = Slice(x, i64([2]), i64([5]), i64([1]))",
        "x: f32[5, 5]; y = Slice(x, i64([0]), i64([2]), i64([1])); z = Slice(x, i64([2]), i64([5]), i64([0]))",
        "x: f32[2, N]; y = Slice(x, i64([0]), i64([2]), i64([1])); z = Slice(x, i64([2]), i64([99]), i64([1]))",
        "x: f32[2, 5]; y = Slice(x, i64([0]), i64([5]), i64([1])); z = Slice(x, i64([5]), i64([9]), i64([1]))",
        "x: f32[2, 5]; u: f32[2, 5]; y = Slice(x, i64([0]), i64([2]), i64([1])); z = Slice(u, i64([2]), i64([5]), i64([1]))",
    ),
    *acts("concat.gather_all", "x: f32[2, 3]; y = Gather(x, i64([0, 1, 2]), axis=1)"),
    *rests(
        "concat.gather_all",
        "x: f32[2, 3]; y = Gather(x, i64([1, 0]), axis=0)",
        "x: f32[1, 3]; y = Gather(x, i64(0), axis=0)",
        "x: f32[2, 3]; y = Gather(x, i64([0, 1]), axis=1)",
    ),
    *acts(
        "concat.gather_gather",
        "x: f32[2, 9]; y = Gather(Gather(x, i64([3, -1, 5]), axis=1), i64([[2, 0]]), axis=1)",
        "x: f32[9]; j: i64; y = Gather(Gather(x, i64([3, 1, 5])), j)",
    ),
    *rests(
        "concat.gather_gather",
        "x: f32[4, 9]; y = Gather(Gather(x, i64([3, -1, 5]), axis=1), i64([2, 0]), axis=0)",
        "x: f32[4, 9]; y = Gather(Gather(x, i64(3), axis=0), i64([2, 0]), axis=0)",
    ),
]

_PADS = "x: f32[2, 3]; y = Pad(Pad(x, i64([0, 1, 2, 0]){}), i64([1, 2, 0, 0]){})"
_CROPS = "x: f32[2, 3]; y = Pad(Pad(x, i64([{}]){}), i64([{}]){})"
PADS: list[Case] = [
    *acts(
        "concat.pad_zeros",
        "x: f32[2, N]; y = Pad(x, i64([0, 1, 0, -1]), f32(0))",
        "x: i64[3]; y = Pad(x, i64([1, 1]), i64(0))",
    ),
    *rests(
        "concat.pad_zeros",
        "x: f32[3]; y = Pad(x, i64([1, 1]), f32(1))",
        "x: f32[3]; v: f32; y = Pad(x, i64([1, 1]), v)",
        "x: f32[3]; y = Pad(x, i64([1, 1]), f32(0), mode='edge')",
    ),
    *acts(
        "concat.pad_pad",
        _PADS.format("", ""),
        _PADS.format(", f32(0.5)", ", f32(0.5)"),
        _PADS.format("", "").replace("2, 3]", "2, N]"),
        _PADS.format(", v", ", v").replace("y =", "v: f32; y ="),
    ),
    *rests(
        "concat.pad_pad",
        _PADS.format("", ", f32(0.5)"),
        _PADS.format(", f32(0.5)", ", f32(0.25)"),
        _PADS.format("", ", mode='edge'"),
        _CROPS.format("0, -1, 0, 0", "", "0, 1, 0, 0", ""),
        _CROPS.format("0, 0, 0, 3", "", "0, -1, 0, 0", ""),
        "x: f32[2, 3]; y = Pad(Pad(x, i64([1, 1]), None, i64([1])), i64([1, 1]), None, i64([1]))",
    ),
    *acts("concat.pad_pad_edge", _PADS.format(", mode='edge'", ", mode='edge'")),
    *rests(
        "concat.pad_pad_edge",
        _PADS.format(", mode='edge'", ""),
        _PADS.format(", mode='reflect'", ", mode='reflect'"),
        _CROPS.format("0, -1, 0, 0", ", mode='edge'", "0, 1, 0, 0", ", mode='edge'"),
        _CROPS.format("0, 0, 0, 3", ", mode='edge'", "0, -1, 0, 0", ", mode='edge'"),
    ),
]

CASES = [*IDENTITY, *CAST, *RESHAPE, *CONCAT, *PADS]
