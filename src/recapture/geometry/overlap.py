"""Who lies inside whose spheres, between two sets, for several k at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .devices import accelerator_for, tried_on
from .distinct import DistinctRows
from .neighbours import Neighbours
from .parallel import blocks, engine_options, run_tiles
from .points import PointSet
from .products import BoundedRows, Frame, TileProducts, exact
from .sparse_rows import Rows

# Spheres are closed, with a very small slack so that ties do not depend on the order of summation.
SLACK = 1e-12
_PAIRS_AT_ONCE = 1 << 16
_UNCLEAR_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class Side:
    """Samples of one set against the spheres of the other. Spheres grow with k, so one number tells all k."""

    pairs: np.ndarray
    """For each k: pairs (sphere, sample) with the sample inside the sphere."""
    sample_first: np.ndarray
    """For each sample: position in `ks` from which on some sphere holds it; len(ks) if none does."""
    sphere_first: np.ndarray
    """For each sphere's centre: position in `ks` from which on it holds some sample."""


@dataclass(frozen=True)
class Overlap:
    """The four counts of Mark-Evaluate and the flags behind them, for every k asked for."""

    ks: tuple[int, ...]
    candidates: Side
    """Candidates in the spheres of the reference."""
    references: Side
    """References in the spheres of the candidate."""

    def at(self, k: int) -> OverlapAt:
        position = self.ks.index(k)
        return OverlapAt(
            k=k,
            candidate_inside=self.candidates.sample_first <= position,
            reference_inside=self.references.sample_first <= position,
            reference_covered=self.candidates.sphere_first <= position,
            a=int(self.references.pairs[position]),
            b=int(self.candidates.pairs[position]),
        )


@dataclass(frozen=True)
class OverlapAt:
    """Memberships between reference and candidate at one k."""

    k: int
    candidate_inside: np.ndarray
    """Per candidate: inside at least one sphere of the reference."""
    reference_inside: np.ndarray
    """Per reference sample: inside at least one sphere of the candidate."""
    reference_covered: np.ndarray
    """Per reference sample: its own sphere holds at least one candidate."""
    a: int
    """Pairs with the reference sample inside the candidate's sphere."""
    b: int
    """Pairs with the candidate inside the reference sample's sphere."""

    @property
    def x(self) -> int:
        """Candidates inside the reference's spheres."""
        return int(self.candidate_inside.sum())

    @property
    def y(self) -> int:
        """Reference samples inside the candidate's spheres."""
        return int(self.reference_inside.sum())


def overlap(reference: PointSet, candidate: PointSet, ks: Sequence[int]) -> Overlap:
    """Count memberships both ways in one pass over the tiles of cross distances."""
    ordered = tuple(sorted(set(ks)))
    dense = all(isinstance(points.values, np.ndarray) for points in (reference, candidate))
    device = accelerator_for(len(reference), len(candidate)) if dense else None
    there = tried_on(device, lambda device: _made_there(device, reference, candidate, ordered))
    if there is not None:
        return there
    rows, columns = reference.distinct, candidate.distinct
    spheres = reference.neighbours(ordered[-1]), candidate.neighbours(ordered[-1])
    crossing = Crossing(
        rows.values,
        columns.values,
        _bounded(rows.values, columns.values, spheres[0]),
        Tally.of_bounds(spheres[0], ordered, rows.weight, columns.weight),
        Tally.of_bounds(spheres[1], ordered, columns.weight, rows.weight),
    )
    crossing.run()
    return Overlap(ordered, crossing.candidates.side(rows, columns), crossing.references.side(columns, rows))


def _made_there(device: str, reference: PointSet, candidate: PointSet, ks: tuple[int, ...]) -> Overlap:
    from .device_spheres import overlap_on

    return overlap_on(device, reference, candidate, ks)


