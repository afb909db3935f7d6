"""Histograms of two sides over clusters of their pooled samples, under any labellings of the samples.

Clusters do not depend on sides, so they are found once; a labelling only changes the counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .distinct import distinct_rows
from .labels import Labels
from .parallel import blocks, run_tiles

# Labellings times samples (or clusters) handled at once.
_ENTRIES = 2**21


@dataclass(frozen=True)
class Histograms:
    """Many pairs of histograms."""

    code: np.ndarray
    """(pairs, clusters): reference count x base + candidate count, sorted along each row.

    So scores are the same to the last digit where only the names of clusters differ.
    """
    base: int
    sizes: tuple[int, int]
    """How many references and how many candidates every pair has."""

    def counts(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.divmod(code, self.base)

    def shares(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """(pairs, clusters) the reference's and the candidate's histograms."""
        reference, candidate = self.counts(self.code[part])
        return reference / self.sizes[0], candidate / self.sizes[1]


Score = Callable[[Histograms], Mapping[str, np.ndarray]]
"""From pairs of histograms to one number (or one curve) a pair, by name."""


@dataclass(frozen=True)
class Clusterings:
    """Several clusterings of the same pooled samples, references first as observed."""

    label: np.ndarray
    """(clusterings, samples)"""
    clusters: int

    def observed(self, references: int) -> Labels:
        """The labelling in which the first samples are the references, as a batch of one."""
        first = np.arange(self.label.shape[1]) < references
        return Labels(first[None], ~first[None])

    def histograms(self, labels: Labels) -> Histograms:
        """Pairs in the order of labellings, and for each in that of clusterings."""
        base = self.label.shape[1] + 1
        candidate = self._counts(labels.candidate)
        # Where no sample is left out, the references are all the others.
        all_there = sum(labels.sizes) == self.label.shape[1]
        reference = self._all - candidate if all_there else self._counts(labels.reference)
        code = (reference * base + candidate).reshape(-1, self.clusters)
        code.sort(axis=1)
        return Histograms(code, base, labels.sizes)

    def score(self, labels: Labels, score: Score) -> dict[str, np.ndarray]:
        """(labellings, clusterings) by name. Pairs of histograms that occur often are scored once."""
        if not labels.even:
            return self._uneven(labels, score)
        clusterings, samples = self.label.shape
        parts = blocks(len(labels), max(1, _ENTRIES // max(samples, clusterings * self.clusters)))
        of_part: list[dict[str, np.ndarray]] = [{} for _ in parts]

        def fill(number: int) -> None:
            part = parts[number]
            histograms = self.histograms(Labels(labels.reference[part], labels.candidate[part]))
            different = distinct_rows(histograms.code)
            scores = score(Histograms(np.asarray(different.values), histograms.base, histograms.sizes))
            of_part[number] = {
                name: each[different.inverse].reshape(-1, clusterings, *each.shape[1:]) for name, each in scores.items()
            }

        run_tiles(fill, range(len(parts)), "labellings")
        return {name: np.concatenate([each[name] for each in of_part]) for name in of_part[0]}

    def _uneven(self, labels: Labels, score: Score) -> dict[str, np.ndarray]:
        """The same where labellings differ in size: those of one size together."""
        parts = [(rows, self.score(part, score)) for rows, part in labels.by_size()]
        back = np.argsort(np.concatenate([rows for rows, _ in parts]))
        return {name: np.concatenate([scores[name] for _, scores in parts])[back] for name in parts[0][1]}

    def means(self, labels: Labels, score: Score) -> dict[str, np.ndarray]:
        """(labellings,) by name: means over the clusterings."""
        return {name: each.mean(axis=1) for name, each in self.score(labels, score).items()}

    def _counts(self, side: np.ndarray) -> np.ndarray:
        """(labellings, clusterings, clusters) samples of one side (labellings, samples) in each cluster."""
        # Whole numbers far below 2^24: sums of float32 are exact.
        counts: np.ndarray = (self._holds @ np.ascontiguousarray(side.T, np.float32)).T
        return counts.astype(np.int64).reshape(len(side), len(self.label), self.clusters)

    @cached_property
    def _holds(self) -> Any:
        """(clusterings x clusters, samples): 1 where a cluster holds a sample."""
        from scipy.sparse import csc_matrix

        clusterings, samples = self.label.shape
        place = (self.label + self.clusters * np.arange(clusterings)[:, None]).T.ravel()
        starts = clusterings * np.arange(samples + 1)
        shape = (clusterings * self.clusters, samples)
        return csc_matrix((np.ones(len(place), np.float32), place, starts), shape).tocsr()

    @cached_property
    def _all(self) -> np.ndarray:
        return self._counts(np.ones((1, self.label.shape[1]), bool))
