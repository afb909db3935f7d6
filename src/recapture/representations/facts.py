"""What an encoder was made for, and what it did not see of the texts it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from .scripts import share_outside

MANY_UNKNOWN = 0.05
MANY_OUTSIDE = 0.1
"""Shares of unknown pieces, and of letters in other scripts, from which on results say so."""

Order = Literal["blind", "nearly blind", "unknown"]


class MadeFor(NamedTuple):
    """What an encoder declares about itself."""

    languages: str
    length: int | None
    """Most pieces that it takes at once, special ones included; None: any number, or unknown."""
    order: Order
    """Whether it sees the order of words."""
    scripts: tuple[str, ...] = ()
    """Those of the languages, by Unicode's names; empty where they are not known."""

    def __str__(self) -> str:
        length = f"{self.length} pieces at once" if self.length else "no known limit of length"
        order = "it is not known how much it sees of word order"
        return f"{self.languages}; {length}; {order if self.order == 'unknown' else f'{self.order} to word order'}"


class TextFacts(NamedTuple):
    """What an encoder sees of one set of texts; None where it cannot be told."""

    beyond_limit: int | None = None
    """Texts that are longer than the encoder takes at once, whether they went through it in windows or were cut."""
    unseen_tokens: float | None = None
    """Share of all tokens that were cut off."""
    unknown_pieces: float | None = None
    """Share of pieces (words, for encoders of words) that the encoder does not know."""


def facts_of(encoder: Any, texts: Sequence[str]) -> TextFacts:
    """Not every encoder can tell."""
    facts = getattr(encoder, "facts", None)
    return facts(texts) if facts is not None else TextFacts()


def notes_on(encoder: Any, texts: Sequence[str], name: str, facts: TextFacts | None = None) -> list[str]:
    """Sentences on what the encoder does not see of a set's texts.

    facts: those of `facts_of`, where they are known already.
    """
    facts = facts_of(encoder, texts) if facts is None else facts
    own = getattr(encoder, "notes", None)
    said = _on_length(encoder, len(texts), name, facts)
    if own is not None:
        said += own(texts, name)
    # An encoder with notes of its own says there what it does not know, unless it names the unit to count.
    unit = getattr(encoder, "unit", "pieces" if own is None else None)
    if unit:
        said += about_unknown(facts.unknown_pieces, f"the {unit} of {name}", encoder.name)
    made_for: MadeFor | None = getattr(encoder, "made_for", None)
    outside = share_outside(texts, made_for.scripts) if made_for is not None and made_for.scripts else 0.0
    if made_for is not None and outside > MANY_OUTSIDE:
        said.append(
            f"{outside:.0%} of the letters of {name} are of scripts that {encoder.name} was not made for "
            f"({made_for.languages}): its vectors say little about such texts"
        )
    return said


def about_unknown(share: float | None, what: str, name: str) -> list[str]:
    """What to say where the model of that name does not know a share of the pieces; nothing of a small one."""
    if (share or 0) <= MANY_UNKNOWN:
        return []
    return [f"{share:.1%} of {what} are unknown to {name}: it does not see how texts differ in them"]


def _on_length(encoder: Any, count: int, name: str, facts: TextFacts) -> list[str]:
    if not facts.beyond_limit:
        return []
    longer = f"{facts.beyond_limit:,} of {count:,} texts of {name} are longer than {encoder.made_for.length} pieces"
    if facts.unseen_tokens:
        return [f"{longer} and were cut: {facts.unseen_tokens:.1%} of all pieces of {name} were not seen"]
    return [f"{longer}: their vectors are means over windows of the whole text"]
