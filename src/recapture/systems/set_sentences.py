"""What a verdict on sets says beside who is closest: told from people or not, what is worse, what cannot be told."""

from __future__ import annotations

from ..sets.beside_people import cautions, told_from_people
from ..sets.table import SetResults
from ..sets.unseen import SmallestFound, sentence


def sentences_on(results: SetResults, level: float) -> list[str]:
    return [*told_from_people(results, level), *cautions(results)]


def unseen_between(found: SmallestFound | None, silence: str) -> list[str]:
    """silence: what is said where nothing was found."""
    if found is None:
        return [silence]
    return [sentence(found, "would have been found further from people than one without that")]
