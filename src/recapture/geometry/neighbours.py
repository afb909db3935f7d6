"""How far each row's k-th nearest neighbour in its own set is: bounds for all rows, exact where it matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .distinct import DistinctRows
from .parallel import blocks, run_tiles
from .products import BoundedRows, Frame, exact
from .search import NearestSearch


class Neighbours:
    """The nearest other rows of every distinct row, enough of them for any k up to `k_max`.

    Squared radii are known within bounds (`at_least`, `at_most`) after one pass of matrix products. `exact_at` makes
    single ones exact, which is all that counting memberships needs; `squared_radii` makes all of them exact.
    """

    def __init__(self, rows: DistinctRows, k_max: int) -> None:
        self.rows = rows
        self.k_max = k_max
        count = len(rows.values)
        self.frame = Frame.of(rows.values)
        self.bounded = bounded = BoundedRows.of(rows.values, self.frame)
        # A few more than asked for, so that close calls can be settled without searching again.
        kept = min(count - 1, k_max if bounded.is_exact else k_max + 3 + k_max // 16)
        if kept:
            search = NearestSearch(bounded, kept)
            search.run()
            nearness, self.neighbour = search.found()
        else:  # all samples are equal
            nearness, self.neighbour = np.empty((count, 0), np.float32), np.empty((count, 0), np.int64)
        self.low, self.high = np.empty((2, count, kept))
        self.at_least, self.at_most = np.empty((2, count, k_max))
        margin = bounded.margin / bounded.unit

        def bound(part: slice) -> None:
            self.low[part] = (-2.0 / bounded.unit) * nearness[part].astype(np.float64)
            self.high[part] = self.low[part] + (margin[part, None] + margin[self.neighbour[part]])
            self.at_least[part] = self._kth(self.low[part], part)
            self.at_most[part] = self._kth(self.high[part], part)

        run_tiles(bound, blocks(count, 512), "bounds on radii")
        # Whatever was left out is at least as far as the furthest lower bound kept. Where that proves too little,
        # the row is searched again in float64.
        self._settled = np.full(count, -1)
        self._settled_radii = np.empty((0, k_max))
        if kept < count - 1:
            self._settle(np.flatnonzero(self.low.max(axis=1) < self.at_most[:, -1]))

    def exact_at(self, row: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Squared distance from each listed row to its k-th nearest other sample, exactly."""
        radii = np.empty(len(row))
        settled = self._settled[row]
        known = settled >= 0
        radii[known] = self._settled_radii[settled[known], k[known] - 1]
        # In parts: each needs a few numbers for every neighbour kept.
        for part in np.array_split(np.flatnonzero(~known), 1 + len(row) * self.low.shape[1] // 2**19):
            radii[part] = self._exact_from_bounds(row[part], k[part])
        return radii

    def _exact_from_bounds(self, row: np.ndarray, k: np.ndarray) -> np.ndarray:
        least, most = self.at_least[row, k - 1, None], self.at_most[row, k - 1, None]
        low, high = self.low[row], self.high[row]
        # Only neighbours whose bounds meet the radius' own bounds can be the one; the nearer ones are merely counted.
        squared = np.where(high < least, -1.0, np.inf)
        place, column = np.nonzero((low <= most) & (high >= least))
        squared[place, column] = exact(
            self.rows.values, row[place], self.rows.values, self.neighbour[row[place], column]
        )
        return self._kth(squared, row, k)[:, 0]

    def squared_radii(self) -> np.ndarray:
        """(distinct rows, k_max) squared distance to the 1st ... k_max-th nearest other sample, all exact."""
        radii = np.empty((len(self.rows.values), self.k_max))

        def make_exact(block: slice) -> None:
            neighbours = self.neighbour[block]
            owner = np.repeat(np.arange(block.start, block.stop), neighbours.shape[1])
            squared = exact(self.rows.values, owner, self.rows.values, neighbours.ravel())
            radii[block] = self._kth(squared.reshape(neighbours.shape), block)

        run_tiles(make_exact, blocks(len(radii), 256), "exact radii")
        settled = np.flatnonzero(self._settled >= 0)
        radii[settled] = self._settled_radii[self._settled[settled]]
        return radii

    def _kth(
        self,
        squared: np.ndarray,
        row: np.ndarray | slice,
        k: np.ndarray | None = None,
        neighbour: np.ndarray | None = None,
    ) -> np.ndarray:
        """k-th smallest over *samples*: a neighbour counts as often as it occurs, the row itself once less.

        All k up to k_max as columns, or one k per row; to the rows' usual neighbours, or to others.
        """
        weight = self.rows.weight
        wanted = range(1, self.k_max + 1) if k is None else [k]
        if self.rows.all_different:
            return kth_over_samples(squared, None, None, wanted)
        neighbour = self.neighbour[row] if neighbour is None else neighbour
        return kth_over_samples(squared, weight[row], weight[neighbour], wanted)

    def _settle(self, open_rows: np.ndarray) -> None:
        parts = [open_rows[start : start + 64] for start in range(0, len(open_rows), 64)]
        self._settled[open_rows] = np.arange(len(open_rows))
        self._settled_radii = np.empty((len(open_rows), self.k_max))

        def search(number: int) -> None:
            self._settled_radii[self._settled[parts[number]]] = self._search_again(parts[number])

        run_tiles(search, range(len(parts)), "close neighbours")
        self.at_least[open_rows] = self.at_most[open_rows] = self._settled_radii

    def _search_again(self, which: np.ndarray) -> np.ndarray:
        """Radii of rows whose neighbours nearly tie in float32: bounds from float64 products, then exactly."""
        values = self.rows.values
        queries = BoundedRows.of(values[which], self.frame, np.float64, may_be_exact=False)
        left = queries.left_factor()
        low = np.empty((len(which), len(values)))
        margin = np.empty(len(values))
        for block in blocks(len(values), 2048):
            targets = BoundedRows.of(values[block], self.frame, np.float64, may_be_exact=False)
            low[:, block] = -2.0 * targets.products_with(left)
            margin[block] = targets.margin
        low /= queries.unit
        margin /= queries.unit
        low[np.arange(len(which)), which] = np.inf
        radii = np.empty((len(which), self.k_max))
        needed = min(self.k_max, len(values) - 1)
        for place, row in enumerate(which):
            high = low[place] + margin + queries.margin[place] / queries.unit
            near = np.flatnonzero(low[place] <= np.partition(high, needed - 1)[needed - 1])
            squared = exact(values, np.full(len(near), row), values, near)
            radii[place] = self._kth(squared[None], slice(row, row + 1), neighbour=near[None])
        return radii


def kth_over_samples(
    squared: np.ndarray, own: np.ndarray | None, others: np.ndarray | None, wanted: Sequence[int | np.ndarray]
) -> np.ndarray:
    """(rows, wanted) the k-th smallest numbers of each row, where a column counts as often as its sample occurs.

    own: how often the row itself occurs: once less it counts as distance 0. others: how often each column's sample
    does. None: once each. wanted: numbers k, or arrays with a k for every row.
    """
    if own is None or others is None:
        ordered = np.sort(squared, axis=1)
        if all(isinstance(k, int) for k in wanted):
            return ordered[:, np.asarray(wanted) - 1]
        return np.concatenate([np.take_along_axis(ordered, np.reshape(k, (-1, 1)) - 1, axis=1) for k in wanted], axis=1)
    order = np.argsort(squared, axis=1)
    nearest_first = np.take_along_axis(squared, order, axis=1)
    reached = np.cumsum(np.concatenate([own[:, None] - 1, np.take_along_axis(others, order, axis=1)], axis=1), axis=1)
    nearest_first = np.concatenate([np.zeros((len(own), 1)), nearest_first], axis=1)
    position = np.stack([(reached < np.reshape(k, (-1, 1))).sum(axis=1) for k in wanted], axis=1)
    return np.take_along_axis(nearest_first, position, axis=1)
