"""Who lies inside whose spheres in thousands of small pairs of sets, such as the word pieces of two texts.

Every pair is one matrix product in float64; pairs of similar sizes share all other array operations. With q(x) the
computed |x|^2, u the unit roundoff and gamma(n) = n u / (1 - n u), which bounds the relative error of an n-term sum in
any order,

    h(x, y) = x.y - (1/2 - eta) q(x) - (1/2 - eta) q(y),      eta = 2 gamma(d + 8),

is a sum of d + 2 terms whose errors stay below eta (|x|^2 + |y|^2) / 2, so that, as in `products`,

    low = -2 h <= |x - y|^2 <= low + margin(x) + margin(y),     margin(x) = 4 eta |x|^2.

Half of eta would do for the true distance. The other half makes the bounds hold for the distance `exact` computes
from differences, too (it is off by at most 2 gamma(d + 2) (|x|^2 + |y|^2)), and for limits that are rounded. So bounds
and `exact` never disagree, and pairs that bounds leave open are decided by `exact`. Radii are bounds, too, until a
decision depends on one: the k-th nearest is no nearer than the k-th least `low`, and no farther than that and the row's
own and the set's largest margin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_count
from .overlap import SLACK
from .parallel import blocks, run_tiles
from .products import exact
from .scratch import Scratch, ScratchPool
from .small_sets import SmallSets, similar_sizes

# Numbers of rows, and distances, held at once by each thread: enough pairs that Python's part costs little, since
# threads wait for each other there, and few enough that all stays near the core.
_NUMBERS = 1 << 20
_CELLS = 1 << 18
# One product takes microseconds. Pairs of sentences on 16 cores: by 1 thread 1.6 ms each, by 4 .8, by 16 1.7.
_THREADS = 4
# Kept from call to call, as threads are not.
_pool = ScratchPool(Scratch)
# Sizes that count as similar.
_SIMILAR = 20
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
        limits = np.concatenate([reach[each] for each in different.tolist()], axis=2)
        with _pool.one() as scratch:
            rows = _Rows([small.values[each] for each in different], scratch)
            counts[:, batch] = _memberships(rows, place.reshape(-1, 2), limits, ks[batch])

    run_tiles(count, list(_batches(small.pair_sizes, answerable, small.width)), "small pairs", _THREADS)
    return counts


def _batches(sizes: np.ndarray, which: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """These pairs in parts of similar sizes."""
    yield from (which[part] for part in similar_sizes(sizes[which], width, _CELLS, _NUMBERS, _SIMILAR))


def bound_terms(norms: Any, dimensions: int) -> tuple[Any, Any]:
    """From computed |x|^2 (arrays or tensors): what is taken from products, and how far bounds are apart."""
    terms = dimensions + 8
    eta = 2 * terms * 2.0**-53 / (1 - terms * 2.0**-53)
    floor = terms * _UNDERFLOW
    return (0.5 - eta) * norms - floor, 4 * eta * norms + 4 * floor


class _Rows:
    """Rows of several sets, one set below the other, ready for products that bound distances."""

    def __init__(self, sets: Sequence[np.ndarray], scratch: Scratch) -> None:
        self._scratch = scratch
        self.start = np.cumsum([0, *map(len, sets)])
        self.values = scratch.array("rows", (int(self.start[-1]), sets[0].shape[1]))
        np.concatenate(sets, out=self.values)
        norms = np.einsum("ij,ij->i", self.values, self.values)
        self.term, self.margin = bound_terms(norms, self.values.shape[1])

    def padded(self, sets: np.ndarray) -> _FilledUp:
        sizes = np.diff(self.start)[sets]
        places = np.arange(sizes.max())
        real = places < sizes[:, None]
        number = self.start[sets, None] + np.where(real, places, 0)
        return _FilledUp(sizes, real, number, np.where(real, self.term[number], np.inf))

    def near(self, left: _FilledUp, part: slice, right: _FilledUp) -> np.ndarray:
        """(pairs, rows of the part, rows): h of every two rows, minus infinity for what fills up.

        In memory that the next call uses again. Every pair is one product, without what fills it up.
        """
        tall, wide = left.term[:, part].shape[1], right.term.shape[1]
        tile = self._scratch.zeros("tile", (len(left.sizes), tall, wide))
        firsts, seconds = self._slices(left, part), self._slices(right, slice(0, wide))
        for room, first, second in zip(tile, firsts, seconds, strict=True):
            np.matmul(
                self.values[first],
                self.values[second].T,
                out=room[: first.stop - first.start, : second.stop - second.start],
            )
        tile -= left.term[:, part, None]
        tile -= right.term[:, None]
        return tile

    def _slices(self, side: _FilledUp, part: slice) -> list[slice]:
        ends = np.minimum(side.sizes, part.stop)
        return [
            slice(first + part.start, first + end)
            for first, end in zip(side.number[:, 0].tolist(), ends.tolist(), strict=True)
        ]


class _FilledUp(NamedTuple):
    """Some sets, filled up to one size."""

    sizes: np.ndarray
    real: np.ndarray
    number: np.ndarray
    """(sets, rows) which of all rows; the set's first where it is filled up"""
    term: np.ndarray
    """Infinite where it is filled up."""


