"""k-means of many small sets of as many rows each: all seeded clusterings of all of them together.

The rule is that of `kmeans`: seed s draws its numbers from default_rng(s), one for the first centre (a sample drawn at
random) and 2 + floor(ln clusters) for each of the others (as many rows drawn in proportion to their squared distance
from the centres so far; the one that leaves the least sum of squared distances is taken). Two rows that are each
other's nearest often leave the same sum: sums within a hair of the least are equal, and the lowest row wins. Then at
most 30 of Lloyd's steps: a row leaves its centre only for one that is strictly nearer, and an empty cluster's centre
stays where it is. The draws depend on the seed and the number of clusters alone; rows come sorted (`clusters`).

With K the inner products of a set's rows, w their weights and W a cluster's weight, a row's product with the
cluster's centre is sum w_j K_j / W over the cluster's rows j. A step only adds and subtracts the rows of K of those
that moved. Sets of one size need no padding, and no number of one set enters those of another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .kmeans import kmeans
from .products import power_of_two_below

_STEPS = 30
_HAIR = 1e-9
# More rows would need too large a table, and from so many clusters on `kmeans` draws by another rule.
_MOST_ROWS, _MOST_CLUSTERS = 2048, 128


def small_kmeans(
    rows: Sequence[np.ndarray], weight: Sequence[np.ndarray], clusters: int, seeds: Sequence[int]
) -> np.ndarray:
    """(sets, seeds, rows) the cluster of every row in each clustering. Large sets are left to `kmeans`.

    rows: of each set, all different and sorted, as many as any other set has. weight: how many samples each stands for.
    """
    count = len(rows[0])
    if not clusters < count <= _MOST_ROWS or not 1 < clusters <= _MOST_CLUSTERS:
        weighted_sets = zip(rows, weight, strict=True)
        return np.stack(
            [kmeans(_centred(own).astype(np.float32), mass, clusters, seeds) for own, mass in weighted_sets]
        )
    table = np.empty((len(rows), count, count))
    for own, products in zip(rows, table, strict=True):
        centred = _centred(own)
        np.dot(centred, centred.T, out=products)
    runs = _Runs(table, np.stack(weight).astype(np.float64), len(seeds))
    return _lloyd(runs, _first_centres(runs, clusters, seeds)).reshape(len(rows), len(seeds), count)


def _centred(rows: np.ndarray) -> np.ndarray:
    """Rows around their mean, of a size around 1; a power of two changes no digit."""
    centred = rows.astype(np.float64)
    centred -= centred.mean(axis=0)
    centred *= power_of_two_below(float(np.abs(centred).max()))
    return centred


class _Runs:
    """Every clustering of every set is one run: all of the first set, then all of the second, and so on."""

    def __init__(self, table: np.ndarray, weight: np.ndarray, seeds: int) -> None:
        self.table = table
        """(sets, rows, rows) inner products"""
        self.norm = np.diagonal(table, axis1=1, axis2=2)
        self.set = np.repeat(np.arange(len(table)), seeds)
        """The set of each run."""
        self.weight = weight[self.set]
        """(runs, rows)"""

    def squared_distances(self) -> np.ndarray:
        """(sets, rows, rows)"""
        squared = -2 * self.table
        squared += self.norm[:, :, None]
        squared += self.norm[:, None]
        np.maximum(squared, 0, out=squared)
        every = np.arange(squared.shape[1])
        squared[:, every, every] = 0
        return squared


def _first_centres(runs: _Runs, clusters: int, seeds: Sequence[int]) -> np.ndarray:
    """(runs, clusters) rows."""
    draws = 2 + int(math.log(clusters))
    chance = np.stack([np.random.default_rng(seed).random(1 + (clusters - 1) * draws) for seed in seeds])
    chance = np.tile(chance, (len(runs.table), 1))
    squared = runs.squared_distances()
    every = np.arange(len(runs.set))
    taken = np.empty((len(every), clusters), np.int64)
    taken[:, :1] = _draw(runs.weight, chance[:, :1])
    far = squared[runs.set, taken[:, 0]]
    for number in range(1, clusters):
        mass = far * runs.weight  # of rows taken: 0
        for run in np.flatnonzero(~mass.any(axis=1)):  # all others lie on centres: the first of them is next
            mass[run, np.setdiff1d(np.arange(mass.shape[1]), taken[run, :number])[0]] = 1
        start = 1 + (number - 1) * draws
        drawn = np.sort(_draw(mass, chance[:, start : start + draws]), axis=1)
        left = np.minimum(squared[runs.set[:, None], drawn], far[:, None])
        total = (left @ runs.weight[..., None])[..., 0]
        best = (total <= total.min(axis=1, keepdims=True) * (1 + _HAIR)).argmax(axis=1)
        far = left[every, best]
        taken[:, number] = drawn[every, best]
    return taken


def _draw(mass: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """(runs, draws) places drawn with probabilities in proportion to `mass` (runs, places)."""
    reach = np.cumsum(mass, axis=1)
    drawn: np.ndarray = np.count_nonzero(reach[:, None] <= (chance * reach[:, -1:])[..., None], axis=2)
    # Rounding must not move a draw past the last place that can be drawn.
    for run, number in np.argwhere(drawn == mass.shape[1]):
        drawn[run, number] = np.flatnonzero(mass[run])[-1]
    return drawn


def _lloyd(runs: _Runs, taken: np.ndarray) -> np.ndarray:
    """(runs, rows) labels."""
    clusters = taken.shape[1]
    labels = np.empty(runs.weight.shape, np.int64)
    going = np.arange(len(taken))
    own_set = runs.set[:, None]
    # x.c - |c|^2 / 2 of every centre c and row x: largest for the nearest centre.
    score = runs.table[own_set, taken] - 0.5 * runs.norm[own_set, taken][..., None]
    label = score.argmax(axis=1)
    sums, mass = _moves(runs, going, label, None, clusters)
    for _ in range(_STEPS):
        own = np.take_along_axis(sums, label[:, None], axis=1)[:, 0] * runs.weight[going]
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
        labels[going] = label
        moving = (label != before).any(axis=1)
        if not moving.any():
            break
        if not moving.all():
            going, label, before = going[moving], label[moving], before[moving]
            score, sums, mass = score[moving], sums[moving], mass[moving]
        more, heavier = _moves(runs, going, label, before, clusters)
        sums += more
        mass += heavier
    return labels


def _moves(
    runs: _Runs, going: np.ndarray, label: np.ndarray, before: np.ndarray | None, clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """What clusters gain: sums of weighted rows of the table (runs, clusters, rows), and weights (runs, clusters)."""
    from scipy.sparse import csr_matrix

    sets, count = runs.table.shape[:2]
    run, row = np.nonzero(np.ones_like(label, bool) if before is None else label != before)
    place, gain = clusters * run + label[run, row], runs.weight[going[run], row]
    # Tables stand one below the other; each cluster only meets its own set's.
    row += count * runs.set[going[run]]
    if before is not None:
        place = np.concatenate([place, clusters * run + before[run, row % count]])
        row, gain = np.tile(row, 2), np.concatenate([gain, -gain])
    order = np.argsort(place, kind="stable")
    slots = clusters * len(label)
    ends = np.cumsum(np.bincount(place, minlength=slots))
    change = csr_matrix((gain[order], row[order], np.append(0, ends)), (slots, sets * count))
    sums = (change @ runs.table.reshape(-1, count)).reshape(-1, clusters, count)
    return sums, np.bincount(place, gain, minlength=slots).reshape(-1, clusters)
