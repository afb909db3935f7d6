"""One set of vectors, checked once, with what has been found about it kept for the next use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import as_matrix, ends_of
from .content_order import content_order, content_ranks
from .devices import accelerator_for, tried_on
from .distinct import DistinctRows, Folding, distinct_rows, fold_rows, occurring_in, row_hashes
from .neighbours import Neighbours
from .sparse_rows import Rows

if TYPE_CHECKING:
    from .device_spheres import DeviceSet


class PointSet:
    """A checked array of samples. Neighbours, once found, are kept: one reference serves many candidates."""

    def __init__(self, values: Any, name: str = "the set") -> None:
        self.name = name
        self.values: Rows = as_matrix(values, name)
        self._neighbours: Neighbours | None = None
        self._there: tuple[str, DeviceSet] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def folding(self) -> Folding:
        """Which samples are equal."""
        return fold_rows(self.values, self._hashes)

    @cached_property
    def _hashes(self) -> np.ndarray:
        return row_hashes(self.values)

    def which_has(self, samples: PointSet) -> np.ndarray:
        """Which of these samples stand in this set, too."""
        return occurring_in(self.values, samples.values, (self._hashes, samples._hashes))

    @cached_property
    def distinct(self) -> DistinctRows:
        return distinct_rows(self.values, self.folding)

    @cached_property
    def order(self) -> np.ndarray:
        """The places of the samples in order of content."""
        return content_order(self.values)

    @property
    def ranks(self) -> np.ndarray:
        """Of every sample, how many different ones come before it in order of content."""
        return content_ranks(self.values, self.order)

    def in_order(self) -> PointSet:
        """The set in order of content; itself where it is so already."""
        if (self.order == np.arange(len(self))).all():
            return self
        return PointSet(self.values[self.order], self.name)

    @cached_property
    def ordered(self) -> PointSet:
        """`in_order`, kept: one reference serves many candidates."""
        return self.in_order()

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number in the set."""
        return ends_of(self.values) if isinstance(self.values, np.ndarray) else (self.values.min(), self.values.max())

    @property
    def duplicates(self) -> int:
        """Rows that repeat an earlier row."""
        return len(self) - len(self.folding.first)

    def neighbours(self, k_max: int) -> Neighbours:
        if self._neighbours is None or self._neighbours.k_max < k_max:
            self._neighbours = Neighbours(self.distinct, k_max)
        return self._neighbours

    def on_device(self, device: str) -> DeviceSet:
        """The different rows there, kept: one reference serves many candidates."""
        from .device_spheres import DeviceSet

        if self._there is None or self._there[0] != device:
            self._there = device, DeviceSet(self.distinct, device)
        return self._there[1]

    def radii(self, k_max: int) -> np.ndarray:
        """(samples, k_max) distance of every sample to its 1st ... k_max-th nearest other sample."""
        device = accelerator_for(len(self), len(self)) if isinstance(self.values, np.ndarray) else None
        squared = tried_on(device, lambda device: self._squared_radii_there(device, k_max))
        if squared is None:
            squared = self.neighbours(k_max).squared_radii()
        radii: np.ndarray = np.sqrt(squared[self.distinct.inverse, :k_max])
        return radii

    def _squared_radii_there(self, device: str, k_max: int) -> np.ndarray:
        from .device_spheres import find_radii

        there = self.on_device(device)
        find_radii(there, k_max)
        return there.back(there.radii)
