"""Fréchet distances of the Gaussians fitted to both sides, under many labellings of pooled samples.

Distances between samples are all that matters, so the pool is first written in as few coordinates as it needs. Small
sides: the singular values of A B' are those of a block of the pooled Gram matrix, centred on both sides. Sides larger
than the number of coordinates: covariances, of which the larger side's follows from the smaller one's and the pool's.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .devices import tried_on
from .gaussians import CentredRows, device_for, lower_factor, root_trace, shared_spread
from .labels import Labels
from .parallel import blocks, run_tiles
from .sparse_rows import Rows, SparseRows

if TYPE_CHECKING:
    from .device_gaussians import DeviceGaussians

# Share of the pooled variance in coordinates that are dropped: the distance is then right to about that share.
_DROPPED = 1e-14
# Up to this many samples a side LAPACK takes the singular values of many blocks in one call, on all cores; beyond it
# eigenvalues are faster, but need a bound on what they lose.
_SMALL = 40
# Numbers in the Gram blocks of one tile of labellings, and in a Gram matrix that is kept.
_CELLS = 2**19
_KEPT = 2**25
_ROWS = 4096


class PooledGaussians:
    """Pooled rows (references first), and the Fréchet distance of both sides under any labellings of them."""

    def __init__(self, values: Rows) -> None:
        """values: (samples, dimensions), neither huge nor tiny. Word counts stay as they are; an array must be float64
        and free to be overwritten.
        """
        self._points: Rows
        self._there: DeviceGaussians | None = None
        self._stays = False
        if isinstance(values, SparseRows):
            # Whole numbers not far from 0: their sums are exact without centring, and columns are their coordinates.
            self._points, self._squares = values, values.squares()
            return
        # First minus one row: samples that are all equal are then exactly 0, which a rounded mean may miss.
        values -= values[0].copy()
        values -= values.mean(axis=0)
        self._points = points = _coordinates(values)
        self._squares = np.einsum("ij,ij->i", points, points)

    @cached_property
    def _gram(self) -> np.ndarray | None:
        if len(self._points) ** 2 > _KEPT:
            return None
        points = np.asarray(self._points, np.float64)
        gram: np.ndarray = points @ points.T
        return gram

    @cached_property
    def _moment(self) -> np.ndarray:
        points = np.asarray(self._points)
        moment: np.ndarray = points.T @ points
        return moment

    def distances(self, labels: Labels) -> np.ndarray:
        """One squared distance per labelling, right to about 1e-13 of the pooled variance."""
        coordinates = self._points.shape[1]
        distances = np.zeros(len(labels))
        if not coordinates:
            return distances
        self._go_there(labels)
        for rows, part in [(np.arange(len(labels)), labels)] if labels.even else labels.by_size():
            found = self._made_there(part)
            distances[rows] = self._distances(part) if found is None else found
        return distances

    def _go_there(self, labels: Labels) -> None:
        """To a device, where that is worth while for so many labellings; the next ones follow."""
        if self._there is not None or self._stays or not isinstance(self._points, np.ndarray):
            return
        points = self._points

        def go(device: str) -> DeviceGaussians:
            from .device_gaussians import DeviceGaussians

            return DeviceGaussians(points, device)

        device = device_for(*labels.smallest, points.shape[1], len(labels))
        self._there = tried_on(device, go)
        self._stays = device is not None and self._there is None

    def _made_there(self, labels: Labels) -> np.ndarray | None:
        """What a device makes; None: it is to be made here."""
        there = self._there
        if there is None:
            return None
        found = tried_on(there.device, lambda _: there.distances(labels.reference, labels.candidate))
        if found is None:
            self._there, self._stays = None, True
            return None
        distances, shown = found
        if not shown.all():
            distances[~shown] = self._distances(Labels(labels.reference[~shown], labels.candidate[~shown]))
        return distances

    def _distances(self, labels: Labels) -> np.ndarray:
        """On all cores. All labellings have sides of the same sizes."""
        coordinates = self._points.shape[1]
        distances = np.zeros(len(labels))
        n, m = labels.sizes
        small = max(n, m) - 1 <= max(coordinates, _SMALL)
        # Before the threads start: otherwise each would make its own.
        if small or isinstance(self._points, np.ndarray):
            _ = self._gram if small else self._moment
        # Eigenvalues too small for the first labelling are so for nearly all: there they would be made in vain.
        careful = small and min(n, m) > _SMALL and self._too_small(labels.reference[0], labels.candidate[0])

        def fill(part: slice) -> None:
            sides = labels.reference[part], labels.candidate[part]
            if small:
                distances[part] = self._by_gram(*sides, n, m, careful)
            else:
                few, many = sorted((np.flatnonzero(side[0]) for side in sides), key=len)
                distances[part] = self._by_covariances(few, many)

        size = max(1, _CELLS // (n * m)) if small else 1
        run_tiles(fill, blocks(len(labels), size), "relabelled covariances")
        return distances

    def _too_small(self, reference: np.ndarray, candidate: np.ndarray) -> bool:
        """Whether eigenvalues of one labelling's block would lose digits, by the smallest of its singular values."""
        sides = reference[None], candidate[None]
        n, m = (int(side.sum()) for side in sides)
        (block,) = self._blocks(*sides, n, m)
        second = [float(side[0] @ self._squares) / (side.sum() - 1) for side in sides]
        return _by_eigenvalues(block, float(np.sqrt(second[0] * second[1])), sum(second)) is None

    def _blocks(self, reference: np.ndarray, candidate: np.ndarray, n: int, m: int) -> np.ndarray:
        """A B' of some labellings, each as a row of flags."""
        rows, columns = (np.nonzero(side)[1].reshape(-1, count) for side, count in ((reference, n), (candidate, m)))
        if self._gram is None:
            block = np.stack([self._at(i) @ self._at(j).T for i, j in zip(rows, columns, strict=True)])
        else:
            block = self._gram[rows[:, :, None], columns[:, None, :]]
        centred: np.ndarray = _contrasts(_contrasts(block, 1), 2) / np.sqrt((n - 1) * (m - 1))
        return centred

    def _by_gram(self, reference: np.ndarray, candidate: np.ndarray, n: int, m: int, careful: bool) -> np.ndarray:
        """For some labellings, each as a row of flags. careful: without trying eigenvalues first."""
        sides = (reference, n), (candidate, m)
        block = self._blocks(reference, candidate, n, m)
        weights = [side.astype(np.float64) for side, _ in sides]
        points = self._points.matrix if isinstance(self._points, SparseRows) else self._points
        means = [weight @ points / count for weight, count in zip(weights, (n, m), strict=True)]
        second = [weight @ self._squares for weight in weights]
        total = sum(
            (energy - count * np.einsum("ij,ij->i", mean, mean)) / (count - 1)
            for energy, mean, count in zip(second, means, (n, m), strict=True)
        )
        if careful or min(n, m) <= _SMALL:
            shared = np.linalg.svd(block, compute_uv=False).sum(axis=1)
        else:
            # Rounding errors of a block are relative to the rows that made it, not to what centring left of them.
            reach = np.sqrt(second[0] / (n - 1) * second[1] / (m - 1))
            shared = np.array([_nuclear_norm(*each) for each in zip(block, reach, total, strict=True)])
        distances: np.ndarray = np.sum((means[0] - means[1]) ** 2, axis=1) + np.maximum(0.0, total - 2 * shared)
        return distances

    def _by_covariances(self, few: np.ndarray, many: np.ndarray) -> float:
        """For one labelling, each side as row numbers, the smaller side first."""
        n, m = len(few), len(many)
        mean, moment = self._mean_and_moment(few)
        if n + m == len(self._points) and isinstance(self._points, np.ndarray):  # whose mean is 0
            other_mean, other_moment, other_size = -n / m * mean, self._moment - moment, self._moment
        else:
            other_mean, other_moment = self._mean_and_moment(many)
            other_size = other_moment
        c = (moment - n * np.outer(mean, mean)) / (n - 1)
        c_other = (other_moment - m * np.outer(other_mean, other_mean)) / (m - 1)
        total = float(np.trace(c) + np.trace(c_other))
        if n - 1 <= len(c):
            factor: np.ndarray | None = _contrasts(self._at(few), 0) / np.sqrt(n - 1)
        else:
            lower = lower_factor(c)
            factor = None if lower is None else lower.T
        shared = None
        if factor is not None:
            # Rounding errors are relative to what was subtracted from.
            size = float(np.linalg.norm(moment) / (n - 1) * np.linalg.norm(other_size) / (m - 1))
            shared = root_trace(factor @ c_other @ factor.T, size, total)
        if shared is None:
            shared = shared_spread(*(CentredRows(self._points[side]).factor() for side in (few, many)))
        return float(np.sum((mean - other_mean) ** 2)) + max(0.0, total - 2 * shared)

    def _at(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._points[rows], np.float64)

    def _mean_and_moment(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and sum of squares of listed rows."""
        if isinstance(self._points, SparseRows):
            chosen = self._points[rows]
            wide = chosen.matrix.astype(np.float64)
            return chosen.mean(axis=0), (wide.T @ wide).toarray()
        coordinates = self._points.shape[1]
        total, moment = np.zeros(coordinates), np.zeros((coordinates, coordinates))
        for part in blocks(len(rows), _ROWS):
            block = self._points[rows[part]]
            total += block.sum(axis=0)
            moment += block.T @ block
        return total / len(rows), moment


def _coordinates(values: np.ndarray) -> np.ndarray:
    """Centred rows in coordinates along their principal axes, without those that hold next to nothing."""
    if len(values) <= values.shape[1]:
        axes = np.linalg.eigh(values @ values.T)[1]
        along = values.T @ axes
        energy = np.einsum("ij,ij->j", along, along)
        points = axes * np.sqrt(energy)
    else:
        points = values @ np.linalg.eigh(values.T @ values)[1]
        energy = np.einsum("ij,ij->j", points, points)
    order = np.argsort(energy)
    held = np.cumsum(energy[order])
    return np.ascontiguousarray(points[:, np.sort(order[held > _DROPPED * held[-1]])])


def _contrasts(values: np.ndarray, axis: int) -> np.ndarray:
    """Centred along an axis, in one coordinate less: all but the first of a reflection that takes 1 to the first axis.

    Singular values of centred matrices stay as they are, without the zero that centring brings in.
    """
    root = np.sqrt(values.shape[axis])
    first, others = np.split(values, [1], axis)
    return np.asarray(others - (values.sum(axis, keepdims=True) / root - first) / (root - 1))


def _by_eigenvalues(block: np.ndarray, reach: float, total: float) -> float | None:
    squared = block @ block.T if len(block) <= block.shape[1] else block.T @ block
    return root_trace(squared, reach * float(np.linalg.norm(block)), total)


def _nuclear_norm(block: np.ndarray, reach: float, total: float) -> float:
    norm = _by_eigenvalues(block, reach, total)
    return float(np.linalg.svd(block, compute_uv=False).sum()) if norm is None else norm
