"""Every sample's neighbours among all samples of both sets, nearest first: one search serves any labelling of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .devices import accelerator_for, tried_on
from .distinct import DistinctRows, distinct_rows
from .overlap import SLACK
from .parallel import blocks, run_tiles
from .products import BoundedRows, Frame, exact
from .search import NearestSearch
from .sparse_rows import Rows

if TYPE_CHECKING:
    from .device_walks import ListsThere

# Entries (rows x neighbours) worth keeping; longer lists are made where needed and thrown away.
_ENTRIES_KEPT = 1 << 22
# Entries put in order together, and bounds a WideSearch holds.
_ENTRIES_AT_ONCE, _WIDE = 1 << 17, 1 << 20
_ALWAYS_KEPT = 64
# Lists of more than this share of all rows are made from float64 products: float32 bounds leave too much undecided.
_LONG = 0.1


class Lists(NamedTuple):
    """Neighbours of some distinct rows, nearest first, one list a column. A row's own copies are not listed.

    Equal distances stand in any order. Samples stand for themselves: a row that occurs five times is five entries.
    """

    neighbour: np.ndarray
    """(length + 1, lists) int32: samples. Where a list has ended, and in the last line: the number of samples."""
    nearer: np.ndarray
    """(length + 1, lists) int32: how many entries of the list are nearer by more than the slack of a sphere; -1 where
    not even the row's own copies are. In the last line: at least so many are nearer than anything not listed."""
    complete: np.ndarray
    """Per list: whether it holds all samples."""
    tied: np.ndarray
    """Per list: whether any of its distances are equal, within the slack."""

    @property
    def length(self) -> int:
        return len(self.neighbour) - 1

    @classmethod
    def empty(cls, length: int, count: int, nobody: int) -> Lists:
        neighbour, nearer = np.full((length + 1, count), nobody, np.int32), np.zeros((length + 1, count), np.int32)
        return cls(neighbour, nearer, np.ones(count, bool), np.zeros(count, bool))


