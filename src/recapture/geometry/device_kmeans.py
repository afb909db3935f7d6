"""k-means on a device: clusters of `grid_kmeans`, by products in half precision and, where they cannot tell, float64.

Write x^ and c^ for a row and a centre in float16, r_x and r_c for the lengths of what is lost. Then

    |x.c - x^.c^| <= r_x |c| + |x^| r_c,

and sums of n products of such numbers in float32, in any order and with truncation, are wrong by at most
n 2^-22 |x^| |c^| (`half_products`). -|c|^2 / 2 stands in three more columns, which miss less than 2^-24 of it, as
|c| <= 1. All of that together is a row's margin. A centre ahead of all others by two margins is the nearest. Rows for
which that does not tell meet all centres in float64, where sums and products on the grid are exact: what comes out
depends neither on the device nor on tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .devices import within_memory
from .grid_kmeans import Grid
from .half_products import SUMS, half_kind, half_product
from .half_rows import WIDTH
from .lloyd import STEPS, Clustering
from .parallel import one_blas_thread, run_tiles

_TILES, _LEAST = 1 << 29, 1 << 20
"""Products held at once, and how few at least."""
_ROWS = 1 << 16
_TERMS = 3
"""Columns that hold -|c|^2 / 2."""
_LAST = 2.0**-24
"""More than they may miss."""
_SPREAD = 1 << 12
"""Sums that rows of few clusters are spread over, so that additions do not wait for each other."""


def cluster_on(device: str, grid: Grid, clusters: int, seeds: Sequence[int]) -> np.ndarray:
    """(seeds, rows) labels."""
    rows = DeviceRows.of(grid, device)
    runs = [DeviceClustering(grid, rows, clusters, seed) for seed in seeds]
    with one_blas_thread:  # as the threads do: centres are drawn by the processor's products
        run_tiles(lambda run: run.start(), runs, "clustering")
        going = runs
        while going:
            # One thread alone talks to the device: several would wait for each other at every word.
            for run in going:
                run.meet()
            drawing, moving = [run for run in going if run.drawing], [run for run in going if not run.drawing]
            run_tiles(lambda run: run.advance(), drawing, "clustering")
            for run in moving:
                run.advance()
            going = [run for run in going if not run.finished]
    return np.stack([run.labels() for run in runs])


class DeviceRows(NamedTuple):
    """Rows of a grid on a device."""

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


class DeviceClustering(Clustering):
    """A clustering whose labels, scores and centres lie on a device; draws are the processor's own."""

    def __init__(self, grid: Grid, rows: DeviceRows, clusters: int, seed: int) -> None:
        import torch

        super().__init__(grid.points, clusters, seed)
        self.grid, self.rows = grid, rows
        device = rows.values.device
        count, dimensions = rows.values.shape
        self._labels = torch.zeros(count, dtype=torch.int64, device=device)
        self._scores = torch.full((count,), -torch.inf, dtype=torch.float64, device=device)
        self._places = torch.zeros((clusters, dimensions), dtype=torch.float32, device=device)
        """Centres."""
        self._terms = torch.zeros(clusters, dtype=torch.float64, device=device)
        """|c|^2 / 2"""
        self._before: Any = None
        """Labels when centres were last moved, or before the last were drawn."""
        self._totals = torch.zeros((clusters, dimensions), dtype=torch.float64, device=device)
        self._masses = torch.zeros(clusters, dtype=torch.float64, device=device)
        self._changed = torch.arange(0, device=device)
        """Centres that no row has met in their present place."""
        self._there = 0
        """How many centres there are."""
        self._taken: np.ndarray | None = None
        """Those that were drawn last, until they are in their places."""
        self._ever_moved = False
        self._longest, self._most_lost = (torch.zeros((), dtype=torch.float64, device=device) for _ in range(2))
        """Of all that were drawn, or of all since they began to be moved: lengths, and what float16 loses of them."""
        self._margin = self._scores
        """Of each row: by how much its products with centres may miss."""
        self._cells = _TILES
        """Products held at once: what there was memory for the last time."""

    def meet(self) -> None:
        """Rows meet the centres that were drawn or moved."""
        import torch

        if self._taken is not None:
            self._changed = torch.arange(self._there - len(self._taken), self._there, device=self._places.device)
            self._place(self._changed, torch.as_tensor(self._taken).to(self._places.device))
            self._before, self._taken = self._labels.clone(), None
        within_memory(self._bring_up_to_date, self._cells, _LEAST)
        if self.drawing:
            self.score = self._scores.cpu().numpy()

    def labels(self) -> np.ndarray:
        return np.asarray(self._labels.cpu().numpy())

    def _bring_up_to_date(self, cells: int) -> None:
        """Labels and scores of all rows. To begin again in the midst of it changes nothing."""
        import torch

        self._cells = cells
        device = self._labels.device
        if not self._ever_moved:
            self._meet_some(None, self._changed, cells)
            first = self._there == len(self._changed)
            new = None if first else (self._labels != self._before).nonzero()[:, 0]
            self._rescore(new, cells)
        elif 2 * len(self._changed) > self.clusters:
            self._meet_some(None, torch.arange(self._there, device=device), cells, own_among_them=True)
        else:
            moved = torch.zeros(self.clusters, dtype=torch.bool, device=device)
            moved[self._changed] = True
            stale = moved[self._labels].nonzero()[:, 0]
            # Where the own centre surely came nearer, those that stayed are still farther away.
            old = self._scores[stale] + 2 * self._margin[stale]
            self._rescore(stale, cells)
            lost = stale[self._scores[stale] < old]
            self._meet_some(lost, (~moved).nonzero()[:, 0], cells)
            self._meet_some(None, self._changed, cells)

    def _meet_some(self, rows: Any, numbers: Any, cells: int, own_among_them: bool = False) -> None:
        """Some rows (None: all) meet some centres."""
        import torch

        count = len(self._labels) if rows is None else len(rows)
        if not (count and len(numbers)):
            return
        columns = self._half_centres(numbers)
        step = max(1, cells // len(numbers))
        unclear = []
        for start in range(0, count, step):
            at = slice(start, min(start + step, count))
            chosen: Any = at if rows is None else rows[at]
            product = half_product(self.rows.half[chosen], columns)
            label, score = self._labels[chosen], self._scores[chosen]
            if own_among_them:
                score = product.gather(1, label[:, None])[:, 0].double()
            margin = 2 * self._margin[chosen]
            best, place = product.max(dim=1)
            product.scatter_(1, place[:, None], -torch.inf)
            second = product.amax(dim=1).double()
            best, found = best.double(), numbers[place]
            same = found == label
            ahead = best > torch.where(same, second, torch.maximum(second, score)) + margin
            changed = ahead & ~same
            self._labels[chosen] = torch.where(changed, found, label)
            self._scores[chosen] = torch.where(changed, best, score)
            left = (~ahead & (best >= score - margin)).nonzero()[:, 0]
            unclear.append(left + start if rows is None else chosen[left])
            del product
        self._decide(torch.cat(unclear), cells)

    def _decide(self, chosen: Any, cells: int) -> None:
        """The own centre where none is nearer, else the first of the nearest, of all centres."""
        import torch

        if not len(chosen):
            return
        centres = self._places[: self._there].double()
        every = torch.arange(self._there, device=chosen.device)
        step = max(1, cells // (2 * self._there))
        for start in range(0, len(chosen), step):
            rows = chosen[start : start + step]
            exact = self.rows.values[rows].double() @ centres.T
            exact -= self._terms[: self._there]
            best = exact.amax(dim=1)
            own = self._before[rows]
            stays = exact.gather(1, own[:, None])[:, 0] == best
            first = torch.where(exact == best[:, None], every, self._there).amin(dim=1)
            self._labels[rows] = torch.where(stays, own, first)
            self._scores[rows] = best

    def _rescore(self, chosen: Any, cells: int) -> None:
        """Exact scores of some rows (None: all)."""
        count, dimensions = self.rows.values.shape
        count = count if chosen is None else len(chosen)
        step = max(1, cells // (8 * dimensions))
        for start in range(0, count, step):
            rows = slice(start, min(start + step, count)) if chosen is None else chosen[start : start + step]
            label = self._labels[rows]
            product = self.rows.values[rows].double().mul_(self._places[label]).sum(1)
            self._scores[rows] = product - self._terms[label]

    def _half_centres(self, numbers: Any) -> Any:
        dimensions = self._places.shape[1]
        half = _empty_half(len(numbers), dimensions, self._places.device)
        _fill(half, self._places[numbers])
        left = -self._terms[numbers]
        for column in range(dimensions, dimensions + _TERMS):
            kept = left.half()
            half[:, column] = kept
            left = left - kept.double()
        return half

    def _take(self, rows: np.ndarray) -> None:
        self._free[rows] = False
        self._taken = self.points.rows(rows)
        self._there += len(rows)

    def _present(self) -> int:
        return self._there

    def _place(self, numbers: Any, centres: Any) -> None:
        """Put centres in their places, and see how far products with them may miss."""
        import torch

        self._places[numbers] = centres
        self._terms[numbers] = centres.double().square().sum(1) / 2
        every = self._places[: self._there]
        lost = (every - every.half().float()).double().square().sum(1)
        self._longest = torch.maximum(self._longest, (2 * self._terms.max()).sqrt())
        self._most_lost = torch.maximum(self._most_lost, lost.max().sqrt())
        longest = self._longest * (1 + 2.0**-10)
        sums = (self.rows.half.shape[1] + 16) * SUMS * (self.rows.length * longest + longest**2)
        missed = self.rows.lost * longest + self.rows.length * self._most_lost
        self._margin = 1.001 * (missed + sums + _LAST)

    def _move(self) -> None:
        import torch

        if not self._ever_moved:
            self._ever_moved = True
            # Scores are exact; centres will be shorter from now on.
            self._longest, self._most_lost = torch.zeros_like(self._longest), torch.zeros_like(self._longest)
            rows = torch.arange(len(self._labels), device=self._labels.device)
            changes = [(self._labels, 1)]
        else:
            rows = (self._before != self._labels).nonzero()[:, 0]
            changes = [(self._labels[rows], 1), (self._before[rows], -1)]
        totals, masses = within_memory(lambda cells: self._gains(rows, changes, cells), self._cells, _LEAST)
        self._totals += totals
        self._masses += masses
        # The centre of an empty cluster stays where it is: rows may come back to it.
        changed = torch.unique(torch.cat([label for label, _ in changes]))
        changed = changed[self._masses[changed] > 0]
        means = (self._totals[changed] / self._masses[changed, None]).float()
        self._place(changed, torch.round(means * self.grid.scale) / self.grid.scale)
        self._before, self._changed = self._labels.clone(), changed
        self._steps += 1
        self.finished = not len(changed) or self._steps > STEPS

    def _gains(self, rows: Any, changes: Sequence[tuple[Any, int]], cells: int) -> tuple[Any, Any]:
        """What clusters gain by these rows: sums of rows and of their weights, exact in whatever order."""
        import torch

        spread = max(1, _SPREAD // self.clusters)
        dimensions = self._totals.shape[1]
        totals = self._totals.new_zeros((self.clusters * spread, dimensions))
        masses = self._masses.new_zeros(self.clusters * spread)
        step = max(1, cells // (8 * dimensions))
        for label, sign in changes:
            for start in range(0, len(rows), step):
                chosen = rows[start : start + step]
                place = label[start : start + step] * spread + torch.arange(len(chosen), device=rows.device) % spread
                weight = sign * self.rows.weight[chosen]
                totals.index_add_(0, place, self.rows.values[chosen].double().mul_(weight[:, None]))
                masses.index_add_(0, place, weight)
        return totals.view(self.clusters, spread, dimensions).sum(1), masses.view(self.clusters, spread).sum(1)
