"""What a verdict on sets says beside who is closest: told from people or not, what is worse, what cannot be told."""

from __future__ import annotations

from ..sets.beside_people import blind, set_sentences
from ..sets.table import SetResults
from ..sets.unseen import TOO_FEW, SmallestFound, sentence


def sentences_on(results: SetResults, level: float) -> list[str]:
    return [*set_sentences(results, level), *blind(results)]


def unseen_between(found: SmallestFound | None) -> list[str]:
    if found is None:
        return [TOO_FEW]
    return [sentence(found, "would have been found further from people than one without that")]