class PooledNeighbours:
    """Neighbour lists of the distinct rows of one pooled set."""

    def __init__(self, values: Rows) -> None:
        self.rows = rows = distinct_rows(values)
        self.samples = len(values)
        self.device = accelerator_for(len(values), len(values)) if isinstance(values, np.ndarray) else None
        """What makes lists, and walks along them; None: the threads."""
        self.there: ListsThere | None = None
        self.members = np.argsort(rows.inverse, kind="stable")
        """Samples in the order of their distinct rows; those of row i begin at first[i]."""
        self.first = np.cumsum(rows.weight) - rows.weight
        self.frame = Frame.of(rows.values)
        self.bounded = BoundedRows.of(rows.values, self.frame)
        # Bounds this close do not decide between two distances as they come out in float64.
        self._hair = 1 + 4 * SLACK + rows.values.shape[1] * float(np.finfo(np.float64).eps)
        self._kept: Lists | None = None

    def __len__(self) -> int:
        return len(self.rows.values)

    @property
    def wide_rows(self) -> int:
        """How many rows a WideSearch may have."""
        return int(np.clip(_WIDE // len(self), 8, 256))

    def lists(self, length: int) -> Lists:
        """Lists of all rows, of at least this many samples or as many as are worth keeping."""
        longest = max(_ALWAYS_KEPT, _ENTRIES_KEPT // len(self))
        length = max(1, min(length, longest, self.samples - 1))
        if self._kept is None or self._kept.length < length:
            self._kept = self._search(length)
        return self._kept

    def candidates_for(self, length: int) -> int:
        """Neighbours to look at for a list: a few more than its length, to settle close calls without a new search."""
        return min(len(self) - 1, length + 1 if self.bounded.is_exact else length + 4 + length // 16)

    def _search(self, length: int) -> Lists:
        lists = Lists.empty(length, len(self), self.samples)
        kept = self.candidates_for(length)
        if kept == 0:  # all samples are equal
            return lists
        if tried_on(self.device, lambda device: self._from_device(device, lists, kept)):
            return lists
        self.device = None
        if kept > _LONG * len(self) and not self.bounded.is_exact:
            short = np.ones(len(self), bool)
        else:
            short = self._from_bounds(lists, kept)
        rows = np.flatnonzero(short)

        def widen(which: np.ndarray) -> None:
            wider = WideSearch(self, which).lists(np.arange(len(which)), length)
            for mine, theirs in zip(lists, wider, strict=True):
                mine[..., which] = theirs

        run_tiles(widen, [rows[part] for part in blocks(len(rows), self.wide_rows)], "close neighbours")
        return lists

    def _from_bounds(self, lists: Lists, kept: int) -> np.ndarray:
        """Fill lists from float32 bounds; which of them these do not fill."""
        search = NearestSearch(self.bounded, kept)
        search.run()
        nearness, neighbour = search.found()
        del search  # its keys are as large as both
        unit, margin = self.bounded.unit, self.bounded.margin / self.bounded.unit
        short = np.zeros(len(self), bool)

        def order(part: slice) -> None:
            low = (-2.0 / unit) * nearness[part].astype(np.float64)
            high = low + (margin[part, None] + margin[neighbour[part]])
            # Whatever was not kept is at least as far as the furthest lower bound kept.
            cut = low.max(axis=1) if kept < len(self) - 1 else np.full(len(low), np.inf)
            row = np.arange(part.start, part.stop)
            short[part] = self.fill(lists, row, row, neighbour[part], low, high, cut)

        run_tiles(order, blocks(len(self), max(1, _ENTRIES_AT_ONCE // kept)), "ordering neighbours")
        return short

    def _from_device(self, device: str, lists: Lists, kept: int) -> bool:
        """Fill lists from the exact distances of the nearest few."""
        from .device_spheres import DeviceSet, nearest_rows

        alone = DistinctRows(self.rows.values, np.ones(len(self), np.int64), np.arange(len(self)))
        neighbour, squared = nearest_rows(DeviceSet(alone, device), kept)

        def order(part: slice) -> None:
            near = squared[part]
            cut = near[:, -1] if kept < len(self) - 1 else np.full(len(near), np.inf)
            row = np.arange(part.start, part.stop)
            self.fill(lists, row, row, neighbour[part], near, near, cut)

        run_tiles(order, blocks(len(self), max(1, _ENTRIES_AT_ONCE // kept)), "ordering neighbours")
        return True

    def fill(
        self,
        lists: Lists,
        column: np.ndarray,
        row: np.ndarray,
        neighbour: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        cut: np.ndarray,
    ) -> np.ndarray:
        """Write each row's neighbours, whose squared distances have these bounds, into its column, in order.

        cut: what all others are at least away; infinite if there are none. Returns which lists are not filled.
        """
        neighbour, squared = self._sorted(row, neighbour, low, high, cut)
        known = squared <= cut[:, None]
        squared = np.concatenate([np.where(known, squared, cut[:, None]), cut[:, None]], axis=1)
        nearer = _count_nearer(squared, known.sum(axis=1))
        # From distinct rows to samples: each is as many entries as it has copies, and what is not known fills the rest.
        room, nobody = lists.length + 1, neighbour.shape[1]
        begin = np.zeros((len(row), nobody + 1), np.int64)
        np.cumsum(np.where(known, self.rows.weight[neighbour], 0), axis=1, out=begin[:, 1:])
        begin = np.minimum(begin, room)
        copies = np.diff(begin, axis=1, append=room)
        place = np.repeat(np.tile(np.arange(nobody + 1), len(row)), copies.ravel()).reshape(len(row), room)
        copy = np.arange(room) - np.take_along_axis(begin, place, axis=1)
        entry = self.first[np.take_along_axis(neighbour, np.minimum(place, nobody - 1), axis=1)] + copy
        entry = np.where(place < nobody, self.members.take(entry, mode="clip"), self.samples)
        entry[:, -1] = self.samples
        before = np.take_along_axis(nearer, place, axis=1)
        counted = np.take_along_axis(begin, np.maximum(before, 0), axis=1)
        counted = np.where(before < 0, -1, counted)
        listed, all_known = begin[:, -1], np.isinf(cut)
        lists.neighbour[:, column], lists.nearer[:, column] = entry.T, counted.T
        lists.complete[column] = all_known & (listed < room)
        # Past the end of a complete list there is nothing to tie with.
        step = np.arange(lists.length)
        lists.tied[column] = ((counted[:, :-1] != step) & (step < listed[:, None])).any(axis=1)
        short: np.ndarray = ~all_known & (listed < lists.length)
        return short

    def _sorted(
        self, row: np.ndarray, neighbour: np.ndarray, low: np.ndarray, high: np.ndarray, cut: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours in order, and numbers that compare like squared distances: exact ones where it is close."""
        order = np.argsort(low, axis=1)
        neighbour, low, high = (np.take_along_axis(each, order, axis=1) for each in (neighbour, low, high))
        reach = np.maximum.accumulate(high, axis=1) * self._hair
        apart = np.empty((len(low), low.shape[1] + 1), bool)
        apart[:, 0] = low[:, 0] > 0
        apart[:, 1:-1] = reach[:, :-1] < low[:, 1:]
        apart[:, -1] = reach[:, -1] < cut
        unclear, column = np.nonzero(~(apart[:, :-1] & apart[:, 1:]) & (high > low))
        if len(unclear):
            values = self.rows.values
            low[unclear, column] = exact(values, row[unclear], values, neighbour[unclear, column])
            order = np.argsort(low, axis=1)
            neighbour, low = (np.take_along_axis(each, order, axis=1) for each in (neighbour, low))
        return neighbour, low


class WideSearch:
    """Float64 bounds on the distances of a few rows to all rows, for lists of any length."""

    def __init__(self, pooled: PooledNeighbours, which: np.ndarray) -> None:
        self.pooled = pooled
        self.which = which
        values, frame, whole = pooled.rows.values, pooled.frame, pooled.bounded.is_exact
        queries = BoundedRows.of(values[which], frame, np.float64, may_be_exact=whole)
        left = queries.left_factor()
        self.low, self.margin = np.empty((len(which), len(values))), np.empty(len(values))
        for block in blocks(len(values), 2048):
            targets = BoundedRows.of(values[block], frame, np.float64, may_be_exact=whole)
            self.low[:, block] = targets.products_with(left)
            self.margin[block] = targets.margin
        self.low *= -2.0 / queries.unit
        self.margin /= queries.unit
        self.own_margin = queries.margin / queries.unit
        self.low[np.arange(len(which)), which] = np.inf

    def lists(self, chosen: np.ndarray, length: int) -> Lists:
        """Lists of the chosen ones of these rows, of so many samples (all there are, if fewer)."""
        pooled = self.pooled
        lists = Lists.empty(min(length, pooled.samples - 1), len(chosen), pooled.samples)
        kept = pooled.candidates_for(lists.length)
        if kept:
            for part in blocks(len(chosen), max(1, _ENTRIES_AT_ONCE // kept)):
                self._fill(lists, np.arange(part.start, part.stop), chosen[part], kept)
        return lists

    def _fill(self, lists: Lists, column: np.ndarray, chosen: np.ndarray, kept: int) -> None:
        pooled, others = self.pooled, len(self.pooled) - 1
        while len(column):
            low = self.low[chosen]
            # Where all others are wanted, the row itself is left over, infinitely far.
            neighbour = np.argpartition(low, kept, axis=1)[:, : kept + 1]
            low = np.take_along_axis(low, neighbour, axis=1)
            neighbour, low, cut = neighbour[:, :-1], low[:, :-1], low[:, -1]
            high = low + (self.own_margin[chosen, None] + self.margin[neighbour])
            short = pooled.fill(lists, column, self.which[chosen], neighbour, low, high, cut)
            column, chosen = column[short], chosen[short]
            kept = min(2 * kept, others)


def _count_nearer(squared: np.ndarray, known: np.ndarray) -> np.ndarray:
    """For every entry of ascending rows, how many are nearer by more than the slack; -1 at distance 0.

    known: how many entries of each row are more than their common lower bound.
    """
    place = np.arange(squared.shape[1])
    nearer: np.ndarray = np.minimum(place, known[:, None])
    beyond = squared * (1 + SLACK)
    close = ~(beyond[:, :-1] < squared[:, 1:]) & (place[1:] <= known[:, None])
    for row in np.flatnonzero(close.any(axis=1) | (squared[:, 0] == 0)):
        nearer[row] = np.searchsorted(beyond[row], squared[row])
        nearer[row, squared[row] == 0] = -1
    return nearer
