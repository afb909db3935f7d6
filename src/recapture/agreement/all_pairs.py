"""All pairs of metrics compared by their agreement with people, and clusters of metrics that hardly differ.

All metrics are compared on the same cells; at the text level also on the same inputs, those on which people and all
metrics tell systems apart. Metrics are ordered by agreement, so in every pair the first agrees at least
as well as the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from ..labellings.combine import holm
from .batches import Cells, check_choice, check_share, common_cells
from .coefficients import COEFFICIENTS, check_coefficient
from .levels import agreement, check_level
from .paired_bootstrap import PairedBootstrap, resampled_agreements
from .swapping import Swapping, swapped
from .williams import williams_test

TESTS = ("williams", "permutation", "bootstrap")


@dataclass(frozen=True)
class Pair:
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
    pairs: tuple[Pair, ...]
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

    def __str__(self) -> str:
        return self._written("table")

    __repr__ = __str__

    def to_markdown(self) -> str:
        return self._written("md")

    def to_csv(self) -> str:
        """A row for every pair, then one for every metric with its cluster, in full precision."""
        return self._written("csv")

    def to_json(self) -> str:
        return self._written("json")

    def _written(self, form: str) -> str:
        from .comparisons import comparisons_parts
        from .render import written

        settings = {"systems": self.systems, "inputs": self.inputs, **self.settings}
        return written(comparisons_parts([self]), form, (), settings)

    def clusters(
        self, alpha: float = 0.05, by: Literal["greater", "pvalue", "adjusted"] = "greater"
    ) -> tuple[tuple[str, ...], ...]:
        """Metrics in clusters of significance, as the ranks of WMT's metrics tasks.

        From the best metric down (mt-metrics-eval's rule): the first metric that some metric of the current cluster
        beats significantly, p <= alpha, opens the next cluster. So no metric is beaten within its cluster, but one of a
        lower cluster need not be beaten by all above. WMT's p-values are one-sided and not adjusted, the default.
        """
        check_choice("p-value", by, ("greater", "pvalue", "adjusted"))
        check_share("alpha", alpha)
        beaten = {(each.first, each.second) for each in self.pairs if getattr(each, by) <= alpha}
        made: list[list[str]] = []
        for name in self.agreements:
            if not made or any((above, name) in beaten for above in made[-1]):
                made.append([])
            made[-1].append(name)
        return tuple(tuple(names) for names in made)


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
    it is for the system and the global level.
    """
    check_choice("test", test, TESTS)
    check_level(level)
    check_coefficient(coefficient)
    if len(metrics) < 2:
        raise InputError(f"comparing metrics needs at least two, but there is {len(metrics) or 'none'}")
    if test == "williams" and level == "text":
        raise InputError(
            "Williams' test is for one correlation, not for a mean of many: at the text level use the permutation test "
            "or the bootstrap"
        )
    if test == "williams" and coefficient not in COEFFICIENTS:
        raise InputError(f"Williams' test is for {', '.join(COEFFICIENTS)}, not for {coefficient!r}")
    options = _checked(test, options)
    cells = common_cells(list(metrics.values()), human, level, coefficient)
    places = {name: at for at, name in enumerate(metrics)}
    found = {name: agreement(cells.metrics[at], cells.human, level, coefficient).value for name, at in places.items()}
    for name, value in found.items():
        if np.isnan(value):
            raise InputError(
                f"the agreement of {name} is undefined: its scores, or people's, do not differ between systems"
            )
    ordered = dict(sorted(found.items(), key=lambda each: -each[1]))
    pairs = list(combinations(ordered, 2))
    tails, few = _tails(
        cells, [(places[one], places[other]) for one, other in pairs], level, coefficient, test, options
    )
    compared = [
        (first, second, ordered[first] - ordered[second], *both)
        for (first, second), both in zip(pairs, tails, strict=True)
    ]
    adjusted = holm([each[3] for each in compared])
    return AllPairs(
        agreements=ordered,
        pairs=tuple(Pair(*each, float(p)) for each, p in zip(compared, adjusted, strict=True)),
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
    )


def _tails(
    cells: Cells,
    pairs: Sequence[tuple[int, int]],
    level: str,
    coefficient: str,
    test: str,
    options: Mapping[str, Any],
) -> tuple[list[tuple[float, float]], int]:
    """Of every pair of metrics, by position, the two p-values; and how many resamples have too few systems. All pairs
    share what is drawn."""
    if test == "williams":
        return [_williams(cells, one, other, level, coefficient) for one, other in pairs], 0
    made: Sequence[Swapping | PairedBootstrap]
    if test == "permutation":
        made, few = swapped(cells, pairs, level, coefficient, **options), 0
    else:
        drawn = resampled_agreements(cells, level, coefficient, **options)
        made, few = [drawn.paired(one, other) for one, other in pairs], drawn.too_few
    return [(each.under("two-sided"), each.under("greater")) for each in made], few


def _williams(cells: Cells, one: int, other: int, level: str, coefficient: str) -> tuple[float, float]:
    first, second = cells.metrics[one], cells.metrics[other]
    r12, r13 = (agreement(each, cells.human, level, coefficient).value for each in (first, second))
    r23 = agreement(first, second, level, coefficient).value
    number = cells.shape[0] if level == "system" else int(cells.known.sum())
    two_sided, greater = (williams_test(r12, r13, r23, number, tail).pvalue for tail in ("two-sided", "greater"))
    return two_sided, greater


def _checked(test: str, options: Mapping[str, Any]) -> dict[str, Any]:
    known = {
        "williams": ("resamples", "seed"),
        "permutation": ("swap", "resamples", "seed"),
        "bootstrap": ("over", "resamples", "seed"),
    }
    for name in options:
        if name not in known[test]:
            raise InputError(f"{test} has no option {name!r}: it has {', '.join(known[test])}")
    if test == "williams":
        return {}
    return {known[test][0]: "both", "resamples": 1000, "seed": 0, **options}
