"""The sums of `kernels` and `pooled_kernel` on a device, in float64 and tile by tile.

A tile of squared distances is one product of rows with two more columns,

    (-2 a, |a|^2, 1) . (b, 1, |b|^2) = |a - b|^2;

pairs so close that it lost their digits are computed from differences. Sums differ from the processor's by the order
of their terms alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .device_spheres import exact_squared
from .devices import to_device, within_memory
from .distinct import DistinctRows
from .parallel import blocks
from .products import all_whole

if TYPE_CHECKING:
    from .kernels import Centres

_TILE, _LEAST_TILE = 8192, 256
"""Rows and columns of a tile."""
_STRIP, _LEAST_STRIP = 1 << 27, 1 << 20
"""Numbers in a strip of the pooled kernel, and in the labels that are multiplied with it at once."""
_HELD = 1 << 25
"""Numbers of a pooled kernel that torch keeps on a processor; a device keeps what fills half of its free memory."""
_CLOSE = 1e-9
"""Share of both squared lengths below which a squared distance comes from differences, as in `kernels`."""


class _There:
    """Rows on a device, some of which at a time are made float64 around a centre."""

    def __init__(self, rows: DistinctRows, device: str) -> None:
        values = np.asarray(rows.values)
        given = values if values.dtype.kind == "f" else values.astype(np.float64)
        self.values = to_device(np.ascontiguousarray(given), device)
        self.weight = to_device(rows.weight, device).double()
        self.whole = all_whole(values)

    def __len__(self) -> int:
        return len(self.values)

    def around(self, centre: np.ndarray, other: _There | None = None) -> Any:
        """The centre there; a whole one where all numbers are whole, so that distances are exact."""
        whole = self.whole and (other is None or other.whole)
        return to_device(np.rint(centre) if whole else centre, self.weight.device)

    def part(self, rows: slice, centre: Any) -> tuple[Any, Any]:
        """Centred rows and their squared lengths."""
        centred = self.values[rows].double() - centre
        return centred, centred.square().sum(1)


def _kernel(left: tuple[Any, Any], right: tuple[Any, Any], bandwidth: float, diagonal: int | None = None) -> Any:
    """(rows, columns) of the kernel. diagonal: the column that is the first row, where rows are among the columns:
    nobody is paired with itself.
    """
    squared = _squared(left, right, diagonal)
    # Divided twice: the square of a narrow width would vanish.
    return squared.div_(-2 * bandwidth).div_(bandwidth).exp_()


def _squared(left: tuple[Any, Any], right: tuple[Any, Any], diagonal: int | None) -> Any:
    import torch

    (a, of_a), (b, of_b) = left, right
    one_a, one_b = torch.ones_like(of_a), torch.ones_like(of_b)
    wide_a = torch.cat([-2 * a, of_a[:, None], one_a[:, None]], dim=1)
    wide_b = torch.cat([b, one_b[:, None], of_b[:, None]], dim=1)
    squared = wide_a @ wide_b.T
    if diagonal is not None:
        squared.diagonal(diagonal).fill_(torch.inf)
    # Most tiles have no close pair, which the smallest distance tells without another table.
    if bool(squared.min() < _CLOSE * (of_a.max() + of_b.max())):
        i, j = (squared < _CLOSE * of_a[:, None] + _CLOSE * of_b).nonzero(as_tuple=True)
        squared[i, j] = exact_squared(a, i, b, j)
    return squared


def sums_on(
    device: str, reference: DistinctRows, candidate: DistinctRows, centres: Centres, bandwidth: float
) -> tuple[float, float, float]:
    """Sums of the kernel over pairs of samples of different rows: within either set, and across."""

    def add(tile: int) -> tuple[float, float, float]:
        r, c = _There(reference, device), _There(candidate, device)
        within = [
            float(each.weight @ _own_sums(each, centre, bandwidth, tile))
            for each, centre in ((r, centres.reference), (c, centres.candidate))
        ]
        return within[0], within[1], float(r.weight @ _cross_sums(r, c, centres.both, bandwidth, tile))

    return within_memory(add, _TILE, _LEAST_TILE)


def row_sums_on(
    device: str, rows: DistinctRows, others: DistinctRows | None, centre: np.ndarray, bandwidth: float
) -> np.ndarray:
    """(different rows) the sum of the kernel with all samples of another set; None: of the other rows of this one."""

    def add(tile: int) -> np.ndarray:
        there = _There(rows, device)
        if others is None:
            sums = _own_sums(there, centre, bandwidth, tile)
        else:
            sums = _cross_sums(there, _There(others, device), centre, bandwidth, tile)
        return np.asarray(sums.cpu().numpy())

    return within_memory(add, _TILE, _LEAST_TILE)


def _own_sums(rows: _There, centre: np.ndarray, bandwidth: float, tile: int) -> Any:
    import torch

    sums, around, weight = torch.zeros_like(rows.weight), rows.around(centre), rows.weight
    parts = blocks(len(rows), tile)
    for number, i in enumerate(parts):
        left = rows.part(i, around)
        for j in parts[number:]:
            kernel = _kernel(left, left if i == j else rows.part(j, around), bandwidth, 0 if i == j else None)
            sums[i] += kernel @ weight[j]
            if i != j:
                sums[j] += weight[i] @ kernel
    return sums


def _cross_sums(rows: _There, columns: _There, centre: np.ndarray, bandwidth: float, tile: int) -> Any:
    import torch

    sums, around = torch.zeros_like(rows.weight), rows.around(centre, columns)
    for i in blocks(len(rows), tile):
        left = rows.part(i, around)
        for j in blocks(len(columns), tile):
            sums[i] += _kernel(left, columns.part(j, around), bandwidth) @ columns.weight[j]
    return sums


def middle_distances_on(device: str, rows: DistinctRows) -> tuple[float, float | None]:
    """The median distance of all pairs of samples, and of pairs whose rows differ, if there are. For some thousand."""
    import torch

    if len(rows.weight) == 1:
        return 0.0, None
    there, weight = _There(rows, device), to_device(rows.weight, device)
    everybody = there.part(slice(None), 0.0)
    upper = torch.triu_indices(len(there), len(there), 1, device=device)
    squared, order = _squared(everybody, everybody, 0)[upper[0], upper[1]].sort()
    reached = (weight[upper[0]] * weight[upper[1]])[order].cumsum(0)

    def middle(zeros: int) -> float:
        """With so many more pairs at distance 0."""
        count = zeros + int(reached[-1])
        places = torch.tensor([(count - 1) // 2, count // 2], device=device) - zeros
        found = squared[torch.searchsorted(reached, places.clamp(min=0), right=True)]
        return float(torch.where(places < 0, 0.0, found).sqrt().mean())

    return middle(int((rows.weight * (rows.weight - 1) // 2).sum())), middle(0)


class DevicePooledKernel:
    """The kernel matrix of pooled different rows there, and its quadratic forms in many labellings."""

    def __init__(self, device: str, rows: DistinctRows, cut: int, centres: Centres, bandwidth: float) -> None:
        """cut: rows before it are references."""
        import torch

        self.device = device
        self._there, self._cut, self._bandwidth = _There(rows, device), cut, bandwidth
        self._centres = [self._there.around(each) for each in centres]
        self._weight = self._there.weight
        self._kept: list[Any] = []
        count = len(self._there)
        free = torch.cuda.mem_get_info(device)[0] // 16 if self._weight.device.type == "cuda" else _HELD
        self._keep = count * count <= free

    def forms(self, few: np.ndarray, many: np.ndarray | None) -> np.ndarray:
        """As `PooledKernel._forms`. few, many: how often each labelling takes each row."""
        return within_memory(lambda cells: self._forms(few, many, cells), _STRIP, _LEAST_STRIP)

    def _forms(self, few: np.ndarray, many: np.ndarray | None, cells: int) -> np.ndarray:
        import torch

        weight = self._weight
        found = torch.zeros((3, len(few)), dtype=torch.float64, device=weight.device)
        for part in blocks(len(few), max(1, cells // len(weight))):
            sides = [few[part]] if many is None else [few[part], many[part]]
            mine, *rest = (to_device(side, weight.device).double() for side in sides)
            for rows, strip in self._strips(cells):
                product = mine @ strip.T
                found[0, part] += (product * mine[:, rows]).sum(1)
                if not rest:
                    found[1, part] += product @ weight[rows]
                    found[2, part] += (strip @ weight) @ weight[rows]
                else:
                    found[2, part] += (product * rest[0][:, rows]).sum(1)
                    product = rest[0] @ strip.T
                    found[1, part] += (product * rest[0][:, rows]).sum(1)
        return np.asarray(found.cpu().numpy())

    def _strips(self, cells: int) -> Iterator[tuple[slice, Any]]:
        """Some rows of the kernel at a time. Where memory is short they are not kept."""
        self._keep = self._keep and cells == _STRIP
        parts = blocks(len(self._there), max(1, cells // len(self._there)))
        if not self._keep:
            self._kept = []
        elif not self._kept:
            self._kept = [self._strip(rows) for rows in parts]
        for number, rows in enumerate(parts):
            yield rows, self._kept[number] if self._keep else self._strip(rows)

    def _strip(self, rows: slice) -> Any:
        import torch

        strip = torch.empty((rows.stop - rows.start, len(self._there)), dtype=torch.float64, device=self._weight.device)
        sides = slice(0, self._cut), slice(self._cut, len(self._there))
        for mine, own in enumerate(sides):
            i = slice(max(rows.start, own.start), min(rows.stop, own.stop))
            for theirs, j in enumerate(sides):
                if i.start < i.stop and j.start < j.stop:
                    around = self._centres[2 if mine != theirs else mine]
                    diagonal = i.start - j.start if mine == theirs else None
                    kernel = _kernel(
                        self._there.part(i, around), self._there.part(j, around), self._bandwidth, diagonal
                    )
                    strip[i.start - rows.start : i.stop - rows.start, j] = kernel
        return strip
