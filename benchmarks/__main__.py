import importlib
import os
import platform
import sys

import numpy as np

NAMES = (
    "neighbours", "memory", "word_counts", "frechet", "capture", "cache",
    "triangles", "relabelling", "permutations", "mauve", "meteor", "cider",
    "small", "words", "bertscore", "transport", "infolm", "which_texts", "pages",
)  # fmt: skip
CHECKS = (
    "agreement", "device_clusters", "device_sets", "device_words", "gpu", "infolm_device", "larger_than_memory",
    "plans", "plans_ray", "streamed",
)  # fmt: skip
"""Simulations whose figures stand in docs, and what needs a GPU or many cores: they run by name alone."""

if __name__ == "__main__":
    os.environ.setdefault("TQDM_DISABLE", "1")  # progress is neither timed nor printed between the figures
    options = next((place for place, word in enumerate(sys.argv) if word.startswith("--")), len(sys.argv))
    wanted = [name.replace("-", "_") for name in sys.argv[1:options]] or NAMES  # a benchmark reads its own options
    unknown = [name for name in wanted if name not in (*NAMES, *CHECKS)]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]!r}; there are {', '.join((*NAMES, *CHECKS))}")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}")
    for name in wanted:
        importlib.import_module(f"benchmarks.{name}").main()
