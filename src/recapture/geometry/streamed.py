"""Radii and memberships of sets that need not fit into memory: a few rows (a panel) against all others in slabs.

The bounds, tiles and exact distances are those of the engine in memory (`search`, `overlap`). Whatever is held at once
is a panel, a slab and tiles of their products, beside a few numbers for every row. Radii are made exact at once: a few
distances for every row, where the products are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .devices import accelerator_for, tried_on
from .distinct import Folding
from .neighbours import kth_over_samples
from .overlap import Crossing, Tally
from .parallel import blocks, run_tiles
from .products import EXACT_NORM, BoundedRows, Frame, all_whole, exact, largest
from .search import PanelSearch

_BYTES_AT_ONCE = 1 << 25
"""Of a panel or a slab, as the caller's rows or as rows made ready for products."""
_MOST_ROWS = 1 << 14
_LEAST_ROWS = 64
_QUERIES = 256
_TARGETS = 2048
"""Rows and columns of the products in float64, which settle near ties."""


class StreamedRows:
    """The different rows of a set, which may be an array on disk; they are taken out a few at a time."""

    def __init__(self, values: np.ndarray, folding: Folding) -> None:
        """values: an array, memory-mapped or not; folding: of its rows."""
        self.values = np.asarray(values)  # a view: np.memmap itself makes every slice slow
        self.weight = folding.weight
        self.all_different = folding.all_different
        self._places = None if folding.all_different else folding.first

    def __len__(self) -> int:
        return len(self.weight)

    def taken(self, part: slice) -> np.ndarray:
        """A copy of some rows."""
        return np.array(self.values[part]) if self._places is None else self.values[self._places[part]]

    def take_into(self, part: slice, room: np.ndarray) -> None:
        """The same, into an array that is there, which may be of another type."""
        if self._places is None:
            np.copyto(room, self.values[part])
        elif room.dtype == self.values.dtype:
            np.take(self.values, self._places[part], axis=0, out=room, mode="clip")  # "raise" would copy once more
        else:
            np.copyto(room, self.taken(part))

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Where in `values` rows stand first."""
        return rows if self._places is None else self._places[rows]

    def weights(self, rows: slice | np.ndarray) -> np.ndarray | None:
        """How often rows occur; None where all rows of the set are different."""
        return None if self.all_different else self.weight[rows]

    @cached_property
    def frame(self) -> Frame:
        return Frame.of(self.values)

    @cached_property
    def whole(self) -> bool:
        """Whether there are only whole numbers."""
        return all_whole(self.values)

    @cached_property
    def reach(self) -> float:
        return largest(self.values)

    @property
    def at_once(self) -> int:
        """How many rows make a panel or a slab."""
        row: int = self.values.shape[1] * max(4, self.values.dtype.itemsize)
        return max(_LEAST_ROWS, min(_MOST_ROWS, _BYTES_AT_ONCE // row))

    def parts(self, rows: slice) -> Iterator[slice]:
        """Some rows, a panel or a slab at a time."""
        for part in blocks(rows.stop - rows.start, self.at_once):
            yield slice(rows.start + part.start, rows.start + part.stop)

    @property
    def everything(self) -> slice:
        return slice(0, len(self))


def _without_margin(frame: Frame, *sides: StreamedRows) -> bool:
    """Whether all rows are whole numbers so small that no product rounds. It is decided for whole sets: a panel that
    needs no margin and a slab that does would not go together."""
    if frame.scale != 1 or not all(side.whole for side in sides):
        return False
    furthest = max(side.reach for side in sides) + float(np.abs(frame.centre).max())
    return int(sides[0].values.shape[1]) * furthest**2 <= EXACT_NORM[np.float32]


def squared_radii(rows: StreamedRows, part: slice, ks: Sequence[int]) -> np.ndarray:
    """(rows of the part, ks) squared distance of each to its k-th nearest other sample of the whole set, exactly."""
    from . import device_streamed

    there = tried_on(
        accelerator_for(part.stop - part.start, len(rows)),
        lambda device: device_streamed.device_radii(rows, part, ks, device),
    )
    if there is not None:
        return there
    found = np.zeros((part.stop - part.start, len(ks)))
    if len(rows) > 1:
        for panel in rows.parts(part):
            found[panel.start - part.start : panel.stop - part.start] = _Panel(rows, panel, ks).radii()
    return found


class _Panel:
    """A few rows of a set among all of it."""

    def __init__(self, rows: StreamedRows, panel: slice, ks: Sequence[int]) -> None:
        self.rows, self.panel, self.ks = rows, panel, ks
        self.own = rows.taken(panel)
        self.may_be_exact = _without_margin(rows.frame, rows)

    def radii(self) -> np.ndarray:
        rows, panel, k_max = self.rows, self.panel, self.ks[-1]
        bounded = BoundedRows.of(self.own, rows.frame, may_be_exact=self.may_be_exact)
        # A few more than asked for, so that close calls can be settled without searching again.
        kept = min(len(rows) - 1, k_max if bounded.is_exact else k_max + 3 + k_max // 16)
        search = PanelSearch(bounded, kept, panel.start)
        for slab in rows.parts(rows.everything):
            there = BoundedRows.of(rows.taken(slab), rows.frame, may_be_exact=self.may_be_exact)
            search.look_at(there, slab.start)
        nearness, neighbour = search.found()
        found = np.empty((len(self.own), len(self.ks)))
        unsure = np.zeros(len(self.own), bool)

        def settle(part: slice) -> None:
            near = neighbour[part]
            owner = np.repeat(np.arange(part.start, part.stop), kept)
            squared = exact(self.own, owner, rows.values, rows.places(near.ravel())).reshape(near.shape)
            found[part] = kth_over_samples(squared, self._weights(part), rows.weights(near), self.ks)
            # Whatever was left out is at least as far as the furthest lower bound kept.
            furthest = (-2.0 / bounded.unit) * nearness[part].min(axis=1).astype(np.float64)
            unsure[part] = furthest < found[part, -1]

        run_tiles(settle, blocks(len(found), 256), "exact radii")
        if kept < len(rows) - 1:
            again = np.flatnonzero(unsure)

            def search_again(part: slice) -> None:
                found[again[part]] = self._search_again(again[part], found[again[part], -1])

            run_tiles(search_again, blocks(len(again), _QUERIES), "close neighbours")
        return found

    def _weights(self, part: slice | np.ndarray) -> np.ndarray | None:
        """How often rows of the panel occur."""
        own = self.rows.weights(self.panel)
        return None if own is None else own[part]

    def _search_again(self, which: np.ndarray, bound: np.ndarray) -> np.ndarray:
        """Radii of rows whose neighbours nearly tie in float32: from float64 products, then exactly. bound: squared
        radii are at most this."""
        rows, k_max = self.rows, self.ks[-1]
        own = self.own[which]
        queries = BoundedRows.of(own, rows.frame, np.float64, may_be_exact=False)
        left, threshold = queries.left_factor(), queries.near(bound)[:, None]
        # The k-th nearest sample is among the k nearest different rows.
        squared, weight = np.full((len(which), k_max), np.inf), np.ones((len(which), k_max), np.int64)
        for block in blocks(len(rows), _TARGETS):
            values = rows.taken(block)
            targets = BoundedRows.of(values, rows.frame, np.float64, may_be_exact=False)
            near = targets.products_with(left) >= threshold
            itself = which + (self.panel.start - block.start)
            there = np.flatnonzero((itself >= 0) & (itself < near.shape[1]))
            near[there, itself[there]] = False
            row, column = np.nonzero(near)
            if len(row):
                distance = exact(own, row, values, column)
                _keep_nearest(squared, weight, row, distance, rows.weight[block][column])
        return kth_over_samples(squared, self._weights(which), None if rows.all_different else weight, self.ks)


def _keep_nearest(
    squared: np.ndarray, weight: np.ndarray, row: np.ndarray, distance: np.ndarray, occurs: np.ndarray
) -> None:
    """Let new distances of listed rows take the places of larger ones."""
    kept = squared.shape[1]
    order = np.lexsort((distance, row))
    row, distance, occurs = row[order], distance[order], occurs[order]
    offers = np.bincount(row, minlength=len(squared))
    rank = np.arange(len(row)) - np.repeat(np.cumsum(offers) - offers, offers)
    best = np.flatnonzero(rank < kept)
    both = np.concatenate([squared, np.full_like(squared, np.inf)], axis=1)
    weights = np.concatenate([weight, np.ones_like(weight)], axis=1)
    both[row[best], kept + rank[best]], weights[row[best], kept + rank[best]] = distance[best], occurs[best]
    nearest = np.argsort(both, axis=1, kind="stable")[:, :kept]
    squared[:] = np.take_along_axis(both, nearest, axis=1)
    weight[:] = np.take_along_axis(weights, nearest, axis=1)


class Memberships(NamedTuple):
    """What some reference rows and all candidate rows share; rows are the different ones of each side.

    A `first` is a position in `ks` from which on something holds, len(ks) where it never does (see `overlap.Side`).
    """

    candidate_pairs: np.ndarray
    """For each position: pairs with the candidate in the reference's sphere from this k on (not yet summed up)."""
    reference_pairs: np.ndarray
    """The same with the reference in the candidate's sphere."""
    covered_first: np.ndarray
    """Of the reference rows: their sphere holds a candidate."""
    reference_first: np.ndarray
    """Of the reference rows: a candidate's sphere holds them."""
    candidate_first: np.ndarray
    """Of all candidate rows: the sphere of one of these references holds them."""
    covering_first: np.ndarray
    """Of all candidate rows: their sphere holds one of these references."""


