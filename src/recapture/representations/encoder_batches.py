"""Texts through a loaded sentence encoder without gaps.

A thread cuts the next texts into pieces while the model works on the last ones. Batches hold a number of tokens, not of
texts, and rows of like length, so that little is filled up. A GPU is given the next batch before the vectors of the
last one are fetched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import InputError, first_line
from ..geometry.devices import DeviceMemoryError, lacks_memory, within_memory
from .attention import ready_attention
from .batches import CHARACTERS, CPU_TOKENS, GPU_TOKENS, token_batches
from .known_words import TokenRows, cutter_of, token_rows
from .long_texts import LongTexts
from .pieces import Pieces, parts, plain_cutter

Given = TypeVar("Given")
Made = TypeVar("Made")

_BATCHES_AT_ONCE = 16
"""Texts of at most about so many batches are cut together: enough to sort them by their pieces."""
_IN_FLIGHT = 2
"""Batches that a GPU has been given while the vectors of an earlier one are fetched."""


class TextVectors(NamedTuple):
    """Some of the texts, by place, and a row for each."""

    places: np.ndarray
    vectors: np.ndarray


class _Portion(NamedTuple):
    """Texts that are cut together, and the place of the first one."""

    start: int
    texts: list[str]


class _Batch(NamedTuple):
    places: np.ndarray
    ids: Any
    """(rows, tokens of the longest), filled up."""
    lengths: Any


class _Cut(NamedTuple):
    batches: list[_Batch]
    long_places: np.ndarray
    long: list[Pieces]


class _Pending(NamedTuple):
    """Vectors on their way from the device."""

    places: np.ndarray
    vectors: Any
    ready: Any
    """An event on a GPU, else None."""


def made_ahead(make: Callable[[Given], Made], given: Iterable[Given]) -> Generator[Made, None, None]:
    """make(each), in order: a thread makes the next one while the caller uses the last."""
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(1) as thread:
        try:
            for each in given:
                waiting.append(thread.submit(make, each))
                if len(waiting) > 1:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for left in waiting:
                left.cancel()


class EncoderBatches:
    """A sentence-transformers model whose first step is a transformer with a fast tokenizer.

    limit: the most tokens of a text, special ones included; None: any number.
    long: what makes vectors of longer texts; None: they are cut.
    prompt, prompt_tokens: what stands before every text, and its tokens with the special ones before it.
    stand_in: what to encode in place of a text of which the tokenizer makes nothing; empty where there is none such.
    """

    def __init__(
        self,
        model: Any,
        name: str,
        *,
        limit: int | None,
        long: LongTexts | None,
        prompt: str,
        prompt_tokens: int,
        stand_in: str,
    ) -> None:
        self._model = model
        self._name = name
        self._limit = limit
        self._long = long
        self._prompt = prompt
        self._prompt_tokens = prompt_tokens
        self._stand_in = stand_in
        self._device = model.device
        self._budget = CPU_TOKENS if self._device.type == "cpu" else GPU_TOKENS
        tokenizer = model.tokenizer
        # A copy of its own, since threads that share an encoder would change the library's for each other.
        self._cutting_off = plain_cutter(tokenizer)
        if limit is not None:
            self._cutting_off.enable_truncation(limit, direction=tokenizer.truncation_side)
        cutter = plain_cutter(tokenizer)
        self._cutter = cutter_of(cutter)
        marked = cutter.encode("a")
        around = parts(marked.ids, marked.special_tokens_mask)
        self._before, self._behind = len(around.before), len(around.behind)
        self._segments = "token_type_ids" in tokenizer.model_input_names
        self._pad = tokenizer.pad_token_id or 0
        self._left = tokenizer.padding_side == "left"

    @staticmethod
    def fits(model: Any) -> bool:
        """Whether all that the library does with a text is known here; `agrees` makes sure."""
        first, tokenizer = model[0], getattr(model, "tokenizer", None)
        return (
            type(first).__name__ == "Transformer"
            and set(getattr(first, "modality_config", {"text": {}})) == {"text"}
            and bool(getattr(tokenizer, "is_fast", False))
            and hasattr(tokenizer, "backend_tokenizer")
        )

    def agrees(self, texts: list[str], expected: np.ndarray) -> bool:
        """Whether these texts get the vectors that the library gives them."""
        vectors = self.all(texts)
        if vectors.shape != expected.shape:
            return False
        return bool((np.abs(vectors - expected).max(axis=1) <= 1e-4 * np.abs(expected).max(axis=1)).all())

    def all(self, texts: Iterable[str]) -> np.ndarray:
        """One row per text."""
        return in_order(self.run(texts))

    def run(self, texts: Iterable[str], rows: int | None = None) -> Iterator[TextVectors]:
        """Vectors of all texts, in the order in which they are made; texts of like length should stand together.

        rows: the most texts, or windows of long texts, that go through the model together.
        """
        waiting: deque[_Pending] = deque()
        in_flight = 0 if self._device.type == "cpu" else _IN_FLIGHT
        # Closed at once, even while somebody looks at an error: else its thread would wait for as long.
        with closing(made_ahead(lambda part: self._cut(part, rows), self._portions(texts))) as ahead:
            for cut in ahead:
                if self._long is not None and cut.long:
                    windows = rows or max(1, self._budget // (self._limit or self._budget))
                    no_room = shortage(self._name, self._device, f"a text of {self._limit} tokens")
                    vectors = within_memory(partial(self._long.vectors, cut.long), windows, 1, no_room)
                    yield TextVectors(cut.long_places, vectors)
                for batch in cut.batches:
                    waiting.extend(self._started(batch))
                    while len(waiting) > in_flight:
                        yield _fetched(waiting.popleft())
        while waiting:
            yield _fetched(waiting.popleft())

    def _portions(self, texts: Iterable[str]) -> Iterator[_Portion]:
        taken: list[str] = []
        start = tokens = 0
        batches = 1  # few at first, so that the model begins soon
        for text in texts:
            taken.append(text)
            tokens += len(text) // CHARACTERS + 1
            if tokens >= batches * self._budget:
                yield _Portion(start, taken)
                start += len(taken)
                taken, tokens = [], 0
                batches = min(2 * batches, _BATCHES_AT_ONCE)
        if taken:
            yield _Portion(start, taken)

    def _cut(self, portion: _Portion, most: int | None) -> _Cut:
        given, tokens = self._in_tokens(portion.texts)
        beyond = tokens.lengths > (self._limit or np.inf)
        short, long = np.flatnonzero(~beyond), np.flatnonzero(beyond)
        batches: list[_Batch] = []
        pieces: list[Pieces] = []
        if len(long) and self._long is None:
            cut = self._cutting_off.encode_batch_fast([given[at] for at in long])
            # Apart, so that the batches of short texts are the same whatever is done with long ones.
            batches = self._batches(token_rows([each.ids for each in cut]), portion.start + long, most)
        elif len(long):
            pieces = [self._pieces(tokens.ids_of(at)) for at in long.tolist()]
        batches += self._batches(tokens.chosen(short), portion.start + short, most)
        return _Cut(batches, portion.start + long[: len(pieces)], pieces)

    def _in_tokens(self, texts: list[str]) -> tuple[list[str], TokenRows]:
        """What the model is to read, prompt included, and its tokens."""
        if self._stand_in:
            tokens = self._cutter(texts)
            if tokens.lengths.all() and not self._prompt:
                return texts, tokens
            texts = with_stand_in(texts, tokens.lengths.tolist(), self._stand_in)
        given = [self._prompt + text for text in texts] if self._prompt else texts
        tokens = self._cutter(given)
        if not tokens.lengths.all():
            raise no_token_at_all(self._name)
        return given, tokens

    def _pieces(self, ids: list[int]) -> Pieces:
        behind = len(ids) - self._behind
        return Pieces(tuple(ids[: self._before]), tuple(ids[self._before : behind]), tuple(ids[behind:]))

    def _batches(self, tokens: TokenRows, places: np.ndarray, most: int | None) -> list[_Batch]:
        return [
            self._batch(tokens.chosen(rows), places[rows]) for rows in token_batches(tokens.lengths, self._budget, most)
        ]

    def _batch(self, tokens: TokenRows, places: np.ndarray) -> _Batch:
        import torch

        pinned = self._device.type == "cuda"  # memory that the GPU reads by itself, while the processor goes on
        width = int(tokens.lengths[0])
        ids = torch.empty((len(places), width), dtype=torch.int32, pin_memory=pinned)
        lengths = torch.empty(len(places), dtype=torch.int64, pin_memory=pinned)
        lengths.numpy()[:] = tokens.lengths
        columns, own = np.arange(width), tokens.lengths[:, None]
        real = self._real(columns, own, width)
        at = tokens.starts[:, None] + columns - (width - own if self._left else 0)
        ids.numpy()[:] = np.where(real, tokens.ids.take(at, mode="clip"), self._pad)
        return _Batch(places, ids, lengths)

    def _real(self, places: Any, lengths: Any, width: int) -> Any:
        """Which places hold tokens, of arrays and of tensors."""
        return places >= width - lengths if self._left else places < lengths

    def _started(self, batch: _Batch) -> list[_Pending]:
        """The batch's vectors, or those of its halves where the GPU has too little memory for the whole."""
        import torch

        count = len(batch.places)
        try:
            return [self._forward(batch)]
        except RuntimeError as error:
            if not lacks_memory(error):
                raise
            if count == 1:
                no_room = shortage(self._name, self._device, f"a text of {batch.ids.shape[1]} tokens")
                raise DeviceMemoryError(f"{no_room} ({first_line(error)})") from None
        torch.cuda.empty_cache()
        self._budget = max(1, min(self._budget, batch.ids.numel()) // 2)
        halves = [slice(0, count // 2), slice(count // 2, count)]
        return [
            pending
            for half in halves
            for pending in self._started(_Batch(batch.places[half], batch.ids[half], batch.lengths[half]))
        ]

    def _forward(self, batch: _Batch) -> _Pending:
        import torch

        with torch.inference_mode(), ready_attention():
            ids, lengths = (tensor.to(self._device, non_blocking=True) for tensor in (batch.ids, batch.lengths))
            width = ids.shape[1]
            real = self._real(torch.arange(width, device=self._device), lengths[:, None], width)
            features: dict[str, Any] = {"input_ids": ids.long(), "attention_mask": real.long(), "modality": "text"}
            if self._segments:
                features["token_type_ids"] = torch.zeros_like(features["input_ids"])
            if self._prompt:
                features["prompt_length"] = self._prompt_tokens
            for module in self._model:
                features = module(features)
            vectors = features["sentence_embedding"].float()[:, : getattr(self._model, "truncate_dim", None)]
            if self._device.type != "cuda":
                return _Pending(batch.places, vectors.cpu(), None)
            there = torch.empty(vectors.shape, dtype=vectors.dtype, pin_memory=True)
            there.copy_(vectors, non_blocking=True)
            cuda: Any = torch.cuda
            ready = cuda.Event()
            ready.record(cuda.current_stream(self._device))
            return _Pending(batch.places, there, ready)


def with_stand_in(texts: Sequence[str], tokens: Sequence[int], stand_in: str) -> list[str]:
    """Texts, but another one for each of which a tokenizer makes nothing. tokens: how many it makes of each."""
    return [text if many else stand_in for text, many in zip(texts, tokens, strict=True)]


def no_token_at_all(name: str) -> InputError:
    return InputError(
        f"the encoder {name} makes no token of an empty text, nor of some others, and has none that could stand for "
        "them: leave such texts out or choose another encoder"
    )


def shortage(name: str, device: Any, what: str) -> str:
    """What to say where a device has no room for what an encoder makes of a single text."""
    return f"the encoder {name} needs more memory than {device} has for {what}: choose another device"


def in_order(made: Iterable[TextVectors]) -> np.ndarray:
    """A row per text, in the order of the texts."""
    places, vectors = zip(*made, strict=True)
    return np.concatenate(vectors)[np.argsort(np.concatenate(places))]


def _fetched(pending: _Pending) -> TextVectors:
    if pending.ready is not None:
        pending.ready.synchronize()
    return TextVectors(pending.places, pending.vectors.numpy())
