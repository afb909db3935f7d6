"""Radii and memberships on a device: pairs that may count from `near_pairs`, decided from exact distances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..distinct import DistinctRows
from ..overlap import SLACK, Overlap, Side
from .bounds import HalfRows, half_rows
from .near_pairs import Block, near_pairs

_SAMPLE = 1 << 15
"""Rows from which every row takes its first threshold."""
_GROUPS = 128
"""Parts of the sample, of which each gives one near row."""
_ROOM = 1 << 27
"""Pairs that are held at once."""
_PAIRS = 1 << 20
"""Pairs whose distances are computed at once."""
_STRIP = 1 << 15


@dataclass
class DeviceSet:
    """One set of different rows on a device, in an order drawn at random (so that its first rows are a sample)."""

    values: Any
    weight: Any
    order: Any
    """The place of each row among the caller's different rows."""
    half: HalfRows
    radii: Any = None
    """(rows, k) squared, exact"""

    def __len__(self) -> int:
        return len(self.values)


def device_set(rows: DistinctRows, device: str, centre: np.ndarray, scale: float) -> DeviceSet:
    import torch

    values = torch.as_tensor(rows.values).to(device)
    order = torch.randperm(len(values), generator=torch.Generator().manual_seed(20)).to(device)
    values = values[order]
    weight = torch.as_tensor(rows.weight).to(device)[order]
    return DeviceSet(values, weight, order, half_rows(values, torch.as_tensor(centre, device=device), scale))


# Radii


def find_radii(points: DeviceSet, k_max: int) -> None:
    """Squared distances to the 1st ... k_max-th nearest other sample, exact."""
    import torch

    count = len(points)
    if count == 1:
        points.radii = torch.zeros((1, k_max), dtype=torch.float64, device=points.values.device)
        return
    wanted = min(k_max, count - 1)
    limit = _sampled_limits(points, wanted)
    half = points.half
    if count <= 4 * _SAMPLE:
        owner, other, squared = _both_ways(points, Block(half, half.threshold(limit), half, half.threshold(limit), count))
        points.radii = _kth(points, owner, other, squared, k_max)
        return
    # A quarter of the columns first: what is near there gives everybody a threshold that lets little through later.
    quarter = count // 4
    part = HalfRows(half.half[:quarter], half.term[:quarter], half.scale)
    threshold = half.threshold(limit)
    first = _both_ways(points, Block(half, threshold, part, threshold[:quarter], quarter))
    limit = _kth(points, *first, k_max)[:, -1]
    first = _within(first, limit)
    rest = HalfRows(half.half[quarter:], half.term[quarter:], half.scale)
    threshold = half.threshold(limit)[quarter:]
    second = _both_ways(points, Block(rest, threshold, rest, threshold, count - quarter), quarter)
    second = _within(second, limit)
    points.radii = _kth(points, *(torch.cat(two) for two in zip(first, second, strict=True)), k_max)


def _within(found: tuple[Any, Any, Any], limit: Any) -> tuple[Any, Any, Any]:
    owner, other, squared = found
    kept = squared <= limit[owner]
    return owner[kept], other[kept], squared[kept]


