"""Rows of similar length together, as many as a budget of tokens allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

CPU_TOKENS = 1024
"""Sentences on two cores, MiniLM: 512 2.33 s, 1024 2.18, 2048 2.34, 4096 2.40, 8192 3.31; small batches pad less."""
GPU_TOKENS = 65_536
CHARACTERS = 4
"""Of a token, about: for estimates of time alone."""


def token_batches(lengths: Sequence[int] | np.ndarray, budget: int, most: int | None = None) -> Iterator[np.ndarray]:
    """Positions of rows, longest first, in batches whose padded size, rows x longest, stays within the budget.

    most: rows that a batch may have.
    """
    sizes = np.asarray(lengths, np.int64)
    order = np.argsort(-sizes, kind="stable")
    start = 0
    while start < len(order):
        longest = int(sizes[order[start]])
        rows = max(1, budget // longest) if longest else len(order)
        stop = start + min(rows, most or rows)
        yield order[start:stop]
        start = stop
