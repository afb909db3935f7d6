"""Time several jobs side by side and print ratios."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable

import numpy as np


def side_by_side(jobs: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Least seconds of each job. Jobs take turns, so that a busy moment of the machine hits all of them."""
    for job in jobs.values():  # libraries load, threads start, caches fill
        run(job)
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            best[name] = min(best[name], run(job))
    return best


def run(job: Callable[[], object]) -> float:
    with contextlib.redirect_stdout(io.StringIO()):  # some peers print
        start = time.perf_counter()
        job()
        return time.perf_counter() - start


def ratio(what: str, value: float, bar: str) -> None:
    print(f"  {what:<66} {value:8.2f}x   (bar: {bar})", flush=True)


def seconds(what: str, value: float) -> None:
    print(f"  {what:<66} {value:8.3f} s", flush=True)


def embeddings(rows: int, dimensions: int = 384, seed: int = 0) -> np.ndarray:
    """Made-up sentence vectors: unit length, float32, variance that falls off over the dimensions."""
    rng = np.random.default_rng(seed)
    spectrum = (1 / np.sqrt(1 + np.arange(dimensions) / 20)).astype(np.float32)
    vectors = rng.standard_normal((rows, dimensions), dtype=np.float32) * spectrum
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cuda_is_there(benchmark: str) -> bool:
    """Whether there is a CUDA device, and which; one line where there is none."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        print(f"{benchmark}: no CUDA device here")
        return False
    print(f"\n{torch.cuda.get_device_name()}, torch {torch.__version__}")
    return True
