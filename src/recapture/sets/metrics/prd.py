"""Precision and recall for distributions: how much of each set's histogram over shared clusters the other covers.

Sajjadi, Bachem, Lucic, Bousquet and Gelly (2018), Assessing Generative Models via Precision and Recall, Eqs. 8, 9.
With p the candidate's and q the reference's histogram over k-means clusters of the union,

    precision(l) = sum min(l q, p),   recall(l) = precision(l) / l,   l = tan(angle), angles over (0, pi/2)

F_8 (recall counts most) and F_1/8 (precision counts most) are maxima of F_beta along the curve. All numbers are means
over seeded clusterings; `spread` is their standard deviation.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import MOST_CLUSTERINGS, MOST_OF_ANYTHING, check_count
from ...geometry.clusters import ClusterRows
from ...geometry.histograms import Clusterings, Histograms, Score
from ...geometry.kmeans import DESCRIPTION, kmeans
from ...geometry.parallel import blocks
from ...report.result import Result
from ..clustered import few_different, kept_clusterings, one_clustering, spread_over_clusterings
from ..declaration import CurveOf, Measurement, Output, Relabelled, SetMetric
from ..metric_functions import Options, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.vectors import SampleSet

_BETAS = {"f8": 8.0, "f1_8": 1 / 8}
# Pairs of histograms whose curves are looked at together.
_AT_ONCE = 1024
MOST_ANGLES = 10_000


@set_function
def prd(
    reference: SampleSet,
    candidate: SampleSet,
    clusters: int = 20,
    angles: int = 1001,
    clusterings: int = 10,
    **options: Unpack[Options],
) -> Result:
    """Precision and recall for distributions: how much of each set's histogram over clusters the other covers.

    Parameters
    ----------
    {sides}
    clusters : int, default 20
        How many clusters of both sets together.
    angles : int, default 1001
        How many points the curve has.
    clusterings : int, default 10
        How many seeded clusterings the numbers are means over.
    {options}

    Returns
    -------
    Result
        `.f8` (recall counts most: variety) and `.f1_8` (precision counts most: quality), from 0 to 1, higher is better;
        their `.spread` over clusterings; the mean curve as `.precision` and `.recall`.

    Examples
    --------
    Equal sets score 1.

    >>> import recapture as rc
    >>> same = [[0, 0], [1, 0], [0, 1], [5, 5], [6, 5], [5, 6]]
    >>> result = rc.prd(same, same, clusters=2)
    >>> round(result.f8, 6), round(result.f1_8, 6)
    (1.0, 1.0)
    """
    parameters: dict[str, Any] = {"clusters": clusters, "angles": angles, "clusterings": clusterings}
    return measure(METRIC, reference, candidate, **parameters, **options)


def prd_curve(reference: np.ndarray, candidate: np.ndarray, angles: int = 1001) -> tuple[np.ndarray, np.ndarray]:
    """(precision, recall) along the curve, from two histograms over the same bins."""
    return _curve_at(_slopes(angles), reference, candidate)


def f_beta(precision: np.ndarray, recall: np.ndarray, beta: float) -> np.ndarray:
    """The largest F_beta along each curve (the last axis)."""
    top = (1 + beta**2) * precision * recall
    bottom = beta**2 * precision + recall
    best: np.ndarray = np.max(np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0), axis=-1)
    return best


def _slopes(angles: int) -> np.ndarray:
    edge = 1e-10
    return np.tan(np.linspace(edge, np.pi / 2 - edge, angles))


def _curve_at(slopes: np.ndarray, reference: np.ndarray, candidate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(precision, recall) at some slopes (the last axis); histograms along their last axis."""
    shares = slopes[..., None] * reference[..., None, :]
    precision = np.minimum(shares, candidate[..., None, :], out=shares).sum(axis=-1)
    return np.clip(precision, 0, 1), np.clip(precision / slopes, 0, 1)


