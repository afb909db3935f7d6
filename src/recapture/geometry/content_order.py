"""An order of samples that their content alone decides: nothing drawn at random depends on how they were listed.

Rows are ordered by a weighted sum of their numbers, with fixed weights: one pass, and rows that differ by rounding
alone (another machine, another batch) keep their places but for near ties. A hash would throw them anywhere.
"""

from __future__ import annotations

import numpy as np

from .parallel import blocks, run_tiles
from .sparse_rows import Rows

_SEED = 20
_ROWS = 512
_ROUNDS = 32
"""Steps of telling texts apart by their distances; only large, perfectly regular matrices would need more."""


def content_order(values: Rows) -> np.ndarray:
    """(rows,) the places of the rows in order of content. Equal rows (0.0 equals -0.0) follow each other."""
    keys = _keys(values)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    tied = np.flatnonzero(ordered[1:] == ordered[:-1])
    differ = tied[_differ(values, order[tied], order[tied + 1])]
    if len(differ):
        # Different rows with one sum: whole rows are compared, column by column.
        run = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
        mixed = np.flatnonzero(np.isin(run, run[differ]))
        rows = np.asarray(values[order[mixed]])
        order[mixed] = order[mixed][np.lexsort((*rows.T[::-1], run[mixed]))]
    return order


def content_ranks(values: Rows, order: np.ndarray) -> np.ndarray:
    """(rows,) of every row, how many different rows come before it in `order`, which is that of content."""
    ranks = np.zeros(len(order), np.int64)
    ranks[order[1:]] = np.cumsum(_differ(values, order[:-1], order[1:]))
    return ranks


def square_order(square: np.ndarray, references: int) -> np.ndarray:
    """The places of texts known by their distances alone (or other scores; square, the first `references` of one side),
    in an order in which each side stays together and that does not depend on how either was listed.

    A text is known by what stands between it and the others; those alike so far by the kinds of the others; where
    several still are, they can change places, so the first of them is set apart.
    """
    count = len(square)
    pairs = np.stack([square, square.T], axis=-1).reshape(-1, 2)
    edge = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(count, count)
    kind = (np.arange(count) >= references).astype(np.int64)
    kinds = 0
    for _ in range(_ROUNDS):
        seen = np.sort(edge * count + kind, axis=1)
        kind = np.unique(np.column_stack([kind, seen]), axis=0, return_inverse=True)[1].reshape(-1)
        found = int(kind.max()) + 1
        if found == count:
            break
        if found == kinds:
            alike = int(np.argmax(np.bincount(kind) > 1))
            kind = 2 * kind + 1
            kind[np.argmax(kind == 2 * alike + 1)] -= 1
            kind = np.unique(kind, return_inverse=True)[1].reshape(-1)
            found += 1
        kinds = found
    return np.argsort(kind, kind="stable")


def _keys(values: Rows) -> np.ndarray:
    weights = np.random.default_rng(_SEED).random(values.shape[1]) + 0.5
    keys = np.empty(len(values))

    def fill(part: slice) -> None:
        # Not a matrix product: a row's sum must not depend on the rows beside it.
        keys[part] = (np.asarray(values[part]) * weights).sum(axis=1)

    run_tiles(fill, blocks(len(values), _ROWS), "order of content")
    return keys


def _differ(values: Rows, these: np.ndarray, those: np.ndarray) -> np.ndarray:
    """Whether listed rows differ from others, pair by pair."""
    differ = np.zeros(len(these), bool)
    for part in blocks(len(these), _ROWS):
        differ[part] = (np.asarray(values[these[part]]) != np.asarray(values[those[part]])).any(axis=1)
    return differ
