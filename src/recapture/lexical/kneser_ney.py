"""An n-gram language model of some texts, and how well it predicts others: interpolated Kneser-Ney smoothing.

Kneser and Ney (1995), Improved backing-off for m-gram language modeling; interpolated as in Chen and Goodman (1999), An
empirical study of smoothing techniques for language modeling, with one discount an order. For a word w after the k - 1
words h, with h' the same without its first word,

    p_k(w | h) = (c(hw) - D_k)+ / c(h.) + D_k N(h.) / c(h.) p_{k-1}(w | h')        p_0 = 1 / V

c(hw) is how often hw occurs at the highest order and how many different words stand before it at all lower ones (its
continuation count), c(h.) the sum of c(hw) over w, and N(h.) how many different w follow h. After an h that was never
seen p_k = p_{k-1}. V counts the words of the training texts, the end of a text and one unknown word, for which all
others stand: with count 0 everywhere, it gets the lowest order's uniform share. D_k = n1 / (n1 + 2 n2), n1 and n2 the
numbers of k-grams with c = 1 and c = 2; where either is 0, as in very few or very regular texts, D_k = 0.75.

A text begins with n - 1 start marks, which are never predicted, and ends with one end mark, which is: so a text of t
words counts t + 1 tokens, and an empty one counts 1. The start mark counts as a word before others like any other.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..checks import is_number, is_whole
from ..errors import InputError, shown
from .ngrams import Words

MOST_WORDS = 5
"""The highest order of a model."""
_FALLBACK = 0.75
_ALL_MARKS = 0x20000
"""Beyond this code point only variation selectors combine with what stands before them."""


class Entropy(NamedTuple):
    """What some texts cost under a model, in nats."""

    nats: np.ndarray
    """Minus the log probability of each text, its end included."""
    tokens: np.ndarray
    """How many tokens of each text were predicted: its words and its end."""

    @property
    def per_text(self) -> np.ndarray:
        """Nats per token of each text."""
        mean: np.ndarray = self.nats / self.tokens
        return mean

    @property
    def per_token(self) -> float:
        """Nats per token of all texts together; long texts count more. NaN without texts."""
        tokens = int(self.tokens.sum())
        return math.fsum(self.nats.tolist()) / tokens if tokens else math.nan


class KneserNey:
    """A model of the given texts.

    order: how many words make the longest n-grams, 1 to 5.
    tokenize: from a text to its tokens; by default lower-cased words and single punctuation marks.
    discounts: D of each order, the lowest first, each from 0 to 1; by default from the counts of counts.
    """

    def __init__(
        self,
        texts: Iterable[str],
        order: int = 3,
        *,
        tokenize: Callable[[str], Sequence[str]] | None = None,
        discounts: Sequence[float] | None = None,
    ) -> None:
        check_model(order, tokenize)
        self.order = order
        self._tokenize = tokenize or word_tokens
        words = Words.of(map(self._tokenize, _texts(texts)))
        if not len(words.lengths):
            raise InputError("there are no texts to learn a language model from")
        self._number_of = words.number_of
        self._end, self._start, self._unknown = (len(words.number_of) + mark for mark in range(3))
        self._size = len(words.number_of) + 3
        contexts, ngrams = self._counts(_Stream.of(words.numbers, words.lengths, order, self._end, self._start))
        self.discounts = _given(discounts, order) or tuple(_discount(counts) for _, counts in ngrams)
        """D of each order, the lowest first."""
        self._levels = self._smoothed(contexts, ngrams)

    @property
    def words(self) -> list[str]:
        """The words of the training texts."""
        return list(self._number_of)

    @property
    def vocabulary(self) -> int:
        """V: how many different tokens can follow, the end and the unknown word among them."""
        return len(self._number_of) + 2

    def cross_entropy(self, texts: Iterable[str]) -> Entropy:
        """What each text costs; neither the other texts nor their order change it."""
        lengths: list[int] = []
        numbers: list[int] = []
        number_of, unknown = self._number_of, self._unknown
        for text in _texts(texts):
            tokens = self._tokenize(text)
            numbers += [number_of.get(token, unknown) for token in tokens]
            lengths.append(len(tokens))
        counts = np.array(lengths, np.int64)
        stream = _Stream.of(np.array(numbers, np.int64), counts, self.order, self._end, self._start)
        # math.log: NumPy's may round differently at different places of an array, and so depend on the other texts.
        nats = [-math.log(p) if p else math.inf for p in self._probabilities(stream).tolist()]
        owner = np.repeat(np.arange(len(counts)), counts + 1)
        return Entropy(np.bincount(owner, nats, len(counts)), counts + 1)

    def following(self, history: Sequence[str]) -> np.ndarray:
        """The probability of each token after the given ones, the first tokens of a text.

        As many as the vocabulary has: the training words in the order of `words`, the end, the unknown word.
        """
        numbers = [self._number_of.get(token, self._unknown) for token in history]
        before = [self._start] * (self.order - 1) + numbers
        after = np.array([*range(self._end + 1), self._unknown], np.int64)
        rows = np.empty((len(after), self.order), np.int64)
        rows[:, :-1] = before[len(before) - self.order + 1 :]
        rows[:, -1] = after
        return self._probabilities(_Stream(rows.ravel(), np.arange(1, len(after) + 1) * self.order - 1))

    def _counts(self, stream: _Stream) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]]]:
        """For every order the contexts, each by the number of its shorter form and the word before that, and the
        n-grams, each by the numbers of its context and its last word, with their counts; both ascending."""
        contexts = [np.zeros(1, np.int64)]
        context = np.zeros(len(stream.predicted), np.int64)
        for distance in range(1, self.order):
            keys, context = np.unique(context * self._size + stream.before(distance), return_inverse=True)
            contexts.append(keys)
        ngrams = [np.unique(context * self._size + stream.before(0), return_counts=True)]
        for longer in contexts[:0:-1]:
            # Without their first words; how many different n-grams become the same is the continuation count.
            context, last = np.divmod(ngrams[0][0], self._size)
            ngrams.insert(0, np.unique(longer[context] // self._size * self._size + last, return_counts=True))
        return contexts, ngrams

    def _smoothed(self, contexts: list[np.ndarray], ngrams: list[tuple[np.ndarray, np.ndarray]]) -> list[_Order]:
        levels: list[_Order] = []
        for discount, keys, (ngram_keys, counts) in zip(self.discounts, contexts, ngrams, strict=True):
            context, last = np.divmod(ngram_keys, self._size)
            total = np.bincount(context, counts)
            left = discount * np.bincount(context) / total
            lower: Any = 1 / self.vocabulary
            if levels:
                shorter = keys[context] // self._size * self._size + last
                lower = levels[-1].probability[np.searchsorted(levels[-1].ngrams, shorter)]
            levels.append(_Order(keys, left, ngram_keys, (counts - discount) / total[context] + left[context] * lower))
        return levels

    def _probabilities(self, stream: _Stream) -> np.ndarray:
        """Of every token to predict after those before it."""
        last = stream.before(0)
        context = np.zeros(len(last), np.int64)
        probability = np.full(len(last), 1 / self.vocabulary)
        for distance, level in enumerate(self._levels):
            if distance:
                context = _find(level.contexts, context * self._size + stream.before(distance))
            ngram = _find(level.ngrams, context * self._size + last)
            lower = np.where(context >= 0, level.left[context], 1.0) * probability
            probability = np.where(ngram >= 0, level.probability[ngram], lower)
        return probability


class _Order(NamedTuple):
    """One order of a model."""

    contexts: np.ndarray
    left: np.ndarray
    """What each context leaves to the lower order."""
    ngrams: np.ndarray
    probability: np.ndarray
    """Of each n-gram's last word, the lower orders' share included."""


class _Stream(NamedTuple):
    """Texts with their marks in one line, and the places of the tokens to predict."""

    numbers: np.ndarray
    predicted: np.ndarray

    @classmethod
    def of(cls, words: np.ndarray, lengths: np.ndarray, order: int, end: int, start: int) -> _Stream:
        ends = np.cumsum(lengths + order) - 1
        numbers = np.full(len(words) + len(lengths) * order, start, np.int64)
        numbers[ends] = end
        text = np.repeat(np.arange(len(lengths)), lengths)
        numbers[np.arange(len(words)) + text * order + order - 1] = words
        return cls(numbers, np.flatnonzero(numbers != start))

    def before(self, distance: int) -> np.ndarray:
        """The token so many places before each one to predict."""
        before: np.ndarray = self.numbers[self.predicted - distance]
        return before


def _find(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The place of each key among ascending ones; -1 where it is not there, as where its context (-1) was not."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _discount(counts: np.ndarray) -> float:
    once, twice = (int(np.count_nonzero(counts == times)) for times in (1, 2))
    return once / (once + 2 * twice) if once and twice else _FALLBACK


def check_model(order: Any, tokenize: Any) -> None:
    """Raise if a model cannot have these parameters."""
    if not is_whole(order) or not 1 <= order <= MOST_WORDS:
        raise InputError(f"order must be a whole number from 1 to {MOST_WORDS}, not {shown(order)}")
    if tokenize is not None and not callable(tokenize):
        raise InputError(f"tokenize must be a function from a text to its tokens, not {shown(tokenize)}")


def _given(discounts: Sequence[float] | None, order: int) -> tuple[float, ...] | None:
    if discounts is None:
        return None
    values = tuple(discounts) if isinstance(discounts, Iterable) else ()
    if len(values) != order or not all(is_number(value) and 0 <= value <= 1 for value in values):
        raise InputError(f"discounts must be {order} numbers from 0 to 1, one for each order, not {shown(discounts)}")
    return tuple(map(float, values))


def _texts(texts: Iterable[str]) -> Iterable[str]:
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise InputError(f"texts must be a list of strings, not {type(texts).__name__}")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {position} is not a string but {type(text).__name__}")
        yield text


def word_tokens(text: str) -> list[str]:
    """Words of any language that puts spaces between them, lower-cased, and every other mark on its own."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return _token().findall(text.lower())


@lru_cache(maxsize=1)
def _token() -> re.Pattern[str]:
    # Python's \w leaves out marks that combine with a letter; without them vowel signs would split words.
    marks = "".join(chr(code) for code in range(_ALL_MARKS) if unicodedata.category(chr(code))[0] == "M")
    joined = rf"\w{re.escape(marks)}\u200c\u200d"
    return re.compile(rf"\w[{joined}]*|[^\w\s]")
