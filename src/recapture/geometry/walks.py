"""Samples walk along their neighbour lists, nearest first, under 64 labellings at a time.

Let fewer(c) be the labellings in which fewer than c samples of the walker's own label have been met so far. Meeting the
next neighbour, which has the same label in some labellings, turns

    fewer(c)  into  fewer(c - 1) | (fewer(c) & ~same).

A neighbour of the other label is inside the walker's sphere in the labellings that were in fewer(k) when only what is
nearer than that neighbour by more than the slack had been met: the k-th own neighbour is then no nearer.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from . import bits
from .labels import Labels
from .parallel import blocks, run_tiles
from .pooled import Lists

# Words of one array in a stretch of some walks: a dozen such arrays should stay in a core's cache. Crowds of ties make
# long stretches, for which more memory is better than few walks at a time.
_STRETCH, _LONG_STRETCH = 1 << 15, 1 << 18
_FIRST_STEPS, _MOST_STEPS = 16, 64
_ENOUGH_WALKS = 256
# Words that are packed or counted together: with fewer a thread would cost more than it saves.
_WORDS_AT_ONCE = 1 << 17


class Tables:
    """Labels and findings of some labellings: one row per word of 64 labellings, one column per sample.

    One more column stands for no sample: lists refer to it where they have ended.
    """

    def __init__(self, labels: Labels, ks: tuple[int, ...]) -> None:
        self.ks = ks
        samples = labels.candidate.shape[1]
        shape = -(-len(labels) // bits.WORD), samples + 1
        self.reference, self.candidate = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)

        def pack(words: slice) -> None:
            rows = slice(words.start * bits.WORD, words.stop * bits.WORD)
            self.reference[words, :samples] = bits.pack(labels.reference[rows])
            self.candidate[words, :samples] = bits.pack(labels.candidate[rows])

        run_tiles(pack, blocks(len(self), max(1, _WORDS_AT_ONCE // (samples + 1))), "packing labels")
        self.included = self.candidate | self.reference
        self.marked = np.zeros((len(ks), *self.candidate.shape), np.uint64)
        """Samples that are inside at least one sphere of the other label."""
        self.totals = np.zeros((len(ks), 3, len(self), bits.WORD), np.int64)
        """Pairs in candidates' spheres, pairs in references' spheres, references' spheres that hold a sample."""

    def __len__(self) -> int:
        return len(self.candidate)

    def meet(self, where: np.ndarray, candidate: np.ndarray, included: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where walkers with these labels meet a sample of the other label, and where one that is not of their own."""
        there = self.included.reshape(-1).take(where)
        other = self.candidate.reshape(-1).take(where)
        other ^= candidate
        other &= there
        different = np.invert(there ^ other, out=there)
        other &= included
        return other, different

    def marks(self, column: int, candidate: np.ndarray) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Tables in which walkers with these labels mark what is inside their spheres, and in which labellings each is
        for them (None: in all).
        """
        return [(self.marked[column].reshape(-1), None)]

    def inside(self, marked: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
        """(ks, words, 64) how many samples are marked in each labelling. counted: those that count (words, samples)."""
        found = np.zeros((len(self.ks), len(self), bits.WORD), np.int64)

        def count(words: slice) -> None:
            flags = marked[:, words] if counted is None else marked[:, words] & counted[words]
            found[:, words] = bits.sums([np.moveaxis(flags, -1, 0)])

        run_tiles(count, blocks(len(self), max(1, _WORDS_AT_ONCE // marked.shape[-1])), "counting samples")
        return found

    def all_marked(self) -> tuple[np.ndarray, ...]:
        """All tables of marks."""
        return (self.marked,)

    def fixed_others(self) -> np.ndarray | None:
        """Who is of the other label for every walker, where that is the same in all labellings."""
        return None


class Walks:
    """The walks of some samples under the labellings of some words: words x samples of them.

    met_own, met_other: from walks among a sample's own copies, at distance 0. Where at least 1, 2, ... of them have
    its own label (k_max, words, samples); where some have the other one (words, samples).
    """

    def __init__(
        self, tables: Tables, samples: np.ndarray, words: slice, met_own: np.ndarray, met_other: np.ndarray
    ) -> None:
        self.tables = tables
        self.words = words
        self.shape = met_other.shape
        self.base = np.repeat(np.arange(words.start, words.stop) * tables.candidate.shape[1], len(samples))
        self.candidate, self.reference, self.included = (
            table[words][:, samples].ravel() for table in (tables.candidate, tables.reference, tables.included)
        )
        self.fewer = np.zeros((len(met_own) + 1, len(self.base)), np.uint64)
        np.bitwise_and(self.included, ~met_own.reshape(len(met_own), -1), out=self.fewer[1:])
        self.holds = np.tile(met_other.ravel(), (len(tables.ks), 1))
        """Per k: where a walker's sphere holds a sample of the other label."""

    def run(
        self, lists: Lists, owner: np.ndarray, wanted: np.ndarray | None, guard: AbstractContextManager
    ) -> np.ndarray:
        """Walk the wanted walks, add up, and tell which need longer lists (words, samples); these are not added.

        owner: each sample's list. guard: held while common tables are written.
        """
        count = len(self.base)
        self.lists, self.guard = lists, guard
        self.owner = np.tile(owner, self.shape[0])
        self.pairs = np.zeros((lists.length.bit_length(), len(self.tables.ks), count), np.uint64)
        # So many neighbours have been met, and so many (more, where there are ties) looked at.
        self.met, self.seen = np.zeros((2, count), np.int64)
        over = np.zeros(count, bool)
        todo = asked = np.arange(count) if wanted is None else np.flatnonzero(wanted)
        steps = _FIRST_STEPS
        while len(todo):
            begun = self.met[todo]
            together = max(_STRETCH // steps, min(_LONG_STRETCH // steps, _ENOUGH_WALKS), 1)
            for part in blocks(len(todo), together):
                over[todo[part]] = self._stretch(todo[part], steps)
            going = ~over[todo] & (self.seen[todo] < lists.length)
            # Walks in a crowd of ties longer than the stretch stand still: they need longer ones.
            stuck = (self.met[todo] == begun)[going].any()
            todo = todo[going]
            steps = 2 * steps if stuck else max(steps, min(2 * steps, _MOST_STEPS))
        unfinished = np.zeros(count, bool)
        unfinished[asked] = ~over[asked]
        self._add_up(over)
        return unfinished.reshape(self.shape)

    def _stretch(self, walk: np.ndarray, steps: int) -> np.ndarray:
        """The next steps of some walks; which of them are over then."""
        lists, tables = self.lists, self.tables
        start, owner, length = self.met[walk], self.owner[walk], lists.length
        position = np.minimum(start + np.arange(steps)[:, None], length)
        entry = position * len(lists.complete) + owner
        where = lists.neighbour.reshape(-1).take(entry) + self.base[walk]
        other, different = tables.meet(where, self.candidate[walk], self.included[walk])
        fewer = np.zeros((steps + 1, len(self.fewer), len(walk)), np.uint64)
        fewer[0] = self.fewer[:, walk]
        for step in range(steps):
            then = fewer[step + 1, 1:]
            np.bitwise_and(fewer[step, 1:], different[step], out=then)
            np.bitwise_or(fewer[step, :-1], then, out=then)
        nearer = None
        if lists.tied[owner].any():
            other[position < self.seen[walk]] = 0
            nearer = lists.nearer.reshape(-1).take(entry) - start
        self._look(walk, where, self._inside(other, fewer, nearer))
        seen = np.minimum(start + steps, length)
        ahead = lists.nearer[seen, owner]
        met = np.maximum(ahead, 0)
        self.met[walk], self.seen[walk] = met, seen
        self.fewer[:, walk] = state = fewer[met - start, :, np.arange(len(walk))].T
        over: np.ndarray = ((state[-1] == 0) & (ahead >= 0)) | ((seen == length) & lists.complete[owner])
        return over

    def _inside(self, other: np.ndarray, fewer: np.ndarray, nearer: np.ndarray | None) -> np.ndarray:
        """(steps, ks, walks): where the neighbour of that step is in the walker's sphere."""
        inside = np.empty((len(other), len(self.tables.ks), other.shape[1]), np.uint64)
        for column, k in enumerate(self.tables.ks):
            open_still = fewer[:-1, k]
            if nearer is not None:
                open_still = np.take_along_axis(fewer[:, k], np.maximum(nearer, 0), axis=0)
                open_still[nearer < 0] = ~np.uint64(0)  # as near as the walker's own copies
            np.bitwise_and(other, open_still, out=inside[:, column])
        return inside

    def _look(self, walk: np.ndarray, where: np.ndarray, inside: np.ndarray) -> None:
        """Mark the samples that are inside."""
        self.holds[:, walk] |= np.bitwise_or.reduce(inside, axis=0)
        seen = [plane[0] for plane in bits.fold([inside])]
        before = [plane[:, walk] for plane in self.pairs]
        for plane, total in zip(self.pairs, bits.add(before, seen), strict=False):
            plane[:, walk] = total
        for column in range(len(self.tables.ks)):
            for marked, own in self.tables.marks(column, self.candidate[walk]):
                news = inside[:, column] & ~marked.take(where)
                if own is not None:
                    news &= own
                place = np.flatnonzero(news)
                with self.guard:
                    np.bitwise_or.at(marked, where.reshape(-1)[place], news.reshape(-1)[place])

    def _add_up(self, over: np.ndarray) -> None:
        """Sums over the walks that are over."""
        counted = np.where(over, ~np.uint64(0), np.uint64(0))
        sides = np.stack([self.candidate & counted, self.reference & counted])[:, None]

        def total(planes: list[np.ndarray]) -> np.ndarray:
            by_walk = [np.moveaxis(plane.reshape(*plane.shape[:-1], *self.shape), -1, 0) for plane in planes]
            return bits.sums(by_walk)

        pairs = total([plane & sides for plane in self.pairs])
        covered = total([self.holds & sides[1]])
        with self.guard:
            self.tables.totals[:, :2, self.words] += np.moveaxis(pairs, 0, 1)
            self.tables.totals[:, 2, self.words] += covered
