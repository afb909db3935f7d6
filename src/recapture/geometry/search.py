"""Find every row's nearest rows of its own set by their lower distance bounds, tile by tile."""

from __future__ import annotations

import threading

import numpy as np

from .parallel import blocks, engine_options, run_tiles
from .products import BoundedRows, TileProducts

_UPPER = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_NOBODY = np.iinfo(np.uint64).max


class KeptNearest:
    """The `kept` neighbours with the smallest lower bounds, for every row, of all that tiles have offered.

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
        self.local = threading.local()

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """(nearness h, neighbour) of all that was kept, row by row."""
        return _value(self.keys >> _UPPER), (self.keys & _LOWER).astype(np.int64)

    def _above(self, tile: np.ndarray, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, column and value of the tile's entries above their threshold."""
        if len(getattr(self.local, "mask", ())) < tile.size:
            self.local.mask = np.empty(tile.size, bool)
        mask = self.local.mask[: tile.size].reshape(tile.shape)
        passed = np.flatnonzero(np.greater(tile, threshold, out=mask))
        row, column = np.divmod(passed, tile.shape[1])
        return row, column, tile.reshape(-1)[passed]

    def _first_threshold(self, tile: np.ndarray) -> np.ndarray:
        """What a row's first tile lets through: no more than is kept, but for ties."""
        threshold = np.full((len(tile), 1), -np.inf, np.float32)
        if self.kept < tile.shape[1]:
            threshold = np.nextafter(np.partition(tile, -self.kept, axis=1)[:, -self.kept, None], threshold)
        return threshold

    def _merge(self, i: int, owner: np.ndarray, start: int, other: np.ndarray, value: np.ndarray) -> None:
        """Offer rows `other`, counted from `start`, as neighbours to rows `owner` of block i."""
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
        offered = ((offered >> np.uint64(16)) << _UPPER) | ((offered & np.uint64(0xFFFF)) + np.uint64(start))
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


class NearestSearch(KeptNearest):
    """Nearest rows of the same set. Each tile serves its rows and its columns."""

    def __init__(self, rows: BoundedRows, kept: int) -> None:
        super().__init__(rows, kept)
        self.products = TileProducts(rows, rows, self.tile)

    def run(self) -> None:
        count = len(self.blocks)
        # Diagonal tiles first: they give every row a threshold that lets little through later.
        run_tiles(self._diagonal, range(count), "own neighbours")
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        # Tiles that follow each other share no block, so threads seldom wait for each other's merge.
        pairs.sort(key=lambda pair: (pair[1] - pair[0], pair[0] // (pair[1] - pair[0]) % 2))
        run_tiles(self._off_diagonal, pairs, "own neighbours")

    def _diagonal(self, i: int) -> None:
        tile = self.products.tile(self.blocks[i], self.blocks[i])
        np.fill_diagonal(tile, -np.inf)
        row, column, value = self._above(tile, self._first_threshold(tile))
        self._merge(i, row, self.blocks[i].start, column, value)

    def _off_diagonal(self, pair: tuple[int, int]) -> None:
        i, j = pair
        tile = self.products.tile(self.blocks[i], self.blocks[j])
        # A threshold that another thread raises meanwhile would only have let less through.
        row, column, value = self._above(tile, self.threshold[self.blocks[i], None])
        self._merge(i, row, self.blocks[j].start, column, value)
        row, column, value = self._above(tile, self.threshold[self.blocks[j]])
        self._merge(j, column, self.blocks[i].start, row, value)


class PanelSearch(KeptNearest):
    """Nearest rows of a set that passes by in slabs, for a few rows of the same set (a panel)."""

    def __init__(self, rows: BoundedRows, kept: int, place: int) -> None:
        """place: of the panel's first row in the set."""
        super().__init__(rows, kept)
        self.place = place

    def look_at(self, slab: BoundedRows, start: int) -> None:
        """start: the place of the slab's first row in the set."""
        products = TileProducts(self.rows, slab, self.tile)

        def visit(where: tuple[int, slice]) -> None:
            i, j = where
            tile = products.tile(self.blocks[i], j)
            # A row is not its own neighbour.
            itself = np.arange(self.blocks[i].start, self.blocks[i].stop) + (self.place - start - j.start)
            there = np.flatnonzero((itself >= 0) & (itself < tile.shape[1]))
            tile[there, itself[there]] = -np.inf
            threshold = self.threshold[self.blocks[i], None]
            if np.isneginf(threshold).any():
                threshold = np.maximum(threshold, self._first_threshold(tile))
            row, column, value = self._above(tile, threshold)
            self._merge(i, row, start + j.start, column, value)

        # Tiles that follow each other serve different rows, so threads seldom wait for each other's merge.
        tiles = [(i, j) for j in blocks(len(slab), self.tile) for i in range(len(self.blocks))]
        run_tiles(visit, tiles, "own neighbours")


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
