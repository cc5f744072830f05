"""Models in onnxruntime and in ONNX's reference evaluator."""
