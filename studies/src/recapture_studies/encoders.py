"""An encoder that remembers the vectors it made: several looks at the same texts cost one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import recapture as rc

from .study import Setup


def loading_options(encoding: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of `rc.resolve_encoder`, and the others, which are of `rc.encode`."""
    loading = {name: value for name, value in encoding.items() if name in ("pooling", "device", "offline")}
    return loading, {name: value for name, value in encoding.items() if name not in loading}


class RememberingEncoder:
    """The setup's encoder, which has learnt from the references if it learns; wherever an encoder is asked for."""

    cacheable = False  # the encoder inside keeps its vectors on disk

    def __init__(self, setup: Setup, references: Iterable[str]) -> None:
        loading, self._options = loading_options(setup.encoding)
        self._encoder = rc.resolve_encoder(setup.encoder, **loading).fit(list(references))
        self._vectors: dict[str, np.ndarray] = {}
        self.name = self._encoder.name

    def identity(self) -> dict[str, str]:
        return self._encoder.identity()

    def fit(self, texts: Sequence[str]) -> RememberingEncoder:
        return self

    def remember(self, texts: Iterable[str]) -> None:
        """Encode these together and forget all others."""
        different = list(dict.fromkeys(texts))
        vectors = rc.encode(different, self._encoder, **self._options)
        self._vectors = dict(zip(different, vectors, strict=True))

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._vectors |= zip(missing, rc.encode(missing, self._encoder, **self._options), strict=True)
        return np.stack([self._vectors[text] for text in texts])
