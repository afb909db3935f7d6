"""Clusters of the pooled texts: what the candidate says too often or too seldom, and what these texts are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..geometry.clusters import ClusterRows
from ..geometry.kmeans import kmeans
from ..geometry.parallel import blocks
from ..geometry.sparse_rows import SparseRows
from ..labellings.combine import holm
from .exact_tests import more_or_less_often
from .phrases import NGrams
from .sides import TwoSides

LABELLINGS = 9_999
"""Of texts in groups, whose counts have no exact distribution."""
_TEXTS_A_CLUSTER = 50
_MOST, _FEWEST = 50, 2
_CENTRAL = 3
_ROWS = 960


@dataclass(frozen=True)
class CentralText:
    """One of the texts nearest to the middle of a cluster."""

    side: str
    index: int
    text: str | None


@dataclass(frozen=True)
class Topic:
    """A cluster of the pooled texts."""

    number: int
    candidate: int
    """Texts of the candidate in it."""
    reference: int
    candidate_share: float
    """Of all texts of the candidate."""
    reference_share: float
    pvalue: float
    """Exact: that both sides say this equally often."""
    adjusted: float
    """By Holm, over all clusters."""
    verdict: str
    """"too often" or "too seldom" where the adjusted p-value is at most the level; else ""."""
    ngrams: tuple[str, ...]
    """Typical words, the most typical first; none where vectors were given."""
    central: tuple[CentralText, ...]


class Clustered(NamedTuple):
    label: np.ndarray
    """The cluster of every pooled text, references first; numbered from the one with the smallest p-value on."""
    topics: list[Topic]
    rows: ClusterRows
    """The different rows, centred, of a size around 1."""


def cluster_count(texts: int) -> int:
    """Enough texts a cluster for its share to be told, and no more clusters than a person reads."""
    return int(np.clip(texts // _TEXTS_A_CLUSTER, _FEWEST, _MOST))


def clustered(sides: TwoSides, clusters: int, level: float, ngrams: NGrams | None) -> Clustered:
    """k-means of the pooled texts, blind to sides; then each cluster's share on both of them."""
    rows = ClusterRows.of(sides.reference.values, sides.candidate.values).centred()
    found = kmeans(rows.values, rows.weight, clusters, [sides.seed])[0]
    _, label = np.unique(found[rows.inverse], return_inverse=True)  # clusters that ended empty have no number
    label = label.reshape(-1)
    there = int(label.max()) + 1
    n, m = sides.sizes
    reference, candidate = (np.bincount(part, minlength=there) for part in (label[:n], label[n:]))
    if sides.pooled_groups is None:
        p = np.array([more_or_less_often(c, r, m, n) for c, r in zip(candidate, reference, strict=True)])
    else:
        p = _by_labellings(sides, label, there)
    adjusted = holm(p)
    shares = candidate / m, reference / n
    order = np.lexsort((np.arange(there), -np.abs(shares[0] - shares[1]), p))
    rank = np.empty(there, np.int64)
    rank[order] = np.arange(there)
    label = rank[label]
    typical = ngrams.typical(label, there) if ngrams is not None else [[] for _ in range(there)]
    central = _central(rows, label, there, sides)
    topics = [
        Topic(
            number,
            int(candidate[old]),
            int(reference[old]),
            float(shares[0][old]),
            float(shares[1][old]),
            float(p[old]),
            float(adjusted[old]),
            _verdict(shares[0][old], shares[1][old], adjusted[old] <= level),
            tuple(typical[number]),
            tuple(central[number]),
        )
        for number, old in enumerate(order.tolist())
    ]
    return Clustered(label, topics, rows)


def _verdict(candidate: float, reference: float, told: bool) -> str:
    return "" if not told else "too often" if candidate > reference else "too seldom"


def _by_labellings(sides: TwoSides, label: np.ndarray, clusters: int) -> np.ndarray:
    """The share of labellings, whole groups moved, under which shares differ as much as they do."""
    ordered = label[sides.order]
    member = np.zeros((len(label), clusters), np.float32)
    member[np.arange(len(label)), ordered] = 1
    size = member.sum(axis=0)
    gaps = []
    for labels in sides.labellings(LABELLINGS):
        counts = labels.candidate.astype(np.float32) @ member
        references, candidates = labels.counts
        gaps.append(np.abs(counts / candidates[:, None] - (size - counts) / references[:, None]))
    gap = np.concatenate(gaps)
    share: np.ndarray = (gap >= gap[0] * (1 - 1e-6)).mean(axis=0)  # float32
    return share


def _central(rows: ClusterRows, label: np.ndarray, clusters: int, sides: TwoSides) -> list[list[CentralText]]:
    """The texts nearest to the mean of each cluster, the first of equal ones."""
    values, inverse = rows.values, rows.inverse
    assert not isinstance(values, SparseRows)  # centred, they are not sparse
    n = sides.sizes[0]
    of_row = np.zeros(len(values), np.int64)
    of_row[inverse] = label
    first = np.full(len(values), len(label))
    np.minimum.at(first, inverse, np.arange(len(label)))
    sums, mass = np.zeros((clusters, values.shape[1])), np.bincount(of_row, weights=rows.weight, minlength=clusters)
    parts = blocks(len(values), _ROWS)
    for part in parts:
        for number in np.unique(of_row[part]).tolist():
            chosen = of_row[part] == number
            sums[number] += rows.weight[part][chosen] @ values[part][chosen].astype(np.float64)
    centres = sums / mass[:, None]
    away = np.empty(len(values))
    for part in parts:
        gap = values[part] - centres[of_row[part]]
        away[part] = np.einsum("ij,ij->i", gap, gap)
    order = np.lexsort((first, away, of_row))
    starts = np.searchsorted(of_row[order], np.arange(clusters + 1))
    return [
        [_named(int(first[row]), n, sides) for row in order[start : min(start + _CENTRAL, end)]]
        for start, end in pairwise(starts.tolist())
    ]


def _named(place: int, references: int, sides: TwoSides) -> CentralText:
    side, at = (0, place) if place < references else (1, place - references)
    return CentralText(sides.names[side], at, sides.text(side, at))


def listed_topics(topics: Sequence[Topic]) -> list[Topic]:
    """Those that stand out; where none does, the first few."""
    return [topic for topic in topics if topic.verdict] or list(topics[:3])
