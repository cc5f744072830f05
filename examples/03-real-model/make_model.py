"""Write `model.onnx`: DenseNet-121 as the onnx wheel ships it, with random weights.

The wheel's file has one constant for every weight, which says nothing about numerics; here each
weight is drawn with a variance that keeps activations finite.  Other models of the wheel:

    python make_model.py squeezenet.onnx squeezenet
"""

import sys
from importlib.resources import files

import onnx

from tensat_dl.graph.randomise import randomise_initializers


def make_model(name: str = "densenet121") -> onnx.ModelProto:
    path = files("onnx") / "backend/test/data/light" / f"light_{name}.onnx"
    return randomise_initializers(onnx.load(str(path)), seed=0)


if __name__ == "__main__":
    onnx.save(make_model(*sys.argv[2:3]), sys.argv[1] if len(sys.argv) > 1 else "model.onnx")
