"""Texts for the study of power: people's, the same damaged, and vectors of all of them, made once.

Everything that is compared later is a choice of rows: damage that changes texts (word order, truncation, variations on
one text) is done to a part of the texts once and encoded once; all other damage is a matter of which rows are taken.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..distribution_aware import captions
from ..encoders import loading_options
from ..files import write
from ..mark_evaluate.genres import BROWN, LAYOUT, by_source, data_file
from ..steps import steps_of
from ..study import Setup
from .power_scale import FULL, QUICK, Scale

CAPTIONS = "captions_coco1000"
LAYOUTS = {BROWN: LAYOUT[BROWN], CAPTIONS: captions.LAYOUT[CAPTIONS]}
COUNTS = "word counts"
_REVISION = 1
_LONGEST = 40
"""Words of a sentence."""
_LEAST_LETTERS = 4
"""Of a word that variations may replace, and of the beginning that its substitute must not share: houses for house
would be no other word."""
_SUBSTITUTES = 3
_COMMON = 3
"""Times that a word must occur to be a substitute."""
_REPLACED = 1 / 3
"""Of the words that have a substitute: how many a variation replaces."""
_CHUNK = 1000


class Store(NamedTuple):
    """Vectors of all texts; rows: people's, shuffled, truncated, variations, off-topic ones."""

    scale: Scale
    seed: int
    genre: np.ndarray
    """Of each of people's texts, by number."""
    off_topic: int
    """How many such texts there are."""
    vectors: dict[str, np.ndarray]
    """By encoder, float16: 11 bits are far more than any number here depends on."""

    @property
    def people(self) -> int:
        return len(self.genre)

    @property
    def shuffled(self) -> int:
        """The first row of those; row `shuffled + i` is text i with its words in random order, and so on."""
        return self.people

    @property
    def truncated(self) -> int:
        return self.shuffled + self.scale.damaged

    @property
    def variations(self) -> int:
        return self.truncated + self.scale.damaged

    @property
    def others(self) -> int:
        return self.variations + self.scale.families * self.scale.variations

    def packed(self) -> bytes:
        head = {"scale": self.scale._asdict(), "seed": self.seed, "off_topic": self.off_topic}
        stream = io.BytesIO()
        named: dict[str, Any] = {f"vectors {name}": rows for name, rows in self.vectors.items()}
        np.savez(stream, head=np.array(json.dumps(head)), genre=self.genre, **named)
        return stream.getvalue()


def read_store(path: Path) -> Store | None:
    """What `packed` wrote; None where there is no such file, or it is damaged."""
    try:
        with np.load(path) as file:
            head = json.loads(str(file["head"]))
            vectors = {name.removeprefix("vectors "): file[name] for name in file.files if name.startswith("vectors ")}
            return Store(Scale.of(head["scale"]), head["seed"], file["genre"], head["off_topic"], vectors)
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None


def prepared(setup: Setup) -> tuple[Store, rc.Journal]:
    """The vectors, made now or kept from before, and the journal of what is measured on them.

    Both lie side by side in the cache folder, so that a machine with many cores can do the measuring
    (`python -m training.power_numbers`).
    """
    scale = QUICK if setup.quick else FULL
    files = [data_file(setup, BROWN), captions.data_file(setup, CAPTIONS)]
    journal = steps_of(setup, "power", {"revision": _REVISION, "scale": scale._asdict()}, files)
    path = None if journal.path is None else journal.path.with_suffix(".npz")
    store = None if path is None else read_store(path)
    if store is None:
        store = _made(setup, scale)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, store.packed())
    return store, journal


def _made(setup: Setup, scale: Scale) -> Store:
    rng = np.random.default_rng([setup.seed, 0])
    texts, genre = people(setup, scale, rng)
    others = _off_topic(setup, scale, rng)
    shuffled = [_shuffled(text, rng) for text in texts[: scale.damaged]]
    truncated = [_truncated(text) for text in texts[: scale.damaged]]
    substitutes = _thesaurus(setup, texts)
    varied = [_varied(text, substitutes, rng) for text in texts[: scale.families] for _ in range(scale.variations)]
    listed = [*texts, *shuffled, *truncated, *varied, *others]
    loading, options = loading_options(setup.encoding)
    encoder = rc.resolve_encoder(setup.encoder, **loading).fit(texts)
    vectors = {
        encoder.name: rc.encode(listed, encoder, **options).astype(np.float16),
        COUNTS: _counted(texts, listed, scale.dimensions).astype(np.float16),
    }
    return Store(scale, setup.seed, genre, len(others), vectors)


