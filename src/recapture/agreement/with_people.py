"""How far metrics agree with people: one call for what `recapture correlate` prints, and one that compares metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..checks import check_level as check_interval
from ..checks import plain_arguments
from ..errors import InputError, nearest_names, shown
from ..page.page_parts import Page, Paged
from ..report.report import Report, Reported
from ..report.result import freeze
from .data.scores_and_ratings import Directions, Names, Scores, names_of, side_by_side
from .statistics.accuracy import SOFT_TIES, MetricAccuracy, SoftTies, accuracies_of
from .statistics.all_pairs import TESTS, AllPairs, Test, compared, compared_by_tests
from .statistics.argument_checks import Over, check_choice, check_resampling
from .statistics.coefficients import ALL_COEFFICIENTS, Coefficient
from .statistics.correlation_values import Correlation, MetricMatrix, between_metrics, correlation_values
from .statistics.levels import LEVELS, Level, check_level_name
from .tables.comparison_tables import comparison_parts, order_warnings
from .tables.correlation_tables import accuracies_part, between_part, concerns, correlations_part
from .tables.table_parts import agreement_report


@plain_arguments
def correlate(
    metric_scores: Scores,
    human_scores: Scores | Names,
    level: Level | Sequence[Level] = "system",
    coefficient: Coefficient | Sequence[Coefficient] = "pearson",
    *,
    metrics: Names | None = None,
    criteria: Names | None = None,
    directions: Directions | None = None,
    interval: float | None = None,
    over: Over = "both",
    resamples: int = 1000,
    seed: int = 0,
    tests: Test | Sequence[Test] = (),
    accuracy: bool = False,
    matrix: bool = False,
    soft_ties: SoftTies = "both-orders",
) -> Correlations:
    """The correlation of metrics' scores with people's, and all else that `recapture correlate` prints.

    Parameters
    ----------
    metric_scores
        A `ScoreMatrix` (see `read_scores`), an array (systems, inputs), or a mapping from names to such arrays; NaN is
        a missing score.
    human_scores
        The same of people's ratings, at the system level also one number per system; or the names of columns of scores
        that hold ratings (* stands for anything).
    level
        "system" correlates systems' means, "text" is the mean over inputs of the correlation across systems, "global"
        correlates all cells as one list. Several as a list.
    coefficient
        "pearson", "spearman", "kendall" (tau-b), or another treatment of ties: "kendall-a", "kendall-c", "gamma",
        "acc-eq". Several as a list.
    metrics, criteria
        Which columns of scores, and which ratings (looked for among the ratings, then among the scores). By default all
        ratings, and all metrics; of a `ScoreMatrix` those of which is known which way is better.
    directions
        {name: "lower"} for metrics that recapture does not know; * stands for anything. Correlations are of oriented
        scores, so 1 is best of all. Arrays without a name are taken as they are.
    interval
        A level such as 0.95. Over systems, or both: Fisher's z and its standard error, by normal theory or by leaving
        out one system at a time, whichever is larger. Over inputs: percentiles of the bootstrap.
    over
        "systems", "inputs" or "both": what may be other than it is for intervals, what the bootstrap as a test draws
        anew, and what the permutation test swaps together.
    resamples, seed
        Of all that is drawn.
    tests
        Compare every two metrics: "permutation", "bootstrap", "williams", or several.
    accuracy
        The share of pairs of systems that each metric ranks as people do, and its soft form, too.
    matrix
        Correlations of metrics with each other, too.
    soft_ties
        Of the soft accuracy: "both-orders", or "listed-order" as in mt-metrics-eval (see `soft_pairwise_accuracy`);
        systems are listed by name.

    Returns
    -------
    Correlations
        Rows of `Correlation`, and `.comparisons`, `.accuracies`, `.matrices` and `.warnings`; printed, it is a table,
        and each other form is a method.

    See Also
    --------
    compare_metrics : one test alone.
    metric_correlations, pairwise_accuracy, soft_pairwise_accuracy : numbers alone.

    Examples
    --------
    Four systems, two inputs; the metric ranks one of six pairs of systems the other way round.

    >>> import recapture as rc
    >>> bleu = [[0.0, 0.2], [0.1, 0.3], [0.3, 0.5], [0.2, 0.4]]
    >>> people = [[0, 2], [1, 3], [2, 4], [3, 5]]
    >>> result = rc.correlate({"bleu": bleu}, {"fluency": people}, coefficient=["pearson", "kendall"])
    >>> print(result)
     metric   pearson   kendall
     ──────────────────────────
     bleu ↑    0.8000    0.6667
    <BLANKLINE>
    correlation with fluency; system level: systems' means; 4 systems
    2 inputs, 0 dropped
    scores where lower is better (↓) are turned round first, so that 1 is best for all
    <BLANKLINE>
    >>> round(result.find("bleu", coefficient="pearson").value, 4)
    0.8
    """
    levels = _chosen("level", level, LEVELS)
    coefficients = _chosen("coefficient", coefficient, ALL_COEFFICIENTS)
    by_tests = _chosen("test", tests, TESTS) if tests is not None and len(names_of(tests, "test")) else []
    interval = check_interval(interval)
    resamples, seed = check_resampling(over, resamples, seed)
    check_choice("rule for ties", soft_ties, SOFT_TIES)
    sides = side_by_side(metric_scores, human_scores, metrics, criteria, directions)
    rows, settings = correlation_values(sides, levels, coefficients, interval, over, resamples, seed)
    notes = list(sides.notes)
    comparisons: list[AllPairs] = []
    if by_tests:
        comparisons, left_out = compared_by_tests(sides, levels, coefficients, by_tests, over, resamples, seed)
        notes += [*left_out, *order_warnings(rows, comparisons)]
    return Correlations(
        rows,
        settings,
        tuple(notes),
        tuple(map(_printed, comparisons)),
        accuracies_of(sides, resamples, seed, soft_ties) if accuracy else (),
        tuple(between_metrics(sides.metrics, of, by) for of in levels for by in coefficients) if matrix else (),
    )


@plain_arguments
def compare_metrics(
    metric_scores: Scores,
    human_scores: Scores | Names,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    test: Test = "permutation",
    *,
    metrics: Names | None = None,
    criteria: Names | None = None,
    directions: Directions | None = None,
    **options: Any,
) -> MetricComparison:
    """Which of several metrics agrees better with people: every two of them, by one test.

    Parameters
    ----------
    metric_scores, human_scores, level, coefficient, metrics, criteria, directions
        As for `correlate`, with one criterion, level and coefficient.
    test
        "permutation" swaps the two metrics' scores, "bootstrap" draws systems and inputs anew, "williams" is normal
        theory, for the system level.
    **options
        resamples and seed; swap ("both", "inputs", "systems") of the permutation test, over of the bootstrap.

    Returns
    -------
    MetricComparison
        Differences of agreement, p-values and Holm-adjusted p-values of every pair; `clusters()`.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [[0, 2], [1, 3], [2, 4], [3, 5]]
    >>> good, poor = [[1, 1], [2, 2], [4, 4], [3, 3]], [[2, 2], [1, 1], [4, 4], [3, 3]]
    >>> both = rc.compare_metrics({"good": good, "poor": poor}, people, test="williams", directions="higher")
    >>> {name: round(value, 3) for name, value in both.agreements.items()}
    {'good': 0.8, 'poor': 0.6}
    >>> both.clusters()  # four systems are too few to tell the metrics apart
    (('good', 'poor'),)
    """
    sides = side_by_side(metric_scores, human_scores, metrics, criteria, directions)
    if len(sides.human) > 1:
        raise InputError(f"metrics are compared by one criterion, but there are {', '.join(sides.human)}")
    return _printed(compared(sides, next(iter(sides.human)), level, coefficient, test, **options))


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Paged):
    """Rows of `Correlation`. Printed, it is a table; the other forms are a method each."""

    rows: tuple[Correlation, ...]
    settings: Mapping[str, Any]
    """Numbers of systems and inputs, and how intervals were made."""
    notes: tuple[str, ...] = ()
    """What was left out before anything was computed, and where tables seem to contradict each other."""
    comparisons: tuple[MetricComparison, ...] = ()
    """Of every two metrics, for each test, level, criterion and coefficient asked for."""
    accuracies: tuple[MetricAccuracy, ...] = ()
    matrices: tuple[MetricMatrix, ...] = ()
    """Correlations of metrics with each other, for each level and coefficient."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", freeze(dict(self.settings)))

    def __iter__(self) -> Iterator[Correlation]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, metric: str | None = None, **wanted: str) -> Correlation:
        """The row of a metric; criterion, level and coefficient where there are several."""
        asked = {**({} if metric is None else {"metric": metric}), **wanted}
        for name, value in asked.items():
            if name not in ("metric", "criterion", "level", "coefficient"):
                raise InputError(f"rows are found by metric, criterion, level and coefficient, not by {shown(name)}")
            known = {getattr(row, name) for row in self.rows}
            if value not in known:
                raise InputError(f"there is no {name} {value!r}: {nearest_names(value, known)}")
        rows = [row for row in self.rows if all(getattr(row, name) == value for name, value in asked.items())]
        if len(rows) != 1:
            said = ", ".join(f"{name} {value!r}" for name, value in asked.items()) or "anything"
            raise InputError(f"{len(rows)} rows are of {said}: metric, criterion, level and coefficient name one")
        return rows[0]

    @property
    def value(self) -> float:
        """Where there is one row."""
        return self._only.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where there is one row."""
        return self._only.interval

    @property
    def _only(self) -> Correlation:
        if len(self.rows) != 1:
            raise AttributeError(f"there are {len(self.rows)} correlations: see .rows, or .find(metric, criterion=...)")
        return self.rows[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes on the data, and each row's warnings with the rows they concern."""
        grouped: dict[str, list[Correlation]] = {}
        for row in self.rows:
            for warning in row.warnings:
                grouped.setdefault(warning, []).append(row)
        return (*self.notes, *(f"{concerns(rows, self.rows)}: {warning}" for warning, rows in grouped.items()))

    def to_table(self, width: int | None = None, color: bool = False) -> str:
        """For a terminal of so many columns (None: as wide as it gets); no cell stands out, so there is no colour."""
        return self.report().to_table(width)

    def report(self) -> Report:
        parts = [
            correlations_part(self.rows, self.settings),
            *(comparison_parts(self.comparisons) if self.comparisons else []),
            *([accuracies_part(self.accuracies)] if self.accuracies else []),
            *([between_part(self.matrices)] if self.matrices else []),
        ]
        return agreement_report(parts, self.warnings, self.settings)

    def page_parts(self) -> Page:
        from .agreement_page import page_of_agreement

        return page_of_agreement(self)


@dataclass(frozen=True, repr=False)
class MetricComparison(Reported, AllPairs):
    """Every two metrics by one test. Printed, it is a table; the other forms are a method each."""

    def report(self) -> Report:
        settings = {"systems": self.systems, "inputs": self.inputs, **self.settings}
        return agreement_report(comparison_parts([self]), (), settings)


def _printed(pairs: AllPairs) -> MetricComparison:
    return MetricComparison(**{field.name: getattr(pairs, field.name) for field in fields(pairs)})


def _chosen(what: str, given: Names, known: Collection[str]) -> list[str]:
    """Names of levels, coefficients or tests, each once."""
    others = {"kendall-b": "kendall", "tau": "kendall", "tau-b": "kendall"} if what == "coefficient" else {}
    names = list(dict.fromkeys(others.get(name, name) for name in names_of(given, what)))
    for name in names:
        if what == "level":
            check_level_name(name)
        if name not in known:
            raise InputError(f"unknown {what} {shown(name)}: {nearest_names(name, known)}")
    if not names:
        raise InputError(f"no {what} was named")
    return names
