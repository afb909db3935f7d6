"""Spheres of sets on a GPU, from host memory to counts, beside the processor's product rate: needs CUDA.

    python -m benchmarks gpu

Vectors are mixtures of 2,000 clusters with 48 directions of their own and noise around them, of length 1, as sentence
vectors are. All times are from arrays in host memory to all numbers of Mark-Evaluate, precision and recall, density and
coverage.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import recapture as rc

METRICS = "mark-evaluate,precision-recall,density-coverage"


def made(seed: int, rows: int, dimensions: int) -> np.ndarray:
    import torch

    shared = torch.Generator("cuda").manual_seed(0)
    centres = torch.randn(2000, dimensions, generator=shared, device="cuda")
    directions = torch.randn(48, dimensions, generator=shared, device="cuda") / 48**0.5
    own = torch.Generator("cuda").manual_seed(seed)
    values = centres[torch.randint(2000, (rows,), generator=own, device="cuda")]
    values += torch.randn(rows, 48, generator=own, device="cuda") @ directions
    values += 0.3 * torch.randn(rows, dimensions, generator=own, device="cuda")
    values /= values.norm(dim=1, keepdim=True)
    return np.asarray(values.cpu().numpy())


def seconds(work: Callable[[], Any]) -> float:
    import torch

    torch.cuda.synchronize()
    begun = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - begun


def product_rate(dimensions: int) -> float:
    """Operations a second of the device's own product in half precision: what no pass over all pairs can exceed."""
    import torch

    left, right = (torch.randn(rows, dimensions, device="cuda").half() for rows in (32768, 65536))
    _ = left @ right.T
    return 2 * 32768 * 65536 * dimensions / min(seconds(lambda: left @ right.T) for _ in range(5))


def main() -> None:
    try:
        import torch

        there = torch.cuda.is_available()
    except ImportError:
        there = False
    if not there:
        print("gpu: no CUDA device here")
        return
    print(f"\n{torch.cuda.get_device_name()}, torch {torch.__version__}")
    warm = made(1, 20_000, 384), made(2, 20_000, 384)
    first = seconds(lambda: rc.evaluate(warm[0], {"c": warm[1]}, METRICS, ceiling=False, device="cuda"))
    print(f"first call, 20,000 v 20,000 (kernels are compiled): {first:.1f} s")
    usual = {}
    for rows, dimensions, times in ((100_000, 384, 3), (1_000_000, 384, 2), (1_000_000, 1024, 2)):
        reference, candidate = made(1, rows, dimensions), made(2, rows, dimensions)

        def once(reference: np.ndarray = reference, candidate: np.ndarray = candidate) -> None:
            rc.evaluate(reference, {"c": candidate}, METRICS, ceiling=False, device="cuda")

        best = usual[rows, dimensions] = min(seconds(once) for _ in range(times))
        rate = product_rate(dimensions)
        # Two triangles of products for the radii, one square for memberships.
        floor = 2 * 2 * rows * rows * dimensions / rate
        print(
            f"{rows:,} v {rows:,} x {dimensions}: {best:.2f} s; bare products at {rate / 1e12:.0f} TFLOP/s "
            f"{floor:.2f} s, {best / floor:.1f}x"
        )
        if dimensions == 384:

            def sweep(reference: np.ndarray = reference, candidate: np.ndarray = candidate) -> None:
                rc.mark_evaluate_sweep(reference, candidate, range(1, 41), device="cuda")

            def one(reference: np.ndarray = reference, candidate: np.ndarray = candidate) -> None:
                rc.mark_evaluate(reference, candidate, device="cuda")

            many, alone = seconds(sweep), seconds(one)
            print(f"  k = 1 to 40: {many:.2f} s, {many / alone:.2f}x one k ({alone:.2f} s)")
    print(f"d = 1024 / d = 384: {usual[1_000_000, 1024] / usual[1_000_000, 384]:.2f}x")


if __name__ == "__main__":
    main()
