"""All pairs whose product reaches a threshold of either row: one pass of products, compared where they are made.

With Triton a tile of products never leaves the multiprocessor: it is compared in registers, and the few pairs that
pass are appended to one list. Without it torch makes each tile and looks at it afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .devices import lacks_memory
from .half_products import half_product
from .half_rows import HalfRows

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


class PairRoom:
    """Space on a device for near pairs."""

    def __init__(self, block: Block, most: int) -> None:
        import torch

        self.most = most
        """Pairs."""
        device = block.rows.half.device
        self.kernels = fused(block.rows.half)
        if self.kernels is not None:
            self.words = torch.empty(most, dtype=torch.int64, device=device)
            self.bits = torch.empty(most, dtype=torch.int32, device=device)


def near_pairs(block: Block, start: int, stop: int, room: PairRoom) -> tuple[int, Any]:
    """How many there are with rows from start to stop, and row * 2^32 + column of all of them; None where they are more
    than the room holds.
    """
    if room.kernels is None:
        return _by_torch(block, start, stop, room.most)
    found = room.kernels.near_words(block, start, stop, room.words, room.bits)
    if found > room.most:
        return found, None
    words, bits = room.words[:found], room.bits[:found]
    counted = _set_bits(bits)
    return counted, _spread(words, bits) if counted <= room.most else None


def _set_bits(bits: Any) -> int:
    import torch

    table = torch.tensor([number.bit_count() for number in range(256)], dtype=torch.int64, device=bits.device)
    return int((torch.bincount(bits.view(torch.uint8), minlength=256) * table).sum()) if len(bits) else 0


def _spread(words: Any, bits: Any) -> Any:
    """One number a pair: most words hold one alone."""
    import torch

    keys = []
    bits = bits.long() & 0xFFFFFFFF
    while len(words):
        lowest = bits & -bits
        keys.append(words + lowest.double().log2().round().long())  # a device may miss by a last digit
        bits = bits ^ lowest
        left = bits != 0
        words, bits = words[left], bits[left]
    return torch.cat(keys) if keys else words.clone()


def _by_torch(block: Block, start: int, stop: int, most: int) -> tuple[int, Any]:
    import torch

    found, kept = 0, [torch.empty(0, dtype=torch.int64, device=block.rows.half.device)]
    count = len(block.columns.half)
    for i in range(start, stop, _TILE):
        rows = slice(i, min(i + _TILE, stop))
        for j in range(0, count, _TILE):
            columns = slice(j, min(j + _TILE, count))
            if rows.stop <= block.same_until and columns.stop <= rows.start:
                continue
            product = half_product(block.rows.half[rows], block.columns.half[columns])
            near = product - block.columns.term[columns] >= block.row_threshold[rows, None]
            near |= product - block.rows.term[rows, None] >= block.column_threshold[columns]
            row, column = near.nonzero(as_tuple=True)
            row, column = row + rows.start, column + columns.start
            wanted = (row >= block.same_until) | (column > row)
            found += int(wanted.sum())
            if found <= most:
                kept.append((row[wanted] << 32) | column[wanted])
    return found, torch.cat(kept) if found <= most else None


def fused(values: Any) -> Any:
    """Triton's kernels, where these values can be given to them."""
    return _triton(str(values.device)) if values.device.type == "cuda" else None


@lru_cache
def _triton(device: str) -> Any:
    import torch

    try:
        from . import triton_pairs

        row, place = torch.zeros((1, 64), device=device), torch.zeros(1, dtype=torch.int64, device=device)
        triton_pairs.exact_squared(row, place, row, place)
    except (
        Exception
    ) as error:  # not installed, no C compiler, a device too old for it: torch's own products count the same
        if lacks_memory(error):
            raise
        return None
    return triton_pairs
