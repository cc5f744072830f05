"""ONNX operators, their canonical attributes, types and versions."""
