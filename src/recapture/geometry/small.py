"""Who lies inside whose spheres in thousands of small pairs of sets, such as the word pieces of two texts.

Every pair is one matrix product in float64; nothing is padded. With q(x) the computed |x|^2, u the unit roundoff and
gamma(n) = n u / (1 - n u), which bounds the relative error of an n-term sum in any order,

    h(x, y) = x.y - (1/2 - eta) q(x) - (1/2 - eta) q(y),      eta = 2 gamma(d + 8),

is a sum of d + 2 terms whose errors stay below eta (|x|^2 + |y|^2) / 2, so that, as in `products`,

    low = -2 h <= |x - y|^2 <= low + margin(x) + margin(y),     margin(x) = 4 eta |x|^2.

Half of eta would do for the true distance. The other half makes the bounds hold for the distance `exact` computes
from differences, too (it is off by at most 2 gamma(d + 2) (|x|^2 + |y|^2)), and for limits that are rounded. So bounds
and `exact` never disagree, and pairs that bounds leave open are decided by `exact`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_count
from .overlap import SLACK
from .parallel import blocks, run_tiles
from .products import exact
from .small_sets import SmallSets

# Numbers of rows, and distances, held at once by each thread.
_NUMBERS = 1 << 20
_CELLS = 1 << 20
# A product that underflows is wrong by at most the smallest normal float64; doubled for good measure.
_UNDERFLOW = 2.0**-1021


@dataclass(frozen=True)
class SmallCounts:
    """The counts of Mark-Evaluate for many pairs, one entry a pair."""

    k: int
    n: np.ndarray
    """References."""
    m: np.ndarray
    """Candidates."""
    enough: np.ndarray
    """Whether both sides have more than k samples. Where not, there are no spheres and the counts below are 0."""
    x: np.ndarray
    """Candidates inside a reference sphere."""
    y: np.ndarray
    """References inside a candidate sphere."""
    a: np.ndarray
    """(reference, candidate) with the reference inside the candidate's sphere."""
    b: np.ndarray
    """(reference, candidate) with the candidate inside the reference's sphere."""
    covered: np.ndarray
    """Reference spheres that hold a candidate: coverage is covered / n, density b / (k m)."""


def small_counts(sets: Sequence[Any], pairs: Sequence[tuple[int, int]] | np.ndarray, k: int = 1) -> SmallCounts:
    """Counts for every pair (number of the reference set, number of the candidate set).

    sets: different sets of samples (rows x dimensions), best float32; those of several pairs are searched once.
    """
    k = check_count("k", k, 1)
    small = SmallSets.of(sets, pairs)
    sizes = small.pair_sizes
    enough: np.ndarray = np.min(sizes, axis=1) > k
    x, y, a, b, covered = _counted(small, np.where(enough, k, 0)[:, None])[..., 0]
    return SmallCounts(k, sizes[:, 0], sizes[:, 1], enough, x, y, a, b, covered)


def small_counts_at(sets: Sequence[Any], pairs: np.ndarray, ks: np.ndarray) -> np.ndarray:
    """(x, y, a, b, covered) x pairs x ks: counts for several k at once, since all need the same distances.

    ks: (pairs, any number), each pair's own, in ascending order; 0, or a k that a set is too small for, counts nothing.
    """
    small = SmallSets.of(sets, pairs)
    return _counted(small, np.where(ks < np.min(small.pair_sizes, axis=1)[:, None], ks, 0))


def _counted(small: SmallSets, ks: np.ndarray) -> np.ndarray:
    counts = np.zeros((5, *ks.shape), np.int64)
    answerable = np.flatnonzero(ks.any(axis=1))
    most = np.zeros(len(small.values), np.int64)
    np.maximum.at(most, small.pairs, ks.max(axis=1, initial=0)[:, None])
    reach = _reaches(small, most)

    def count(batch: np.ndarray) -> None:
        different, place = np.unique(small.pairs[batch], return_inverse=True)
        rows = _Rows([small.values[each] for each in different])
        for pair, (reference, candidate) in zip(batch, place.reshape(-1, 2), strict=True):
            used = np.flatnonzero(ks[pair])
            limits = [reach[each][ks[pair, used] - 1] for each in small.pairs[pair].tolist()]
            counts[:, pair, used] = _memberships(rows, rows.part(reference), rows.part(candidate), *limits)

    run_tiles(count, list(small.pair_batches(answerable, _NUMBERS)), "small pairs")
    return counts


def bound_terms(norms: Any, dimensions: int) -> tuple[Any, Any]:
    """From computed |x|^2 (arrays or tensors): what is taken from products, and how far bounds are apart."""
    terms = dimensions + 8
    eta = 2 * terms * 2.0**-53 / (1 - terms * 2.0**-53)
    floor = terms * _UNDERFLOW
    return (0.5 - eta) * norms - floor, 4 * eta * norms + 4 * floor


