"""The counts of `small` on a device, many pairs of small sets in one array operation.

Products in float64 bound all distances of a pair from below and above, with the margins that `small` proves for any
order of summation. What bounds leave open, and every radius, is computed from differences: the same rule, and so the
same whole numbers. Pairs of similar sizes share a batch; what fills up the shorter ones is masked out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .device_spheres import exact_squared
from .devices import within_memory
from .overlap import SLACK
from .small import bound_terms
from .small_sets import similar_sizes

CELLS = 1 << 25
"""Distances held at once, some ten numbers each, and an eighth of the numbers of the rows they are made of."""
FEWEST_CELLS = 1 << 16


class DeviceSets(NamedTuple):
    """Many small sets on a device."""

    values: Any
    """(rows, dimensions) tensor, one set below the other."""
    first: np.ndarray
    """The row with which each set begins."""
    sizes: np.ndarray


def small_counts_on(sets: DeviceSets, pairs: np.ndarray, ks: np.ndarray) -> np.ndarray:
    """(x, y, a, b, covered) x pairs x ks, as `small.small_counts_at` has them.

    pairs: (pairs, 2) numbers of sets; ks: (pairs, any number) neighbours, 0 where a set has too few samples.
    """
    return within_memory(lambda cells: _counted(sets, pairs, ks, cells), CELLS, FEWEST_CELLS)


def _counted(sets: DeviceSets, pairs: np.ndarray, ks: np.ndarray, cells: int) -> np.ndarray:
    counts = np.zeros((5, *ks.shape), np.int64)
    used = np.flatnonzero(ks.any(axis=1))
    if not len(used):
        return counts
    small = _Small(sets, cells)
    small.find_radii(np.unique(pairs[used]), int(ks.max()))
    for batch in similar_sizes(sets.sizes[pairs[used]], sets.values.shape[1], cells, 8 * cells):
        which = used[batch]
        counts[:, which] = small.memberships(pairs[which], ks[which])
    return counts


class _Small:
    def __init__(self, sets: DeviceSets, cells: int) -> None:
        import torch

        self.sets = sets
        self.cells = cells
        self.device = sets.values.device
        norms = torch.empty(len(sets.values), dtype=torch.float64, device=self.device)
        step = max(1, 8 * cells // sets.values.shape[1])
        for start in range(0, len(norms), step):
            norms[start : start + step] = sets.values[start : start + step].double().square().sum(1)
        self.term, self.margin = bound_terms(norms, sets.values.shape[1])
        self.reach: Any = None
        """(rows, k) squared, slack included."""

    def find_radii(self, which: np.ndarray, most: int) -> None:
        """How far the spheres of these sets' rows reach, for every k that their sizes allow, up to `most`."""
        import torch

        sizes = self.sets.sizes[which]
        most = min(most, int(sizes.max()) - 1)
        self.reach = torch.full((len(self.term), most), torch.inf, dtype=torch.float64, device=self.device)
        for batch in similar_sizes(
            np.stack([sizes, sizes], axis=1), self.sets.values.shape[1], self.cells, 8 * self.cells
        ):
            rows = self._padded(which[batch])
            step = max(1, self.cells // rows.number.numel())
            for start in range(0, rows.number.shape[1], step):
                self._radii(rows, slice(start, start + step))

    def _radii(self, rows: _Padded, part: slice) -> None:
        """Exact squared distances of some rows to their nearest other rows of the set."""
        import torch

        near = self._near(rows, part, rows)
        count = near.shape[1]
        places = torch.arange(count, device=self.device)
        near[:, places, places + part.start] = -torch.inf
        wanted = min(self.reach.shape[1], near.shape[2] - 1)
        if not wanted:
            return
        kth = near.amax(2) if wanted == 1 else near.topk(wanted, dim=2).values[..., -1]
        # The rows with the least `low` are no farther than this; so the k-th is among those within it.
        limit = kth - 0.5 * (rows.margin[:, part] + rows.margin.amax(1, keepdim=True))
        within = near >= limit[..., None]
        within &= near > -torch.inf  # neither the row itself nor what fills up; smaller sets have fewer than wanted
        pair, row, column = within.nonzero(as_tuple=True)
        own, values = rows.number[pair, row + part.start], self.sets.values
        squared = exact_squared(values, own, values, rows.number[pair, column])
        place = within.cumsum(2)[pair, row, column] - 1
        listed = near.new_full((*near.shape[:2], max(wanted, int(within.sum(2).max()))), torch.inf)
        listed[pair, row, place] = squared
        nearest = listed.sort(2).values[..., :wanted]
        real = rows.real[:, part]
        self.reach[rows.number[:, part][real], :wanted] = nearest[real] * (1 + SLACK)

    def memberships(self, pairs: np.ndarray, ks: np.ndarray) -> np.ndarray:
        """(5, pairs, ks)"""
        import torch

        reference, candidate = (self._padded(pairs[:, side]) for side in (0, 1))
        columns = torch.from_numpy(np.maximum(ks - 1, 0)).to(self.device)
        reach = [self.reach[side.number] for side in (reference, candidate)]
        counts = torch.zeros((5, *ks.shape), dtype=torch.int64, device=self.device)
        held = torch.zeros((ks.shape[1], *candidate.number.shape), dtype=torch.bool, device=self.device)
        step = max(1, self.cells // candidate.number.numel())
        for start in range(0, reference.number.shape[1], step):
            part = slice(start, start + step)
            low = self._near(reference, part, candidate).mul_(-2)
            margin = reference.margin[:, part, None] + candidate.margin[:, None]
            limits = [
                (_at(reach[0][:, part], columns[:, place])[..., None], _at(reach[1], columns[:, place])[:, None])
                for place in range(ks.shape[1])
            ]
            open_ = torch.zeros_like(low, dtype=torch.bool)
            for sides in limits:
                for limit in sides:
                    open_ |= (low <= limit) & (low + margin > limit)
            pair, row, column = open_.nonzero(as_tuple=True)
            low[pair, row, column] = exact_squared(
                self.sets.values, reference.number[pair, row + start], self.sets.values, candidate.number[pair, column]
            )
            for place, (of_reference, of_candidate) in enumerate(limits):
                in_reference, in_candidate = low <= of_reference, low <= of_candidate
                held[place] |= in_reference.any(1)
                counts[1:, :, place] += torch.stack([
                    in_candidate.any(2).sum(1),
                    in_candidate.sum((1, 2)),
                    in_reference.sum((1, 2)),
                    in_reference.any(2).sum(1),
                ])  # fmt: skip
        counts[0] = held.sum(2).T
        counted: np.ndarray = counts.cpu().numpy() * (ks > 0)
        return counted

    def _padded(self, which: np.ndarray) -> _Padded:
        """Some sets, filled up to one size with their own first row."""
        number, real = padded_rows(self.sets, which)
        return _Padded(number, real, self.sets.values[number].double(), self.margin[number])

    def _near(self, left: _Padded, part: slice, right: _Padded) -> Any:
        """`small`'s h of every two rows, (sets, rows, rows); minus infinity for what fills up."""
        import torch

        near = torch.bmm(left.values[:, part], right.values.transpose(1, 2))
        near -= self.term[left.number[:, part], None]
        near -= self.term[right.number][:, None]
        near.masked_fill_(~left.real[:, part, None], -torch.inf)
        return near.masked_fill_(~right.real[:, None], -torch.inf)


class _Padded(NamedTuple):
    number: Any
    """(sets, rows) which row of all"""
    real: Any
    values: Any
    margin: Any


def _at(reach: Any, column: Any) -> Any:
    """(pairs, rows, k) -> (pairs, rows), each pair at its own k."""
    return reach.gather(2, column[:, None, None].expand(-1, reach.shape[1], 1))[..., 0]


def padded_rows(sets: DeviceSets, which: np.ndarray) -> tuple[Any, Any]:
    """(sets, rows of the largest): which row of all, and whether it is the set's own or fills it up."""
    import torch

    sizes = sets.sizes[which]
    places = np.arange(sizes.max())
    real = places < sizes[:, None]
    number = sets.first[which, None] + np.where(real, places, 0)
    return tuple(torch.from_numpy(each).to(sets.values.device) for each in (number, real))  # type: ignore[return-value]
