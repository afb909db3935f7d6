"""Turn what a caller gives (NumPy, torch, nested lists) into a checked two-dimensional array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import array_of
from ..errors import InputError
from .parallel import blocks, run_tiles
from .sparse_rows import Rows, SparseRows

# Beyond this a squared float64 distance could overflow, and "inside" would lose its meaning.
LARGEST_VALUE = 1e150
_LOOKED_AT_TOGETHER = 1 << 22


def as_matrix(values: Any, name: str) -> Rows:
    """The array of samples x dimensions behind `values`, in its own dtype where that is a real number type.

    Raises InputError with the offending row for NaN and infinities, and for shapes that are not a table.
    """
    matrix = values if isinstance(values, SparseRows) else _to_numpy(values, name)
    if matrix.ndim != 2:
        raise InputError(f"{name} must be samples x dimensions, but has shape {matrix.shape}")
    if matrix.shape[0] == 0:
        raise InputError(f"{name} is empty: it has no samples")
    if matrix.shape[1] == 0:
        raise InputError(f"{name} has no dimensions: its shape is {matrix.shape}")
    if isinstance(matrix, SparseRows):
        return matrix
    if matrix.dtype.kind == "f":
        if matrix.dtype.itemsize > 8:
            with np.errstate(over="ignore"):
                matrix = matrix.astype(np.float64)
        _check_finite(matrix, name)
    return np.ascontiguousarray(matrix)


def _to_numpy(values: Any, name: str) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} has masked values: fill or drop them first")
    matrix = array_of(values, name)
    if matrix.dtype.kind == "O" and matrix.ndim == 1:  # a column of vectors
        matrix = array_of([array_of(row, name) for row in matrix], name)
    if matrix.dtype.kind == "b":
        return matrix.astype(np.uint8)
    if matrix.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold real numbers, but its type is {matrix.dtype}")
    return matrix


def _check_finite(matrix: np.ndarray, name: str) -> None:
    low, high = ends_of(matrix)
    if np.isfinite(low) and np.isfinite(high):
        if max(-low, high) > LARGEST_VALUE:
            raise InputError(f"{name} holds values beyond {LARGEST_VALUE:g}, whose squared distances overflow")
        return
    row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
    what = "NaN" if np.isnan(matrix[row]).any() else "an infinite value"
    raise InputError(f"{name} row {row} (counting from 0) holds {what}")


def ends_of(matrix: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest number, or NaN where one is: on all cores, without a copy of the data."""
    parts = blocks(len(matrix), max(1, _LOOKED_AT_TOGETHER // matrix.shape[1]))
    ends = np.empty((len(parts), 2))

    def look(place: int) -> None:
        part = matrix[parts[place]]
        ends[place] = part.min(), part.max()

    if len(parts) == 1:  # as most sets have
        look(0)
    else:
        run_tiles(look, range(len(parts)), "looking at numbers")
    return float(ends[:, 0].min()), float(ends[:, 1].max())
