"""k-means of a few hundred rows: all seeded clusterings together, from one table of inner products.

The rule is that of `kmeans`: seed s draws its numbers from default_rng(s), one for the first centre (a sample drawn at
random) and 2 + floor(ln clusters) for each of the others (as many rows drawn in proportion to their squared distance
from the centres so far; the one that leaves the least sum of squared distances is taken). Two rows that are each
other's nearest often leave the same sum: sums within a hair of the least are equal, and the lowest row wins. Then at
most 30 of Lloyd's steps: a row leaves its centre only for one that is strictly nearer, and an empty cluster's centre
stays where it is. The draws hang on the seed and the number of clusters alone; rows come sorted (`clusters`).

With K the inner products of rows, w their weights and W a cluster's weight, a row's product with the cluster's centre
is sum w_j K_j / W over the cluster's rows j. A step only adds and subtracts the rows of K of those that moved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .kmeans import kmeans
from .products import power_of_two_below

_STEPS = 30
_HAIR = 1e-9
# More rows would fill a table better not made, and `kmeans` draws by another rule from so many clusters on.
_MOST_ROWS, _MOST_CLUSTERS = 2048, 128


def small_kmeans(rows: np.ndarray, weight: np.ndarray, clusters: int, seeds: Sequence[int]) -> np.ndarray:
    """(seeds, rows) the cluster of every row in each clustering. Larger sets are left to `kmeans`.

    rows: all different and sorted. weight: how many samples each stands for.
    """
    centred = rows.astype(np.float64)
    centred -= centred.mean(axis=0)
    centred *= power_of_two_below(float(np.abs(centred).max()))
    if not clusters < len(rows) <= _MOST_ROWS or not 1 < clusters <= _MOST_CLUSTERS:
        return kmeans(centred.astype(np.float32), weight, clusters, seeds)
    table = centred @ centred.T
    weight = weight.astype(np.float64)
    return _lloyd(table, weight, _first_centres(table, weight, clusters, seeds))


def _first_centres(table: np.ndarray, weight: np.ndarray, clusters: int, seeds: Sequence[int]) -> np.ndarray:
    """(seeds, clusters) rows."""
    draws = 2 + int(math.log(clusters))
    chance = np.stack([np.random.default_rng(seed).random(1 + (clusters - 1) * draws) for seed in seeds])
    norm = np.diagonal(table)
    squared = -2 * table
    squared += norm[:, None]
    squared += norm
    np.maximum(squared, 0, out=squared)
    np.fill_diagonal(squared, 0)
    taken = np.empty((len(seeds), clusters), np.int64)
    taken[:, :1] = _draw(np.broadcast_to(weight, (len(seeds), len(weight))), chance[:, :1])
    far = squared[taken[:, 0]]
    every = np.arange(len(seeds))
    for number in range(1, clusters):
        mass = far * weight  # of rows taken: 0
        for seed in np.flatnonzero(~mass.any(axis=1)):  # all others lie on centres: the first of them is next
            mass[seed, np.setdiff1d(np.arange(len(weight)), taken[seed, :number])[0]] = 1
        start = 1 + (number - 1) * draws
        drawn = np.sort(_draw(mass, chance[:, start : start + draws]), axis=1)
        left = np.minimum(squared[drawn], far[:, None])
        total = left @ weight
        best = (total <= total.min(axis=1, keepdims=True) * (1 + _HAIR)).argmax(axis=1)
        far = left[every, best]
        taken[:, number] = drawn[every, best]
    return taken


def _draw(mass: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """(seeds, draws) places drawn with probabilities in proportion to `mass` (seeds, places)."""
    reach = np.cumsum(mass, axis=1)
    drawn: np.ndarray = np.count_nonzero(reach[:, None] <= (chance * reach[:, -1:])[..., None], axis=2)
    # Rounding may not carry a draw past the last place that can be drawn.
    for seed, number in np.argwhere(drawn == mass.shape[1]):
        drawn[seed, number] = np.flatnonzero(mass[seed])[-1]
    return drawn


def _lloyd(table: np.ndarray, weight: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """(seeds, rows) labels."""
    seeds, clusters = taken.shape
    count = len(weight)
    found = np.empty((seeds, count), np.int64)
    going = np.arange(seeds)
    # x.c - |c|^2 / 2 of every centre c and row x: largest for the nearest centre.
    score = table[taken] - 0.5 * np.diagonal(table)[taken][..., None]
    label = score.argmax(axis=1)
    sums, mass = _moves(table, weight, label, None, clusters)
    for _ in range(_STEPS):
        own = np.take_along_axis(sums, label[:, None], axis=1)[:, 0] * weight
        place = label + clusters * np.arange(len(label))[:, None]
        length = np.bincount(place.reshape(-1), own.reshape(-1), minlength=mass.size).reshape(mass.shape)
        filled = mass > 0
        share = np.divide(1, mass, out=np.zeros_like(mass), where=filled)
        kept = score[~filled]
        np.multiply(sums, share[..., None], out=score)
        score -= (0.5 * length * share**2)[..., None]
        score[~filled] = kept
        before = label
        stay = np.take_along_axis(score, before[:, None], axis=1)[:, 0] >= score.max(axis=1)
        label = np.where(stay, before, score.argmax(axis=1))
        moving = (label != before).any(axis=1)
        found[going] = label
        if not moving.any():
            break
        if not moving.all():
            going, label, before = going[moving], label[moving], before[moving]
            score, sums, mass = score[moving], sums[moving], mass[moving]
        more, heavier = _moves(table, weight, label, before, clusters)
        sums += more
        mass += heavier
    return found


def _moves(
    table: np.ndarray, weight: np.ndarray, label: np.ndarray, before: np.ndarray | None, clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """What clusters gain: sums of weighted rows of the table (seeds, clusters, rows), and weights (seeds, clusters)."""
    from scipy.sparse import csr_matrix

    seeds, count = label.shape
    offset = clusters * np.arange(seeds)[:, None]
    if before is None:
        place = (label + offset).reshape(-1)
        row = np.tile(np.arange(count), seeds)
        gain = weight[row]
    else:
        seed, moved = np.nonzero(label != before)
        place = np.concatenate([label[seed, moved], before[seed, moved]]) + np.tile(offset[seed, 0], 2)
        row = np.tile(moved, 2)
        gain = np.concatenate([weight[moved], -weight[moved]])
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place, minlength=seeds * clusters))
    change = csr_matrix((gain[order], row[order], np.append(0, ends)), (seeds * clusters, count))
    heavier = np.bincount(place, gain, minlength=seeds * clusters)
    return (change @ table).reshape(seeds, clusters, count), heavier.reshape(seeds, clusters)
