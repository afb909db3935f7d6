"""All pairs whose product reaches a threshold of either row: one pass of products, compared where they are made.

With Triton a tile of products never leaves the multiprocessor: it is compared in registers, and the few pairs that
pass are appended to one list. Without it torch makes each tile and looks at it afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .bounds import HalfRows

_TILE = 4096
"""Rows and columns of a tile that torch makes."""


@dataclass(frozen=True)
class Block:
    """Some rows against some columns."""

    rows: HalfRows
    row_threshold: Any
    columns: HalfRows
    column_threshold: Any
    same_until: int = 0
    """Rows below this number are columns, too: each pair of these is looked at once, with the column behind the row."""


def near_pairs(block: Block, start: int, stop: int, room: Any) -> int:
    """Fill `room` (int64) with row * 2^32 + column for rows from start to stop; how many there are, which may be more
    than the room holds.
    """
    kernels = fused(block.rows.half)
    if kernels is not None:
        return int(kernels.run(block, start, stop, room))
    return _by_torch(block, start, stop, room)


def _by_torch(block: Block, start: int, stop: int, room: Any) -> int:
    found = 0
    count = len(block.columns.half)
    for i in range(start, stop, _TILE):
        rows = slice(i, min(i + _TILE, stop))
        for j in range(0, count, _TILE):
            columns = slice(j, min(j + _TILE, count))
            if rows.stop <= block.same_until and columns.stop <= rows.start:
                continue
            product = block.rows.half[rows].float() @ block.columns.half[columns].float().T
            near = product - block.columns.term[columns] >= block.row_threshold[rows, None]
            near |= product - block.rows.term[rows, None] >= block.column_threshold[columns]
            row, column = near.nonzero(as_tuple=True)
            row, column = row + rows.start, column + columns.start
            kept = (row >= block.same_until) | (column > row)
            keys = (row[kept] << 32) | column[kept]
            if found < len(room):
                room[found : found + len(keys)] = keys[: len(room) - found]
            found += len(keys)
    return found


def fused(values: Any) -> Any:
    """Triton's kernels, where these values can be given to them."""
    return _triton() if values.device.type == "cuda" else None


@lru_cache(maxsize=1)
def _triton() -> Any:
    try:
        from . import triton_pairs
    except ImportError:
        return None
    return triton_pairs
