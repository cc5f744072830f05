"""What dims without a number count as: sizes at which a model can run."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "egraph"))  # for `onnx_text`

import onnx_text

from tensat_dl.cost.models import make_cost_model
from tensat_dl.cost.symbol_sizes import SymbolSizes, symbol_sizes
from tensat_dl.cost.work import Part
from tensat_dl.egraph.snapshot import Application
from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import CostSettings, ModelSettings

#: Frames of 512 samples: the first ends at the 512-th.
FRAMES = """(float[B, 1, S] x, float[C, 3] z) => (float[B, 4, F] y, float[C, 3] u)
    <float[4, 1, 512] w> { y = Conv <strides = [160]> (x, w) u = Relu(z) }"""


def graph(text: str) -> Graph:
    return read_model(onnx_text.model(text), ModelSettings())


def test_what_is_too_small_becomes_larger() -> None:
    """By powers of two, until there is a frame; batches stay."""
    sizes = symbol_sizes(graph(FRAMES), 16)
    assert sizes == SymbolSizes(16, (("S", 512),))
    assert {name: sizes.of(name) for name in "BCS"} == {"B": 16, "C": 16, "S": 512}
    assert symbol_sizes(graph(FRAMES), 3) == SymbolSizes(3, (("S", 768),))


def test_what_is_large_enough_stays() -> None:
    assert symbol_sizes(graph(FRAMES), 600) == SymbolSizes(600)


def test_what_would_need_too_much_stays() -> None:
    windows = FRAMES.replace("512", "80000")
    assert symbol_sizes(graph(windows), 16) == SymbolSizes(16)


def test_what_no_size_mends_stays() -> None:
    """2 - N places: none for 16, and fewer for more."""
    text = """(float[N] x, float[2] z) => (float[M] y)
        { n = Shape(x) b = Constant <value_ints = [0]> ()
          s = Constant <value_ints = [2]> () k = Sub(s, n) y = Slice(z, b, k) }"""
    assert symbol_sizes(graph(text), 16) == SymbolSizes(16)


def test_prices_are_those_of_these_sizes() -> None:
    """16 of 4 channels of one frame of 512 products."""
    frames = graph(FRAMES)
    (node,) = (node for node in frames.nodes if node.operator.name == "Conv")
    types = [tuple(map(frames.type_of, names)) for names in (node.inputs, node.outputs)]
    part = Part(Application(node.operator, node.attributes, 1), *types)
    prices = make_cost_model("flops", CostSettings(), None, frames)
    assert prices.price(part) == 2 * 16 * 4 * 1 * 512
