"""Histograms of thousands of small pairs of sets, each over clusters of its own pooled samples, as PRD needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import check_count
from .clusters import ClusterRows
from .histograms import Histograms
from .parallel import blocks, one_blas_thread, run_tiles
from .small_kmeans import small_kmeans
from .small_sets import SmallSets

# Rows times clusters of all clusterings handled together: small sets share array operations, all stays in cache.
_ENTRIES = 1 << 18


def small_histograms(
    sets: Sequence[Any],
    pairs: Sequence[tuple[int, int]] | np.ndarray,
    clusters: int = 20,
    clusterings: int = 10,
    seed: int = 0,
) -> list[Histograms | None]:
    """For every pair (number of the reference set, number of the candidate set) its histograms, one a clustering.

    None where a set has no samples. Pairs with fewer different rows than clusters have one cluster a row. A pair's
    clusterings depend on its samples alone, not on their order or on other pairs.
    """
    clusters, clusterings = check_count("clusters", clusters, 1), check_count("clusterings", clusterings, 1)
    small = SmallSets.of(sets, pairs)
    histograms: list[Histograms | None] = [None] * len(small.pairs)
    seeds = range(seed, seed + clusterings)

    def cluster(batch: np.ndarray) -> None:
        # Repeats are folded, so pairs of one size may differ in rows: those that do not are clustered together.
        alike: dict[int, list[tuple[int, ClusterRows]]] = {}
        for pair in batch.tolist():
            rows = ClusterRows.of(*(small.values[each] for each in small.pairs[pair].tolist()))
            alike.setdefault(len(rows), []).append((pair, rows))
        for count, members in alike.items():
            used = min(clusters, count)
            values, weights = zip(*((rows.values, rows.weight) for _, rows in members), strict=True)
            for (pair, rows), label in zip(members, small_kmeans(values, weights, used, seeds), strict=True):
                histograms[pair] = _histograms(label[:, rows.inverse], used, *small.pair_sizes[pair].tolist())

    with one_blas_thread:  # several would round differently with their number
        run_tiles(cluster, _batches(small, clusters * clusterings), "small clusterings")
    return histograms


def _batches(small: SmallSets, work: int) -> list[np.ndarray]:
    """Pairs with samples on both sides, those of one size together, in batches that fit into the cache."""
    size = small.pair_sizes.sum(axis=1)
    answerable = np.flatnonzero(small.pair_sizes.all(axis=1))
    batches = []
    for samples in np.unique(size[answerable]).tolist():
        alike = answerable[size[answerable] == samples]
        batches += [alike[part] for part in blocks(len(alike), max(1, _ENTRIES // (samples * work)))]
    return batches


def _histograms(label: np.ndarray, clusters: int, n: int, m: int) -> Histograms:
    """From the labels (clusterings, samples), references first."""
    place = label + clusters * np.arange(len(label))[:, None]
    slots = clusters * len(label)
    reference, candidate = (np.bincount(side.reshape(-1), minlength=slots) for side in (place[:, :n], place[:, n:]))
    code = (reference * (n + m + 1) + candidate).reshape(-1, clusters)
    return Histograms(np.sort(code, axis=1), n + m + 1, (n, m))
