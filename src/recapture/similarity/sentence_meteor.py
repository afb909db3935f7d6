"""METEOR 1.5 for English, without Java.

Denkowski and Lavie (2014), Meteor Universal; the alignment is that of Meteor 1.3 (2011), see `lexical.align`. Words are
aligned where they are equal, have the same stem, are synonyms or belong to paraphrases, and count 1, 0.6, 0.8 and 0.6.
Stems are those of the authors' program, whatever stemmer is installed (`lexical.english_stems`).
With P and R the weighted share of hypothesis and reference that is aligned (content words weigh delta, function words
1 - delta), m the mean number of aligned words of both sides and c the number of chunks,

    score = (1 - gamma (c / m)^beta) / ((1 - alpha) / P + alpha / R)

with c / m taken as 0 where one chunk covers both texts. A text scores 1 against itself; with nothing aligned, 0.

A score of many texts together has the same formula over sums: of what is aligned, of what there is, and of chunks, but
for those of texts that one chunk covers.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_number, is_one_of, path_of
from ..declarations import function_name
from ..errors import InputError, nearest_names, shown
from ..lexical.align import Match, WeightedWords, align, count_chunks
from ..lexical.function_words import FUNCTION_WORDS
from ..lexical.function_words import function_words as function_words_of
from ..lexical.jar_files import JarFiles
from ..lexical.meteor_tokens import meteor_tokens
from ..lexical.paraphrases import Paraphrases
from ..lexical.stems import Stems, stemmer_name
from ..lexical.tokens import caption_tokens
from ..lexical.wordnet import WordNet, find_wordnet
from .scorer import Scorer, Similarity

WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""What a match counts, by stage: exact, stem, synonym, paraphrase."""

TOKENIZERS: dict[str, Callable[[str], Sequence[str]]] = {
    "meteor": meteor_tokens,
    "caption": caption_tokens,
    "split": str.split,
}
_REMEMBERED = 500_000
"""Tokens of the texts that a scorer remembers."""
_RUNS = 8
"""How much more there is to remember of a token where runs of tokens may have paraphrases."""

_PathLike = str | os.PathLike[str]


class AlignedCounts(NamedTuple):
    """What METEOR's formula needs to know of two texts."""

    held: float
    """Of the hypothesis, what is aligned, weighted by stage and by kind of word."""
    holds: float
    """What all its words count."""
    wanted: float
    """The same two of the reference."""
    wants: float
    words: int
    """Aligned words of both texts together."""
    chunks: int
    whole: bool
    """Whether one chunk covers both texts."""


