"""The Gaussian kernel k(u, v) = exp(-|u - v|^2 / (2 s^2)), and its sums over pairs within one set and across two."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .devices import accelerator_for, tried_on
from .distinct import DistinctRows
from .parallel import blocks, engine_options, run_tiles
from .products import exact, whole_products
from .sparse_rows import Rows


class Centres(NamedTuple):
    """Origins near the data, for each set and for both: products of float64 rows then give many correct digits."""

    reference: np.ndarray
    candidate: np.ndarray
    both: np.ndarray

    @classmethod
    def of(cls, reference: Rows, candidate: Rows) -> Centres:
        mean_r, mean_c = (rows.mean(axis=0, dtype=np.float64) for rows in (reference, candidate))
        return cls(mean_r, mean_c, (mean_r + mean_c) / 2)


class SquaredDistances:
    """Of the rows of two sets, tile by tile: exact for whole numbers, such as word counts, else from centred rows."""

    def __init__(self, rows: Rows, columns: Rows, centre: np.ndarray | float, tile: int | None = None) -> None:
        self._rows, self._columns, self._centre = rows, columns, centre
        self._products = whole_products(rows, columns, tile or engine_options().tile)

    def tile(self, i: slice, j: slice) -> np.ndarray:
        """(rows, columns) in float64"""
        if self._products is not None:
            return self._products.tile(i, j).astype(np.float64) * -2.0
        return squared_distances(np.asarray(self._rows[i]) - self._centre, np.asarray(self._columns[j]) - self._centre)


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of every row of a to every row of b, in float64; both should lie around 0."""
    norms_a, norms_b = (np.einsum("ij,ij->i", rows, rows) for rows in (a, b))
    total = norms_a[:, None] + norms_b
    squared: np.ndarray = total - 2 * (a @ b.T)
    # Rows this close have lost their digits in the product; among different rows of a set they are few.
    total *= 1e-9
    close = np.nonzero(squared < total)
    squared[close] = exact(a, close[0], b, close[1])
    return squared


def gaussian(squared: np.ndarray, bandwidth: float) -> np.ndarray:
    """The kernel at these squared distances, which it overwrites."""
    kernel = squared
    # Divided twice: the square of a narrow width would vanish. What is then beyond all numbers has kernel 0.
    with np.errstate(over="ignore"):
        kernel /= -2 * bandwidth
        kernel /= bandwidth
    np.exp(kernel, out=kernel)
    return kernel


class KernelSums(NamedTuple):
    """Over ordered pairs of different samples."""

    within_reference: float
    within_candidate: float
    across: float


def kernel_sums(reference: DistinctRows, candidate: DistinctRows, centres: Centres, bandwidth: float) -> KernelSums:
    """Of two sets; on a device where that pays."""

    def made(device: str) -> tuple[float, float, float]:
        from .device_kernels import sums_on

        return sums_on(device, reference, candidate, centres, bandwidth)

    there = tried_on(_device_for(reference, candidate), made)
    if there is not None:
        repeats = [math.fsum(rows.weight * (rows.weight - 1.0)) for rows in (reference, candidate)]
        return KernelSums(repeats[0] + there[0], repeats[1] + there[1], there[2])
    return KernelSums(
        off_diagonal_sum(reference, centres.reference, bandwidth),
        off_diagonal_sum(candidate, centres.candidate, bandwidth),
        cross_sum(reference, candidate, centres.both, bandwidth),
    )


def _device_for(rows: DistinctRows, columns: DistinctRows) -> str | None:
    """Where sums over these pairs are made; None: here. Word counts stay here, where their zeros cost nothing."""
    if not (isinstance(rows.values, np.ndarray) and isinstance(columns.values, np.ndarray)):
        return None
    return accelerator_for(len(rows.weight), len(columns.weight))


