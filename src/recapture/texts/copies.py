"""Texts that stand in the reference already, and texts that stand twice in one set.

Rules, the same for every language:

- Texts are compared after NFKC (full-width letters, ligatures and the like become the ordinary characters), with every
  run of blanks as one space and none at the ends. Equal ones are copies. Empty texts are neither copies nor repeats.
- A text is *near* another if at least half of its words stand in runs of at least `RUN` words that the other, one
  single text, has in the same order. Words are compared without case and punctuation; each character of a script that
  puts no blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan) counts as a word. A text of fewer
  than `RUN` words is near another only if all words of both are the same, and one without words is near none.
- A near-copy is near a reference text and a copy of none.
- Repeats of a set are the texts that could be left out of it: each equals one that stays, or is near one that stays.
  Which of near texts stay is told by `repeats`: first the text that most others are near, of those that are left the
  next such one, and so on. So texts that a chain of others connects are not one group.

Every run of `RUN` words is hashed to 64 bits, and an index says for each hash which texts have it. Of those it keeps
the first `MOST_TEXTS`: phrases that stand in more texts than that (greetings, licences) point to these alone. So copies
of such phrases may be missed or told of another text that has them, but none is invented, and the work grows as the
number of words: at most `MOST_TEXTS` steps for each. Memory: about 80 bytes a word.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

RUN = 6
"""Words of the shortest run that counts."""
NEAR = 0.5
"""Share of a text's words that stand in such runs of one other text, from which on it is near that text."""
MOST_TEXTS = 16
"""How many texts the index keeps for one run of words."""
_AT_ONCE = 1 << 21
"""How many meetings of two texts are looked at together: bounds the memory."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: no digit of a hash is lost

# Scripts that write words without blanks between them (Unicode Standard Annex 14, classes ID and SA), by their blocks.
_CHARACTERS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u109f"  # Tibetan, Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf"  # Tai Le, New Tai Lue, Tai Tham
    "\u3005-\u3007\u3040-\u312f\u31a0-\u31ff"  # kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\ua000-\ua4cf\uaa60-\uaa7f\ua9e0-\ua9ff"  # Yi, Myanmar
)
_ASCII_WORD = re.compile("[0-9a-z]+")


class Copies(NamedTuple):
    """What one set has in common with the reference, and with itself; numbers of texts."""

    copied: int
    """Texts that the reference has word for word."""
    near_copied: int
    """Other texts that are near one of the reference."""
    repeated: int
    """Texts that repeat another of their own set: all but the first of each."""
    near_repeated: int
    """Different texts of their own set that are near one that stays."""
    copied_from: dict[int, int]
    """Position of each copied text, and of the first reference text that it equals; both count from 0."""
    near_copied_from: dict[int, int]
    """The same of near-copies, with the reference text that shares most words."""


class CopyReport(NamedTuple):
    reference: Copies
    """Its own repeats; a reference copies nothing."""
    candidates: dict[str, Copies]


def copies(reference: Sequence[str], candidates: Mapping[str, Sequence[str]]) -> CopyReport:
    """How many texts of each candidate stand in the reference, and how many of each set stand there twice.

    Parameters
    ----------
    reference : sequence of str
        The reference texts.
    candidates : mapping of str to sequence of str
        Several candidate sets by name.

    Returns
    -------
    CopyReport
        `.reference` and `.candidates[name]`, each with `copied`, `near_copied`, `repeated`, `near_repeated` and which
        texts they are.

    Examples
    --------
    >>> from recapture.texts.copies import copies
    >>> model = ["A cat  sat on the mat.", "a cat sat on the mat!", "A dog."]
    >>> found = copies(["A cat sat on the mat."], {"model": model}).candidates["model"]
    >>> found.copied_from, found.near_copied_from
    ({0: 0}, {1: 0})
    """
    hashes = _Hashes()
    known = _Set(reference, hashes)
    index = Index(known.runs)
    own = Copies(0, 0, *known.repeats(index).counts, {}, {})
    found = {}
    for name, texts in candidates.items():
        side = _Set(texts, hashes)
        of_side = _sources_of(side, None, known, None, index, False)
        copied, near = (_where(places) for places in (of_side.equal, of_side.near))
        found[name] = Copies(len(copied), len(near), *side.repeats(Index(side.runs)).counts, copied, near)
    return CopyReport(own, found)


def _where(places: np.ndarray) -> dict[int, int]:
    return {at: int(places[at]) for at in np.flatnonzero(places >= 0).tolist()}


class Sources(NamedTuple):
    """For each text of a set, where it stands in other texts; positions count from 0, -1: nowhere."""

    equal: np.ndarray
    """The first text that equals it."""
    near: np.ndarray
    """Where it equals none: the text that shares most of its words, if it is near that."""
    share: np.ndarray
    """Of its words, how many stand in runs of `RUN` words of one other text: 1 for copies."""


def sources(reference: Sequence[str], candidate: Sequence[str], groups: Sequence[Any] | None = None) -> list[Sources]:
    """Where the texts of the candidate stand in the reference, and where the reference's own do in others of it: the
    rate at which people repeat people.

    groups: one label a text, of the reference and of the candidate; texts of one group are no sources of each other.
    """
    hashes = _Hashes()
    known = _Set(reference, hashes)
    index = Index(known.runs)
    labels = [None, None] if groups is None else [np.asarray(each) for each in groups]
    sides = (_Set(candidate, hashes), labels[1], False), (known, labels[0], True)
    return [_sources_of(side, own, known, labels[0], index, within) for side, own, within in sides]


def _sources_of(
    side: _Set,
    own: np.ndarray | None,
    known: _Set,
    of_known: np.ndarray | None,
    index: Index,
    within: bool,
) -> Sources:
    equal, near = np.full(len(side.keys), -1), np.full(len(side.keys), -1)
    for place, key in enumerate(side.keys):
        for source in known.places.get(key, ()) if key is not None else ():
            if not (within and source == place) and (own is None or of_known is None or own[place] != of_known[source]):
                equal[place] = source
                break
    first, second = np.array(side.distinct, np.int64), np.array(known.distinct, np.int64)
    best, most = np.full(len(first), -1), np.zeros(len(first), np.int64)
    for mine, other, shared in index.near(side.runs, within=within, share=0):
        if own is not None and of_known is not None:
            kept = own[first[mine]] != of_known[second[other]]
            mine, other, shared = mine[kept], other[kept], shared[kept]
        order = np.lexsort((-other, shared, mine))  # the last of each text wins: most words, the first of several
        best[mine[order]], most[mine[order]] = other[order], shared[order]
    share = most / np.maximum(side.runs.words, 1)
    at = side.number
    shares = np.where(at >= 0, share[at], 0.0) if len(first) else np.zeros(len(at))
    if len(first) and len(second):
        near = np.where((at >= 0) & (shares >= NEAR) & (best[at] >= 0), second[np.maximum(best[at], 0)], -1)
    return Sources(equal, np.where(equal >= 0, -1, near), np.where(equal >= 0, 1.0, shares))


class Repeats(NamedTuple):
    """Which texts of a set say what another one says."""

    equal: np.ndarray
    """A number for each text, that equal ones share; an empty text has its own."""
    stays: np.ndarray
    """For each text the place of the one that stays in its stead: itself, or one that it equals or is near."""

    @property
    def counts(self) -> tuple[int, int]:
        """How many could be left out because they equal another, and how many more since they are near one."""
        return self.counts_of(np.arange(len(self.equal)))

    def counts_of(self, texts: np.ndarray) -> tuple[int, int]:
        """The same among some texts alone, by their places or one bool each."""
        equal, stays = self.equal[texts], self.stays[texts]
        different = int(np.count_nonzero(np.bincount(equal)))
        return len(equal) - different, different - int(np.count_nonzero(np.bincount(stays)))


def repeats(texts: Sequence[str]) -> Repeats:
    """Which texts of a set could be left out, and for which other one."""
    side = _Set(texts, _Hashes())
    return side.repeats(Index(side.runs))


def echoes(texts: Sequence[str], others: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """All that equal or are near a text: pairs of a place among texts and others, in this order, and that of the text.

    Of equal texts the first stands for all; no text is an echo of itself.
    """
    hashes = _Hashes()
    own = _Set(texts, hashes)
    index = Index(own.runs)
    pairs = []
    for side, start in ((own, 0), (_Set(others, hashes), len(texts))):
        within = side is own
        found = [(mine, other) for mine, other, _ in index.near(side.runs, within=within)]
        known = [(at, own.number[own.first[key]]) for at, key in enumerate(side.first) if key in own.first]
        mine, other = (
            np.concatenate([*(np.asarray(pair[part]) for pair in found), np.array([pair[part] for pair in known], int)])
            for part in (0, 1)
        )
        both = np.unique(mine.astype(np.int64) * max(1, len(own.distinct)) + other)
        mine, other = np.divmod(both, max(1, len(own.distinct)))
        # From different texts to all: those that equal an echo are echoes, too.
        order = np.argsort(side.number, kind="stable")
        begin = np.searchsorted(side.number[order], mine, "left")
        times = np.searchsorted(side.number[order], mine, "right") - begin
        which = np.repeat(np.arange(len(mine)), times)
        place = order[begin[which] + np.arange(len(which)) - (np.cumsum(times) - times)[which]]
        text = np.array(own.distinct, np.int64)[other[which]]
        kept = (place != text) if within else np.ones(len(place), bool)
        pairs.append((start + place[kept], text[kept]))
    return np.concatenate([pairs[0][0], pairs[1][0]]), np.concatenate([pairs[0][1], pairs[1][1]])


def normalised(text: str) -> str:
    """A text as copies are told by: NFKC, one space for every run of blanks, none at the ends."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split())


