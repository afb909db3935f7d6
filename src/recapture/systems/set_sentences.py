"""What a verdict on sets says beside who is closest: told from people or not, what is worse, what cannot be told."""

from __future__ import annotations

from collections.abc import Sequence

from ..sets.beside_people import blind, set_sentences
from ..sets.table import SetResults
from ..sets.unseen import TOO_FEW, sentence
from .smallest_difference import SmallestDifference


def sentences_on(results: SetResults, level: float) -> list[str]:
    return [*set_sentences(results, level), *blind(results)]


def unseen_between(smallest: SmallestDifference, shown: Sequence[str]) -> list[str]:
    found = smallest.found(shown)
    if found is None:
        return [TOO_FEW]
    return [sentence(found, "would have been found further from people than one without that")]
