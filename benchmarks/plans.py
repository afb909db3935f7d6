"""One plan driven by plain processes: how the time falls with their number.

    python -m benchmarks plans

Every process computes on one thread of the processor, and is a program of its own (`recapture run FOLDER i/N`, twice:
radii, counts), so its start counts, too. The merged numbers are compared with each other. One process takes about three
minutes, all numbers of processes up to 16 together about six.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import recapture as rc

ROWS, DIMENSIONS = 80_000, 384
PARTS = 16
"""Of each kind: every number of processes has equal shares."""
PROCESSES = (1, 2, 4, 8, 16)
ONE_CORE = {"RECAPTURE_THREADS": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
"""A GPU that is there would do large parts, and all processes would wait for it."""


def save(path: Path, seed: int) -> None:
    """Rows around 40 directions that all share, with noise of their own."""
    directions = np.random.default_rng(0).standard_normal((40, DIMENSIONS), dtype=np.float32)
    rng = np.random.default_rng(seed)
    values = np.lib.format.open_memmap(path, "w+", np.float32, (ROWS, DIMENSIONS))
    for start in range(0, ROWS, 5000):
        part = values[start : start + 5000]
        part[:] = rng.standard_normal((len(part), 40), dtype=np.float32) @ directions
        part += 0.3 * rng.standard_normal(part.shape, dtype=np.float32)
    values.flush()


def seconds(plan: Path, processes: int) -> float:
    """Until all parts are there."""
    alone = {**os.environ, **ONE_CORE}
    begun = time.perf_counter()
    for _ in range(2):
        commands = [
            [sys.executable, "-m", "recapture", "run", str(plan), f"{i}/{processes}"] for i in range(1, processes + 1)
        ]
        workers = [subprocess.Popen(each, env=alone, stderr=subprocess.DEVNULL) for each in commands]
        if any(worker.wait() for worker in workers):
            raise SystemExit("a worker failed")
    return time.perf_counter() - begun


def compare(title: str, unit: str, seconds: Callable[[Path, int], float], most: int) -> None:
    """A table of numbers of workers. seconds: until all parts of a plan are there, by so many."""
    with tempfile.TemporaryDirectory(prefix="recapture-plans-") as name:
        folder = Path(name)
        paths = folder / "human.npy", folder / "model.npy"
        for seed, path in enumerate(paths, 1):
            save(path, seed)
        print(f"\n{title}: {ROWS:,} v {ROWS:,} x {DIMENSIONS}, {PARTS} parts of each kind, {most} cores")
        print(f"{unit}   seconds   speed-up   efficiency")
        merged, alone = set(), 0.0
        for workers in [each for each in PROCESSES if each <= most]:
            plan = folder / f"by-{workers}"
            rc.make_plan(*paths, plan, parts=PARTS)
            took = seconds(plan, workers)
            merged.add(rc.merge_plan(plan).to_json(arrays=True))
            alone = alone or took
            faster = alone / took
            print(f"{workers:{len(unit)}}   {took:7.1f}   {faster:8.2f}   {faster / workers:10.0%}", flush=True)
        if len(merged) != 1:
            raise SystemExit("merged numbers differ")
        print("merged numbers are equal")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    compare("A plan driven by plain processes", "processes", seconds, cores())
