"""`streamed` on a device: some rows against all others, which come from disk while the device computes.

Columns stay there for a while (a slab) and rows pass by (panels). Within the rows of a part every pair is looked at
once, for both. What a row has met so far tells how near others have to be: slabs grow, so that each finds few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from .device_spheres import Members, all_squared, decided, exact_squared, limits_from_sample, listed
from .devices import to_device, within_memory
from .half_rows import HalfRows, half_rows
from .near_pairs import Block
from .neighbours import kth_over_samples
from .overlap import SLACK
from .parallel import blocks, engine_options
from .products import power_of_two_below
from .streamed import Memberships, StreamedRows

_COPIERS = 8
"""Threads that copy from the system's pages into pinned memory: one alone is slower than a device computes."""
_BYTES_AT_ONCE = 1 << 30
"""Of a panel or a slab in float64, at which half precision is made in parts."""
_MOST_ROWS = 1 << 20
_LEAST_ROWS = 1 << 10
_SAMPLE = 1 << 15
"""Rows from which every row takes its first threshold; up to four times that of large sets."""
_ROOM = 1 << 27
_LEAST_ROOM = 1 << 20
"""Pairs that are held at once; fewer where memory does not suffice, and with them rows."""
_CENTRE = 1 << 8


@dataclass(frozen=True)
class _Loaded:
    """Some rows of a set on the device."""

    rows: slice
    values: Any
    weight: Any
    half: HalfRows

    def __len__(self) -> int:
        return len(self.values)

    def first(self, count: int) -> _Loaded:
        """A copy of the first few, so that the others can be let go."""
        half = HalfRows(self.half.half[:count].clone(), self.half.term[:count].clone(), self.half.scale)
        rows = slice(self.rows.start, self.rows.start + count)
        return _Loaded(rows, self.values[:count].clone(), self.weight[:count].clone(), half)


class _Source:
    """A set whose rows are brought to a device in parts."""

    def __init__(self, rows: StreamedRows, device: str, room: int, around: _Source | None = None) -> None:
        """room: pairs held at once, with which all else grows. around: the set whose centre and scale both share."""
        import torch

        self.rows, self.device, self.room = rows, torch.device(device), room
        fitting = _BYTES_AT_ONCE * room // _ROOM // (8 * rows.values.shape[1])
        self.at_once = max(_LEAST_ROWS, min(_MOST_ROWS, fitting))
        if around is None:
            self.centre = self._there(self._of(self.drawn(_CENTRE))).double().median(dim=0).values
            self.scale = power_of_two_below(rows.reach + float(self.centre.abs().max()))
        else:
            self.centre, self.scale = around.centre, around.scale

    def widen(self, reach: float) -> None:
        """Let the scale hold numbers of another set, too."""
        self.scale = power_of_two_below(max(self.rows.reach, reach) + float(self.centre.abs().max()))

    def drawn(self, count: int) -> np.ndarray:
        """Some of the different rows, in rising order."""
        count = min(count, len(self.rows))
        return np.sort(np.random.default_rng(20).choice(len(self.rows), count, replace=False))

    def sample(self, places: np.ndarray) -> tuple[Any, HalfRows]:
        """Some rows, and the same in half precision."""
        values = self._there(self._of(places))
        return values, half_rows(values, self.centre, self.scale)

    def stream(self, parts: Sequence[slice]) -> Iterator[_Loaded]:
        """Parts one after the other: the next one is read and copied while the last one is looked at."""
        import torch

        if not parts:
            return
        longest = max(part.stop - part.start for part in parts)
        shape = longest, self.rows.values.shape[1]
        # Memory that stays in its place is copied without another copy; the reader alone uses it.
        on_cuda = self.device.type == "cuda"
        kind = to_device(np.empty(0, self._kind), "cpu").dtype
        room = torch.empty(shape, dtype=kind, pin_memory=True) if on_cuda else None
        threads = min(_COPIERS, engine_options().thread_count())
        with (
            ThreadPoolExecutor(threads, thread_name_prefix="recapture") as copiers,
            ThreadPoolExecutor(1, thread_name_prefix="recapture") as reader,
        ):
            coming = reader.submit(self._read, parts[0], room, copiers)
            for number, part in enumerate(parts):
                values = coming.result()
                if on_cuda:
                    values.record_stream(torch.cuda.current_stream(self.device))
                if number + 1 < len(parts):
                    coming = reader.submit(self._read, parts[number + 1], room, copiers)
                weight = torch.as_tensor(self.rows.weight[part]).to(self.device)
                yield _Loaded(part, values, weight, half_rows(values, self.centre, self.scale))

    @property
    def _kind(self) -> np.dtype:
        given = self.rows.values.dtype
        # Whole numbers are compared as float64.
        return given.newbyteorder("=") if given.kind == "f" and given.itemsize < 8 else np.dtype(np.float64)

    def _read(self, part: slice, room: Any, copiers: ThreadPoolExecutor) -> Any:
        """room: pinned memory, where there is a device that copies from there."""
        import torch

        if room is None:
            return self._there(self.rows.taken(part))
        size = part.stop - part.start
        target = room.numpy()[:size]

        def copy(some: slice) -> None:
            self.rows.take_into(slice(part.start + some.start, part.start + some.stop), target[some])

        list(copiers.map(copy, blocks(size, 1 << 14)))
        # A stream of its own waits for nobody's products.
        with torch.cuda.device(self.device), torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
            there = room[:size].to(self.device, non_blocking=True)
            torch.cuda.current_stream().synchronize()
        return there

    def _of(self, places: np.ndarray) -> np.ndarray:
        return np.array(self.rows.values[self.rows.places(places)])

    def _there(self, given: np.ndarray) -> Any:
        return to_device(given.astype(self._kind, copy=False), self.device)


