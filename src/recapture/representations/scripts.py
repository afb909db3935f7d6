"""Which writing systems texts use, and which a language needs."""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

# By the first word of Unicode's character names. Languages that are not here are not judged.
_SCRIPTS = {
    "LATIN": "en de fr es it pt nl sv da no nb nn fi is pl cs sk sl hr bs ro hu tr vi id ms et lv lt ca eu gl ga cy "
    "sq af sw tl eo la az uz",
    "CYRILLIC": "ru uk bg be mk sr kk ky mn",
    "GREEK": "el",
    "ARABIC": "ar fa ur ps",
    "HEBREW": "he yi",
    "DEVANAGARI": "hi mr ne sa",
    "CJK": "zh ja ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "THAI": "th",
    "BENGALI": "bn as",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "ETHIOPIC": "am ti",
    "KHMER": "km",
    "LAO": "lo",
    "MYANMAR": "my",
    "SINHALA": "si",
}


def scripts_of(languages: Iterable[str]) -> tuple[str, ...]:
    """The scripts of languages given by their two-letter codes; empty where one of them is not known."""
    codes = [code.lower().replace("_", "-").partition("-")[0] for code in languages]
    by_code = [[script for script, users in _SCRIPTS.items() if code in users.split()] for code in codes]
    return tuple(dict.fromkeys(script for scripts in by_code for script in scripts)) if all(by_code) else ()


def share_outside(texts: Iterable[str], scripts: Collection[str]) -> float:
    """The share of letters in other scripts; 0 where there are no letters."""
    seen: Counter[str] = Counter()
    for text in texts:
        seen.update(text)
    letters = {letter: count for letter, count in seen.items() if _script(letter)}
    outside = sum(count for letter, count in letters.items() if _script(letter) not in scripts)
    return outside / sum(letters.values()) if letters else 0.0


@functools.lru_cache(maxsize=1 << 16)
def _script(character: str) -> str:
    """Empty for what is no letter. Forms of a letter, such as full-width ones, count as the letter itself."""
    plain = unicodedata.normalize("NFKC", character)[0]
    if unicodedata.category(plain) not in ("Lu", "Ll", "Lt", "Lo"):
        return ""
    return unicodedata.name(plain, "").partition(" ")[0]
