"""ONNX models as graphs of the vocabulary: read, write, fold, run, compare."""
