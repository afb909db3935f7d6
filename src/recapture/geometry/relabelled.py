"""Memberships between references and candidates under many labellings of the same samples, from one search."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import bits
from .devices import tried_on
from .labels import Labels
from .parallel import blocks, run_tiles
from .pooled import Lists, PooledNeighbours, WideSearch
from .walks import Tables, Walks

# Words in all tables of one batch of labellings.
_TABLE_WORDS, _TABLE_WORDS_THERE = 1 << 22, 1 << 26
# Walks (of one sample under one word of labellings) side by side: enough to keep NumPy busy, and no more than fit.
_FEW_WALKS, _MANY_WALKS = 1 << 12, 1 << 16
# Lists are made so long that about this share of samples would need longer ones, were labels random.
_UNFINISHED = 0.02
_FEWEST_LABELLINGS = 256
# On a device a longer list costs less than to start again here, so that happens more rarely by this factor.
_RARER_THERE = 100
_LONGER = 4


class SphereCounts(NamedTuple):
    """Mark-Evaluate's counts at one k, one number per labelling."""

    x: np.ndarray
    """Candidates inside at least one reference sphere."""
    y: np.ndarray
    """References inside at least one candidate sphere."""
    a: np.ndarray
    """Pairs with the reference inside the candidate's sphere."""
    b: np.ndarray
    """Pairs with the candidate inside the reference's sphere."""
    covered: np.ndarray
    """Reference spheres that hold at least one candidate."""


def relabelled_counts(pooled: PooledNeighbours, labels: Labels, ks: Sequence[int]) -> dict[int, SphereCounts]:
    """Counts for every k and labelling. In every labelling both sides must have more than max(ks) samples."""
    ordered = tuple(sorted(set(ks)))
    counts = np.zeros((len(ordered), len(SphereCounts._fields), len(labels)), np.int64)
    lists = lists_for(pooled, labels, ordered)
    for part in batches(pooled, labels, ordered):
        own = Labels(labels.reference[part], labels.candidate[part])
        tables = Tables(own, ordered)
        LabelledWalks(pooled, tables, CopiesMet(pooled, own, tables)).run(lists)
        counts[:, :, part] = _counts(tables)[..., : part.stop - part.start]
    return {k: SphereCounts(*each) for k, each in zip(ordered, counts, strict=True)}


def _counts(tables: Tables) -> np.ndarray:
    """(ks, 5, labellings): x, y, a, b, covered."""
    inside = [tables.inside(tables.marked, side) for side in (tables.candidate, tables.reference)]
    return np.stack([*inside, *np.moveaxis(tables.totals, 1, 0)], axis=1).reshape(len(tables.ks), 5, -1)


def lists_for(pooled: PooledNeighbours, labels: Labels, ks: tuple[int, ...]) -> Lists:
    """So long that few walks under such labellings need longer ones. ks: in rising order."""
    share = min(labels.smallest) / pooled.samples
    labellings = max(len(labels), _FEWEST_LABELLINGS) * (1 if pooled.device is None else _RARER_THERE)
    return pooled.lists(first_length(share, ks[-1], labellings, pooled.samples - 1))


