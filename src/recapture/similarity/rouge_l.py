"""ROUGE-L: F1 of the longest common subsequence of two texts' tokens, tokens by rouge-score.

Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries. With lcs the length of that subsequence,

    F1 = 2 lcs / (tokens of hypothesis + tokens of reference)

Tokens are runs of a-z and 0-9 in the lower-cased text, so only texts in such letters can be compared: without any
token a text scores 1 against itself and 0 against all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError, shown
from .scorer import Scorer, Similarity


class RougeLScorer(Scorer):
    """ROUGE-L F1, 0 to 1."""

    def __init__(self, stemmer: bool) -> None:
        from rouge_score.tokenizers import DefaultTokenizer  # type: ignore[import-untyped]

        self._tokenizer = DefaultTokenizer(stemmer)
        self.settings = {"stemmer": stemmer}

    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        rows = [(text, self._tokenizer.tokenize(text)) for text in hypotheses]
        columns = rows if references is hypotheses else [(text, self._tokenizer.tokenize(text)) for text in references]
        scores = np.empty((len(rows), len(columns)))
        for j, (reference, wanted) in enumerate(columns):
            places = bit_places(wanted)
            for i, (text, tokens) in enumerate(rows[j:] if rows is columns else rows, j if rows is columns else 0):
                total = len(tokens) + len(wanted)
                if total:
                    scores[i, j] = 2 * common_length(tokens, places, len(wanted)) / total
                else:
                    scores[i, j] = text.split() == reference.split()  # two blank texts are equal, too
                if rows is columns:  # F1 is the same either way
                    scores[j, i] = scores[i, j]
        return scores


def bit_places(tokens: Sequence[str]) -> dict[str, int]:
    """For each token the places where it stands, as bits."""
    places: dict[str, int] = {}
    for place, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << place
    return places


def common_length(tokens: Sequence[str], places: dict[str, int], width: int) -> int:
    """Length of the longest common subsequence, a row of the table in one number.

    Hyyrö (2004), Bit-parallel LCS-length computation revisited: a zero bit is a step of the row.
    """
    everywhere = (1 << width) - 1
    row = everywhere
    for token in tokens:
        met = row & places.get(token, 0)
        if met:
            row = ((row + met) | (row - met)) & everywhere
    return width - bin(row).count("1")


def _prepare(stemmer: Any) -> RougeLScorer:
    if not isinstance(stemmer, bool):
        raise InputError(f"stemmer must be true or false, not {shown(stemmer)}")
    return RougeLScorer(stemmer)


METRIC = Similarity(
    name="rouge-l",
    title="ROUGE-L",
    prepare=_prepare,
    defaults={"stemmer": False},
    order=40,
    libraries=("numpy", "rouge-score"),
    citation="Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries, ACL workshop",
)
