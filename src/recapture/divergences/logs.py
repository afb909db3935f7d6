"""Pairs of distributions given by their logarithms, and the few sums that all measures are made of.

Probabilities at a low temperature are far below the smallest float, so sums of powers stay in logarithms. Differences
are computed from the difference of the logarithms, never from two rounded probabilities, and divergences are sums of
terms that are all >= 0. So nearly equal distributions keep all digits, and equal ones give exactly 0.

Rows are NumPy arrays, or tensors of torch, on whatever device: both libraries have the same functions. What NumPy does
for the few places that need it, torch does everywhere: asking a device which places these are would stop it.
"""

from __future__ import annotations

from functools import cached_property
from math import factorial
from typing import Any

import numpy as np

Array = Any
"""A NumPy array, or a tensor."""

SMALL = 0.1
"""Below this ratio of logarithms a term is summed as a series: the closed form would lose its digits."""
SERIES = 9
"""Terms of that series; the next is below 1e-16 of the first."""


class LogPairs:
    """A block of pairs of distributions: rows of log p and log q, and what several measures need of them.

    The caller turns off warnings of overflow and of 0 x infinity: infinities are correct results, and no NaN remains.
    """

    def __init__(self, log_p: Array, log_q: Array, ratio: Array | None = None):
        self.log_p, self.log_q = log_p, log_q
        self.library = library_of(log_p)
        if ratio is None:
            ratio = log_p - log_q
            ratio[self.library.isnan(ratio)] = 0.0  # 0 on both sides: a word that neither distribution knows
        self.ratio = ratio
        """log p - log q."""
        self._divergences: dict[float, Array] = {}

    @cached_property
    def p(self) -> Array:
        return self.library.exp(self.log_p)

    @cached_property
    def q(self) -> Array:
        return self.library.exp(self.log_q)

    @cached_property
    def _larger(self) -> Array:
        return self.library.maximum(self.p, self.q)

    @cached_property
    def _shortfall(self) -> Array:
        """1 - sqrt(smaller / larger)."""
        return -self.library.expm1(-0.5 * abs(self.ratio))

    @cached_property
    def gap(self) -> Array:
        """p - q, with all its digits where the two are close."""
        return self.library.copysign(self._larger * self._shortfall * (2.0 - self._shortfall), self.ratio)

    @cached_property
    def root_gap(self) -> Array:
        """|sqrt p - sqrt q|."""
        return self.library.sqrt(self._larger) * self._shortfall

    def jeffreys(self) -> Array:
        """(KL(p, q) + KL(q, p)) / 2 = sum (p - q) (log p - log q) / 2, where no term is negative."""
        terms = self.gap * self.ratio
        terms[self.library.isinf(self.ratio)] = np.inf
        return 0.5 * terms.sum(axis=1)

    def divergence(self, order: float) -> Array:
        """(sum p^a q^(1-a) - 1) / (a (a - 1)) for a = order, and its limits: KL(p, q) at 1 and KL(q, p) at 0.

        As p and q sum to 1 this is the sum of (p^a q^(1-a) - a p - (1 - a) q) / (a (a - 1)), no term of which is < 0.
        """
        if order not in self._divergences:
            # The closed form divides by the order, which is safe from 1/2 on; below, the sides change places.
            if order >= 0.5:
                terms = _terms(self.log_p, self.p, self.q, self.ratio, self.gap, order)
            else:
                terms = _terms(self.log_q, self.q, self.p, -self.ratio, -self.gap, 1.0 - order)
            self._divergences[order] = self.library.clip(terms.sum(axis=1), 0.0, None)
        return self._divergences[order]

    def log_power_sum(self, order: float, rest: float) -> Array:
        """ln sum p^a q^b for a = order and b = rest = 1 - order, with all its digits near 0 too."""
        excess = -order * rest * self.divergence(order)
        far = ~(abs(excess) < 0.5)
        logs = self.library.log1p(self.library.where(far, 0.0, excess))
        if self.library is np and not far.any():
            return logs
        rows = far if self.library is np else slice(None)
        if order >= 0.5:
            powers = _log_powers(self.log_p[rows], (order - 1.0) * self.ratio[rows])
        else:
            powers = _log_powers(self.log_q[rows], order * self.ratio[rows])
        if self.library is not np:
            return self.library.where(far, log_sum(powers)[:, 0], logs)
        logs[far] = log_sum(powers)[:, 0]
        return logs

    def escort(self, power: float) -> LogPairs:
        """p^power and q^power, each scaled to sum to 1."""
        library = self.library
        unknown = library.isneginf(self.log_p) & library.isneginf(self.log_q)
        log_p, sum_p = _scaled(self.log_p, power, unknown)
        log_q, sum_q = _scaled(self.log_q, power, unknown)
        if library is np and not np.isfinite(self.ratio).all():
            return LogPairs(log_p, log_q)
        ratio = power * self.ratio
        # The quotient of the two sums, from the ratios where it is close to 1.
        excess = (library.exp(log_q) * library.expm1(ratio)).sum(axis=1, keepdims=True)
        near = abs(excess) < 0.5
        ratio -= library.where(near, library.log1p(library.where(near, excess, 0.0)), sum_p - sum_q)
        ratio[unknown] = 0.0
        if library is not np:  # where a probability is 0, its ratio is no number to go on with
            bare = LogPairs(log_p, log_q).ratio
            endless = ~library.isfinite(self.ratio).all(axis=1, keepdims=True)
            ratio = library.where(endless, bare, ratio)
        return LogPairs(log_p, log_q, ratio)


