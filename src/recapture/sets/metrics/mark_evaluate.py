"""Mark-Evaluate: how well ecology's population estimators guess |reference| + |candidate| from sphere memberships.

Mordido and Meinel (2020), Mark-Evaluate: Assessing Language Generation using Population Estimation Methods.

With n reference and m candidate samples, P = n + m, and at neighbourhood size k

    x = candidates inside a reference sphere,      y = references inside a candidate sphere,
    a = pairs with the reference in the candidate's sphere,  b = pairs with the candidate in the reference's,

    Petersen            (n + x)(m + y) / (x + y)                                                        (Eq. 3)
    Schnabel quality    P C / (C - (m - x)),  C = (k + 1) m + a                                         (Eq. 4)
    Schnabel diversity  P C / (C - (n - y)),  C = (k + 1) n + b
    CAPTURE             the N >= P of greatest likelihood with C = (k + 1) P + a + b captures           (Eqs. 6, 7)
    score               1 - min(|estimate - P| / P, 1)                                                  (Eqs. 1, 8)

Two sets that never meet do not score 0: Schnabel has the floor 1 - 1/k, CAPTURE about .745 at k = 1 and nearly 1
from k = 3 on. `adjusted` takes the floor out: (score - floor) / (1 - floor).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ... import population
from ...checks import each_count
from ...errors import InputError
from ...geometry.labels import Labels
from ...geometry.overlap import OverlapAt
from ...geometry.relabelled import SphereCounts
from ...report.result import Result
from ..declaration import Exchanged, Measurement, Output, Relabelled, SetMetric
from ..evaluate import Job, measure_pair
from ..metric_functions import Options, PairOptions, make_pair, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.encoder import EncoderLike
    from ...representations.vectors import SampleSet

_NEAR_FLOOR = 0.05
_HIGH_FLOOR = 0.97

# The estimate depends only on the number of captures, which is the same for many relabelled sets.
_capture_m0 = lru_cache(maxsize=1 << 14)(population.capture_m0)


@set_function
def mark_evaluate(reference: SampleSet, candidate: SampleSet, k: int = 1, **options: Unpack[Options]) -> Result:
    """Population scores of a candidate set against a reference set, in [0, 1], higher is better.

    Parameters
    ----------
    {sides}
    k : int, default 1
        Neighbourhood size: a sample's sphere reaches to its k-th nearest neighbour in its own set.
    {options}

    Returns
    -------
    Result
        `.petersen`, `.quality`, `.diversity` and `.capture`; `.estimates` and `.counts` behind them; `.floors`, the
        scores of sets that never meet, and `.adjusted`, the scores without the floor (None where the floor is 1).

    See Also
    --------
    mark_evaluate_sweep : the same at several k from one pass over the distances.

    Examples
    --------
    Equal sets score 1, sets that never meet 0 (at k = 1; CAPTURE's floor is higher).

    >>> import recapture as rc
    >>> near, far = [[0], [1], [3]], [[100], [101], [103]]
    >>> rc.mark_evaluate(near, near).petersen, rc.mark_evaluate(near, far).petersen
    (1.0, 0.0)
    """
    return measure(METRIC, reference, candidate, k=k, **options)


@set_function
def mark_evaluate_sweep(
    reference: SampleSet,
    candidate: SampleSet,
    ks: Iterable[int],
    *,
    encoder: EncoderLike | None = None,
    **options: Unpack[PairOptions],
) -> dict[int, Result]:
    """`mark_evaluate` at several k from one pass over the distances.

    Parameters
    ----------
    {sides}
    ks : iterable of int
        Neighbourhood sizes.
    encoder : str, path, callable or Encoder, optional
        What turns texts into vectors; see `encode`.
    {pair_options}

    Returns
    -------
    dict of int to Result
        The result at every k, in the order of `ks`.

    Examples
    --------
    Sets that never meet have the Schnabel score 1 - 1/k.

    >>> import recapture as rc
    >>> near, far = [[0], [1], [3], [4], [9]], [[100], [101], [103], [104], [109]]
    >>> {k: result.quality for k, result in rc.mark_evaluate_sweep(near, far, [1, 2, 4]).items()}
    {1: 0.0, 2: 0.5, 4: 0.75}
    """
    jobs = {k: Job(METRIC, {"k": k}) for k in each_count("k", ks, 1)}
    if not jobs:
        raise InputError("there is no k to sweep over")
    made = make_pair(reference, candidate, encoder, options)
    results = measure_pair(list(jobs.values()), made.pair, made.identity, notes=made.notes, **made.options)
    return dict(zip(jobs, results, strict=True))


def estimates(n: int, m: int, k: int, x: int, y: int, a: int, b: int) -> dict[str, float]:
    """Population sizes from the four counts."""
    total = n + m
    return {
        "petersen": population.petersen(n + x, m + y, x + y),
        "schnabel_quality": population.schnabel(total, (k + 1) * m + a, m - x),
        "schnabel_diversity": population.schnabel(total, (k + 1) * n + b, n - y),
        "capture": float(_capture_m0(total, (k + 1) * total + a + b)),
    }


def _measure(pair: Pair, k: int) -> Measurement:
    inside = pair.overlap_at(k)
    n, m = len(pair.reference), len(pair.candidate)
    counts = {"x": inside.x, "y": inside.y, "a": inside.a, "b": inside.b}
    sizes = estimates(n, m, k, **counts)
    scores = _scores(n + m, sizes)
    floors = _floors(n, m, k)
    adjusted = {name: (scores[name] - floor) / (1 - floor) if floor < 1 else None for name, floor in floors.items()}
    return Measurement(
        values=scores,
        details={"estimates": sizes, "counts": counts, "floors": floors, "adjusted": adjusted},
        arrays={"candidate_inside": inside.candidate_inside, "reference_inside": inside.reference_inside},
        warnings=(*_warnings(inside, n, m, scores, floors, adjusted), *pair.neighbourhood_warnings()),
    )


def _relabel(pair: Pair, k: int) -> Relabelled:
    def values(labels: Labels) -> dict[str, np.ndarray]:
        return _of_counts(*labels.counts, k, pair.counts_under(labels, k))

    return values


def _exchange(pair: Pair, k: int) -> Exchanged:
    def differences(first: np.ndarray) -> dict[str, np.ndarray]:
        n, m = (np.full(len(first), count) for count in (len(pair.reference), len(pair.candidate) // 2))
        one, two = (_of_counts(n, m, k, counts) for counts in pair.exchanged_counts(first, k))
        return {name: each - two[name] for name, each in one.items()}

    return differences


def _of_counts(references: np.ndarray, candidates: np.ndarray, k: int, counts: SphereCounts) -> dict[str, np.ndarray]:
    columns = (references, candidates, *(getattr(counts, name) for name in "xyab"))
    # One by one as Python's whole numbers, which cannot overflow; equal counts are scored once.
    by_labelling = list(zip(*(column.tolist() for column in columns), strict=True))
    scores = {(n, m, *four): _scores(n + m, estimates(n, m, k, *four)) for n, m, *four in set(by_labelling)}
    return {output.name: np.array([scores[each][output.name] for each in by_labelling]) for output in METRIC.outputs}


def _floors(n: int, m: int, k: int) -> dict[str, float]:
    """The scores of two sets that never meet."""
    return _scores(n + m, estimates(n, m, k, x=0, y=0, a=0, b=0))


def _scores(total: int, sizes: Mapping[str, float]) -> dict[str, float]:
    names = {"petersen": "petersen", "quality": "schnabel_quality", "diversity": "schnabel_diversity"}
    names["capture"] = "capture"
    return {name: population.score(total, sizes[source]) for name, source in names.items()}


def _warnings(
    inside: OverlapAt,
    n: int,
    m: int,
    scores: Mapping[str, float],
    floors: Mapping[str, float],
    adjusted: Mapping[str, float | None],
) -> list[str]:
    warnings = []
    if inside.x == m or inside.y == n:
        side = "precision" if inside.x == m else "recall"
        warnings.append(f"Petersen is 1 because {side} is 1, whatever the other is: it says nothing here")
    for name in ("quality", "diversity", "capture"):
        floor, value = floors[name], adjusted[name]
        if value is None:
            warnings.append(f"{name} is 1 even for sets that never meet (k = {inside.k}): it has no adjusted score")
        elif scores[name] == 1:
            warnings.append(f"{name} is saturated: closer sets would score no higher")
        elif value < _NEAR_FLOOR:
            warnings.append(f"{name} is close to its floor of {floor:.4f}, the score of sets that never meet")
        elif floor > _HIGH_FLOOR:
            warnings.append(f"{name} can only move between {floor:.4f} and 1 at k = {inside.k}: use its adjusted score")
    return warnings


METRIC = SetMetric(
    name="mark-evaluate",
    title="Mark-Evaluate",
    outputs=(
        Output(
            "petersen",
            "Petersen: one marking, one recapture",
            notices="texts unlike people's and kinds that are missing, together",
        ),
        Output("quality", "Schnabel(reference, candidate)", aspect="fidelity", notices="texts unlike people's"),
        Output(
            "diversity",
            "Schnabel(candidate, reference)",
            aspect="variety",
            notices="kinds of human texts that are missing",
        ),
        Output("capture", "CAPTURE, model M0", notices="texts unlike people's and kinds that are missing, together"),
    ),
    direction="higher",
    measure=_measure,
    relabel=_relabel,
    exchange=_exchange,
    floors=_floors,
    defaults={"k": 1},
    swapped={"petersen": "petersen", "quality": "diversity", "diversity": "quality", "capture": "capture"},
    order=10,
    citation="Mordido and Meinel 2020, Mark-Evaluate, COLING",
)
