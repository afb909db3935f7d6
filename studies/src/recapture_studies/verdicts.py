"""How claims are judged: one rule for each kind of claim, whatever the study.

A rule takes numbers, with their uncertainty where a study has it, and gives a verdict with one sentence of reasons. The
results page prints `RULES`; nothing else decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Holds = Literal["holds", "holds in part", "does not hold", "cannot be told"]
OUTCOMES: tuple[Holds, ...] = ("holds", "holds in part", "does not hold", "cannot be told")

LEVEL = 0.05
NORMAL = 1.96
NEAR = 0.05
"""How far from a paper's number still is near."""
STEADY = 0.05
"""A number between 0 and 1 whose change is surely within this stays."""
MONOTONE = 0.8
"""Spearman's correlation of the mean curve with the step from which on it follows the steps."""

RULES = {
    "comparison": "One number is above another, or above a fixed one: holds where the 95 % interval of the difference "
    "lies above 0 (or p is at most .05 and the sign fits), does not hold where it lies below, cannot be told where it "
    "contains 0. Where only the two numbers have intervals, that of the difference is made of them as if they were "
    "independent (Zou's method), which is too wide where they rise and fall together. Where no sampling error is "
    "known, plain numbers are compared as printed, and the reasons say so; numbers that are equal as printed are not "
    "above each other. An order of several, and the largest or smallest of all, are comparisons in pairs.",
    "near": f"A number lies near the paper's, or near another that it is said to equal, that is within {NEAR:g} of it: "
    "holds where its whole 95 % interval is so near, does not hold where none of it is, cannot be told between; plain "
    "numbers where no sampling error is known.",
    "course": "A number gets worse, better, or stays as a disturbance grows: it moves where the 95 % interval (t) of "
    "its change from the first step to the last, over draws of the texts, excludes 0, and its mean follows the steps "
    f"(Spearman's correlation at least {MONOTONE:g}); it stays where that interval is within {STEADY:g} of 0 (of "
    "numbers between 0 and 1). Cannot be told where the interval allows both; does not hold where it excludes what is "
    "claimed, or where the mean does not follow the steps. Plain numbers where no sampling error is known.",
    "difference": "Several numbers differ: holds where the interval of one of their differences excludes 0 at a joint "
    f"level of .05 over all pairs, does not hold where all intervals are within {STEADY:g} of 0, cannot be told "
    "between.",
    "range": "A best setting lies in a range: holds where it does in at least 95 % of resampled data, does not hold "
    "where in at most 5 %, cannot be told between.",
    "alarms": "Nothing is told apart that does not differ: holds unless the exact binomial interval of the share of "
    "p at most .05 lies above .05 (joint level .05 over all metrics looked at).",
    "p": "A difference is found: holds where p is at most .05. That none is found holds where p is above .05.",
    "absent": "Cannot be told: the paper's model, data set or encoder is not here.",
}
"""By kind of claim, in words."""
PARTS = (
    "A claim of several parts (metrics, coefficients, data sets) holds where every part holds, and cannot be told "
    "where more than half of the parts cannot. Otherwise, of the parts that can be told, it holds in part where at "
    "least half hold, and does not hold where fewer do. Comparisons are not corrected for their number."
)
PIECES = (
    "A claim that several studies judge, or one study in several forms, is counted once. Evidence on the paper's own "
    "data decides over that on other data; then evidence with parameters fixed beforehand or chosen on other data "
    "decides over that with parameters chosen on the data they are measured on; pieces that cannot be told step back "
    "behind those that can. Where the deciding pieces agree, that is the verdict; where they do not, the claim holds "
    "in part, and the row says on what it depends."
)
SAMPLES = (
    "In sample: on the data the paper used, or with parameters (k, temperature) chosen on the data they are measured "
    "on. Out of sample: on other data with parameters fixed beforehand, or with parameters chosen on other folds."
)


class Estimate(NamedTuple):
    """A number with its 95 % interval, or with the p-value of its difference from 0; without both it is plain."""

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def plain(self) -> bool:
        return self.p is None and (self.low is None or self.high is None or math.isnan(self.low + self.high))


class Verdict(NamedTuple):
    holds: Holds
    because: str
    """One sentence, without a full stop."""
    rule: str
    """Of RULES."""


def _shown(value: float) -> str:
    return f"{value:+.3g}"


def _interval(found: Estimate) -> str:
    if found.p is not None:
        return f"{_shown(found.value)}, p {found.p:.2g}"
    if found.plain:
        return f"{_shown(found.value)}, plain numbers"
    assert found.low is not None and found.high is not None
    return f"{_shown(found.value)}, interval {_shown(found.low)} to {_shown(found.high)}"


