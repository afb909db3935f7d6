"""MMD, Fréchet distances and relabelled neighbourhoods on a GPU, beside all cores of the same machine: needs CUDA.

    python -m benchmarks device_sets

Same arrays in host memory, same calls, `device="cpu"` and `device="cuda"`, in one process. Whole numbers must be equal,
real ones differ by less than 1e-9 of their size (under labellings: of the largest).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import recapture as rc
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair

from .relabelling import THREE
from .timing import cuda_is_there, embeddings

BAR = 10
DIGITS = 1e-9


def synchronize() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    synchronize()
    begun = time.perf_counter()
    found = work()
    synchronize()
    return time.perf_counter() - begun, found


def both(what: str, work: Callable[[], Mapping[str, Any]], there: str, times: int = 3) -> None:
    """Time the same work here and there, and compare what it finds."""
    with engine(device="cpu", accelerator=None):
        here, expected = seconds(work)
    with engine(device=there):
        runs = [seconds(work) for _ in range(times)]
    found, spent = runs[-1][1], min(each for each, _ in runs)
    apart = 0.0
    for name, value in expected.items():
        one, other = np.asarray(value), np.asarray(found[name])
        if one.dtype.kind in "iu":
            assert np.array_equal(one, other), name
        else:
            # Of many labellings some are at 0 by chance: they are compared in units of the largest.
            apart = max(apart, float(np.abs(one - other).max() / np.abs(one).max()))
    verdict = "whole numbers equal" if apart == 0 else f"apart by {apart:.1e} of the value"
    warning = "" if apart <= DIGITS else " (MORE THAN ALLOWED)"
    print(
        f"{what}\n  {os.cpu_count()} cores {here:.3f} s, {there} {spent:.3f} s (first {runs[0][0]:.3f}): "
        f"{here / spent:.1f}x (bar: {BAR}x); {verdict}{warning}",
        flush=True,
    )


def shuffled(n: int, m: int, count: int, device: str) -> Labels:
    """Random labellings of n + m samples."""
    import torch

    own = torch.Generator(device).manual_seed(0)
    reference = np.zeros((count, n + m), bool)
    for start in range(0, count, 500):
        rows = slice(start, min(start + 500, count))
        order = torch.rand(rows.stop - rows.start, n + m, generator=own, device=device).argsort(dim=1)
        reference[rows] = (order < n).cpu().numpy()
    return Labels(reference, ~reference)


def relabel(reference: np.ndarray, candidate: np.ndarray, labels: Labels, names: list[str]) -> dict[str, np.ndarray]:
    """From two arrays to all numbers under all labellings, a thousand at a time."""
    pair = Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))
    metrics = [METRICS.find(name) for name in names]
    pair.expect(metric.defaults["k"] for metric in metrics if "k" in metric.defaults)
    scores = [metric.relabel(pair, **metric.defaults) for metric in metrics if metric.relabel]
    found: dict[str, list[np.ndarray]] = {}
    for start in range(0, len(labels), 1024):
        part = Labels(labels.reference[start : start + 1024], labels.candidate[start : start + 1024])
        for name, score in zip(names, scores, strict=True):
            for output, values in score(part).items():
                found.setdefault(f"{name} {output}", []).append(values)
        if "density-coverage" in names:
            for k in {metric.defaults["k"] for metric in metrics}:
                for kind, values in pair.counts_under(part, k)._asdict().items():
                    found.setdefault(f"{kind} at {k}", []).append(values)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def pieces(device: str, small: bool) -> None:
    """What could take the place of what: seconds of single steps."""
    import torch

    from recapture.geometry.device_gaussians import nuclear_norms

    def timed(what: str, work: Callable[[], Any]) -> None:
        work()
        print(f"  {what:<60} {min(seconds(work)[0] for _ in range(2)):9.4f} s", flush=True)

    for size in (64,) if small else (1024, 4096):
        rows = torch.randn(2 * size, size, dtype=torch.float64, device=device)
        c = rows.T @ rows
        timed(f"product {size}", lambda c=c: c @ c)
        timed(f"Cholesky {size}", lambda c=c: torch.linalg.cholesky_ex(c))
        timed(f"eigenvalues {size}", lambda c=c: torch.linalg.eigvalsh(c))
        timed(f"QR of {2 * size} x {size}", lambda rows=rows: torch.linalg.qr(rows, mode="r"))
        timed(f"sum of singular values by products {size}", lambda c=c: nuclear_norms(c[None]))
    for count, size in ((4, 20),) if small else ((200, 384), (200, 499)):
        rows = torch.randn(count, 2 * size, size, dtype=torch.float64, device=device)
        c = rows.mT @ rows
        timed(f"{count} products {size}", lambda c=c: c @ c)
        timed(f"{count} Cholesky {size}", lambda c=c: torch.linalg.cholesky_ex(c))
        timed(f"{count} eigenvalues {size}", lambda c=c: torch.linalg.eigvalsh(c))
        timed(f"{count} sums of singular values by products {size}", lambda c=c: nuclear_norms(c))


def main(small: bool = False, only: str = "") -> None:
    """small: a few rows on torch's processor tensors, to see that the whole runs. only: lines that name this."""
    if not small and not cuda_is_there("device_sets"):
        return
    device = "cpu" if small else "cuda"
    less = 500 if small else 1

    def sets(rows: int, dimensions: int = 384) -> tuple[np.ndarray, np.ndarray]:
        rows = max(rows // less, 12)
        return embeddings(rows, dimensions // (16 if small else 1), 1), embeddings(
            rows, dimensions // (16 if small else 1), 2
        )

    with engine(accelerator="cpu" if small else None):
        for metric, rows, dimensions in (
            (rc.mmd, 50_000, 384),
            (rc.frechet, 20_000, 4096),
            (rc.frechet, 50_000, 2048),
            (rc.frechet, 100_000, 2048),
        ):
            if only in f"{metric.__name__}, two sets":
                a, b = sets(rows, dimensions)
                what = f"{metric.__name__}, {len(a):,} v {len(b):,} x {a.shape[1]}"
                both(what, lambda a=a, b=b, metric=metric: _numbers(metric(a, b)), device)  # type: ignore[misc]
        for names, rows, dimensions, count in (
            (["mmd"], 5_000, 384, 10_000),
            (["mmd"], 25_000, 384, 1_000),
            (["frechet"], 5_000, 384, 1_000),
            (["frechet"], 500, 768, 1_000),
            (THREE, 50_000, 384, 1_000),
            (THREE, 5_000, 384, 10_000),
        ):
            what = f"{', '.join(names)} labelled"
            if only in what:
                a, b = sets(rows, dimensions)
                labels = shuffled(len(a), len(b), count // less + 5, device)
                both(
                    f"{what} {len(labels):,} times, {len(a):,} + {len(b):,} x {a.shape[1]}",
                    lambda a=a, b=b, labels=labels, names=names: relabel(a, b, labels, names),  # type: ignore[misc]
                    device,
                    times=2,
                )
    if only in "pieces":
        pieces(device, small)


def _numbers(result: rc.Result) -> dict[str, float]:
    return {**result.values, **{name: value for name, value in result.details.items() if isinstance(value, float)}}


if __name__ == "__main__":
    main()