def _sampled_limits(points: DeviceSet, wanted: int) -> Any:
    """For every row a distance within which there are `wanted` other rows at least, from a sample of them."""
    import torch

    half, device = points.half, points.values.device
    sample = min(_SAMPLE, len(points))
    groups = min(max(_GROUPS, 4 * wanted), sample)
    sample -= sample % groups
    if wanted >= groups - 1 or len(points) < 64:  # few rows: everybody is looked at
        return torch.full((len(points),), torch.inf, dtype=torch.float64, device=device)
    limit = torch.empty(len(points), dtype=torch.float64, device=device)
    chosen, term = half.half[:sample], half.term[:sample]
    for start in range(0, len(points), _STRIP):
        rows = slice(start, min(start + _STRIP, len(points)))
        nearness = (half.half[rows] @ chosen.T) - term.to(chosen.dtype)
        if start < sample:  # nobody is its own neighbour
            own = torch.arange(rows.start, min(rows.stop, sample), device=device)
            nearness[own - rows.start, own] = -torch.inf
        best, place = nearness.view(len(nearness), groups, -1).max(dim=2)
        which = best.topk(wanted, dim=1).indices
        column = which * (sample // groups) + place.gather(1, which)
        row = torch.arange(rows.start, rows.stop, device=device)[:, None].expand_as(column)
        squared = exact_squared(points.values, row.reshape(-1), points.values, column.reshape(-1))
        limit[rows] = squared.view_as(column).max(dim=1).values
    return limit * (1 + SLACK)


def _both_ways(points: DeviceSet, block: Block, shift: int = 0) -> tuple[Any, Any, Any]:
    """(owner, other, squared distance) of all near pairs, each under the name of either row."""
    import torch

    parts = []
    for keys in _listed(block):
        row, column = (keys >> 32) + shift, (keys & 0xFFFFFFFF) + shift
        squared = exact_squared(points.values, row, points.values, column)
        parts.append((torch.cat([row, column]), torch.cat([column, row]), torch.cat([squared, squared])))
    owner, other, squared = (torch.cat(each) for each in zip(*parts, strict=True))
    return owner, other, squared


def _listed(block: Block) -> Iterator[Any]:
    """All near pairs, in parts that fit."""
    import torch

    count = len(block.rows.half)
    room = torch.empty(min(_ROOM, max(1 << 16, count * len(block.columns.half))), dtype=torch.int64, device=block.rows.half.device)
    todo = [(0, count)]
    while todo:
        start, stop = todo.pop()
        found = near_pairs(block, start, stop, room)
        if found > len(room):
            assert stop - start > 1, "a single row passes everywhere"
            middle = (start + stop) // 2
            todo += [(middle, stop), (start, middle)]
        elif found:
            yield room[:found].clone()


def _kth(points: DeviceSet, owner: Any, other: Any, squared: Any, k_max: int) -> Any:
    """(rows, k_max): the k-th smallest over samples; a neighbour counts as often as it occurs, the row itself once less."""
    import torch

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

    squared = torch.empty(len(i), dtype=torch.float64, device=left.device)
    for start in range(0, len(i), _PAIRS):
        part = slice(start, start + _PAIRS)
        squared[part] = (left[i[part]].double() - right[j[part]].double()).square_().sum(1)
    return squared


# Memberships


def device_overlap(reference: DeviceSet, candidate: DeviceSet, ks: Sequence[int]) -> tuple[Overlap, None]:
    import torch

    ordered = tuple(sorted(set(ks)))
    columns = torch.tensor([k - 1 for k in ordered], device=reference.values.device)
    limits = [points.radii[:, columns] * (1 + SLACK) for points in (reference, candidate)]
    device = reference.values.device
    pairs = torch.zeros((2, len(ordered) + 1), dtype=torch.int64, device=device)
    firsts = [
        [torch.full((len(points),), len(ordered), dtype=torch.int64, device=device) for points in (reference, candidate)]
        for _ in range(2)
    ]
    block = Block(
        reference.half, reference.half.threshold(limits[0][:, -1]), candidate.half, candidate.half.threshold(limits[1][:, -1])
    )
    for keys in _listed(block):
        row, column = keys >> 32, keys & 0xFFFFFFFF
        squared = exact_squared(reference.values, row, candidate.values, column)
        weight = reference.weight[row] * candidate.weight[column]
        for number, (sphere, limit) in enumerate(((row, limits[0]), (column, limits[1]))):
            first = torch.zeros(len(sphere), dtype=torch.int64, device=device)
            for place in range(len(ordered)):
                first += limit[sphere, place] < squared
            pairs[number].index_add_(0, first, weight)
            of_reference, of_candidate = firsts[number]
            of_reference.scatter_reduce_(0, row, first, "amin")
            of_candidate.scatter_reduce_(0, column, first, "amin")
    counted = pairs[:, :-1].cumsum(1).cpu().numpy()

    def back(points: DeviceSet, found: Any) -> np.ndarray:
        placed = torch.empty_like(found)
        placed[points.order] = found
        return placed.cpu().numpy().astype(np.int32)

    in_reference = Side(counted[0], back(candidate, firsts[0][1]), back(reference, firsts[0][0]))
    in_candidate = Side(counted[1], back(reference, firsts[1][0]), back(candidate, firsts[1][1]))
    return Overlap(ordered, in_reference, in_candidate), None
