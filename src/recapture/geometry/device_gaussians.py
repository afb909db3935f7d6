"""Covariance distances of `gaussians` and `pooled_gaussians` on a device, by matrix products and Cholesky factors.

Eigenvalues and singular values are slow there. The sum of the singular values of X is the trace of X U', where U is the
nearest matrix to X with singular values 1 alone. U is a limit of odd polynomials of X: u -> a u - b u^3 on each
singular value (Newton and Schulz; a and b as Chen and Chow 2014 choose them, but never steeper than keeps large values
from falling). Whether it was reached is seen from |X - (X U') U|: what cannot be shown is left to the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .devices import to_device, within_memory
from .parallel import blocks

if TYPE_CHECKING:
    from .gaussians import CentredRows

_SMALLEST = 1e-5
"""Share of the largest singular value down to which one round brings all to 1."""
_ROUNDS = 3
"""From 1e-15 of the largest value on, which no digit of the sum depends on."""
_STEEPEST = 2.4
_REACHED = 1e-10
_TOLERANCE = 1e-9
"""As in `gaussians`: the largest share of the total variance that Cholesky factors may be wrong by."""
_FIRM = 1e-5
"""Smallest variance, in units of the pool's, of a side whose factor is taken by Cholesky."""
_CELLS, _FEWEST_CELLS = 1 << 28, 1 << 20
"""Numbers held at once for some labellings, or in a block of rows."""


@cache
def _steps() -> list[tuple[float, float]]:
    """a and b of one round."""
    steps: list[tuple[float, float]] = []
    low = _SMALLEST
    while not steps or steps[-1][0] > 1.5:
        a = min(_STEEPEST, (6.75 / (1 + low + low * low)) ** 0.5)
        if 1 - low < 1e-8:
            a = 1.5  # the next error is of the order of the square of this one
        b = 4 * a**3 / 27  # so that nothing exceeds 1
        low = min(a * low - b * low**3, a - b)
        steps.append((a, b))
    return steps


def nuclear_norms(x: Any) -> tuple[Any, Any, Any]:
    """Of (matrices, rows, columns) in float64: sums of singular values; whether each is shown to be right; U."""
    import torch

    if x.shape[1] > x.shape[2]:
        norms, sure, u = nuclear_norms(x.mT)
        return norms, sure, u.mT
    square = x @ x.mT
    length = torch.linalg.matrix_norm(x)
    reach = torch.minimum(length, square.abs().sum(2).amax(1).sqrt())
    u = x * torch.where(reach > 0, (1 - 1e-12) / reach, 0)[:, None, None]
    todo = torch.arange(len(x), device=x.device)
    one = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    for _ in range(_ROUNDS):
        part = u if len(todo) == len(u) else u[todo]
        for a, b in _steps():
            part = torch.baddbmm(part, part @ part.mT, part, beta=a, alpha=-b)
        u[todo] = part
        todo = todo[torch.linalg.matrix_norm(part @ part.mT - one) > _REACHED]
        if not len(todo):
            break
    h = x @ u.mT
    norms = h.diagonal(dim1=1, dim2=2).sum(1)
    rest = torch.linalg.matrix_norm(torch.baddbmm(x, h, u, alpha=-1))
    sure = rest * x.shape[1] ** 0.5 <= _REACHED * norms
    return norms, sure | (length == 0), u


# Two sets


def covariance_distance_on(device: str, a: CentredRows, b: CentredRows) -> float | None:
    """tr C + tr C' - 2 tr (C C')^(1/2), never below 0; None where that cannot be shown to be right."""
    return within_memory(lambda cells: _covariance_distance(device, a, b, cells), _CELLS, _FEWEST_CELLS)


def _covariance_distance(device: str, a: CentredRows, b: CentredRows, cells: int) -> float | None:
    squared = max(a.count - a.dimensions, b.count - b.dimensions) > 0
    sides = _CentredThere(device, a, cells), _CentredThere(device, b, cells)
    for careful in (False, True):
        factors = [side.factor(careful) for side in sides]
        if any(factor is None for factor in factors):
            continue
        x = (factors[0] @ factors[1].mT)[None]
        norms, sure, u = nuclear_norms(x)
        if not sure[0]:
            return None
        total = float(sum((factor**2).sum() for factor in factors))
        if not squared or careful or _lost(x[0], u[0], *factors) <= _TOLERANCE * total:
            a.mean, b.mean = (np.asarray(side.mean.cpu().numpy()) for side in sides)
            return max(0.0, total - 2 * float(norms[0]))
    return None


