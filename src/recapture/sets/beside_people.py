"""What can be said of sets beside people: told from people or not, what is worse, what goes unseen; in sentences.

Every form of a result (terminal, Markdown, LaTeX, notebook, JSON, page) shows these sentences and makes none itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..report.report import first_few, not_compared, short, short_p
from ..report.result import Result
from .declaration import ASPECTS, METRICS, row_name
from .inputs import doubled
from .unseen import SmallestFound, sentence

if TYPE_CHECKING:
    from .table import SetResults

LEVEL = 0.05
"""Of what is said of p-values, where no other level was asked for."""
LISTED = 4
"""Systems that a sentence names; the rest are counted."""
_NAMED = 2
"""Numbers that a list names; more are counted."""
_LABELLINGS = 1000
"""Looked at to find the smallest damage that would have been found."""


class Off(NamedTuple):
    """How far a system's parts lie from human ones, in halves of the human band's width; below 0: worse."""

    halves: float
    number: str
    aspect: str
    own: float
    human: float


def verdict_of_sets(results: SetResults, level: float = LEVEL) -> list[str]:
    """At most five sentences, from tested facts and human bands; one that says so where there is neither."""
    if not results:
        return []
    return [*told_from_people(results, level), *_not_compared(results), *_unseen(results, level), *cautions(results)]


def told_from_people(results: SetResults, level: float) -> list[str]:
    """Told from people or not, and what is worse."""
    return [_told(results, level) or _by_band(results) or _nothing(results), *_worse(results)]


def _not_compared(results: SetResults) -> list[str]:
    if len(results) < 2:
        return []
    return [not_compared(len(results))]


def _told(results: SetResults, level: float) -> str:
    found = results.any_difference
    if not found:
        return ""
    if (least := _smallest_possible(results)) >= level:
        why = "so few labellings and texts"
        return f"Nothing can be told from people with {why}: p is never below {short_p(least)}, however different."
    told = [f"{name} (p {short_p(p)}{_most_by(results, name, p)})" for name, p in found.items() if p < level]
    not_told = [f"{name} (p {short_p(p)})" for name, p in found.items() if p >= level]
    parts = [f"told from people at this size: {first_few(told, LISTED)}"] if told else []
    here = "" if told else " at this size"
    parts += [f"not told from people{here}: {first_few(not_told, LISTED)}"] if not_told else []
    return sentence_of("; ".join(parts))


def _smallest_possible(results: SetResults) -> float:
    """The smallest p-value that any candidate could have had, for all candidates together."""
    known = [
        p
        for by_metric in results.values()
        for result in by_metric.values()
        for p in result.inference.get("pvalues", {}).get("smallest", {}).values()
    ]
    return min(1.0, min(known, default=1.0) * len(results.any_difference))


def _most_by(results: SetResults, candidate: str, smallest: float) -> str:
    """The number that tells most, where tables do not show all: one that they show, if it tells as much."""
    if results.shown is None:
        return ""
    sizes = {
        row_name(metric, name): _size(result, name)
        for metric, result in results[candidate].items()
        for name, p in result.adjusted_pvalues.items()
        if p == smallest
    }
    best = max(sizes, key=lambda name: (name in (results.shown or ()), sizes[name]))
    return f", by {best}" if best in results.shown else f", by {best}, which is not in this table"


def _size(result: Result, name: str) -> float:
    """How far a number lies from its relabellings, in their standard deviations."""
    null = np.asarray(result.nulls.get(name, np.zeros(2)), np.float64)
    spread = float(null.std())
    return abs(float(null[0] - null.mean())) / spread if spread > 0 else 0.0


def _by_band(results: SetResults) -> str:
    """By how many numbers parts are worse than the human band. No test: numbers are many, and none is corrected for."""
    worse: list[str] = []
    others: list[str] = []
    declared = METRICS.all()
    for system in results:
        # A metric with a note on its band has one that does not hold what it promises.
        off = [each for each in _offs(results, system, None) if not declared[each.number.partition(".")[0]].band_note]
        if not off:
            continue
        below = [each.number for each in off if each.halves < -1]
        which = f": {' and '.join(below)}" if len(below) <= _NAMED else ""  # tables may not show them
        told = f"{system} (by {len(below)} of {len(off)} numbers{which})"
        (worse if below else others).append(told if below else system)
    if not worse and not others:
        return ""
    parts = [f"worse than the human band: {first_few(worse, LISTED)}"] if worse else []
    than = "" if worse else " than the human band by any number"
    parts += [f"not worse{than}: {first_few(others, LISTED)}"] if others else []
    return f"{sentence_of('; '.join(parts))[:-1]} (no test: there is no p-value)."


def _nothing(results: SetResults) -> str:
    what, beside = ("this is", "it") if len(results) == 1 else ("these are", "them")
    return f"How close to people {what} cannot be said: there is neither a p-value nor a human band beside {beside}."


def _worse(results: SetResults) -> list[str]:
    """The worst of fidelity and of variety, system by system, in halves of the width of the human band."""
    parts, known = [], set()
    for system in results:
        off = _offs(results, system, None if results.shown is None else (*results.shown, *ASPECTS))
        said = []
        for aspect in ("fidelity", "variety"):
            worst = min((each for each in off if each.aspect == aspect), default=None)
            known |= set() if worst is None else {aspect}
            if worst is not None and worst.halves < -1:
                side = "below" if worst.own < worst.human else "above"
                away = (
                    f"{_beyond(-worst.halves)} half-widths of the human band {side} people's mean {short(worst.human)}"
                )
                said.append(f"less {aspect} ({worst.number} of parts {short(worst.own)}, {away})")
        if said:
            parts.append(f"{system} has {' and '.join(said)}")
    if not known or not (parts or results.any_difference):
        return []
    if not parts:
        who = next(iter(results)) if len(results) == 1 else "no system"
        return [f"In {' and '.join(sorted(known))} {who} is {'not ' * (len(results) == 1)}below the human band."]
    return [f"{first_few(parts, LISTED, '; ')}; the band ends at 1 half-width."]


def _beyond(halves: float) -> str:
    """More than 1, and never written as 1.0, which is where the band ends."""
    return f"{halves:.1f}" if halves >= 1.05 else f"{max(halves, 1.01):.2f}"


def _offs(results: SetResults, system: str, shown: Sequence[str] | None) -> list[Off]:
    """Of the numbers that tables show, or of all."""
    found = []
    for metric, result in results[system].items():
        found += [each for each in _of_result(metric, result) if shown is None or each.number in shown]
    return found


def _of_result(metric: str, result: Result) -> Iterable[Off]:
    declared = METRICS.all().get(metric)
    for output in () if declared is None else declared.outputs:
        band, own = result.human.get(output.name), result.at_human_size.get(output.name)
        if band is None or own is None or band.high <= band.low:
            continue
        halves = (own.mean - band.mean) / ((band.high - band.low) / 2)
        yield Off(
            halves if result.direction == "higher" else -halves, row_name(metric, output.name), output.aspect,
            own.mean, band.mean,
        )  # fmt: skip


def overshoots(results: SetResults, system: str, other: str, number: str) -> bool:
    """Whether a system's parts score better than people's mean, and lie further from it than the other's: "better" than
    people is not closer to them.
    """
    own, others = ({each.number: each for each in _offs(results, name, None)} for name in (system, other))
    if number not in own or number not in others:
        return False
    return own[number].halves > 0 and own[number].halves >= abs(others[number].halves)


def cautions(results: SetResults) -> list[str]:
    """What closeness hides: copies and repeats, and what these vectors do not show; one sentence."""
    parts = []
    for name, by_metric in results.items():
        sizes = next(iter(by_metric.values())).sizes
        parts += doubled(results.inputs, name, sizes["candidate"], sizes["reference"])
    found = [f"beware: {first_few(parts, LISTED)}"] if parts else []
    order = results.made_for.order if results.made_for is not None else ""
    shuffled = "go unseen" if order == "blind" else "hardly show"
    found += [f"these vectors are {order} to the order of words: shuffled words {shuffled}"] if "blind" in order else []
    return [sentence_of("; ".join(found))] if found else []


def _unseen(results: SetResults, level: float) -> list[str]:
    if results.people is None or not results.any_difference or _smallest_possible(results) >= level:
        return []
    found = smallest_told(results, level)
    return [results.people.silence if found is None else sentence(found, "would have been told from people")]


def smallest_told(results: SetResults, level: float = LEVEL) -> SmallestFound | None:
    """The smallest damage that the test against people would have found for the smallest set that was tested."""
    tested = {
        name: next(iter(by_metric.values())).sizes["candidate"]
        for name, by_metric in results.items()
        if any(result.nulls for result in by_metric.values())
    }
    if results.people is None or not tested or _smallest_possible(results) >= level:
        return None
    smallest = min(tested, key=lambda name: tested[name])
    shifts = results.people.shifts(tested[smallest])
    if shifts is None:
        return None
    names, nulls = _standardised(results[smallest])
    if not names:
        return None
    rng = np.random.default_rng([results.people.seed, 23])
    columns = nulls.table.shape[1]
    drawn = np.arange(columns) if columns <= _LABELLINGS else rng.choice(columns, _LABELLINGS, replace=False)
    needed = float(np.quantile(nulls.table.max(axis=0), 1 - level / len(tested), method="higher"))
    cases = nulls.table[:, drawn]
    places = [shifts.names.index(name) if name in shifts.names else None for name in names]

    def at_places(of_shifts: np.ndarray) -> np.ndarray:
        return np.array([0.0 if place is None else of_shifts[place] for place in places])

    def found(moved: np.ndarray, by_chance: np.ndarray, _: np.ndarray) -> float:
        # Labellings mix both sides, so what is needed stays; but numbers of damaged texts vary more than these show.
        lucky = np.sqrt(1 + at_places(by_chance) / nulls.spread**2)
        towards = at_places(moved) * nulls.sign / nulls.spread
        return float(np.mean((lucky[:, None] * cases + towards[:, None]).max(axis=0) >= needed))

    spread = np.zeros(len(shifts.names))
    for place, own in zip(places, nulls.spread, strict=True):
        if place is not None:
            spread[place] = own
    return SmallestFound.of(shifts, found, spread, results.shown or shifts.names, results.people.seed)


class _Nulls(NamedTuple):
    table: np.ndarray
    """(numbers, labellings) in standard deviations of each number's own null; larger: more different"""
    spread: np.ndarray
    sign: np.ndarray


def _standardised(by_metric: dict[str, Result]) -> tuple[list[str], _Nulls]:
    names, rows, spreads, signs = [], [], [], []
    for metric, result in by_metric.items():
        for name, null in result.nulls.items():
            values = np.asarray(null, np.float64)
            spread = float(values.std())
            if not np.isfinite(values).all() or spread <= 1e-12 * (1 + abs(float(values.mean()))):
                continue
            sign = -1.0 if result.direction == "higher" else 1.0
            names.append(row_name(metric, name))
            rows.append(sign * (values - values.mean()) / spread)
            spreads.append(spread)
            signs.append(sign)
    return names, _Nulls(np.array(rows), np.array(spreads), np.array(signs))


def sentence_of(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
