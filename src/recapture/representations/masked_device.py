"""Head vectors of masked tokens on a device that works by itself: whole batches are made ready, none is waited for.

A text's rows differ in their masks alone, so a text goes there once and its rows are made there. Rows of one length go
through the model together, so that none is filled up. What comes back is copied while the next batches run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .masked_model import MaskedModel
    from .pieces import Own, Pieces


_QUEUED = 8
"""Batches of which a device's queue is full, or nearly: the next calls would wait for it."""


class Windows(NamedTuple):
    """Pieces that go through the model together, and which of their text's own pieces are masked there in turn."""

    pieces: list[Pieces]
    text: np.ndarray
    """The how-manyth text each is of."""
    start: np.ndarray
    """The own piece of the text with which it begins."""
    first: np.ndarray
    last: np.ndarray
    """The text's own pieces from first up to last are masked here."""


class Launched:
    """Vectors of texts, one text after another, on a device that may still be at work on them."""

    def __init__(self, number: dict[Own, int], counts: np.ndarray, new: int, vectors: Any) -> None:
        import torch

        self.number = number
        """By its own pieces the how-manyth each text is."""
        self.counts = counts
        """How many pieces each text has."""
        self.starts = np.cumsum(counts) - counts
        """Where each text's vectors begin."""
        self.vectors = vectors
        """(tokens, width) tensor there"""
        self._new = new
        self._finite = on_its_way(torch.isfinite(vectors).all())
        # Texts that are new come first.
        self._here: Any = on_its_way(vectors[: counts[:new].sum()])
        self._event = marked(vectors)

    def wait(self) -> bool:
        """Until the vectors are there; whether all are numbers."""
        wait_for(self._event)
        return bool(self._finite)

    def arrived(self) -> bool:
        """Whether nobody would have to wait for the vectors."""
        return self._event is None or bool(self._event.query())

    def taken(self) -> dict[Own, np.ndarray]:
        """The vectors that the model made of texts that were new; nothing the second time."""
        if self._here is None:
            return {}
        here, self._here = self._here.numpy(), None
        starts, ends = self.starts.tolist(), (self.starts + self.counts).tolist()
        new = islice(zip(self.number, starts, ends, strict=True), self._new)
        # Copies: what the device wrote to is soon wanted for other vectors.
        return {own: here[start:end].copy() for own, start, end in new}


def launch(
    model: MaskedModel,
    new: Sequence[Own],
    windows: Windows,
    known: Mapping[Own, np.ndarray],
    flying: Mapping[Own, Launched],
    batch_tokens: int,
    meanwhile: Callable[[], None],
) -> Launched:
    """Vectors of all these texts on the model's device. new: those that go through the model, in these windows; known:
    vectors of others; flying: where the rest is; meanwhile: what to do once the device has work for a while."""
    import torch

    order = [*new, *known, *flying]
    number = {own: at for at, own in enumerate(order)}
    counts = np.array([len(own) for own in order], np.int64)
    starts = np.cumsum(counts) - counts
    device = torch.device(model.device)
    with model.computing():
        vectors = torch.empty((int(counts.sum()), model.width), dtype=torch.float32, device=device)
        mask = int(model.tokenizer.mask or 0)
        for at, (ids, owner, place, target) in enumerate(batches(windows, starts, batch_tokens, device)):
            if at == _QUEUED:
                meanwhile()
            masked = ids[owner]
            masked.scatter_(1, place[:, None], mask)
            vectors.index_copy_(0, target, model.head_tensor(masked, None, place))
        if known:
            values = there(np.concatenate([*known.values()]), device)
            first = int(counts[: len(new)].sum())
            vectors[first : first + len(values)] = values
        for earlier in dict.fromkeys(flying.values()):
            taken = [own for own in flying if flying[own] is earlier]
            to, source = (np.array([numbers[own] for own in taken]) for numbers in (number, earlier.number))
            places = np.stack([runs(starts[to], counts[to]), runs(earlier.starts[source], counts[to])])
            to_there, source_there = there(places, device)
            vectors.index_copy_(0, to_there, earlier.vectors[source_there])
        return Launched(number, counts, len(new), vectors)


def batches(
    windows: Windows, starts: np.ndarray, batch_tokens: int, device: Any
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Tensors (ids of windows, each row's window, its mask, where its vector goes): rows of one length, longest first.

    starts: where each text's vectors begin.
    """
    if not windows.pieces:
        return
    lengths = np.array([sum(map(len, piece)) for piece in windows.pieces], np.int64)
    order = np.argsort(-lengths, kind="stable")
    lengths, pieces = lengths[order], [windows.pieces[at] for at in order.tolist()]
    text, start, first, last = (each[order] for each in windows[1:])
    before = np.array([len(piece.before) for piece in pieces], np.int64)
    counts = last - first
    owner = np.repeat(np.arange(len(order)), counts)
    own = runs(first, counts)
    leaders = np.flatnonzero(np.diff(lengths, prepend=-1))  # the first window of each length
    leader = np.repeat(leaders, np.diff(leaders, append=len(order)))
    ids = np.fromiter(chain.from_iterable(chain.from_iterable(pieces)), np.int64, int(lengths.sum()))
    rows = [owner - leader[owner], own + (before - start)[owner], own + starts[text][owner]]
    # All of them go there together: memory from which a device can copy by itself is costly to get.
    flat = there(np.concatenate([ids, *rows]), device)
    table = flat[len(ids) :].view(3, -1)
    token_ends, row_ends = ([0, *np.cumsum(sizes).tolist()] for sizes in (lengths, counts))
    for begin, end in pairwise([*leaders.tolist(), len(order)]):
        length = int(lengths[begin])
        ids_there = flat[token_ends[begin] : token_ends[end]].view(end - begin, length)
        at_once = max(1, batch_tokens // max(1, length))
        for row in range(row_ends[begin], row_ends[end], at_once):
            window, place, target = table[:, row : min(row + at_once, row_ends[end])]
            yield ids_there, window, place, target


def runs(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Whole numbers in runs, one run after another: so many from each start on."""
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(counts.sum())


def there(array: np.ndarray, device: Any) -> Any:
    """A tensor on the device; this program goes on before it has arrived."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def on_its_way(tensor: Any) -> Any:
    """The tensor as it will be here once the device has come to this point: see `marked`."""
    import torch

    if tensor.device.type != "cuda":
        return tensor.clone()
    here = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return here.copy_(tensor, non_blocking=True)


def marked(tensor: Any) -> Any:
    """This point of the device's work, for `wait_for`."""
    import torch

    if tensor.device.type != "cuda":
        return None
    event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(tensor.device))
    return event


def wait_for(event: Any) -> None:
    if event is not None:
        event.synchronize()
