"""Radii and memberships on a device: pairs that may count from `near_pairs`, decided from exact distances."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .devices import to_device, within_memory
from .distinct import DistinctRows
from .half_rows import HalfRows, half_rows
from .near_pairs import Block, PairRoom, fused, near_pairs
from .overlap import SLACK, Overlap, Side
from .products import power_of_two_below

if TYPE_CHECKING:
    from .points import PointSet

_SAMPLE = 1 << 15
"""Rows from which every row takes its first threshold, for few neighbours; for more of them up to four times that."""
_GROUPS = 128
"""Parts of the sample, of which each gives one near row."""
_ROOM = 1 << 27
"""Pairs that are held at once; fewer where the device's memory does not suffice."""
_LEAST_ROOM = 1 << 20
_PAIRS = 1 << 20
"""Pairs whose distances are computed at once."""
_FEW_ROWS = 1 << 10
"""Rows so few that, where their near pairs do not fit, all of their distances are computed."""


class DeviceSet:
    """One set of different rows on a device, in an order drawn at random, so that its first rows are a sample."""

    def __init__(self, rows: DistinctRows, device: str) -> None:
        import torch

        given = np.asarray(rows.values)
        # Whole numbers are compared as float64 everywhere.
        values = to_device(given if given.dtype.kind == "f" else given.astype(np.float64), device)
        self.order = torch.randperm(len(values), generator=torch.Generator().manual_seed(20)).to(device)
        """The place of each row among the caller's different rows."""
        self.values = values[self.order]
        self.weight = torch.as_tensor(rows.weight).to(device)[self.order]
        sample = self.values[: 1 << 8].double()
        self.centre = sample.median(dim=0).values
        self.reach = max(float(self.values.max()), -float(self.values.min()))
        self.radii: Any = torch.zeros((len(values), 0), dtype=torch.float64, device=device)
        """(rows, k) squared, exact"""

    def __len__(self) -> int:
        return len(self.values)

    def half(self, other: DeviceSet | None = None) -> HalfRows:
        """In half precision, around its own centre, or around another set's so that both can be multiplied."""
        around = self if other is None else other
        reach = max(self.reach, around.reach) + float(around.centre.abs().max())
        return half_rows(self.values, around.centre, power_of_two_below(reach))

    def limits(self, ks: tuple[int, ...]) -> Any:
        """(rows, ks) squared distances up to which others lie inside; radii have been found."""
        import torch

        return self.radii[:, torch.tensor([k - 1 for k in ks], device=self.radii.device)] * (1 + SLACK)

    def back(self, found: Any) -> np.ndarray:
        """One number a row, in the caller's order."""
        import torch

        placed = torch.empty_like(found)
        placed[self.order] = found
        return np.asarray(placed.cpu().numpy())


# Radii


def find_radii(points: DeviceSet, k_max: int) -> None:
    """Squared distances to the 1st ... k_max-th nearest other sample, exact."""
    if points.radii.shape[1] >= k_max:
        return
    if len(points) == 1:
        points.radii = points.radii.new_zeros((1, k_max))
        return
    points.radii = within_memory(lambda room: _radii(points, k_max, room), _ROOM, _LEAST_ROOM)


def _radii(points: DeviceSet, k_max: int, room: int) -> Any:
    return _kth(points, *_nearest(points, min(k_max, len(points) - 1), room), k_max)