def _slabs(pairs: int, tall: int, wide: int) -> list[slice]:
    """Rows in parts with at most _CELLS distances: small sets are one part."""
    return blocks(tall, max(1, _CELLS // (pairs * wide)))


def _reaches(small: SmallSets, most: np.ndarray) -> dict[int, np.ndarray]:
    """By set, how far the spheres of its rows reach, squared, slack included: (2, k, rows), at least and at most.

    k = 0 is no sphere. Bounds suffice for nearly all decisions; `_exact_reach` has the rest.
    """
    reach: dict[int, np.ndarray] = {}
    # Sets with as many neighbours wanted together: nearly all have the same.
    batches = [
        batch
        for each in np.unique(most[most > 0]).tolist()
        for batch in _batches(np.stack([small.sizes, small.sizes], axis=1), np.flatnonzero(most == each), small.width)
    ]

    def fill(batch: np.ndarray) -> None:
        with _pool.one() as scratch:
            rows = _Rows([small.values[which_set] for which_set in batch], scratch)
            found = np.full((2, 1 + int(most.max()), len(rows.values)), np.inf)
            found[:, 0] = -np.inf
            sets = rows.padded(np.arange(len(batch)))
            wanted = int(most[batch[0]])
            for part in _slabs(len(batch), sets.term.shape[1], sets.term.shape[1]):
                real = sets.real[:, part]
                low = -2 * _nearest(_others(rows, sets, part), wanted)[real].T
                found[0, 1 : 1 + wanted, sets.number[:, part][real]] = low.T * (1 + SLACK)
                # The k rows with the least `low` are all within this.
                high = low + _apart(rows, sets, part)[real]
                found[1, 1 : 1 + wanted, sets.number[:, part][real]] = high.T * (1 + SLACK)
            for which_set, first, last in zip(batch.tolist(), rows.start[:-1], rows.start[1:], strict=True):
                reach[which_set] = found[..., first:last]

    run_tiles(fill, batches, "small radii", _THREADS)
    return reach


def _others(rows: _Rows, sets: _FilledUp, part: slice) -> np.ndarray:
    """h of some rows of each set and all its other rows."""
    tile = rows.near(sets, part, sets)
    own = np.arange(tile.shape[1])
    tile[:, own, own + part.start] = -np.inf
    return tile


def _nearest(tile: np.ndarray, count: int) -> np.ndarray:
    """The largest numbers of each row, largest first; the tile is not in order afterwards."""
    if count == 1:
        return np.asarray(tile.max(axis=2))[..., None]
    first = tile.shape[2] - count
    tile.partition(first, axis=2)
    return np.sort(tile[..., first:], axis=2)[..., ::-1]


def _apart(rows: _Rows, sets: _FilledUp, part: slice) -> np.ndarray:
    """(sets, rows): how far the bounds of a row's distances in its set are apart at most."""
    margins = rows.margin[sets.number]
    apart: np.ndarray = margins[:, part] + margins.max(axis=1, keepdims=True)
    return apart


def _exact_reach(rows: _Rows, number: int, most: int) -> np.ndarray:
    """(k, rows) of one set, for k = 1 ... most or as many as it has."""
    sets = rows.padded(np.array([number]))
    found = []
    for part in _slabs(1, sets.term.shape[1], sets.term.shape[1]):
        tile = _others(rows, sets, part)
        count, width = tile.shape[1:]
        wanted = min(most, width - 1)
        # The k-th nearest is among those whose `low` is not beyond all that the k nearest by `low` can be.
        limit = _nearest(tile.copy(), wanted)[..., -1] - 0.5 * _apart(rows, sets, part)
        row, column = np.divmod(np.flatnonzero(tile >= limit[..., None]), width)
        numbers = sets.number[0]
        squared = exact(rows.values, numbers[row + part.start], rows.values, numbers[column])
        first = np.searchsorted(row, np.arange(count))
        found.append(squared[np.lexsort((squared, row))][first + np.arange(wanted)[:, None]] * (1 + SLACK))
    return np.concatenate(found, axis=1)


def _memberships(rows: _Rows, sides: np.ndarray, reach: np.ndarray, ks: np.ndarray) -> np.ndarray:
    """(5, pairs, ks): x, y, a, b and the number of reference spheres that hold a candidate.

    sides: (pairs, 2) numbers of sets; reach: (2, k, rows) bounds, made exact here where a decision depends on them.
    """
    counts = np.zeros((5, *ks.shape), np.int64)
    reference, candidate = rows.padded(sides[:, 0]), rows.padded(sides[:, 1])
    pairs, tall, wide = len(ks), reference.term.shape[1], candidate.term.shape[1]
    held = np.zeros((ks.shape[1], pairs * wide), bool)
    largest = ks.max(axis=1, keepdims=True)  # not the last one: what a set is too small for is 0
    for part in _slabs(pairs, tall, wide):
        tile = rows.near(reference, part, candidate)
        shape = tile.shape[:2]
        maybe = tile >= -0.5 * reach[1, largest, reference.number[:, part]][..., None]
        maybe |= tile >= -0.5 * reach[1, largest, candidate.number][:, None]
        place = np.flatnonzero(maybe)
        row, column = np.divmod(place, wide)
        pair = row // shape[1]
        column += pair * wide
        low = -2 * tile.reshape(-1)[place]
        listed = reference.number[:, part].reshape(-1)[row], candidate.number.reshape(-1)[column]
        inside = _decided(rows, low, listed, sides[pair], reach, ks[pair])
        for at, (in_reference, in_candidate) in enumerate(inside):
            held[at, column[in_reference]] = True
            counts[1:, :, at] += [
                _different(row[in_candidate], shape),
                np.bincount(pair[in_candidate], minlength=pairs),
                np.bincount(pair[in_reference], minlength=pairs),
                _different(row[in_reference], shape),
            ]
    counts[0] = held.reshape(-1, pairs, wide).sum(axis=2).T
    return counts


def _decided(
    rows: _Rows,
    low: np.ndarray,
    listed: tuple[np.ndarray, np.ndarray],
    sides: np.ndarray,
    reach: np.ndarray,
    ks: np.ndarray,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For listed pairs of rows, by k: is the second in the first's sphere, and the first in the second's?

    sides: which sets they are of; ks: (rows, ks). What bounds leave open is made exact: in `low` the distances, in
    `reach` all spheres of their set.
    """
    high = low + (rows.margin[listed[0]] + rows.margin[listed[1]])
    unclear = np.zeros(len(low), bool)
    open_sets: set[int] = set()
    for side, numbers in enumerate(listed):
        for k in ks.T:
            open_here = np.flatnonzero((low <= reach[1, k, numbers]) & (high > reach[0, k, numbers]))
            unclear[open_here] = True
            open_sets.update(np.unique(sides[open_here, side]).tolist())
    if open_sets:
        at = np.flatnonzero(unclear)
        low[at] = exact(rows.values, listed[0][at], rows.values, listed[1][at])
        for number in open_sets:
            found = _exact_reach(rows, number, reach.shape[1] - 1)
            reach[:, 1 : 1 + len(found), rows.start[number] : rows.start[number + 1]] = found
    return [(low <= reach[0, k, listed[0]], low <= reach[0, k, listed[1]]) for k in ks.T]


def _different(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """How many different rows there are of each pair; shape: pairs, rows of a pair."""
    there = np.zeros(shape, bool)
    there.reshape(-1)[rows] = True
    return np.asarray(there.sum(axis=1))