def less(one: Estimate, other: Estimate | float) -> Estimate:
    """The difference of two numbers; its interval by Zou's method where both have one, as if they were independent."""
    if not isinstance(other, Estimate):
        ends = (None, None) if one.low is None or one.high is None else (one.low - other, one.high - other)
        return Estimate(one.value - other, *ends)
    difference = one.value - other.value
    if one.plain or other.plain or one.low is None or one.high is None or other.low is None or other.high is None:
        return Estimate(difference)
    down = math.hypot(one.value - one.low, other.high - other.value)
    up = math.hypot(one.high - one.value, other.value - other.low)
    return Estimate(difference, difference - down, difference + up)


def over(values: Sequence[float]) -> Estimate:
    """The mean of a sample with its 95 % interval (t); plain where there is one value only."""
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return of_spread(mean, spread, count)


def of_spread(mean: float, spread: float, count: int) -> Estimate:
    """A mean over so many draws, whose standard deviation is known, with its 95 % interval (t)."""
    from scipy.stats import t

    if count < 2 or math.isnan(spread):
        return Estimate(mean)
    half = float(t.ppf(1 - LEVEL / 2, count - 1)) * spread / math.sqrt(count)
    return Estimate(mean, mean - half, mean + half)


def of_correlation(r: float, count: int) -> Estimate:
    """Pearson's r over so many systems with its 95 % interval (Fisher's z); plain where there are too few."""
    if count < 4 or math.isnan(r) or abs(r) >= 1:
        return Estimate(r)
    half = NORMAL / math.sqrt(count - 3)
    return Estimate(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def above(difference: Estimate) -> Verdict:
    """Whether a difference is above 0: the rule of comparisons."""
    because = _interval(difference)
    if math.isnan(difference.value):
        return Verdict("cannot be told", "there is no number", "comparison")
    if difference.p is not None:
        sure = difference.p <= LEVEL
        holds: Holds = "cannot be told" if not sure else "holds" if difference.value > 0 else "does not hold"
    elif difference.plain or difference.low is None or difference.high is None:
        holds = "holds" if difference.value > 0 else "does not hold"
    else:
        low, high = difference.low, difference.high
        holds = "holds" if low > 0 else "does not hold" if high < 0 else "cannot be told"
    return Verdict(holds, f"difference {because}", "comparison")


def near(found: Estimate, printed: float) -> Verdict:
    """Whether a number lies near the paper's."""
    allowed = NEAR + 1e-12  # .05 itself is near, however it is rounded
    gap = less(found, printed)
    if math.isnan(gap.value):
        return Verdict("cannot be told", "there is no number", "near")
    if gap.plain or gap.low is None or gap.high is None:
        holds: Holds = "holds" if abs(gap.value) <= allowed else "does not hold"
    elif -allowed <= gap.low and gap.high <= allowed:
        holds = "holds"
    else:
        holds = "does not hold" if gap.low > allowed or gap.high < -allowed else "cannot be told"
    return Verdict(holds, f"from the paper's {printed:g} by {_interval(gap)} (near: {NEAR:g})", "near")


def moves(change: Estimate, spearman: float, up: bool = False) -> Verdict:
    """Whether a number falls (or rises, `up`) along the steps of a disturbance."""
    towards = change if up else Estimate(-change.value, *_turned(change))
    rho = spearman if up else -spearman
    because = f"change {_interval(change)}, Spearman {spearman:+.2f}"
    moved = above(towards).holds
    if moved == "holds" and rho < MONOTONE:
        moved = "does not hold"
    return Verdict(moved, because, "course")


def _turned(found: Estimate) -> tuple[float | None, float | None]:
    return (None if found.high is None else -found.high), (None if found.low is None else -found.low)


def stays(change: Estimate) -> Verdict:
    """Whether a number between 0 and 1 stays where it is."""
    because = f"change {_interval(change)}"
    if math.isnan(change.value):
        return Verdict("cannot be told", "there is no number", "course")
    if change.plain or change.low is None or change.high is None:
        return Verdict("holds" if abs(change.value) <= STEADY else "does not hold", because, "course")
    inside = change.low >= -STEADY and change.high <= STEADY
    outside = change.low > STEADY or change.high < -STEADY
    return Verdict("holds" if inside else "does not hold" if outside else "cannot be told", because, "course")


def differ(differences: Sequence[Estimate]) -> Verdict:
    """Whether any of several numbers differ, from the 95 % intervals (normal) of their differences in pairs."""
    from scipy.stats import norm

    known = [each for each in differences if not each.plain and each.low is not None and each.high is not None]
    if not known:
        return Verdict("cannot be told", "no sampling error is known", "difference")
    wider = float(norm.ppf(1 - LEVEL / len(known) / 2)) / NORMAL
    ends = [(each.value - wider * (each.value - each.low), each.value + wider * (each.high - each.value))
            for each in known if each.low is not None and each.high is not None]  # fmt: skip
    apart = sum(low > 0 or high < 0 for low, high in ends)
    alike = all(low >= -STEADY and high <= STEADY for low, high in ends)
    holds: Holds = "holds" if apart else "does not hold" if alike else "cannot be told"
    return Verdict(holds, f"{apart} of {len(ends)} pairs differ at the joint level", "difference")


def in_range(share: float) -> Verdict:
    """Whether a best setting lies in a range, from the share of resampled data in which it does."""
    holds: Holds = "holds" if share >= 1 - LEVEL else "does not hold" if share <= LEVEL else "cannot be told"
    return Verdict(holds, f"in {share:.0%} of resampled data", "range")


def no_alarm(share: float, count: int, looked_at: int = 1) -> Verdict:
    """Whether the share of p at most .05, of so many tests, does not exceed .05 beyond chance."""
    from scipy.stats import beta

    alarms = round(share * count)
    low = float(beta.ppf(LEVEL / looked_at / 2, alarms, count - alarms + 1)) if alarms else 0.0
    return Verdict("does not hold" if low > LEVEL else "holds", f"{alarms} of {count:,} p at most {LEVEL:g}", "alarms")


def found(p: float) -> Verdict:
    """Whether a difference is found."""
    return Verdict("holds" if p <= LEVEL else "does not hold", f"p {p:.2g}", "p")


def not_found(p: float) -> Verdict:
    """Whether no difference is found."""
    return Verdict("holds" if p > LEVEL else "does not hold", f"p {p:.2g}", "p")


def absent(what: str) -> Verdict:
    return Verdict("cannot be told", f"not here: {what}", "absent")


def together(parts: Iterable[Verdict]) -> Verdict:
    """A claim of several parts."""
    listed = list(parts)
    if not listed:
        return Verdict("cannot be told", "there is no number", "comparison")
    counts = Counter(part.holds for part in listed)
    rules = list(dict.fromkeys(part.rule for part in listed))
    if len(listed) == 1:
        return listed[0]
    # A part that itself holds in part counts on neither side alone: half for each.
    held, lost = (counts[each] + counts["holds in part"] / 2 for each in ("holds", "does not hold"))
    unsure = counts["cannot be told"]
    if counts["holds"] == len(listed):
        holds: Holds = "holds"
    elif 2 * unsure > len(listed):
        holds = "cannot be told"
    else:
        holds = "holds in part" if held >= lost else "does not hold"
    words = {"holds": "hold", "holds in part": "hold in part", "does not hold": "do not"}
    told = ", ".join(f"{counts[each]} {words.get(each, each)}" for each in OUTCOMES if counts[each])
    plain = sum("plain numbers" in part.because for part in listed)
    note = "" if not plain else "; plain numbers" if plain == len(listed) else f"; {plain} by plain numbers"
    return Verdict(holds, f"of {len(listed)} parts {told}{note}", ", ".join(rules))


class Piece(NamedTuple):
    """What a piece of evidence brings to the verdict on its claim."""

    holds: Holds
    own: bool
    """On the paper's own data."""
    chosen: str
    """fixed, same or other: how free parameters were set."""
    of: str
    """In words, for the reasons."""


def one_claim(pieces: Sequence[Piece]) -> tuple[Holds, str]:
    """The verdict on a claim from all its pieces of evidence, and, where there are several, what decided."""
    if len(pieces) == 1:
        return pieces[0].holds, ""
    deciding, why = list(pieces), []
    if any(piece.own for piece in deciding) and not all(piece.own for piece in deciding):
        deciding = [piece for piece in deciding if piece.own]
        why.append("the paper's own data decide")
    if any(piece.chosen != "same" for piece in deciding) and any(piece.chosen == "same" for piece in deciding):
        deciding = [piece for piece in deciding if piece.chosen != "same"]
        why.append("parameters not chosen on the same data decide")
    told = [piece for piece in deciding if piece.holds != "cannot be told"]
    if told and len(told) < len(deciding):
        deciding = told
        why.append("what can be told decides")
    kinds = list(dict.fromkeys(piece.holds for piece in deciding))
    if len(kinds) > 1:
        why.append("depends on " + "; ".join(f"{piece.of}: {piece.holds}" for piece in deciding))
        return "holds in part", ", ".join(why)
    return kinds[0], ", ".join(why)
