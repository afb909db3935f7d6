"""METEOR's word alignment: which words of a hypothesis stand for which words of a reference.

Every word of either text may be part of one match at most. Among all choices of matches METEOR wants the most words
covered, then the fewest chunks (runs that are adjacent and in order in both texts), then short distances. It searches
from left to right in the reference and keeps the best 40 choices at each word. How the search counts decides which of
many equally good alignments it finds, so this does exactly what METEOR 1.5 does, even where that is odd:

- in the search (not in the score) a match that is not exact covers half its words, rounded down: none for one word;
- a choice's distance is that of the choices tried before it at the same word, not its own;
- of equal choices, the one that was first stays first.

A match that competes with no other for any word is taken before the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)
BEAM = 40

Match = tuple[int, int, int, int, int]
"""First word and number of words in the reference, the same in the hypothesis, stage."""

_KEY = itemgetter(0)
_NO_LIMIT = float("inf")
_FULL = BEAM + BEAM // 2
"""How many paths wait before the best of them are picked."""


class WeightedWords:
    """A text made ready for alignment: its tokens, where each stem stands, what each token counts in the score."""

    __slots__ = ("last", "repeated", "tokens", "total", "values")

    def __init__(self, tokens: Sequence[str], stems: Sequence[str], values: Sequence[float]) -> None:
        self.tokens = tuple(tokens)
        self.values = values
        self.total = sum(values)
        self.last = dict(zip(stems, range(len(stems)), strict=True))
        """Each stem's last place."""
        self.repeated: dict[str, list[int]] = {}
        """All places of the stems that have several: few, so only they get lists."""
        if len(self.last) < len(stems):
            for stem in [stem for place, stem in enumerate(stems) if self.last[stem] != place]:
                if stem not in self.repeated:
                    self.repeated[stem] = [place for place, other in enumerate(stems) if other == stem]


def align(hypothesis: WeightedWords, reference: WeightedWords, further: Sequence[Match] = ()) -> list[Match]:
    """The matches of METEOR's alignment, in the reference's order.

    `further` are possible matches beyond equal words and equal stems, in METEOR's order: by stage, then as found.
    """
    fixed: dict[int, Match] = {}
    open_: dict[int, list[Match]] = {}
    here, there = reference.tokens, hypothesis.tokens
    start, goal = reference.last, hypothesis.last
    for stem in goal.keys() & start.keys():
        first, to = start[stem], goal[stem]
        if stem not in reference.repeated and stem not in hypothesis.repeated:
            fixed[first] = (first, 1, to, 1, EXACT if here[first] == there[to] else STEM)
            continue
        goals = hypothesis.repeated.get(stem, [to])
        for at in reference.repeated.get(stem, [first]):
            word = here[at]
            open_[at] = [(at, 1, to, 1, EXACT) for to in goals if there[to] == word]
            if len(open_[at]) < len(goals):
                open_[at] += [(at, 1, to, 1, STEM) for to in goals if there[to] != word]
    if further:
        fixed, open_ = _part(fixed, open_, further)
    if open_:
        # The search by words is faster, but cannot take phrases.
        search = _search_words if all(match[1] == match[3] == 1 for match in further) else _search_phrases
        for match in search(len(here), fixed, open_):
            fixed[match[0]] = match
    return [fixed[at] for at in sorted(fixed)]


def count_chunks(matches: Iterable[Match]) -> int:
    """Runs of matches that are adjacent and in order in both texts; matches in the reference's order."""
    chunks = 0
    next_at = next_to = -1
    for at, length, to, to_length, _ in matches:
        if at != next_at or to != next_to:
            chunks += 1
        next_at, next_to = at + length, to + to_length
    return chunks


def _part(
    fixed: Mapping[int, Match], open_: Mapping[int, list[Match]], further: Iterable[Match]
) -> tuple[dict[int, Match], dict[int, list[Match]]]:
    """Matches of all stages, parted into those without a rival for any of their words, and the rest."""
    every = {at: [match] for at, match in fixed.items()} | {at: list(matches) for at, matches in open_.items()}
    for match in further:
        every.setdefault(match[0], []).append(match)
    here: dict[int, int] = {}
    there: dict[int, int] = {}
    for matches in every.values():
        for start, length, goal, goal_length, _ in matches:
            for at in range(start, start + length):
                here[at] = here.get(at, 0) + 1
            for to in range(goal, goal + goal_length):
                there[to] = there.get(to, 0) + 1
    alone, rivals = {}, {}
    for at, matches in every.items():
        start, length, goal, goal_length, _ = matches[0]
        if all(here[word] == 1 for word in range(start, start + length)) and all(
            there[word] == 1 for word in range(goal, goal + goal_length)
        ):
            alone[at] = matches[0]
        else:
            rivals[at] = matches
    return alone, rivals