# Radii


def device_radii(rows: StreamedRows, part: slice, ks: Sequence[int], device: str) -> np.ndarray:
    """`streamed.squared_radii`, made on a device."""
    if len(rows) == 1:
        return np.zeros((1, len(ks)))
    return within_memory(lambda room: _radii(rows, part, ks, device, room), _ROOM, _LEAST_ROOM)


def _radii(rows: StreamedRows, part: slice, ks: Sequence[int], device: str, room: int) -> np.ndarray:
    count, wanted = part.stop - part.start, min(ks[-1], len(rows) - 1)
    source = _Source(rows, device, room)
    nearest = _Met(source, part, wanted)
    for slab in _growing(part, source.at_once):
        held: _Loaded | None = None
        for panel in source.stream(_cut(slice(slab.start, part.stop), source.at_once)):
            if slab.start == part.start:
                nearest.begin(panel)
            held = panel.first(slab.stop - slab.start) if held is None else held
            nearest.look(panel, held, both=True)
    outside = [*_cut(slice(0, part.start), source.at_once), *_cut(slice(part.stop, len(rows)), source.at_once)]
    panels = _cut(part, source.at_once)
    kept = list(source.stream(panels)) if outside and len(panels) == 1 else None
    for slab_there in source.stream(outside):
        for panel in kept or source.stream(panels):
            nearest.look(panel, slab_there, both=False)
    found = np.empty((count, len(ks)))
    for block in blocks(count, 1 << 16):
        squared, weight = (each[block].cpu().numpy() for each in (nearest.squared, nearest.weight))
        own = rows.weights(slice(part.start + block.start, part.start + block.stop))
        found[block] = kth_over_samples(squared, own, None if own is None else weight, list(ks))
    return found


def _cut(rows: slice, size: int) -> list[slice]:
    return [slice(rows.start + each.start, rows.start + each.stop) for each in blocks(rows.stop - rows.start, size)]


def _growing(part: slice, most: int) -> Iterator[slice]:
    """Slabs of a part: as many columns each as were looked at before, within what is held at once."""
    start, size = part.start, min(most, 8 * _SAMPLE)
    while start < part.stop:
        stop = min(start + size, part.stop)
        yield slice(start, stop)
        size, start = min(most, max(size, stop - part.start)), stop


