"""A plan for sets on disk, done by one process with a GPU: needs CUDA.

    python -m benchmarks streamed
    RECAPTURE_ROWS=5000000 RECAPTURE_PARTS=1 python -m benchmarks streamed

Files are made in a temporary folder (TMPDIR), 7.7 GB a side for 5,000,000 x 384. Before, 60,000 rows are counted by
the processor, by the device from memory and by the device from disk: the numbers must be equal. Of the large files the
radii of a few rows are compared with distances to all others.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc
from recapture.plans.phases import RADII
from recapture.plans.tile_plan import TilePlan

from .gpu import METRICS, made, product_rate
from .timing import cuda_is_there

DIMENSIONS = 384
_AT_ONCE = 500_000


def save(path: Path, rows: int, seed: int) -> None:
    """A few hundred thousand at a time, with seeds of their own."""
    values = np.lib.format.open_memmap(path, "w+", np.float32, (rows, DIMENSIONS))
    for start in range(0, rows, _AT_ONCE):
        stop = min(start + _AT_ONCE, rows)
        values[start:stop] = made(1_000 * seed + start // _AT_ONCE, stop - start, DIMENSIONS)
    values.flush()


def timed(what: str, work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    found = work()
    took = time.perf_counter() - begun
    print(f"  {what:<34} {took:8.1f} s", flush=True)
    return found, took


def peak() -> float:
    """GB of memory at most, mapped pages of the files included."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def equal_numbers(folder: Path, rows: int) -> None:
    """Counted three ways."""
    paths = folder / "small-human.npy", folder / "small-model.npy"
    for seed, path in enumerate(paths, 1):
        save(path, rows, seed)
    human, model = (np.load(path) for path in paths)
    given = {"metrics": METRICS, "ceiling": False, "reference_name": str(paths[0])}
    ways = [
        rc.evaluate(human, {paths[1].name: model}, device=device, **given).to_json(arrays=True)
        for device in ("cpu", "cuda")
    ]
    for parts in (1, 3):
        rc.make_plan(*paths, folder / f"small {parts}", parts=parts)
        rc.run_plan(folder / f"small {parts}", device="cuda")
        ways.append(rc.merge_plan(folder / f"small {parts}").to_json(arrays=True))
    if len(set(ways)) != 1:
        raise SystemExit("numbers differ")
    print(f"{rows:,} v {rows:,}: processor, device from memory, device from disk (1 and 3 parts): all numbers equal")


def check_radii(plan: TilePlan, paths: tuple[Path, Path]) -> None:
    """Of 64 rows a side, from distances to all others in float64."""
    import torch

    from recapture.geometry.device_spheres import all_squared

    worst = 0.0
    for stage, path in zip(RADII, paths, strict=True):
        radii = np.concatenate([plan.read(part)["radii"] for part in plan.parts[stage]])  # type: ignore[index]
        values = np.load(path, mmap_mode="r")
        which = np.sort(np.random.default_rng(9).choice(len(values), 64, replace=False))
        queries = torch.as_tensor(np.array(values[which])).cuda()
        nearest = torch.full((64, plan.ks[-1] + 1), torch.inf, dtype=torch.float64, device="cuda")
        for start in range(0, len(values), _AT_ONCE):
            squared = all_squared(queries, torch.as_tensor(np.array(values[start : start + _AT_ONCE])).cuda())
            nearest = torch.cat([nearest, squared], dim=1).topk(plan.ks[-1] + 1, largest=False).values
        expected = nearest[:, list(plan.ks)].cpu().numpy()  # the row itself comes first
        worst = max(worst, float(np.abs(radii[which] / expected - 1).max()))
    print(f"  radii of 64 rows a side from all distances: within {worst:.0e}")
    if worst > 1e-12:
        raise SystemExit("radii differ")


def main() -> None:
    if not cuda_is_there("streamed"):
        return
    import torch

    rows, parts = int(os.environ.get("RECAPTURE_ROWS", "1000000")), int(os.environ.get("RECAPTURE_PARTS", "1"))
    with tempfile.TemporaryDirectory(prefix="recapture-streamed-") as name:
        folder = Path(name)
        equal_numbers(folder, 60_000)
        paths = folder / "human.npy", folder / "model.npy"
        print(f"{rows:,} v {rows:,} x {DIMENSIONS}, {parts} part{'s' * (parts != 1)} of each kind")
        timed("files made", lambda: [save(path, rows, seed) for seed, path in enumerate(paths, 3)])
        _, planning = timed("recapture plan", lambda: rc.make_plan(*paths, folder / "planned", METRICS, parts=parts))
        plan = TilePlan.opened(folder / "planned")
        torch.cuda.reset_peak_memory_stats()
        from recapture.geometry.parallel import engine
        from recapture.plans.planned_parts import PlannedParts

        work = PlannedParts(plan)
        done = 0.0
        with engine(device="cuda"):
            _, opening = timed("files proved, repeats looked for", lambda: work._rows)
            for stage, own in plan.parts.items():
                _, took = timed(f"{stage}, all parts", lambda own=own: [work.make(part) for part in own])
                done += took
        print(f"  {'recapture run in all':<34} {opening + done:8.1f} s")
        merged, merging = timed("recapture merge", lambda: rc.merge_plan(folder / "planned"))
        print(f"  {'all of it':<34} {planning + opening + done + merging:8.1f} s")
        rate = product_rate(DIMENSIONS)
        # A triangle of products for each side's radii where a part is all of it, and a square for the counts.
        share = 1 / parts
        products = 2 * rows * rows * DIMENSIONS * (2 * (1 - share / 2) + 1)
        print(
            f"  parts: {products / done / 1e12:.0f} TFLOP/s; bare products {rate / 1e12:.0f}, {products / rate:.1f} s"
        )
        print(f"  at most {torch.cuda.max_memory_allocated() / 1e9:.1f} GB on the device, {peak():.1f} GB beside it")
        print(f"  {merged['model.npy']['mark-evaluate'].values}")
        check_radii(plan, paths)


if __name__ == "__main__":
    main()
