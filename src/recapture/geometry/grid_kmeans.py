"""k-means without rounding errors: the same clusters from any product, in any order of summation, on any device.

Rows are scaled by a power of two to lengths of at most 1; they and the centres are rounded to multiples of 2^-24, which
float32 holds. By Cauchy and Schwarz no sum of products of them, in any order, exceeds 1, and no squared distance 4. All
are multiples of 2^-49 below 2^3, which float64 holds: products in float64 are exact. So are sums of rows; a mean is one
division, rounded to the grid. "A row stays with its centre if none is nearer, else it goes to the first of the nearest"
is then a rule about whole numbers, and any way of computing them leads to the same clusters. Draws see exact distances,
too, and what they add up they add in one order.

Threads follow it by float32 products, each wrong by at most a margin (g |x| |c|, g = n u, for any order of summation:
Higham 2002, Accuracy and Stability of Numerical Algorithms, 3.1). Whoever is ahead by two margins is ahead. Rows for
which that does not tell meet all centres in float64.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .lloyd import ROWS, Clustering, Points, Some, wide_centres
from .parallel import blocks, run_tiles
from .products import finite_products, power_of_two_below
from .scratch import Scratch, ScratchPool

_CELLS = 1 << 22
"""Products in float64 held at once."""
_FEW_FRESH, _LONGER = 256, 4
"""Rows meet so few centres in longer tiles: on the grid their size decides nothing."""
_BITS = 24
_LONGEST = 1 + 2.0**-10
"""No row and no centre is longer, though rounded."""
_ROUNDING = 2.0**-23
"""Twice what one operation in float32 may be wrong by: margins have room for their own rounding."""


class GridPoints(Points):
    """Rows on the grid. Those that were taken are float64, so that products have no rounding errors."""

    def take(self, chosen: np.ndarray) -> Points:
        taken = super().take(chosen)
        return taken._replace(wide=taken.wide[:].astype(np.float64))

    def squared_distances(self, chosen: np.ndarray) -> np.ndarray:
        rows = self.wide[:][:, :-1]
        # Row by row in memory, as `totals` needs it. Few columns are multiplied faster from the left.
        squared: np.ndarray = self.norm[:, None] + self.norm[chosen]
        squared -= 2 * (rows[chosen] @ rows.T).T
        return squared

    def totals(self, left: np.ndarray) -> np.ndarray:
        # Too many bits for float64, so the order counts: row by row, which no library does otherwise.
        found: np.ndarray = np.add.reduce(self.weight[:, None] * left, axis=0)
        return found

    def sums(self, chosen: np.ndarray, starts: np.ndarray) -> np.ndarray:
        # In any order, since only here it is the same: several times as fast, and other threads need not wait.
        rows, weight = np.take(self.wide[:], chosen, axis=0)[:, :-1], self.weight[chosen]
        stretches = zip(np.split(weight, starts[1:]), np.split(rows, starts[1:]), strict=True)
        return np.stack([np.einsum("i,ij->j", own, stretch) for own, stretch in stretches])


class Grid(NamedTuple):
    """Rows on the grid."""

    points: Points
    scale: float
    """All numbers are multiples of 1 / scale."""
    margin: np.ndarray
    """Of each row: by how much a float32 product with a centre may miss."""
    pool: ScratchPool[Scratch]
    """For products."""


def on_grid(rows: np.ndarray, weight: np.ndarray) -> Grid:
    """rows: float32, of a size around 1."""
    norm = np.empty(len(rows))
    wide = np.empty((len(rows), rows.shape[1] + 1), np.float32)
    # Sums of all samples must be exact, too: beyond 2^28 of them the grid is coarser.
    scale = 2.0 ** min(_BITS, 52 - math.ceil(math.log2(float(weight.sum()))))

    def measure(part: slice) -> None:
        norm[part] = np.einsum("ij,ij->i", rows[part], rows[part], dtype=np.float64)

    def fill(part: slice) -> None:
        made = wide[part, :-1]
        to_grid(np.multiply(rows[part], factor, out=made), scale)
        wide[part, -1] = 1
        norm[part] = np.einsum("ij,ij->i", made, made, dtype=np.float64)

    tiles = blocks(len(rows), ROWS)
    run_tiles(measure, tiles, "clustering")
    factor = np.float32(power_of_two_below(math.sqrt(float(norm.max()))))
    run_tiles(fill, tiles, "clustering")
    errors = (rows.shape[1] + 8) * _ROUNDING
    points = GridPoints(wide, norm, weight.astype(np.float64))
    return Grid(points, scale, errors * (np.sqrt(norm) * _LONGEST + _LONGEST**2 / 2), ScratchPool(Scratch))


def to_grid(values: np.ndarray, scale: float) -> np.ndarray:
    """Round float32 values in place."""
    values *= np.float32(scale)
    np.rint(values, out=values)
    values /= np.float32(scale)
    return values


class GridClustering(Clustering):
    """A clustering whose every decision is that of exact numbers."""

    def __init__(self, grid: Grid, clusters: int, seed: int) -> None:
        super().__init__(grid.points, clusters, seed)
        self.grid = grid
        # Exact while centres are drawn, then within the margin.
        self.score = np.full(len(self.label), -np.inf)
        self._unclear = np.zeros(len(self.label), bool)
        # Labels before the last centres were drawn.
        self._drawn_before = self.label
        self.exact_centres = np.empty((0, 0))

    @property
    def rows_at_once(self) -> int:
        # Threads wait for each other where calls take longer than products.
        return ROWS if len(self._fresh.number) > _FEW_FRESH else _LONGER * ROWS

    def compare(self, part: slice, rows: np.ndarray) -> None:
        label, score, margin = self.label[part], self.score[part], 2 * self.grid.margin[part]
        if self._settled is None:
            before = self._drawn_before[part]
            self._meet(self._fresh, part, rows, np.arange(len(rows)), margin)
            # Exact distances decide what is drawn; at first nobody has one.
            new = np.flatnonzero((label != before) | (len(self._fresh.number) == len(self.centres)))
            score[new] = np.einsum("ij,ij->i", rows[new], self.exact_centres[label[new]], dtype=np.float64)
            return
        if len(self._rest.number):
            stale = np.flatnonzero(self._moved[label])
            moved = np.einsum("ij,ij->i", rows[stale], self.centres[label[stale]])
            # Where the own centre surely came nearer, those that stayed are still farther away.
            lost = stale[moved < score[stale] + margin[stale]]
            score[stale] = moved
            self._meet(self._rest, part, rows, lost, margin)
        self._meet(self._fresh, part, rows, np.arange(len(rows)), margin)

    def _meet(self, some: Some, part: slice, rows: np.ndarray, chosen: np.ndarray, margin: np.ndarray) -> None:
        """Chosen rows of a part meet some centres. margin: twice that of each row."""
        if not (len(chosen) and len(some.number)):
            return
        with self.grid.pool.one() as scratch:
            self._meet_in(scratch, some, part, rows, chosen, margin)

    def _meet_in(
        self, scratch: Scratch, some: Some, part: slice, rows: np.ndarray, chosen: np.ndarray, margin: np.ndarray
    ) -> None:
        label, score = self.label[part], self.score[part]
        product = scratch.array("product", (len(chosen), len(some.number)), np.float32)
        with finite_products():
            np.matmul(rows if len(chosen) == len(rows) else scratch.taken(rows, chosen), some.centres.T, out=product)
        every = np.arange(len(chosen))
        if self._settled is not None and len(some.number) == self.clusters:  # the own one is among them
            score[:] = product[every, label]
        nearest = product.argmax(axis=1)
        best = product[every, nearest].astype(np.float64)
        near = np.flatnonzero(best >= score[chosen] - margin[chosen])
        product[near, nearest[near]] = -np.inf
        second = product.max(axis=1)[near] if 2 * len(near) > len(chosen) else product[near].max(axis=1)
        chosen, best, found = chosen[near], best[near], some.number[nearest[near]]
        same = found == label[chosen]
        ahead = best > np.where(same, second, np.maximum(second, score[chosen])) + margin[chosen]
        changed = np.flatnonzero(ahead & ~same)
        label[chosen[changed]], score[chosen[changed]] = found[changed], best[changed]
        self._unclear[part][chosen[~ahead]] = True

    def advance(self) -> None:
        self._decide(np.flatnonzero(self._unclear))
        super().advance()

    def _decide(self, rows: np.ndarray) -> None:
        """The own centre where none is nearer, else the first of the nearest."""
        own = self._drawn_before if self._settled is None else self._settled
        for part in blocks(len(rows), max(1, _CELLS // len(self.centres))):
            chosen = rows[part]
            scores = self.points.wide[chosen].astype(np.float64) @ self.exact_centres.T
            every, nearest = np.arange(len(chosen)), scores.argmax(axis=1)
            best = scores[every, nearest]
            stays = scores[every, own[chosen]] == best
            self.label[chosen], self.score[chosen] = np.where(stays, own[chosen], nearest), best
        self._unclear[rows] = False

    def move_by(self, gains: np.ndarray) -> None:
        """Centres become the means of their rows, whose sums have gained so much."""
        self._sums += gains[:, :-1]
        self._mass += gains[:, -1]
        filled = np.flatnonzero(self._mass)  # other centres stay where they are
        self.centres[filled] = wide_centres(self._means(filled))
        self._prepare()

    def _take(self, rows: np.ndarray) -> None:
        super()._take(rows)
        self._drawn_before = self.label.copy()
        self._prepare()

    def _move(self) -> None:
        super()._move()
        self._prepare()

    def _prepare(self) -> None:
        self.exact_centres = self.centres.astype(np.float64)
        halved = np.einsum("ij,ij->i", self.exact_centres[:, :-1], self.exact_centres[:, :-1])
        self.exact_centres[:, -1] = -0.5 * halved

    def _means(self, clusters: np.ndarray) -> np.ndarray:
        return to_grid(super()._means(clusters).astype(np.float32), self.grid.scale)
