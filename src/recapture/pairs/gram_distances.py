"""MoverScore's distances on a device: from word vectors there to one table of costs a pair of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometry.device_small import CELLS, FEWEST_CELLS, DeviceSets, padded_rows
from ..geometry.device_spheres import exact_squared
from ..geometry.devices import within_memory
from ..geometry.small_sets import similar_sizes

if TYPE_CHECKING:
    from ..representations.words import DeviceWords

_CLOSE = 1e-6
"""Squared distances below this are taken from differences, as products lose half of their digits."""


def gram_distances(
    words: DeviceWords, weights: Sequence[np.ndarray], kept: Sequence[np.ndarray | None], pairs: np.ndarray, ngram: int
) -> list[np.ndarray]:
    """For each pair of texts the Euclidean distances of their n-grams, scaled to length 1; zeros stay zeros.

    weights: of each text's pieces; kept: which of its n-grams count (None: all).
    """
    grams = _grams(words, weights, kept, ngram)
    return within_memory(lambda cells: _distances(words, *grams, pairs, cells), CELLS, FEWEST_CELLS)


def _distances(
    words: DeviceWords, grams: np.ndarray, factors: np.ndarray, sizes: np.ndarray, pairs: np.ndarray, cells: int
) -> list[np.ndarray]:
    import torch

    device = words.vectors.device
    points = torch.empty((len(grams), 3 * words.vectors.shape[2]), dtype=torch.float64, device=device)
    step = max(1, cells // points.shape[1])
    for start in range(0, len(grams), step):
        part = slice(start, start + step)
        points[part] = sum(
            _power_means(words.vectors[torch.from_numpy(grams[part, place]).to(device)])
            * torch.from_numpy(factors[part, place, None]).to(device)
            for place in range(grams.shape[1])
        )
    lengths = points.norm(dim=1, keepdim=True)
    points /= torch.where(lengths > 0, lengths, 1)
    squares = (lengths[:, 0] > 0).double()
    sets = DeviceSets(points, np.cumsum(sizes) - sizes, sizes)
    tables: list[np.ndarray] = [np.empty(0)] * len(pairs)
    for batch in similar_sizes(sizes[pairs], points.shape[1], cells, 8 * cells):
        first, second = (padded_rows(sets, pairs[batch, side])[0] for side in (0, 1))
        squared = torch.bmm(points[first], points[second].transpose(1, 2)).mul_(-2)
        squared += squares[first][..., None]
        squared += squares[second][:, None]
        pair, row, column = (squared < _CLOSE).nonzero(as_tuple=True)
        squared[pair, row, column] = exact_squared(points, first[pair, row], points, second[pair, column])
        whole = squared.sqrt_().cpu().numpy()
        for place, (at, (rows, columns)) in enumerate(zip(batch.tolist(), sizes[pairs[batch]].tolist(), strict=True)):
            tables[at] = whole[place, :rows, :columns]
    return tables


def _grams(
    words: DeviceWords, weights: Sequence[np.ndarray], kept: Sequence[np.ndarray | None], ngram: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n-grams, n) tokens and by how much they count, and how many n-grams each text has."""
    tokens, factors = [], []
    for own, chosen, begin in zip(weights, kept, (words.first + words.before).tolist(), strict=True):
        n = min(ngram, len(own))
        starts = np.arange(len(own) - n + 1) if chosen is None else chosen
        # A text of fewer pieces has one n-gram of all of them: the missing ones count 0.
        within = np.minimum(starts[:, None] + np.arange(ngram), len(own) - 1)
        tokens.append(begin + within)
        factors.append((own[within] if n > 1 else np.ones(within.shape)) * (np.arange(ngram) < n))
    return np.concatenate(tokens), np.concatenate(factors), np.array([len(each) for each in tokens], np.int64)


def _power_means(vectors: Any) -> Any:
    """(tokens, layers, width) -> (tokens, 3 width): the power means over layers with p = 1, +inf and -inf."""
    import torch

    return torch.cat([vectors.double().mean(1), vectors.amax(1).double(), vectors.amin(1).double()], 1)
