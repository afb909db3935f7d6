"""Masked language models: for every token of a text, what the model would put in its place.

One row per real token, with that token masked; the vocabulary is looked at only in that place. What is kept of a token
is the head's vector before the vocabulary projection: every temperature and weighting follows from it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..geometry.devices import accelerator_beside, tried_with, within_memory
from ..geometry.parallel import blocks
from ..progress import Progress
from .batches import GPU_TOKENS, token_batches
from .kept import Kept
from .masked_device import Launched, Windows, launch
from .masked_model import PURPOSE, MaskedModel, find_masked_model
from .pieces import Own, Pieces, room_for
from .vector_cache import VectorCache
from .windows import windows

Found = TypeVar("Found")

_KEPT_BYTES = 256 << 20
_CPU_TOKENS = 2048
"""Enough to keep the cores busy; what a batch makes on its way through a layer still fits their caches."""
_ROWS_AT_ONCE = 4096
"""Rows whose batches are made together, and kept on disk together."""


class Masked(NamedTuple):
    """One text: its own pieces and, for each, the head's vector where it is masked."""

    ids: np.ndarray
    vectors: np.ndarray
    """(pieces, width) float32"""


class _Row(NamedTuple):
    text: int
    piece: int
    ids: tuple[int, ...]
    place: int
    """Where the mask goes."""


