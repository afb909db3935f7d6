"""Clusterings of MAUVE and PRD, and triangle ranks, on a GPU beside all cores of the same machine: needs CUDA.

    python -m benchmarks device_clusters

Both do the same work on the same data in one process, warm; labels and counts must be equal to the last integer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import recapture as rc
from recapture.geometry.clusters import ClusterRows, unit_rows
from recapture.geometry.kmeans import kmeans
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine, engine_options
from recapture.geometry.triangle_moments import triangle_moments
from recapture.geometry.triangles import counts_under, observed_counts

from .timing import cuda_is_there, embeddings, ratio, seconds

BAR = ">= 10"


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    made = work()  # comes back as an array in host memory
    return made, time.perf_counter() - begun


def beside(what: str, work: Callable[[], Any], device: str, equal: Callable[[Any, Any], bool]) -> None:
    """One line each for the processor and the device, their ratio, and whether they agree."""
    with engine(accelerator=device):
        _, first = timed(work)
        there, least = timed(work)
    with engine(device="cpu"):
        here, usual = timed(work)
    seconds(f"{what}: {device}, first call", first)
    seconds(f"{what}: {device}", least)
    seconds(f"{what}: {engine_options().thread_count()} threads", usual)
    ratio(f"{what}: {'EQUAL' if equal(there, here) else 'NOT EQUAL'}", usual / least, BAR)


def mauve(device: str, rows: int = 50_000) -> None:
    a, b = embeddings(rows, seed=1), embeddings(rows, seed=2)
    prepared, spent = timed(lambda: ClusterRows.of(unit_rows(a), unit_rows(b)).principal(0.9))
    clusters, axes = rows // 10, prepared.values.shape[1]
    print(f"MAUVE's clusterings of {rows:,} v {rows:,}: {clusters:,} clusters, {axes} axes, 8 seeds")
    seconds("unit rows, order, principal axes (processor)", spent)
    pieces(device, prepared, clusters)
    beside("k-means", lambda: kmeans(prepared.values, prepared.weight, clusters, range(8)), device, np.array_equal)
    with engine(accelerator=device):
        seconds(f"whole score: {device}", timed(lambda: rc.mauve(a, b))[1])


def prd(device: str, rows: int = 200_000) -> None:
    a, b = embeddings(rows, seed=1), embeddings(rows, seed=2)
    prepared, spent = timed(lambda: ClusterRows.of(a, b).centred())
    print(f"PRD's clusterings of {rows:,} v {rows:,}: 20 clusters, 384 dimensions, 10 seeds")
    seconds("order, centre (processor)", spent)
    beside("k-means", lambda: kmeans(prepared.values, prepared.weight, 20, range(10)), device, np.array_equal)
    with engine(accelerator=device):
        seconds(f"whole score: {device}", timed(lambda: rc.prd(a, b))[1])


def pieces(device: str, rows: ClusterRows, clusters: int) -> None:
    """Where one clustering spends its time."""
    import torch

    from recapture.geometry.device_kmeans import DeviceClustering
    from recapture.geometry.device_rows import DeviceRows
    from recapture.geometry.grid_kmeans import on_grid

    assert isinstance(rows.values, np.ndarray)
    values = rows.values
    grid, spent = timed(lambda: on_grid(values, rows.weight))
    seconds("  rows to the grid (processor)", spent)
    there, spent = timed(lambda: DeviceRows.of(grid, device))
    seconds("  rows to the device", spent)
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    for _ in range(2):
        run = DeviceClustering(grid, there, clusters, 0)
        parts: dict[str, float] = {}
        for name in ("start", "meet", "advance", "_meet_some", "_decide", "_rescore", "_batch", "_move"):
            setattr(run, name, _clocked(getattr(run, name), name, parts, wait))
        _, spent = timed(lambda run=run: _alone(run))
    listed = ", ".join(f"{name.strip('_')} {each:.3f}" for name, each in parts.items())
    print(f"    one clustering alone: {spent:.3f} s, {run._steps} moves: {listed}")


def _alone(run: Any) -> None:
    run.start()
    while not run.finished:
        run.meet()
        run.advance()


def _clocked(method: Callable[..., Any], name: str, parts: dict[str, float], wait: Callable[[], None]) -> Any:
    def wrapped(*given: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        made = method(*given, **named)
        wait()
        parts[name] = parts.get(name, 0.0) + time.perf_counter() - begun
        return made

    return wrapped


def triangles(device: str, side: int = 500, few: int = 200, labellings: int = 500, groups: int = 1_000) -> None:
    rng = np.random.default_rng(0)

    def apart(points: int) -> np.ndarray:
        placed = rng.standard_normal((points, 8))
        return np.array([np.linalg.norm(placed - point, axis=1) for point in placed])

    def labels(points: int, candidates: int) -> Labels:
        chosen = np.arange(points) < candidates
        candidate = rng.permuted(np.broadcast_to(chosen, (labellings, points)), axis=1)
        return Labels(~candidate, candidate)

    print("triangle ranks, distances given")
    whole, half = apart(2 * side), apart(2 * few)
    one_way = whole + rng.random(whole.shape)
    beside(f"{side} v {side}", lambda: observed_counts(whole, side, "split"), device, np.array_equal)
    beside(f"{side} v {side}: moments", lambda: triangle_moments(whole, side), device, _all_equal)
    beside(f"{side} v {side}: moments, not symmetric", lambda: triangle_moments(one_way, side), device, _all_equal)
    many = labels(2 * few, few)
    what = f"{few} v {few}: {labellings:,} labellings"
    beside(what, lambda: counts_under(half[None], many, "split"), device, np.array_equal)
    contexts, small = rng.random((groups, 15, 15)), labels(15, 5)
    what = f"{groups:,} contexts, 10 v 5: {labellings:,} labellings"
    beside(what, lambda: counts_under(contexts, small, "split"), device, np.array_equal)


def _all_equal(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return all(np.array_equal(*each) for each in zip(one, other, strict=True))


def main() -> None:
    if not cuda_is_there("device_clusters"):
        return
    for work in (triangles, prd, mauve):
        work("cuda")


if __name__ == "__main__":
    main()
