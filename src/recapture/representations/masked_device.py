"""Head vectors of masked tokens on a device that works by itself: whole batches are made ready, none is waited for.

A text's rows differ in their masks alone, so a text goes there once and its rows are made there. Rows of one length go
through the model together, so that none is filled up. What comes back is copied while the next batches run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .masked_model import MaskedModel
    from .pieces import Pieces


class WindowRows(NamedTuple):
    """Pieces that go through the model together, and which of them are masked in turn."""

    ids: tuple[int, ...]
    first: int
    last: int
    """The text's own pieces from first up to last are masked here."""
    shift: int
    """From a text's own piece to its place in the row."""


class Launched:
    """Vectors of texts, by key, on a device that may still be at work on them."""

    def __init__(self, rows: dict[str, slice], own: dict[str, tuple[int, ...]], new: list[str], vectors: Any) -> None:
        import torch

        self.rows = rows
        """Where each text's vectors are."""
        self.own = own
        self.vectors = vectors
        """(tokens, width) tensor there"""
        self._new = new
        count = sum(rows[key].stop - rows[key].start for key in new)
        self._finite = on_its_way(torch.isfinite(vectors).all())
        # Texts that are new come first.
        self._here = on_its_way(vectors[:count])
        self._event = marked(vectors)

    def wait(self) -> bool:
        """Until the vectors are there; whether all are numbers."""
        wait_for(self._event)
        return bool(self._finite)

    def made(self) -> dict[str, np.ndarray]:
        """The vectors that the model made of texts that were new."""
        here: np.ndarray = self._here.numpy()
        # Copies: what the device wrote to is soon wanted for other vectors.
        return {key: here[self.rows[key]].copy() for key in self._new}


def launch(
    model: MaskedModel,
    texts: Mapping[str, Pieces],
    new: Mapping[str, Sequence[WindowRows]],
    known: Mapping[str, np.ndarray],
    flying: Sequence[Launched],
    batch_tokens: int,
) -> Launched:
    """Vectors of all texts on the model's device. new: those that go through the model; known: vectors of others; the
    rest is in `flying`."""
    import torch

    order = [*new, *known, *(key for key in texts if key not in new and key not in known)]
    ends = np.cumsum([0, *(len(texts[key].own) for key in order)]).tolist()
    rows = {key: slice(start, end) for key, start, end in zip(order, ends, ends[1:], strict=False)}
    device = torch.device(model.device)
    with model.computing():
        vectors = torch.empty((ends[-1], model.width), dtype=torch.float32, device=device)
        mask = int(model.tokenizer.mask or 0)
        for ids, owner, place, target in _batches(new, rows, batch_tokens, device):
            masked = ids[owner]
            masked.scatter_(1, place[:, None], mask)
            vectors.index_copy_(0, target, model.head_tensor(masked, None, place))
        if known:
            values = there(np.concatenate([*known.values()]), device)
            first = ends[len(new)]
            vectors[first : first + len(values)] = values
        for key in order[len(new) + len(known) :]:
            source = next(earlier for earlier in flying if key in earlier.rows)
            vectors[rows[key]] = source.vectors[source.rows[key]]
        return Launched(rows, {key: texts[key].own for key in order}, list(new), vectors)


def _batches(
    new: Mapping[str, Sequence[WindowRows]], rows: Mapping[str, slice], batch_tokens: int, device: Any
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Tensors (ids of texts, each row's text, its mask, where its vector goes): rows of one length, longest first."""
    by_length: dict[int, list[tuple[str, WindowRows]]] = {}
    for key, parts in new.items():
        for part in parts:
            by_length.setdefault(len(part.ids), []).append((key, part))
    # All of them go there together: memory from which a device can copy by itself is costly to get.
    arrays = []
    shapes = []
    for length in sorted(by_length, reverse=True):
        listed = by_length[length]
        first = np.array([part.first for _, part in listed])
        counts = np.array([part.last for _, part in listed]) - first
        owner = np.repeat(np.arange(len(listed)), counts)
        # The how-manyth masked piece of its window each row is.
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[owner]
        shift = np.array([part.shift for _, part in listed])
        start = np.array([rows[key].start for key, _ in listed])
        arrays.append(np.array([part.ids for _, part in listed], np.int64).ravel())
        arrays.append(np.stack([owner, within + shift[owner], within + start[owner]]).astype(np.int64).ravel())
        shapes.append((len(listed), length, len(owner)))
    if not arrays:
        return
    flat = there(np.concatenate(arrays), device)
    done = 0
    for texts, length, count in shapes:
        ids = flat[done : done + texts * length].view(texts, length)
        table = flat[done + texts * length : done + texts * length + 3 * count].view(3, count)
        done += texts * length + 3 * count
        at_once = max(1, batch_tokens // max(1, length))
        for begin in range(0, count, at_once):
            owner_there, place, target = table[:, begin : begin + at_once]
            yield ids, owner_there, place, target


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