def words_of(text: str) -> list[str]:
    """What near-copies are told by: words without case and punctuation, characters where a script has no blanks."""
    return (_ASCII_WORD if text.isascii() else _word()).findall(text.casefold())


@cache
def _word() -> re.Pattern[str]:
    # Marks such as vowel signs are no letters for regular expressions, but parts of words.
    marks = "".join(letter for letter in map(chr, range(0x300, 0x1F000)) if unicodedata.category(letter)[0] == "M")
    return re.compile(rf"[{_CHARACTERS}]|[^\W_{_CHARACTERS}](?:[^\W_{_CHARACTERS}]|[{marks}])*")


class WordRuns(NamedTuple):
    """All runs of words of some texts, in the order of the texts."""

    hashes: np.ndarray
    """One for each run."""
    text: np.ndarray
    """The text that each is of."""
    place: np.ndarray
    """The word that each begins with."""
    words: np.ndarray
    """For each text how many words it has."""


class Index:
    """Which texts have a run of words."""

    def __init__(self, runs: WordRuns) -> None:
        self.visited = 0
        """How often it was looked at two texts that share a run: the work, for whoever wants to count it."""
        self._words = runs.words
        order = np.lexsort((runs.text, runs.hashes))
        hashes, texts = runs.hashes[order], runs.text[order]
        fresh = np.ones(len(hashes), bool)
        fresh[1:] = (hashes[1:] != hashes[:-1]) | (texts[1:] != texts[:-1])  # a text that has a run twice has it
        hashes, texts = hashes[fresh], texts[fresh]
        starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])
        counts = np.diff(starts, append=len(hashes))
        self._hashes, self._starts, self._texts = hashes[starts], starts, texts
        self._counts = np.minimum(counts, MOST_TEXTS)

    def near(
        self, runs: WordRuns, *, within: bool = False, share: float = NEAR
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Texts that are near one of the index, that one, and how many words are shared; some thousand at a time.

        within: the texts are those of the index; none is compared with itself. share: of a text's words, from which on
        it is near; 0: one run is enough.
        """
        if not len(self._hashes) or not len(runs.hashes):
            return
        at = np.minimum(np.searchsorted(self._hashes, runs.hashes), len(self._hashes) - 1)
        counts = np.where(self._hashes[at] == runs.hashes, self._counts[at], 0)
        if within:
            counts[self._counts[at] == 1] = 0  # only the text itself has it
        known = np.flatnonzero(counts)
        at, counts = at[known], counts[known]
        text, place = runs.text[known], runs.place[known]
        ends = np.cumsum(counts)
        first = 0
        while first < len(known):
            # Whole texts together, at least one.
            done = ends[first - 1] if first else 0
            last = int(np.searchsorted(ends, done + _AT_ONCE, "right"))
            if last < len(known):
                last = int(np.searchsorted(text, text[last], "left"))
            if last <= first:
                last = int(np.searchsorted(text, text[first], "right"))
            part = slice(first, last)
            yield self._meetings(at[part], counts[part], text[part], place[part], runs.words, within, share)
            first = last

    def _meetings(
        self,
        at: np.ndarray,
        counts: np.ndarray,
        text: np.ndarray,
        place: np.ndarray,
        words: np.ndarray,
        within: bool,
        share: float,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        total = int(counts.sum())
        self.visited += total
        which = np.repeat(np.arange(len(at)), counts)
        nth = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        other = self._texts[self._starts[at][which] + nth]
        mine, begins = text[which], place[which]
        # WordRuns come in the order of texts and places, so a stable sort by the pair keeps places in order.
        pair = mine.astype(np.int64) * len(self._words) + other
        order = np.argsort(pair, kind="stable")
        pair, begins = pair[order], begins[order]
        new = np.ones(total, bool)
        new[1:] = pair[1:] != pair[:-1]
        # Words that no earlier run of the pair has covered.
        gained = np.minimum(np.diff(begins, prepend=0), RUN)
        gained[new] = RUN
        starts = np.flatnonzero(new)
        shared = np.add.reduceat(gained, starts) if total else gained
        mine, other = np.divmod(pair[starts], len(self._words))
        # A run of a text that is shorter than RUN is the text as a whole.
        shared = np.minimum(shared, words[mine])
        near = shared >= share * words[mine]
        if within:
            near &= mine != other
        return mine[near], other[near], shared[near]


class _Set:
    """The texts of one side: what they are after normalisation, and the runs of words of distinct ones."""

    def __init__(self, texts: Sequence[str], hashes: _Hashes) -> None:
        self.keys: list[str | None] = []
        """Each text normalised; None for empty ones."""
        self.first: dict[str, int] = {}
        """Where each distinct text stands first."""
        for place, text in enumerate(texts):
            key = normalised(text) or None
            self.keys.append(key)
            if key is not None:
                self.first.setdefault(key, place)
        self.distinct = list(self.first.values())
        """Position of each distinct text."""
        number = {key: at for at, key in enumerate(self.first)}
        self.number = np.array([-1 if key is None else number[key] for key in self.keys], np.int64)
        """For each text which of the distinct ones it is; -1: empty."""
        self.runs = _runs(self.first, hashes)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each distinct text stands."""
        found: dict[str, list[int]] = {}
        for place, key in enumerate(self.keys):
            if key is not None:
                found.setdefault(key, []).append(place)
        return found

    def repeats(self, index: Index) -> Repeats:
        """index: of these texts' own runs."""
        count = len(self.distinct)
        stays = _stars(count, index.near(self.runs, within=True), list(self.first))
        empty = self.number < 0
        equal, place = self.number.copy(), np.arange(len(self.number))
        equal[empty] = count + np.arange(int(empty.sum()))
        place[~empty] = np.array(self.distinct, np.int64)[stays[self.number[~empty]]]
        return Repeats(equal, place)


def _stars(count: int, near: Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]], keys: Sequence[str]) -> np.ndarray:
    """For each text which one stays in its stead: one that it is near itself, never through a third.

    First the text that most are near stays, with those left out, then the one that most of the rest are near, and so
    on; of several the first in order of content, so that lines may stand in any order.
    """
    found = [(mine, other) for mine, other, _ in near]
    if not found:
        return np.arange(count)
    mine, other = (np.concatenate([pair[part] for pair in found]) for part in (0, 1))
    order = np.argsort(other, kind="stable")
    mine, begin = mine[order], np.searchsorted(other[order], np.arange(count + 1))
    stays = np.full(count, -1)
    # What a text could stand for only shrinks, so an entry that still holds when it comes up is the largest.
    heap = [(-int(begin[at + 1] - begin[at]), keys[at], at) for at in np.flatnonzero(np.diff(begin)).tolist()]
    heapify(heap)
    while heap:
        less, key, at = heappop(heap)
        if stays[at] >= 0:
            continue
        around = mine[begin[at] : begin[at + 1]]
        around = around[stays[around] < 0]
        if len(around) == -less:
            stays[around] = at
            stays[at] = at
        elif len(around):
            heappush(heap, (-len(around), key, at))
    return np.where(stays < 0, np.arange(count), stays)


