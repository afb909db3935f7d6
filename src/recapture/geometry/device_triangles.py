"""Triangle ranks on a device: the whole numbers of `triangles` and `triangle_moments`, by the same rules.

Comparisons of distances are the processor's own. Credits are at most 12 and labels 0 or 1: half precision holds both,
and sums of fewer than 2^22 / 12 of their products are whole numbers that float32 holds, whatever the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .devices import accelerator_for, to_device, within_memory
from .half_products import half_kind, half_product
from .labels import Labels
from .parallel import engine_options

_CELLS, _LEAST = 1 << 28, 1 << 20
"""Numbers held at once, and how few at least."""
_PAIRS = 1 << 18
"""Pairs of points in one product: 12 x 2^18 < 2^22."""
_FEW = 1 << 23
"""Triangles that are counted in a tenth of a second."""
_NONE = 9
"""The code of what is no triangle, as two of its corners are one point."""


def device_for(triangles: int, labellings: int = 64) -> str | None:
    """Where so many triangles are counted. A product counts one under 64 labellings in the time that counting it once
    takes. Few are counted by the processor even where a device is asked for: encoders use it, too.
    """
    work = triangles * max(1, labellings // 64)
    if work < _FEW and engine_options().accelerator is None:
        return None
    return accelerator_for(work, 1)


def codes_on(within: Any, left: Any, right: Any) -> Any:
    """3 * (cross edges shorter) + (cross edges equal), for each triangle."""
    code = (left < within).byte()
    code += right < within
    code *= 3
    code += left == within
    code += right == within
    return code


def observed_on(device: str, distances: np.ndarray, singles: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(9,) how many triangles of a single point and an ordered pair of the others have each code."""
    import torch

    within = to_device(distances[np.ix_(others, others)], device)
    cross = to_device(distances[np.ix_(singles, others)], device)

    def count(cells: int) -> Any:
        tally = torch.zeros(_NONE + 1, dtype=torch.int64, device=device)
        step = max(1, cells // max(1, len(others) ** 2))
        for start in range(0, len(singles), step):
            edge = cross[start : start + step]
            code = codes_on(within, edge[:, :, None], edge[:, None])
            code.diagonal(dim1=1, dim2=2).fill_(_NONE)
            tally += torch.bincount(code.reshape(-1), minlength=_NONE + 1)
        return tally[:_NONE]

    return np.asarray(within_memory(count, _CELLS, _LEAST).cpu().numpy())


def counts_on(device: str, distances: np.ndarray, labels: Labels, table: np.ndarray) -> np.ndarray:
    """(groups, labellings, 2, 3) sixths of triangles by rank. table: (9, 3) credit by code."""
    there = to_device(distances, device)
    sides = [to_device(side, device) for side in (labels.candidate, labels.reference)]
    credit = to_device(table, device)
    both = (credit[:, None] + credit[None]).reshape(-1, 3).to(half_kind(device))  # of both orders of the pair
    counted = within_memory(lambda cells: _counts(there, sides, both, cells), _CELLS, _LEAST)
    # Fewer bytes travel: no count exceeds 12 for each single point and pair.
    small = 6 * distances.shape[1] ** 3 < 2**31
    return np.asarray((counted.int() if small else counted).cpu().numpy()).astype(np.int64)


def _counts(distances: Any, sides: list[Any], both: Any, cells: int) -> Any:
    import torch

    groups, points = distances.shape[:2]
    labellings = len(sides[0])
    counts = torch.zeros((groups, labellings, 2, 3), dtype=torch.int64, device=distances.device)
    first, second = torch.triu_indices(points, points, 1, device=distances.device)
    for low in range(0, len(first), _PAIRS):
        pair = first[low : low + _PAIRS], second[low : low + _PAIRS]
        step = max(1, min(labellings, cells // len(pair[0])))
        for start in range(0, labellings, step):
            rows = slice(start, min(start + step, labellings))
            # Candidates alone amid pairs of references, then the other way round.
            paired = [(side[rows][:, pair[0]] & side[rows][:, pair[1]]).to(both.dtype) for side in reversed(sides)]
            width = max(1, cells // (3 * max(len(pair[0]), len(paired[0]))))
            for group, single in _tiles(groups, points, width):
                credit = _credits(distances[group], single, pair, both)
                for number, alone in enumerate(sides):
                    credited = half_product(paired[number], credit).view(len(paired[number]), -1, _length(single), 3)
                    credited *= alone[rows, None, single, None]
                    counts[group, rows, number] += credited.sum(dim=2, dtype=torch.float64).long().transpose(0, 1)
    return counts


def _tiles(groups: int, points: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Groups and single points, at most so many together."""
    singles = min(points, width)
    together = max(1, width // points)
    for start in range(0, groups, together):
        for low in range(0, points, singles):
            yield slice(start, min(start + together, groups)), slice(low, min(low + singles, points))


def _length(part: slice) -> int:
    return int(part.stop - part.start)


def _credits(distances: Any, single: slice, pair: tuple[Any, Any], both: Any) -> Any:
    """(groups x singles x ranks, pairs)"""
    left, right = (distances[:, single][:, :, end] for end in pair)
    code = codes_on(distances[:, pair[0], pair[1]][:, None], left, right)
    code *= 9
    code += codes_on(distances[:, pair[1], pair[0]][:, None], left, right)
    credit = both.index_select(0, code.reshape(-1).int()).view(-1, len(pair[0]), 3)
    return credit.transpose(1, 2).reshape(-1, len(pair[0]))


class Passed(NamedTuple):
    """What one pass over all triangles adds up."""

    across: np.ndarray
    """(points, points) of a single point and one of the pair"""
    within: np.ndarray
    """(points, points) of the pair"""
    tally: np.ndarray
    """How many triangles there are of each code; where distances are not symmetric, of each code and the code of the
    triangle in which the single point and one of the pair have changed places."""


def pass_on(device: str, distances: np.ndarray, symmetric: bool, packed: np.ndarray) -> Passed:
    """distances: (points, points). packed: by code."""
    there, table = (to_device(each, device) for each in (distances, packed))
    passed = within_memory(lambda cells: _pass(there, symmetric, table, cells), _CELLS, _LEAST)
    return Passed(*(np.asarray(each.cpu().numpy()) for each in passed))


def _pass(distances: Any, symmetric: bool, packed: Any, cells: int) -> tuple[Any, Any, Any]:
    import torch

    points, kinds = len(distances), len(packed)
    across, within = (torch.zeros((points, points), dtype=torch.int64, device=distances.device) for _ in range(2))
    tally = torch.zeros(kinds if symmetric else kinds * kinds, dtype=torch.int64, device=distances.device)
    step = max(1, cells // (8 * points * points))
    for start in range(0, points, step):
        single = torch.arange(start, min(start + step, points), device=distances.device)
        left, right = distances[single][:, :, None], distances[single][:, None]
        code = _code(distances, distances.T, left, right, symmetric)
        _leave_out(code, single, kinds - 1)
        credited = packed[code.int()]
        within += credited.sum(0)
        across[single] = credited.sum(2)
        del credited
        if not symmetric:
            # The single point in the pair's place: j alone, and the pair of it and k.
            back = distances[:, single].T
            turned = _code(right, back[:, None], back[:, :, None], distances, symmetric)
            _leave_out(turned, single, kinds - 1)
            code = code.short() * kinds + turned
        tally += torch.bincount(code.reshape(-1), minlength=len(tally))
    return across, within, tally


def _code(within: Any, within_back: Any, left: Any, right: Any, symmetric: bool) -> Any:
    code = codes_on(within, left, right)
    if not symmetric:
        code *= _NONE + 1
        code += codes_on(within_back, left, right)
    return code


def _leave_out(code: Any, single: Any, nothing: int) -> None:
    """Triangles two of whose corners are one point."""
    import torch

    every = torch.arange(len(single), device=code.device)
    code[every, :, single] = nothing
    code[every, single, :] = nothing
    code.diagonal(dim1=1, dim2=2).fill_(nothing)
