"""Intervals of a correlation for other systems of the same kind.

Percentiles of a bootstrap over few systems are too narrow: said to be of 95 %, they hold the truth in 82 to 93 %
(`python -m benchmarks agreement`). Here Fisher's z = artanh r of the data moves by so many standard errors:

- system level: the larger of the two below, times the normal quantile;
  - normal theory: 1 / sqrt(n - 3) for Pearson, sqrt((1 + r^2 / 2) / (n - 3)) for Spearman, sqrt(.437 / (n - 4)) for
    Kendall (Bonett and Wright 2000, Sample size requirements for estimating Pearson, Kendall and Spearman correlations,
    Psychometrika; Fieller, Hartley and Pearson 1957 for Kendall's .437);
  - the jackknife: one system after the other is left out, sqrt((n - 1) / n sum (z_i - mean z)^2), which sees outliers;
- text and global level: the jackknife over systems, times the quantile of Student's t with n - 1 degrees of freedom.

Where inputs may be others, too, their variance is added: that of z over resamples of inputs. At the system level the
noise of a system's mean is in the spread between systems already, so only the part that systems have in common is
added: the variance with the same inputs drawn for all systems, less that with each system's inputs drawn on their own.

Ranks reach 1 with few systems, where z is infinite: z is taken half a step of the coefficient below 1 at most, and the
upper end is 1 then. The same for -1.
"""

from __future__ import annotations

import math

import numpy as np

from .coefficients import row_correlations
from .levels import FEWEST, agreement, shared_inputs
from .resampling import BootstrapCase, input_draws, resampled, resampled_means
from .system_means import settled, slack_of, system_means, unit_scale

_CLIP = 1e-9
"""How near to 1 a coefficient of real numbers comes: z is about 10 there."""


def interval_over_systems(
    case: BootstrapCase, value: float, confidence: float, input_variance: float = 0.0
) -> tuple[float, float] | None:
    """None where there are too few systems, or a system without which there is no correlation."""
    from scipy.stats import norm, t

    systems = len(case.metric)
    of_means = case.level == "system"
    if of_means and systems <= FEWEST:
        return None
    left_out = _scaled(_without_each(case), case)
    if np.isnan(left_out).any():
        return None
    ends = _end(case, systems)
    centre, moved = _z(_scaled(value, case), ends), _z(left_out, _end(case, systems - 1))
    error = math.sqrt((systems - 1) / systems * float(((moved - moved.mean()) ** 2).sum()))
    tail = (1 + confidence) / 2
    if of_means:
        error = max(error, _normal_theory(float(_scaled(value, case)), case.coefficient, systems))
    quantile = float(norm.ppf(tail) if of_means else t.ppf(tail, systems - 1))
    half = quantile * math.sqrt(error**2 + input_variance)
    scaled = float(_scaled(value, case))
    low = -1.0 if scaled <= -ends else min(scaled, math.tanh(float(centre) - half))
    high = 1.0 if scaled >= ends else max(scaled, math.tanh(float(centre) + half))
    if case.coefficient == "acc-eq":
        low, high = (1 + low) / 2, (1 + high) / 2
    return low, high


def variance_of_inputs(case: BootstrapCase, inputs: int, resamples: int, seed: int) -> float:
    """Of z over other inputs: what is to be added to the variance over systems."""
    if not inputs or (case.metric.ndim == 1 and case.human.ndim == 1):
        return 0.0
    if case.level != "system":
        return _variance(
            np.concatenate([resampled(case, drawn) for drawn in input_draws(inputs, resamples, seed)]), case
        )
    parts = [resampled_means(case, drawn) for drawn in input_draws(inputs, resamples, seed)]
    human, metric = (np.concatenate([part[side] for part in parts if part is not None]) for side in (0, 1))
    # Every system's means of another resample: both metric's and people's, as they belong together.
    turned = [
        settled(np.stack([np.roll(side[:, at], at) for at in range(side.shape[1])], axis=1), _slack(scores))
        for side, scores in ((human, case.human), (metric, case.metric))
    ]
    together = _variance(row_correlations(human, metric, case.coefficient), case)
    alone = _variance(row_correlations(turned[0], turned[1], case.coefficient), case)
    return max(0.0, together - alone)


def _slack(scores: np.ndarray) -> float:
    """Means of different resamples may be apart by what each was moved to be equal to others of its own."""
    return 2 * slack_of(unit_scale(scores)) if scores.ndim == 2 else 0.0


def _variance(values: np.ndarray, case: BootstrapCase) -> float:
    known = values[~np.isnan(values)]
    return float(_z(_scaled(known, case), _end(case, len(case.metric))).var()) if len(known) > 1 else 0.0


def _without_each(case: BootstrapCase) -> np.ndarray:
    """The correlation without each of the systems in turn."""
    systems = np.arange(len(case.metric))
    others = np.stack([np.delete(systems, at) for at in systems])
    if case.level != "system":
        return np.array(
            [agreement(case.metric[kept], case.human[kept], case.level, case.coefficient).value for kept in others]
        )
    whole = [side for side in (case.human, case.metric) if side.ndim == 2]
    inputs = shared_inputs(whole, np.zeros(0)) if whole else None
    human, metric = (side if side.ndim == 1 else system_means(side[:, inputs]) for side in (case.human, case.metric))
    return row_correlations(human[others], metric[others], case.coefficient)


def _normal_theory(value: float, coefficient: str, systems: int) -> float:
    """The standard error of z where scores are normal."""
    if coefficient == "pearson":
        return 1 / math.sqrt(systems - 3)
    if coefficient == "spearman":
        return math.sqrt((1 + value**2 / 2) / (systems - 3))
    return math.sqrt(0.437 / (systems - 4)) if systems > 4 else math.inf


def _end(case: BootstrapCase, systems: int) -> float:
    """The largest coefficient whose z is taken as it is."""
    if case.level != "system" or case.coefficient == "pearson" or systems < FEWEST:
        return 1 - _CLIP
    if case.coefficient == "spearman":
        return 1 - 6 / (systems * (systems**2 - 1))  # two neighbours swapped cost 12 / (n (n^2 - 1))
    return 1 - 2 / (systems * (systems - 1))  # one of n (n - 1) / 2 pairs costs 4 / (n (n - 1))


def _z(values: np.ndarray, end: float) -> np.ndarray:
    return np.asarray(np.arctanh(np.clip(values, -end, end)))


def _scaled(values: np.ndarray | float, case: BootstrapCase) -> np.ndarray:
    """A share of pairs, from 0 to 1, as a correlation from -1 to 1."""
    return np.asarray(2 * np.asarray(values) - 1 if case.coefficient == "acc-eq" else values, np.float64)