def off_diagonal_sum(rows: DistinctRows, centre: np.ndarray, bandwidth: float) -> float:
    """Sum of k(v_i, v_j) over samples i != j; each unordered pair of different rows is computed once."""
    weight = rows.weight.astype(np.float64)
    parts = blocks(len(weight), engine_options().tile)
    tiles = [(i, j) for i in range(len(parts)) for j in range(i, len(parts))]
    squared = SquaredDistances(rows.values, rows.values, centre)

    def total(tile: tuple[int, int]) -> float:
        i, j = (parts[number] for number in tile)
        kernel = gaussian(squared.tile(i, j), bandwidth)
        if i == j:
            np.fill_diagonal(kernel, 0)
        return float(weight[i] @ kernel @ weight[j]) * (1 if i == j else 2)

    return float(np.sum(weight * (weight - 1))) + _sum_over(tiles, total)


def cross_sum(reference: DistinctRows, candidate: DistinctRows, centre: np.ndarray, bandwidth: float) -> float:
    """Sum of k(r_i, c_j) over all samples."""
    size = engine_options().tile
    tiles = [(i, j) for i in blocks(len(reference.weight), size) for j in blocks(len(candidate.weight), size)]
    squared = SquaredDistances(reference.values, candidate.values, centre)

    def total(tile: tuple[slice, slice]) -> float:
        i, j = tile
        kernel = gaussian(squared.tile(i, j), bandwidth)
        return float(reference.weight[i] @ kernel @ candidate.weight[j])

    return _sum_over(tiles, total)


def row_sums(rows: DistinctRows, centre: np.ndarray, bandwidth: float) -> np.ndarray:
    """(different rows) the sum of k(v_i, v_j) over all other samples j, for a sample i of each row."""
    weight = rows.weight.astype(np.float64)
    there = _row_sums_there(rows, None, centre, bandwidth)
    if there is not None:
        return there + (weight - 1)
    parts = blocks(len(weight), engine_options().tile)
    squared = SquaredDistances(rows.values, rows.values, centre)
    # A strip each, added up in their order, however they were shared out.
    sums = np.zeros((len(parts), len(weight)))

    def add(number: int) -> None:
        i = parts[number]
        for j in parts[number:]:
            kernel = gaussian(squared.tile(i, j), bandwidth)
            if i == j:
                np.fill_diagonal(kernel, 0)
            else:
                sums[number, j] += weight[i] @ kernel
            sums[number, i] += kernel @ weight[j]

    run_tiles(add, range(len(parts)), "kernel")
    return np.asarray(sums.sum(axis=0) + (weight - 1))


def cross_row_sums(rows: DistinctRows, others: DistinctRows, centre: np.ndarray, bandwidth: float) -> np.ndarray:
    """(different rows) the sum of k(v_i, u_j) over all samples j of another set."""
    there = _row_sums_there(rows, others, centre, bandwidth)
    if there is not None:
        return there
    size = engine_options().tile
    columns, weight = blocks(len(others.weight), size), others.weight.astype(np.float64)
    squared = SquaredDistances(rows.values, others.values, centre)
    sums = np.zeros(len(rows.weight))

    def add(i: slice) -> None:
        for j in columns:
            sums[i] += gaussian(squared.tile(i, j), bandwidth) @ weight[j]

    run_tiles(add, blocks(len(rows.weight), size), "kernel")
    return sums


def _row_sums_there(
    rows: DistinctRows, others: DistinctRows | None, centre: np.ndarray, bandwidth: float
) -> np.ndarray | None:
    """Made on a device; None: make them here. others: None for the other rows of the same set."""

    def made(device: str) -> np.ndarray:
        from .device_kernels import row_sums_on

        return row_sums_on(device, rows, others, centre, bandwidth)

    return tried_on(_device_for(rows, others or rows), made)


def _sum_over(tiles: list[Any], total: Callable[[Any], float]) -> float:
    """In one order of summation, however the tiles were shared out."""
    sums = np.empty(len(tiles))

    def add(number: int) -> None:
        sums[number] = total(tiles[number])

    run_tiles(add, range(len(tiles)), "kernel")
    return math.fsum(sums)
