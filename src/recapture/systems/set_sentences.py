"""What a verdict on sets says beside who is closest: told from people or not, what is worse, what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..report.report import short, short_p
from ..report.result import Result
from ..sets.declaration import METRICS
from ..sets.table import SetResults
from .evidence import Difference, PairOfSystems

_POWER = 2.8
"""Standard errors that a difference must have to be found in 80 % of cases at the 5 % level: 1.96 + 0.84."""


class _Off(NamedTuple):
    """How far a system's parts lie from human ones, in halves of the human band's width; below 0: worse."""

    halves: float
    number: str
    aspect: str


def sentences_on(
    results: SetResults, differences: Mapping[PairOfSystems, Mapping[str, Difference]], level: float
) -> list[str]:
    return [*_told(results, level), *_worse(results), *_blind(results), *_unseen(differences)]


def _told(results: SetResults, level: float) -> list[str]:
    found = results.any_difference
    if not found:
        return []
    told = [f"{name} (p {short_p(p)})" for name, p in found.items() if p < level]
    not_told = [f"{name} (p {short_p(p)})" for name, p in found.items() if p >= level]
    parts = [f"told from people at this size: {', '.join(told)}"] if told else []
    parts += [f"not told from people: {', '.join(not_told)}"] if not_told else []
    return ["; ".join(parts)[0].upper() + "; ".join(parts)[1:] + "."]


def _worse(results: SetResults) -> list[str]:
    """The worst of fidelity and of variety, system by system, in halves of the width of the human band."""
    parts = []
    for system, by_metric in results.items():
        off = [each for metric, result in by_metric.items() for each in _offs(metric, result)]
        said = []
        for aspect in ("fidelity", "variety"):
            worst = min((each for each in off if each.aspect == aspect), default=None)
            if worst is not None and worst.halves < -1:
                said.append(f"less {aspect} ({worst.number} {-worst.halves:.1f} half-bands below human)")
        if said:
            parts.append(f"{system} has {' and '.join(said)}")
    return [f"{'; '.join(parts)}."] if parts else []


def _offs(metric: str, result: Result) -> list[_Off]:
    declared = METRICS.all()[metric]
    found = []
    for output in declared.outputs:
        band, own = result.human.get(output.name), result.at_human_size.get(output.name)
        if band is None or own is None or band.high <= band.low:
            continue
        halves = (own.mean - band.mean) / ((band.high - band.low) / 2)
        name = metric if len(declared.outputs) == 1 else f"{metric}.{output.name}"
        found.append(_Off(halves if declared.direction == "higher" else -halves, name, output.aspect))
    return found


def _blind(results: SetResults) -> list[str]:
    order = results.made_for.order if results.made_for is not None else ""
    return [f"These vectors are {order} to the order of words: shuffled words go unseen."] if "blind" in order else []


def _unseen(differences: Mapping[PairOfSystems, Mapping[str, Difference]]) -> list[str]:
    """The difference that this many samples would have found, in 80 % of cases."""
    found: dict[str, float] = {}
    for numbers in differences.values():
        for name, each in numbers.items():
            error = (each.high - each.low) / (2 * 1.96)
            found[name] = max(found.get(name, 0.0), _POWER * error)
    known = {name: size for name, size in found.items() if size == size}
    if not known:
        return []
    listed = ", ".join(f"{name} {short(size)}" for name, size in list(known.items())[:3])
    return [f"At this size smaller differences than these would often go unseen: {listed}."]
