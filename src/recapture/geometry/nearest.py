"""The nearest row of a set for every row of another, exactly, with pairs that do not count and with parts of the set.

Tiles of lower bounds (`products`) are gone through once. Of each row the least upper bound met so far is kept, and so
are the pairs whose lower bound is within it: few, as the first tile already gives a bound. These are computed in
float64 from differences of coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .parallel import blocks, engine_options, run_tiles
from .products import BoundedRows, Frame, TileProducts, exact
from .sparse_rows import Rows

_PAIRS_AT_ONCE = 1 << 18
"""Pairs that wait to be computed: bounds the memory where very many distances are nearly equal."""
_LEAST = np.finfo(np.float32).min

Apart = tuple[np.ndarray, np.ndarray]
"""A number for every row and for every target: those that share one are never each other's nearest."""


class NearestRows(NamedTuple):
    """One line for each part of the targets, one column for each row."""

    place: np.ndarray
    """Of the nearest target, the first of equally near ones; -1 where no target counts."""
    squared: np.ndarray
    """The squared distance to it; infinite where there is none."""


def nearest_rows(
    rows: Rows, targets: Rows, apart: Sequence[Apart] = (), parts: Sequence[np.ndarray | None] = (None,)
) -> NearestRows:
    """The nearest target of every row. Targets should all be different: equal ones cost as much as near ties do.

    parts: which targets count (one bool each), several times over; None: all.
    """
    search = _Nearest(rows, targets, apart, parts)
    run_tiles(search.visit, blocks(len(rows), search.tile), "nearest texts")
    return NearestRows(search.place, search.squared)


class _Nearest:
    def __init__(self, rows: Rows, targets: Rows, apart: Sequence[Apart], parts: Sequence[np.ndarray | None]) -> None:
        self.rows, self.targets, self.apart = rows, targets, apart
        self.left, self.right = _bounded(rows, targets)
        self.margins = self.left.margin / self.left.unit, self.right.margin / self.left.unit
        self.tile = engine_options().tile
        self.columns = blocks(len(targets), self.tile)
        # Of every tile the columns of each part.
        self.chosen = [
            [None if part is None else np.flatnonzero(part[block]) for part in parts] for block in self.columns
        ]
        self.products = TileProducts(self.left, self.right, self.tile)
        self.place = np.full((len(parts), len(rows)), -1)
        self.squared = np.full((len(parts), len(rows)), np.inf)

    def visit(self, block: slice) -> None:
        waiting = [_Waiting() for _ in self.place]
        bound = np.full((len(waiting), block.stop - block.start), np.inf)
        for number, columns in enumerate(self.columns):
            tile = self.products.tile(block, columns)
            for mine, theirs in self.apart:
                tile[mine[block, None] == theirs[columns]] = -np.inf
            for part, chosen in enumerate(self.chosen[number]):
                if chosen is None:
                    self._look(tile, None, block, columns, bound[part], waiting[part])
                elif len(chosen):
                    self._look(tile[:, chosen], chosen, block, columns, bound[part], waiting[part])
                if waiting[part].count > _PAIRS_AT_ONCE:
                    self._settle(part, block, bound[part], waiting[part])
        for part, pairs in enumerate(waiting):
            self._settle(part, block, bound[part], pairs)

    def _look(
        self,
        tile: np.ndarray,
        chosen: np.ndarray | None,
        block: slice,
        columns: slice,
        bound: np.ndarray,
        waiting: _Waiting,
    ) -> None:
        """Lower the rows' bounds by what a tile shows, and keep its pairs that are within them."""
        scale = -2.0 / self.left.unit
        top = tile.max(axis=1).astype(np.float64)
        np.minimum(bound, scale * top + self.margins[0][block] + self.margins[1][columns].max(), out=bound)
        # What does not count is -inf, and so is the threshold of rows that have met nothing that counts.
        threshold = np.maximum(self.left.near(bound), _LEAST)
        row, column = np.nonzero(tile >= threshold[:, None])
        if len(row):
            low = scale * tile[row, column].astype(np.float64)
            waiting.add(row, (column if chosen is None else chosen[column]) + columns.start, low)

    def _settle(self, part: int, block: slice, bound: np.ndarray, waiting: _Waiting) -> None:
        """Exact distances of the pairs that may yet be nearest."""
        row, target, low = waiting.taken()
        near = low <= bound[row]
        row, target = row[near], target[near]
        squared = exact(self.rows, row + block.start, self.targets, target)
        order = np.lexsort((target, squared, row))
        row, target, squared = row[order], target[order], squared[order]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        mine = row[first] + block.start
        # Targets come in rising order, so that of equally near ones the earlier stays.
        better = squared[first] < self.squared[part, mine]
        self.place[part, mine[better]] = target[first[better]]
        self.squared[part, mine[better]] = squared[first[better]]
        np.minimum(bound, self.squared[part, block], out=bound)


class _Waiting:
    """Pairs that are still to be computed."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, row: np.ndarray, target: np.ndarray, low: np.ndarray) -> None:
        self._parts.append((row, target, low))
        self.count += len(row)

    def taken(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All of them, once."""
        nothing = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        parts, self._parts, self.count = [nothing, *self._parts], [], 0
        row, target, low = (np.concatenate(each) for each in zip(*parts, strict=True))
        return row, target, low


def _bounded(rows: Rows, targets: Rows) -> tuple[BoundedRows, BoundedRows]:
    frame = Frame.of(targets, rows)
    right = BoundedRows.of(targets, frame)
    left = right if rows is targets else BoundedRows.of(rows, frame)
    if left.is_exact == right.is_exact:
        return left, right
    # Whole numbers on one side alone: their product with the other side rounds.
    return BoundedRows.of(rows, frame, may_be_exact=False), BoundedRows.of(targets, frame, may_be_exact=False)
