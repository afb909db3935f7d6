"""Steps of several clusterings on the grid at once, each with few centres.

A tile of rows meets the centres of all clusterings in one product, decides, and adds up what its clusters gain. Threads
wait for each other at every call of Python, so each is for all clusterings. A centre ahead of all others by two margins
is the nearest. Rows for which that does not tell meet the centres in float64. Sums on the grid are exact in any order,
so nothing depends on tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .grid_kmeans import GridClustering
from .lloyd import STEPS
from .parallel import blocks, run_tiles
from .products import finite_products
from .scratch import Scratch, ScratchPool

FEW = 256
"""Centres of a clustering: their numbers take one byte."""
_ROWS = 1920
"""Rows of a tile: of fewer, calls take as long as the work."""
_COLUMNS = 512
"""Centres of one product, but for those of one clustering."""


def move_together(runs: Sequence[GridClustering]) -> None:
    """Lloyd's steps to their end, for clusterings that have drawn all their centres."""
    for part in blocks(len(runs), max(1, _COLUMNS // runs[0].clusters)):
        _Together(runs[part]).complete()


class _Listed(NamedTuple):
    """Some rows of a tile for each of some clusterings, filled up to one number of rows."""

    runs: slice
    run: np.ndarray
    """Counted from the first of them."""
    row: np.ndarray
    slot: np.ndarray
    places: np.ndarray
    """(clusterings, slots) the row in each slot, 0 in those that are not filled."""

    @classmethod
    def of(cls, chosen: np.ndarray) -> Iterator[_Listed]:
        """As many clusterings at a time as take the memory of one tile. chosen: (clusterings, rows)"""
        counts = np.count_nonzero(chosen, axis=1)
        most = int(counts.max())
        if not most:
            return
        for runs in blocks(len(chosen), max(1, chosen.shape[1] // most)):
            run, row = np.nonzero(chosen[runs])
            slot = np.arange(len(run)) - np.repeat(np.cumsum(counts[runs]) - counts[runs], counts[runs])
            places = np.zeros((len(counts[runs]), most), np.intp)
            places[run, slot] = row
            yield cls(runs, run, row, slot, places)


class _TileScratch(Scratch):
    def __init__(self) -> None:
        super().__init__()
        self.gains: np.ndarray | None = None
        """What clusters gained in the tiles that were here."""


class _Together:
    """Clusterings side by side: along the first axis of arrays."""

    def __init__(self, runs: Sequence[GridClustering]) -> None:
        self._runs = list(runs)
        self._points = runs[0].points
        # As float32 numbers are: margins have room for that rounding.
        self._margin = (2 * runs[0].grid.margin).astype(np.float32)
        self._label = np.array([run.label for run in runs], np.uint8)
        self._numbers = np.arange(runs[0].clusters, dtype=np.uint8)[:, None]
        self._is_first = True
        self._pool = ScratchPool(_TileScratch)

    def complete(self) -> None:
        tiles = blocks(len(self._margin), _ROWS)
        for _ in range(STEPS + 1):
            self._centres = np.stack([run.centres for run in self._runs])
            self._exact_centres = np.stack([run.exact_centres.T for run in self._runs])
            run_tiles(self._compare, tiles, "clustering")
            self._move()
            self._is_first = False
            if not self._runs:
                break

    def _compare(self, tile: slice) -> None:
        """Rows of a tile go where they belong."""
        rows, label = self._points.wide[tile], self._label[:, tile]
        with self._pool.one() as scratch:
            before = label.copy()
            nearest, alone = self._nearest(rows, self._margin[tile], scratch)
            np.copyto(label, nearest, where=alone)
            for listed in _Listed.of(~alone):
                self._decide(rows, label, before, listed, scratch)
            if self._is_first:
                self._add_all(rows, self._points.weight[tile], label, scratch)
                return
            for listed in _Listed.of(label != before):
                self._exchange(rows, self._points.weight[tile], label, before, listed, scratch)

    def _nearest(self, rows: np.ndarray, margin: np.ndarray, scratch: _TileScratch) -> tuple[np.ndarray, np.ndarray]:
        """The centre that is nearest, and whether it surely is."""
        shape = *self._centres.shape[:2], len(rows)
        product = scratch.array("product", shape, np.float32)
        with finite_products():
            np.matmul(self._centres.reshape(-1, rows.shape[1]), rows.T, out=product.reshape(-1, len(rows)))
        limit = product.max(axis=1, keepdims=True)
        limit -= margin
        near = np.greater_equal(product, limit, out=scratch.array("near", shape, bool)).view(np.uint8)
        alone = np.add.reduce(near, axis=1, dtype=np.uint8) == 1
        near *= self._numbers  # of those that are near
        return np.add.reduce(near, axis=1, dtype=np.uint8), alone

    def _decide(
        self, rows: np.ndarray, label: np.ndarray, before: np.ndarray, listed: _Listed, scratch: _TileScratch
    ) -> None:
        """The own centre where none is nearer, else the first of the nearest."""
        wide = scratch.doubled(scratch.taken(rows, listed.places))
        scores = np.matmul(wide, self._exact_centres[listed.runs])[listed.run, listed.slot]
        every, nearest = np.arange(len(scores)), scores.argmax(axis=1)
        own = before[listed.runs][listed.run, listed.row]
        stays = scores[every, own] == scores[every, nearest]
        label[listed.runs][listed.run, listed.row] = np.where(stays, own, nearest)

    def _add_all(self, rows: np.ndarray, weight: np.ndarray, label: np.ndarray, scratch: _TileScratch) -> None:
        signed = scratch.zeros("signed", (*self._centres.shape[:2], len(rows)))
        np.put_along_axis(signed, label[:, None].astype(np.intp), weight, axis=1)
        self._gain(slice(None), signed, scratch.doubled(rows), scratch)

    def _exchange(
        self,
        rows: np.ndarray,
        weight: np.ndarray,
        label: np.ndarray,
        before: np.ndarray,
        listed: _Listed,
        scratch: _TileScratch,
    ) -> None:
        """Rows that changed come to one cluster and leave another."""
        signed = scratch.zeros("signed", (len(listed.places), len(self._numbers), listed.places.shape[1]))
        signed[listed.run, label[listed.runs][listed.run, listed.row], listed.slot] = weight[listed.row]
        signed[listed.run, before[listed.runs][listed.run, listed.row], listed.slot] = -weight[listed.row]
        self._gain(listed.runs, signed, scratch.doubled(scratch.taken(rows, listed.places)), scratch)

    def _gain(self, runs: slice, signed: np.ndarray, wide: np.ndarray, scratch: _TileScratch) -> None:
        """Sums of clusters gain rows, and by the ones of rows their weights."""
        if scratch.gains is None:
            scratch.gains = np.zeros(self._centres.shape)
        gained = scratch.array("gained", (*signed.shape[:2], wide.shape[-1]))
        scratch.gains[runs] += np.matmul(signed, wide, out=gained)

    def _move(self) -> None:
        """Centres become the means of their rows. A clustering whose sums gained nothing is finished."""
        gains = np.zeros(self._centres.shape)
        for scratch in self._pool.made:
            if scratch.gains is not None:
                gains += scratch.gains
                scratch.gains = None
        going: np.ndarray = np.any(gains, axis=(1, 2))
        for run, label, gained in zip(self._runs, self._label, gains, strict=True):
            run.label[:] = label
            run.move_by(gained)
        self._runs = [run for run, goes_on in zip(self._runs, going, strict=True) if goes_on]
        self._label = self._label[going]