def _units(words: int, open_: Mapping[int, list[Match]]) -> tuple[int, int]:
    """What a chunk and a covered word weigh in a path's key, so that keys sort as METEOR compares: lowest first."""
    chunk = 1 + sum(abs(match[0] - match[2]) for matches in open_.values() for match in matches)
    return chunk, chunk * (words + 2)


def _covers(match: Match) -> int:
    _, length, _, goal_length, stage = match
    return length + goal_length if stage == EXACT else length // 2 + goal_length // 2


def _trail(path: tuple) -> list[Match]:
    matches, took = [], path[-1]
    while took:
        match, took = took
        matches.append(match)
    return matches


def _search_words(words: int, fixed: Mapping[int, Match], open_: Mapping[int, list[Match]]) -> list[Match]:
    """The best choice where every match is of one word by one.

    A path is (key, hypothesis words in use, end of its last match, matches taken); an end of 0 says that no chunk is
    running. A run of words that leave no choice changes the order of paths only at its first word, so it is one step.
    """
    chunk, cover = _units(words, open_)
    paths: list[tuple[int, int, int, Any]] = [(0, 0, 0, None)]
    first: int | None = None  # where the first word of a run goes; -1 is nowhere
    last = 0
    for at in range(words):
        choices = open_.get(at)
        if choices is None:
            to = fixed[at][2] if at in fixed else -1
            if first is None:
                first = to
            last = to + 1
            continue
        if len(paths) > 1:
            paths.sort(key=_KEY)
            del paths[BEAM:]
        if first is not None:
            paths = [(key + chunk if end and end != first else key, used, last, took) for key, used, end, took in paths]
            paths.sort(key=_KEY)
            first = None
        options = [(match, match[2], 1 << match[2], cover * _covers(match), abs(at - match[2])) for match in choices]
        # Paths come in order of their keys. Once there are enough longer ones, those that cannot be among the best any
        # more are not made: of equal keys the first stays first, so a later one has to be below the last of the best.
        most = max([option[3] for option in options])
        limit: float = _NO_LIMIT
        longer: list[tuple[int, int, int, Any]] = []
        for key, used, end, took in paths:
            if key - most >= limit:
                break
            skipped = key + chunk if end else key
            for match, to, bit, gain, distance in options:
                if not used & bit:
                    fresh = skipped - gain if end != to else key - gain
                    if fresh < limit:
                        longer.append((fresh, used | bit, to + 1, (match, took)))
                    key += distance
                    skipped += distance
            if skipped < limit:
                longer.append((skipped, used, 0, took))
            if len(longer) >= _FULL:
                longer.sort(key=_KEY)
                del longer[BEAM:]
                limit = longer[-1][0]
        paths = longer
    paths.sort(key=_KEY)
    return _trail(min(paths[:BEAM], key=lambda path: path[0] + chunk if path[2] and path[2] != first else path[0]))


def _search_phrases(words: int, fixed: Mapping[int, Match], open_: Mapping[int, list[Match]]) -> list[Match]:
    """The best choice where matches may be of several words: word by word, as some paths are within a phrase.

    A path is (key, hypothesis words in use, end of its last match, first word behind it, matches taken). As in
    `_search_words`, paths that cannot be among the best are not made.
    """
    chunk, cover = _units(words, open_)
    paths: list[tuple[int, int, int, int, Any]] = [(0, 0, 0, 0, None)]
    for at in range(words):
        if len(paths) > 1:
            paths.sort(key=_KEY)
            del paths[BEAM:]
        if at in fixed:  # no rival: no path is within a phrase here
            _, length, to, to_length, _ = fixed[at]
            end, free = to + to_length, at + length
            paths = [
                (key + chunk if last and last != to else key, used, end, free, took)
                for key, used, last, _, took in paths
            ]
            continue
        choices = open_.get(at)
        if choices is None:
            paths = [
                path if path[3] > at or not path[2] else (path[0] + chunk, path[1], 0, at, path[4]) for path in paths
            ]
            continue
        options = [
            (match, match[2], ((1 << match[3]) - 1) << match[2], cover * _covers(match), abs(at - match[2]))
            for match in choices
        ]
        most = max([option[3] for option in options])
        limit: float = _NO_LIMIT
        longer: list[tuple[int, int, int, int, Any]] = []
        for path in paths:
            key, used, end, free, took = path
            if key - most >= limit:
                break
            if free > at:
                if key < limit:
                    longer.append(path)
                continue
            skipped = key + chunk if end else key
            for match, to, bits, gain, distance in options:
                if not used & bits:
                    fresh = skipped - gain if end != to else key - gain
                    if fresh < limit:
                        longer.append((fresh, used | bits, to + match[3], at + match[1], (match, took)))
                    key += distance
                    skipped += distance
            if skipped < limit:
                longer.append((skipped, used, 0, at, took))
            if len(longer) >= _FULL:
                longer.sort(key=_KEY)
                del longer[BEAM:]
                limit = longer[-1][0]
        paths = longer
    paths.sort(key=_KEY)
    return _trail(min(paths[:BEAM], key=lambda path: path[0] + chunk if path[2] else path[0]))
