"""Masked language models: for every token of a text, what the model would put in its place.

One row per real token, with that token masked; the vocabulary is looked at only in that place. What is kept of a token
is the head's vector before the vocabulary projection: every temperature and weighting follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..progress import Progress
from .batches import CPU_TOKENS, GPU_TOKENS, token_batches
from .cache import VectorCache
from .kept import Kept
from .masked_model import MaskedModel, find_masked_model
from .pieces import Pieces
from .windows import windows

_KEPT_BYTES = 256 << 20
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
    """Head vectors of texts by one model, each distinct text once: from memory, from disk, or from the model."""

    def __init__(
        self,
        model: str | None = None,
        *,
        device: str | None = None,
        batch_tokens: int | None = None,
        offline: bool | None = None,
        cache: Any = True,
    ) -> None:
        self.model: MaskedModel = find_masked_model(model, device=device, offline=offline)
        self._batch_tokens = batch_tokens
        self._kept: Kept[Masked] = Kept(lambda made: made.vectors.nbytes + made.ids.nbytes, _KEPT_BYTES)
        self._pieces: dict[str, Pieces] = {}
        self._disk = None
        if cache is not False:
            self._disk = cache if isinstance(cache, VectorCache) else VectorCache(None if cache is True else cache)
        self.windowed: set[str] = set()
        """Texts longer than the model takes, which went through it in overlapping windows."""

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        new = [text for text in dict.fromkeys(texts) if text not in self._pieces]
        if new:
            self._pieces.update(zip(new, self.model.tokenizer.pieces(new), strict=True))
        return [self._pieces[text] for text in texts]

    def ensure(self, texts: Sequence[str]) -> None:
        """Have the vectors of all these texts at hand."""
        distinct = len(set(texts))
        missing = sorted(self._kept.missing(texts), key=lambda text: (len(text), text))
        if missing:
            for text, piece in zip(missing, self.pieces(missing), strict=True):
                if len(piece.own) > self._room(piece):
                    self.windowed.add(text)
            self._make(self._recall(missing))
            self._kept.make_room(distinct)

    def __getitem__(self, text: str) -> Masked:
        return self._kept[text]

    def _room(self, piece: Pieces) -> int:
        return self.model.room - len(piece.before) - len(piece.behind)

    def _recall(self, texts: list[str]) -> list[str]:
        """Take what the disk has; the texts it has not."""
        if self._disk is None:
            return texts
        absent = []
        for text, vectors in zip(texts, self._disk.get_arrays(self.model.identity(), texts), strict=True):
            ids = np.array(self._pieces[text].own, np.int64)
            if vectors is None or len(vectors) != len(ids):
                absent.append(text)
            else:
                self._kept.put(text, Masked(ids, vectors))
        return absent

    def _make(self, texts: list[str]) -> None:
        total = sum(len(self._pieces[text].own) for text in texts)
        with Progress(f"masking with {self.model.name}", total, "token") as progress:
            for some in self._portions(texts):
                rows = [row for at, text in enumerate(some) for row in self._rows(at, self._pieces[text])]
                made = [np.empty((len(self._pieces[text].own), self.model.width), np.float32) for text in some]
                budget = self._batch_tokens or (CPU_TOKENS if self.model.on_cpu else GPU_TOKENS)
                for batch in token_batches([len(row.ids) for row in rows], budget):
                    chosen = [rows[at] for at in batch]
                    vectors = self.model.head_vectors([row.ids for row in chosen], [row.place for row in chosen])
                    for row, vector in zip(chosen, vectors, strict=True):
                        made[row.text][row.piece] = vector
                    progress.advance(len(batch))
                for text, vectors in zip(some, made, strict=True):
                    self._kept.put(text, Masked(np.array(self._pieces[text].own, np.int64), vectors))
                if self._disk is not None:
                    self._disk.put_arrays(self.model.identity(), some, made)

    def _portions(self, texts: list[str]) -> list[list[str]]:
        """Texts that are made, and written to disk, together: what an interrupted run has done is not lost."""
        portions: list[list[str]] = [[]]
        count = 0
        for text in texts:
            if portions[-1] and count > _ROWS_AT_ONCE:
                portions.append([])
                count = 0
            portions[-1].append(text)
            count += len(self._pieces[text].own)
        return portions

    def _rows(self, at: int, piece: Pieces) -> list[_Row]:
        rows = []
        before = len(piece.before)
        for window in windows(len(piece.own), self._room(piece)):
            ids = (*piece.before, *piece.own[window.start : window.stop], *piece.behind)
            rows += [_Row(at, place, ids, before + place - window.start) for place in range(window.first, window.last)]
        return rows
