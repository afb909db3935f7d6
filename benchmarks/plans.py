"""One plan driven by plain processes: how the time falls with their number.

    python -m benchmarks plans

Environment: RECAPTURE_ROWS=100000, RECAPTURE_PROCESSES=1,8, RECAPTURE_ROUNDS=2.

Every process computes on one thread, and is a program of its own (`recapture run FOLDER i/N --wait 1h`), so its start
counts, too. The merged numbers are compared with each other. What the machine itself gives is measured apart: the rate
of one process at a fixed product while so many run it at once, against one alone (cores may share units and caches).
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

ROWS, DIMENSIONS = int(os.environ.get("RECAPTURE_ROWS", "60000")), 384
PARTS = 64
"""Of each kind: several for every process, so that one on a quicker core does more of them."""
ROUNDS = int(os.environ.get("RECAPTURE_ROUNDS", "1"))
"""In each all numbers of processes have their turn; the best time of each counts."""


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_ASKED = os.environ.get("RECAPTURE_PROCESSES")
PROCESSES = [each for each in (1, 2, 4, 8, 16) if each <= cores()]
if _ASKED:
    PROCESSES = sorted({1, *map(int, _ASKED.split(","))})  # one alone is what others are held against


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


THREADS = ("RECAPTURE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ALONE = {**dict.fromkeys(THREADS, "1"), "CUDA_VISIBLE_DEVICES": ""}  # a GPU would do large parts, one after the other
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}  # else every process would compile the package anew
PRODUCT = """
import time
import numpy as np
left, right = np.random.default_rng(0).standard_normal((2, 960, 384), dtype=np.float32)
end, times = time.perf_counter() + 4, 0
while time.perf_counter() < end:
    left @ right.T
    times += 1
print(times)
"""


def started(command: list[str], **streams: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *command], env={**os.environ, **ALONE, **COMPILED}, stdin=subprocess.DEVNULL, **streams
    )


def seconds(plan: Path, processes: int) -> float:
    """Until all parts are there."""
    begun, worked = time.perf_counter(), os.times()
    workers = [
        started(["-m", "recapture", "run", str(plan), f"{i}/{processes}", "--wait", "1h"], stderr=subprocess.DEVNULL)
        for i in range(1, processes + 1)
    ]
    if sum(worker.wait() != 0 for worker in workers):
        raise SystemExit("a worker failed")
    took, work = time.perf_counter() - begun, os.times()
    spent = work.children_user + work.children_system - worked.children_user - worked.children_system
    print(f" {took:.1f} s, work of all {spent:.1f} s", flush=True)
    return took


def rate(processes: int) -> float:
    """Products that each of so many processes makes in some seconds, on average."""
    workers = [started(["-c", PRODUCT], stdout=subprocess.PIPE) for _ in range(processes)]
    return sum(int(worker.communicate()[0]) for worker in workers) / processes


def compare(title: str, unit: str, seconds: Callable[[Path, int], float]) -> None:
    """A table by numbers of workers. seconds: until all parts of a plan are there, by so many."""
    with tempfile.TemporaryDirectory(prefix="recapture-plans-") as name:
        folder = Path(name)
        paths = folder / "human.npy", folder / "model.npy"
        for seed, path in enumerate(paths, 1):
            save(path, seed)
        print(f"\n{title}: {ROWS:,} v {ROWS:,} x {DIMENSIONS}, {PARTS} parts of each kind, {cores()} cores")
        merged = set()
        took = {processes: float("inf") for processes in PROCESSES}
        rates = dict.fromkeys(PROCESSES, 0.0)
        for turn in range(ROUNDS):
            for processes in PROCESSES:
                plan = folder / f"{turn} by {processes}"
                rc.make_plan(*paths, plan, parts=PARTS)
                print(f"{processes} {unit}:", end="", flush=True)
                took[processes] = min(took[processes], seconds(plan, processes))
                merged.add(rc.merge_plan(plan).to_json(arrays=True))
                rates[processes] = max(rates[processes], rate(processes))
        print(f"{unit:9}   seconds   speed-up   efficiency   machine's own   of what it gives")
        for processes in PROCESSES:
            efficiency, given = took[1] / took[processes] / processes, rates[processes] / rates[1]
            print(
                f"{processes:9}   {took[processes]:7.1f}   {took[1] / took[processes]:8.2f}   {efficiency:10.1%}   "
                f"{given:13.1%}   {efficiency / given:16.1%}",
                flush=True,
            )
        if len(merged) != 1:
            raise SystemExit("merged numbers differ")
        print("merged numbers are equal")


def main() -> None:
    compare("A plan driven by plain processes", "processes", seconds)
