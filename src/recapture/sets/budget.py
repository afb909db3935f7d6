"""Work within a time: a sample of the sets that fits, and what that costs in sureness."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..checks import seconds_of
from ..errors import InputError
from .work_ahead import Clock, SetCall, SetWork, said

SMALLEST = 100
"""Samples of each set below which most numbers say little."""
_SAFE = 0.75
"""Share of the time that is planned for: estimates may be too low."""
_TOLD = 1.05
"""How much wider an interval is from which on that is said."""
_MEASURING = 0.1
"""Share of the time for finding out how long the rest takes."""


class Told(NamedTuple):
    """One number of a result, for what a sample costs."""

    name: str
    level: float
    half: float
    """Of its interval's width."""
    moves_with_size: bool


def fitting(work: SetWork, largest: int, seconds: float) -> int | None:
    """The most samples of each set whose work fits; None: not even the fewest that make sense."""
    fewest = min(SMALLEST, largest)
    if work.at(largest).total <= seconds:
        return largest
    if work.at(fewest).total > seconds:
        return None
    low, high = fewest, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if work.at(middle).total <= seconds else (low, middle)
    return max(fewest, _round(low))


def _round(size: int) -> int:
    """Two digits, downwards: more would promise a precision that is not there."""
    unit = int(10 ** max(0, len(str(size)) - 2))
    return size // unit * unit


def within_budget(
    call: SetCall,
    budget: Any,
    usual: Sequence[str] | None,
    told: Callable[[Any], Told | None],
    clock: Clock | None = None,
    work: SetWork | None = None,
) -> Any:
    """The call on as many samples as fit, with what was taken as the first of its sentences.

    told: from its result to one number and its interval.
    """
    clock = clock or time.perf_counter
    begun = clock()
    seconds = seconds_of(budget)
    budget = budget if isinstance(budget, str) else f"{budget:g}s"
    with_interval = {**call.arguments, "interval": call.arguments.get("interval") or 0.95}
    measured = SetCall(call.function, call.roles, with_interval)
    work = SetWork(measured, usual, clock, patience=_MEASURING * seconds) if work is None else work
    left = _SAFE * seconds - (clock() - begun)
    size = fitting(work, call.size, left)
    unit = "texts" if call.has_texts else "vectors"
    if size is None:
        fewest = min(SMALLEST, call.size)
        raise InputError(
            f"the budget of {budget} is too short: {fewest:,} {unit} of each set, the fewest that say something, want "
            f"about {said((work.at(fewest).total + clock() - begun) / _SAFE)} here, with some of it to spare"
        )
    if size >= call.size:
        return call.function(**call.arguments)  # nothing was left out, so nothing is to be said
    result = call.function(**measured.cut(size))
    # As of a sample that somebody asked for by its size: results of both may be compared.
    result.budget_sample = {"size": size, "seed": int(call.arguments.get("seed") or 0)}
    # Of the reference and the first candidate, which are drawn apart: variances add up, each one over its size.
    both = call.counts[0], call.counts[-len(call.names)]
    times = math.sqrt(sum(1 / min(size, count) for count in both) / sum(1 / count for count in both))
    wider = f"{times:.2g} times " if times >= _TOLD else ""
    of = f"{size:,} of {call.size:,} {unit} each" if len(set(call.counts)) == 1 else f"at most {size:,} {unit} of a set"
    result.budgeted = f"A sample of {of} fits into the budget of {budget}"
    found = told(result)
    if found is None:
        result.budgeted += f"; intervals are about {wider}as wide as with all {unit}."
    else:
        moved = ", whose value may lie outside it, since it changes with their number" if found.moves_with_size else ""
        result.budgeted += (
            f"; the {100 * found.level:g} % interval of {found.name} is ± {found.half:.3g}, about {wider}that of all "
            f"{unit}{moved}."
        )
    return result
