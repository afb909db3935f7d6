"""Histograms of thousands of small pairs of sets, each over clusters of its own pooled samples, as PRD needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from .clusters import ClusterRows
from .histograms import Histograms
from .parallel import one_blas_thread, run_tiles
from .small_kmeans import small_kmeans
from .small_sets import SmallSets

_NUMBERS = 1 << 20


def small_histograms(
    sets: Sequence[Any],
    pairs: Sequence[tuple[int, int]] | np.ndarray,
    clusters: int = 20,
    clusterings: int = 10,
    seed: int = 0,
) -> list[Histograms | None]:
    """For every pair (number of the reference set, number of the candidate set) its histograms, one a clustering.

    None where a set has no samples. Pairs with fewer different rows than clusters have one cluster a row. A pair's
    clusterings hang on its samples alone, not on their order or on other pairs.
    """
    for name, value in (("clusters", clusters), ("clusterings", clusterings)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    given = SmallSets.of(sets, pairs)
    found: list[Histograms | None] = [None] * len(given.pairs)
    seeds = range(seed, seed + clusterings)

    def cluster(batch: np.ndarray) -> None:
        for pair in batch.tolist():
            reference, candidate = (given.values[each] for each in given.pairs[pair].tolist())
            found[pair] = _histograms(reference, candidate, clusters, seeds)

    answerable = np.flatnonzero((given.pair_sizes > 0).all(axis=1))
    with one_blas_thread:  # several would round differently with their number
        run_tiles(cluster, list(given.pair_batches(answerable, _NUMBERS)), "small clusterings")
    return found


def _histograms(reference: np.ndarray, candidate: np.ndarray, clusters: int, seeds: Sequence[int]) -> Histograms:
    rows = ClusterRows.of(reference, candidate)
    used = min(clusters, len(rows))
    place = small_kmeans(rows.values, rows.weight, used, seeds)[:, rows.inverse]
    place += used * np.arange(len(seeds))[:, None]
    sides = place[:, : len(reference)], place[:, len(reference) :]
    counts = [np.bincount(side.reshape(-1), minlength=used * len(seeds)).reshape(-1, used) for side in sides]
    base = len(rows.inverse) + 1
    return Histograms(np.sort(counts[0] * base + counts[1], axis=1), base, (len(reference), len(candidate)))