def _runs(texts: Mapping[str, int], hashes: _Hashes) -> WordRuns:
    numbers = array("Q")
    words = np.zeros(len(texts), np.int64)
    for number, text in enumerate(texts):
        own = words_of(text)
        words[number] = len(own)
        numbers.extend(map(hashes.__getitem__, own))
    flat = np.frombuffer(numbers, np.uint64) if numbers else np.zeros(1, np.uint64)
    runs = np.where(words >= RUN, words - RUN + 1, np.minimum(words, 1))
    owner = np.repeat(np.arange(len(words)), runs)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(runs) - runs, runs)
    start = (np.cumsum(words) - words)[owner] + place
    length = np.minimum(words[owner], RUN)
    # Lengths are part of the hash, so that a short text meets short texts alone.
    value = length.astype(np.uint64)
    for step in range(RUN):
        inside = step < length
        value = value * _FACTOR + np.where(inside, flat[np.where(inside, start + step, 0)], np.uint64(0))
    return WordRuns(value, owner, place, words)


class _Hashes(dict[str, int]):
    """64 bits for each word, made when it is first met."""

    def __missing__(self, word: str) -> int:
        # Half of a surrogate pair is refused elsewhere, by those who encode texts.
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        value = self[word] = int.from_bytes(digest, "little")
        return value
