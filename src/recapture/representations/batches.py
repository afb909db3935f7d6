"""Rows of similar length together, as many as a budget of tokens allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

CPU_TOKENS = 1024
"""Sentences on two cores, MiniLM: 512 2.33 s, 1024 2.18, 2048 2.34, 4096 2.40, 8192 3.31; small batches pad less."""
GPU_TOKENS = 65_536
CHARACTERS = 4
"""Of a token, about: for estimates of time alone."""


def token_batches(lengths: Sequence[int], budget: int, most: int | None = None) -> Iterator[list[int]]:
    """Positions of rows, longest first, in batches whose padded size, rows x longest, stays within the budget.

    most: rows that a batch may have.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if batch and ((len(batch) + 1) * lengths[batch[0]] > budget or len(batch) == most):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