def batches(pooled: PooledNeighbours, labels: Labels, ks: tuple[int, ...]) -> list[slice]:
    """So many labellings as fit into memory together."""
    room = _TABLE_WORDS if pooled.device is None else _TABLE_WORDS_THERE
    words = max(1, room // (pooled.samples * (4 + len(ks) + ks[-1])))
    return blocks(len(labels), bits.WORD * words)


def first_length(share: float, k: int, labellings: int, longest: int) -> int:
    """After how many neighbours, each of a walker's own label with this chance, few walkers still lack their k-th."""
    lacking = np.zeros(k)  # the chances to have met 0, 1, ... k - 1
    lacking[0] = 1
    length = 0
    while length < longest and labellings * lacking.sum() > _UNFINISHED:
        met = share * lacking
        lacking -= met
        lacking[1:] += met[:-1]
        length += 1
    return length


class LabelledWalks:
    """All walks under some labellings. first: samples before this one do not walk."""

    def __init__(self, pooled: PooledNeighbours, tables: Tables, repeats: CopiesMet, first: int = 0) -> None:
        self.pooled, self.first = pooled, first
        self.tables, self.repeats = tables, repeats
        self.unfinished = np.zeros((len(self.tables), pooled.samples), bool)
        self.lock = threading.Lock()
        self.copies_found = False

    def run(self, lists: Lists) -> None:
        pooled = self.pooled
        everybody = np.arange(self.first, pooled.samples)

        def walk(words: slice) -> None:
            if not self.copies_found:
                self.repeats.find(words)
            walks = Walks(self.tables, everybody, words, *self.repeats.met(everybody, words))
            # No other thread has these words.
            owner = pooled.rows.inverse[self.first :]
            self.unfinished[words, self.first :] = walks.run(lists, owner, None, contextlib.nullcontext())

        if not tried_on(pooled.device, lambda device: self._walk_there(device, lists, everybody)):
            pooled.device = None
            run_tiles(walk, blocks(len(self.tables), max(1, _FEW_WALKS // pooled.samples)), "relabelling")
        rows = np.unique(pooled.rows.inverse[self.unfinished.any(axis=0)])
        parts = [rows[part] for part in blocks(len(rows), pooled.wide_rows)]
        run_tiles(lambda part: self._walk_on(part, _LONGER * lists.length), parts, "relabelling, longer lists")

    def _walk_there(self, device: str, lists: Lists, everybody: np.ndarray) -> bool:
        from .device_walks import ListsThere, walk_on

        pooled, words = self.pooled, slice(0, len(self.tables))
        owner, known = pooled.rows.inverse[self.first :], pooled.there
        if known is None or known.lists is not lists or known.walkers != len(owner):
            pooled.there = known = ListsThere(device, lists, owner)
        if not self.copies_found:
            self.repeats.find(words)
            self.copies_found = True
        met = self.repeats.met(everybody, words)
        self.unfinished[:, self.first :] = walk_on(known, self.tables, *met)
        return True

    def _walk_on(self, rows: np.ndarray, length: int) -> None:
        """Start again with longer lists, until they are long enough."""
        search = WideSearch(self.pooled, rows)
        words = slice(0, len(self.tables))
        samples = np.flatnonzero(self.unfinished.any(axis=0) & np.isin(self.pooled.rows.inverse, rows))
        todo = self.unfinished[:, samples]
        while len(samples):
            chosen, owner = np.unique(np.searchsorted(rows, self.pooled.rows.inverse[samples]), return_inverse=True)
            lists = search.lists(chosen, length)
            for part in blocks(len(samples), max(1, _MANY_WALKS // len(self.tables))):
                walks = Walks(self.tables, samples[part], words, *self.repeats.met(samples[part], words))
                todo[:, part] = walks.run(lists, owner[part], todo[:, part], self.lock)
            still = todo.any(axis=0)
            samples, todo = samples[still], todo[:, still]
            length *= _LONGER


class CopiesMet:
    """Copies of one row, at distance 0 from each other, are inside each other's spheres whatever k is."""

    def __init__(self, pooled: PooledNeighbours, labels: Labels, tables: Tables) -> None:
        self.labels, self.tables = labels, tables
        weight = pooled.rows.weight
        self.sample = pooled.members[np.repeat(weight > 1, weight)]
        sizes = weight[weight > 1]
        self.starts = np.cumsum(sizes) - sizes
        self.group = np.repeat(np.arange(len(sizes)), sizes)
        self.place = np.full(pooled.samples, -1)
        self.place[self.sample] = np.arange(len(self.sample))
        self.met_own = np.zeros((tables.ks[-1], len(tables), len(self.sample)), np.uint64)
        self.met_other = np.zeros((len(tables), len(self.sample)), np.uint64)

    def find(self, words: slice) -> None:
        """Count copies under the labellings of some words."""
        for word in range(words.start, words.stop) if len(self.sample) else ():
            self._find(word)

    def _find(self, word: int) -> None:
        tables = self.tables
        references, candidates = self.taken(word)
        tables.totals[:, :2, word, : len(references)] += (references * candidates).sum(axis=1)
        self.met_other[word] = self._among_copies(word, candidates > 0, references > 0)
        self.meet_own(word, references, candidates)
        tables.marked[:, word, self.sample] |= self.met_other[word]

    def taken(self, word: int) -> tuple[np.ndarray, np.ndarray]:
        """(labellings, rows with copies) how many copies are references, and how many candidates."""
        part = slice(word * bits.WORD, (word + 1) * bits.WORD)
        references, candidates = (
            np.add.reduceat(flags[part][:, self.sample], self.starts, axis=1, dtype=np.int64)
            for flags in (self.labels.reference, self.labels.candidate)
        )
        return references, candidates

    def meet_own(self, word: int, references: np.ndarray, candidates: np.ndarray) -> None:
        for k, met in enumerate(self.met_own, 1):
            met[word] = self._among_copies(word, references > k, candidates > k)

    def _among_copies(self, word: int, of_reference: np.ndarray, of_candidate: np.ndarray) -> np.ndarray:
        tables = self.tables
        met: np.ndarray = tables.reference[word, self.sample] & bits.pack(of_reference)[0, self.group]
        met |= tables.candidate[word, self.sample] & bits.pack(of_candidate)[0, self.group]
        return met

    def met(self, samples: np.ndarray, words: slice) -> tuple[np.ndarray, np.ndarray]:
        """What samples met among their copies: see Walks."""
        shape = words.stop - words.start, len(samples)
        own, other = np.zeros((len(self.met_own), *shape), np.uint64), np.zeros(shape, np.uint64)
        again = np.flatnonzero(self.place[samples] >= 0)
        place = self.place[samples[again]]
        own[:, :, again] = self.met_own[:, words][:, :, place]
        other[:, again] = self.met_other[words][:, place]
        return own, other
