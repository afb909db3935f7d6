"""Pairs of distributions given by their logarithms, and the few sums that all measures are made of.

Probabilities at a low temperature are far below the smallest float, so sums of powers stay in logarithms. Differences
are computed from the difference of the logarithms, never from two rounded probabilities, and divergences are sums of
terms that are all >= 0. So nearly equal distributions keep all digits, and equal ones give exactly 0.
"""

from __future__ import annotations

from functools import cached_property
from math import factorial

import numpy as np

SMALL = 0.1
"""Below this ratio of logarithms a term is summed as a series: the closed form would lose its digits."""
SERIES = 9
"""Terms of that series; the next is below 1e-16 of the first."""


class LogPairs:
    """A block of pairs of distributions: rows of log p and log q, and what several measures need of them.

    The caller turns off warnings of overflow and of 0 x infinity: infinities are correct results, and no NaN remains.
    """

    def __init__(self, log_p: np.ndarray, log_q: np.ndarray, ratio: np.ndarray | None = None):
        self.log_p, self.log_q = log_p, log_q
        if ratio is None:
            ratio = log_p - log_q
            ratio[np.isnan(ratio)] = 0.0  # 0 on both sides: a word that neither distribution knows
        self.ratio = ratio
        """log p - log q."""
        self._divergences: dict[float, np.ndarray] = {}

    @cached_property
    def p(self) -> np.ndarray:
        return np.asarray(np.exp(self.log_p))

    @cached_property
    def q(self) -> np.ndarray:
        return np.asarray(np.exp(self.log_q))

    @cached_property
    def _larger(self) -> np.ndarray:
        return np.asarray(np.maximum(self.p, self.q))

    @cached_property
    def _shortfall(self) -> np.ndarray:
        """1 - sqrt(smaller / larger)."""
        return np.asarray(-np.expm1(-0.5 * np.abs(self.ratio)))

    @cached_property
    def gap(self) -> np.ndarray:
        """p - q, with all its digits where the two are close."""
        return np.asarray(np.copysign(self._larger * self._shortfall * (2.0 - self._shortfall), self.ratio))

    @cached_property
    def root_gap(self) -> np.ndarray:
        """|sqrt p - sqrt q|."""
        return np.asarray(np.sqrt(self._larger) * self._shortfall)

    def jeffreys(self) -> np.ndarray:
        """(KL(p, q) + KL(q, p)) / 2 = sum (p - q) (log p - log q) / 2, where no term is negative."""
        terms = self.gap * self.ratio
        terms[np.isinf(self.ratio)] = np.inf
        return np.asarray(0.5 * terms.sum(axis=1))

    def divergence(self, order: float) -> np.ndarray:
        """(sum p^a q^(1-a) - 1) / (a (a - 1)) for a = order, and its limits: KL(p, q) at 1 and KL(q, p) at 0.

        As p and q sum to 1 this is the sum of (p^a q^(1-a) - a p - (1 - a) q) / (a (a - 1)), no term of which is < 0.
        """
        if order not in self._divergences:
            # The closed form divides by the order, which is safe from 1/2 on; below, the sides change places.
            if order >= 0.5:
                terms = _terms(self.log_p, self.p, self.q, self.ratio, self.gap, order)
            else:
                terms = _terms(self.log_q, self.q, self.p, -self.ratio, -self.gap, 1.0 - order)
            self._divergences[order] = np.maximum(terms.sum(axis=1), 0.0)
        return self._divergences[order]

    def log_power_sum(self, order: float, rest: float) -> np.ndarray:
        """ln sum p^a q^b for a = order and b = rest = 1 - order, with all its digits near 0 too."""
        excess = -order * rest * self.divergence(order)
        far = ~(np.abs(excess) < 0.5)
        logs = np.log1p(np.where(far, 0.0, excess))
        if far.any():
            if order >= 0.5:
                powers = _log_powers(self.log_p[far], (order - 1.0) * self.ratio[far])
            else:
                powers = _log_powers(self.log_q[far], order * self.ratio[far])
            logs[far] = log_sum(powers)[:, 0]
        return np.asarray(logs)

    def escort(self, power: float) -> LogPairs:
        """p^power and q^power, each scaled to sum to 1."""
        unknown = np.isneginf(self.log_p) & np.isneginf(self.log_q)
        log_p, sum_p = _scaled(self.log_p, power, unknown)
        log_q, sum_q = _scaled(self.log_q, power, unknown)
        if not np.isfinite(self.ratio).all():
            return LogPairs(log_p, log_q)
        ratio = power * self.ratio
        # The quotient of the two sums, from the ratios where it is close to 1.
        excess = (np.exp(log_q) * np.expm1(ratio)).sum(axis=1, keepdims=True)
        near = np.abs(excess) < 0.5
        ratio -= np.where(near, np.log1p(np.where(near, excess, 0.0)), sum_p - sum_q)
        ratio[unknown] = 0.0
        return LogPairs(log_p, log_q, ratio)


def log_sum(logs: np.ndarray) -> np.ndarray:
    """ln sum exp of every row, as a column."""
    top = logs.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    return np.asarray(np.log(np.exp(logs - shift).sum(axis=1, keepdims=True)) + shift)


def _scaled(logs: np.ndarray, power: float, unknown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    powers = power * logs
    powers[unknown] = -np.inf
    endless = powers.max(axis=1) == np.inf
    if endless.any():  # a probability of 0 to a negative power: as it goes to 0, it takes all the mass
        powers[endless] = np.where(powers[endless] == np.inf, 0.0, -np.inf)
    total = log_sum(powers)
    return powers - total, total


def _log_powers(log_a: np.ndarray, step: np.ndarray) -> np.ndarray:
    """ln a^r b^(1-r) = log a + (r - 1) (log a - log b), for r >= 1/2: there, NaN means that a is 0, and so is this."""
    powers = log_a + step
    powers[np.isnan(powers)] = -np.inf
    return np.asarray(powers)


def _terms(
    log_a: np.ndarray, a: np.ndarray, b: np.ndarray, ratio: np.ndarray, gap: np.ndarray, order: float
) -> np.ndarray:
    """(a^r b^(1-r) - r a - (1-r) b) / (r (r-1)) for r = order >= 1/2; a ln(a/b) - a + b at 1."""
    if order == 1.0:
        terms = a * ratio
        terms[np.isneginf(log_a)] = 0.0
        terms[np.isposinf(ratio)] = np.inf
        terms -= gap
    else:
        step = (order - 1.0) * ratio
        powers = np.exp(_log_powers(log_a, step))
        moved = np.maximum(powers, a) * np.copysign(np.expm1(-np.abs(step)), step)  # powers - a
        terms = (moved / (order - 1.0) - gap) / order
    small = np.abs(ratio) < SMALL / max(1.0, order)
    if small.any():
        terms[small] = b[small] * _series(ratio[small], order)
    return np.asarray(terms)


def _series(x: np.ndarray, order: float) -> np.ndarray:
    """(e^(r x) - 1 - r (e^x - 1)) / (r (r-1)) = sum over k >= 2 of x^k (1 + r + ... + r^(k-2)) / k!."""
    total = np.zeros_like(x)
    for k in range(SERIES + 1, 1, -1):
        total = total * x + sum(order**j for j in range(k - 1)) / factorial(k)
    return np.asarray(total * x * x)
