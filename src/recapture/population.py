"""Closed-population estimators from ecology, as Mark-Evaluate uses them: counts in, population size out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def petersen(marked: int, captured: int, recaptured: int) -> float:
    """M C / R: one marking, one recapture (Mark-Evaluate Eq. 3). Infinite when nothing is recaptured."""
    return marked * captured / recaptured if recaptured else math.inf


def schnabel(population: int, captures: int, missed: int) -> float:
    """P C_T / R_T with R_T = C_T - missed (Eq. 4): every unmarked sample is missed once, when first captured."""
    recaptured = captures - missed
    return population * captures / recaptured if recaptured else math.inf


def capture_m0(marked: int, captures: int, occasions: int | None = None) -> int:
    """Program CAPTURE's null model (Eqs. 6 and 7): the whole number N >= M that maximises the likelihood.

    With M animals marked and C captures over T occasions (in Mark-Evaluate every sample is an occasion: T = M),

        L(N) = ln N! - ln (N - M)! + C ln C + (T N - C) ln (T N - C) - T N ln T N

    has one peak. The sign of its step L(N + 1) - L(N) is bisected; the lower N wins a tie.
    """
    occasions = marked if occasions is None else occasions
    low, high = marked, 2 * marked
    if log_likelihood_step(low, marked, captures, occasions) <= 0:
        return low
    while log_likelihood_step(high, marked, captures, occasions) > 0:
        low, high = high, 2 * high
    while high - low > 1:  # the step is positive at low, not at high
        middle = (low + high) // 2
        if log_likelihood_step(middle, marked, captures, occasions) > 0:
            low = middle
        else:
            high = middle
    return high


def log_likelihood_step(n: int, marked: int, captures: int, occasions: int) -> float:
    """L(n + 1) - L(n), without subtracting two values of L."""
    free = occasions * n - captures
    step = -math.log1p(-marked / (n + 1)) + occasions * math.log1p(-captures / (occasions * (n + 1)))
    if free == 0:
        return step - occasions * n * math.log1p(1 / n)
    # (T n - C) log1p(T / (T n - C)) - T n log1p(1 / n) = T (g(u) - g(v)) with g(t) = log1p(t) / t. Both terms are
    # close to T for a large population, so the difference is taken inside.
    return step + occasions * _difference_of_g(occasions / free, 1 / n, captures / (n * free))


def _difference_of_g(u: float, v: float, gap: float) -> float:
    """g(u) - g(v) for g(t) = log1p(t) / t, where gap = u - v is known without cancellation."""
    if u > 0.01:
        return math.log1p(u) / u - math.log1p(v) / v
    # g(t) = sum over j of (-t)^j / (j + 1), and u^j - v^j = (u - v) (u^(j-1) + u^(j-2) v + ... + v^(j-1)).
    total, powers, v_power = 0.0, 1.0, 1.0
    for j in range(1, 10):
        total += (-1) ** j * powers / (j + 1)
        v_power *= v
        powers = powers * u + v_power
    return gap * total


def score(population: int, estimate: float) -> float:
    """1 - min(|P^ - P| / P, 1) (Eqs. 1 and 8; the paper prints max, its theorems need min)."""
    return 1.0 - min(abs(estimate - population) / population, 1.0)


def mark_evaluate_scores(n: Any, m: Any, x: Any, y: Any, a: Any, b: Any, k: Any) -> dict[str, np.ndarray]:
    """Mark-Evaluate's four scores of many pairs of sets, from arrays of their counts, at one k or each at its own.

    Not a number where a set has too few samples for k neighbours. One by one as Python's whole numbers,
    which cannot overflow; CAPTURE's search, the only slow part, is made once for equal sizes and captures.
    """
    columns = np.broadcast_arrays(*(np.atleast_1d(each) for each in (n, m, x, y, a, b, k)))
    scores = {name: np.full(len(columns[0]), np.nan) for name in ("petersen", "quality", "diversity", "capture")}
    capture: dict[tuple[int, int], float] = {}
    for place, (n_, m_, x_, y_, a_, b_, k_) in enumerate(zip(*(each.tolist() for each in columns), strict=True)):
        if k_ < 1 or min(n_, m_) <= k_:
            continue
        total = n_ + m_
        captures = (k_ + 1) * total + a_ + b_
        if (total, captures) not in capture:
            capture[total, captures] = score(total, capture_m0(total, captures))
        scores["petersen"][place] = score(total, petersen(n_ + x_, m_ + y_, x_ + y_))
        scores["quality"][place] = score(total, schnabel(total, (k_ + 1) * m_ + a_, m_ - x_))
        scores["diversity"][place] = score(total, schnabel(total, (k_ + 1) * n_ + b_, n_ - y_))
        scores["capture"][place] = capture[total, captures]
    return scores
