"""What the metrics of one run have in common: each model loaded once, each text encoded once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from ..representations.masked import MaskedStore
    from ..representations.words import WordStore


class Shared:
    """Models by name, and what they have made of the texts so far. Nothing is loaded before it is needed.

    encoder: the default of metrics on word vectors; model: the default masked language model; batch_tokens: how many
    tokens go through a model at once; the rest as for `encode`.
    """

    def __init__(
        self,
        encoder: str | os.PathLike[str] | None = None,
        model: str | os.PathLike[str] | None = None,
        *,
        device: str | None = None,
        batch_tokens: int | None = None,
        offline: bool | None = None,
        cache: Any = True,
    ) -> None:
        if batch_tokens is not None and (isinstance(batch_tokens, bool) or not isinstance(batch_tokens, int)):
            raise InputError(f"batch_tokens must be a whole number, not {batch_tokens!r}")
        if batch_tokens is not None and batch_tokens < 1:
            raise InputError(f"batch_tokens must be above zero, not {batch_tokens}")
        self._encoder = encoder
        self._model = model
        self._options: dict[str, Any] = {"device": device, "batch_tokens": batch_tokens, "offline": offline}
        self._cache = cache
        self._words: dict[str, WordStore] = {}
        self._masked: dict[str, MaskedStore] = {}

    def words(self, encoder: str | os.PathLike[str] | None = None) -> WordStore:
        """Word-piece vectors by one encoder; say which layers with `.want` before the first text is encoded."""
        from ..representations.words import WordStore

        name = _name(self._encoder if encoder is None else encoder)
        if name not in self._words:
            self._words[name] = WordStore(name or None, **self._options)
        return self._words[name]

    def masked(self, model: str | os.PathLike[str] | None = None) -> MaskedStore:
        """Head vectors of masked tokens by one masked language model."""
        from ..representations.masked import MaskedStore

        name = _name(self._model if model is None else model)
        if name not in self._masked:
            self._masked[name] = MaskedStore(name or None, **self._options, cache=self._cache)
        return self._masked[name]


def _name(given: str | os.PathLike[str] | None) -> str:
    if given is None:
        return ""
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(f"a model is a name or a folder, not {given!r}")
    return str(os.path.abspath(os.path.expanduser(given))) if isinstance(given, os.PathLike) else given  # noqa: PTH100, PTH111
