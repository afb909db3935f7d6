"""Memory that is used again: getting new memory takes as long as filling it, and threads wait for each other there."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

Made = TypeVar("Made")

_MOST = 1 << 24
"""Numbers of one name. More are not kept: one very long text must not take memory for good."""


class Scratch:
    """Memory by name, for one thread at a time."""

    def __init__(self) -> None:
        self._kept: dict[str, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...], kind: Any = np.float64) -> np.ndarray:
        """Of any numbers, where the last one of this name was, which had the same kind."""
        size = math.prod(shape)
        if size > _MOST:
            return np.empty(shape, kind)
        if name not in self._kept or self._kept[name].size < size:
            self._kept[name] = np.empty(size, kind)
        found: np.ndarray = self._kept[name][:size].reshape(shape)
        return found

    def zeros(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        found = self.array(name, shape)
        found.fill(0)
        return found

    def taken(self, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        """rows[places], while other threads go on."""
        shape = *places.shape, *rows.shape[1:]
        # "clip", as NumPy else fills new memory first.
        return np.take(rows, places, axis=0, out=self.array("taken", shape, rows.dtype), mode="clip")

    def doubled(self, values: np.ndarray) -> np.ndarray:
        """As float64."""
        found = self.array("doubled", values.shape)
        np.copyto(found, values)
        return found


class ScratchPool(Generic[Made]):
    """As many as threads are at work at once."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self.made: list[Made] = []
        self._free: list[Made] = []

    @contextlib.contextmanager
    def one(self) -> Iterator[Made]:
        """That nobody else uses within."""
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = self._make()
            self.made.append(scratch)
        try:
            yield scratch
        finally:
            self._free.append(scratch)
