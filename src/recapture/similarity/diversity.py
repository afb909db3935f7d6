"""How varied the texts of one set are: self-BLEU and distinct n-grams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..lexical.cells import Frequencies
from ..lexical.ngrams import Words
from ..lexical.tokens import caption_tokens
from ..representations.encode import checked_texts
from .sentence_bleu import bleu_of_counts, bleu_tokens


def self_bleu(texts: Iterable[str], order: int = 4, *, tokenize: str = "13a", lowercase: bool = False) -> float:
    """Mean over texts of BLEU, 0 to 1, against all the other texts as references; the higher, the less varied.

    Zhu et al. (2018), Texygen: A Benchmarking Platform for Text Generation Models. Sentence BLEU as sacrebleu has it
    (exp smoothing, effective order), n-grams of up to `order` tokens. Sets of different sizes do not compare: more
    texts find more n-grams among each other.
    """
    listed = checked_texts(texts)
    _check_order(order, "order")
    if len(listed) < 2:
        raise InputError("self-BLEU needs at least two texts: each is compared with the others")
    words = Words.of(map(bleu_tokens(tokenize, lowercase)[0], listed))
    correct = []
    for runs in words.runs(order):
        found = Frequencies.of(runs)
        shared = np.minimum(found.times, _most_elsewhere(found))
        correct.append(np.bincount(found.text, shared, len(listed)).astype(np.int64).tolist())
    closest = _closest_other(words.lengths)
    return float(np.mean([*map(bleu_of_counts, words.lengths.tolist(), closest.tolist(), *correct)]))


def distinct_n(
    texts: Iterable[str],
    n: int | Sequence[int] = (1, 2),
    *,
    tokenize: Callable[[str], list[str]] = caption_tokens,
) -> dict[int, float | None]:
    """For each n the distinct n-grams of all texts / all their n-grams; None where there are no n-grams.

    Li et al. (2016), A Diversity-Promoting Objective Function for Neural Conversation Models. Falls with the number of
    texts, so it compares sets of one size only.
    """
    listed = checked_texts(texts)
    wanted = [n] if isinstance(n, int) else list(n)
    if not wanted:
        raise InputError("n names no n-gram length")
    for each in wanted:
        _check_order(each, "n")
    shares = {
        length: len(runs.keys) / len(runs.number) if len(runs.number) else None
        for length, runs in enumerate(Words.of(map(tokenize, listed)).runs(max(wanted)), 1)
    }
    return {each: shares[each] for each in wanted}


def _check_order(given: Any, name: str) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InputError(f"{name} must be a whole number above zero, not {given!r}")


def _most_elsewhere(found: Frequencies) -> np.ndarray:
    """For every n-gram of every text, how often the other text that has it most often has it."""
    order = np.lexsort((found.times, found.number))
    number, times = found.number[order], found.times[order]
    # Entries of one n-gram now stand together, most frequent last: that one looks at the entry before it, if it is of
    # the same n-gram; all others look at the last.
    last = np.flatnonzero(np.diff(number, append=-1))
    most = np.repeat(times[last], np.diff(last, prepend=-1))
    same = np.diff(number, prepend=-1)[last] == 0
    most[last] = np.where(same, times[last - 1], 0)
    elsewhere = np.empty_like(most)
    elsewhere[order] = most
    return elsewhere


def _closest_other(lengths: np.ndarray) -> np.ndarray:
    """For every text the length nearest to its own among the other texts; of two equally near, the shorter."""
    distinct, place, times = np.unique(lengths, return_inverse=True, return_counts=True)
    shorter = np.append(-np.inf, distinct[:-1])
    longer = np.append(distinct[1:], np.inf)
    nearest = np.where(longer - distinct < distinct - shorter, longer, shorter)
    closest: np.ndarray = np.where(times > 1, distinct, nearest).astype(np.int64)[place]
    return closest
