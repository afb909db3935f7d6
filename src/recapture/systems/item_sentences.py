"""What a verdict on pairs or contexts says beside who is closest: what is told, and what cannot be told."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..report.report import first_few, short, short_p
from .evidence import Difference, PairOfSystems

_LISTED = 3
_OFTEN = 0.05
"""Share of equal outputs that is worth a sentence."""


def sentences_on_items(
    differences: Mapping[PairOfSystems, Mapping[str, Difference]],
    directions: Mapping[str, str],
    shown: Sequence[str],
    same: Mapping[PairOfSystems, int],
    level: float,
    settings: Mapping[str, Any],
) -> list[str]:
    """shown: the numbers that tables show; same: at how many items two systems have written the same; settings: also
    `smallest_found`, by number.
    """
    return [
        *_told(differences, directions, shown, level),
        *_the_same(same, settings),
        *(_unseen(shown, level, settings) if any(each < settings["size"] for each in same.values()) else ()),
    ]


def _told(
    differences: Mapping[PairOfSystems, Mapping[str, Difference]],
    directions: Mapping[str, str],
    shown: Sequence[str],
    level: float,
) -> list[str]:
    """By how many numbers of those that tables show the surest pairs differ."""
    parts = []
    for (a, b), numbers in differences.items():
        by_winner: dict[tuple[str, str], list[str]] = {}
        for name, each in ((name, numbers[name]) for name in shown):
            if each.adjusted < level and each.sure:
                winner = (a, b) if (each.value > 0) == (directions[name] == "higher") else (b, a)
                by_winner.setdefault(winner, []).append(name)
        for (better, worse), names in by_winner.items():
            listed = first_few(names, _LISTED)
            parts.append(f"{better} is closer than {worse} by {len(names)} of {len(shown)} numbers ({listed})")
    more = f"; {len(parts) - _LISTED} more in the table" if len(parts) > _LISTED else ""
    return [f"{'; '.join(parts[:_LISTED])}{more}."] if parts else []


def _the_same(same: Mapping[PairOfSystems, int], settings: Mapping[str, Any]) -> list[str]:
    """Outputs that are equal tell nothing: where they are many, fewer items speak than there are."""
    often = {pair: count for pair, count in same.items() if count >= _OFTEN * settings["size"]}
    if not often:
        return []
    (a, b), count = max(often.items(), key=lambda each: each[1])
    return [f"{a} and {b} have written the same at {count:,} of {settings['size']:,} {settings['unit']}."]


def _unseen(shown: Sequence[str], level: float, settings: Mapping[str, Any]) -> list[str]:
    """The smallest difference that so many items find, in 80 % of cases and after all corrections."""
    units = settings["groups"] or settings["size"]
    what = f"groups of {settings['unit']}" if settings["groups"] else settings["unit"]
    if not settings["differ"]:
        return [f"All systems have the same scores at all {units:,} {what}: there is no difference to be told."]
    if settings["smallest_adjusted"] >= level:
        smallest = short_p(settings["smallest_adjusted"])
        return [f"With {units:,} {what} no difference can be told, however large: p is never below {smallest}."]
    found = {name: size for name, size in settings["smallest_found"].items() if name in shown and not math.isnan(size)}
    known = [f"{name} {short(size)}" for name, size in found.items() if 0 < size < math.inf]
    if not known:
        return [f"With {units:,} {what} hardly any difference can be told, however large."] if found else []
    listed = ", ".join(known[:_LISTED])
    return [
        f"With {units:,} {what} differences of about these sizes would be found in 4 of 5 cases, smaller ones may go "
        f"unseen: {listed}."
    ]
