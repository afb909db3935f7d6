"""MAUVE: the area under the divergence curve of two histograms over shared clusters.

Pillutla, Swayamdipta, Zellers, Thickstun, Welleck, Choi and Harchaoui (2021), MAUVE: Measuring the Gap Between Neural
Text and Human Text using Divergence Frontiers. k-means clusters rows of unit length along the principal axes that hold
90 % of their variance; with p the reference's and q the candidate's histogram over clusters and mixtures
r = w p + (1 - w) q,

    curve(w) = (exp(-c KL(q | r)), exp(-c KL(p | r))),    c = 5, 25 weights w, ends (1, 0) and (0, 1)

is followed by straight lines and `value` is the area below. Liu et al. (2021), Divergence Frontiers for Generative
Models, give the frontier integral, twice the integral over w of w KL(p | r) + (1 - w) KL(q | r), in closed form, and
advise to add 1/2 to all counts: `smoothed`. All numbers are means over seeded clusterings; `spread` is their standard
deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import MOST_CLUSTERINGS, MOST_OF_ANYTHING, check_count, check_number
from ...geometry.clusters import ClusterRows, unit_rows
from ...geometry.histograms import Clusterings, Histograms
from ...geometry.kmeans import DESCRIPTION, kmeans
from ...report.result import Result
from ..clustered import few_different, kept_clusterings, one_clustering, spread_over_clusterings
from ..declaration import CurveOf, Measurement, Output, Relabelled, SetMetric
from ..metric_functions import Options, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.vectors import SampleSet

# Mixtures keep this much of both histograms, so that no divergence is infinite.
_EDGE = 1e-6
_FEW = 100
_MOST_WEIGHTS = 10_000


@set_function
def mauve(
    reference: SampleSet,
    candidate: SampleSet,
    clusters: int | None = None,
    variance: float = 0.9,
    scaling: float = 5.0,
    weights: int = 25,
    clusterings: int = 8,
    **options: Unpack[Options],
) -> Result:
    """MAUVE of a candidate set: the area under the divergence curve of two histograms over shared clusters.

    Parameters
    ----------
    {sides}
    clusters : int, optional
        How many clusters (None: a tenth of the smaller set, at least 2).
    variance : float, default 0.9
        Clusters are made along the principal axes that hold this share of the variance.
    scaling : float, default 5.0
        The factor c of the divergences in the curve.
    weights : int, default 25
        How many mixtures of both histograms the curve goes through.
    clusterings : int, default 8
        How many seeded clusterings the numbers are means over: with 8, seeds move them by less than half of what other
        samples would.
    {options}

    Returns
    -------
    Result
        `.value` and `.smoothed` (from histograms with 1/2 added to all counts), from 0 to 1, higher is better;
        `.frontier_integral` and `.smoothed_frontier_integral`; `.spread`, standard deviations over clusterings;
        `.by_clustering`; the mean curve as `.candidate_curve` and `.reference_curve`.

    Examples
    --------
    Equal sets score 1.

    >>> import recapture as rc
    >>> same = [[1, 0], [0, 1], [1, 1], [2, 1], [1, 2], [3, 1]]
    >>> round(rc.mauve(same, same).value, 6)
    1.0
    """
    parameters: dict[str, Any] = {
        "clusters": clusters,
        "variance": variance,
        "scaling": scaling,
        "weights": weights,
        "clusterings": clusterings,
    }
    return measure(METRIC, reference, candidate, **parameters, **options)


def area(candidate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Area under curves (along the last axis) that run from (1, 0) to (0, 1)."""
    steps: np.ndarray = (candidate[..., :-1] - candidate[..., 1:]) * (reference[..., :-1] + reference[..., 1:])
    areas: np.ndarray = np.clip(steps.sum(axis=-1) / 2, 0, 1)
    return areas


