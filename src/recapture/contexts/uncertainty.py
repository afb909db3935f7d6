"""How sure the scores of contexts are: tests of single contexts, their p-values combined, intervals of means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..geometry.content_order import square_order
from ..geometry.labels import Labels
from ..labellings.combine import benjamini_hochberg, fisher, harmonic_mean_p, holm
from ..labellings.permutation import Permutation, judge
from ..labellings.plans import Plan, Pvalue, plan

LEVEL = 0.05
"""Of the shares of contexts whose p-values are small."""
LEAST_ANALYTIC = 5
"""Fewest texts a side for an analytic p-value."""
ENOUGH_ANALYTIC = 20
"""Texts a side from which on it needs no warning: with fewer, looking at labellings takes no time."""
ANALYTIC = "analytic p-value"
"""What reasons name for which contexts have none: they are not too small for a score."""
INSTEAD = "ask for a sampled one"
"""What to do where no context has one."""
_NULL_CELLS = 1 << 21
"""Statistics (contexts x labellings) held at a time."""


@dataclass(frozen=True)
class Analytic:
    """A test by the limit law of its statistic over all labellings, none of which was looked at."""

    pvalue: float
    smallest: float
    """No p-value by relabelling could be smaller: one labelling, and its mirror image where sides may change places."""
    expected: float
    """Mean of the statistic by that law."""
    projected: float
    """Share of the statistic's variance that sums over single texts explain: the law is right where it is large."""
    exact = False
    labellings = 0
    equal = 0


Test = Permutation | Analytic


@dataclass(frozen=True)
class ContextScores:
    """One context's numbers by one metric."""

    values: Mapping[str, Any]
    """By output; None where there is none to give (no bigrams in texts of one word)."""
    tests: Mapping[str, Test] = field(default_factory=dict)
    """By output; empty where no p-value was asked for."""
    details: Mapping[str, Any] = field(default_factory=dict)
    relabelled: Mapping[str, float] = field(default_factory=dict)
    """By output: the mean value over relabelled sides, which is what sides that do not differ would score."""
    unfit: str = ""
    """Why the p-value that was asked for does not hold here; "": it does, or none was asked for."""


class Asked(NamedTuple):
    """How p-values are to be made; `pvalue` False: not at all."""

    pvalue: Pvalue = False
    seed: int = 0
    samples: int = 9_999
    nulls: bool = True
    """Whether every labelling's statistic is kept once the test is made."""

    @property
    def wanted(self) -> bool:
        return self.pvalue is not False and self.pvalue is not None

    @property
    def analytic(self) -> bool:
        return isinstance(self.pvalue, str) and self.pvalue == "analytic"

    def plan(self, references: int, candidates: int, symmetric: bool) -> Plan | None:
        if not self.wanted:
            return None
        return plan(
            references, candidates, pvalue=self.pvalue, samples=self.samples, seed=self.seed, symmetric=symmetric
        )


def check_analytic(ties: str) -> None:
    """Refuse an analytic p-value of triangle ranks that would not be one."""
    if ties != "split":
        raise InputError("an analytic p-value needs ties that share the credit (split): ask for a sampled one")


def too_few_for_analytic(references: int, candidates: int) -> str:
    """Why sides of these sizes have no analytic p-value; "" where they have one."""
    if min(references, candidates) >= LEAST_ANALYTIC:
        return ""
    return (
        f"{references} references and {candidates} candidates are too few for an {ANALYTIC}, which needs "
        f"{LEAST_ANALYTIC} a side"
    )


def rough(references: int, candidates: int) -> bool:
    """Whether an analytic p-value of sides of these sizes is one to be warned of."""
    return min(references, candidates) < ENOUGH_ANALYTIC


def describe(test: Test, seed: int) -> dict[str, Any]:
    """How a test was made, for `Result.inference`."""
    if isinstance(test, Analytic):
        smallest = {"value": test.smallest}
        return {"method": "analytic", "labellings": 0, "smallest": smallest, "projected": test.projected, "seed": None}
    return {
        "method": "exact" if test.exact else "sampled",
        "labellings": test.labellings,
        "smallest": {"value": test.smallest},
        "greater": test.greater,
        "equal": test.equal,
        "seed": None if test.exact else seed,
    }


def tests_of(
    under: Callable[[np.ndarray, Labels], np.ndarray],
    squares: np.ndarray,
    chosen: Plan,
    nulls: bool = True,
    rounding: float = 0.0,
) -> list[Permutation]:
    """One test per context, from what stands between its texts (contexts, texts, texts), references first.

    under: (contexts' squares, labellings) -> their statistics, larger = more different.
    """
    together = max(1, min(len(squares), _NULL_CELLS // chosen.rows))
    tests = []
    for start in range(0, len(squares), together):
        contexts = squares[start : start + together]
        if not chosen.exact:
            contexts = np.stack([_in_order(square, chosen.references) for square in contexts])
        blocks = chosen.blocks(max(1, _NULL_CELLS // together))
        null = np.concatenate([under(contexts, labels) for labels in blocks], axis=1)
        tests += [judged(row, chosen, nulls, rounding) for row in null]
    return tests


def _in_order(square: np.ndarray, references: int) -> np.ndarray:
    """Texts in order of content, so that labellings that are drawn do not depend on how texts were listed."""
    order = square_order(square, references)
    ordered: np.ndarray = square[np.ix_(order, order)]
    return ordered


def judged(null: np.ndarray, chosen: Plan, nulls: bool, rounding: float = 0.0) -> Permutation:
    """The test, with its null distribution or without it: those of many contexts would fill the memory."""
    test = judge(null, chosen, rounding)
    return test if nulls else replace(test, null=null[:0].copy())


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


def combined(p: np.ndarray, smallest: Sequence[float], alpha: float) -> Combined:
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


def student_interval(values: np.ndarray, level: float) -> tuple[float, float]:
    """Student's interval of a mean."""
    from scipy.stats import t

    reach = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return float(values.mean() - reach), float(values.mean() + reach)


def pvalue_name(output: str) -> str:
    return "pvalue" if output == "value" else f"{output}_pvalue"


def relabelled_name(output: str) -> str:
    return f"relabelled_{output}"


def smallest_name(output: str) -> str:
    return f"smallest_{pvalue_name(output)}"
