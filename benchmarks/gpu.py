"""Spheres of sets on a GPU, from host memory to counts, beside bare products and plain torch: needs CUDA.

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

from .timing import cuda_is_there

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


def plain_torch(reference: np.ndarray, candidate: np.ndarray, k: int = 3) -> tuple[int, int]:
    """Precision's and recall's counts as one would write them: float32, whole strips of distances, closed spheres."""
    import torch

    sets = [torch.as_tensor(values).cuda() for values in (reference, candidate)]
    radii = [
        torch.cat([torch.cdist(part, rows).kthvalue(k + 1, dim=1).values for part in rows.split(4096)]) for rows in sets
    ]
    inside = []
    for spheres, samples, radius in ((sets[0], sets[1], radii[0]), (sets[1], sets[0], radii[1])):
        near = [(torch.cdist(part, spheres) <= radius).any(dim=1).sum() for part in samples.split(4096)]
        inside.append(int(sum(near)))
    return inside[0], inside[1]


def beside_plain_torch(rows: int) -> None:
    reference, candidate = made(1, rows, 384), made(2, rows, 384)

    def ours() -> tuple[int, int]:
        values = rc.precision_recall(reference, candidate, device="cuda").values
        return round(values["precision"] * rows), round(values["recall"] * rows)

    counts = plain_torch(reference, candidate), ours()
    took = [min(seconds(work) for _ in range(2)) for work in (lambda: plain_torch(reference, candidate), ours)]
    off = [abs(a - b) for a, b in zip(*counts, strict=True)]
    print(
        f"{rows:,} v {rows:,} x 384, precision and recall: plain torch {took[0]:.2f} s, here {took[1]:.2f} s, "
        f"{took[0] / took[1]:.1f}x; its counts are off by {off[0]} and {off[1]}"
    )


def main() -> None:
    if not cuda_is_there("gpu"):
        return
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
    beside_plain_torch(100_000)
    print(f"d = 1024 / d = 384: {usual[1_000_000, 1024] / usual[1_000_000, 384]:.2f}x")


if __name__ == "__main__":
    main()