def memberships(
    reference: StreamedRows,
    candidate: StreamedRows,
    part: slice,
    ks: Sequence[int],
    reference_radii: np.ndarray,
    candidate_radii: np.ndarray,
) -> Memberships:
    """Some reference rows against all candidate rows. Radii are squared, (rows, ks); the reference's of the part."""
    from . import device_streamed

    there = tried_on(
        accelerator_for(part.stop - part.start, len(candidate)),
        lambda device: device_streamed.device_memberships(
            reference, candidate, part, ks, reference_radii, candidate_radii, device
        ),
    )
    if there is not None:
        return there
    frame = reference.frame
    if not frame.holds_reach(candidate.reach):
        frame = Frame.of(reference.values, candidate.values)
    may_be_exact = _without_margin(frame, reference, candidate)
    count, never = part.stop - part.start, len(ks)
    found = Memberships(
        *np.zeros((2, len(ks)), np.int64),
        *np.full((2, count), never, np.int32),
        *np.full((2, len(candidate)), never, np.int32),
    )
    for panel in reference.parts(part):
        rows, here = reference.taken(panel), slice(panel.start - part.start, panel.stop - part.start)
        bounded = BoundedRows.of(rows, frame, may_be_exact=may_be_exact)
        for slab in candidate.parts(candidate.everything):
            columns = candidate.taken(slab)
            weights = reference.weight[panel], candidate.weight[slab]
            crossing = Crossing(
                rows,
                columns,
                (bounded, BoundedRows.of(columns, frame, may_be_exact=may_be_exact)),
                Tally(ks, reference_radii[here], reference_radii[here], weights),
                Tally(ks, candidate_radii[slab], candidate_radii[slab], weights[::-1]),
            )
            crossing.run()
            found.candidate_pairs[:] += crossing.candidates.pairs
            found.reference_pairs[:] += crossing.references.pairs
            for mine, theirs, where in (
                (found.covered_first, crossing.candidates.sphere_first, here),
                (found.reference_first, crossing.references.sample_first, here),
                (found.candidate_first, crossing.candidates.sample_first, slab),
                (found.covering_first, crossing.references.sphere_first, slab),
            ):
                np.minimum(mine[where], theirs, out=mine[where])
    return found
