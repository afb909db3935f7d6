"""The same plan driven by Ray: how the time falls with the number of workers, beside that of plain processes.

    python -m benchmarks plans_ray

A cluster of its own on this machine, of as many processors as workers; its start and its end count, too. It needs the
extra ray.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import recapture as rc

from . import plans


def seconds(plan: Path, workers: int) -> float:
    """Until all parts are there."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    begun = time.perf_counter()
    ray.init("local", num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ready = time.perf_counter()
    rc.run_plan(plan, device="cpu", engine="ray")
    done = time.perf_counter()
    ray.shutdown()
    ended = time.perf_counter()
    print(f" (start {ready - begun:.1f} s, parts {done - ready:.1f} s, end {ended - done:.1f} s)")
    return ended - begun


def main() -> None:
    plans.ROWS = 30_000  # the plain processes beside it take as long again
    plans.compare("A plan driven by plain processes", "processes", plans.seconds)
    plans.compare("The same plan driven by Ray", "workers", seconds)