class _CentredThere:
    """`CentredRows` on a device, where the rows are kept if they are not too many."""

    def __init__(self, device: str, side: CentredRows, cells: int) -> None:
        self._device, self._side = device, side
        self._parts = blocks(side.count, max(side.dimensions, cells // side.dimensions))
        kept = side.count * side.dimensions <= 4 * cells
        self._kept = [self._uploaded(part) for part in self._parts] if kept else None
        self.mean = sum(part.double().sum(0) for part in self._given()) * (side.scale / side.count)

    def _uploaded(self, part: slice) -> Any:
        return to_device(np.asarray(self._side.values[part]), self._device)

    def _given(self) -> Iterator[Any]:
        yield from (self._uploaded(part) for part in self._parts) if self._kept is None else self._kept

    def _centred(self) -> Iterator[Any]:
        for part in self._given():
            yield (part.double() * self._side.scale).sub_(self.mean).div_((self._side.count - 1) ** 0.5)

    def factor(self, careful: bool) -> Any:
        """F with F'F = C and at most `dimensions` rows. None: C is singular, which only the careful way can do with."""
        import torch

        if self._side.count <= self._side.dimensions:
            return _contrasts(torch.cat(list(self._centred()))[None])[0]
        if not careful:
            lower, wrong = torch.linalg.cholesky_ex(sum(part.T @ part for part in self._centred()))
            return None if wrong else lower.T
        factor = self.mean.new_empty((0, self._side.dimensions))
        for part in self._centred():
            factor = torch.linalg.qr(torch.cat([factor, part]), mode="r")[1]
        return factor


def _lost(x: Any, u: Any, left: Any, right: Any) -> float:
    """A bound on the error from squaring rows for the factors, as in `gaussians.root_trace`."""
    import torch

    h = x @ u.mT if len(x) <= len(x.mT) else u.mT @ x
    lower, wrong = torch.linalg.cholesky_ex((h + h.mT) / 2)
    if wrong:
        return float("inf")
    inverse = torch.linalg.solve_triangular(lower, torch.eye(len(h), dtype=h.dtype, device=h.device), upper=False)
    size = float((left @ left.mT).norm() * (right @ right.mT).norm())
    return 8 * float(np.finfo(float).eps) * size * 0.5 * float((inverse**2).sum())


def _contrasts(values: Any) -> Any:
    """`pooled_gaussians._contrasts` over rows, for (sets, rows, columns)."""
    root = values.shape[1] ** 0.5
    return values[:, 1:] - (values.sum(1, keepdim=True) / root - values[:, :1]) / (root - 1)


# Many labellings


class DeviceGaussians:
    """Pooled rows there. Sides larger than the number of coordinates are seen in units in which the pool has variance 1
    in all directions: there the covariance of half of the pool is nearly 1, and a Cholesky factor loses no digits,
    however little variance some directions have.
    """

    def __init__(self, points: np.ndarray, device: str) -> None:
        """points: (samples, coordinates) along the pool's principal axes, around 0."""
        self.device = device
        self._points = to_device(points, device)
        self._variance = self._points.square().mean(0)
        self._scaled = self._points / self._variance.sqrt()
        self._moment = self._scaled.T @ self._scaled

    def distances(self, reference: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One squared distance per labelling, and whether it is shown to be right. All have equally many samples."""
        return within_memory(lambda cells: self._distances(reference, candidate, cells), _CELLS, _FEWEST_CELLS)

    def _distances(self, reference: np.ndarray, candidate: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
        import torch

        # The larger side second: its moments may follow from the smaller one's.
        few, many = sorted((reference, candidate), key=lambda side: int(side[0].sum()))
        n, m = int(few[0].sum()), int(many[0].sum())
        samples, coordinates = self._points.shape
        whole = n + m == samples
        found = []
        # Twice the rows of both sides, and half a dozen square matrices.
        for part in blocks(len(few), max(1, cells // (2 * (n + m) * coordinates + 6 * coordinates**2))):
            rows = self._places(few[part])
            mean, factor, total, sure = self._side(rows)
            follows = whole and m - 1 > coordinates
            other = self._rest(rows, mean) if follows else self._side(self._places(many[part]))
            other_mean, other_factor, other_total, other_sure = other
            norms, shown, _ = nuclear_norms(factor @ other_factor.mT)
            distance = (mean - other_mean).square().sum(1) + (total + other_total - 2 * norms).clamp(min=0)
            found.append((distance, sure & other_sure & shown))
        distances, shown = (torch.cat(each).cpu().numpy() for each in zip(*found, strict=True))
        return np.asarray(distances), np.asarray(shown)

    def _places(self, flags: np.ndarray) -> Any:
        """(labellings, samples) of every labelling the places of its samples."""
        return to_device(flags, self.device).nonzero()[:, 1].reshape(len(flags), -1)

    def _side(self, rows: Any) -> tuple[Any, Any, Any, Any]:
        """Means, factors F with F'F = C, traces of C, and whether all digits are there. rows: (labellings, samples)."""
        import torch

        count, coordinates = rows.shape[1], self._points.shape[1]
        if count - 1 > coordinates:
            chosen = self._scaled[rows]
            mean = chosen.mean(1)
            centred = _contrasts(chosen)
            return mean * self._variance.sqrt(), *self._by_cholesky(centred.mT @ centred / (count - 1))
        chosen = self._points[rows]
        factor = _contrasts(chosen) / (count - 1) ** 0.5
        sure = torch.ones(len(rows), dtype=torch.bool, device=rows.device)
        return chosen.mean(1), factor, factor.square().sum((1, 2)), sure

    def _rest(self, rows: Any, mean: Any) -> tuple[Any, Any, Any, Any]:
        """The same for all other samples of the pool, whose mean is 0. mean: of the rows."""
        n = rows.shape[1]
        m = len(self._points) - n
        chosen = self._scaled[rows]
        other = -n / m * (mean / self._variance.sqrt())
        moment = self._moment - chosen.mT @ chosen - m * other[:, :, None] * other[:, None, :]
        return -n / m * mean, *self._by_cholesky(moment / (m - 1))

    def _by_cholesky(self, scaled: Any) -> tuple[Any, Any, Any]:
        """Factor and trace of a covariance in units of the pool's variance, and whether it is far from singular."""
        import torch

        trace = (scaled.diagonal(dim1=1, dim2=2) * self._variance).sum(1)
        lower, wrong = torch.linalg.cholesky_ex(scaled)
        scaled.diagonal(dim1=1, dim2=2).sub_(_FIRM)
        still_wrong = torch.linalg.cholesky_ex(scaled)[1]
        return lower.mT * self._variance.sqrt(), trace, (wrong == 0) & (still_wrong == 0)
