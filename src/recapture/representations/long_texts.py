"""One vector of a text that is longer than a sentence encoder takes at once.

The text goes through the model in overlapping windows, each between the special tokens that a short text would have.
Every piece is kept once, from the window that shows most around it; of the special tokens those before the text are
kept from the first window and those behind it from the last, so that a text counts the same tokens whether it needs
windows or not. What the pooling does with the kept tokens:

- mean (also divided by the root of their number): the mean of all kept tokens;
- max: their maximum;
- all others (first token, last token, weights by place, or a model that makes one vector itself): the windows' vectors,
  averaged by the number of pieces kept from each.

Later steps of the model, such as a dense layer or the step to length 1, come after that, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .attention import ready_attention
from .pieces import Pieces
from .windows import windows


class _WindowRow(NamedTuple):
    """One window on its way through the model."""

    text: int
    ids: tuple[int, ...]
    kept: slice
    own: int
    """Pieces of the text among those kept."""


class _Pooled:
    """What has been seen of one text so far."""

    def __init__(self) -> None:
        self.total: Any = 0.0
        self.tokens = 0
        self.largest: Any = -np.inf
        self.averaged: Any = 0.0
        self.own = 0


class LongTexts:
    """Vectors of long texts by a loaded sentence-transformers model.

    poolings: the modes that the model's pooling joins; empty where it has no such step.
    prompt: tokens at the start of every text that belong to a prompt, the special tokens before it included; `pooled`
    says whether they have a part in the vector.
    """

    def __init__(
        self, model: Any, limit: int, poolings: Sequence[str], segments: bool, prompt: int = 0, pooled: bool = True
    ) -> None:
        self._model = model
        self._limit = limit
        self._poolings = poolings
        self._segments = segments
        self._prompt = prompt
        self._pooled = pooled

    def vectors(self, texts: Sequence[Pieces], rows: int) -> np.ndarray:
        """One row per text, all beyond the limit; at most `rows` windows go through the model together."""
        import torch

        seen = [_Pooled() for _ in texts]
        waiting: list[_WindowRow] = []
        steps = 0
        with torch.inference_mode(), ready_attention():
            for row in self._rows(texts):
                waiting.append(row)
                if len(waiting) == rows:
                    steps = self._forward(waiting, seen)
                    waiting = []
            if waiting:
                steps = self._forward(waiting, seen)
            pooled = np.stack([self._joined(text) for text in seen]).astype(np.float32)
            features = {"sentence_embedding": torch.from_numpy(pooled).to(self._model.device)}
            for module in list(self._model)[steps:]:
                features = module(features)
            vectors: np.ndarray = features["sentence_embedding"].float().cpu().numpy()
        return vectors[:, : getattr(self._model, "truncate_dim", None)]

    def _rows(self, texts: Sequence[Pieces]) -> Iterator[_WindowRow]:
        for number, text in enumerate(texts):
            prompt = max(0, self._prompt - len(text.before))
            before, own = (*text.before, *text.own[:prompt]), text.own[prompt:]
            parts = windows(len(own), self._limit - len(before) - len(text.behind))
            for part in parts:
                first, last = (len(before) + place - part.start for place in (part.first, part.last))
                if part is parts[0]:
                    first = 0 if self._pooled else len(before)
                if part is parts[-1]:
                    last += len(text.behind)
                ids = (*before, *own[part.start : part.stop], *text.behind)
                yield _WindowRow(number, ids, slice(first, last), part.last - part.first)

    def _forward(self, rows: Sequence[_WindowRow], seen: Sequence[_Pooled]) -> int:
        """Adds windows to what has been seen of their texts; how many steps of the model made one vector of each."""
        import torch

        # All windows are as long as the limit: nothing has to be filled up.
        ids = torch.tensor([row.ids for row in rows], device=self._model.device)
        features: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "modality": "text"}
        if self._segments:
            features["token_type_ids"] = torch.zeros_like(ids)
        if self._prompt:
            features["prompt_length"] = self._prompt
        tokens: Any = None
        steps = 0
        for module in self._model:
            if type(module).__name__ == "Pooling":
                tokens = features["token_embeddings"]
            features = module(features)
            steps += 1
            if "sentence_embedding" in features:
                break
        for row, vector in zip(rows, features["sentence_embedding"].cpu().double().numpy(), strict=True):
            seen[row.text].averaged += row.own * vector
            seen[row.text].own += row.own
        if tokens is not None:
            dropped = np.ones((len(rows), self._limit, 1), bool)
            for number, row in enumerate(rows):
                dropped[number, row.kept] = False
            mask = torch.from_numpy(dropped).to(tokens.device)
            totals = tokens.masked_fill(mask, 0).sum(1).cpu().double().numpy()
            largest = tokens.masked_fill(mask, -torch.inf).amax(1).cpu().numpy()
            for number, row in enumerate(rows):
                text = seen[row.text]
                text.total += totals[number]
                text.tokens += row.kept.stop - row.kept.start
                text.largest = np.maximum(text.largest, largest[number])
        return steps

    def _joined(self, text: _Pooled) -> np.ndarray:
        averaged: np.ndarray = text.averaged / text.own
        if not text.tokens:
            return averaged
        own = np.split(averaged, len(self._poolings))
        by_pooling = {
            "mean": text.total / text.tokens,
            "mean_sqrt_len_tokens": text.total / np.sqrt(text.tokens),
            "max": text.largest,
        }
        return np.concatenate([by_pooling.get(mode, own[at]) for at, mode in enumerate(self._poolings)])
