"""Word n-grams and the texts that have them: what is typical of a cluster, and what a candidate says too often.

Words are those that near-copies are told by (`texts/copies`): without case and punctuation, single characters where a
script puts no blanks between words. An n-gram counts once for each text. Those of fewer than `least` texts are left
out, and with them all longer ones that hold them, so that long texts cost little.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..labellings.combine import holm
from ..texts.copies import words_of
from .exact_tests import more_often

LONGEST = 8
"""Words of the longest n-gram."""
_PHRASE = 3
"""Words of the shortest phrase."""
_TYPICAL = 3
"""Words of the longest n-gram that tells what a cluster is about."""
_PRIOR = 10.0
"""How many texts the prior of log-odds is worth."""
_LISTED = 5
_MOST_OF_THEM = 0.6
"""Texts with a part of a phrase that have all of it, so that it stands for the part."""
_LOOKED_AT = 10_000
"""Phrases used too often, of which those that say the same are left out."""


@dataclass(frozen=True)
class Phrase:
    """Words that the candidate uses more often than people do, or more seldom."""

    words: str
    candidate: int
    """Texts of the candidate that have it."""
    reference: int
    candidate_share: float
    """Of all texts."""
    reference_share: float
    pvalue: float
    """Exact, one-sided: that both sides have it equally often."""
    adjusted: float
    """By Holm, over all phrases that enough texts have."""


@dataclass(frozen=True)
class TypicalPhrase:
    """Words by which some texts are known among all others."""

    words: str
    score: float
    """Log-odds against all other texts, in standard errors."""
    shares: tuple[float, ...]
    """Of the texts of each cluster, how many have it."""


class _NGramsOfLength(NamedTuple):
    """N-grams of one length."""

    there: int
    gram: np.ndarray
    """The n-gram of each pair of n-gram and text; no pair stands twice."""
    text: np.ndarray
    start: np.ndarray
    """For each n-gram a place among all words where it begins."""


class NGrams:
    """The n-grams of pooled texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = len(texts)
        self.least = max(3, self.texts // 5_000)
        known: dict[str, int] = {}
        flat = array("q")
        lengths = np.zeros(self.texts, np.int64)
        for number, text in enumerate(texts):
            own = words_of(text)
            lengths[number] = len(own)
            flat.extend([known.setdefault(word, len(known)) for word in own])
        self._vocabulary = list(known)
        self._flat = np.frombuffer(flat, np.int64) if flat else np.zeros(0, np.int64)
        self._levels = self._counted(np.repeat(np.arange(self.texts), lengths))

    def _counted(self, owner: np.ndarray) -> list[_NGramsOfLength]:
        levels = []
        # The number of the n-gram that begins at each word; -1 where it is rare, or would run into the next text.
        code = self._flat
        for length in range(1, LONGEST + 1):
            begins = np.flatnonzero(code >= 0)
            if not len(begins):
                break
            pairs = np.unique(code[begins] * np.int64(self.texts) + owner[begins])
            gram, text = np.divmod(pairs, self.texts)
            frequent = np.bincount(gram, minlength=int(code.max()) + 1) >= self.least
            number = np.where(frequent, np.cumsum(frequent) - 1, -1)
            code = np.where(code >= 0, number[code], -1)
            count = int(frequent.sum())
            if not count:
                break
            start = np.zeros(count, np.int64)
            begins = np.flatnonzero(code >= 0)[::-1]
            start[code[begins]] = begins  # the first place stays
            kept = frequent[gram]
            levels.append(_NGramsOfLength(count, number[gram[kept]], text[kept], start))
            if length == LONGEST:
                break
            code = self._longer(code, owner, length)
        return levels

    @staticmethod
    def _longer(code: np.ndarray, owner: np.ndarray, length: int) -> np.ndarray:
        """From n-grams to those with one more word: what begins here and at the next word, if both are frequent."""
        longer = np.full(len(code), -1, np.int64)
        inside = np.flatnonzero((code[:-1] >= 0) & (code[1:] >= 0))
        inside = inside[inside + length < len(code)]
        inside = inside[owner[inside] == owner[inside + length]]
        if len(inside):
            both = code[inside] * (int(code.max()) + 1) + code[inside + 1]
            longer[inside] = np.unique(both, return_inverse=True)[1].reshape(-1)
        return longer

    def words(self, length: int, gram: int) -> str:
        start = int(self._levels[length - 1].start[gram])
        return " ".join(self._vocabulary[word] for word in self._flat[start : start + length].tolist())

    def typical(self, cluster: np.ndarray, clusters: int) -> list[list[str]]:
        """Of every cluster the n-grams by which its texts are best known, the best first: see `best_known`."""
        return [[each.words for each in listed] for listed in self.best_known(cluster, clusters)]

    def best_known(
        self,
        cluster: np.ndarray,
        clusters: int,
        listed: int = _LISTED,
        lengths: tuple[int, int] = (1, _TYPICAL),
        grown: bool = False,
    ) -> list[list[TypicalPhrase]]:
        """Of every cluster the n-grams by which its texts are best known, the best first.

        lengths: words of the shortest and the longest. grown: whether the whole phrase stands for a part of it, where
        most of the cluster's texts that have the part have the phrase.

        Log-odds that a text of the cluster has an n-gram, against texts of all others, each with a prior that is worth
        some texts with the odds of all (Monroe, Colaresi and Quinn 2008), in units of their standard error.
        """
        size = np.bincount(cluster, minlength=clusters)
        found: list[list[tuple[float, int, int]]] = [[] for _ in range(clusters)]
        counted: list[np.ndarray] = []
        for length, level in enumerate(self._levels[: lengths[1]], 1):
            inside = np.bincount(level.gram * clusters + cluster[level.text], minlength=level.there * clusters)
            counted.append(inside.reshape(level.there, clusters).astype(np.float64))
            if length < lengths[0]:
                continue
            every = counted[-1].sum(axis=1)
            for number in range(clusters):
                own = counted[-1][:, number]
                z = log_odds(own, size[number], every - own, self.texts - size[number])
                best = np.argsort(-z, kind="stable")[: 4 * listed]
                found[number] += [(-float(z[gram]), length, int(gram)) for gram in best if z[gram] > 0]
        best_of = []
        for number, ranked in enumerate(map(sorted, found)):
            named = {
                self.words(length, gram): TypicalPhrase(
                    self.words(length, gram), -less, tuple((counted[length - 1][gram] / np.maximum(size, 1)).tolist())
                )
                for less, length, gram in ranked
            }
            if grown:
                named = {each.words: each for each in (_whole(each, named.values(), number) for each in named.values())}
            best_of.append([named[words] for words in _without_parts(list(named), listed)])
        return best_of

    def underused(self, unit: np.ndarray, is_candidate: np.ndarray, level: float) -> list[Phrase]:
        """The same for what fewer of them have; single words, too, for a lost topic is a word that never comes."""
        return [
            replace(
                each,
                candidate=each.reference,
                reference=each.candidate,
                candidate_share=each.reference_share,
                reference_share=each.candidate_share,
            )
            for each in self.overused(unit, ~is_candidate, level, shortest=1)
        ]

    def overused(
        self, unit: np.ndarray, is_candidate: np.ndarray, level: float, shortest: int = _PHRASE
    ) -> list[Phrase]:
        """Phrases that more of the candidate's units (groups of texts, or single ones) have than chance explains.

        unit: of every text, no number on both sides.
        """
        every = int(unit.max()) + 1
        of_unit = np.zeros(every, bool)
        of_unit[unit] = is_candidate
        units, texts = [np.bincount(flags, minlength=2).tolist() for flags in (of_unit, is_candidate)]
        tested, counted = [], []
        for length, level_of in enumerate(self._levels[shortest - 1 :], shortest):
            gram, own = np.divmod(np.unique(level_of.gram * every + unit[level_of.text]), every)
            by_unit = [np.bincount(gram[of_unit[own] == side], minlength=level_of.there) for side in (False, True)]
            sides = is_candidate[level_of.text]
            by_text = [np.bincount(level_of.gram[sides == side], minlength=level_of.there) for side in (False, True)]
            tested.append(more_often(by_unit[1], by_unit[0], units[1], units[0]))
            counted.append(np.stack([np.full(level_of.there, length), np.arange(level_of.there), *by_text]))
        if not tested:
            return []
        p = np.concatenate(tested)
        adjusted, rows = holm(p), np.concatenate(counted, axis=1)
        chosen = np.flatnonzero(adjusted <= level)
        # Of phrases that say the same the longest stands for all.
        chosen = chosen[np.lexsort((rows[1, chosen], -rows[0, chosen], p[chosen]))]
        named = {self.words(*rows[:2, at].tolist()): at for at in chosen[:_LOOKED_AT].tolist()}
        found = []
        for words in _without_parts(list(named), len(named)):
            at = named[words]
            reference, candidate = rows[2:, at].tolist()
            shares = candidate / texts[1], reference / texts[0]
            found.append(Phrase(words, candidate, reference, *shares, float(p[at]), float(adjusted[at])))
        return found


def log_odds(inside: np.ndarray, texts: int, outside: np.ndarray, others: int) -> np.ndarray:
    """How much likelier an n-gram is among some texts than among others, in standard errors."""
    share = (inside + outside) / (texts + others)
    prior, against = _PRIOR * share, _PRIOR * (1 - share)
    have, lack = inside + prior, texts - inside + against
    have_not, lack_not = outside + prior, others - outside + against
    with np.errstate(divide="ignore", invalid="ignore"):  # what every text has tells nothing: 0 / 0
        gap = np.log(have / lack) - np.log(have_not / lack_not)
        z = gap / np.sqrt(1 / have + 1 / lack + 1 / have_not + 1 / lack_not)
    known: np.ndarray = np.nan_to_num(z, nan=0.0, posinf=0.0, neginf=0.0)
    return known


def _whole(part: TypicalPhrase, phrases: Iterable[TypicalPhrase], side: int) -> TypicalPhrase:
    """The longest phrase around a part that most texts with the part have."""
    enough = _MOST_OF_THEM * part.shares[side]
    around = [each for each in phrases if f" {part.words} " in f" {each.words} " and each.shares[side] >= enough]
    return max(around, key=lambda each: len(each.words))


def _without_parts(phrases: Sequence[str], most: int) -> list[str]:
    """The first few of which no two say the same: neither holds the other, nor do they share a run of three words."""
    kept: list[str] = []
    taken: set[tuple[str, ...]] = set()
    for phrase in phrases:
        words = phrase.split(" ")
        runs = {tuple(words[at : at + _PHRASE]) for at in range(len(words) - _PHRASE + 1)}
        inside = f" {phrase} "
        if runs & taken or any(inside in f" {other} " or f" {other} " in inside for other in kept):
            continue
        kept.append(phrase)
        taken |= runs
        if len(kept) == most:
            break
    return kept