class MaskedStore:
    """Head vectors of texts by one model, each distinct text once: from memory, from disk, or from the model.

    Texts with the same pieces are the same text to the model, so vectors are kept by pieces.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        device: str | None = None,
        dtype: str | None = None,
        batch_tokens: int | None = None,
        offline: bool | None = None,
        cache: Any = True,
    ) -> None:
        self.model: MaskedModel = find_masked_model(model, device=device, dtype=dtype, offline=offline)
        self._batch_tokens = batch_tokens
        self._kept: Kept[Own, np.ndarray] = Kept(lambda vectors: vectors.nbytes, _KEPT_BYTES)
        self._pieces: dict[str, Pieces] = {}
        self._disk = None
        if cache is not False:
            self._disk = cache if isinstance(cache, VectorCache) else VectorCache(None if cache is True else cache)
        self._flying: list[Launched] = []
        self._given_up = False
        self.windowed: set[str] = set()
        """Texts longer than the model takes, which went through it in overlapping windows."""

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        new = [text for text in dict.fromkeys(texts) if text not in self._pieces]
        if new:
            self._pieces.update(zip(new, self.model.tokenizer.pieces(new), strict=True))
        return [self._pieces[text] for text in texts]

    @property
    def accelerator(self) -> str | None:
        """torch's name of the device that masks and compares many texts at once; None: the processor, one by one."""
        if self._given_up or importlib.util.find_spec("torch") is None:  # without it whoever loads says so
            return None
        return accelerator_beside(self.model.device)

    def compared_there(self, work: Callable[[], Found]) -> Found | None:
        """work(), which launches texts on the accelerator. None, so that texts are compared one by one: there is none,
        or nobody asked for one whose memory does not suffice; then it is not tried again.
        """
        if self.accelerator is None:
            return None
        before = len(self._flying)
        found = tried_with(self.model.wanted_device, work)
        if found is None:
            self._given_up = True
            del self._flying[before:]
        return found

    def computed(self, work: Callable[[], Found]) -> Found:
        """work() by the model, on the processor where nobody asked for a device whose memory does not suffice."""
        while (found := tried_with(self.model.wanted_device, work)) is None:
            self.model.leave_device()
        return found

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def room(self) -> int:
        """The most tokens the model takes at once, special ones included."""
        return self.model.room

    def unknown_share(self, texts: Iterable[str]) -> float:
        """Share of unknown pieces in those of the texts that were cut."""
        known = [self._pieces[text] for text in texts if text in self._pieces]
        return self.model.tokenizer.unknown_share(known) if known else 0.0

    def ensure(self, texts: Sequence[str]) -> None:
        """Make sure that the vectors of all these texts are in memory."""
        cut = self._cut(texts)
        missing = sorted(self._kept.missing(list(cut)), key=lambda own: (len(own), _written(own)))
        if missing:
            self._make(self._recall({own: cut[own] for own in missing}))
            self._kept.make_room(len(cut))

    def launch(self, texts: Sequence[str]) -> Launched:
        """Vectors of all these texts on the model's device, which may still be at work on them; `land` brings them.

        What an earlier launch has not brought yet is taken from there.
        """
        cut = self._cut(texts)
        missing = self._kept.missing(list(cut))
        flying = {own: earlier for earlier in self._flying for own in missing if own in earlier.number}
        new = self._recall({own: cut[own] for own in missing if own not in flying})
        known = {own: self._kept[own] for own in cut if own not in new and own not in flying}
        parts = self.as_windows(new.values())
        launched = within_memory(
            lambda tokens: launch(self.model, list(new), parts, known, flying, tokens, self._put_away),
            self._batch_tokens or GPU_TOKENS,
            1,
        )
        self._flying.append(launched)
        return launched

    def land(self, launched: Launched) -> bool:
        """Wait for a launch and keep its vectors, here and on disk; False: some are no numbers, and none is kept."""
        self._flying.remove(launched)
        return self._keep(launched)

    def _put_away(self) -> None:
        """Keep what has arrived, for which nobody has to wait."""
        for launched in self._flying:
            if launched.arrived():
                self._keep(launched)

    def _keep(self, launched: Launched) -> bool:
        fine = launched.wait()
        if fine:
            made = launched.taken()
            for own in self._kept.missing(list(made)):
                self._kept.put(own, made[own])
            if self._disk is not None and made:
                self._disk.put_arrays(self.model.identity(), [*map(_written, made)], [*made.values()])
            self._kept.make_room(len(launched.number))
        return fine

    def _cut(self, texts: Sequence[str]) -> dict[Own, Pieces]:
        """The pieces of these texts, by those that are their own."""
        cut: dict[Own, Pieces] = {}
        for text, piece in zip(texts, self.pieces(texts), strict=True):
            cut.setdefault(piece.own, piece)
            if self._is_long(piece):
                self.windowed.add(text)
        return cut

    def as_windows(self, texts: Iterable[Pieces]) -> Windows:
        """How these texts go through the model: long ones in several windows, others as they are."""
        pieces, places = [], []
        for text, piece in enumerate(texts):
            if self._is_long(piece):
                for window in windows(len(piece.own), self._room(piece)):
                    pieces.append(piece._replace(own=piece.own[window.start : window.stop]))
                    places.append((text, window.start, window.first, window.last))
            else:
                pieces.append(piece)
                places.append((text, 0, 0, len(piece.own)))
        return Windows(pieces, *np.array(places, np.int64).reshape(-1, 4).T)

    def _is_long(self, piece: Pieces) -> bool:
        return len(piece.before) + len(piece.own) + len(piece.behind) > self.model.room

    def hold(self, texts: Sequence[str]) -> None:
        """Keep the vectors of these texts, made already or not, until they are released: nothing is masked twice."""
        self._kept.hold(piece.own for piece in self.pieces(texts))

    def release(self, texts: Sequence[str]) -> None:
        """Undo `hold` once for each of them."""
        self._kept.release(piece.own for piece in self.pieces(texts))

    def __getitem__(self, text: str) -> Masked:
        own = self._pieces[text].own
        return Masked(np.array(own, np.int64), self._kept[own])

    def _room(self, piece: Pieces) -> int:
        return room_for(piece, self.model.room, f"{PURPOSE} {self.model.name}")

    def _recall(self, wanted: dict[Own, Pieces]) -> dict[Own, Pieces]:
        """Take what the disk has; returns what it does not have."""
        if self._disk is None:
            return wanted
        absent = {}
        on_disk = self._disk.get_arrays(self.model.identity(), [*map(_written, wanted)])
        for (own, piece), vectors in zip(wanted.items(), on_disk, strict=True):
            if vectors is None or len(vectors) != len(own):
                absent[own] = piece
            else:
                self._kept.put(own, vectors)
        return absent

    def _make(self, wanted: dict[Own, Pieces]) -> None:
        total = sum(map(len, wanted))
        with Progress(f"masking with {self.model.name}", total, "token") as progress:
            for texts in _portions(wanted):
                rows = [row for at, own in enumerate(texts) for row in self._rows(at, wanted[own])]
                arrays = [np.empty((len(own), self.model.width), np.float32) for own in texts]
                for chosen in self._batches(rows):
                    for row, vector in zip(chosen, self.computed(partial(self._head_vectors, chosen)), strict=True):
                        arrays[row.text][row.piece] = vector
                    progress.advance(len(chosen))
                for own, vectors in zip(texts, arrays, strict=True):
                    self._kept.put(own, vectors)
                if self._disk is not None:
                    self._disk.put_arrays(self.model.identity(), [*map(_written, texts)], arrays)

    def _head_vectors(self, rows: list[_Row]) -> np.ndarray:
        """(rows, width), fewer rows at a time where a device's memory does not suffice."""

        def made(at_once: int) -> np.ndarray:
            parts = [rows[part] for part in blocks(len(rows), at_once)]
            return np.concatenate(
                [self.model.head_vectors([row.ids for row in part], [row.place for row in part]) for part in parts]
            )

        return within_memory(made, len(rows), 1)

    def _batches(self, rows: list[_Row]) -> Iterator[list[_Row]]:
        """Rows that go through the model together: on a CPU only rows of one length, so that none needs padding
        (a text has as many rows as tokens, so there are enough of them)."""
        if not self.model.on_cpu:
            groups = [rows]
        else:
            groups = [list(group) for _, group in groupby(sorted(rows, key=_length), _length)]
        budget = self._batch_tokens or (_CPU_TOKENS if self.model.on_cpu else GPU_TOKENS)
        for group in groups:
            for batch in token_batches([len(row.ids) for row in group], budget):
                yield [group[at] for at in batch]

    def _rows(self, at: int, piece: Pieces) -> list[_Row]:
        rows = []
        before = len(piece.before)
        for window in windows(len(piece.own), self._room(piece)):
            ids = (*piece.before, *piece.own[window.start : window.stop], *piece.behind)
            rows += [_Row(at, place, ids, before + place - window.start) for place in range(window.first, window.last)]
        return rows


def _written(own: Own) -> str:
    """What a text goes by on disk."""
    return " ".join(map(str, own))


def _length(row: _Row) -> int:
    return len(row.ids)


def _portions(wanted: Iterable[Own]) -> Iterator[list[Own]]:
    """Texts that are made, and written to disk, together: what an interrupted run has done is not lost."""
    portion: list[Own] = []
    count = 0
    for own in wanted:
        if portion and count > _ROWS_AT_ONCE:
            yield portion
            portion, count = [], 0
        portion.append(own)
        count += len(own)
    if portion:
        yield portion
