"""Tokens as METEOR 1.5 sees them with its option -norm: lower-case words, with punctuation as tokens of its own.

- Marks are split off; commas within numbers, full stops within words and runs of full stops stay together.
- Hyphens between words become spaces, so that "red-haired" can match "red haired"; typographic quotes and dashes
  become plain ones.
- Contractions split before the apostrophe: it's -> it 's, don't -> don 't.
- A full stop stays with known abbreviations and, as in METEOR, with any word that a lower-case word follows; a word
  with inner full stops loses them all: U.S. -> us.

Unlike in METEOR, letters of every alphabet make words. METEOR knows Latin and Cyrillic letters and takes all others one
by one; here only Chinese characters and kana are taken one by one. The abbreviations are a selection of our own.
`JarTokens` follows METEOR to the letter instead, with the abbreviations of its own list.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
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


# METEOR's own rules. A step consumes the neighbours that it looks at, so that of two marks side by side the second may
# stay where it is ("a,b,c" -> "a , b,c"): a lookaround would be another rule.
_KNOWN_LETTER = "A-Za-zÀ-ÖØ-öø-ž\u0400-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
_JAR_STEPS = tuple(
    (marks, re.compile(pattern), instead)
    for marks, pattern, instead in (
        (("",), rf"[^0-9{_KNOWN_LETTER}\t-\r .'`,‘’-]", r" \g<0> "),
        (("..",), r"\.{2,}", r" \g<0> "),
        ((",",), "([^0-9]),([^0-9])", r"\1 , \2"),
        ((",",), "([0-9]),([^0-9])", r"\1 , \2"),
        ((",",), "([^0-9]),([0-9])", r"\1 , \2"),
        (("`", "‘", "’"), "[`‘’]", "'"),
        (("''", "“", "”"), "''|[“”]", ' " '),
        (("–",), "–", "-"),
        (("--",), "--", "-"),
        (("-",), rf"([0-9{_KNOWN_LETTER}.])-([0-9{_KNOWN_LETTER}])", r"\1 \2"),
        (("'",), rf"([^{_KNOWN_LETTER}])'([^{_KNOWN_LETTER}])", r"\1 ' \2"),
        (("'",), rf"([^0-9{_KNOWN_LETTER}])'([{_KNOWN_LETTER}])", r"\1 ' \2"),
        (("'",), rf"([{_KNOWN_LETTER}])'([^{_KNOWN_LETTER}])", r"\1 ' \2"),
        (("'",), rf"([{_KNOWN_LETTER}])'([{_KNOWN_LETTER}])", r"\1 '\2"),
        (("'",), "([0-9])'s", r"\1 's"),
    )
)
_HAS_LETTER = re.compile(f"[{_KNOWN_LETTER}]")
_JAR_WORD = re.compile(r"[^ \t\n\r\f]+")
_WIDE_SPACE = re.compile("[\xa0\u2000-\u200a\u202f\u205f\u3000]")
_UP_TO_SPACE = "".join(map(chr, range(33)))


class JarTokens:
    """A text's tokens as the authors' program makes them with -norm."""

    def __init__(self, abbreviations: Mapping[str, bool]) -> None:
        self._abbreviations = abbreviations
        """Words that keep their full stop; True: only before numbers."""

    def __call__(self, text: str) -> list[str]:
        text = f" {text} "
        for marks, pattern, instead in _JAR_STEPS:
            if any(mark in text for mark in marks):
                text = pattern.sub(instead, text)
        words = _JAR_WORD.findall(text)
        for place, (word, following) in enumerate(zip_longest(words, words[1:], fillvalue="")):
            if len(word) > 1 and word[-1] == "." and word.strip("."):
                words[place] = self._with_full_stop(word, following)
        text = " ".join(words)
        if not text.isascii():
            text = _WIDE_SPACE.sub(" ", text)
        return _JAR_WORD.findall(text.strip(_UP_TO_SPACE).lower())

    def _with_full_stop(self, word: str, following: str) -> str:
        before = word[:-1]
        if "." in before and _HAS_LETTER.search(before):
            return word.replace(".", "")
        only_before_numbers = self._abbreviations.get(before)
        if only_before_numbers is False or "a" <= following[:1] <= "z":
            return word
        return word if only_before_numbers and "0" <= following[:1] <= "9" else f"{before} ."
