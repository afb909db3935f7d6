"""The walks of `walks` on a device: all samples step along their lists together, 64 labellings in a machine word.

What is found is the same, bit for bit. Only the order of the work differs: no list is left early, and samples are
marked at the end, by sorting what was met by whom it was met.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import bits
from .devices import to_device, within_memory
from .parallel import blocks
from .pooled import Lists
from .walks import Tables

_CELLS, _FEWEST_CELLS = 1 << 26, 1 << 16
"""Words that are held for all steps of some walks."""


class ListsThere:
    """Lists on a device, and which walkers meet whom; kept while the same lists serve more labellings."""

    def __init__(self, device: str, lists: Lists, owner: np.ndarray) -> None:
        """owner: the list of each of the last samples; samples before these do not walk."""
        import torch

        self.device, self.lists, self.length, self.walkers = device, lists, lists.length, len(owner)
        neighbour, nearer = lists.neighbour[:, owner], lists.nearer[:, owner]
        self.neighbour, self.nearer = (to_device(each, device).long() for each in (neighbour, nearer))
        self.complete = to_device(lists.complete[owner], device)
        # Of every step the walkers for whom it ties with an earlier one: they look back at the state before the ties.
        tied = [np.flatnonzero(nearer[step] != step) for step in range(self.length + 1)]
        self.tied = [to_device(each, device) if len(each) else None for each in tied]
        self.looks_back = any(each is not None for each in self.tied)
        # All entries of all lists, by whom they name.
        target = self.neighbour[:-1].reshape(-1)
        self.order = target.argsort()
        self.target = target[self.order]
        self.begins = torch.ones_like(self.target, dtype=torch.bool)
        self.begins[1:] = self.target[1:] != self.target[:-1]
        self.most = int(torch.bincount(target).max()) if len(target) else 0


def walk_on(there: ListsThere, tables: Tables, met_own: np.ndarray, met_other: np.ndarray) -> np.ndarray:
    """Walk, add up what is over, and tell which walks need longer lists (words, walkers); these are not added.

    met_own, met_other: as for `Walks`.
    """
    walks = _DeviceWalks(there, tables)

    def run(cells: int) -> list[tuple[slice, list[np.ndarray], np.ndarray, np.ndarray]]:
        size = max(1, cells // (max(1, there.walkers) * (there.length + 1) * len(tables.ks)))
        parts = blocks(len(tables), size)
        return [(part, *walks.run(part, met_own[:, part], met_other[part])) for part in parts]

    unfinished = np.zeros((len(tables), there.walkers), bool)
    for part, marks, totals, over in within_memory(run, _CELLS, _FEWEST_CELLS):
        for marked, found in zip(tables.all_marked(), marks, strict=True):
            marked[:, part] |= found
        tables.totals[:, :, part] += totals
        unfinished[part] = ~over
    return unfinished


class _DeviceWalks:
    def __init__(self, there: ListsThere, tables: Tables) -> None:
        self.there, self.ks = there, tables.ks
        self.samples = tables.candidate.shape[1]
        """One more than there are: the last one is nobody."""
        self.first = self.samples - 1 - there.walkers
        self.candidate, self.reference, self.included = (
            self._there(table) for table in (tables.candidate, tables.reference, tables.included)
        )
        people = tables.fixed_others()
        self.people = None if people is None else self._there(people)

    def _there(self, words: np.ndarray) -> Any:
        return to_device(words.view(np.int64), self.there.device)

    def run(
        self, words: slice, met_own: np.ndarray, met_other: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
        """Under the labellings of some words: what is marked (each: ks, words, samples), totals, and which are over."""
        import torch

        lists, candidate, included = self.there, self.candidate[words], self.included[words]
        own, there = candidate[:, self.first : -1], included[:, self.first : -1]
        fewer = [torch.zeros_like(own), *(there & ~self._there(met) for met in met_own)]
        inside = own.new_zeros((len(self.ks), lists.length, *own.shape))
        states = own.new_zeros((len(self.ks), lists.length + 1, *own.shape)) if lists.looks_back else None
        for step in range(lists.length):
            met = lists.neighbour[step]
            other_label, same_pool = candidate[:, met] ^ own, included[:, met]
            other = other_label & same_pool if self.people is None else self.people[words][:, met]
            other = other & there
            for place, k in enumerate(self.ks):
                inside[place, step] = other & self._open(states, fewer[k], place, step)
            different = other_label | ~same_pool
            for k in range(len(fewer) - 1, 0, -1):
                fewer[k] = fewer[k - 1] | (fewer[k] & different)
        still = self._open(states, fewer[-1], len(self.ks) - 1, lists.length)
        over = ((still == 0) & (lists.nearer[-1] >= 0)) | lists.complete
        totals = self._totals(words, inside, self._there(met_other), over)
        marks = self._marks(inside, own)
        return marks, totals, np.asarray(over.cpu().numpy())

    def _open(self, states: Any, now: Any, place: int, step: int) -> Any:
        """Where the walker had met fewer than k of its own before all that is as near as this step's neighbour."""
        if states is None:
            return now
        states[place, step] = now
        columns = self.there.tied[step]
        if columns is None:
            return now
        since = self.there.nearer[step, columns]
        before = states[place, since.clamp(min=0), :, columns].T
        found = now.clone()
        found[:, columns] = before | -(since < 0).long()  # as near as the walker's own copies
        return found

    def _totals(self, words: slice, inside: Any, met_other: Any, over: Any) -> np.ndarray:
        """(ks, 3, words, 64): pairs in candidates' spheres, in references' ones, references' spheres that hold some."""
        import torch

        counted = -over.long()
        sides = [table[words][:, self.first : -1] & counted for table in (self.candidate, self.reference)]
        found = []
        for each in inside:
            planes = _added_up([each])
            holds = met_other.clone()
            for plane in planes:
                holds |= plane[0]
            pairs = [_sums([plane[0] & side for plane in planes]) for side in sides]
            found.append(torch.stack([*pairs, _sums([holds & sides[1]])]))
        return np.asarray(torch.stack(found).cpu().numpy())

    def _marks(self, inside: Any, own: Any) -> list[np.ndarray]:
        """Who is in any sphere; where people stay: in one of the first system's samples, in one of the second's."""
        import torch

        lists = self.there
        whose = [None] if self.people is None else [own, ~own]
        found = []
        for mine in whose:
            marked = own.new_zeros((len(self.ks), len(own), self.samples))
            for place, each in enumerate(inside):
                met = (each if mine is None else each & mine).transpose(0, 1).reshape(len(own), -1)[:, lists.order]
                # Entries of one target stand side by side: each takes in the next, the next two, four, ...
                shift = 1
                while shift < lists.most:
                    same = lists.target[:-shift] == lists.target[shift:]
                    met[:, :-shift] |= torch.where(same, met[:, shift:], 0)
                    shift *= 2
                marked[place, :, lists.target[lists.begins]] = met[:, lists.begins]
            marked[:, :, -1] = 0  # nobody
            found.append(np.asarray(marked.cpu().numpy()).view(np.uint64))
        return found


def _added_up(planes: list[Any]) -> list[Any]:
    """Numbers held bit by bit (see `bits`), added up over the first axis."""
    import torch

    while len(planes[0]) > 1:
        half = -(-len(planes[0]) // 2)
        left, right = [plane[:half] for plane in planes], [plane[half:] for plane in planes]
        if len(right[0]) < half:
            right = [torch.cat([plane, torch.zeros_like(plane[:1])]) for plane in right]
        planes = bits.add(left, right)
    return planes


def _sums(planes: list[Any]) -> Any:
    """(words, walkers) numbers held bit by bit -> (words, 64), their sums over the walkers."""
    import torch

    total = 0
    places = torch.arange(bits.WORD, device=planes[0].device)
    for place, plane in enumerate(_added_up([plane.T for plane in planes])):
        total = total + (((plane[0][:, None] >> places) & 1) << place)
    return total
