"""Maximum mean discrepancy with a Gaussian kernel.

Gretton, Borgwardt, Rasch, Schölkopf and Smola (2012), A Kernel Two-Sample Test, Eqs. 3 (unbiased) and 5 (biased).
With k(u, v) = exp(-|u - v|^2 / (2 s^2)), references r and candidates c,

    unbiased = mean over i != j of k(r_i, r_j) + mean over i != j of k(c_i, c_j) - 2 mean of k(r_i, c_j)

(squared MMD; Eq. 6 of the distribution-aware paper drops the means and the factor -2). s defaults to half the median
distance between all pairs of the pooled samples.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.parallel import blocks, engine_options, run_tiles
from ..results.result import Result
from .metric import Measurement, Metric, Output
from .pair import Pair
from .run import measure

_POOL_FOR_MEDIAN = 5000
_POOL_SEED = 0


def mmd(
    reference: Any,
    candidate: Any,
    bandwidth: float | None = None,
    *,
    balance: bool | int = False,
    seed: int = 0,
    encoder: Any = None,
) -> Result:
    """Squared MMD of two sets, 0 for equal distributions: `.value` unbiased, `.biased`, `.bandwidth` used."""
    return measure(METRIC, reference, candidate, bandwidth=bandwidth, balance=balance, seed=seed, encoder=encoder)


def _measure(pair: Pair, bandwidth: float | None) -> Measurement:
    reference, candidate = pair.reference.values, pair.candidate.values
    # Near the data, products of float64 rows give distances to many digits.
    centre = (reference.mean(axis=0, dtype=np.float64) + candidate.mean(axis=0, dtype=np.float64)) / 2
    rule = "given"
    if bandwidth is None:
        bandwidth, rule = median_bandwidth(reference, candidate, centre)
    elif not (math.isfinite(bandwidth) and bandwidth > 0):
        raise InputError(f"bandwidth must be a positive number, not {bandwidth}")
    n, m = len(reference), len(candidate)
    within_r = _off_diagonal_sum(reference, centre, bandwidth)
    within_c = _off_diagonal_sum(candidate, centre, bandwidth)
    across = 2 * _cross_sum(reference, candidate, centre, bandwidth) / (n * m)
    return Measurement(
        values={"value": within_r / (n * (n - 1)) + within_c / (m * (m - 1)) - across},
        details={
            "biased": max(0.0, (within_r + n) / n**2 + (within_c + m) / m**2 - across),
            "bandwidth": bandwidth,
        },
        settings={"bandwidth": bandwidth, "bandwidth_rule": rule},
    )


def median_bandwidth(reference: np.ndarray, candidate: np.ndarray, centre: np.ndarray) -> tuple[float, str]:
    """Half the median pooled distance and the rule used; over 5,000 pooled rows a seeded subsample serves."""
    rule = "half the median pooled distance"
    total = len(reference) + len(candidate)
    if total > _POOL_FOR_MEDIAN:
        rule += f" of {_POOL_FOR_MEDIAN} rows, seed {_POOL_SEED}"
        share = round(_POOL_FOR_MEDIAN * len(reference) / total)
        reference = _sample(reference, share)
        candidate = _sample(candidate, _POOL_FOR_MEDIAN - share)
    pooled = np.concatenate([reference - centre, candidate - centre])
    distances = np.empty(len(pooled) * (len(pooled) - 1) // 2)
    filled = 0
    for row in blocks(len(pooled), 512):
        squared = _squared_distances(pooled[row], pooled[row.start :])
        upper = squared[np.triu_indices(len(squared), 1, squared.shape[1])]
        distances[filled : filled + len(upper)] = upper
        filled += len(upper)
    np.sqrt(distances, out=distances)
    median = float(np.median(distances))
    if median == 0 and distances.any():
        rule = rule.replace("median", "median non-zero")
        median = float(np.median(distances[distances > 0]))
    # All points equal: any width gives the kernel 1 everywhere.
    return median / 2 or 1.0, rule


def _sample(values: np.ndarray, size: int) -> np.ndarray:
    rows = np.random.default_rng(_POOL_SEED).choice(len(values), size, replace=False)
    return values[np.sort(rows)]


def _squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    squared: np.ndarray = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b) - 2 * (a @ b.T)
    np.maximum(squared, 0, out=squared)
    return squared


def _kernel(a: np.ndarray, b: np.ndarray, bandwidth: float) -> np.ndarray:
    kernel = _squared_distances(a, b)
    kernel *= -0.5 / bandwidth**2
    np.exp(kernel, out=kernel)
    return kernel


def _off_diagonal_sum(values: np.ndarray, centre: np.ndarray, bandwidth: float) -> float:
    """Sum of k(v_i, v_j) over i != j, each unordered pair computed once."""
    parts = blocks(len(values), engine_options().tile)
    tiles = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]
    sums = np.empty(len(tiles))

    def add(number: int) -> None:
        i, j = tiles[number]
        kernel = _kernel(values[parts[i]] - centre, values[parts[j]] - centre, bandwidth)
        if i == j:
            np.fill_diagonal(kernel, 0)
        sums[number] = kernel.sum() * (1 if i == j else 2)

    run_tiles(add, range(len(tiles)), "kernel")
    return math.fsum(sums)  # one order of summation, however the tiles were shared out


def _cross_sum(reference: np.ndarray, candidate: np.ndarray, centre: np.ndarray, bandwidth: float) -> float:
    size = engine_options().tile
    tiles = [(i, j) for i in blocks(len(reference), size) for j in blocks(len(candidate), size)]
    sums = np.empty(len(tiles))

    def add(number: int) -> None:
        i, j = tiles[number]
        sums[number] = _kernel(reference[i] - centre, candidate[j] - centre, bandwidth).sum()

    run_tiles(add, range(len(tiles)), "kernel")
    return math.fsum(sums)


METRIC = Metric(
    name="mmd",
    title="Maximum mean discrepancy",
    # Never below -1/n - 1/m, since the biased form is a squared norm; kernels are at most 1.
    outputs=(Output("value", "squared MMD, unbiased", (-1.0, 2.0)),),
    direction="lower",
    measure=_measure,
    defaults={"bandwidth": None},
    swapped={"value": "value"},
    order=60,
    citation="Gretton et al. 2012, A Kernel Two-Sample Test, JMLR",
)