def _bounded(reference: Rows, candidate: Rows, neighbours: Neighbours) -> tuple[BoundedRows, BoundedRows]:
    """Both sides in one frame: the reference's own where it serves the candidate, too."""
    frame = neighbours.frame
    if not frame.holds(candidate):
        frame = Frame.of(reference, candidate)
    columns = BoundedRows.of(candidate, frame)
    same_frame = frame is neighbours.frame
    if same_frame and neighbours.bounded.is_exact == columns.is_exact:
        return neighbours.bounded, columns
    # Integers on one side alone: their product with the other side rounds.
    if not columns.is_exact:
        return BoundedRows.of(reference, frame, may_be_exact=False), columns
    rows = neighbours.bounded if same_frame else BoundedRows.of(reference, frame)
    if not rows.is_exact:
        columns = BoundedRows.of(candidate, frame, may_be_exact=False)
    return rows, columns


class Crossing:
    """Cross distances, reference rows by candidate columns, all of them different."""

    def __init__(
        self,
        reference: Rows,
        candidate: Rows,
        bounded: tuple[BoundedRows, BoundedRows],
        candidates: Tally,
        references: Tally,
    ) -> None:
        """bounded: both, in one frame. candidates, references: what to count, in the reference's and in the
        candidate's spheres.
        """
        self.reference, self.candidate = reference, candidate
        self.candidates, self.references = candidates, references
        self.rows, self.columns = bounded
        self.unit = self.rows.unit
        self.row_margin, self.column_margin = self.rows.margin / self.unit, self.columns.margin / self.unit
        self.row_threshold = self.rows.near(self.candidates.largest[:, -1])
        self.column_threshold = self.columns.near(self.references.largest[:, -1])
        self.tile = engine_options().tile
        self.products = TileProducts(self.rows, self.columns, self.tile)
        self.local = threading.local()
        self.lock = threading.Lock()
        self.unclear: list[tuple[np.ndarray, np.ndarray]] = []
        self.unclear_count = 0

    def run(self) -> None:
        rows, columns = blocks(len(self.rows), self.tile), blocks(len(self.columns), self.tile)
        run_tiles(self.visit, [(i, j) for i in rows for j in columns], "overlap")
        self._settle(self.unclear)

    def visit(self, where: tuple[slice, slice]) -> None:
        i, j = where
        local = self.local
        if not hasattr(local, "masks"):
            local.masks = np.empty((2, min(self.tile, len(self.rows)) * min(self.tile, len(self.columns))), bool)
        tile = self.products.tile(i, j)
        near, also = (mask[: tile.size].reshape(tile.shape) for mask in local.masks)
        np.greater_equal(tile, self.row_threshold[i, None], out=near)
        np.greater_equal(tile, self.column_threshold[j], out=also)
        passed = np.flatnonzero(np.logical_or(near, also, out=near))
        for start in range(0, len(passed), _PAIRS_AT_ONCE):
            part = passed[start : start + _PAIRS_AT_ONCE]
            row, column = np.divmod(part, tile.shape[1])
            self._decide(row + i.start, column + j.start, tile.reshape(-1)[part])

    def _decide(self, row: np.ndarray, column: np.ndarray, h: np.ndarray) -> None:
        """From which k on does either sphere of a pair hold the other sample, as far as bounds tell?"""
        low = (-2.0 / self.unit) * h.astype(np.float64)
        high = low + (self.row_margin[row] + self.column_margin[column])
        in_reference = self.candidates.earliest(row, low)
        in_candidate = self.references.earliest(column, low)
        unclear = self.candidates.unclear(row, high, in_reference)
        unclear |= self.references.unclear(column, high, in_candidate)
        clear = ~unclear
        self.candidates.add(row[clear], column[clear], in_reference[clear])
        self.references.add(column[clear], row[clear], in_candidate[clear])
        self._postpone(row[unclear], column[unclear])

    def _postpone(self, row: np.ndarray, column: np.ndarray) -> None:
        """Keep unclear pairs until there are many: threads that settle a few at a time wait for each other."""
        with self.lock:
            self.unclear.append((row, column))
            self.unclear_count += len(row)
            if self.unclear_count < _UNCLEAR_AT_ONCE:
                return
            waiting, self.unclear, self.unclear_count = self.unclear, [], 0
        self._settle(waiting)

    def _settle(self, waiting: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Exact distances for the pairs that bounds leave open."""
        if not waiting:
            return
        row, column = (np.concatenate(part) for part in zip(*waiting, strict=True))
        squared = exact(self.reference, row, self.candidate, column)
        self.candidates.add(row, column, self.candidates.settle(row, squared))
        self.references.add(column, row, self.references.settle(column, squared))


class Tally:
    """Running totals for one direction, over distinct rows weighted by how often they occur."""

    def __init__(
        self,
        ks: Sequence[int],
        at_least: np.ndarray,
        at_most: np.ndarray,
        weights: tuple[np.ndarray, np.ndarray],
        exact_at: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        """at_least, at_most: (spheres, ks) bounds of squared radii. weights: of spheres and of samples. exact_at: exact
        squared radii of listed spheres and ks; None where the bounds are exact already.
        """
        self.ks = np.array(ks)
        self.smallest, self.largest = at_least * (1 + SLACK), at_most * (1 + SLACK)
        self.exact_at = exact_at
        self.sphere_weight, self.sample_weight = weights
        self.pairs = np.zeros(len(ks), np.int64)
        self.sphere_first = np.full(len(self.sphere_weight), len(ks), np.int32)
        self.sample_first = np.full(len(self.sample_weight), len(ks), np.int32)
        self.lock = threading.Lock()

    @classmethod
    def of_bounds(
        cls, neighbours: Neighbours, ks: tuple[int, ...], of_spheres: np.ndarray, of_samples: np.ndarray
    ) -> Tally:
        """With radii that are exact only where a decision depends on them."""
        columns = np.array(ks) - 1
        at_least, at_most = (
            np.ascontiguousarray(each[:, columns]) for each in (neighbours.at_least, neighbours.at_most)
        )
        return cls(ks, at_least, at_most, (of_spheres, of_samples), neighbours.exact_at)

    def earliest(self, sphere: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Position of the first k whose sphere may reach this far."""
        return _count_below(self.largest, sphere, squared)

    def unclear(self, sphere: np.ndarray, squared: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Whether the sphere of the k at this position may yet fall short of that distance."""
        last = len(self.ks) - 1
        short: np.ndarray = self.smallest[sphere, np.minimum(position, last)] < squared
        return short & (position <= last)

    def settle(self, sphere: np.ndarray, squared: np.ndarray) -> np.ndarray:
        """Position of the first k whose sphere reaches an exact distance, with exact radii where bounds do not tell."""
        first = self.earliest(sphere, squared)
        if self.exact_at is None:
            return first
        open_pairs = np.flatnonzero(self.unclear(sphere, squared, first))
        while len(open_pairs):
            radii = self.exact_at(sphere[open_pairs], self.ks[first[open_pairs]])
            open_pairs = open_pairs[squared[open_pairs] > radii * (1 + SLACK)]
            first[open_pairs] += 1
            open_pairs = open_pairs[self.unclear(sphere[open_pairs], squared[open_pairs], first[open_pairs])]
        return first

    def add(self, sphere: np.ndarray, sample: np.ndarray, first: np.ndarray) -> None:
        inside = first < len(self.ks)
        sphere, sample, first = sphere[inside], sample[inside], first[inside]
        weight = self.sphere_weight[sphere] * self.sample_weight[sample]
        # float64 adds whole numbers exactly up to 2^53.
        counted = np.bincount(first, weights=weight, minlength=len(self.ks)).astype(np.int64)
        with self.lock:
            self.pairs += counted
            np.minimum.at(self.sphere_first, sphere, first)
            np.minimum.at(self.sample_first, sample, first)

    def side(self, spheres: DistinctRows, samples: DistinctRows) -> Side:
        return Side(
            pairs=np.cumsum(self.pairs),
            sample_first=self.sample_first[samples.inverse],
            sphere_first=self.sphere_first[spheres.inverse],
        )


def _count_below(limits: np.ndarray, row: np.ndarray, squared: np.ndarray) -> np.ndarray:
    """How many of the ascending limits[row] are below `squared`, by bisection."""
    flat, width = limits.reshape(-1), limits.shape[1]
    base = row * width
    count = np.zeros(len(row), np.int32)
    step = 1 << (width.bit_length() - 1)
    while step:
        probe = count + step
        below = flat[base + np.minimum(probe, width) - 1] < squared
        count = np.where(below & (probe <= width), probe, count)
        step >>= 1
    return count
