"""Stems for METEOR; the stem of each word is computed once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..declarations import installed_version
from ..errors import InputError, nearest_names, shown
from .english_stems import english_stem

_REMEMBERED = 200_000
ENGLISH = "english"


class Stems(dict[str, str]):
    """From word to stem, by a language, by a function, or each word itself; a stem is made when it is first asked for.

    English stems are METEOR's own. Those of other languages are of the installed version of snowballstemmer.
    """

    def __init__(self, stemmer: str | Callable[[str], str] | None) -> None:
        super().__init__()
        if not (stemmer is None or isinstance(stemmer, str) or callable(stemmer)):
            raise InputError(f"stemmer must be a language or a function from a word to its stem, not {shown(stemmer)}")
        self._stem: Callable[[str], str] = _of_language(stemmer) if isinstance(stemmer, str) else stemmer or str
        self._one_at_a_time = threading.Lock()  # a Snowball stemmer keeps state while it works on a word

    def __missing__(self, word: str) -> str:
        with self._one_at_a_time:
            stem = self._stem(word)
        if len(self) >= _REMEMBERED:
            self.clear()
        self[word] = stem
        return stem


def stemmer_name(language: str) -> str:
    """A language as signatures show it: with the version its stems depend on."""
    return language if language == ENGLISH else f"{language}, snowballstemmer {installed_version('snowballstemmer')}"


def _of_language(language: str) -> Any:
    if language == ENGLISH:
        return english_stem
    try:
        import snowballstemmer  # type: ignore[import-untyped]
    except ImportError:
        near = nearest_names(language, [ENGLISH])
        hint = f"; {near}" if near.startswith("did you mean") else ""
        raise InputError(
            f"stems of {language!r} need a package that is not installed (english needs none): "
            f'pip install "recapture[stems]"{hint}'
        ) from None
    known = {ENGLISH, *snowballstemmer.algorithms()}
    if language not in known:
        raise InputError(f"there is no stemmer for {shown(language)}: {nearest_names(language, known)}")
    return snowballstemmer.stemmer(language).stemWord
