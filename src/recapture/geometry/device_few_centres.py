"""Steps of several clusterings at once on a device, each with few centres: `few_centres` there.

Rows meet the centres of all clusterings in one product: with few centres to a clustering, calls take longer than work.
"""

from __future__ import annotations

from typing import Any

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
from .half_products import half_product
from .lloyd import STEPS


def labels_together(rows: DeviceRows, scale: float, centres: Any, labels: Any) -> Any:
    """(clusterings, rows) labels after Lloyd's steps to their end.

    scale: of the grid. centres: (clusterings, clusters, dimensions) float32; labels: those before rows met them all,
    in whose place the new ones are written.
    """
    together = _SideBySide(rows, scale, centres, labels)
    for _ in range(STEPS + 1):
        if not together.step():
            break
    return together.found()


class _SideBySide:
    """Clusterings side by side, until each has ended: then its labels are kept, and rows meet its centres no more."""

    def __init__(self, rows: DeviceRows, scale: float, centres: Any, labels: Any) -> None:
        import torch

        self._rows, self._scale = rows, scale
        self._found = labels
        """(clusterings, rows) of those that have ended."""
        self._going = torch.arange(len(labels), device=labels.device)
        """The numbers of the others, to which all that follows belongs."""
        self._labels = labels.T.contiguous()
        """(rows, clusterings)"""
        self._centres = centres
        self._totals = centres.double().zero_()
        self._masses = self._totals.new_zeros(centres.shape[:2])
        self._is_first = True
        self._cells = TILES
        """Products held at once: what there was memory for the last time."""

    def found(self) -> Any:
        """(clusterings, rows) labels of all."""
        self._found[self._going] = self._labels.T
        return self._found

    def step(self) -> bool:
        """Rows go where they belong, centres to the means of their rows; whether anything changed."""
        import torch

        before, self._labels = self._labels, within_memory(self._met, self._cells, LEAST)
        if not self._is_first:
            before = self._still_going(before)
        if not len(self._going):
            return False
        changes = self._changes(before)
        runs, clusters, _ = self._centres.shape
        gained = within_memory(lambda cells: self._rows.gains(changes, runs * clusters, cells), self._cells, LEAST)
        self._totals += gained[0].view_as(self._totals)
        self._masses += gained[1].view_as(self._masses)
        # The centre of an empty cluster stays where it is: rows may come back to it.
        filled = (self._masses > 0)[..., None]
        self._centres = torch.where(filled, means(self._totals, self._masses, self._scale), self._centres)
        self._is_first = False
        return True

    def _still_going(self, before: Any) -> Any:
        """Leave out clusterings in which no row has moved. before: labels before this step; returns the others'."""
        moved = (self._labels != before).any(dim=0)
        if bool(moved.all()):
            return before
        self.found()
        self._labels, before = self._labels[:, moved], before[:, moved]
        self._going, self._centres, self._totals, self._masses = (
            each[moved] for each in (self._going, self._centres, self._totals, self._masses)
        )
        return before

    def _met(self, cells: int) -> Any:
        """Labels of all rows."""
        import torch

        self._cells = cells
        runs, clusters, dimensions = self._centres.shape
        every = self._centres.view(-1, dimensions)
        terms = halved_squares(every)
        columns = half_centres(every, terms)
        margin = 2 * self._rows.margin((2 * terms.max()).sqrt(), most_lost(every))
        labels = torch.empty_like(self._labels)
        unclear = []
        step = max(1, cells // len(every))
        for start in range(0, len(labels), step):
            part = slice(start, start + step)
            product = half_product(self._rows.half[part], columns).view(-1, runs, clusters)
            best, labels[part], second = two_best(product)
            ahead = best > second + margin[part, None]
            unclear.append((~ahead).any(dim=1).nonzero()[:, 0] + start)
            del product
        self._decide(labels, torch.cat(unclear), every.double(), terms, cells)
        return labels

    def _decide(self, labels: Any, unclear: Any, centres: Any, terms: Any, cells: int) -> None:
        """Exact scores decide. unclear: rows, each of them once: where one wild row makes all others short, all are
        unclear in all clusterings.
        """
        runs, clusters, dimensions = self._centres.shape
        for rows in unclear.split(max(1, cells // (4 * (len(centres) + dimensions)))):
            exact = self._rows.values[rows].double() @ centres.T
            exact -= terms
            labels[rows] = nearest(exact.view(-1, runs, clusters), self._labels[rows])[0]

    def _changes(self, before: Any) -> list[Change]:
        """Clusters of all clusterings are numbered one after the other."""
        import torch

        runs, clusters, _ = self._centres.shape
        if self._is_first:
            rows = torch.arange(len(before), device=before.device)
            return [Change(rows, self._labels[:, run] + run * clusters, 1) for run in range(runs)]
        row, run = (self._labels != before).nonzero().unbind(1)
        first = run * clusters
        return [Change(row, first + self._labels[row, run], 1), Change(row, first + before[row, run], -1)]
