"""Memberships between references and two systems that share out the other samples, under many labellings of these.

The references stay where they are. So their spheres are found once, and what they hold is added up; and one walk of a
sample finds its sphere for whichever of the two systems it belongs to, in 64 labellings at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import bits
from .labels import Labels
from .parallel import blocks
from .pooled import Lists, PooledNeighbours, WideSearch
from .relabelled import CopiesMet, LabelledWalks, SphereCounts, batches, lists_for
from .walks import Tables

_LONGER = 4


class _Spheres(NamedTuple):
    """What the spheres of the references hold at one k."""

    starts: np.ndarray
    """Where each sphere that holds any sample begins among the members."""
    member: np.ndarray
    """Places among the samples that are exchanged."""
    times: np.ndarray
    """How many references have each of these spheres: equal ones have the same."""
    around: np.ndarray
    """(exchanged samples,) in how many spheres each is"""


class ExchangedNeighbours:
    """Pooled samples, references first; all others belong to one of two systems."""

    def __init__(self, pooled: PooledNeighbours, references: int) -> None:
        self._pooled, self._references = pooled, references
        self._spheres: dict[int, _Spheres] = {}

    def counts(self, first: np.ndarray, ks: tuple[int, ...]) -> dict[int, tuple[SphereCounts, SphereCounts]]:
        """By k: the counts of both systems, each against the references. ks: in rising order.

        first: (labellings, exchanged samples) which are the first system's.
        """
        pooled, references = self._pooled, self._references
        sides = [np.pad(side, ((0, 0), (references, 0))) for side in (~first, first)]
        labels = Labels(*sides)
        lists = lists_for(pooled, labels, ks)
        if not all(k in self._spheres for k in ks):
            self._find(lists, ks)
        # (ks, pairs in spheres of systems' samples and references inside any of them, systems, labellings)
        found = np.zeros((len(ks), 2, 2, len(first)), np.int64)
        for part in batches(pooled, labels, ks):
            own = Labels(sides[0][part], sides[1][part])
            tables = _ExchangedTables(own, ks, references)
            LabelledWalks(pooled, tables, _ExchangedCopies(pooled, own, tables), references).run(lists)
            inside = [tables.inside(marked) for marked in (tables.marked, tables.marked_second)]
            counted = [np.moveaxis(tables.totals[:, :2], 1, 0), np.stack(inside)]
            found[..., part] = np.moveaxis(np.stack(counted), 2, 0).reshape(len(ks), 2, 2, -1)[
                ..., : part.stop - part.start
            ]
        words = [bits.pack(flags) for flags in (first, ~first)]
        return {
            k: (
                self._of(k, first, words[0], found[place, :, 0]),
                self._of(k, ~first, words[1], found[place, :, 1]),
            )
            for place, k in enumerate(ks)
        }

    def _of(self, k: int, flags: np.ndarray, words: np.ndarray, found: np.ndarray) -> SphereCounts:
        """Of one system."""
        spheres = self._spheres[k]
        whole = flags.astype(np.float64)
        held = np.zeros(len(flags), np.int64)
        if len(spheres.member):
            holds = np.bitwise_or.reduceat(words[:, spheres.member], spheres.starts, axis=1)
            held = bits.sums([np.repeat(holds, spheres.times, axis=1).T]).reshape(-1)[: len(flags)]
        x, b = (np.rint(whole @ counted).astype(np.int64) for counted in (spheres.around > 0, spheres.around))
        return SphereCounts(x, found[1], found[0], b, held)

    def _find(self, lists: Lists, ks: tuple[int, ...]) -> None:
        """The spheres of the references: those of equal ones are one."""
        pooled, references = self._pooled, self._references
        self._copies = copies = np.bincount(pooled.rows.inverse[:references], minlength=len(pooled))
        rows = np.flatnonzero(copies)
        # Equal samples are inside, whatever k is: lists do not have them.
        equal = references + np.flatnonzero(copies[pooled.rows.inverse[references:]])
        found = [[(pooled.rows.inverse[equal], equal)] for _ in ks]
        short = self._add(found, lists, rows, rows, ks)
        for part in blocks(len(short), pooled.wide_rows):
            left, length = short[part], _LONGER * lists.length
            search = WideSearch(pooled, left)
            todo = left
            while len(todo):
                longer = search.lists(np.searchsorted(left, todo), length)
                todo = self._add(found, longer, np.arange(len(todo)), todo, ks)
                length *= _LONGER
        for k, parts in zip(ks, found, strict=True):
            row, sample = (np.concatenate(each) for each in zip(*parts, strict=True))
            order = np.argsort(row, kind="stable")
            row, member = row[order], sample[order] - references
            starts = np.flatnonzero(np.diff(row, prepend=-1))
            around = np.bincount(member, copies[row], minlength=pooled.samples - references)
            self._spheres[k] = _Spheres(starts, member, copies[row[starts]], around)

    def _add(
        self,
        found: list[list[tuple[np.ndarray, np.ndarray]]],
        lists: Lists,
        columns: np.ndarray,
        rows: np.ndarray,
        ks: tuple[int, ...],
    ) -> np.ndarray:
        """Add (row, sample inside its sphere) at every k, from some lists; which rows need longer ones."""
        neighbour, nearer = lists.neighbour[:, columns], lists.nearer[:, columns]
        met = np.zeros((len(neighbour) + 1, len(columns)), np.int64)
        np.cumsum(neighbour < self._references, axis=0, out=met[1:])
        # References that are nearer than this one by more than the slack, the row's own copies among them.
        before = np.take_along_axis(met, np.maximum(nearer, 0), axis=0) + (self._copies[rows] - 1)
        over = lists.complete[columns] | ((nearer[-1] >= 0) & (before[-1] >= ks[-1]))
        exchanged = (neighbour >= self._references) & (neighbour < self._pooled.samples) & over
        for parts, k in zip(found, ks, strict=True):
            step, column = np.nonzero(exchanged & ((nearer < 0) | (before < k)))
            parts.append((rows[column], neighbour[step, column].astype(np.int64)))
        return np.asarray(rows[~over])


class _ExchangedTables(Tables):
    """Candidates: the first system's samples; "references": the second's. The references stand in neither."""

    def __init__(self, labels: Labels, ks: tuple[int, ...], references: int) -> None:
        super().__init__(labels, ks)
        self.people = np.zeros_like(self.candidate)
        self.people[:, :references] = ~np.uint64(0)
        self.marked_second = np.zeros_like(self.marked)
        """`marked` is by the first system's samples."""

    def meet(self, where: np.ndarray, candidate: np.ndarray, included: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        other = self.people.reshape(-1).take(where)
        other &= included
        different = self.candidate.reshape(-1).take(where)
        different ^= candidate
        different |= ~self.included.reshape(-1).take(where)
        return other, different

    def marks(self, column: int, candidate: np.ndarray) -> list[tuple[np.ndarray, np.ndarray | None]]:
        first, second = (table[column].reshape(-1) for table in (self.marked, self.marked_second))
        return [(first, candidate), (second, ~candidate)]

    def all_marked(self) -> tuple[np.ndarray, ...]:
        return self.marked, self.marked_second

    def fixed_others(self) -> np.ndarray:
        return self.people


class _ExchangedCopies(CopiesMet):
    """Copies of a row that are references are inside the spheres of the others, and these mark them."""

    tables: _ExchangedTables

    def _find(self, word: int) -> None:
        tables = self.tables
        second, first = self.taken(word)
        people = tables.people[word, self.sample] != 0
        references = np.add.reduceat(people, self.starts, dtype=np.int64)
        for place, system in enumerate((first, second)):
            tables.totals[:, place, word, : len(system)] += system @ references
        self.met_other[word] = np.where(references > 0, ~np.uint64(0), np.uint64(0))[self.group]
        self.meet_own(word, second, first)
        for marked, system in ((tables.marked, first), (tables.marked_second, second)):
            there = bits.pack(system > 0)[0, self.group]
            marked[:, word, self.sample[people]] |= there[people]
