"""k-means on a device: clusters of `grid_kmeans`, by products in half precision and, where they cannot tell, float64.

A centre ahead of all others by two margins (`device_rows`) is the nearest. Rows for which that does not tell meet all
centres in float64, where sums and products on the grid are exact: what comes out depends neither on the device nor on
tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .device_few_centres import labels_together
from .device_rows import (
    LEAST,
    TILES,
    Change,
    DeviceRows,
    half_centres,
    halved_squares,
    means,
    most_lost,
    nearest,
    two_best,
)
from .devices import within_memory
from .few_centres import FEW
from .grid_kmeans import Grid
from .half_products import half_product
from .lloyd import STEPS, Clustering
from .parallel import one_blas_thread, run_tiles


def cluster_on(device: str, grid: Grid, clusters: int, seeds: Sequence[int]) -> np.ndarray:
    """(seeds, rows) labels."""
    import torch

    rows = DeviceRows.of(grid, device)
    runs = [DeviceClustering(grid, rows, clusters, seed) for seed in seeds]
    with one_blas_thread:  # as the threads do: centres are drawn by the processor's products
        run_tiles(lambda run: run.start(), runs, "clustering")
        if clusters > FEW:
            _go_on(runs, lambda run: run.finished)
            return np.stack([run.labels() for run in runs])
        _go_on([run for run in runs if run.drawing], lambda run: not run.drawing)
    centres, before = (torch.stack(each) for each in zip(*(run.drawn() for run in runs), strict=True))
    del runs  # and what they hold there
    return np.asarray(labels_together(rows, grid.scale, centres, before).cpu().numpy())


def _go_on(runs: Sequence[DeviceClustering], done: Callable[[DeviceClustering], bool]) -> None:
    while runs:
        # One thread alone talks to the device: several would wait for each other at every word.
        for run in runs:
            run.meet()
        drawing, moving = [run for run in runs if run.drawing], [run for run in runs if not run.drawing]
        run_tiles(lambda run: run.advance(), drawing, "clustering")
        for run in moving:
            run.advance()
        runs = [run for run in runs if not done(run)]


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
        self._cells = TILES
        """Products held at once: what there was memory for the last time."""

    def meet(self) -> None:
        """Rows meet the centres that were drawn or moved."""
        self._settle()
        within_memory(self._bring_up_to_date, self._cells, LEAST)
        if self.drawing:
            self.score = self._scores.cpu().numpy()

    def labels(self) -> np.ndarray:
        return np.asarray(self._labels.cpu().numpy())

    def drawn(self) -> tuple[Any, Any]:
        """All centres, and labels before rows met the last ones."""
        self._settle()
        return self._places, self._labels

    def _settle(self) -> None:
        """What was drawn takes its place."""
        import torch

        if self._taken is not None:
            self._changed = torch.arange(self._there - len(self._taken), self._there, device=self._places.device)
            self._place(self._changed, torch.as_tensor(self._taken).to(self._places.device))
            self._before, self._taken = self._labels.clone(), None

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
        columns = half_centres(self._places[numbers], self._terms[numbers])
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
            best, place, second = two_best(product)
            found = numbers[place]
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
        if not len(chosen):
            return
        centres = self._places[: self._there].double()
        step = max(1, cells // (2 * self._there))
        for start in range(0, len(chosen), step):
            rows = chosen[start : start + step]
            exact = self.rows.values[rows].double() @ centres.T
            exact -= self._terms[: self._there]
            self._labels[rows], self._scores[rows] = nearest(exact, self._before[rows])

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
        self._terms[numbers] = halved_squares(centres)
        self._longest = torch.maximum(self._longest, (2 * self._terms.max()).sqrt())
        self._most_lost = torch.maximum(self._most_lost, most_lost(self._places[: self._there]))
        self._margin = self.rows.margin(self._longest, self._most_lost)

    def _move(self) -> None:
        import torch

        if not self._ever_moved:
            self._ever_moved = True
            # Scores are exact; centres will be shorter from now on.
            self._longest, self._most_lost = torch.zeros_like(self._longest), torch.zeros_like(self._longest)
            rows = torch.arange(len(self._labels), device=self._labels.device)
            changes = [Change(rows, self._labels, 1)]
        else:
            rows = (self._before != self._labels).nonzero()[:, 0]
            changes = [Change(rows, self._labels[rows], 1), Change(rows, self._before[rows], -1)]
        totals, masses = within_memory(lambda cells: self.rows.gains(changes, self.clusters, cells), self._cells, LEAST)
        self._totals += totals
        self._masses += masses
        # The centre of an empty cluster stays where it is: rows may come back to it.
        changed = torch.unique(torch.cat([change.clusters for change in changes]))
        changed = changed[self._masses[changed] > 0]
        self._place(changed, means(self._totals[changed], self._masses[changed], self.grid.scale))
        self._before, self._changed = self._labels.clone(), changed
        self._steps += 1
        self.finished = not len(changed) or self._steps > STEPS