def frontier_integral(reference: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Each bin's part of the frontier integral: 0 where both have the same share; all of them make at most 1."""
    both = reference + candidate
    x = np.divide(candidate - reference, both, out=np.zeros_like(both), where=both > 0)
    # (1 - (1 - x^2) atanh(x) / x) / 2 of `both`, at small x by its series: sum of x^2k / ((2k - 1) (2k + 1)).
    square = x * x
    order = np.arange(8, 0, -1)
    series = np.polyval(np.append(1 / (4.0 * order**2 - 1), 0), square)
    large = np.abs(x) > 0.1
    inner = large & (np.abs(x) < 1)
    closed = np.full_like(x, 0.5)
    closed[inner] = (1 - (1 - square[inner]) * np.arctanh(x[inner]) / x[inner]) / 2
    part: np.ndarray = both * np.where(large, closed, series)
    return part


def _terms(p: np.ndarray, q: np.ndarray, weights: int) -> np.ndarray:
    """(bins, 2 weights + 1) each bin's part of KL(q | r) and KL(p | r) for all mixtures, and of the integral."""
    w = np.linspace(_EDGE, 1 - _EDGE, weights)
    parts = [_divergence(q, p, w), _divergence(p, q, 1 - w), frontier_integral(p, q)[:, None]]
    return np.concatenate(parts, axis=1)


def _divergence(p: np.ndarray, other: np.ndarray, w: np.ndarray) -> np.ndarray:
    """p log(p / r) where r = (1 - w) p + w other; exactly 0 where both are the same."""
    rise = np.divide(other - p, p, out=np.zeros_like(p), where=p > 0)
    part: np.ndarray = -p[:, None] * np.log1p(w * rise[:, None])
    return part


def _curve(sums: np.ndarray, scaling: float) -> tuple[np.ndarray, np.ndarray]:
    """(histograms, weights + 2) both coordinates, from sums of `_terms`."""
    weights = sums.shape[1] // 2
    height = np.exp(-scaling * np.maximum(sums[:, : 2 * weights], 0))
    ends = np.zeros((len(sums), 1)), np.ones((len(sums), 1))
    return (
        np.concatenate([ends[1], height[:, :weights], ends[0]], axis=1),
        np.concatenate([ends[0], height[:, weights:], ends[1]], axis=1),
    )


def _score(
    histograms: Histograms, clusters: int, scaling: float, weights: int, all_of_it: bool = False
) -> dict[str, np.ndarray]:
    """Numbers of many pairs of histograms. What a cluster adds to a sum depends on its two counts alone."""
    from scipy.sparse import csr_matrix

    code, (n, m) = histograms.code, histograms.sizes
    kinds, place = _kinds(code)
    starts = np.arange(len(code) + 1) * code.shape[1]
    holds = csr_matrix((np.ones(code.size), place.ravel(), starts), (len(code), len(kinds)))
    a, b = histograms.counts(kinds)
    half = clusters / 2
    plain = holds @ _terms(a / n, b / m, weights)
    smooth = holds @ _terms((a + 0.5) / (n + half), (b + 0.5) / (m + half), weights)
    curve = _curve(plain, scaling)
    numbers = {"value": area(*curve), "smoothed": area(*_curve(smooth, scaling))}
    if all_of_it:
        numbers |= {"frontier_integral": plain[:, -1], "smoothed_frontier_integral": smooth[:, -1]}
        numbers |= {"candidate_curve": curve[0], "reference_curve": curve[1]}
    return numbers


def _kinds(code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different numbers, in rising order, and the place of each number among them: np.unique, without sorting where
    numbers are small.
    """
    most = int(code.max())
    if most > 4 * code.size:
        kinds, place = np.unique(code, return_inverse=True)
        return kinds, place
    there = np.zeros(most + 1, bool)
    there[code] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[code]


def _prepare(
    pair: Pair, clusters: int | None, variance: float, scaling: float, weights: int, clusterings: int, seed: int
) -> tuple[Clusterings, Callable[..., dict[str, np.ndarray]]]:
    wanted = _clusters(pair) if clusters is None else clusters
    wanted = check_count("clusters", wanted, 2, MOST_OF_ANYTHING)
    weights = check_count("weights", weights, 2, _MOST_WEIGHTS)
    clusterings = check_count("clusterings", clusterings, 1, MOST_CLUSTERINGS)
    variance = check_number("variance", variance, most=1, above=0)
    scaling = check_number("scaling", scaling, above=0)

    def cluster() -> Clusterings:
        rows = ClusterRows.of(unit_rows(pair.reference.values), unit_rows(pair.candidate.values)).principal(variance)
        used = min(wanted, len(rows)) if rows.values.shape[1] else 1
        label = kmeans(rows.values, rows.weight, used, range(seed, seed + clusterings))
        return Clusterings(label[:, rows.inverse], used)

    clustered = kept_clusterings(pair, ("mauve", wanted, variance, clusterings, seed), cluster)
    return clustered, partial(_score, clusters=clustered.clusters, scaling=scaling, weights=weights)


def _clusters(pair: Pair) -> int:
    return max(2, round(min(pair.sizes.values()) / 10))


def _measure(pair: Pair, **parameters: Any) -> Measurement:
    clusterings, score = _prepare(pair, **parameters)
    scores = clusterings.score(clusterings.observed(len(pair.reference)), partial(score, all_of_it=True))
    curves = {name: scores.pop(name)[0].mean(axis=0) for name in ("candidate_curve", "reference_curve")}
    means = {name: float(each.mean(axis=1)[0]) for name, each in scores.items()}
    wanted = parameters["clusters"] or _clusters(pair)
    return Measurement(
        values={output.name: means.pop(output.name) for output in METRIC.outputs},
        details={**means, "spread": spread_over_clusterings(scores)},
        curves={**curves, "by_clustering": scores["value"][0]},
        warnings=(
            *_small(pair),
            *few_different(clusterings.clusters, wanted),
            *pair.unequal_sizes("the larger set shapes the clusters more"),
        ),
        settings={"clusters": wanted, "k-means": DESCRIPTION},
    )


def _small(pair: Pair) -> list[str]:
    name, count = min(((each.name, len(each)) for each in (pair.reference, pair.candidate)), key=lambda each: each[1])
    small = f"{name} has only {count} samples: so few over clusters make coarse histograms"
    return [small] if count < _FEW else []


def _relabel(pair: Pair, **parameters: Any) -> Relabelled:
    clusterings, score = _prepare(pair, **parameters)
    return partial(clusterings.means, score=score)


METRIC = SetMetric(
    name="mauve",
    title="MAUVE",
    outputs=(
        Output(
            "value",
            "MAUVE: area under the divergence curve",
            notices="kinds of texts in other shares than people's, either way",
        ),
        Output(
            "smoothed",
            "MAUVE of histograms smoothed by 1/2 a cluster",
            notices="the same, less noisy for small sets",
        ),
    ),
    direction="higher",
    measure=_measure,
    relabel=_relabel,
    depends_on_pool=True,
    settle=one_clustering,
    defaults={"clusters": None, "variance": 0.9, "scaling": 5.0, "weights": 25, "clusterings": 8, "seed": 0},
    # Weights are symmetric, and clusters are those of both sets together.
    swapped={"value": "value", "smoothed": "smoothed"},
    libraries=("numpy", "scipy"),
    order=45,
    drawn=(
        CurveOf(
            "MAUVE's divergence curve",
            "candidate_curve",
            "reference_curve",
            "exp(-c KL(candidate | mixture))",
            "exp(-c KL(reference | mixture))",
        ),
    ),
    citation="Pillutla et al. 2021, MAUVE: Measuring the Gap Between Neural Text and Human Text, NeurIPS",
)
