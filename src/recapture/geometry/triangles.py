"""Ranks of the within edge over all triangles of a set of points, under many labellings of the points at once.

A triangle has a single point c on one side and two points r, r' on the other. Its within edge D[r, r'] is the
shortest, the middle or the longest beside D[c, r] and D[c, r']. Credits are counted in sixths, so that edges that tie
share theirs in whole numbers: no comparison of two labellings depends on rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from .device_triangles import counts_on, device_for, observed_on
from .devices import tried_on
from .labels import Labels
from .products import finite_products

Ties = Literal["split", "paper"]
SIXTHS = 6
_CELLS = 1 << 22
"""Numbers held at a time, in each of a few arrays."""

# credit by [cross edges shorter than the within edge, cross edges equal to it, rank of the within edge]
_SPLIT = np.zeros((3, 3, 3), dtype=np.int64)
for _shorter in range(3):
    for _equal in range(3 - _shorter):
        _SPLIT[_shorter, _equal, _shorter : _shorter + _equal + 1] = SIXTHS // (_equal + 1)
# The printed rule: every <= that holds earns the full credit, so that a tie earns several.
_PAPER = SIXTHS * (_SPLIT > 0)
_CREDIT = {"split": _SPLIT.reshape(9, 3), "paper": _PAPER.reshape(9, 3)}


def triangle_codes(within: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """3 * (cross edges shorter) + (cross edges equal), for each triangle."""
    code = (left < within).astype(np.int8)
    code += right < within
    code *= 3
    code += left == within
    code += right == within
    return code


def split_credit() -> np.ndarray:
    """(codes, ranks) sixths of a triangle's credit, where edges that tie share it."""
    return _CREDIT["split"]


def observed_counts(distances: np.ndarray, references: int, ties: Ties) -> np.ndarray:
    """(2, 3) sixths of triangles by rank: single candidates with pairs of references, then the other way round."""
    sides = np.arange(len(distances)) < references
    counts = [_count(distances, np.flatnonzero(~sides), np.flatnonzero(sides), ties)]
    counts.append(_count(distances, np.flatnonzero(sides), np.flatnonzero(~sides), ties))
    return np.array(counts)


def _count(distances: np.ndarray, singles: np.ndarray, others: np.ndarray, ties: Ties) -> np.ndarray:
    device = device_for(len(singles) * len(others) ** 2)
    found = tried_on(device, lambda device: observed_on(device, distances, singles, others))
    if found is not None:
        counted: np.ndarray = found @ _CREDIT[ties]
        return counted
    within = distances[np.ix_(others, others)]
    apart = ~np.eye(len(others), dtype=bool)
    tally = np.zeros(9, dtype=np.int64)
    for single in singles:
        cross = distances[single, others]
        codes = triangle_codes(within, cross[:, None], cross[None, :])
        tally += np.bincount(codes[apart], minlength=9)
    return tally @ _CREDIT[ties]


def counts_under(distances: np.ndarray, labels: Labels, ties: Ties) -> np.ndarray:
    """(groups, labellings, 2, 3) sixths of triangles by rank, for several groups of points of one size.

    distances: (groups, points, points). The count is a cubic form in the labels: for every single point a matrix
    product of pairs (labellings x pairs) with credits (pairs x ranks), kept where the point is on the other side.
    """
    groups, points = distances.shape[:2]
    device = device_for(groups * points**3, len(labels))
    found = tried_on(device, lambda device: counts_on(device, distances, labels, _CREDIT[ties]))
    if found is not None:
        return found
    first, second = np.triu_indices(points, 1)
    counts = np.zeros((groups, len(labels), 2, 3), dtype=np.int64)
    n, m = labels.sizes
    # Sums of whole numbers are exact in float32 up to 2^24.
    kind = np.float32 if SIXTHS * n * m * max(n, m) < 2**24 else np.float64
    sides = ((labels.candidate, labels.reference), (labels.reference, labels.candidate))
    step = max(1, _CELLS // max(1, len(first)))
    for credit, group, single in _credits(distances, first, second, _CREDIT[ties].astype(kind)):
        width = credit.shape[1]
        rows_at_once = max(1, min(step, 4 * _CELLS // width))
        for start in range(0, len(labels), rows_at_once):
            rows = slice(start, start + rows_at_once)
            for side, (alone, paired) in enumerate(sides):
                pairs = (paired[rows][:, first] & paired[rows][:, second]).astype(kind)
                credited = (pairs @ credit).reshape(len(pairs), -1, len(single))
                with finite_products():
                    kept = np.matmul(credited, alone[rows][:, single].astype(kind)[:, :, None])
                counts[group, rows, side] += kept.reshape(len(pairs), -1, 3).transpose(1, 0, 2).astype(np.int64)
    return counts


def _credits(
    distances: np.ndarray, first: np.ndarray, second: np.ndarray, table: np.ndarray
) -> Iterator[tuple[np.ndarray, slice, np.ndarray]]:
    """Blocks of (pairs, groups x ranks x singles) credits, with their groups and single points."""
    groups, points = distances.shape[:2]
    singles = max(1, min(points, _CELLS // (3 * len(first))))
    together = max(1, min(groups, _CELLS // (3 * len(first) * singles)))
    for start in range(0, groups, together):
        block = distances[start : start + together]
        forth, back = (block[:, i, j].T[:, :, None] for i, j in ((first, second), (second, first)))
        for low in range(0, points, singles):
            single = np.arange(low, min(low + singles, points))
            left, right = (block[:, single][:, :, end].transpose(2, 0, 1) for end in (first, second))
            credit = table[triangle_codes(forth, left, right)]
            credit += table[triangle_codes(back, left, right)]
            yield (
                credit.transpose(0, 1, 3, 2).reshape(len(first), -1),
                slice(start, start + len(block)),
                single,
            )
