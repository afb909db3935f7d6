"""Rows of the grid on a device, in half precision beside float32: what clusterings there share.

Write x^ and c^ for a row and a centre in float16, r_x and r_c for the lengths of what is lost. Then

    |x.c - x^.c^| <= r_x |c| + |x^| r_c,

and sums of n products of such numbers in float32, in any order and with truncation, are wrong by at most
n 2^-22 |x^| |c^| (`half_products`). -|c|^2 / 2 stands in three more columns, which miss it by less than 2^-24, as it is
above -1. All of that together is a row's margin: a centre ahead of all others by two margins is the nearest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .grid_kmeans import Grid
from .half_products import SUMS, half_kind
from .half_rows import WIDTH

TILES, LEAST = 1 << 29, 1 << 20
"""Products held at once, and how few at least."""
_ROWS = 1 << 16
_TERMS = 3
"""Columns that hold -|c|^2 / 2."""
_LAST = 2.0**-24
"""More than they may miss."""
_SPREAD = 1 << 12
"""Sums that rows of few clusters are spread over, so that additions do not wait for each other."""


class Change(NamedTuple):
    """Rows that come to clusters or leave them."""

    rows: Any
    clusters: Any
    sign: int


class DeviceRows(NamedTuple):
    values: Any
    """(rows, dimensions) float32"""
    half: Any
    """(rows, padded dimensions) what float16 keeps of them, then ones for -|c|^2 / 2"""
    length: Any
    """(rows,) float64: of what is kept"""
    lost: Any
    """(rows,) float64: the length of what is lost"""
    weight: Any

    @classmethod
    def of(cls, grid: Grid, device: str) -> DeviceRows:
        import torch

        wide = grid.points.wide
        assert isinstance(wide, np.ndarray)
        count, dimensions = len(wide), wide.shape[1] - 1
        values = torch.empty((count, dimensions), dtype=torch.float32, device=device)
        half = _empty_half(count, dimensions, device)
        length, lost = (torch.empty(count, dtype=torch.float64, device=device) for _ in range(2))
        for start in range(0, count, _ROWS):
            part = slice(start, start + _ROWS)
            values[part] = torch.as_tensor(wide[part]).to(device)[:, :-1]
            length[part], lost[part] = _fill(half[part], values[part])
        half[:, dimensions : dimensions + _TERMS] = 1
        return cls(values, half, length, lost, torch.as_tensor(grid.points.weight).to(device))

    def margin(self, longest: Any, most_lost: Any) -> Any:
        """Of each row: by how much its products may miss. Of centres: the greatest length, and what float16 loses."""
        longest = longest * (1 + 2.0**-10)
        sums = (self.half.shape[1] + 16) * SUMS * (self.length * longest + longest**2)
        return 1.001 * (self.lost * longest + self.length * most_lost + sums + _LAST)

    def gains(self, changes: Iterable[Change], clusters: int, cells: int) -> tuple[Any, Any]:
        """What so many clusters gain: sums of rows and of their weights, exact in whatever order."""
        import torch

        spread = max(1, _SPREAD // clusters)
        dimensions = self.values.shape[1]
        totals = self.length.new_zeros((clusters * spread, dimensions))
        masses = self.length.new_zeros(clusters * spread)
        step = max(1, cells // (8 * dimensions))
        for rows, own, sign in changes:
            for start in range(0, len(rows), step):
                chosen = rows[start : start + step]
                place = own[start : start + step] * spread + torch.arange(len(chosen), device=rows.device) % spread
                weight = sign * self.weight[chosen]
                totals.index_add_(0, place, self.values[chosen].double().mul_(weight[:, None]))
                masses.index_add_(0, place, weight)
        return totals.view(clusters, spread, dimensions).sum(1), masses.view(clusters, spread).sum(1)


def half_centres(centres: Any, terms: Any) -> Any:
    """The right factor of products. terms: |c|^2 / 2 in float64"""
    dimensions = centres.shape[1]
    half = _empty_half(len(centres), dimensions, centres.device)
    _fill(half, centres)
    left = -terms
    for column in range(dimensions, dimensions + _TERMS):
        kept = left.half()
        half[:, column] = kept
        left = left - kept.double()
    return half


def halved_squares(centres: Any) -> Any:
    """|c|^2 / 2"""
    return centres.double().square().sum(-1) / 2


def most_lost(centres: Any) -> Any:
    """The greatest length of what float16 loses of a centre."""
    return (centres - centres.half().float()).double().square().sum(-1).max().sqrt()


def means(totals: Any, masses: Any, scale: float) -> Any:
    """On the grid."""
    import torch

    return torch.round((totals / masses[..., None]).float() * scale) / scale


def two_best(products: Any) -> tuple[Any, Any, Any]:
    """Of each row: the greatest product, its place, and the greatest of the others. products: lose their greatest"""
    import torch

    best, place = products.max(dim=-1)
    products.scatter_(-1, place[..., None], -torch.inf)
    return best.double(), place, products.amax(dim=-1).double()


def nearest(scores: Any, own: Any) -> tuple[Any, Any]:
    """By exact scores of some rows with all centres: the own centre where none is nearer, else the first; its score."""
    import torch

    best = scores.amax(dim=-1, keepdim=True)
    stays = scores.gather(-1, own[..., None]) == best
    every = torch.arange(scores.shape[-1], device=scores.device)
    first = torch.where(scores == best, every, scores.shape[-1]).amin(dim=-1)
    return torch.where(stays[..., 0], own, first), best[..., 0]


def _empty_half(count: int, dimensions: int, device: Any) -> Any:
    import torch

    width = -(-(dimensions + _TERMS) // WIDTH) * WIDTH
    return torch.zeros((count, width), dtype=half_kind(device), device=device)


def _fill(half: Any, values: Any) -> tuple[Any, Any]:
    """Write what float16 keeps of values into half; (length of it, length of what is lost)."""
    kept = values.half()
    half[:, : values.shape[1]] = kept
    exact = kept.double()
    return exact.square().sum(1).sqrt(), (values.double() - exact).square_().sum(1).sqrt()
