"""What a verdict on sets says beside who is closest: told from people or not, what is worse, what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping

from ..report.report import short
from ..sets.beside_people import set_sentences
from ..sets.table import SetResults
from .evidence import Difference, PairOfSystems

_POWER = 2.8
"""Standard errors that a difference must have to be found in 80 % of cases at the 5 % level: 1.96 + 0.84."""


def sentences_on(
    results: SetResults, differences: Mapping[PairOfSystems, Mapping[str, Difference]], level: float
) -> list[str]:
    return [*set_sentences(results, level), *_unseen(differences)]


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
