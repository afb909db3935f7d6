"""How many pieces texts have and how many of them are unknown, without loading a model or, mostly, PyTorch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..progress import Progress
from .known_words import TokenRows, cutter_of, token_rows
from .loading import in_one_sentence, load_pretrained, quiet
from .locate import Weights
from .weight_files import read_json

_AT_ONCE = 1000
_Cut = Callable[[list[str]], TokenRows]


class PieceCounts(NamedTuple):
    """Of some texts, special tokens aside."""

    pieces: np.ndarray
    unknown: np.ndarray
    special: int
    """Special tokens that stand around each text."""


class PieceCounter:
    """A tokenizer that only counts."""

    def __init__(self, weights: Weights, lower_case: bool = False) -> None:
        self._lower_case = lower_case
        fast = weights.folder / "tokenizer.json"
        with in_one_sentence(f"the tokenizer of the encoder {weights.name} in {weights.folder} cannot be used"):
            self._cut, self._special, self._unknown = _light(fast) if fast.is_file() else _loaded(weights)
            # Some models use one token for unknown pieces and at the end of each text.
            self._around = 0 if self._unknown is None else int(self._cut([""]).times(self._unknown)[0])

    def count(self, texts: Sequence[str]) -> PieceCounts:
        pieces, unknown = np.zeros((2, len(texts)), np.int64)
        with Progress("counting pieces", len(texts), "text") as progress:
            for start in range(0, len(texts), _AT_ONCE):
                part = [text.lower() if self._lower_case else text for text in texts[start : start + _AT_ONCE]]
                rows = self._cut(part)
                pieces[start : start + len(part)] = rows.lengths - self._special
                if self._unknown is not None:
                    unknown[start : start + len(part)] = rows.times(self._unknown) - self._around
                progress.advance(len(part))
        return PieceCounts(pieces, unknown, self._special)


def _light(file: Path) -> tuple[_Cut, int, int | None]:
    """By the library of fast tokenizers alone: it needs a fraction of the time that transformers needs to be loaded."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    return cutter_of(tokenizer), tokenizer.num_special_tokens_to_add(False), _unknown_piece(read_json(file))


def _unknown_piece(content: dict[str, Any]) -> int | None:
    """The number of the piece that stands for all unknown ones; None where every byte has a piece of its own."""
    model = content["model"]
    cutting = json.dumps([content.get("pre_tokenizer"), content.get("decoder")])
    if model.get("byte_fallback") or '"ByteLevel"' in cutting:
        return None
    if model.get("unk_id") is not None:
        return int(model["unk_id"])
    name = model.get("unk_token")
    added = {token["content"]: token["id"] for token in content.get("added_tokens") or ()}
    number = added.get(name, model["vocab"].get(name) if isinstance(model["vocab"], dict) else None)
    return None if number is None else int(number)


def _loaded(weights: Weights) -> tuple[_Cut, int, int | None]:
    tokenizer, _ = load_pretrained("AutoTokenizer", weights, "the encoder")

    def cut(texts: list[str]) -> TokenRows:
        with quiet():
            rows = tokenizer(texts, padding=False, truncation=False, verbose=False)
        return token_rows(rows["input_ids"])

    return cut, int(tokenizer.num_special_tokens_to_add()), tokenizer.unk_token_id