class _Met:
    """The nearest others of the rows of a part among all that they have met."""

    def __init__(self, source: _Source, part: slice, wanted: int) -> None:
        import torch

        count, device = part.stop - part.start, source.device
        self._source, self._part, self._wanted = source, part, wanted
        self.squared = torch.full((count, wanted), torch.inf, dtype=torch.float64, device=device)
        self.weight = torch.ones((count, wanted), dtype=torch.int64, device=device)
        self._limit = torch.full((count,), torch.inf, dtype=torch.float64, device=device)
        """Squared distance within which there are enough others."""
        # More for more neighbours and for more rows, so that the first slab finds few.
        size = _SAMPLE * min(4, max(1 + wanted // 8, len(source.rows) >> 20))
        places = source.drawn(size)
        self._sample = source.sample(places)
        self._places = torch.as_tensor(places).to(device)

    def _span(self, loaded: _Loaded) -> slice:
        return slice(loaded.rows.start - self._part.start, loaded.rows.stop - self._part.start)

    def begin(self, panel: _Loaded) -> None:
        """Give rows that have met nobody a limit."""
        self._limit[self._span(panel)] = limits_from_sample(
            panel.values, panel.half, *self._sample, self._places - panel.rows.start, self._wanted, self._source.room
        )

    def look(self, panel: _Loaded, slab: _Loaded, both: bool) -> None:
        """Rows of a panel against columns. both: columns are rows of the part, too; a panel that begins where the
        columns do has all of them."""
        import torch

        rows, threshold = self._span(panel), panel.half.threshold(self._limit[self._span(panel)])
        same_until = len(slab) if both and panel.rows.start == slab.rows.start else 0
        if both:
            columns = self._span(slab)
            column_threshold = slab.half.threshold(self._limit[columns])
        else:
            columns, column_threshold = slice(0, 0), torch.full_like(slab.half.term, torch.inf)
        block = Block(panel.half, threshold, slab.half, column_threshold, same_until)
        for start, stop, keys in listed(block, self._source.room):
            for row, column, squared in self._pairs(panel, slab, start, stop, keys, same_until):
                self._offer(rows, row, squared, slab.weight[column])
                if both:
                    self._offer(columns, column, squared, panel.weight[row])

    def _pairs(
        self, panel: _Loaded, slab: _Loaded, start: int, stop: int, keys: Any, same_until: int
    ) -> Iterator[tuple[Any, Any, Any]]:
        import torch

        if keys is not None:
            row, column = keys >> 32, keys & 0xFFFFFFFF
            yield row, column, exact_squared(panel.values, row, slab.values, column)
            return
        # Nearly everybody is nearly equally far: the nearest from all distances, of rows and of columns.
        step = max(1, self._source.room // 4 // len(slab))
        for first in range(start, stop, step):
            some = torch.arange(first, min(first + step, stop), device=self._limit.device)
            squared = all_squared(panel.values[some], slab.values)
            there = torch.arange(len(slab), device=some.device)
            squared[(some[:, None] < same_until) & (there <= some[:, None])] = torch.inf
            chosen = torch.zeros_like(squared, dtype=torch.bool)
            for dim in (0, 1):
                near = squared.topk(min(self._wanted, squared.shape[dim]), dim=dim, largest=False).indices
                chosen.scatter_(dim, near, True)
            row, column = (chosen & torch.isfinite(squared)).nonzero(as_tuple=True)
            yield some[row], column, squared[row, column]

    def _offer(self, span: slice, owner: Any, squared: Any, weight: Any) -> None:
        """Let new distances of rows of a span take the places of larger ones."""
        import torch

        inside = squared <= self._limit[span][owner]
        owner, squared, weight = owner[inside], squared[inside], weight[inside]
        if not len(owner):
            return
        # Only rows that something is offered to.
        touched, owner = owner.unique(return_inverse=True)
        places, kept = touched + span.start, self.squared.shape[1]
        owners = torch.arange(len(touched), device=owner.device)
        owner = torch.cat([owners.repeat_interleave(kept), owner])
        squared = torch.cat([self.squared[places].reshape(-1), squared])
        weight = torch.cat([self.weight[places].reshape(-1), weight])
        order = squared.argsort()
        order = order[owner[order].argsort(stable=True)]
        owner = owner[order]
        rank = torch.arange(len(owner), device=owner.device) - torch.searchsorted(owner, owners)[owner]
        best = order[rank < kept].view(len(touched), kept)  # each has brought as many as it keeps
        self.squared[places], self.weight[places] = squared[best], weight[best]
        self._limit[places] = torch.minimum(self._limit[places], self.squared[places, -1] * (1 + SLACK))


# Memberships


def device_memberships(
    reference: StreamedRows,
    candidate: StreamedRows,
    part: slice,
    ks: Sequence[int],
    reference_radii: np.ndarray,
    candidate_radii: np.ndarray,
    device: str,
) -> Memberships:
    """`streamed.memberships`, made on a device."""
    radii = reference_radii, candidate_radii
    return within_memory(lambda room: _memberships(reference, candidate, part, radii, device, room), _ROOM, _LEAST_ROOM)


def _memberships(
    reference: StreamedRows,
    candidate: StreamedRows,
    part: slice,
    radii: tuple[np.ndarray, np.ndarray],
    device: str,
    room: int,
) -> Memberships:
    import torch

    there, count, never = torch.device(device), part.stop - part.start, radii[0].shape[1]
    of_reference = _Source(reference, device, room)
    of_reference.widen(candidate.reach)
    of_candidate = _Source(candidate, device, room, around=of_reference)
    pairs = torch.zeros((2, never + 1), dtype=torch.int64, device=there)
    mine = torch.full((2, count), never, dtype=torch.int64, device=there)
    theirs = torch.full((2, len(candidate)), never, dtype=torch.int64, device=there)
    slabs = _cut(candidate.everything, of_candidate.at_once)
    for panel in of_reference.stream(_cut(part, of_reference.at_once)):
        here = slice(panel.rows.start - part.start, panel.rows.stop - part.start)
        spheres = torch.as_tensor(radii[0][here]).to(there) * (1 + SLACK)
        for slab in of_candidate.stream(slabs):
            others = torch.as_tensor(radii[1][slab.rows]).to(there) * (1 + SLACK)
            in_reference = Members(spheres, panel.weight, slab.weight)
            in_candidate = Members(others, slab.weight, panel.weight)
            block = Block(
                panel.half, panel.half.threshold(spheres[:, -1]), slab.half, slab.half.threshold(others[:, -1])
            )
            for start, stop, keys in listed(block, room):
                for row, column, squared in decided(panel.values, slab.values, start, stop, keys, room):
                    in_reference.add(row, column, squared)
                    in_candidate.add(column, row, squared)
            pairs += torch.stack([in_reference.counted, in_candidate.counted])
            mine[:, here] = torch.minimum(mine[:, here], torch.stack([in_reference.first[0], in_candidate.first[1]]))
            theirs[:, slab.rows] = torch.minimum(
                theirs[:, slab.rows], torch.stack([in_reference.first[1], in_candidate.first[0]])
            )
    counted, own, other = (each.cpu().numpy() for each in (pairs[:, :-1], mine, theirs))
    return Memberships(counted[0], counted[1], *own.astype(np.int32), *other.astype(np.int32))
