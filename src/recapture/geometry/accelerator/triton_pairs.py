"""The fused pass of `near_pairs`, in Triton."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .near_pairs import Block


@triton.jit
def _pass(
    rows_at, columns_at, row_term, column_term, row_limit, column_limit, room, counter,
    start, stop, columns, capacity, same_until,
    WIDTH: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
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
        left = rows_at + safe_row[:, None] * WIDTH + k[None, :]
        right = columns_at + safe_column[None, :] * WIDTH + k[:, None]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(0, WIDTH, BK):
            total = tl.dot(tl.load(left), tl.load(right), total)
            left += BK
            right += BK
        of_row = tl.load(row_term + safe_row)
        of_column = tl.load(column_term + safe_column)
        limit_row = tl.load(row_limit + safe_row)
        limit_column = tl.load(column_limit + safe_column)
        near = (total - of_column[None, :] >= limit_row[:, None]) | (total - of_row[:, None] >= limit_column[None, :])
        near = near & inside_row[:, None] & inside_column[None, :]
        near = near & ((row[:, None] >= same_until) | (column[None, :] > row[:, None]))
        if tl.max(tl.max(near.to(tl.int32), axis=1), axis=0) > 0:
            place = tl.atomic_add(counter + tl.zeros((BM, BN), dtype=tl.int32), 1, mask=near, sem="relaxed")
            key = (row[:, None].to(tl.int64) << 32) | column[None, :].to(tl.int64)
            tl.store(room + place, key, mask=near & (place < capacity))


def run(
    block: Block, start: int, stop: int, room: Any, tile: tuple[int, int, int, int, int, int] = (128, 256, 64, 8, 8, 3)
) -> int:
    bm, bn, bk, group, warps, stages = tile
    counter = torch.zeros(1, dtype=torch.int64, device=room.device)
    columns = len(block.columns.half)
    grid = (triton.cdiv(stop - start, bm) * triton.cdiv(columns, bn),)
    _pass[grid](
        block.rows.half, block.columns.half, block.rows.term, block.columns.term,
        block.row_threshold, block.column_threshold, room, counter,
        start, stop, columns, len(room), block.same_until,
        WIDTH=block.rows.half.shape[1], BM=bm, BN=bn, BK=bk, GROUP=group, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return int(counter.item())
