"""English function words: words that have little meaning of their own, such as articles and prepositions.

METEOR's authors take every word that makes up more than a thousandth of a large corpus. This list has those of them, in
running text of several kinds, that belong to closed classes, with what contractions leave behind and all usual marks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..errors import InputError, shown
from ..texts.reading import Source, without_line_end

_DETERMINERS = "a an the this that these some any no all other one"
_PRONOUNS = "i my you he him his she her it its we our they them their who which what there"
_PREPOSITIONS = "of to in on at by for with from into up out over about as than after"
_CONJUNCTIONS = "and or but so if because when"
_AUXILIARIES = "is are was were be been have has had do will would can could"
_ADVERBS = "not also just more"
_REMAINS_OF_CONTRACTIONS = "'s 't 're 've 'll 'd 'm n't s t"
_MARKS = ". , : ; ! ? ' \" ( ) [ ] { } - -- … ... / $ – — ‘ ’ “ ” -lrb- -rrb-"

FUNCTION_WORDS = frozenset(
    " ".join(
        (
            *(_DETERMINERS, _PRONOUNS, _PREPOSITIONS, _CONJUNCTIONS),
            *(_AUXILIARIES, _ADVERBS, _REMAINS_OF_CONTRACTIONS, _MARKS),
        )
    ).split()
)


def function_words(source: str | os.PathLike[str] | Iterable[str] | None) -> frozenset[str]:
    """The list of this package for None; a file with a word on each line; or the words themselves. Lower-cased."""
    if source is None:
        return FUNCTION_WORDS
    if isinstance(source, (str, os.PathLike)):
        source = [without_line_end(line) for _, line in Source(str(source)).lines()]
    if isinstance(source, bytes) or not isinstance(source, Iterable) or getattr(source, "ndim", 1) == 0:
        raise InputError(f"function words are a file or a list of words, not {shown(source)}")
    words = list(source)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"function words must be strings, not {type(word).__name__}")
    return frozenset(word.strip().lower() for word in words if word.strip())