def library_of(rows: Array) -> Any:
    """The library whose functions take such rows."""
    if isinstance(rows, np.ndarray):
        return np
    import torch

    return torch


def log_sum(logs: Array) -> Array:
    """ln sum exp of every row, as a column."""
    library = library_of(logs)
    top = library.amax(logs, axis=1, keepdims=True)
    shift = library.where(library.isfinite(top), top, 0.0)
    return library.log(library.exp(logs - shift).sum(axis=1, keepdims=True)) + shift


def _scaled(logs: Array, power: float, unknown: Array) -> tuple[Array, Array]:
    library = library_of(logs)
    powers = power * logs
    powers[unknown] = -np.inf
    endless = library.amax(powers, axis=1, keepdims=True) == np.inf
    if library is not np or endless.any():  # a probability of 0 to a negative power: it takes all the mass
        powers = library.where(endless, library.where(powers == np.inf, 0.0, -np.inf), powers)
    total = log_sum(powers)
    return powers - total, total


def _log_powers(log_a: Array, step: Array) -> Array:
    """ln a^r b^(1-r) = log a + (r - 1) (log a - log b), for r >= 1/2: there, NaN means that a is 0, and so is this."""
    powers = log_a + step
    powers[library_of(powers).isnan(powers)] = -np.inf
    return powers


def _terms(log_a: Array, a: Array, b: Array, ratio: Array, gap: Array, order: float) -> Array:
    """(a^r b^(1-r) - r a - (1-r) b) / (r (r-1)) for r = order >= 1/2; a ln(a/b) - a + b at 1."""
    library = library_of(a)
    if order == 1.0:
        terms = a * ratio
        terms[library.isneginf(log_a)] = 0.0
        terms[library.isposinf(ratio)] = np.inf
        terms -= gap
    else:
        step = (order - 1.0) * ratio
        powers = library.exp(_log_powers(log_a, step))
        moved = library.maximum(powers, a) * library.copysign(library.expm1(-abs(step)), step)  # powers - a
        terms = (moved / (order - 1.0) - gap) / order
    small = abs(ratio) < SMALL / max(1.0, order)
    if library is not np:
        return library.where(small, b * _series(ratio, order), terms)
    if small.any():
        terms[small] = b[small] * _series(ratio[small], order)
    return terms


def _series(x: Array, order: float) -> Array:
    """(e^(r x) - 1 - r (e^x - 1)) / (r (r-1)) = sum over k >= 2 of x^k (1 + r + ... + r^(k-2)) / k!."""
    total = library_of(x).zeros_like(x)
    for k in range(SERIES + 1, 1, -1):
        total = total * x + sum(order**j for j in range(k - 1)) / factorial(k)
    return total * x * x
