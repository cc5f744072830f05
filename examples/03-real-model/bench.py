"""Time two models in onnxruntime, one thread, all its optimisations on: the median of many runs.

python bench.py model.onnx model.opt.onnx
"""

import statistics
import sys
import time

import numpy as np
import onnxruntime

RUNS = 30


def session(path: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main() -> None:
    sessions = [session(path) for path in sys.argv[1:3]]
    slots = sessions[0].get_inputs()
    random = np.random.default_rng(0)
    feed = {s.name: random.standard_normal(s.shape).astype(np.float32) for s in slots}
    times: list[list[float]] = [[], []]
    for _ in range(RUNS):  # in turn, so that a busy machine slows both
        for place, each in enumerate(sessions):
            start = time.perf_counter()
            each.run(None, feed)
            times[place].append(time.perf_counter() - start)
    before, after = (1000 * statistics.median(t) for t in times)
    print(f"before {before:.1f} ms, after {after:.1f} ms: {before / after:.2f} times as fast")


if __name__ == "__main__":
    main()
