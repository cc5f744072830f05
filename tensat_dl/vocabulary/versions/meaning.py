"""Operators whose meaning changed, or whose attributes were renamed or became richer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dims import Dim, is_positive
from tensat_dl.vocabulary.types import TensorType
from tensat_dl.vocabulary.versions.form import Form, Row, never, unchanged


def _only(**values: AttributeValue) -> Callable[[Form], Form | None]:
    """The older form lacks these attributes: they must have these values."""

    def down(form: Form) -> Form | None:
        given = ((name, form.attributes.get(name, value)) for name, value in values.items())
        same = all(found == values[name] for name, found in given)
        return form.without(*values) if same else None

    return down


# --- softmax: before 13 the input was flattened at `axis`, and a row normalised as a whole ---


def _flattened_up(form: Form) -> Form | None:
    shape = form.dims(0)
    if not shape:
        return None
    axis = form.integer("axis", 1)
    if not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    wide = [place for place in range(axis, len(shape)) if shape[place] != 1]
    if len(wide) > 1:
        return None
    return form.having(axis=wide[0] if wide else axis)


def _flattened_down(form: Form) -> Form | None:
    shape = form.dims(0)
    if not shape:
        return None
    axis = form.integer("axis", -1) % len(shape)
    return form.having(axis=axis) if all(size == 1 for size in shape[axis + 1 :]) else None


# --- normalisations -------------------------------------------------------------------------


def _spatial(form: Form) -> Form | None:
    return form.without("spatial") if form.integer("spatial", 1) == 1 else None


def _inference_up(form: Form) -> Form | None:
    """With one output the operator is for inference; with more the outputs mean other things."""
    return form if form.outputs == 1 else None


def _inference_down(form: Form) -> Form | None:
    return _only(training_mode=0)(form) if form.outputs == 1 else None


# --- indices ----------------------------------------------------------------------------------


def _no_negative_indices(index: int) -> Callable[[Form], Form | None]:
    """Where older versions leave negative indices undefined: none that is known may be one."""

    def down(form: Form) -> Form | None:
        indices = form.integers(index)
        return None if indices is not None and min(indices, default=0) < 0 else form

    return down


def _one_hot(form: Form) -> Form | None:
    """Negative indices counted as out of range before 11."""
    indices = form.content(0)
    return None if indices is None or min(indices, default=0) < 0 else form


def _reductions(*known: str) -> Callable[[Form], Form | None]:
    def down(form: Form) -> Form | None:
        return form if form.text("reduction", "none") in known else None

    return down


# --- shapes -----------------------------------------------------------------------------------


def _allowzero_down(form: Form) -> Form | None:
    if not form.integer("allowzero", 0):
        return form.without("allowzero")
    tensor = form.tensor(1)
    value = tensor.value if isinstance(tensor, TensorType) else None
    if value is None:
        return None
    settled = all(item == -1 or is_positive(_dim(item)) for item in value)
    return form.without("allowzero") if settled else None


def _dim(item: object) -> Dim:
    return item if not isinstance(item, float | str) else 0  # type: ignore[return-value]


def _whole_shape(form: Form) -> Form | None:
    return None if "end" in form.attributes else _only(start=0)(form)


def _same_shapes(form: Form) -> Form | None:
    """Without broadcasting."""
    shapes = {form.dims(index) for index in range(len(form.inputs))}
    return form if len(shapes) == 1 and None not in shapes else None


def _bias_given(form: Form) -> Form | None:
    return form if form.has(2) else None


def _scalar_scale(form: Form) -> Form | None:
    """Per tensor only."""
    if form.dims(1) != () and form.dims(1) != (1,):
        return None
    return form.without("axis")


# --- windows ----------------------------------------------------------------------------------


def _explicit_pads(form: Form) -> Form | None:
    """How padding is shared between the sides was changed."""
    automatic = form.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    return None if automatic or "output_shape" in form.attributes else form


def _no_ceil(form: Form) -> Form | None:
    """How many elements a window counts that reaches over the edge was changed."""
    return None if form.integer("ceil_mode", 0) else form


def _undilated(form: Form) -> Form | None:
    dilations = form.attributes.get("dilations", ())
    plain = isinstance(dilations, tuple) and all(step == 1 for step in dilations)
    return form.without("dilations") if plain else None


def _pool_without(*names: str) -> Callable[[Form], Form | None]:
    def down(form: Form) -> Form | None:
        plain: Form | None = _undilated(form) if "dilations" in names else form
        others: dict[str, AttributeValue] = {name: 0 for name in names if name != "dilations"}
        return plain and _only(**others)(plain)

    return down


_plain_pool = _pool_without("ceil_mode", "dilations")


def _plain_average(form: Form) -> Form | None:
    plain = _undilated(form)
    return plain and _no_ceil(plain)


def _values_only(form: Form) -> Form | None:
    return _only(storage_order=0)(form) if form.outputs == 1 else None


# --- resizing ---------------------------------------------------------------------------------

_COORDINATES = frozenset(
    ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
)


def _no_smaller(form: Form, index: int) -> bool:
    """No dim is scaled down: there runtimes and versions round differently."""
    scales = form.content(index)
    return scales is not None and all(scale >= 1 for scale in scales)


def _resize_10_up(form: Form) -> Form | None:
    if form.text("mode", "nearest") not in ("nearest", "linear") or not _no_smaller(form, 1):
        return None
    return form.skipping(1).having(
        coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )


def _resize_10_down(form: Form) -> Form | None:
    mode = form.text("mode", "nearest")
    rounds = mode == "nearest" and form.text("nearest_mode", "round_prefer_floor") == "floor"
    asymmetric = form.text("coordinate_transformation_mode", "half_pixel") == "asymmetric"
    if not asymmetric or not (rounds or mode == "linear") or form.integer("exclude_outside", 0):
        return None
    if form.has(3) or not _no_smaller(form, 2):
        return None
    return form.cut(3).dropping(1).without(
        "coordinate_transformation_mode", "nearest_mode", "cubic_coeff_a", "exclude_outside",
        "extrapolation_value",
    )  # fmt: skip


def _upsample_up(form: Form) -> Form | None:
    return form if form.text("mode", "nearest") in ("nearest", "linear") else None


def _resize_18_up(form: Form) -> Form | None:
    mode = form.text("coordinate_transformation_mode", "half_pixel")
    return form if mode in _COORDINATES else None


def _resize_18_down(form: Form) -> Form | None:
    plain = _only(antialias=0, keep_aspect_ratio_policy="stretch")(form)
    return None if plain is None or "axes" in form.attributes else _resize_18_up(plain)


def _renamed_modes(names: Mapping[str, str], default: str) -> Callable[[Form], Form | None]:
    def rename(form: Form) -> Form | None:
        mode = form.text("mode", default)
        return form.having(mode=names[mode]) if mode in names else None

    return rename


_SAMPLE_MODES = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}

_sample_up = _renamed_modes(_SAMPLE_MODES, "bilinear")


def _sample_down(form: Form) -> Form | None:
    back = {new: old for old, new in _SAMPLE_MODES.items()}
    return _renamed_modes(back, "linear")(form) if form.rank() == 4 else None


def _roi_align_up(form: Form) -> Form | None:
    return form.having(coordinate_transformation_mode="output_half_pixel")


_roi_align_down = _only(coordinate_transformation_mode="output_half_pixel")


def _softmax_row(operator: str) -> Row:
    return Row(operator, 13, "no longer flattens", _flattened_up, _flattened_down)


def _new(operator: str, since: int, **values: AttributeValue) -> Row:
    """Attributes that arrived with these defaults."""
    return Row(operator, since, f"{', '.join(values)} added", unchanged, _only(**values))


ROWS: tuple[Row, ...] = (
    _new("ArgMax", 12, select_last_index=0),
    _new("ArgMin", 12, select_last_index=0),
    Row("AveragePool", 10, "ceil_mode added", unchanged, _pool_without("ceil_mode")),
    Row("AveragePool", 19, "dilations; windows over the edge", _no_ceil, _plain_average),
    Row("BatchNormalization", 9, "spatial dropped", _spatial, unchanged),
    Row("BatchNormalization", 14, "training_mode; other outputs", _inference_up, _inference_down),
    _new("Cast", 19, saturate=1),
    _new("CastLike", 19, saturate=1),
    Row("ConvTranspose", 11, "sharing of automatic padding", _explicit_pads, _explicit_pads),
    _new("DepthToSpace", 11, mode="DCR"),
    Row("DequantizeLinear", 13, "per axis", unchanged, _scalar_scale),
    _new("DequantizeLinear", 21, block_size=0),
    Row("Gather", 11, "negative indices", unchanged, _no_negative_indices(1)),
    _new("GatherND", 12, batch_dims=0),
    Row("Gemm", 11, "the bias is optional", unchanged, _bias_given),
    Row("GridSample", 20, "modes renamed, any rank", _sample_up, _sample_down),
    _new("GRU", 14, layout=0),
    Row("GroupNormalization", 21, "scale and bias per channel, not per group", never, never),
    _softmax_row("Hardmax"),
    _softmax_row("LogSoftmax"),
    _new("LSTM", 14, layout=0),
    Row("LpPool", 18, "ceil_mode and dilations added", unchanged, _plain_pool),
    Row("Max", 8, "broadcasts", unchanged, _same_shapes),
    Row("MaxPool", 8, "storage_order and indices added", unchanged, _values_only),
    Row("MaxPool", 10, "ceil_mode and dilations added", unchanged, _plain_pool),
    Row("Mean", 8, "broadcasts", unchanged, _same_shapes),
    Row("Min", 8, "broadcasts", unchanged, _same_shapes),
    Row("OneHot", 11, "negative indices", _one_hot, _one_hot),
    Row("QuantizeLinear", 13, "per axis", unchanged, _scalar_scale),
    _new("QuantizeLinear", 19, saturate=1),
    _new("QuantizeLinear", 21, block_size=0, output_dtype=0),
    _new("RNN", 14, layout=0),
    Row("Reshape", 14, "allowzero added", unchanged, _allowzero_down),
    Row("Resize", 11, "coordinates, sizes", _resize_10_up, _resize_10_down),
    Row("Resize", 18, "axes, antialias, keep_aspect_ratio_policy", _resize_18_up, _resize_18_down),
    Row("RoiAlign", 16, "half pixels by default", _roi_align_up, _roi_align_down),
    Row("Scatter", 11, "renamed", unchanged, unchanged, "ScatterElements"),
    Row("ScatterElements", 16, "reduction added", unchanged, _only(reduction="none")),
    Row("ScatterElements", 18, "max and min", unchanged, _reductions("none", "add", "mul")),
    Row("ScatterND", 16, "reduction added", unchanged, _only(reduction="none")),
    Row("ScatterND", 18, "max and min", unchanged, _reductions("none", "add", "mul")),
    Row("Shape", 15, "start and end added", unchanged, _whole_shape),
    _softmax_row("Softmax"),
    Row("Sum", 8, "broadcasts", unchanged, _same_shapes),
    Row("Upsample", 10, "renamed", _upsample_up, _upsample_up, "Resize"),
)  # fmt: skip