def nearest_rows(points: DeviceSet, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows, wanted) the nearest other rows of every row, nearest first, and their squared distances; in the caller's
    order, for different rows that count once each.
    """
    return within_memory(lambda room: _nearest_rows(points, wanted, room), _ROOM, _LEAST_ROOM)


def _nearest_rows(points: DeviceSet, wanted: int, room: int) -> tuple[np.ndarray, np.ndarray]:
    import torch

    owner, other, squared = _nearest(points, wanted, room)
    order = squared.argsort()
    order = order[owner[order].argsort(stable=True)]
    begins = torch.searchsorted(owner[order], torch.arange(len(points), device=owner.device))
    first = order[begins[:, None] + torch.arange(wanted, device=owner.device)]
    return points.back(points.order[other[first]]), points.back(squared[first])


def _nearest(points: DeviceSet, wanted: int, room: int) -> tuple[Any, Any, Any]:
    """(owner, other, squared distance) of the `wanted` nearest of every row, and of some more."""
    try:
        return _near(points, wanted, room)
    except _CrowdedError:
        pass
    # Outside: what an exception knows of the failed work keeps its tensors alive.
    return _nearest_of_all(points, wanted, room)


def _near(points: DeviceSet, wanted: int, room: int) -> tuple[Any, Any, Any]:
    """(owner, other, squared distance) of all pairs that may be among the `wanted` nearest of their owner."""
    import torch

    count, half = len(points), points.half()
    limit = _sampled_limits(points, half, wanted, room)
    threshold = half.threshold(limit)
    if count <= 4 * _sampled(wanted):
        return _both_ways(points, Block(half, threshold, half, threshold, count), room)
    # A quarter of the columns first: what is near there gives everybody a threshold that lets little through later.
    quarter = count // 4
    part = HalfRows(half.half[:quarter], half.term[:quarter], half.scale)
    first = _both_ways(points, Block(half, threshold, part, threshold[:quarter], quarter), room)
    limit = _kth(points, *first, wanted)[:, -1]
    first = _within(first, limit)
    rest = HalfRows(half.half[quarter:], half.term[quarter:], half.scale)
    threshold = half.threshold(limit)[quarter:]
    block = Block(rest, threshold, rest, threshold, count - quarter)
    second = _within(_both_ways(points, block, room, quarter), limit)
    owner, other, squared = (torch.cat(two) for two in zip(first, second, strict=True))
    return owner, other, squared


def _nearest_of_all(points: DeviceSet, wanted: int, room: int) -> tuple[Any, Any, Any]:
    """The `wanted` nearest of every row, from all distances: where nearly everybody is nearly equally far."""
    import torch

    owners, others, distances = [], [], []
    step = max(1, room // 4 // len(points))
    for start in range(0, len(points), step):
        rows = torch.arange(start, min(start + step, len(points)), device=points.values.device)
        squared = all_squared(points.values[rows], points.values)
        squared[torch.arange(len(rows)), rows] = torch.inf
        nearest = squared.topk(wanted, dim=1, largest=False)
        owners.append(rows.repeat_interleave(wanted))
        others.append(nearest.indices.reshape(-1))
        distances.append(nearest.values.reshape(-1))
    return torch.cat(owners), torch.cat(others), torch.cat(distances)


def _within(found: tuple[Any, Any, Any], limit: Any) -> tuple[Any, Any, Any]:
    owner, other, squared = found
    kept = squared <= limit[owner]
    return owner[kept], other[kept], squared[kept]


def _sampled(wanted: int) -> int:
    return _SAMPLE * min(4, 1 + wanted // 8)


def _sampled_limits(points: DeviceSet, half: HalfRows, wanted: int, room: int) -> Any:
    """For every row a distance within which there are `wanted` other rows at least, from the first ones."""
    import torch

    count = min(_sampled(wanted), len(points))
    sample = HalfRows(half.half[:count], half.term[:count], half.scale)
    places = torch.arange(count, device=half.half.device)
    return limits_from_sample(points.values, half, points.values[:count], sample, places, wanted, room)


def limits_from_sample(
    values: Any, half: HalfRows, others: Any, sample: HalfRows, places: Any, wanted: int, room: int
) -> Any:
    """For every row a distance within which there are `wanted` other rows of a sample at least.

    places: of the sample among the rows, rising; numbers of no row for what is not among them.
    """
    import torch

    count, device = len(values), values.device
    groups = min(max(_GROUPS, 4 * wanted), len(others))
    used = len(others) - len(others) % groups
    if wanted >= groups - 1:  # few rows: everybody is looked at
        return torch.full((count,), torch.inf, dtype=torch.float64, device=device)
    limit = torch.empty(count, dtype=torch.float64, device=device)
    chosen, term = sample.half[:used], sample.term[:used].to(sample.half.dtype)
    step = max(1, 8 * room // used)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        nearness = (half.half[rows] @ chosen.T) - term
        own = ((places[:used] >= rows.start) & (places[:used] < rows.stop)).nonzero()[:, 0]
        nearness[places[own] - rows.start, own] = -torch.inf  # nobody is its own neighbour
        best, place = nearness.view(len(nearness), groups, -1).max(dim=2)
        which = best.topk(wanted, dim=1).indices
        column = which * (used // groups) + place.gather(1, which)
        row = torch.arange(rows.start, rows.stop, device=device)[:, None].expand_as(column)
        squared = exact_squared(values, row.reshape(-1), others, column.reshape(-1)).view_as(column)
        # In so many dimensions that half precision overflows, nearness does not tell oneself from others.
        squared[places[column] == row] = torch.inf
        limit[rows] = squared.max(dim=1).values
    return limit * (1 + SLACK)


def _both_ways(points: DeviceSet, block: Block, room: int, shift: int = 0) -> tuple[Any, Any, Any]:
    """(owner, other, squared distance) of all near pairs, each under the name of either row."""
    import torch

    parts = []
    for start, stop, keys in listed(block, room):
        if keys is None:
            raise _CrowdedError(f"rows {start} to {stop}")
        row, column = (keys >> 32) + shift, (keys & 0xFFFFFFFF) + shift
        squared = exact_squared(points.values, row, points.values, column)
        parts.append((torch.cat([row, column]), torch.cat([column, row]), torch.cat([squared, squared])))
    owner, other, squared = (torch.cat(each) for each in zip(*parts, strict=True))
    return owner, other, squared


class _CrowdedError(Exception):
    """Nearly everybody may be among the nearest."""


def listed(block: Block, most: int) -> Iterator[tuple[int, int, Any]]:
    """First row, last row and all near pairs of the rows between, at most so many at once; None for rows so few that
    have more near pairs than that.
    """
    count = len(block.rows.half)
    room = PairRoom(block, min(most, count * len(block.columns.half)))
    todo = [(0, count)]
    while todo:
        start, stop = todo.pop()
        found, keys = near_pairs(block, start, stop, room)
        if keys is not None or stop - start <= _FEW_ROWS:
            yield start, stop, keys
        else:
            parts = min(-(-(stop - start) // _FEW_ROWS), 2 * found // room.most)
            ends = [start + (stop - start) * part // parts for part in range(parts + 1)]
            todo += reversed(list(pairwise(ends)))


def _kth(points: DeviceSet, owner: Any, other: Any, squared: Any, k_max: int) -> Any:
    """(rows, k_max): k-th smallest over samples; a neighbour counts as often as it occurs, the row itself once less."""
    import torch

    if not len(owner):  # every row has so many copies that nobody else was near enough
        return squared.new_zeros((len(points), k_max))
    order = squared.argsort()
    order = order[owner[order].argsort(stable=True)]
    owner, squared = owner[order], squared[order]
    reached = points.weight[other[order]].cumsum(0)
    ends = torch.searchsorted(owner, torch.arange(len(points), device=owner.device), right=True)
    before = torch.where(ends > 0, reached[(ends - 1).clamp(min=0)], 0)
    before = torch.cat([before.new_zeros(1), before[:-1]])
    ks = torch.arange(1, k_max + 1, device=owner.device)
    own = (points.weight - 1)[:, None]
    place = torch.searchsorted(reached, before[:, None] + ks - own)
    radii = squared[place.clamp(max=len(squared) - 1)]
    return torch.where(own >= ks, torch.zeros_like(radii), radii)


def exact_squared(left: Any, i: Any, right: Any, j: Any) -> Any:
    """|left[i] - right[j]|^2 for listed pairs, in float64 from coordinate differences."""
    import torch

    kernels = fused(left)
    if kernels is not None:
        return kernels.exact_squared(left, i, right, j)
    squared = torch.empty(len(i), dtype=torch.float64, device=left.device)
    for start in range(0, len(i), _PAIRS):
        part = slice(start, start + _PAIRS)
        squared[part] = (left[i[part]].double() - right[j[part]].double()).square_().sum(1)
    return squared


def all_squared(left: Any, right: Any) -> Any:
    """|left[i] - right[j]|^2 for all pairs, the same up to the last digits."""
    import torch

    # From differences, not from products; its root and square cost two roundings.
    return torch.cdist(left.double(), right.double(), compute_mode="donot_use_mm_for_euclid_dist").square_()


# Memberships


def overlap_on(device: str, reference: PointSet, candidate: PointSet, ks: tuple[int, ...]) -> Overlap:
    """The counts of `overlap`, made on a device."""
    both = reference.on_device(device), candidate.on_device(device)
    for points in both:
        find_radii(points, ks[-1])
    in_reference, in_candidate = within_memory(lambda room: _memberships(*both, ks, room), _ROOM, _LEAST_ROOM)
    return Overlap(
        ks,
        _side(in_reference, *both, reference.distinct, candidate.distinct),
        _side(in_candidate, *both[::-1], candidate.distinct, reference.distinct),
    )


def _memberships(
    of_reference: DeviceSet, of_candidate: DeviceSet, ks: tuple[int, ...], room: int
) -> tuple[Members, Members]:
    in_reference, in_candidate = (
        Members(spheres.limits(ks), spheres.weight, samples.weight)
        for spheres, samples in ((of_reference, of_candidate), (of_candidate, of_reference))
    )
    rows, columns = of_reference.half(), of_candidate.half(of_reference)
    if rows.scale != columns.scale:  # the candidate reaches further
        rows = half_rows(of_reference.values, of_reference.centre, columns.scale)
    block = Block(
        rows,
        rows.threshold(in_reference.limits[:, -1]),
        columns,
        columns.threshold(in_candidate.limits[:, -1]),
    )
    for start, stop, keys in listed(block, room):
        for row, column, squared in decided(of_reference.values, of_candidate.values, start, stop, keys, room):
            in_reference.add(row, column, squared)
            in_candidate.add(column, row, squared)
    return in_reference, in_candidate


def decided(rows: Any, columns: Any, start: int, stop: int, keys: Any, room: int) -> Iterator[tuple[Any, Any, Any]]:
    """Rows, columns and squared distances of what `listed` has: of its pairs, or of all where it has none."""
    import torch

    if keys is not None:
        row, column = keys >> 32, keys & 0xFFFFFFFF
        yield row, column, exact_squared(rows, row, columns, column)
        return
    device, count = rows.device, len(columns)
    step = max(1, room // 4 // count)
    for first in range(start, stop, step):
        some = torch.arange(first, min(first + step, stop), device=device)
        squared = all_squared(rows[some], columns).reshape(-1)
        yield some.repeat_interleave(count), torch.arange(count, device=device).repeat(len(some)), squared


class Members:
    """Samples of one set in the spheres of the other."""

    def __init__(self, limits: Any, sphere_weight: Any, sample_weight: Any) -> None:
        """limits: (spheres, ks) squared distances up to which samples are inside. Weights: how often rows occur."""
        import torch

        self.limits, self._weights = limits, (sphere_weight, sample_weight)
        never = self.limits.shape[1]
        self.counted = torch.zeros(never + 1, dtype=torch.int64, device=limits.device)
        """Pairs by the first k from which on the sample is inside; the last: never."""
        self.first = [
            torch.full((len(weight),), never, dtype=torch.int64, device=limits.device) for weight in self._weights
        ]
        """Of every sphere, and of every sample."""

    def add(self, sphere: Any, sample: Any, squared: Any) -> None:
        import torch

        first = torch.zeros_like(sphere)
        for place in range(self.limits.shape[1]):
            first += self.limits[sphere, place] < squared
        of_spheres, of_samples = self._weights
        self.counted.index_add_(0, first, of_spheres[sphere] * of_samples[sample])
        for kept, owner in zip(self.first, (sphere, sample), strict=True):
            kept.scatter_reduce_(0, owner, first, "amin")


def _side(
    members: Members, spheres: DeviceSet, samples: DeviceSet, of_spheres: DistinctRows, of_samples: DistinctRows
) -> Side:
    sphere_first, sample_first = (
        points.back(first).astype(np.int32) for points, first in zip((spheres, samples), members.first, strict=True)
    )
    return Side(
        pairs=np.cumsum(members.counted[:-1].cpu().numpy()),
        sample_first=sample_first[of_samples.inverse],
        sphere_first=sphere_first[of_spheres.inverse],
    )
