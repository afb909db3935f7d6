"""Sentences with genres for the synthetic experiments of Mark-Evaluate: two sides that share no source.

XNLI pairs a premise with three hypotheses written about it, so a premise and its three hypotheses stay on one side (the
field `pair` numbers premise-hypothesis pairs, three for each premise: splitting by it would part a hypothesis from its
premise). Brown's documents stay whole as well. Within a genre sources are dealt at random, and sentences shuffled.

Partners on one side are a trap of another kind: of a sentence whose three partners are in its set, the nearest three
neighbours are paraphrases, and spheres at k <= 3 tell of nothing else. So there is a form with one sentence a premise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc

from ..files import records
from ..study import Setup

XNLI = "xnli_en_genres"
BROWN = "brown_genres"
LAYOUT = {
    XNLI: "sentences.jsonl.gz: genre, role (premise or hypothesis), text; each premise is followed by its hypotheses",
    BROWN: "sentences.jsonl.gz: genre, file (the document it comes from), text",
}
_TITLES = {XNLI: "XNLI", BROWN: "Brown"}
_FIELDS = {XNLI: {"genre": str, "role": str, "text": str}, BROWN: {"genre": str, "file": str, "text": str}}
_LEAST_WORDS = 5
"""Of a sentence of the Brown corpus: headings, numbers and lone brackets are left out, and so are repeats."""

Side = Mapping[str, Sequence[str]]
"""Sentences by genre, in an order drawn at random: the first few are a sample."""


@dataclass(frozen=True)
class Genres:
    """One data set, dealt to two sides."""

    title: str
    reference: Side
    candidate: Side


def data_file(setup: Setup, name: str) -> Path:
    return setup.folder(name, LAYOUT[name]) / "sentences.jsonl.gz"


def load(setup: Setup, name: str, single: bool = False, share: float = 0.5) -> Genres:
    """The sentences of a folder, dealt with the setup's seed.

    single: only one sentence of each source, drawn at random. share: how much of a genre goes to the reference.
    """
    path = data_file(setup, name)
    sources = by_source(path, name)
    if len(sources) < 2 or any(len(of_genre) < 2 for of_genre in sources.values()):
        raise rc.InputError(f"{path} must hold at least two genres, each with sentences of at least two sources")
    rng = np.random.default_rng(setup.seed)
    sides: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for genre in sorted(sources):
        listed = list(sources[genre].values())
        if single:
            listed = [[texts[rng.integers(len(texts))]] for texts in listed]
        dealt = _dealt(listed, share, rng)
        for side, texts in zip(sides, dealt, strict=True):
            side[genre] = [texts[at] for at in rng.permutation(len(texts))]
    return Genres(_TITLES[name] + ", no partners" * single, *sides)


def by_source(path: Path, name: str) -> dict[str, dict[str, list[str]]]:
    """By genre and source, the sentences of a data set's file in their order."""
    sources: dict[str, dict[str, list[str]]] = {}
    seen: set[str] = set()
    number = 0
    for record in records(path, _FIELDS[name]):
        genre, text = str(record["genre"]), str(record["text"])
        if name == XNLI:
            number += record["role"] == "premise"
            source = str(number)
        else:
            source = str(record["file"])
            if text in seen or len(text.split()) < _LEAST_WORDS:
                continue
            seen.add(text)
        sources.setdefault(genre, {}).setdefault(source, []).append(text)
    return sources


def _dealt(sources: list[list[str]], share: float, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Each source in turn to the side that is farther behind its share."""
    reference: list[str] = []
    candidate: list[str] = []
    for at in rng.permutation(len(sources)):
        behind = len(reference) / share <= len(candidate) / (1 - share)
        (reference if behind else candidate).extend(sources[at])
    return reference, candidate


def shares(total: int, parts: int) -> list[int]:
    """A number in parts as equal as can be."""
    return [total // parts + (at < total % parts) for at in range(parts)]


def balanced_size(sides: Sequence[Side], most: int) -> int:
    """How many sentences all of these sides can give with all genres equally represented, at most so many."""
    return min(most, *(len(side) * min(map(len, side.values())) for side in sides))


def levelled(genres: Genres, most: int) -> tuple[list[str], list[str]]:
    """The first sentences of both sides, equally many of each genre on either, at most so many in all.

    All genres in equal shares as far as they go: one that runs out gives all it has, the others make up for it.
    """
    has = {name: min(len(genres.reference[name]), len(genres.candidate[name])) for name in sorted(genres.reference)}
    counts: dict[str, int] = {}
    left = min(most, sum(has.values()))
    # The smallest first: what it lacks is shared out among those that follow.
    for at, name in enumerate(sorted(has, key=lambda name: has[name])):
        counts[name] = min(has[name], left // (len(has) - at))
        left -= counts[name]
    reference, candidate = (
        [text for name in has for text in side[name][: counts[name]]] for side in (genres.reference, genres.candidate)
    )
    return reference, candidate


class Space:
    """Vectors of texts, made when they are first asked for. An encoder that learns learns from references alone."""

    def __init__(self, setup: Setup, reference: Iterable[str]) -> None:
        self._setup = setup
        self._reference = list(reference)
        self._encoder: Any = None
        self._known: dict[str, np.ndarray] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Encode together, under one bar, what will be asked for."""

        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if not missing:
            return
        options = dict(self._setup.encoding)
        chosen = {name: options.pop(name) for name in ("pooling", "device", "offline") if name in options}
        if self._encoder is None:
            self._encoder = rc.resolve_encoder(self._setup.encoder, **chosen).fit(self._reference)
        self._known.update(zip(missing, rc.encode(missing, self._encoder, **options), strict=True))

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        self.prepare(texts)
        return np.stack([self._known[text] for text in texts])
