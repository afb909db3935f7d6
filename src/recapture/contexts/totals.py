"""Contexts added up: means, what was left out, and their p-values combined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..labellings.combine import benjamini_hochberg, fisher, harmonic_mean_p, holm
from ..report.result import Direction
from .declaration import ContextMetric

LEVEL = 0.05


@dataclass(frozen=True)
class Combined:
    """The p-values of all contexts of one number, together."""

    harmonic_mean: float
    """Raw: rejects a little too often."""
    harmonic_mean_corrected: float
    fisher: float
    """Right only where contexts are independent."""
    level: float
    below: float
    """Share of contexts whose p-value is at most the level."""
    below_holm: float
    """The same after Holm's adjustment (no false alarm at all, but for that chance)."""
    below_bh: float
    """The same after Benjamini and Hochberg's (at most that share of false alarms)."""
    mean_log10: float
    smallest: float
    """Median over contexts of the smallest p-value each could have had."""


@dataclass(frozen=True)
class Total:
    """One number of one metric over all contexts."""

    metric: str
    number: str
    direction: Direction | None
    mean: float
    """Over the contexts that could be scored; nan where none could."""
    contexts: int
    left_out: int
    interval: tuple[float, float] | None = None
    """Of the mean, from the spread between contexts."""
    pvalues: Combined | None = None
    relabelled: float | None = None
    """Mean over contexts of what relabelled sides score: where nothing differs, the mean lies near it."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def pvalue_name(output: str) -> str:
    return "pvalue" if output == "value" else f"{output}_pvalue"


def relabelled_name(output: str) -> str:
    return f"relabelled_{output}"


def smallest_name(output: str) -> str:
    return f"smallest_{pvalue_name(output)}"


def totals_of(
    metrics: Sequence[ContextMetric],
    records: Sequence[Mapping[str, Any]],
    interval: float | None,
    alpha: float = LEVEL,
) -> list[Total]:
    """One line per number, in the order of the metrics."""
    totals = []
    for metric in metrics:
        scored = [record["scores"][metric.name] for record in records if metric.name in record["scores"]]
        # One candidate has Q(C, R) alone, which is another statistic than TRM: never in one mean.
        forms = list(dict.fromkeys(each.get("form") for each in scored)) or [None]
        for form in forms:
            alike = [each for each in scored if each.get("form") == form]
            for output in metric.outputs:
                number = output if len(forms) == 1 else f"{output}, {form}"
                left_out = len(records) - len(scored)
                totals.append(_total(metric, output, number, alike, left_out, interval, alpha))
    return totals


def _total(
    metric: ContextMetric,
    output: str,
    number: str,
    scored: Sequence[Mapping[str, Any]],
    left_out: int,
    interval: float | None,
    alpha: float,
) -> Total:
    values = np.array([each[output] for each in scored], dtype=np.float64)
    pvalues = [each[pvalue_name(output)] for each in scored if pvalue_name(output) in each]
    smallest = [each[smallest_name(output)] for each in scored if smallest_name(output) in each]
    between = None
    if interval is not None and len(values) > 1:
        low, high = metric.ranges.get(output, (-np.inf, np.inf))
        bounds = _interval(values, interval)
        between = max(low, bounds[0]), min(high, bounds[1])
    return Total(
        metric.name,
        number,
        metric.direction,
        float(values.mean()) if len(values) else float("nan"),
        len(values),
        left_out,
        between,
        _combined(np.array(pvalues), smallest, alpha) if pvalues else None,
        float(np.mean([each[relabelled_name(output)] for each in scored])) if pvalues else None,
    )


def _interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """Student's interval of a mean."""
    from scipy.stats import t

    reach = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean() - reach), float(values.mean() + reach)


def _combined(p: np.ndarray, smallest: Sequence[float], alpha: float) -> Combined:
    raw, corrected = harmonic_mean_p(p)
    return Combined(
        harmonic_mean=raw,
        harmonic_mean_corrected=corrected,
        fisher=fisher(p),
        level=alpha,
        below=float(np.mean(p <= alpha)),
        below_holm=float(np.mean(holm(p) <= alpha)),
        below_bh=float(np.mean(benjamini_hochberg(p) <= alpha)),
        mean_log10=float(np.mean(np.log10(p))),
        smallest=float(np.median(smallest)),
    )
