"""Maximum mean discrepancy with a Gaussian kernel.

Gretton, Borgwardt, Rasch, Schölkopf and Smola (2012), A Kernel Two-Sample Test, Eqs. 3 (unbiased) and 5 (biased).
With k(u, v) = exp(-|u - v|^2 / (2 s^2)), references r and candidates c,

    unbiased = mean over i != j of k(r_i, r_j) + mean over i != j of k(c_i, c_j) - 2 mean of k(r_i, c_j)

(squared MMD; Eq. 6 of the distribution-aware paper drops the means and the factor -2). s defaults to half the median
distance between all pairs of the pooled samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.distinct import DistinctRows, distinct_rows
from ..geometry.parallel import blocks, engine_options, run_tiles
from ..geometry.products import exact
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
    # Near the data, products of float64 rows give distances to many digits: each set amid itself, both amid both.
    mean_r, mean_c = (points.mean(axis=0, dtype=np.float64) for points in (reference, candidate))
    centre = (mean_r + mean_c) / 2
    rule = "given"
    if bandwidth is None:
        bandwidth, rule = median_bandwidth(reference, candidate, centre)
    elif isinstance(bandwidth, (bool, str)) or not (math.isfinite(bandwidth) and bandwidth > 0):
        raise InputError(f"bandwidth must be a positive number, not {bandwidth!r}")
    n, m = len(reference), len(candidate)
    within_r = _off_diagonal_sum(pair.reference.distinct, mean_r, bandwidth)
    within_c = _off_diagonal_sum(pair.candidate.distinct, mean_c, bandwidth)
    across = 2 * _cross_sum(pair.reference.distinct, pair.candidate.distinct, centre, bandwidth) / (n * m)
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
    rows = distinct_rows(np.concatenate([reference - centre, candidate - centre]))
    # Equal rows are at distance 0, which a difference of products would only come near to.
    apart = _pair_distances(rows.values)
    weight = rows.weight
    if not rows.all_different:
        upper = np.triu_indices(len(weight), 1)
        apart = np.repeat(apart, weight[upper[0]] * weight[upper[1]])
    together = int(np.sum(weight * (weight - 1) // 2))
    median = float(np.median(np.concatenate([np.zeros(together), apart]) if together else apart))
    if median == 0 and len(apart):
        rule = rule.replace("median", "median non-zero")
        median = float(np.median(apart))
    # All points equal: any width gives the kernel 1 everywhere.
    return median / 2 or 1.0, rule


def _pair_distances(values: np.ndarray) -> np.ndarray:
    """Distances of all unordered pairs of rows, row by row."""
    distances = np.empty(len(values) * (len(values) - 1) // 2)
    filled = 0
    for row in blocks(len(values), 512):
        squared = _squared_distances(values[row], values[row.start :])
        upper = squared[np.triu_indices(len(squared), 1, squared.shape[1])]
        distances[filled : filled + len(upper)] = upper
        filled += len(upper)
    return np.sqrt(distances, out=distances)


def _sample(values: np.ndarray, size: int) -> np.ndarray:
    rows = np.random.default_rng(_POOL_SEED).choice(len(values), size, replace=False)
    return values[np.sort(rows)]


def _squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    norms_a, norms_b = (np.einsum("ij,ij->i", rows, rows) for rows in (a, b))
    total = norms_a[:, None] + norms_b
    squared: np.ndarray = total - 2 * (a @ b.T)
    # Rows this close have lost their digits in the product; among different rows of a set they are few.
    total *= 1e-9
    close = np.nonzero(squared < total)
    squared[close] = exact(a, close[0], b, close[1])
    return squared


def _kernel(a: np.ndarray, b: np.ndarray, bandwidth: float) -> np.ndarray:
    kernel = _squared_distances(a, b)
    # Divided twice: the square of a narrow width would vanish. What is then beyond all numbers has kernel 0.
    with np.errstate(over="ignore"):
        kernel /= -2 * bandwidth
        kernel /= bandwidth
    np.exp(kernel, out=kernel)
    return kernel


def _off_diagonal_sum(rows: DistinctRows, centre: np.ndarray, bandwidth: float) -> float:
    """Sum of k(v_i, v_j) over samples i != j; each unordered pair of different rows is computed once."""
    weight = rows.weight.astype(np.float64)
    parts = blocks(len(weight), engine_options().tile)
    tiles = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]

    def total(tile: tuple[int, int]) -> float:
        i, j = (parts[number] for number in tile)
        kernel = _kernel(rows.values[i] - centre, rows.values[j] - centre, bandwidth)
        if i == j:
            np.fill_diagonal(kernel, 0)
        return float(weight[i] @ kernel @ weight[j]) * (1 if i == j else 2)

    return float(np.sum(weight * (weight - 1))) + _sum_over(tiles, total)


def _cross_sum(reference: DistinctRows, candidate: DistinctRows, centre: np.ndarray, bandwidth: float) -> float:
    """Sum of k(r_i, c_j) over all samples."""
    size = engine_options().tile
    tiles = [(i, j) for i in blocks(len(reference.weight), size) for j in blocks(len(candidate.weight), size)]

    def total(tile: tuple[slice, slice]) -> float:
        i, j = tile
        kernel = _kernel(reference.values[i] - centre, candidate.values[j] - centre, bandwidth)
        return float(reference.weight[i] @ kernel @ candidate.weight[j])

    return _sum_over(tiles, total)


def _sum_over(tiles: list[Any], total: Callable[[Any], float]) -> float:
    """In one order of summation, however the tiles were shared out."""
    sums = np.empty(len(tiles))

    def add(number: int) -> None:
        sums[number] = total(tiles[number])

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
