"""What can be said of contexts: told from people or not, in how many contexts, and what so few cannot tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..labellings.combine import harmonic_mean_p, holm
from ..report.report import first_few, percent, short, short_p

if TYPE_CHECKING:
    from .table import Total

_FOUND = 0.8
"""Share of cases in which what is named would be found."""
_CASES = 200
"""Simulated, for each number of contexts that differ."""
_LISTED = 3


def verdict_of_contexts(totals: Sequence[Total], signature: Mapping[str, Any]) -> list[str]:
    """At most five sentences; one that says so where nothing was tested."""
    tested = [total for total in totals if total.pvalues is not None]
    if not tested:
        why = "no metric here has p-values" if signature.get("pvalue") else "no p-value was asked for"
        return [f"Nothing was tested: {why}; the means do not tell candidates from people by themselves."]
    level = tested[0].pvalues.level if tested[0].pvalues else 0.05
    adjusted = holm(np.array([total.pvalues.harmonic_mean_corrected for total in tested if total.pvalues]))
    told = [(total, p) for total, p in zip(tested, adjusted.tolist(), strict=True) if p <= level]
    sentences = [_told(told) if told else _not_told(tested, float(adjusted.min()))]
    sentences += [_where(max((total for total, _ in told), key=_share))] if told else []
    # The metric that sees single contexts best says what goes unseen by all.
    seed = int(signature.get("seed") or 0)
    return [*sentences, unseen_in_contexts(min(tested, key=_smallest), level / len(tested), seed)]


def _largest_mean(contexts: int, level: float) -> float:
    """The largest harmonic mean of so many p-values that is small enough."""
    low, high = 0.0, level
    for _ in range(50):
        middle = (low + high) / 2
        enough = harmonic_mean_p([middle] * contexts).corrected <= level
        low, high = (middle, high) if enough else (low, middle)
    return low


def _told(told: Sequence[tuple[Total, float]]) -> str:
    parts = []
    for total, p in told:
        alike = "" if total.relabelled is None else f", {short(total.relabelled)} if nothing differed"
        parts.append(f"{_name(total)} ({short(total.mean)}{alike}; p {short_p(p)})")
    return f"Candidates are told from people by {first_few(parts, _LISTED)}."


def _not_told(tested: Sequence[Total], smallest: float) -> str:
    return (
        f"Candidates are not told from people by any of {len(tested)} numbers over {tested[0].contexts:,} contexts "
        f"(smallest p {short_p(smallest)})."
    )


def _where(total: Total) -> str:
    combined = total.pvalues
    assert combined is not None
    return (
        f"By {_name(total)} they differ in {round(combined.below_bh * total.contexts):,} of {total.contexts:,} "
        f"contexts (false alarms among these are held to {percent(combined.level)})."
    )


def _name(total: Total) -> str:
    return total.metric if total.number == "value" else f"{total.metric} {total.number}"


def _share(total: Total) -> float:
    return 0.0 if total.pvalues is None else total.pvalues.below_bh


def _smallest(total: Total) -> float:
    return 1.0 if total.pvalues is None else total.pvalues.smallest


def unseen_in_contexts(total: Total, level: float, seed: int) -> str:
    """In how many contexts candidates must differ, as clearly as so few texts can show, to be told in 4 of 5 cases."""
    smallest = _smallest(total)
    alone = (
        f"in a single context p is never below {short_p(smallest)}, so no single one is told"
        if smallest > level
        else "fewer or less clear ones may go unseen"
    )
    needed = contexts_needed(total.contexts, smallest, level, seed)
    if needed is None:
        return f"With {total.contexts:,} contexts of so few texts nothing can be told, however different: {alone}."
    return (
        f"With {total.contexts:,} contexts, candidates that differ in {needed:,} of them, as clearly as so few texts "
        f"can show, would have been told in 4 of 5 cases; {alone}."
    )


def contexts_needed(contexts: int, smallest: float, level: float, seed: int) -> int | None:
    """By simulation: p-values of contexts that do not differ are even over all they can be, the others smallest."""
    steps = max(1, round(1 / smallest))
    rng = np.random.default_rng([seed, 41])
    # Sums of 1 / p of the contexts that do not differ: of all, of all but the first, ...
    even = steps / rng.integers(1, steps + 1, (_CASES, contexts))
    rest = np.cumsum(np.pad(even, ((0, 0), (1, 0))), axis=1)[:, ::-1]
    needed = contexts / _largest_mean(contexts, level)

    def found(differing: int) -> bool:
        return float(np.mean(differing * steps + rest[:, differing] >= needed)) >= _FOUND

    if not found(contexts):
        return None
    low, high = 0, contexts  # not found at low, found at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high
