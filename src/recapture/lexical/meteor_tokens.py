"""Tokens as METEOR 1.5 sees them with its option -norm: lower-case words, with punctuation as tokens of its own.

- Marks are split off; commas within numbers, full stops within words and runs of full stops stay together.
- Hyphens between words become spaces, so that "red-haired" can match "red haired"; typographic quotes and dashes
  become plain ones.
- Contractions split before the apostrophe: it's -> it 's, don't -> don 't.
- A full stop stays with known abbreviations and, as in METEOR, with any word that a lower-case word follows; a word
  with inner full stops loses them all: U.S. -> us.

Unlike in METEOR, letters of every alphabet make words. METEOR knows Latin and Cyrillic letters and takes all others one
by one; here only Chinese characters and kana are taken one by one. The abbreviations are a selection of our own.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import zip_longest
from string import ascii_uppercase

_TITLES = (
    "Mr Mrs Ms Mme Mlle Messrs Dr Drs Prof Rev Hon St Sr Gov Sen Sens Rep Reps Gen Col Maj Capt Lt Sgt Cpl Pvt Adm"
)
_OTHERS = "Cmdr Brig Corp Bros Insp Supt Ph vs v e.g i.e"
_ALWAYS = frozenset((*ascii_uppercase, *_TITLES.split(), *_OTHERS.split()))
_BEFORE_NUMBERS = frozenset(("No", "Art", "pp"))

_LETTER = r"[^\W\d_]"
_STEPS = tuple(
    (marks, re.compile(pattern), instead)
    for marks, pattern, instead in (
        (("",), r"([^\w\s.'`,‘’-]|[_¹²³\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])", r" \1 "),
        (("..",), r"\.{2,}", r" \g<0> "),
        ((",",), r"(?<!\d),|,(?!\d)", " , "),
        (("`", "‘", "’"), r"[`‘’]", "'"),
        (("''", "“", "”"), r"''|[“”]", ' " '),
        (("–", "--"), r"–|--", "-"),
        # Both neighbours are consumed, as in METEOR: the last hyphen of "one-and-a-half" stays.
        (("-",), r"([^\W_]|\.)-([^\W_])", r"\1 \2"),
        (("'",), rf"'(?!{_LETTER})|(?<![^\W_])'", " ' "),
        (("'",), rf"(?<={_LETTER})'(?={_LETTER})|(?<=\d)'(?=s)", " '"),
    )
)
"""Marks (a text without any of them skips the step), what to look for, what takes its place."""


def meteor_tokens(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    for marks, pattern, instead in _STEPS:
        if any(mark in text for mark in marks):
            text = pattern.sub(instead, text)
    words = text.split()
    tokens: list[str] = []
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        if len(word) > 1 and word[-1] == "." and word.strip("."):
            tokens += _without_full_stop(word[:-1], following)
        else:
            tokens.append(word)
    return [token.lower() for token in tokens]


def _without_full_stop(word: str, following: str) -> tuple[str, ...]:
    if "." in word and any(map(str.isalpha, word)):
        return (word.replace(".", ""),)
    stays = word in _ALWAYS or "a" <= following[:1] <= "z" or (word in _BEFORE_NUMBERS and following[:1].isdigit())
    return (f"{word}.",) if stays else (word, ".")