def people(setup: Setup, scale: Scale, rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Sentences of Brown in random order, equally many of each genre, and the number of the genre of each."""
    path = data_file(setup, BROWN)
    texts: list[str] = []
    genre: list[int] = []
    for number, (_, sources) in enumerate(sorted(by_source(path, BROWN).items())):
        usable = [text for sentences in sources.values() for text in sentences if len(text.split()) <= _LONGEST]
        if len(usable) < scale.of_genre:
            raise rc.InputError(
                f"{path} has a genre with {len(usable)} different sentences of 5 to {_LONGEST} words; the study needs "
                f"{scale.of_genre}"
            )
        texts += [usable[place] for place in rng.permutation(len(usable))[: scale.of_genre]]
        genre += [number] * scale.of_genre
    order = rng.permutation(len(texts))
    return [texts[place] for place in order], np.array(genre)[order]


def _off_topic(setup: Setup, scale: Scale, rng: np.random.Generator) -> list[str]:
    """One caption of each picture."""
    pictures = captions.load(captions.data_file(setup, CAPTIONS), contexts=2, references=1, candidates=0)
    listed = list(dict.fromkeys(picture.references[0] for picture in pictures))
    return [listed[place] for place in rng.permutation(len(listed))]


def _shuffled(text: str, rng: np.random.Generator) -> str:
    return " ".join(rng.permutation(text.split()).tolist())


def _truncated(text: str) -> str:
    """The first half of its words."""
    words = text.split()
    return " ".join(words[: (len(words) + 1) // 2])


_WORD = re.compile(r"[^\W\d_]\w*")


def _thesaurus(setup: Setup, texts: Sequence[str]) -> dict[str, list[str]]:
    """By word, the words of these texts whose own vectors are most like its, but for those that begin alike."""
    counted = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    words = sorted(word for word, count in counted.items() if count >= _COMMON and len(word) >= _LEAST_LETTERS)
    if len(words) < 2:
        return {}
    loading, options = loading_options(setup.encoding)
    encoder = rc.resolve_encoder(setup.encoder, **loading).fit(words)
    vectors = rc.encode(words, encoder, **options).astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    beginnings = np.unique([word[:_LEAST_LETTERS] for word in words], return_inverse=True)[1]
    found = {}
    for start in range(0, len(words), _CHUNK):
        part = slice(start, start + _CHUNK)
        likeness = vectors[part] @ vectors.T
        likeness[beginnings[part, None] == beginnings] = -np.inf
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :_SUBSTITUTES]
        for word, places, row in zip(words[part], best, likeness, strict=True):
            near = [words[place] for place in places if row[place] > -np.inf]
            if near:
                found[word] = near
    return found


def _varied(text: str, substitutes: dict[str, list[str]], rng: np.random.Generator) -> str:
    """With a third of its words, at least one, replaced by others like them."""
    spots = [found for found in _WORD.finditer(text) if found[0].lower() in substitutes]
    if not spots:
        return text
    chosen = rng.permutation(len(spots))[: max(1, round(_REPLACED * len(spots)))]
    for place in sorted(chosen.tolist(), reverse=True):  # from the end, so that places before stay
        spot = spots[place]
        near = substitutes[spot[0].lower()]
        new = near[int(rng.integers(len(near)))]
        new = new.capitalize() if spot[0][0].isupper() else new
        text = text[: spot.start()] + new + text[spot.end() :]
    return text


def _counted(texts: Sequence[str], listed: Sequence[str], dimensions: int) -> np.ndarray:
    """Counts of words on their leading directions: thousands of comparisons of whole counts would take days."""
    from scipy.sparse import csr_array, vstack
    from scipy.sparse.linalg import svds

    encoder = rc.resolve_encoder("bag-of-words").fit(list(texts))
    parts = [
        csr_array(rc.encode(list(listed[start : start + _CHUNK]), encoder, cache=False).astype(np.float64))
        for start in range(0, len(listed), _CHUNK)
    ]
    counts = vstack(parts, format="csr")
    known = counts[: len(texts)]
    rank = min(dimensions, *(side - 1 for side in known.shape))
    # A fixed start: the same directions every time, but for their signs, which no distance depends on.
    directions = svds(known, k=rank, v0=np.ones(min(known.shape)))[2]
    found: np.ndarray = counts @ directions.T
    return found
