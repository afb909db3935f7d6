"""How varied the texts of one set are: self-BLEU and distinct n-grams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..checks import LONGEST_NGRAM, check_count, check_function, each_count, plain_arguments
from ..errors import InputError
from ..lexical.cells import Frequencies
from ..lexical.ngrams import Words
from ..lexical.tokens import caption_tokens
from ..representations.encode import checked_texts
from .sentence_bleu import Tokenizer, bleu_of_counts, bleu_tokens


@plain_arguments
def self_bleu(texts: Iterable[str], order: int = 4, *, tokenize: Tokenizer = "13a", lowercase: bool = False) -> float:
    """Mean over texts of their BLEU against all the other texts: the higher, the less varied the texts are.

    Parameters
    ----------
    texts : iterable of str
        At least two.
    order : int
        The longest n-grams, in tokens.
    tokenize : {"13a", "intl", "zh", "char", "none"}
        A tokenizer of sacrebleu.
    lowercase : bool
        Whether upper and lower case are the same.

    Returns
    -------
    float
        0 to 1.

    Notes
    -----
    Zhu et al. (2018), Texygen: A Benchmarking Platform for Text Generation Models. Sentence BLEU as sacrebleu has it
    (exp smoothing, effective order). Sets of different sizes cannot be compared: with more texts, more n-grams of a
    text occur in others.

    Examples
    --------
    Equal texts score 1 against each other; a different one scores less.

    >>> import recapture as rc
    >>> rc.self_bleu(["a cat sat", "a cat sat"])
    1.0
    >>> rc.self_bleu(["a cat sat", "a cat sat", "it rained"]) < 1
    True
    """
    listed = checked_texts(texts)
    order = check_count("order", order, 1, LONGEST_NGRAM)
    if len(listed) < 2:
        raise InputError("self-BLEU needs at least two texts: each is compared with the others")
    words = Words.of(map(bleu_tokens(tokenize, lowercase)[0], listed))
    correct = []
    for runs in words.runs(order):
        ngrams = Frequencies.of(runs)
        shared = np.minimum(ngrams.times, _most_elsewhere(ngrams))
        correct.append(np.bincount(ngrams.text, shared, len(listed)).astype(np.int64).tolist())
    closest = _closest_other(words.lengths)
    return float(np.mean([*map(bleu_of_counts, words.lengths.tolist(), closest.tolist(), *correct)]))


@plain_arguments
def distinct_n(
    texts: Iterable[str],
    n: int | Sequence[int] = (1, 2),
    *,
    tokenize: Callable[[str], list[str]] = caption_tokens,
) -> dict[int, float | None]:
    """Share of distinct n-grams among all n-grams of the texts: the higher, the more varied the texts are.

    Parameters
    ----------
    texts : iterable of str
        All texts of the set.
    n : int or sequence of int
        The lengths of n-grams, in tokens.
    tokenize : callable
        From a text to its tokens. By default caption tokens (Penn Treebank style, without punctuation).

    Returns
    -------
    dict
        For each n the number of distinct n-grams divided by that of all n-grams; None where there are no n-grams.

    Notes
    -----
    Li et al. (2016), A Diversity-Promoting Objective Function for Neural Conversation Models. The share falls with the
    number of texts, so only sets of one size can be compared.

    Examples
    --------
    Two of three words are distinct, and both pairs of words.

    >>> import recapture as rc
    >>> shares = rc.distinct_n(["no means no"])
    >>> round(shares[1], 4), shares[2]
    (0.6667, 1.0)
    """
    listed = checked_texts(texts)
    check_function("tokenize", tokenize, "from a text to its tokens")
    wanted = each_count("n", n, 1, LONGEST_NGRAM)
    if not wanted:
        raise InputError("n names no n-gram length")
    shares = {
        length: len(runs.keys) / len(runs.number) if len(runs.number) else None
        for length, runs in enumerate(Words.of(map(tokenize, listed)).runs(max(wanted)), 1)
    }
    return {length: shares[length] for length in wanted}


def _most_elsewhere(ngrams: Frequencies) -> np.ndarray:
    """For every n-gram of every text, how often the other text that has it most often has it."""
    order = np.lexsort((ngrams.times, ngrams.number))
    number, times = ngrams.number[order], ngrams.times[order]
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
