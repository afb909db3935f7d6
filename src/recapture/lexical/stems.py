"""Snowball stems; the stem of each word is computed once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..errors import InputError, nearest_names

_REMEMBERED = 200_000


class Stems:
    """A function from word to stem that remembers: by a Snowball language, by a function, or each word itself."""

    def __init__(self, stemmer: str | Callable[[str], str] | None) -> None:
        self._stem: Callable[[str], str] = _snowball(stemmer) if isinstance(stemmer, str) else stemmer or str
        self._known: dict[str, str] = {}
        self._one_at_a_time = threading.Lock()  # a Snowball stemmer keeps state while it works on a word

    def __call__(self, word: str) -> str:
        stem = self._known.get(word)
        if stem is None:
            with self._one_at_a_time:
                stem = self._stem(word)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[word] = stem
        return stem


def _snowball(language: str) -> Any:
    import snowballstemmer  # type: ignore[import-untyped]

    known = snowballstemmer.algorithms()
    if language not in known:
        raise InputError(f"there is no stemmer for {language!r}: {nearest_names(language, known)}")
    return snowballstemmer.stemmer(language).stemWord