class MeteorScorer(Scorer):
    """METEOR with its tables loaded. Texts are tokenised and stemmed once, and remembered up to a number of tokens."""

    def __init__(
        self,
        *,
        jar: Any,
        tokenize: Any,
        stemmer: Any,
        wordnet: Any,
        paraphrases: Any,
        function_words: Any,
        **parameters: Any,
    ) -> None:
        self._alpha, self._beta, self._gamma, self._delta = (
            _number(name, parameters[name], most)
            for name, most in (("alpha", 1.0), ("beta", float("inf")), ("gamma", 1.0), ("delta", 1.0))
        )
        own = None if jar is None else JarFiles(path_of(jar, "METEOR's own program"))
        """What is not named comes from the authors' program, where that is."""
        by_jar = {"tokenize": tokenize == "meteor", "function_words": function_words is None} if own else {}
        self._tokenize = own.tokenize if own and by_jar["tokenize"] else _tokenizer(tokenize)
        self._stems = Stems(stemmer)
        self._light = own.function_words if own and by_jar["function_words"] else function_words_of(function_words)
        self._values = _Values(self._light, self._delta)
        if own:
            wordnet = own.synonyms if wordnet is None else wordnet
            paraphrases = own.paraphrases if paraphrases is None else paraphrases
        self._synonyms = None if wordnet is None else _wordnet(wordnet)
        self._paraphrases = None if paraphrases is None else Paraphrases(path_of(paraphrases, "a paraphrase table"))
        self._further = [stage for stage in (self._synonyms, self._paraphrases) if stage is not None]
        self._known: dict[str, tuple[WeightedWords, list[Any]]] = {}
        self._room = _REMEMBERED
        used = (True, stemmer is not None, self._synonyms, self._paraphrases)
        self.settings = {
            "stages": [name for name, use in zip(("exact", "stem", "synonym", "paraphrase"), used, strict=True) if use],
            "tokenize": _name(tokenize),
            "stemmer": stemmer_name(stemmer) if isinstance(stemmer, str) else _name(stemmer),
            "wordnet": self._synonyms and self._synonyms.identity(),
            "paraphrases": self._paraphrases and self._paraphrases.identity(),
            "function_words": "recapture" if self._light is FUNCTION_WORDS else _digest(self._light),
            **parameters,
            **({"jar": own.identity()} if own else {}),
            **{name: "jar" for name, taken in by_jar.items() if taken},
        }

    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        rows = [self._prepared(text) for text in hypotheses]
        columns = [self._prepared(text) for text in references]
        scores = np.empty((len(rows), len(columns)))
        for number, row in enumerate(rows):
            scores[number] = [self._score(row, column) for column in columns]
        return scores

    def _prepared(self, text: str) -> tuple[WeightedWords, list[Any]]:
        """A text's words, and what the stages after stemming need to know about it."""
        known = self._known.get(text)
        if known is None:
            tokens = list(self._tokenize(text))
            values = list(map(self._values.__getitem__, tokens))
            words = WeightedWords(tokens, list(map(self._stems.__getitem__, tokens)), values)
            known = words, [stage.prepare(tokens) for stage in self._further]
            self._room -= (len(tokens) + 1) * (_RUNS if self._paraphrases else 1)
            if self._room < 0:
                self._known.clear()
                self._room = _REMEMBERED
            self._known[text] = known
        return known

    def counts(self, hypothesis: str, reference: str) -> AlignedCounts:
        """What `total` puts together."""
        (there, there_further), (here, here_further) = self._prepared(hypothesis), self._prepared(reference)
        if there.tokens == here.tokens:
            return AlignedCounts(there.total, there.total, here.total, here.total, 2 * len(here.tokens), 1, True)
        return self._counts(there, there_further, here, here_further)

    def total(self, counts: Iterable[AlignedCounts]) -> float:
        """The score of several pairs together; of one pair its own."""
        held, holds, wanted, wants, words, chunks, whole = zip(*counts, strict=True)
        if all(whole) and not any(holds) and not any(wants):  # equal texts, all of whose words weigh nothing
            return 1.0
        broken = sum(number for number, one in zip(chunks, whole, strict=True) if not one)
        return self._formula(
            AlignedCounts(sum(held), sum(holds), sum(wanted), sum(wants), sum(words), broken, all(whole))
        )

    def _score(self, hypothesis: tuple[WeightedWords, list[Any]], reference: tuple[WeightedWords, list[Any]]) -> float:
        (there, there_further), (here, here_further) = hypothesis, reference
        if there.tokens == here.tokens:
            return 1.0
        return self._formula(self._counts(there, there_further, here, here_further))

    def _counts(
        self, there: WeightedWords, there_further: list[Any], here: WeightedWords, here_further: list[Any]
    ) -> AlignedCounts:
        further: list[Match] = []
        for stage, to, at in zip(self._further, there_further, here_further, strict=True):
            further += stage.matches(to, at)
        matches = align(there, here, further)
        precision = recall = 0.0
        words = 0
        for start, length, goal, goal_length, kind in matches:
            weight = WEIGHTS[kind]
            if length == goal_length == 1:
                precision += weight * there.values[goal]
                recall += weight * here.values[start]
            else:
                precision += weight * sum(there.values[goal : goal + goal_length])
                recall += weight * sum(here.values[start : start + length])
            words += length + goal_length
        chunks = count_chunks(matches)
        whole = chunks == 1 and words == len(there.tokens) + len(here.tokens)
        return AlignedCounts(precision, there.total, recall, here.total, words, chunks, whole)

    def _formula(self, counts: AlignedCounts) -> float:
        if not counts.held or not counts.wanted:
            return 0.0
        penalty = 0.0 if counts.whole else self._gamma * (2 * counts.chunks / counts.words) ** self._beta
        mean = (1 - self._alpha) * counts.holds / counts.held + self._alpha * counts.wants / counts.wanted
        return (1 - penalty) / mean


class _Values(dict[str, float]):
    """What a token counts in the score; worked out when it is first asked for."""

    def __init__(self, light: frozenset[str], delta: float) -> None:
        super().__init__()
        self._light, self._delta = light, delta

    def __missing__(self, token: str) -> float:
        value = 1 - self._delta if token.lower() in self._light else self._delta
        if len(self) >= _REMEMBERED:
            self.clear()
        self[token] = value
        return value


def _number(name: str, value: Any, most: float) -> float:
    limits = "of at least 0" if most == float("inf") else f"between 0 and {most:g}"
    return check_number(name, value, 0, most, what=f"a number {limits}")


def _tokenizer(tokenize: Any) -> Callable[[str], Sequence[str]]:
    if callable(tokenize):
        return tokenize  # type: ignore[no-any-return]
    if not is_one_of(tokenize, TOKENIZERS):
        raise InputError(f"there is no tokenizer {shown(tokenize)}: {nearest_names(tokenize, TOKENIZERS)}")
    return TOKENIZERS[tokenize]


def _wordnet(place: _PathLike) -> WordNet:
    folder = find_wordnet() if isinstance(place, str) and place == "auto" else path_of(place, "a WordNet")
    if folder is None:
        raise InputError("no WordNet was found on this machine: name its folder, or set WNHOME or WNSEARCHDIR")
    return WordNet(folder)


def _name(choice: Any) -> str | None:
    """A choice as the signature shows it: a function by its name."""
    return choice if choice is None or isinstance(choice, str) else function_name(choice)


def _digest(words: frozenset[str]) -> str:
    return hashlib.blake2b("\n".join(sorted(words)).encode("utf-8", "replace"), digest_size=16).hexdigest()


METRIC = Similarity(
    name="meteor",
    title="METEOR 1.5",
    prepare=MeteorScorer,
    defaults={
        "jar": None,
        "tokenize": "meteor",
        "stemmer": "english",
        "wordnet": None,
        "paraphrases": None,
        "function_words": None,
        "alpha": 0.85,
        "beta": 0.2,
        "gamma": 0.6,
        "delta": 0.75,
    },
    order=20,
    libraries=("numpy",),
    citation="Denkowski and Lavie 2014, Meteor Universal: Language Specific Translation Evaluation, WMT",
)
