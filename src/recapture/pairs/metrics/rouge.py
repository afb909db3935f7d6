"""ROUGE-1, ROUGE-2 and ROUGE-L: shared words, pairs of words, and the longest common subsequence of words.

Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries. With s what is shared (each n-gram as often as the
text that has it less often), precision = s / what the candidate has, recall = s / what the reference has, and F1 their
harmonic mean. Tokens and numbers are those of rouge-score: runs of a-z and 0-9 in the lower-cased text, so a text
without any cannot be compared; of several references, the one with the best F1 counts, for each of the three alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, shown
from ...similarity.rouge_l import bit_places, common_length
from ..declaration import GroupScorer, Output, PairMetric, PairScores
from ..evaluate import Answer, Candidates, References, pair_function, run_metric

KINDS = {"rouge1": "words", "rouge2": "pairs of words", "rougeL": "longest common subsequence"}
_REMEMBERED = 5000
"""Texts kept counted: references return with every system."""
_NUMBERS = ("", "_precision", "_recall")


@pair_function
def rouge(references: References, candidates: Candidates, *, stemmer: bool = False) -> Answer:
    """ROUGE-1, ROUGE-2 and ROUGE-L of the candidates, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the one with the best F1 counts, for each of the
        three alone.
    {candidates}
    stemmer : bool
        Whether words are reduced to their stems by Porter's stemmer.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.rouge1`, `.rouge2` and `.rougeL` are F1, means
        over candidates; `.rouge1_precision`, `.rouge1_recall` and so on go with them. `.rouge1_scores`,
        `.rouge1_recall_scores` and so on have one entry per candidate.

    Notes
    -----
    Tokens and numbers are those of rouge-score: runs of a-z and 0-9 in the lower-cased text. A text without any such
    token cannot be compared and scores worst.

    Examples
    --------
    Two of three words and one of two pairs of words are shared.

    >>> import recapture as rc
    >>> result = rc.rouge(["the cat sat"], ["the cat ran"])
    >>> round(result.rouge1, 4), round(result.rouge2, 4), round(result.rougeL, 4)
    (0.6667, 0.5, 0.6667)
    """
    return run_metric(METRIC, references, candidates, {"stemmer": stemmer})


class _Counts(NamedTuple):
    """A text's tokens, and its words and pairs of words counted."""

    tokens: list[str]
    ngrams: tuple[Counter, Counter]


class RougeScorer(GroupScorer):
    def __init__(self, stemmer: bool) -> None:
        from rouge_score.tokenizers import DefaultTokenizer  # type: ignore[import-untyped]

        self._tokenizer = DefaultTokenizer(stemmer)
        self._counts = lru_cache(_REMEMBERED)(self._count)
        self.settings = {"stemmer": stemmer}

    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> PairScores:
        table = np.empty((len(candidates), 3, 3))
        for row, group, candidate in zip(table, references, candidates, strict=True):
            held = self._counts(candidate)
            rated = [_numbers(wanted, held) for wanted in map(self._counts, group) if wanted.tokens and held.tokens]
            # The first of equally good references, as rouge-score.
            best = [max(kind, key=lambda numbers: numbers[0]) for kind in zip(*rated, strict=True)]
            row[:] = best if rated else np.nan
        names = [kind + number for kind in KINDS for number in _NUMBERS]
        return PairScores(dict(zip(names, table.reshape(-1, 9).T, strict=True)))

    def _count(self, text: str) -> _Counts:
        tokens = self._tokenizer.tokenize(text)
        return _Counts(tokens, (Counter(tokens), Counter(pairwise(tokens))))


def _numbers(reference: _Counts, candidate: _Counts) -> list[tuple[float, float, float]]:
    """F1, precision and recall of each kind."""
    rates = []
    for wanted, held in zip(reference.ngrams, candidate.ngrams, strict=True):
        shared = sum(min(count, held[ngram]) for ngram, count in wanted.items() if ngram in held)
        rates.append(_rates(shared, wanted.total(), held.total()))
    width = len(reference.tokens)
    common = common_length(candidate.tokens, bit_places(reference.tokens), width)
    return [*rates, _rates(common, width, len(candidate.tokens))]


def _rates(shared: int, wanted: int, held: int) -> tuple[float, float, float]:
    precision, recall = shared / max(held, 1), shared / max(wanted, 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0, precision, recall


def _prepare(references: Sequence[Sequence[str]], shared: Any, stemmer: Any) -> RougeScorer:
    if not isinstance(stemmer, bool):
        raise InputError(f"stemmer must be true or false, not {shown(stemmer)}")
    return RougeScorer(stemmer)


_MEANINGS = {"": "F1", "_precision": "share of the candidate's", "_recall": "share of the reference's"}

METRIC = PairMetric(
    name="rouge",
    title="ROUGE",
    outputs=tuple(
        Output(kind + number, f"{_MEANINGS[number]} {what}" if number else f"F1 of {what}", main=not number)
        for number in _NUMBERS
        for kind, what in KINDS.items()
    ),
    direction="higher",
    prepare=_prepare,
    defaults={"stemmer": False},
    over_references=None,
    order=140,
    libraries=("numpy", "rouge-score"),
    citation="Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries, ACL workshop",
)
