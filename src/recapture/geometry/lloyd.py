"""One seeded k-means clustering: centres are drawn, then moved step by step.

Centres are drawn as k-means++ draws them (Arthur and Vassilvitskii 2007): a row becomes the next centre with a
probability that grows with its squared distance from those so far. The first ones are the best of several draws. The
others come in batches: a row drawn by distances that are out of date is accepted with the share of its old distance
that is left, which makes it a draw by the present ones. Then Lloyd's steps move centres to the means of their rows. A
row meets only centres that moved, unless its own moved away from it: nothing is lost, and late steps move few.

One product of rows with centres, with one more column, gives x.c - |c|^2 / 2, which is largest for the nearest centre.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .parallel import blocks
from .products import finite_products
from .sparse_rows import CentredTiles

# Clumps are found by then; without clumps more steps change neither inertia (.02 %) nor scores (within their spread).
STEPS = 30

# Rows of one product. Another number may round differently, so it is no engine option: results depend on none.
ROWS = 960
# Centres that are the best of several draws, and rows that judge them.
_CAREFUL, _JUDGES = 128, 4096
_BATCH = 1024
_CHUNK = 4096


class Points(NamedTuple):
    """What all clusterings share."""

    wide: np.ndarray | _WideTiles
    """Rows with a column of ones."""
    norm: np.ndarray
    """Squared lengths."""
    weight: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray | CentredTiles, weight: np.ndarray) -> Points:
        if isinstance(rows, CentredTiles):
            norm = np.empty(len(rows))
            tiles = _WideTiles(rows)
            for part in blocks(len(rows), ROWS):
                block = rows[part]
                norm[part] = np.einsum("ij,ij->i", block, block, dtype=np.float64)
            return cls(tiles, norm, weight.astype(np.float64))
        wide = np.ones((len(rows), rows.shape[1] + 1), np.float32)
        wide[:, :-1] = rows
        return cls(wide, np.einsum("ij,ij->i", rows, rows, dtype=np.float64), weight.astype(np.float64))

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Without the column of ones."""
        return self.wide.rows[chosen] if isinstance(self.wide, _WideTiles) else self.wide[chosen, :-1]

    def take(self, chosen: np.ndarray) -> Points:
        return self._replace(wide=self.wide[chosen], norm=self.norm[chosen], weight=self.weight[chosen])

    def squared_distances(self, chosen: np.ndarray) -> np.ndarray:
        """(rows, chosen rows)"""
        with finite_products():
            product = self.wide[:] @ wide_centres(self.rows(chosen)).T
        squared: np.ndarray = np.maximum(self.norm[:, None] - 2.0 * product, 0)
        return squared

    def totals(self, left: np.ndarray) -> np.ndarray:
        """Weighted sums of the columns."""
        found: np.ndarray = self.weight @ left
        return found

    def sums(self, chosen: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Weighted, of the chosen rows from each start to the next."""
        return np.add.reduceat(self.rows(chosen) * self.weight[chosen, None], starts, axis=0)


class _WideTiles:
    """The same for rows that are made where they are needed."""

    def __init__(self, rows: CentredTiles) -> None:
        self.rows = rows
        self.shape = rows.shape[0], rows.shape[1] + 1

    def __getitem__(self, chosen: slice | np.ndarray) -> np.ndarray:
        return self.rows.wide(chosen, 1)


class Some(NamedTuple):
    """Some of the centres, side by side in memory for the product."""

    number: np.ndarray
    centres: np.ndarray

    def meet(self, rows: np.ndarray, chosen: np.ndarray, label: np.ndarray, score: np.ndarray) -> None:
        """Update label and score of the chosen rows to which one of these centres is nearer."""
        if not (len(chosen) and len(self.number)):
            return
        with finite_products():
            product = (rows if len(chosen) == len(rows) else rows[chosen]) @ self.centres.T
        nearest = product.argmax(axis=1)
        best = product[np.arange(len(chosen)), nearest]
        nearer = np.flatnonzero(best > score[chosen])
        label[chosen[nearer]] = self.number[nearest[nearer]]
        score[chosen[nearer]] = best[nearer]


class Clustering:
    """One clustering on its way: `compare` brings a tile of rows up to date, `advance` then draws or moves centres."""

    def __init__(self, points: Points, clusters: int, seed: int) -> None:
        self.points, self.clusters = points, clusters
        self.finished = False
        count, width = points.wide.shape
        self.label = np.zeros(count, np.int64)
        # x.c - |c|^2 / 2 of each row and its own centre.
        self.score = np.full(count, -np.inf, np.float32)
        self.centres = np.empty((0, width), np.float32)
        # Centres that no row has met in their present place, and the others.
        self._fresh = self._rest = Some(np.empty(0, np.int64), self.centres)
        self._rng = np.random.default_rng(seed)
        self._free = np.ones(count, bool)
        # Labels when centres were last moved; None while they are being drawn.
        self._settled: np.ndarray | None = None
        self._sums = np.zeros((clusters, width - 1))
        self._mass = np.zeros(clusters)
        self._moved = np.zeros(clusters, bool)
        self._steps = 0

    def complete(self) -> None:
        """From the start to the end, where all rows are one tile."""
        self.start()
        while not self.finished:
            self.compare(slice(None), self.points.wide[:])
            self.advance()

    def start(self) -> None:
        """The first centres, each the best of several draws for a sample of the rows."""
        count = len(self.label)
        judges = np.arange(count)
        if count > _JUDGES:
            judges = np.sort(self._rng.choice(count, _JUDGES, replace=False, shuffle=False))
        points = self.points.take(judges)
        draws = 2 + int(math.log(self.clusters))
        taken = _draw(points.weight, 1, self._rng)
        far = points.squared_distances(taken)[:, 0]
        while len(taken) < min(self.clusters, _CAREFUL):
            mass = points.weight * far
            mass[taken] = 0
            if not mass.any():
                break
            drawn = np.unique(_draw(mass, draws, self._rng))
            left = np.minimum(points.squared_distances(drawn), far[:, None])
            best = int(np.argmin(points.totals(left)))
            far = left[:, best]
            taken = np.append(taken, drawn[best])
        self._take(judges[taken])

    @property
    def rows_at_once(self) -> int:
        """Rows of a tile."""
        return ROWS

    def compare(self, part: slice, rows: np.ndarray) -> None:
        """Rows of one tile, with the column of ones, meet the fresh centres."""
        label, score = self.label[part], self.score[part]
        if self._settled is not None:
            stale = np.flatnonzero(self._moved[label])
            own = np.einsum("ij,ij->i", rows[stale], self.centres[label[stale]])
            # Where the own centre came nearer, those that stayed are still farther away.
            lost = stale[own < score[stale]]
            score[stale] = own
            self._rest.meet(rows, lost, label, score)
        self._fresh.meet(rows, np.arange(len(rows)), label, score)

    def advance(self) -> None:
        present = self._present()
        if self.drawing:
            self._take(self._batch(min(self.clusters - present, max(1, present // 2), _BATCH)))
        else:
            self._move()

    @property
    def drawing(self) -> bool:
        """Whether the next centres will be drawn; else they will be moved."""
        return self._present() < self.clusters

    def _present(self) -> int:
        return len(self.centres)

    def _batch(self, count: int) -> np.ndarray:
        """The next centres, at least one and at most `count`."""
        far = np.maximum(self.points.norm - 2.0 * self.score, 0)
        mass = self.points.weight * far * self._free
        if not mass.any():  # all others lie on centres
            return np.flatnonzero(self._free)[:count]
        drawn = _draw(mass, count, self._rng)
        left = far[drawn]
        apart = self.points.take(drawn).squared_distances(np.arange(count))
        limits = (self._rng.random(count) * far[drawn]).tolist()
        accepted: list[int] = []
        for number, row in enumerate(drawn.tolist()):
            if limits[number] < left[number] and self._free[row]:
                accepted.append(row)
                self._free[row] = False
                # Those before have had their turn.
                np.minimum(left[number:], apart[number:, number], out=left[number:])
        return np.array(accepted)

    def _take(self, rows: np.ndarray) -> None:
        self._free[rows] = False
        centres = wide_centres(self.points.rows(rows))
        self._fresh = Some(np.arange(len(self.centres), len(self.centres) + len(rows)), centres)
        self.centres = np.concatenate([self.centres, centres])

    def _move(self) -> None:
        """Centres become the means of their rows; those whose rows are the same stay untouched."""
        before, self._settled = self._settled, self.label.copy()
        if before is None:
            self._add(np.arange(len(self.label)), self.label, 1)
            changed = np.arange(self.clusters)
        else:
            rows = np.flatnonzero(before != self.label)
            self._add(rows, self.label[rows], 1)
            self._add(rows, before[rows], -1)
            changed = np.unique(np.concatenate([self.label[rows], before[rows]]))
        # The centre of an empty cluster stays where it is: rows may come back to it.
        changed = changed[self._mass[changed] > 0]
        self.centres[changed] = wide_centres(self._means(changed))
        self._moved[:] = False
        self._moved[changed] = True
        stayed = np.flatnonzero(~self._moved)
        self._fresh, self._rest = Some(changed, self.centres[changed]), Some(stayed, self.centres[stayed])
        self._steps += 1
        self.finished = not len(changed) or self._steps > STEPS

    def _means(self, clusters: np.ndarray) -> np.ndarray:
        means: np.ndarray = self._sums[clusters] / self._mass[clusters, None]
        return means

    def _add(self, rows: np.ndarray, label: np.ndarray, sign: int) -> None:
        """Add rows to the sums of their clusters, or take them away, in float64."""
        order = np.argsort(label, kind="stable")
        for part in blocks(len(order), _CHUNK):
            chosen, own = rows[order[part]], label[order[part]]
            starts = np.flatnonzero(np.diff(own, prepend=-1))
            self._sums[own[starts]] += sign * self.points.sums(chosen, starts)
            self._mass[own[starts]] += sign * np.add.reduceat(self.points.weight[chosen], starts)


def _draw(mass: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Places drawn with probabilities in proportion to `mass`."""
    reach = np.cumsum(mass)
    drawn = np.searchsorted(reach, rng.random(count) * reach[-1], side="right")
    # Rounding must not move a draw past the last place that can be drawn.
    within: np.ndarray = np.minimum(drawn, np.flatnonzero(mass)[-1])
    return within


def wide_centres(points: np.ndarray) -> np.ndarray:
    """Points as the right factor of the product: -|c|^2 / 2 in one more column."""
    wide = np.empty((len(points), points.shape[1] + 1), np.float32)
    wide[:, :-1] = points
    wide[:, -1] = -0.5 * np.einsum("ij,ij->i", points, points, dtype=np.float64)
    return wide
