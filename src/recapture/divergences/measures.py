"""The information measures of InfoLM: what each declares about itself, and which parameters it takes.

p is the reference's distribution and q the candidate's. Every measure is >= 0, 0 for equal distributions, and lower is
better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..checks import is_number
from ..errors import InputError, nearest_names, shown
from .logs import Array, LogPairs

INFINITY = math.inf
NEAR = 1e-9
"""A parameter this close to a forbidden value is taken for it: the difference is rounding."""
LARGEST = 1e6
"""Larger parameters change nothing any more, and their powers overflow."""


@dataclass(frozen=True)
class Forbidden:
    """Parameter values at which a measure does not exist."""

    what: str
    why: str
    holds: Callable[[float, float], bool]
    """(alpha, beta) -> whether they are such values; a parameter that the measure lacks is NaN."""


@dataclass(frozen=True)
class Measure:
    """A declaration, read by the checks, the computation, the command line and the docs."""

    name: str
    title: str
    formula: str
    compute: Callable[[LogPairs, float, float], Array]
    """(pairs, alpha, beta) -> one number per pair."""
    parameters: tuple[str, ...] = ()
    """Of alpha and beta, those it needs."""
    forbidden: tuple[Forbidden, ...] = ()
    highest: float | Callable[[float, float], float] = INFINITY
    """Least upper bound over all pairs of distributions, or a function of alpha and beta."""
    symmetric: bool = False
    """Whether reference and candidate may change places, whatever the parameters."""
    symmetric_at: str = ""
    """The parameters at which they may, where that is not always."""
    symmetric_if: Callable[[float, float], bool] | None = None
    """Whether alpha and beta are those."""
    may_overflow: bool = False
    """Whether infinity may stand for a finite number too large for a float."""
    scale_invariant: bool = False
    """Whether a factor on all probabilities of a side changes nothing."""

    def range(self, alpha: float | None = None, beta: float | None = None) -> tuple[float, float]:
        """Lowest and highest value at these parameters."""
        if not callable(self.highest):
            return 0.0, self.highest
        check_all([self], alpha if "alpha" in self.parameters else None, beta if "beta" in self.parameters else None)
        return 0.0, self.highest(number(alpha), number(beta))

    def is_symmetric(self, alpha: float | None = None, beta: float | None = None) -> bool:
        """Whether reference and candidate may change places at these parameters."""
        return self.symmetric or (self.symmetric_if is not None and self.symmetric_if(number(alpha), number(beta)))


def _close(value: float, to: float) -> bool:
    return abs(value - to) < NEAR


def _ab(pairs: LogPairs, alpha: float, beta: float) -> Array:
    """The definition's three logarithms in one: that of the escort distributions' power sum, which is 0 when equal."""
    total = alpha + beta
    return -pairs.escort(total).log_power_sum(alpha / total, beta / total) / (alpha * beta)


def _fisher_rao(pairs: LogPairs) -> Array:
    chord = pairs.library.sqrt((pairs.root_gap**2).sum(axis=1))
    angle = pairs.library.arcsin(pairs.library.clip(chord / 2.0, None, math.sqrt(0.5)))
    return pairs.library.clip(4.0 / math.pi * angle, None, 1.0)


_ALPHA_DIVIDES = "the formula divides by alpha (alpha - 1)"
_AB_DIVIDES = "the formula divides by alpha, beta and alpha + beta"
_GAMMA_DIVIDES = "the formula divides by beta and beta + 1"

_MEASURES = (
    Measure(
        "kl",
        "Kullback-Leibler divergence",
        "sum of p ln(p / q)",
        lambda pairs, alpha, beta: pairs.divergence(1.0),
    ),
    Measure(
        "jeffreys",
        "Jeffreys divergence",
        "mean of KL(p, q) and KL(q, p)",
        lambda pairs, alpha, beta: pairs.jeffreys(),
        symmetric=True,
    ),
    Measure(
        "alpha",
        "alpha-divergence",
        "(sum of p^alpha q^(1 - alpha), less 1) / (alpha (alpha - 1))",
        lambda pairs, alpha, beta: pairs.divergence(alpha),
        ("alpha",),
        (
            Forbidden("alpha = 0", f"{_ALPHA_DIVIDES}; its limit is KL(q, p)", lambda a, b: _close(a, 0)),
            Forbidden("alpha = 1", f"{_ALPHA_DIVIDES}; its limit is kl", lambda a, b: _close(a, 1)),
        ),
        highest=lambda a, b: 1.0 / (a * (1.0 - a)) if 0 < a < 1 else INFINITY,
        symmetric_at="alpha = 1/2",
        symmetric_if=lambda a, b: a == 0.5,
        may_overflow=True,
    ),
    Measure(
        "renyi",
        "Rényi divergence",
        "ln(sum of p^alpha q^(1 - alpha)) / (alpha - 1)",
        lambda pairs, alpha, beta: pairs.log_power_sum(alpha, 1.0 - alpha) / (alpha - 1.0),
        ("alpha",),
        (
            Forbidden("alpha <= 0", "it is no longer a divergence there", lambda a, b: a < NEAR),
            Forbidden("alpha = 1", "the formula divides by alpha - 1; its limit is kl", lambda a, b: _close(a, 1)),
        ),
        symmetric_at="alpha = 1/2",
        symmetric_if=lambda a, b: a == 0.5,
    ),
    Measure(
        "ab",
        "AB-divergence (scale-invariant)",
        "ln S(p^(alpha + beta)) / (beta (alpha + beta)) + ln S(q^(alpha + beta)) / (alpha (alpha + beta)) "
        "- ln S(p^alpha q^beta) / (alpha beta), where S is the sum",
        _ab,
        ("alpha", "beta"),
        (
            Forbidden("alpha = 0", _AB_DIVIDES, lambda a, b: _close(a, 0)),
            Forbidden("beta = 0", _AB_DIVIDES, lambda a, b: _close(b, 0)),
            Forbidden("alpha + beta = 0", _AB_DIVIDES, lambda a, b: _close(a + b, 0)),
        ),
        symmetric_at="alpha = beta",
        symmetric_if=lambda a, b: a == b,
        scale_invariant=True,
    ),
    Measure(
        "gamma",
        "gamma-divergence",
        "the AB-divergence with alpha = 1",
        lambda pairs, alpha, beta: _ab(pairs, 1.0, beta),
        ("beta",),
        (
            Forbidden("beta = 0", _GAMMA_DIVIDES, lambda a, b: _close(b, 0)),
            Forbidden("beta = -1", _GAMMA_DIVIDES, lambda a, b: _close(b, -1)),
        ),
        symmetric_at="beta = 1",
        symmetric_if=lambda a, b: b == 1,
        scale_invariant=True,
    ),
    Measure(
        "l1",
        "L1 distance",
        "sum of |p - q|",
        lambda pairs, alpha, beta: abs(pairs.gap).sum(axis=1),
        highest=2.0,
        symmetric=True,
    ),
    Measure(
        "l2",
        "L2 distance",
        "square root of the sum of (p - q)^2",
        lambda pairs, alpha, beta: pairs.library.sqrt((pairs.gap**2).sum(axis=1)),
        highest=math.sqrt(2.0),
        symmetric=True,
    ),
    Measure(
        "linf",
        "L-infinity distance",
        "largest |p - q|",
        lambda pairs, alpha, beta: pairs.library.amax(abs(pairs.gap), axis=1),
        highest=1.0,
        symmetric=True,
    ),
    Measure(
        "fisher_rao",
        "Fisher-Rao distance",
        "(2 / pi) arccos(sum of the square roots of p q)",
        lambda pairs, alpha, beta: _fisher_rao(pairs),
        highest=1.0,
        symmetric=True,
    ),
)


_SYNONYMS = {"fr": "fisher_rao", "rao": "fisher_rao", "l_inf": "linf", "l∞": "linf", "kullback_leibler": "kl"}
_ELSEWHERE = {
    "js": "the paper's JS is the Jeffreys divergence, here jeffreys (Jensen-Shannon is not among its measures)",
    "beta": "the paper's beta divergence is here gamma",
}
"""Names that readers of other papers may mean differently: the error explains them."""


def list_measures() -> dict[str, Measure]:
    """The declarations of all information measures, by name.

    Returns
    -------
    dict
        Name to declaration: title, formula, parameters it needs, range.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.list_measures()["jeffreys"].formula
    'mean of KL(p, q) and KL(q, p)'
    """
    return {measure.name: measure for measure in _MEASURES}


def find_measure(name: str) -> Measure:
    """A measure by its name; `fisher_rao`, `fisher-rao` and `FR` are the same."""
    known = list_measures()
    wanted = name.strip().lower().replace("-", "_")
    wanted = _SYNONYMS.get(wanted, wanted)
    if wanted in _ELSEWHERE:
        raise InputError(f"unknown information measure {shown(name)}: {_ELSEWHERE[wanted]}")
    if wanted not in known:
        raise InputError(f"unknown information measure {shown(name)}: {nearest_names(wanted, known)}")
    return known[wanted]


def check_all(measures: Sequence[str | Measure], alpha: float | None = None, beta: float | None = None) -> None:
    """Raise where a measure cannot be computed at these parameters, or none of them uses one that was given."""
    declared = declarations(measures)
    for name, value in (("alpha", alpha), ("beta", beta)):
        using = [measure for measure in declared if name in measure.parameters]
        if value is None:
            if using:
                raise InputError(f"the measure {using[0].name} needs {name}")
            continue
        check_parameter(name, value)
        if not using:
            names = ", ".join(measure.name for measure in declared)
            raise InputError(f"{name} = {value:g} is used by none of the measures asked for ({names})")
    for measure in declared:
        for rule in measure.forbidden:
            if rule.holds(number(alpha), number(beta)):
                raise InputError(f"the measure {measure.name} does not exist at {rule.what}: {rule.why}")


class Setting(NamedTuple):
    """A measure at values of those parameters that it has."""

    measure: Measure
    alpha: float | None = None
    beta: float | None = None

    def of(self, pairs: LogPairs) -> Array:
        """One number a pair."""
        # Nothing is below 0; adding 0 turns -0 into 0.
        return pairs.library.clip(self.measure.compute(pairs, number(self.alpha), number(self.beta)), 0.0, None) + 0.0

    def range(self) -> tuple[float, float]:
        return self.measure.range(self.alpha, self.beta)

    def is_symmetric(self) -> bool:
        return self.measure.is_symmetric(self.alpha, self.beta)


def settings(
    measures: Sequence[str | Measure], alphas: Sequence[float | None], betas: Sequence[float | None]
) -> list[Setting]:
    """Every measure at every value, or pair of values, of the parameters it has: measures first, then alpha, then beta.

    Raises where one of them does not exist, or a parameter is used by none.
    """
    declared = declarations(measures)
    for alpha in alphas:
        for beta in betas:
            check_all(declared, alpha, beta)
    return [
        Setting(measure, alpha, beta)
        for measure in declared
        for alpha in (alphas if "alpha" in measure.parameters else [None])
        for beta in (betas if "beta" in measure.parameters else [None])
    ]


def check_parameter(name: str, value: Any) -> None:
    if not is_number(value) or not abs(value) <= LARGEST:
        raise InputError(f"{name} must be a number from {-LARGEST:g} to {LARGEST:g}, not {shown(value)}")


def declarations(measures: Sequence[str | Measure]) -> list[Measure]:
    """The declarations of measures given by name or as they are, each once."""
    by_name = {}
    for measure in measures:
        declared = find_measure(measure) if isinstance(measure, str) else measure
        by_name[declared.name] = declared
    if not by_name:
        raise InputError("no information measure was asked for")
    return list(by_name.values())


def number(value: float | None) -> float:
    """A parameter as `Measure.compute` takes it: NaN where there is none."""
    return math.nan if value is None else float(value)
