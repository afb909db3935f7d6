"""The fused pass of `near_pairs`, and exact distances of the pairs it lists, in Triton."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .near_pairs import Block

_TILE = (128, 256, 64, 32, 8, 3)
"""Rows and columns of a tile, numbers of a row at a time, tiles down a group, warps, stages: the fastest on an H200."""


# Numbers that change from call to call: kernels are compiled once, not for every kind of number.
@triton.jit(do_not_specialize=["start", "stop", "columns", "capacity", "same_until"])
def _pass(
    rows_at, columns_at, row_term, column_term, row_limit, column_limit, room, room_bits, counter,
    start, stop, columns, capacity, same_until, width,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    down = tl.cdiv(stop - start, BM)
    across = tl.cdiv(columns, BN)
    # Programs that run side by side share rows and columns, which then stay in the cache.
    per_group = GROUP * across
    group = program // per_group
    first = group * GROUP
    size = min(down - first, GROUP)
    i = first + (program % per_group) % size
    j = (program % per_group) // size
    row0 = start + i * BM
    column0 = j * BN
    if (row0 + BM > same_until) or (column0 + BN > row0):
        row = row0 + tl.arange(0, BM)
        column = column0 + tl.arange(0, BN)
        inside_row = row < stop
        inside_column = column < columns
        # What lies beyond the end is read from the last row and never counted.
        safe_row = tl.where(inside_row, row, stop - 1).to(tl.int64)
        safe_column = tl.where(inside_column, column, columns - 1).to(tl.int64)
        k = tl.arange(0, BK)
        left = rows_at + safe_row[:, None] * width + k[None, :]
        right = columns_at + safe_column[None, :] * width + k[:, None]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(0, width, BK):
            total = tl.dot(tl.load(left), tl.load(right), total)
            left += BK
            right += BK
        _append(
            total, row, column, inside_row, inside_column,
            tl.load(row_term + safe_row), tl.load(column_term + safe_column),
            tl.load(row_limit + safe_row), tl.load(column_limit + safe_column),
            room, room_bits, counter, column0, capacity, same_until, BM, BN,
        )  # fmt: skip


@triton.jit
def _append(
    total, row, column, inside_row, inside_column, of_row, of_column, limit_row, limit_column,
    room, room_bits, counter, column0, capacity, same_until, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    near = (total - of_column[None, :] >= limit_row[:, None]) | (total - of_row[:, None] >= limit_column[None, :])
    near = near & inside_row[:, None] & inside_column[None, :]
    near = near & ((row[:, None] >= same_until) | (column[None, :] > row[:, None]))
    # 32 neighbouring columns are one word: to count and place words takes a 32nd of what pairs would take.
    flags = tl.reshape(near.to(tl.int32), (BM, BN // 32, 32))
    bits = tl.sum(flags << tl.arange(0, 32)[None, None, :], axis=2)
    some = bits != 0
    if tl.max(tl.max(some.to(tl.int32), axis=1), axis=0) > 0:
        place = tl.atomic_add(counter + tl.zeros((BM, BN // 32), dtype=tl.int32), 1, mask=some, sem="relaxed")
        at = column0 + 32 * tl.arange(0, BN // 32)
        fits = some & (place < capacity)
        tl.store(room + place, (row[:, None].to(tl.int64) << 32) | at[None, :].to(tl.int64), mask=fits)
        tl.store(room_bits + place, bits, mask=fits)


@triton.jit(do_not_specialize=["count"])
def _exact(
    left, right, i_at, j_at, found, count, dimensions,
    BLOCK: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = pair < count
    i = tl.load(i_at + pair, mask=inside, other=0)
    j = tl.load(j_at + pair, mask=inside, other=0)
    total = tl.zeros((BLOCK,), dtype=tl.float64)
    for at in range(0, dimensions, WIDE):
        k = at + tl.arange(0, WIDE)
        within = inside[:, None] & (k < dimensions)[None, :]
        a = tl.load(left + i[:, None] * dimensions + k[None, :], mask=within, other=0.0).to(tl.float64)
        b = tl.load(right + j[:, None] * dimensions + k[None, :], mask=within, other=0.0).to(tl.float64)
        total += tl.sum((a - b) * (a - b), axis=1)
    tl.store(found + pair, total, mask=inside)


def near_words(block: Block, start: int, stop: int, room: Any, bits: Any) -> int:
    """Fill room with row * 2^32 + column and bits with what of the 32 columns from there is near; how many there are,
    which may be more than the room holds.
    """
    bm, bn, bk, group, warps, stages = _TILE
    counter = torch.zeros(1, dtype=torch.int64, device=room.device)
    columns, width = block.columns.half.shape
    tiles = triton.cdiv(stop - start, bm) * triton.cdiv(columns, bn)
    given = (
        block.rows.half, block.columns.half, block.rows.term, block.columns.term,
        block.row_threshold, block.column_threshold,
    )  # fmt: skip
    with torch.cuda.device(room.device):  # Triton knows no other than the current one
        _pass[(tiles,)](
            *_side_by_side(*given), room, bits, counter,
            start, stop, columns, len(room), block.same_until, width,
            BM=bm, BN=bn, BK=bk, GROUP=group, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    return int(counter.item())


def exact_squared(left: Any, i: Any, right: Any, j: Any) -> Any:
    """|left[i] - right[j]|^2 for listed pairs, in float64 from coordinate differences, without copies of rows."""
    found = torch.empty(len(i), dtype=torch.float64, device=left.device)
    if len(i):
        block = 8
        with torch.cuda.device(left.device):
            _exact[(triton.cdiv(len(i), block),)](
                *_side_by_side(left, right, i, j), found, len(i), left.shape[1], BLOCK=block, WIDE=128, num_warps=4
            )
    return found


def _side_by_side(*tensors: Any) -> list[Any]:
    """Kernels see addresses alone: a number that is repeated without copies would be followed by somebody else's."""
    return [each.contiguous() for each in tensors]
