"""All pairs of metrics compared by their agreement with people, and clusters of metrics that hardly differ.

All metrics are compared on the same cells; at the text level also on the same inputs, those on which people and all
metrics tell systems apart. Metrics are ordered by agreement, so in every pair the first agrees at least
as well as the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ...errors import InputError, OptionError, shown
from ...labellings.combine import holm
from ..data.scores_and_ratings import ScoresAndRatings
from .argument_checks import check_choice, check_share
from .coefficients import COEFFICIENTS, check_coefficient
from .common_cells import CommonCells, common_cells
from .correlation_values import check_sides
from .levels import agreement, check_level_name, shared_inputs
from .paired_bootstrap import PairedBootstrap, resampled_agreements
from .swapping import Swapping, swapped
from .system_means import system_means
from .williams import williams_test

Test = Literal["williams", "permutation", "bootstrap"]
TESTS: tuple[Test, ...] = ("williams", "permutation", "bootstrap")
_NO_WILLIAMS = {
    "text": "Williams' test is for one correlation, not for a mean of many: at the text level use the permutation test "
    "or the bootstrap",
    "global": "Williams' test takes all texts for independent, but those of one system are not, so that it finds "
    "differences that are not there: at the global level use the bootstrap over systems and inputs, or the permutation "
    "test that swaps whole systems",
}
"""Why there is none."""


@dataclass(frozen=True)
class MetricPair:
    first: str
    """Agrees at least as well as the second."""
    second: str
    delta: float
    """Agreement of the first less that of the second."""
    pvalue: float
    """Two-sided."""
    greater: float
    """One-sided: that the first agrees better."""
    adjusted: float
    """The two-sided p-value by Holm's rule for all pairs: below a level, with that chance of any false alarm."""


@dataclass(frozen=True)
class AllPairs:
    agreements: Mapping[str, float]
    """Best first; metrics that agree equally well in the order given."""
    pairs: tuple[MetricPair, ...]
    """Each two metrics once, in that order."""
    test: str
    level: str
    coefficient: str
    systems: int
    inputs: int
    """That count."""
    dropped: int
    """Inputs left out, because a score is missing."""
    dropped_cells: int
    """Cells left out because a score is missing, those of inputs left out for it among them."""
    criterion: str = "people"
    too_few: int = 0
    """Resamples of the bootstrap that were left out, with fewer than three different systems (system level)."""
    unvaried: int = 0
    """Inputs left out at the text level, on which people or some metric do not tell systems apart."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of what is drawn: resamples, seed, and swap or over."""
    smallest: Mapping[str, float] = field(default_factory=dict)
    """The smallest p-value that can come out, by kind: pvalue, adjusted, greater. Empty where nothing is drawn."""

    def clusters(
        self, alpha: float = 0.05, by: Literal["greater", "pvalue", "adjusted"] = "pvalue"
    ) -> tuple[tuple[str, ...], ...]:
        """Metrics in clusters of significance, as the ranks of WMT's metrics tasks.

        From the best metric down (mt-metrics-eval's rule): the first metric that some metric of the current cluster
        beats significantly, p <= alpha, opens the next cluster. So no metric is beaten within its cluster, but one of a
        lower cluster need not be beaten by all above.

        By default p is two-sided: which of two metrics is the better one is seen in the same data, and so a one-sided
        p of at most alpha comes about with twice that chance where the two are equal. `by="greater"` is one-sided, as
        in mt-metrics-eval and WMT's tables; `by="adjusted"` is two-sided by Holm's rule for all pairs.
        """
        check_choice("p-value", by, ("greater", "pvalue", "adjusted"))
        alpha = check_share("alpha", alpha)
        beaten = {(pair.first, pair.second) for pair in self.pairs if getattr(pair, by) <= alpha}
        clusters: list[list[str]] = []
        for name in self.agreements:
            if not clusters or any((above, name) in beaten for above in clusters[-1]):
                clusters.append([])
            clusters[-1].append(name)
        return tuple(tuple(names) for names in clusters)


def compare_all(
    metrics: Mapping[str, np.ndarray],
    human: np.ndarray,
    level: str = "system",
    coefficient: str = "pearson",
    test: str = "permutation",
    **options: Any,
) -> AllPairs:
    """Every two metrics: difference of agreement, p-values, Holm-adjusted p-values.

    metrics: name -> (systems, inputs), higher better. options: those of `swapping_test` (swap, resamples, seed) or of
    `paired_bootstrap` (over, resamples, seed). Williams' test draws nothing, so resamples and seed are the same to it;
    it is for the system level.
    """
    check_choice("test", test, TESTS)
    check_level_name(level)
    check_coefficient(coefficient)
    if len(metrics) < 2:
        raise InputError(f"comparing metrics needs at least two, but there is {len(metrics) or 'none'}")
    if test == "williams" and level in _NO_WILLIAMS:
        raise InputError(_NO_WILLIAMS[level])
    if test == "williams" and coefficient not in COEFFICIENTS:
        raise InputError(f"Williams' test is for {', '.join(COEFFICIENTS)}, not for {shown(coefficient)}")
    options = _checked(test, options)
    cells = common_cells(list(metrics.values()), human, level, coefficient)
    places = {name: at for at, name in enumerate(metrics)}
    values = {name: agreement(cells.metrics[at], cells.human, level, coefficient).value for name, at in places.items()}
    for name, value in values.items():
        if np.isnan(value):
            raise InputError(
                f"the agreement of {name} is undefined: its scores, or people's, do not differ between systems"
            )
    ordered = dict(sorted(values.items(), key=lambda named: -named[1]))
    pairs = list(combinations(ordered, 2))
    tails, few, least = _tails(
        cells, [(places[one], places[other]) for one, other in pairs], level, coefficient, test, options
    )
    compared = [
        (first, second, ordered[first] - ordered[second], *both)
        for (first, second), both in zip(pairs, tails, strict=True)
    ]
    adjusted = holm([numbers[3] for numbers in compared])
    return AllPairs(
        agreements=ordered,
        pairs=tuple(MetricPair(*numbers, float(p)) for numbers, p in zip(compared, adjusted, strict=True)),
        test=test,
        level=level,
        coefficient=coefficient,
        systems=cells.shape[0],
        inputs=cells.shape[1],
        dropped=cells.dropped,
        dropped_cells=cells.dropped_cells,
        too_few=few,
        unvaried=cells.unvaried,
        settings=options,
        smallest={
            "pvalue": least[0],
            "adjusted": min(1.0, len(pairs) * least[0]),
            "greater": least[1],
        }
        if least
        else {},
    )


