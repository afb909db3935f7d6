"""Sums of a Gaussian kernel under many labellings of pooled samples.

A labelling's sums are quadratic forms of its 0/1 vectors in the kernel matrix of the pooled samples, so one product
with a tile of that matrix serves a whole batch of labellings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .devices import accelerator_for, tried_on
from .distinct import distinct_rows
from .kernels import Centres, gaussian, squared_distances
from .labels import Labels
from .parallel import blocks, engine_options, run_tiles
from .products import TileProducts, whole_products
from .sparse_rows import Rows, together

if TYPE_CHECKING:
    from .device_kernels import DevicePooledKernel

# Bytes of kernel that are kept between batches of labellings; a larger kernel is computed again for each batch.
_HELD = 256 * 2**20
# Numbers in the product of a batch's labels with a tile: what stays near the core.
_CELLS = 2**19
# Bytes of partial sums (three per labelling and strip of the kernel) in one pass over the kernel.
_PARTIAL = 64 * 2**20


class Sums(NamedTuple):
    """Sums of the kernel over ordered pairs of different samples, one number per labelling."""

    within_reference: np.ndarray
    within_candidate: np.ndarray
    across: np.ndarray
    """Over (reference, candidate): each pair once."""


class _Tile(NamedTuple):
    rows: slice
    columns: slice
    kernel: np.ndarray
    times: int
    """How often the tile occurs in the whole matrix: 2 beyond the diagonal, which is symmetric."""


class PooledKernel:
    """The kernel matrix of pooled samples (references first), and its sums under any labellings of them.

    Equal samples are folded: a labelling counts how often it takes each different row, so that labellings which differ
    only in equal samples have equal sums. The matrix is kept while it is small; else its tiles are made anew for each
    batch of labellings, so batches should be large.
    """

    def __init__(self, reference: Rows, candidate: Rows, centres: Centres, bandwidth: float) -> None:
        self._rows = distinct_rows(together([reference, candidate]))
        # In order of first appearance, so that the reference's rows come first.
        self._cut = int(self._rows.inverse[: len(reference)].max()) + 1
        self._centres, self._bandwidth = centres, bandwidth
        count = len(self._rows.weight)
        # Several strips, so that there is work for several cores; one where a thread would cost more than it saves.
        self._width = engine_options().tile
        self._strips = blocks(count, min(self._width, max(128, -(-count // 8))))
        self._whole: TileProducts | None = None
        self._kept: list[list[_Tile]] | None = None
        device = accelerator_for(count, count) if isinstance(self._rows.values, np.ndarray) else None
        self._there = tried_on(device, self._go)
        if self._there is None:
            self._stay()

    def _go(self, device: str) -> DevicePooledKernel:
        from .device_kernels import DevicePooledKernel

        return DevicePooledKernel(device, self._rows, self._cut, self._centres, self._bandwidth)

    def _stay(self) -> None:
        """Make tiles here, and keep them while they are small."""
        self._there, count = None, len(self._rows.weight)
        self._whole = whole_products(self._rows.values, self._rows.values, self._width)
        if count * (count + 1) // 2 * 8 <= _HELD:
            kept: list[list[_Tile]] = [[] for _ in self._strips]

            def fill(number: int) -> None:
                kept[number] = list(self._make(number))

            run_tiles(fill, range(len(kept)), "kernel")
            self._kept = kept

    def sums(self, labels: Labels) -> Sums:
        passes = blocks(len(labels), max(1, _PARTIAL // (24 * len(self._strips))))
        if not labels.even:  # the smaller side is not always the same one
            both = self._counts(labels.reference), self._counts(labels.candidate)
            return Sums(*np.concatenate([self._sums(both[0][part], both[1][part]) for part in passes], axis=1))
        n, m = labels.sizes
        # The larger side follows from the smaller one and the total; the other way round digits would be lost.
        sides = (labels.candidate, labels.reference) if m <= n else (labels.reference, labels.candidate)
        few, many = self._counts(sides[0]), None if n + m == len(self._rows.inverse) else self._counts(sides[1])
        parts = [self._sums(few[part], None if many is None else many[part]) for part in passes]
        within_few, within_many, across = np.concatenate(parts, axis=1)
        return Sums(within_many, within_few, across) if m <= n else Sums(within_few, within_many, across)

    def _make(self, number: int) -> Iterable[_Tile]:
        """The tiles of one strip, from the diagonal to the right."""
        rows = self._strips[number]
        diagonal = self._block(rows, rows)
        np.fill_diagonal(diagonal, 0)  # pairs of equal samples are counted apart, in whole numbers
        yield _Tile(rows, rows, diagonal, 1)
        count = len(self._rows.weight)
        for start in range(rows.stop, count, self._width):
            columns = slice(start, min(start + self._width, count))
            yield _Tile(rows, columns, self._block(rows, columns), 2)

    def _block(self, rows: slice, columns: slice) -> np.ndarray:
        if self._whole is not None:
            return gaussian(self._whole.tile(rows, columns).astype(np.float64) * -2.0, self._bandwidth)
        block = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        for i, i_side in _split(rows, self._cut):
            for j, j_side in _split(columns, self._cut):
                centre = self._centres.both if i_side != j_side else self._centres[i_side]
                a, b = self._rows.values[i] - centre, self._rows.values[j] - centre
                inside = slice(i.start - rows.start, i.stop - rows.start)
                kernel = gaussian(squared_distances(a, b), self._bandwidth)
                block[inside, j.start - columns.start : j.stop - columns.start] = kernel
        return block

    def _counts(self, labels: np.ndarray) -> np.ndarray:
        """(labellings, different rows): how often each labelling takes each row."""
        if self._rows.all_different:
            return labels
        order = np.argsort(self._rows.inverse, kind="stable")
        starts = np.cumsum(self._rows.weight) - self._rows.weight
        smallest = np.min_scalar_type(int(self._rows.weight.max()))
        counts: np.ndarray = np.add.reduceat(labels[:, order], starts, axis=1, dtype=smallest)
        return counts

    def _sums(self, few: np.ndarray, many: np.ndarray | None) -> np.ndarray:
        """(3, labellings): within the smaller side, within the larger one (None: all the rest), across."""
        weight = self._rows.weight.astype(np.float64)
        first, second, third = self._forms(few, many, weight)
        if many is None:  # second: few' K weight, third: weight' K weight
            first, second, third = first, third - 2 * second + first, second - first
        if not self._rows.all_different:
            few = few.astype(np.float64)
            rest = weight - few if many is None else many.astype(np.float64)
            first += np.einsum("ij,ij->i", few, few - 1)
            second += np.einsum("ij,ij->i", rest, rest - 1)
            third += np.einsum("ij,ij->i", few, rest)
        return np.stack([first, second, third])

    def _forms(self, few: np.ndarray, many: np.ndarray | None, weight: np.ndarray) -> np.ndarray:
        """(3, labellings). With many: few' K few, many' K many and few' K many; without: few' K few, few' K weight and
        weight' K weight. K has zeros on its diagonal.
        """
        there = self._there
        if there is not None:
            found = tried_on(there.device, lambda _: there.forms(few, many))
            if found is not None:
                return found
            self._stay()
        strips = len(self._strips)
        groups = blocks(len(few), max(1, _CELLS // min(self._width, len(weight))))
        sums = np.zeros((3, strips, len(few)))
        # A tile that had to be made serves all labellings at once; kept tiles are shared out by labellings, too.
        work = [(strip, groups) for strip in range(strips)]
        if self._kept is not None:
            work = [(strip, [group]) for strip in range(strips) for group in groups]

        # The same in all labellings (people's texts, where those of two systems change sides): multiplied once.
        once = [len(few) > 1 and side is not None and bool((side == side[0]).all()) for side in (few, many)]

        def add(item: tuple[int, list[slice]]) -> None:
            strip, own = item
            for tile in self._make(strip) if self._kept is None else self._kept[strip]:
                for group in own:
                    if many is None:
                        sums[:, strip, group] += _forms_and_masses(tile, few[group], weight)
                    else:
                        sides = (
                            side[:1] if same else side[group] for side, same in zip((few, many), once, strict=True)
                        )
                        sums[:, strip, group] += np.broadcast_arrays(*_forms(tile, *sides))

        run_tiles(add, work, "kernel sums")
        return np.asarray(sums.sum(axis=1))


def _split(part: slice, cut: int) -> list[tuple[slice, int]]:
    """What of a slice lies before and what beyond the cut, with the number of the side."""
    pieces = (slice(part.start, min(part.stop, cut)), 0), (slice(max(part.start, cut), part.stop), 1)
    return [(piece, side) for piece, side in pieces if piece.start < piece.stop]


def _forms(tile: _Tile, few: np.ndarray, many: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tile's share of few' K few, many' K many and few' K many; one row of either may stand for all."""
    few_j, many_j = (side[:, tile.columns].astype(np.float64) for side in (few, many))
    few_k, many_k = (_products(side[:, tile.rows], tile.kernel) for side in (few, many))
    across = _inner(few_k, many_j)
    if tile.times == 2:
        across += _inner(few_j, many_k)
    return tile.times * _inner(few_k, few_j), tile.times * _inner(many_k, many_j), across


def _products(flags: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    if not flags.any():  # a side that has no samples among these rows
        return np.zeros((len(flags), kernel.shape[1]))
    product: np.ndarray = flags.astype(np.float64) @ kernel
    return product


def _inner(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Row by row; one row of either may stand for all."""
    if len(rows) != len(others):
        one, all_rows = sorted((rows, others), key=len)
        product: np.ndarray = all_rows @ one[0]
        return product
    return np.asarray(np.einsum("ij,ij->i", rows, others))


def _forms_and_masses(tile: _Tile, few: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tile's share of few' K few, few' K weight and weight' K weight: one product where no sample is left out."""
    few_i, few_j = (few[:, part].astype(np.float64) for part in (tile.rows, tile.columns))
    few_k, weight_k = few_i @ tile.kernel, weight[tile.rows] @ tile.kernel
    mass = few_k @ weight[tile.columns]
    if tile.times == 2:
        mass += few_j @ weight_k
    total = np.broadcast_to(tile.times * (weight_k @ weight[tile.columns]), mass.shape)
    return tile.times * np.einsum("ij,ij->i", few_k, few_j), mass, total
