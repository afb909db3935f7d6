"""Find every row's nearest rows of its own set by their lower distance bounds, tile by tile."""

from __future__ import annotations

import threading

import numpy as np

from .parallel import blocks, engine_options, run_tiles
from .products import BoundedRows, TileProducts

_UPPER = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_NOBODY = np.iinfo(np.uint64).max


class NearestSearch:
    """The `kept` rows with the smallest lower bounds, for every row. Each tile serves its rows and its columns.

    A neighbour is one 64-bit key, its nearness turned around in the upper half and its row number in the lower, so
    that sorting plain integers puts the nearest first.
    """

    def __init__(self, rows: BoundedRows, kept: int) -> None:
        self.rows = rows
        self.kept = kept
        self.keys = np.full((len(rows), kept), _NOBODY, np.uint64)
        self.threshold = np.full(len(rows), -np.inf, np.float32)
        # While a tile is merged, owner and neighbour share the key with the value, 16 bits each.
        self.tile = min(engine_options().tile, 1 << 16)
        self.blocks = blocks(len(rows), self.tile)
        self.locks = [threading.Lock() for _ in self.blocks]
        self.products = TileProducts(rows, rows, self.tile)
        self.local = threading.local()

    def run(self) -> None:
        count = len(self.blocks)
        # Diagonal tiles first: they give every row a threshold that lets little through later.
        run_tiles(self._diagonal, range(count), "own neighbours")
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        # Tiles that follow each other share no block, so threads seldom wait for each other's merge.
        pairs.sort(key=lambda pair: (pair[1] - pair[0], pair[0] // (pair[1] - pair[0]) % 2))
        run_tiles(self._off_diagonal, pairs, "own neighbours")

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """(nearness h, neighbour) of all that was kept, row by row."""
        return _value(self.keys >> _UPPER), (self.keys & _LOWER).astype(np.int64)

    def _product(self, i: int, j: int) -> np.ndarray:
        if not hasattr(self.local, "mask"):
            self.local.mask = np.empty(min(self.tile, len(self.rows)) ** 2, bool)
        return self.products.tile(self.blocks[i], self.blocks[j])

    def _above(self, tile: np.ndarray, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, column and value of the tile's entries above their threshold."""
        mask = self.local.mask[: tile.size].reshape(tile.shape)
        passed = np.flatnonzero(np.greater(tile, threshold, out=mask))
        row, column = np.divmod(passed, tile.shape[1])
        return row, column, tile.reshape(-1)[passed]

    def _diagonal(self, i: int) -> None:
        tile = self._product(i, i)
        np.fill_diagonal(tile, -np.inf)
        threshold = np.full((len(tile), 1), -np.inf, np.float32)
        if self.kept < len(tile):
            threshold = np.nextafter(np.partition(tile, -self.kept, axis=1)[:, -self.kept, None], threshold)
        row, column, value = self._above(tile, threshold)
        self._merge(i, row, i, column, value)

    def _off_diagonal(self, pair: tuple[int, int]) -> None:
        i, j = pair
        tile = self._product(i, j)
        # A threshold that another thread raises meanwhile would only have let less through.
        row, column, value = self._above(tile, self.threshold[self.blocks[i], None])
        self._merge(i, row, j, column, value)
        row, column, value = self._above(tile, self.threshold[self.blocks[j]])
        self._merge(j, column, i, row, value)

    def _merge(self, i: int, owner: np.ndarray, j: int, other: np.ndarray, value: np.ndarray) -> None:
        """Offer rows `other` of block j as neighbours to rows `owner` of block i."""
        if len(owner) == 0:
            return
        offers = np.bincount(owner)
        keys = (owner.astype(np.uint64) << np.uint64(48)) | (_turned(value) << np.uint64(16)) | other.astype(np.uint64)
        keys.sort()  # by owner, nearest first
        rank = np.arange(len(keys)) - np.repeat(np.cumsum(offers) - offers, offers)
        best = np.flatnonzero(rank < self.kept)
        active = np.flatnonzero(offers)
        place = np.repeat(np.arange(len(active)), offers[active])[best]
        offered = keys[best]
        start = np.uint64(self.blocks[j].start)
        offered = ((offered >> np.uint64(16)) << _UPPER) | ((offered & np.uint64(0xFFFF)) + start)
        rows = active + self.blocks[i].start
        merged = np.full((len(rows), 2 * self.kept), _NOBODY, np.uint64)
        merged[place, self.kept + rank[best]] = offered
        with self.locks[i]:
            merged[:, : self.kept] = self.keys[rows]
            merged.partition(self.kept - 1, axis=1)
            self.keys[rows] = merged[:, : self.kept]
            # Full rows only: an empty place turns back into NaN, which must not become a threshold.
            furthest = merged[:, self.kept - 1]
            full = furthest != _NOBODY
            self.threshold[rows[full]] = _value(furthest[full] >> _UPPER)


def _turned(value: np.ndarray) -> np.ndarray:
    """float32 -> 32-bit integers in the opposite order, so that an ascending sort puts the largest first."""
    bits = value.view(np.uint32)
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return (~ascending).astype(np.uint64)


def _value(turned: np.ndarray) -> np.ndarray:
    """The float32 behind `_turned`."""
    ascending = ~turned.astype(np.uint32)
    bits: np.ndarray = np.where(ascending >> 31, ascending & np.uint32(0x7FFFFFFF), ~ascending)
    return bits.view(np.float32)
