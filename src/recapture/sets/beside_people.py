"""What can be said of sets beside people: told from people or not, what is worse, what goes unseen; in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..report.report import short_p
from ..report.result import Result
from .declaration import METRICS

if TYPE_CHECKING:
    from .table import SetResults


class _Off(NamedTuple):
    """How far a system's parts lie from human ones, in halves of the human band's width; below 0: worse."""

    halves: float
    number: str
    aspect: str


def set_sentences(results: SetResults, level: float) -> list[str]:
    """From tested facts alone; none where nothing was tested and no human texts were measured."""
    return [*_told(results, level), *_worse(results), *_blind(results)]


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
