"""Greedy matching of two texts' token vectors, many pairs of texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..geometry.devices import within_memory
from ..geometry.small_sets import similar_sizes

if TYPE_CHECKING:
    from ..representations.words import DeviceWords

_CELLS = 1 << 20
"""Cosines held at once, and an eighth of the numbers in the vectors they are made of."""
_CELLS_THERE = 1 << 24
"""The same on a device."""


class TokenTable(NamedTuple):
    """The tokens of several texts, one below the other."""

    vectors: Any
    """(tokens, width) of length 1: an array of float32, or a tensor of float64 on a device."""
    weights: np.ndarray
    first: np.ndarray
    """Where each text begins."""
    sizes: np.ndarray


def token_table(texts: Sequence[tuple[np.ndarray, np.ndarray]]) -> TokenTable:
    """From each text's (tokens, width) vectors and its tokens' weights."""
    vectors = np.concatenate([own for own, _ in texts])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    sizes = np.array([len(weights) for _, weights in texts])
    return TokenTable(vectors, np.concatenate([weights for _, weights in texts]), np.cumsum(sizes) - sizes, sizes)


def token_table_on(words: DeviceWords, weights: Sequence[np.ndarray]) -> TokenTable:
    """From texts on a device in a single layer; float64 costs little there, and no two devices round alike."""

    def scaled(_: int) -> Any:
        vectors = words.vectors[:, 0].double()
        return vectors / vectors.norm(dim=1, keepdim=True).clamp(min=np.finfo(np.float32).tiny)

    return TokenTable(within_memory(scaled, 1, 1), np.concatenate(weights), words.first, words.sizes)


def greedy(table: TokenTable, sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each pair (two text numbers) the weighted mean best cosine of the first's tokens, and of the second's."""
    import torch

    if torch.is_tensor(table.vectors):
        means = within_memory(lambda cells: _means(table, table.vectors, sides, cells), _CELLS_THERE, _CELLS)
    else:
        means = _means(table, torch.from_numpy(table.vectors), sides, _CELLS)
    # Vectors of length 1 up to rounding have cosines of at most 1 up to rounding.
    np.clip(means, -1, 1, out=means)
    return means[:, 0], means[:, 1]


def _means(table: TokenTable, vectors: Any, sides: np.ndarray, cells: int) -> np.ndarray:
    import torch

    means = np.empty((len(sides), 2))
    for batch in similar_sizes(table.sizes[sides], vectors.shape[1], cells, 8 * cells):
        tokens, shares = zip(*(_padded(table, sides[batch, side]) for side in (0, 1)), strict=True)
        first, second = (vectors[torch.from_numpy(side_tokens).to(vectors.device)] for side_tokens in tokens)
        best = [vectors.new_full(side.shape[:2], -2.0) for side in (first, second)]
        step = max(1, cells // (first.shape[0] * first.shape[1]))
        for start in range(0, second.shape[1], step):
            cosines = torch.bmm(second[:, start : start + step], first.transpose(1, 2))
            best[1][:, start : start + step] = cosines.amax(2)
            best[0] = torch.maximum(best[0], cosines.amax(1))
        for side in (0, 1):
            means[batch, side] = (best[side].cpu().numpy().astype(np.float64) * shares[side]).sum(axis=1)
    return means


def _padded(table: TokenTable, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(texts, most tokens): which tokens, and their weights.

    Short texts are filled up with their own first token, which weighs 0 there and changes no maximum.
    """
    places = np.arange(max(1, table.sizes[texts].max()))
    real = places < table.sizes[texts, None]
    tokens = table.first[texts, None] + np.where(real, places, 0)
    # If the last text has no token, it begins after the table's end.
    tokens = np.minimum(tokens, len(table.weights) - 1)
    return tokens, np.where(real, table.weights[tokens], 0)