class _Rows:
    """Rows of several sets, one set below the other, ready for products that bound distances."""

    def __init__(self, sets: Sequence[np.ndarray]) -> None:
        self.values = np.concatenate(sets, dtype=np.float64)
        self.start = np.cumsum([0, *map(len, sets)])
        norms = np.einsum("ij,ij->i", self.values, self.values)
        self.term, self.margin = bound_terms(norms, self.values.shape[1])

    def part(self, number: int) -> slice:
        return slice(self.start[number], self.start[number + 1])

    def near(self, left: slice, right: slice) -> np.ndarray:
        """h of every two rows, in memory that the thread's next call uses again."""
        tile = _room((left.stop - left.start) * (right.stop - right.start)).reshape(left.stop - left.start, -1)
        np.dot(self.values[left], self.values[right].T, out=tile)
        tile -= self.term[left, None]
        tile -= self.term[right]
        return tile


_kept = threading.local()


def _room(size: int) -> np.ndarray:
    if getattr(_kept, "room", np.empty(0)).size < size:
        _kept.room = np.empty(size)
    room: np.ndarray = _kept.room[:size]
    return room


def _slabs(left: slice, right: slice) -> list[slice]:
    """Rows of the left set in parts with at most _CELLS distances: a small set is one part."""
    size = max(1, _CELLS // (right.stop - right.start))
    return [slice(left.start + part.start, left.start + part.stop) for part in blocks(left.stop - left.start, size)]


def _reaches(small: SmallSets, most: np.ndarray) -> dict[int, np.ndarray]:
    """By set, how far the spheres of its rows reach, squared, slack included: (k, rows), up to the set's most."""
    reach: dict[int, np.ndarray] = {}
    which = np.flatnonzero(most)
    batch_of = np.cumsum([small.values[which_set].size for which_set in which]) // _NUMBERS
    batches = np.split(which, np.flatnonzero(np.diff(batch_of)) + 1) if len(which) else []

    def fill(batch: np.ndarray) -> None:
        rows = _Rows([small.values[which_set] for which_set in batch])
        for number, which_set in enumerate(batch.tolist()):
            whole = rows.part(number)
            radii = [_squared_radii(rows, part, whole, int(most[which_set])) for part in _slabs(whole, whole)]
            reach[which_set] = np.concatenate(radii, axis=1) * (1 + SLACK)

    run_tiles(fill, batches, "small radii")
    return reach


def _squared_radii(rows: _Rows, part: slice, whole: slice, most: int) -> np.ndarray:
    """(most, rows): exact squared distances of some rows to their nearest other rows of the set, in order."""
    tile = rows.near(part, whole)
    count, width = tile.shape
    own = np.arange(count)
    tile[own, own + (part.start - whole.start)] = -np.inf
    kth = tile.max(axis=1) if most == 1 else np.partition(tile, width - most, axis=1)[:, width - most]
    # The rows with the least `low` are no farther than this; so the farthest wanted one is among those within it.
    limit = kth - 0.5 * (rows.margin[part] + rows.margin[whole].max())
    row, column = np.divmod(np.flatnonzero(tile >= limit[:, None]), width)
    squared = exact(rows.values, row + part.start, rows.values, column + whole.start)
    first = np.searchsorted(row, own)
    radii: np.ndarray = squared[np.lexsort((squared, row))][first + np.arange(most)[:, None]]
    return radii


def _memberships(
    rows: _Rows, reference: slice, candidate: slice, of_reference: np.ndarray, of_candidate: np.ndarray
) -> np.ndarray:
    """(5, ks): x, y, a, b and the number of reference spheres that hold a candidate.

    of_reference, of_candidate: (ks, rows) how far spheres reach, k ascending.
    """
    counts = np.zeros((5, len(of_reference)), np.int64)
    held = np.zeros((len(of_reference), candidate.stop - candidate.start), bool)
    for part in _slabs(reference, candidate):
        tile = rows.near(part, candidate)
        own = of_reference[:, part.start - reference.start : part.stop - reference.start]
        maybe = tile >= -0.5 * own[-1][:, None]
        maybe |= tile >= -0.5 * of_candidate[-1]
        place = np.flatnonzero(maybe)
        row, column = np.divmod(place, tile.shape[1])
        inside = _decided(
            rows,
            row + part.start,
            column + candidate.start,
            -2 * tile.reshape(-1)[place],
            own[:, row],
            of_candidate[:, column],
        )
        for at, (in_reference, in_candidate) in enumerate(inside):
            held[at, column[in_reference]] = True
            # Places are in the order of rows.
            counts[1:, at] += [
                _different(row[in_candidate]),
                int(np.count_nonzero(in_candidate)),
                int(np.count_nonzero(in_reference)),
                _different(row[in_reference]),
            ]
    counts[0] = held.sum(axis=1)
    return counts


def _decided(
    rows: _Rows, row: np.ndarray, column: np.ndarray, low: np.ndarray, of_row: np.ndarray, of_column: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For listed pairs, by k: is the column's sample in the row's sphere, and the row's in the column's?"""
    high = low + (rows.margin[row] + rows.margin[column])
    unclear = np.zeros(len(low), bool)
    for limits in (of_row, of_column):
        unclear |= ((low <= limits) & (high > limits)).any(axis=0)
    at = np.flatnonzero(unclear)
    if len(at):
        low[at] = exact(rows.values, row[at], rows.values, column[at])
    return list(zip(low <= of_row, low <= of_column, strict=True))


def _different(ordered: np.ndarray) -> int:
    return int(np.count_nonzero(np.diff(ordered, prepend=-1)))
