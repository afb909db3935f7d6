"""Precision and recall for distributions: how much of each set's histogram over shared clusters the other covers.

Sajjadi, Bachem, Lucic, Bousquet and Gelly (2018), Assessing Generative Models via Precision and Recall, Eqs. 8, 9.
With p the candidate's and q the reference's histogram over k-means clusters of the union,

    precision(l) = sum min(l q, p),   recall(l) = precision(l) / l,   l = tan(angle), angles over (0, pi/2)

F_8 (recall counts most) and F_1/8 (precision counts most) are maxima of F_beta along the curve. All numbers are means
over seeded clusterings; `spread` is their standard deviation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.distinct import distinct_rows
from ..geometry.parallel import run_tiles
from ..geometry.products import power_of_two_below
from ..results.result import Result
from .metric import Measurement, Metric, Output
from .pair import Pair
from .run import measure

# Clumps are found by then; without clumps more steps change neither inertia (.02 %) nor scores (within their spread).
_ITERATIONS = 30


def prd(
    reference: Any,
    candidate: Any,
    clusters: int = 20,
    angles: int = 1001,
    clusterings: int = 10,
    *,
    balance: bool | int = False,
    seed: int = 0,
    encoder: Any = None,
) -> Result:
    """PRD of a candidate set: `.f8`, `.f1_8`, their `.spread`, and the mean curve `.precision`, `.recall`."""
    parameters = {"clusters": clusters, "angles": angles, "clusterings": clusterings}
    return measure(METRIC, reference, candidate, balance=balance, seed=seed, encoder=encoder, **parameters)


def prd_curve(reference: np.ndarray, candidate: np.ndarray, angles: int = 1001) -> tuple[np.ndarray, np.ndarray]:
    """(precision, recall) along the curve, from two histograms over the same bins."""
    edge = 1e-10
    slopes = np.tan(np.linspace(edge, np.pi / 2 - edge, angles))[:, None]
    precision = np.minimum(slopes * reference, candidate).sum(axis=1)
    recall = precision / slopes[:, 0]
    return np.clip(precision, 0, 1), np.clip(recall, 0, 1)


def f_beta(precision: np.ndarray, recall: np.ndarray, beta: float) -> float:
    """The largest F_beta along a curve."""
    top = (1 + beta**2) * precision * recall
    bottom = beta**2 * precision + recall
    return float(np.max(np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)))


def _measure(pair: Pair, clusters: int, angles: int, clusterings: int, seed: int) -> Measurement:
    for name, value, least in (("clusters", clusters, 1), ("angles", angles, 3), ("clusterings", clusterings, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    n, m = len(pair.reference), len(pair.candidate)
    pooled = np.concatenate([pair.reference.values, pair.candidate.values])
    rows, weight, inverse = _canonical(pooled)
    curves = np.empty((clusterings, 2, angles))

    def run(number: int) -> None:
        label = _cluster(rows, weight, min(clusters, len(rows)), seed + number)[inverse]
        reference = np.bincount(label[:n], minlength=clusters) / n
        candidate = np.bincount(label[n:], minlength=clusters) / m
        curves[number] = prd_curve(reference, candidate, angles)

    run_tiles(run, range(clusterings), "clustering")
    scores = {
        "f8": [f_beta(precision, recall, 8) for precision, recall in curves],
        "f1_8": [f_beta(precision, recall, 1 / 8) for precision, recall in curves],
    }
    precision, recall = curves.mean(axis=0)
    return Measurement(
        values={name: float(np.mean(each)) for name, each in scores.items()},
        details={"spread": {name: float(np.std(each, ddof=min(1, clusterings - 1))) for name, each in scores.items()}},
        curves={"precision": precision, "recall": recall},
        warnings=(*_few(clusters, len(rows)), *pair.unequal_sizes("the larger set shapes the clusters more")),
        settings={"k-means": f"k-means++ start, at most {_ITERATIONS} iterations"},
    )


def _few(clusters: int, distinct: int) -> list[str]:
    few = f"only {distinct} different samples for {clusters} clusters: one cluster each"
    return [few] if distinct < clusters else []


def _canonical(pooled: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows in an order of their own, so that no result hangs on row order or on which set comes first."""
    distinct = distinct_rows(pooled)
    values = distinct.values.astype(np.float64)
    columns = 1
    order = np.argsort(values[:, 0], kind="stable")
    while columns < values.shape[1] and not np.diff(values[order, :columns], axis=0).any(axis=1).all():
        columns = min(2 * columns, values.shape[1])
        order = np.lexsort(values[:, :columns].T[::-1])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    values = values[order]
    values -= values.mean(axis=0)
    reach = float(np.abs(values).max())
    # A power of two changes no digit; float32 halves the work of the clustering.
    return (
        (values * power_of_two_below(reach)).astype(np.float32),
        distinct.weight[order].astype(np.float32),
        rank[distinct.inverse],
    )


def _cluster(rows: np.ndarray, weight: np.ndarray, clusters: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # One thread inside each clustering: sums of several threads would round differently with their number.
    with threadpool_limits(limits=1):
        model = KMeans(clusters, n_init=1, random_state=seed, max_iter=_ITERATIONS)
        label: np.ndarray = model.fit(rows, sample_weight=weight).labels_
    return label


METRIC = Metric(
    name="prd",
    title="Precision and recall for distributions",
    outputs=(
        Output("f8", "F_8: mostly recall (variety)"),
        Output("f1_8", "F_1/8: mostly precision (quality)"),
    ),
    direction="higher",
    measure=_measure,
    defaults={"clusters": 20, "angles": 1001, "clusterings": 10, "seed": 0},
    swapped={"f8": "f1_8", "f1_8": "f8"},
    libraries=("numpy", "scikit-learn"),
    order=40,
    citation="Sajjadi et al. 2018, Assessing Generative Models via Precision and Recall, NeurIPS",
)
