"""Sentence BLEU by sacrebleu: its tokens, its smoothing (exp) and its formula, for many pairs at once.

Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation. Effective order: a text of fewer
than four tokens is scored by the orders it has. So every text scores 1 against itself, even an empty
one (sacrebleu: 0).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..checks import is_one_of
from ..errors import InputError, nearest_names, shown
from ..lexical.cells import Cells, Frequencies, Sides, clipped_sums
from ..lexical.ngrams import Words
from .batched import BatchedScorer
from .scorer import Similarity

_ORDERS = 4
# The others of sacrebleu fetch models or need further packages.
Tokenizer = Literal["13a", "intl", "zh", "char", "none"]
TOKENIZERS: tuple[Tokenizer, ...] = ("13a", "intl", "zh", "char", "none")


class BleuScorer(BatchedScorer):
    """Sentence BLEU, 0 to 1."""

    def __init__(self, tokens: Callable[[str], list[str]], signature: str) -> None:
        self._tokens = tokens
        self.settings = {"sacrebleu": signature}

    def blocks(self, pairs: Sequence[Sides]) -> list[np.ndarray]:
        cells = Cells(pairs)
        words = Words.of(map(self._tokens, cells.texts))
        correct = []
        for runs in words.runs(_ORDERS):
            ngrams = Frequencies.of(runs)
            correct.append(clipped_sums(cells, ngrams, np.ones(len(ngrams.text))).astype(np.int64).tolist())
        lengths = (words.lengths[cells.row].tolist(), words.lengths[cells.column].tolist())
        return cells.split(np.fromiter(map(bleu_of_counts, *lengths, *correct), np.float64, len(cells.row)))


@lru_cache(maxsize=1 << 16)
def bleu_of_counts(length: int, reference_length: int, *correct: int) -> float:
    """BLEU, 0 to 1, from numbers of tokens and, for each order, how many n-grams the reference shares."""
    from sacrebleu.metrics.bleu import BLEU

    total = [max(0, length - n) for n in range(len(correct))]
    if length >= reference_length and list(correct) == total:
        return 1.0  # also for no tokens at all; exp(log(100)) would be 100.00000000000004
    score = BLEU.compute_bleu(
        list(correct),
        total,
        length,
        reference_length,
        smooth_method="exp",
        effective_order=True,
        max_ngram_order=len(correct),
    )
    return min(1.0, score.score / 100)


def bleu_tokens(tokenize: Any = "13a", lowercase: bool = False) -> tuple[Callable[[str], list[str]], str]:
    """sacrebleu's way from a text to its tokens, and its signature."""
    from sacrebleu.metrics.bleu import BLEU

    if not is_one_of(tokenize, TOKENIZERS):
        raise InputError(f"BLEU has no tokenizer {shown(tokenize)}: {nearest_names(tokenize, TOKENIZERS)}")
    metric = BLEU(lowercase=bool(lowercase), tokenize=tokenize, effective_order=True)
    metric.sentence_score("a", ["a"])  # there is no signature before the first score

    def tokens(text: str) -> list[str]:
        text = text.lower() if lowercase else text
        return str(metric.tokenizer(text.rstrip())).split()

    return tokens, str(metric.get_signature())


def _prepare(tokenize: Any, lowercase: Any) -> BleuScorer:
    return BleuScorer(*bleu_tokens(tokenize, lowercase))


METRIC = Similarity(
    name="sentence-bleu",
    title="Sentence BLEU",
    prepare=_prepare,
    defaults={"tokenize": "13a", "lowercase": False},
    order=30,
    libraries=("numpy", "sacrebleu"),
    citation="Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation, ACL",
)
