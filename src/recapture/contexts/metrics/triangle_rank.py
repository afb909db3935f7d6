"""Triangle-rank metrics: is the edge within one side shorter, or longer, than the edges across?

Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language Generation, Eqs. 2 to 4, after Liu and
Modarres (2011), A triangle test for equality of distribution functions in high dimensions. For single points c of C
and ordered pairs r, r' of R, let I_0, I_1, I_2 be the shares of triangles whose within edge D[r, r'] is the shortest,
the middle and the longest beside D[c, r] and D[c, r'].

    Q(C, R) = |I_0 - 1/3| + |I_1 - 1/3| + |I_2 - 1/3|        TRM = Q(C, R) + Q(R, C)

Every triangle counts; edges that tie share the credit. 0 is best: the within edge is then as often first as last.

An analytic p-value takes the six shares under relabelling as jointly normal, with the mean and covariance that they
have over all labellings (`geometry/triangle_moments`), and adds up how likely their distances from 1/3 are to reach the
observed ones (`labellings/absolute_normals`). docs/contexts.md derives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...checks import check_seed, plain_arguments
from ...declarations import Output, installed_version
from ...errors import InputError
from ...geometry.devices import on_device
from ...geometry.labels import Labels
from ...geometry.triangle_moments import triangle_moments
from ...geometry.triangles import SIXTHS, Ties, counts_under, observed_counts
from ...labellings.absolute_normals import mean_of_absolute_sum, tail_of_absolute_sum
from ...labellings.permutation import Permutation
from ...labellings.plans import Pvalue
from ...report.result import Result
from ...similarity.scorer import Similarity
from ...versions import VERSION
from ..declaration import Batch, ContextMetric, Settings, check_ties
from ..distances import Distance, as_distances, both_sides, square
from ..pairwise import PAIRWISE
from ..uncertainty import (
    ANALYTIC,
    ENOUGH_ANALYTIC,
    INSTEAD,
    Analytic,
    Asked,
    ContextScores,
    Test,
    check_analytic,
    describe,
    rough,
    tests_of,
    too_few_for_analytic,
)
from .dispersion import central_and_dispersion

PROJECTED = 2 / 3
"""Share of the variance under relabelling that sums over single texts must explain: where pairs of texts decide, as on
a circle, the law is not normal and small p-values come out far too small."""
_ROUNDING = 1e-12
_SMALLEST = 1e-300
"""No p-value is 0."""


@on_device
@plain_arguments
def triangle_rank(
    references: Sequence[object],
    candidates: Sequence[object],
    distance: Distance = "meteor",
    ties: Ties = "split",
    directed: bool = False,
    pvalue: Pvalue = False,
    *,
    seed: int = 0,
    device: str | None = None,
    **options: Any,
) -> Result:
    """Triangle-rank metric (TRM) of one context's candidates against its references.

    Parameters
    ----------
    references, candidates : sequence of str
        The texts of one context: at least two references and one candidate (with a ready matrix of distances only
        their number matters).
    distance : str, callable or array, default "meteor"
        A pairwise metric's name (meteor, cider, embedding, sentence-bleu, rouge-l, chrf, bertscore, moverscore,
        infolm), a function d(hypothesis, reference), or a square matrix of distances, references first.
    ties : {"split", "paper"}, default "split"
        "split" shares a triangle's credit among equal edges; "paper" is the printed rule, where each takes all.
    directed : bool, default False
        Q(candidates, references) alone. With one candidate there is nothing else.
    pvalue : bool, int, "exact", "sampled" or "analytic", default False
        Test whether both sides come from one distribution: True looks at all partitions up to 200,000, beyond that at
        9,999 seeded ones; a number asks for that many, or all where there are no more; "exact" always looks at all,
        "sampled" always at 9,999 seeded ones. "analytic" looks at none: the limit law of the statistic over all of
        them, for 20 texts a side or more, in seconds where 9,999 take hours (1,000 texts).
    seed : int, default 0
        For partitions that are drawn at random.
    device : str, optional
        "auto" (or None), "cpu", "cuda" or "cuda:1": where triangles are ranked, and what an encoder runs on. A GPU is
        taken unasked where there are many triangles; no number depends on it.
    **options
        The pairwise metric's own, such as df= for cider or measure= for infolm; see `list_pairwise`.

    Returns
    -------
    Result
        `.value`, 0 at best, and `.pvalue` where asked for; `.parts`, `.shares`, `.dispersion` and `.central` behind it.

    Examples
    --------
    Edges within a side are always the shortest: each side adds 2/3 + 1/3 + 1/3. Of the 6 partitions, the observed one
    and its mirror image are that far from chance.

    >>> import recapture as rc
    >>> result = rc.triangle_rank(["yes", "yes"], ["no", "no"], lambda one, other: float(one != other), pvalue=True)
    >>> round(result.value, 4), round(result.pvalue, 4)
    (2.6667, 0.3333)
    """
    references, candidates = both_sides(references, candidates)
    check_ties(ties)
    check_seed(seed)
    if device is not None and isinstance(distance, str) and "device" in PAIRWISE.find(distance).defaults:
        options["device"] = device
    edges = square(references, candidates, distance, options)
    n, m = len(references), len(candidates)
    scored = score_triangles(edges.distances[None], n, ties, directed, Asked(pvalue, seed))[0]
    if scored.unfit:
        raise InputError(f"{scored.unfit}; {INSTEAD}")
    test = scored.tests.get("value")
    form = scored.details["form"]
    warnings = [f"one candidate makes no pair: the value is {form} alone"] if m == 1 and not directed else []
    if isinstance(test, Analytic) and rough(n, m):
        warnings.append(f"an analytic p-value of fewer than {ENOUGH_ANALYTIC} texts a side is rough")
    return Result(
        metric="triangle-rank",
        values=scored.values,
        direction="lower",
        ranges={"value": (0.0, _largest(ties, form))},
        sizes={"reference": n, "candidate": m},
        warnings=(*warnings, *edges.warnings),
        signature={
            "metric": "triangle-rank",
            "form": form,
            "distance": edges.name,
            **edges.settings,
            "ties": ties,
            "versions": {"recapture": VERSION, "numpy": installed_version("numpy")},
        },
        details={**scored.details, **central_and_dispersion(edges.distances, n)},
        pvalues={"value": test.pvalue} if test else {},
        nulls={"value": test.null * scored.details["unit"]} if isinstance(test, Permutation) else {},
        inference={"pvalues": describe(test, seed)} if test else {},
    )


def score_triangles(distances: np.ndarray, n: int, ties: Ties, directed: bool, asked: Asked) -> list[ContextScores]:
    """Contexts of one shape at once. distances: (contexts, texts, texts), the first n texts references."""
    m = distances.shape[1] - n
    one_way = directed or m == 1
    unit = 1 / (SIXTHS * n * m * (n - 1) * (1 if one_way else m - 1))
    if asked.analytic:
        check_analytic(ties)
    plan = None if asked.analytic else asked.plan(n, m, symmetric=not one_way)
    tests: list[Permutation] | None = None
    if plan is not None:
        tests = tests_of(lambda contexts, labels: _under(contexts, labels, ties, one_way), distances, plan, asked.nulls)
    scored = []
    for at, context in enumerate(distances):
        counts = observed_counts(context, n, ties)
        shares = [counts[0] / (SIXTHS * n * m * (n - 1))]
        shares += [counts[1] / (SIXTHS * n * m * (m - 1))] if m > 1 else []
        names = ("candidates amid references", "references amid candidates")
        details = {
            "form": "Q(C, R)" if one_way else "Q(C, R) + Q(R, C)",
            "parts": {name: float(np.abs(share - 1 / 3).sum()) for name, share in zip(names, shares, strict=False)},
            "shares": {name: share.tolist() for name, share in zip(names, shares, strict=False)},
            "unit": unit,
        }
        value = float(_statistic(counts, n, m, one_way) * unit)
        test: Test | None = None
        expected = {}
        if asked.analytic:
            made = _analytic(context, n, value, one_way)
            if isinstance(made, str):
                scored.append(ContextScores({"value": value}, details=details, unfit=made))
                continue
            test, expected = made, {"value": made.expected}
        elif tests:
            test = tests[at]
            expected = {"value": test.expected * unit}
        scored.append(ContextScores({"value": value}, {"value": test} if test else {}, details, expected))
    return scored


def _analytic(distances: np.ndarray, n: int, value: float, one_way: bool) -> Analytic | str:
    """The test of one context by the limit law of its value; where the law does not hold, why."""
    if few := too_few_for_analytic(n, len(distances) - n):
        return few
    moments = triangle_moments(distances, n)
    used = slice(3 if one_way else 6)
    covariance, linear = moments.covariance[used, used], moments.linear[used, used]
    off = moments.centre[used] - 1 / 3
    off[np.abs(off) < _ROUNDING] = 0
    spread = float(np.trace(covariance))
    mirrored = 2 if not one_way and 2 * n == len(distances) else 1
    smallest = max(mirrored / math.comb(len(distances), n), _SMALLEST)
    if spread < _ROUNDING**2:  # no labelling changes anything: all texts alike
        return Analytic(1.0, 1.0, value, 1.0)
    projected = min(1.0, float(np.trace(linear)) / spread)
    if projected < PROJECTED:
        return (
            f"no {ANALYTIC}: single texts explain {projected:.0%} of what relabelling moves, and below {PROJECTED:.0%} "
            "the limit law does not hold"
        )
    # A value that is the law's centre but for rounding is reached.
    p = tail_of_absolute_sum(value - _ROUNDING, off, covariance)
    return Analytic(max(p, smallest), smallest, mean_of_absolute_sum(off, covariance), projected)


def _under(distances: np.ndarray, labels: Labels, ties: Ties, one_way: bool) -> np.ndarray:
    return _statistic(counts_under(distances, labels, ties), *labels.sizes, one_way)


def _statistic(counts: np.ndarray, n: int, m: int, one_way: bool) -> np.ndarray:
    """Q or TRM as a whole number of units, from (..., 2, 3) sixths."""
    triangles = n * m * (n - 1), n * m * (m - 1)
    off = [np.abs(counts[..., side, :] - SIXTHS // 3 * triangles[side]).sum(axis=-1) for side in range(2)]
    units: np.ndarray = off[0] if one_way else off[0] * (m - 1) + off[1] * (n - 1)
    return units


def _largest(ties: str, form: str) -> float:
    """All triangles of one rank: 2/3 + 1/3 + 1/3 a side; by the printed rule all ranks at once: 3 x 2/3."""
    return (4 / 3 if ties == "split" else 2.0) * (2 if "+" in form else 1)


def _over(similarity: Similarity) -> ContextMetric:
    def score(batch: Batch, settings: Settings, asked: Asked) -> list[ContextScores]:
        distances = as_distances(similarity, batch.squares[similarity.name])
        chosen = settings.ties, settings.directed, asked
        scored = score_triangles(distances, batch.references, *chosen)
        return [
            ContextScores(
                scores.values,
                scores.tests,
                {
                    **{name: value for name, value in scores.details.items() if name != "unit"},
                    **central_and_dispersion(context, batch.references),
                },
                scores.relabelled,
                scores.unfit,
            )
            for scores, context in zip(scored, distances, strict=True)
        ]

    return ContextMetric(
        name=f"trm-{similarity.name}",
        title=f"triangle rank over {similarity.title}",
        citation="Chan et al. 2022, Distribution Aware Metrics for Conditional Natural Language Generation",
        direction="lower",
        outputs=(Output("value", "how far triangles' ranks are from chance", (0.0, 4.0)),),  # 8/3 if ties split
        score=score,
        similarity=similarity.name,
        ranks_triangles=True,
        libraries=similarity.libraries,
    )


def _family() -> Iterator[ContextMetric]:
    """One over every metric between two texts."""
    return map(_over, PAIRWISE.all().values())


METRIC = _family
