"""MMD beside what a few lines of NumPy, SciPy or torch do; many labellings of one pool from one preparation."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.spatial.distance import cdist

import recapture as rc
from recapture.geometry.labels import Labels
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair

from .timing import embeddings, ratio, run, seconds, side_by_side

ROWS, PERMUTATIONS = 1000, 1000


def drawn(rows: int, labellings: int) -> Labels:
    candidate = np.tile(np.arange(2 * rows) >= rows, (labellings, 1))
    candidate[1:] = np.random.default_rng(0).permuted(candidate[1:], axis=1)
    return Labels(~candidate, candidate)


def half_of_all(rows: int) -> Labels:
    """All partitions up to a change of sides."""
    chosen = np.array(list(itertools.combinations(range(2 * rows - 1, 0, -1), rows)))
    candidate = np.zeros((len(chosen), 2 * rows), bool)
    np.put_along_axis(candidate, chosen, True, axis=1)
    return Labels(~candidate, candidate)


def under(name: str, pair: Pair, labels: Labels, **parameters: object) -> np.ndarray:
    metric = METRICS.find(name)
    assert metric.relabel is not None
    return np.asarray(metric.relabel(pair, **{**metric.defaults, **parameters})(labels)["value"])


def by_one_line(kernel: np.ndarray, n: int) -> float:
    """The unbiased squared MMD from the kernel matrix of reference and candidate, stacked."""
    m = len(kernel) - n
    within = (kernel[:n, :n].sum() - n) / (n * (n - 1)) + (kernel[n:, n:].sum() - m) / (m * (m - 1))
    return float(within - 2 * kernel[:n, n:].mean())


def by_scipy(pooled: np.ndarray, n: int, width: float) -> float:
    return by_one_line(np.exp(cdist(pooled, pooled, "sqeuclidean") / (-2 * width**2)), n)


def squares_by_product(pooled: np.ndarray) -> np.ndarray:
    squares = np.einsum("ij,ij->i", pooled, pooled)
    return np.asarray(squares[:, None] + squares - 2 * pooled @ pooled.T)


def by_numpy(pooled: np.ndarray, n: int, width: float) -> float:
    return by_one_line(np.exp(squares_by_product(pooled) / (-2 * width**2)), n)


def by_torch(pooled: np.ndarray, n: int, width: float) -> float:
    import torch

    points = torch.from_numpy(pooled)
    return by_one_line(torch.exp(torch.cdist(points, points) ** 2 / (-2 * width**2)).numpy(), n)


def by_products(kernel: np.ndarray, labels: Labels) -> np.ndarray:
    """All permutations at once, from the sums that two matrix products give."""
    sides = [side.astype(np.float64) for side in (labels.reference, labels.candidate)]
    (one, n), (other, m) = ((side, side[0].sum()) for side in sides)
    toward = one @ kernel
    across = (toward * other).sum(1)
    within_r, within_c = (toward * one).sum(1) - n, ((other @ kernel) * other).sum(1) - m
    return np.asarray(within_r / (n * (n - 1)) + within_c / (m * (m - 1)) - 2 * across / (n * m))


def by_loop(kernel: np.ndarray, labels: Labels) -> np.ndarray:
    """Blocks of the kernel matrix, taken out permutation by permutation."""
    values = []
    for reference, candidate in zip(labels.reference, labels.candidate, strict=True):
        i, j = np.flatnonzero(reference), np.flatnonzero(candidate)
        n, m = len(i), len(j)
        within_r, within_c = kernel[np.ix_(i, i)].sum() - n, kernel[np.ix_(j, j)].sum() - m
        across = kernel[np.ix_(i, j)].mean()
        values.append(within_r / (n * (n - 1)) + within_c / (m * (m - 1)) - 2 * across)
    return np.array(values)


def pair_of(rows: int, seed: int = 0) -> Pair:
    first, second = embeddings(rows, seed=2 * seed), embeddings(rows, seed=2 * seed + 1)
    return Pair(PointSet(first, "reference"), PointSet(second, "candidate"))


def once(rows: int) -> None:
    """One value. All start from the same float32 vectors and the same width."""
    first, second = embeddings(rows, seed=0), embeddings(rows, seed=1)
    pooled = np.concatenate([first, second])
    width = float(rc.mmd(first, second).bandwidth)
    jobs = {
        "recapture, float64 sums": lambda: rc.mmd(first, second, bandwidth=width).value,
        "SciPy's cdist and np.exp, float64": lambda: by_scipy(pooled, rows, width),
        "NumPy, one product, float64": lambda: by_numpy(pooled.astype(np.float64), rows, width),
        "NumPy, one product, float32": lambda: by_numpy(pooled, rows, width),
        "torch.cdist, float32": lambda: by_torch(pooled, rows, width),
    }
    print(f"MMD, {rows:,} v {rows:,}, 384 dimensions, width given")
    best = side_by_side(jobs, 3)
    for name, job in jobs.items():
        seconds(f"{name}: {job():.9f}", best[name])
    ours, *rivals = best.values()
    ratio("the fastest rival / recapture", min(rivals) / ours, "none")
    ratio("NumPy in float64 / recapture", rivals[1] / ours, "none")
    ratio("SciPy / recapture", rivals[0] / ours, "none")


def main() -> None:
    once(ROWS)
    once(3 * ROWS)
    pair, labels = pair_of(ROWS), drawn(ROWS, PERMUTATIONS)
    width = rc.mmd(pair.reference.values, pair.candidate.values).bandwidth
    pooled = np.concatenate([pair.reference.values, pair.candidate.values]).astype(np.float64)
    print(f"MMD, {PERMUTATIONS:,} permutations, {ROWS:,} v {ROWS:,}, 384 dimensions, from vectors, width given")
    values: dict[str, np.ndarray] = {}

    def kernel() -> np.ndarray:
        return np.exp(squares_by_product(pooled) / (-2 * width**2))

    def ours() -> None:
        values["ours"] = under("mmd", pair, labels, bandwidth=width)

    def products() -> None:
        values["products"] = by_products(kernel(), labels)

    def loop() -> None:
        values["loop"] = by_loop(kernel(), labels)

    best = side_by_side({"ours": ours, "products": products}, 5)
    looped = run(loop)  # long enough to need no second round
    seconds("recapture", best["ours"])
    for name, what, spent in (
        ("products", "NumPy: one kernel matrix, all permutations by two products", best["products"]),
        ("loop", "NumPy: a loop that indexes the kernel matrix", looped),
    ):
        apart = float(np.abs(values["ours"] - values[name]).max())
        seconds(f"{what} (off by {apart:.0e})", spent)
        ratio(f"{name} / recapture", spent / best["ours"], "none" if name == "products" else "at least 20")
    seconds("recapture, median bandwidth included", run(lambda: under("mmd", pair, labels, bandwidth=None)))

    some = drawn(ROWS, 200)
    print(f"Fréchet distance, {len(some)} permutations, {ROWS:,} v {ROWS:,}, 384 dimensions")
    seconds("recapture", run(lambda: under("frechet", pair, some)))

    for rows, contexts in ((10, 1), (5, 500)):
        exhaustive(rows, contexts, "mmd", bandwidth=None)
        exhaustive(rows, contexts, "frechet")


def exhaustive(rows: int, contexts: int, name: str, **parameters: object) -> None:
    pairs, labels = [pair_of(rows, seed) for seed in range(contexts)], half_of_all(rows)

    def job() -> None:
        for pair in pairs:
            under(name, pair, labels, **parameters)

    print(f"{name}: all {len(labels):,} partitions of {rows} v {rows} texts up to a change of sides, 384 dimensions")
    seconds(f"{contexts} such context{'s' * (contexts > 1)}", min(run(job) for _ in range(3)))