def f_scores(histograms: Histograms, angles: int) -> dict[str, np.ndarray]:
    """Both F scores of many pairs of histograms.

    For l between two neighbouring ratios p / q precision is A + B l, and F_beta = (1 + beta^2) (A + B l) /
    (1 + beta^2 l) only rises or only falls: it is largest at an end of the curve or at an angle beside a ratio.
    """
    slopes = _slopes(angles)
    scores = {name: np.empty(len(histograms.code)) for name in _BETAS}
    for part in blocks(len(histograms.code), _AT_ONCE):
        reference, candidate = histograms.shares(part)
        # Where the reference's share is 0 the ratio lies beyond the last angle.
        ratio = np.divide(candidate, reference, out=np.full_like(reference, np.inf), where=reference > 0)
        after = np.searchsorted(slopes, ratio)
        angle = np.concatenate([after - 1, after, np.broadcast_to([0, angles - 1], (len(after), 2))], axis=1)
        curve = _curve_at(slopes[np.clip(angle, 0, angles - 1)], reference, candidate)
        for name, beta in _BETAS.items():
            scores[name][part] = f_beta(*curve, beta)
    return scores


def _prepare(pair: Pair, clusters: int, angles: int, clusterings: int, seed: int) -> tuple[Clusterings, Score]:
    clusters = check_count("clusters", clusters, 1, MOST_OF_ANYTHING)
    angles = check_count("angles", angles, 3, MOST_ANGLES)
    clusterings = check_count("clusterings", clusterings, 1, MOST_CLUSTERINGS)

    def cluster() -> Clusterings:
        rows = ClusterRows.of(pair.reference.values, pair.candidate.values).centred()
        used = min(clusters, len(rows))
        label = kmeans(rows.values, rows.weight, used, range(seed, seed + clusterings))
        return Clusterings(label[:, rows.inverse], used)

    clustered = kept_clusterings(pair, ("prd", clusters, clusterings, seed), cluster)
    return clustered, partial(f_scores, angles=angles)


def _measure(pair: Pair, clusters: int, angles: int, clusterings: int, seed: int) -> Measurement:
    clustered, score = _prepare(pair, clusters, angles, clusterings, seed)
    observed = clustered.observed(len(pair.reference))
    scores = clustered.score(observed, score)
    histograms = clustered.histograms(observed)
    curves = [prd_curve(*each, angles) for each in zip(*histograms.shares(slice(None)), strict=True)]
    precision, recall = np.mean(curves, axis=0)
    return Measurement(
        values={name: float(each.mean(axis=1)[0]) for name, each in scores.items()},
        details={"spread": spread_over_clusterings(scores)},
        curves={"precision": precision, "recall": recall},
        warnings=(
            *few_different(clustered.clusters, clusters),
            *pair.unequal_sizes("the larger set shapes the clusters more"),
        ),
        settings={"k-means": DESCRIPTION},
    )


def _relabel(pair: Pair, **parameters: Any) -> Relabelled:
    clustered, score = _prepare(pair, **parameters)
    return partial(clustered.means, score=score)


METRIC = SetMetric(
    name="prd",
    title="Precision and recall for distributions",
    outputs=(
        Output(
            "f8", "F_8: mostly recall (variety)", aspect="variety", notices="kinds of texts that are missing or rare"
        ),
        Output(
            "f1_8",
            "F_1/8: mostly precision (quality)",
            aspect="fidelity",
            notices="kinds of texts that people seldom write",
        ),
    ),
    direction="higher",
    measure=_measure,
    relabel=_relabel,
    depends_on_pool=True,
    settle=one_clustering,
    defaults={"clusters": 20, "angles": 1001, "clusterings": 10, "seed": 0},
    swapped={"f8": "f1_8", "f1_8": "f8"},
    order=40,
    drawn=(CurveOf("Precision and recall for distributions", "recall", "precision", "recall", "precision"),),
    citation="Sajjadi et al. 2018, Assessing Generative Models via Precision and Recall, NeurIPS",
)
