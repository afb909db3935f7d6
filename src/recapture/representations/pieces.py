"""Texts as a model's tokenizer cuts them: real pieces, and the special tokens that stand around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..errors import InputError
from .loading import check_vocabulary, in_one_sentence, load_pretrained, quiet
from .locate import Weights

_AT_ONCE = 10_000
Own = tuple[int, ...]
"""A text's own pieces, which are all that a model sees of it."""


class Pieces(NamedTuple):
    """One text: special tokens before it, its own pieces, special tokens behind it."""

    before: tuple[int, ...]
    own: Own
    behind: tuple[int, ...]


class Tokenizer:
    """A pretrained tokenizer; it never truncates."""

    def __init__(self, weights: Weights, purpose: str) -> None:
        self._name = f"{purpose} {weights.name}"
        self._tokenizer, _ = load_pretrained("AutoTokenizer", weights, purpose)
        if not getattr(self._tokenizer, "is_fast", False):
            raise InputError(f"{purpose} {weights.name} has no fast tokenizer (tokenizer.json), which is needed")
        self._cutter = plain_cutter(self._tokenizer)
        self.mask: int | None = self._tokenizer.mask_token_id
        self.mask_token: str | None = self._tokenizer.mask_token
        self._unknown: int | None = self._tokenizer.unk_token_id
        # What fills up a row is masked out, so any token will do.
        pads: list[int | None] = [self._tokenizer.pad_token_id, self._tokenizer.eos_token_id]
        self.pad = next((token for token in pads if token is not None), 0)

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Surrounding blanks do not count: some tokenizers would make tokens of them."""
        cut: list[Pieces] = []
        with in_one_sentence(f"{self._name} has a tokenizer that cannot be used"), quiet():
            for start in range(0, len(texts), _AT_ONCE):
                rows = self._cutter.encode_batch_fast([text.strip() for text in texts[start : start + _AT_ONCE]])
                cut += [parts(row.ids, row.special_tokens_mask) for row in rows]
        return cut

    def unknown_share(self, pieces: Iterable[Pieces]) -> float:
        """Share of the texts' own pieces that stand for something unknown."""
        count = unknown = 0
        for piece in pieces:
            count += len(piece.own)
            unknown += piece.own.count(self._unknown) if self._unknown is not None else 0
        return unknown / count if count else 0.0

    def check_fits(self, model: Any, name: str) -> None:
        """Refuse a model that has no words for some of the pieces."""
        check_vocabulary(self._tokenizer, model, name)

    def words(self, ids: Sequence[int]) -> list[str]:
        """Pieces as the vocabulary writes them."""
        return list(self._tokenizer.convert_ids_to_tokens(list(ids)))


def plain_cutter(tokenizer: Any) -> Any:
    """A copy of what works within a pretrained fast tokenizer, which neither cuts off nor fills up.

    A copy, as the library sets limits on its own with every call. It leaves out what the library does around it, which
    takes as long again, and gives the same pieces.
    """
    own = tokenizer.backend_tokenizer
    copy = type(own).from_str(own.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def room_for(piece: Pieces, room: int, name: str) -> int:
    """How many pieces of a text go through a model at once, beside the special tokens."""
    left = room - len(piece.before) - len(piece.behind)
    if left < 1:
        raise InputError(f"{name} takes at most {room} pieces at once, which leaves no room for a text")
    return left


def parts(ids: list[int], special: list[int]) -> Pieces:
    """Only runs of special tokens at the two ends were put there by the tokenizer."""
    if 0 not in special:  # nothing but special tokens: half before, half behind
        middle = (len(ids) + 1) // 2
        return Pieces(tuple(ids[:middle]), (), tuple(ids[middle:]))
    first, last = special.index(0), len(ids) - special[::-1].index(0)
    return Pieces(tuple(ids[:first]), tuple(ids[first:last]), tuple(ids[last:]))