def _tails(
    cells: CommonCells,
    pairs: Sequence[tuple[int, int]],
    level: str,
    coefficient: str,
    test: str,
    options: Mapping[str, Any],
) -> tuple[list[tuple[float, float]], int, tuple[float, float] | None]:
    """Of every pair of metrics, by position, the two p-values; how many resamples have too few systems; and the
    smallest p-values, two-sided and one-sided, that can come out. All pairs share what is drawn."""
    if test == "williams":
        return [_williams(cells, one, other, coefficient) for one, other in pairs], 0, None
    tests: Sequence[Swapping | PairedBootstrap]
    if test == "permutation":
        tests, few = swapped(cells, pairs, level, coefficient, **options), 0
    else:
        drawn = resampled_agreements(cells, level, coefficient, **options)
        tests, few = [drawn.paired(one, other) for one, other in pairs], drawn.too_few
    least = [min(one.smallest(tail) for one in tests) for tail in ("two-sided", "greater")]
    return [(one.under("two-sided"), one.under("greater")) for one in tests], few, (least[0], least[1])


def _williams(cells: CommonCells, one: int, other: int, coefficient: str) -> tuple[float, float]:
    first, second = cells.metrics[one], cells.metrics[other]
    r12, r13 = (agreement(metric, cells.human, "system", coefficient).value for metric in (first, second))
    r23 = agreement(first, second, "system", coefficient).value
    systems = cells.shape[0]
    two_sided, greater = (williams_test(r12, r13, r23, systems, tail).pvalue for tail in ("two-sided", "greater"))
    return two_sided, greater


def _checked(test: str, options: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "williams": ("resamples", "seed"),
        "permutation": ("swap", "resamples", "seed"),
        "bootstrap": ("over", "resamples", "seed"),
    }
    for name in options:
        if name not in known[test]:
            raise OptionError(f"{test} has no option {shown(name)}: it has {', '.join(known[test])}")
    if test == "williams":
        return {}
    return {known[test][0]: "both", "resamples": 1000, "seed": 0, **options}


def compared(
    sides: ScoresAndRatings, criterion: str, level: str, coefficient: str, test: str, **options: Any
) -> AllPairs:
    """All metrics by their agreement with one criterion."""
    check_level_name(level)
    for metric in sides.metrics:
        check_sides(sides, metric, criterion, level)
    pairs = compare_all(*_arrays(sides, criterion, test), level, coefficient, test, **options)
    return replace(pairs, criterion=criterion)


def compared_by_tests(
    sides: ScoresAndRatings,
    levels: Sequence[str],
    coefficients: Sequence[str],
    tests: Sequence[str],
    over: str,
    resamples: int,
    seed: int,
) -> tuple[list[AllPairs], list[str]]:
    """By every test, and what was left out. Williams' test is for systems: elsewhere it is left out with a note, and
    refused if nothing else is asked for."""
    wanted = [(test, level) for test in tests for level in levels]
    possible = [(test, level) for test, level in wanted if test != "williams" or level not in _NO_WILLIAMS]
    refused = [_NO_WILLIAMS[level] for test, level in wanted if test == "williams" and level in _NO_WILLIAMS]
    notes = refused if possible else []
    comparisons = []
    for test, level in possible or wanted:
        options: dict[str, Any] = {"resamples": resamples, "seed": seed}
        if test != "williams":
            options["over" if test == "bootstrap" else "swap"] = over
        comparisons += [
            compared(sides, criterion, level, coefficient, test, **options)
            for criterion in sides.human
            for coefficient in coefficients
        ]
    return comparisons, notes


def _arrays(sides: ScoresAndRatings, criterion: str, test: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All metrics as (systems, inputs), where those of whole systems have one number for all inputs."""
    human = sides.human[criterion]
    whole = [name for name, scores in sides.metrics.items() if scores.ndim == 1]
    if whole and test != "williams":
        raise InputError(f"{', '.join(whole)}: scores of whole systems can only be compared by Williams' test")
    if len(whole) == len(sides.metrics) and human.ndim == 2:
        human = system_means(human[:, shared_inputs([human], human)])
    width = 1 if len(whole) == len(sides.metrics) else len(sides.inputs)
    return {
        name: np.repeat(scores[:, None], width, axis=1) if scores.ndim == 1 else scores
        for name, scores in sides.metrics.items()
    }, human
