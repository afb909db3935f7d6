"""Where samples lie on a map: two principal components always, and a layout by neighbours where openTSNE is installed.

Principal components are straight views: what is far apart on them is far apart, but most of the variance is not there.
t-SNE (van der Maaten and Hinton 2008) puts near ones together, and distances between its clumps say nothing. A page has
both where it can, the second first; all of it is seeded, and runs in one thread, so that a page is the same again.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, NamedTuple

import numpy as np

from ..geometry.distinct import distinct_rows
from ..geometry.kmeans import kmeans
from ..geometry.principal_plane import PrincipalPlane, principal_plane
from ..geometry.products import power_of_two_below
from ..geometry.sparse_rows import Rows

LIBRARY = "openTSNE"
PRINCIPAL = "principal components"
_DIRECTIONS = 20
"""From which neighbours are found: the rest of the variance is mostly noise."""
_FITTED = 3_000
"""Different samples whose places are found together; further ones are put among their neighbours."""
_FEWEST = 20
_PERPLEXITY = 30
_STEPS, _FIRST_STEPS = 300, 150
_NEIGHBOURS = 15
_CLUSTERS = 12
"""At most: more cannot be told apart by colour and shape."""
_SAMPLES_A_CLUSTER = 50


class Layout(NamedTuple):
    """Places of all samples."""

    name: str
    at: np.ndarray
    """(samples, 2)"""
    said: str
    """What a reader must know of it."""


class Projected(NamedTuple):
    layouts: list[Layout]
    """The one to show first, first."""
    cluster: np.ndarray
    """Of every sample, numbered from the largest on."""


def projected(rows: Rows, seed: int = 0, what: str = "samples") -> Projected:
    """what: the samples are called in sentences."""
    distinct = distinct_rows(rows)
    some = principal_plane(distinct.values, distinct.weight, seed, _DIRECTIONS)
    layouts = [_straight(some, what)]
    if len(distinct.values) >= _FEWEST and importlib.util.find_spec(LIBRARY) is not None:
        layouts.insert(0, _by_neighbours(some.at, layouts[0].at, seed, what))
    return Projected(
        [each._replace(at=each.at[distinct.inverse]) for each in layouts],
        _clusters(some, distinct.weight, distinct.inverse, seed),
    )


def _straight(plane: PrincipalPlane, what: str) -> Layout:
    return Layout(
        PRINCIPAL,
        plane.at[:, :2],
        f"{PRINCIPAL}: the two directions in which all {what} together differ most, "
        f"{min(1.0, plane.shares[:2].sum()):.0%} of "
        "their variance, so what lies together here may lie apart in others",
    )


def _by_neighbours(rows: np.ndarray, start: np.ndarray, seed: int, what: str) -> Layout:
    library: Any = importlib.import_module(LIBRARY)
    count = len(rows)
    fitted = np.arange(count)
    if count > _FITTED:
        fitted = np.sort(np.random.default_rng(seed).choice(count, _FITTED, replace=False))
    size = float(start[fitted, 0].std()) or 1.0
    found = library.TSNE(
        perplexity=min(_PERPLEXITY, (len(fitted) - 1) / 3),
        initialization=start[fitted] / size * 1e-4,
        early_exaggeration_iter=_FIRST_STEPS,
        n_iter=_STEPS,
        n_jobs=1,
        random_state=seed,
    ).fit(rows[fitted])
    at = np.empty((count, 2))
    at[fitted] = np.asarray(found)
    others = np.setdiff1d(np.arange(count), fitted)
    if len(others):
        at[others] = np.asarray(found.prepare_partial(rows[others], initialization="median", k=_NEIGHBOURS))
    more = f"; {len(fitted):,} different ones were placed so, the others among their neighbours" if len(others) else ""
    return Layout(
        "neighbours (t-SNE)",
        at,
        f"neighbours (t-SNE): {what} stand near their nearest ones; sizes of clumps and distances between them say "
        f"nothing{more}",
    )


def _clusters(some: PrincipalPlane, weight: np.ndarray, inverse: np.ndarray, seed: int) -> np.ndarray:
    """k-means of the first principal components, for colours."""
    wanted = int(np.clip(len(inverse) // _SAMPLES_A_CLUSTER, 2, _CLUSTERS))
    values: Any = some.at * power_of_two_below(float(np.abs(some.at).max()) or 1.0)
    # Different samples may have the same first components: k-means wants rows that differ.
    different, back = np.unique(values.astype(np.float32), axis=0, return_inverse=True)
    back = back.reshape(-1)
    label = kmeans(different, np.bincount(back, weights=weight).astype(np.int64), wanted, [seed])[0][back][inverse]
    _, label = np.unique(label, return_inverse=True)
    label = label.reshape(-1)
    order = np.argsort(-np.bincount(label), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    numbered: np.ndarray = rank[label]
    return numbered
