"""The stems of English words that METEOR 1.5 has: Snowball's English stemmer as its program of 2014 carries it.

Porter, The English (Porter2) stemming algorithm, snowballstem.org. Later releases of Snowball have other rules (3.0:
"added" and "adds" share a stem, "geologist" and "geology" too, "intervals" and "intervene" no longer do). A score must
not change with the version that happens to be installed, so the rules of that time stand here.

A word is read as vowels (a e i o u y) and all other characters. R1 is what follows the first non-vowel after a vowel,
R2 the same within R1; both are fixed before anything is cut off. A y at the beginning or after a vowel is no vowel; it
is written Y until the end. Each step looks for the longest ending in its table, and only then for that ending's
conditions: if they do not hold, the step does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_VOWELS = frozenset("aeiouy")
_VOWEL_AND_OTHER = re.compile("[aeiouy][^aeiouy]")
_NO_SHORT_END = frozenset("aeiouywxY")
"""After a vowel none of these makes a short syllable."""
_BEFORE_LI = frozenset("cdeghkmnrt")
_DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))

_WHOLE_WORDS = {
    **{"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl"},
    **{word: word for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")},
}
_DONE_WITHOUT_PLURAL = frozenset(("inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"))
"""What stays as it is once the plural's s is gone."""
_LONGER_STARTS = ("gener", "commun", "arsen")
"""Beginnings behind which R1 starts: without them "general" and "generate" would share a stem."""

_POSSESSIVE = ("'s'", "'s", "'")
_PLURAL = ("sses", "ied", "ies", "us", "ss", "s")
_PAST_AND_ING = ("eedly", "ingly", "edly", "eed", "ing", "ed")


def _by_length(*groups: tuple[str, str]) -> Mapping[str, str]:
    """From (what takes their place, endings) to ending -> replacement, longest endings first."""
    pairs = [(ending, instead) for instead, endings in groups for ending in endings.split()]
    return dict(sorted(pairs, key=lambda pair: -len(pair[0])))


_IN_R1 = _by_length(
    ("tion", "tional"),
    ("ence", "enci"),
    ("ance", "anci"),
    ("able", "abli"),
    ("ent", "entli"),
    ("ize", "izer ization"),
    ("ate", "ational ation ator"),
    ("al", "alism aliti alli"),
    ("ful", "fulness fulli"),
    ("ous", "ousli ousness"),
    ("ive", "iveness iviti"),
    ("ble", "biliti bli"),
    ("less", "lessli"),
    ("og", "ogi"),
    ("", "li"),
)
_THEN_IN_R1 = _by_length(
    ("tion", "tional"), ("ate", "ational"), ("al", "alize"), ("ic", "icate iciti ical"), ("", "ful ness ative")
)
_IN_R2 = _by_length(("", "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion"))
_STEP_2, _STEP_3, _STEP_4 = tuple(_IN_R1), tuple(_THEN_IN_R1), tuple(_IN_R2)


def english_stem(word: str) -> str:
    """The stem of a lower-case word; a word of one or two letters is its own."""
    if word in _WHOLE_WORDS:
        return _WHOLE_WORDS[word]
    if len(word) < 3:
        return word
    word, marked = _with_consonant_y(word.removeprefix("'"))
    r1, r2 = _regions(word)
    word = _without_plural(_without_possessive(word))
    if word not in _DONE_WITHOUT_PLURAL:
        word = _final_y(_without_past_or_ing(word, r1))
        for step in (_step_2, _step_3, _step_4, _step_5):
            word = step(word, r1, r2)
    return word.replace("Y", "y") if marked else word


def _with_consonant_y(word: str) -> tuple[str, bool]:
    """The word with Y for every y that is no vowel, and whether there is one."""
    if "y" not in word:
        return word, False
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    marked = "".join(letters)
    return marked, marked != word


def _regions(word: str) -> tuple[int, int]:
    """Where R1 and R2 begin."""
    start = next((len(begin) for begin in _LONGER_STARTS if word.startswith(begin)), None)
    r1 = _after_vowel_and_other(word, 0) if start is None else start
    return r1, _after_vowel_and_other(word, r1)


def _after_vowel_and_other(word: str, start: int) -> int:
    found = _VOWEL_AND_OTHER.search(word, start)
    return found.end() if found else len(word)


def _ending(word: str, endings: tuple[str, ...]) -> str | None:
    """The longest of the endings, which stand in that order."""
    if not word.endswith(endings):  # most words; asked of all endings at once
        return None
    return next(ending for ending in endings if word.endswith(ending))


def _has_vowel(letters: str) -> bool:
    return not _VOWELS.isdisjoint(letters)


def _ends_in_short_syllable(word: str) -> bool:
    """A vowel and another letter, at the word's beginning, or after a non-vowel where the last is not w, x or Y."""
    if len(word) < 2 or word[-1] in _VOWELS or word[-2] not in _VOWELS:
        return False
    return len(word) == 2 or (word[-3] not in _VOWELS and word[-1] not in _NO_SHORT_END)


def _without_possessive(word: str) -> str:
    return word.removesuffix(_ending(word, _POSSESSIVE) or "")


def _without_plural(word: str) -> str:
    match _ending(word, _PLURAL):
        case "sses":
            return word[:-2]
        case "ied" | "ies":
            return word[:-2] if len(word) > 4 else word[:-1]
        case "s" if _has_vowel(word[:-2]):  # not "gas": the letter before the s does not count
            return word[:-1]
    return word


def _without_past_or_ing(word: str, r1: int) -> str:
    ending = _ending(word, _PAST_AND_ING)
    if ending is None:
        return word
    start = len(word) - len(ending)
    if ending.startswith("eed"):
        return word[: start + 2] if start >= r1 else word
    word, whole = word[:start], word
    if not _has_vowel(word):
        return whole
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-2:] in _DOUBLES:
        return word[:-1]
    return word + "e" if len(word) == r1 and _ends_in_short_syllable(word) else word


def _final_y(word: str) -> str:
    """y becomes i after a non-vowel that is not the first letter."""
    return word[:-1] + "i" if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS else word


def _step_2(word: str, r1: int, r2: int) -> str:
    ending = _ending(word, _STEP_2)
    if ending is None or len(word) - len(ending) < r1:
        return word
    before = word[: len(word) - len(ending)]
    if (ending == "ogi" and not before.endswith("l")) or (ending == "li" and before[-1:] not in _BEFORE_LI):
        return word
    return before + _IN_R1[ending]


def _step_3(word: str, r1: int, r2: int) -> str:
    ending = _ending(word, _STEP_3)
    if ending is None or len(word) - len(ending) < (r2 if ending == "ative" else r1):
        return word
    return word[: len(word) - len(ending)] + _THEN_IN_R1[ending]


def _step_4(word: str, r1: int, r2: int) -> str:
    ending = _ending(word, _STEP_4)
    if ending is None or len(word) - len(ending) < r2:
        return word
    before = word[: len(word) - len(ending)]
    return word if ending == "ion" and not before.endswith(("s", "t")) else before


def _step_5(word: str, r1: int, r2: int) -> str:
    """A last e, and one of two last l."""
    before = word[:-1]
    if word.endswith("e") and (len(before) >= r2 or (len(before) >= r1 and not _ends_in_short_syllable(before))):
        return before
    return before if word.endswith("ll") and len(before) >= r2 else word
