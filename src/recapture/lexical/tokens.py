"""Words of captions and sentences as the captioning community counts them: Penn Treebank style, lower-case, bare.

The effect of coco-caption's PTBTokenizer, without Java: contractions fall apart (don't -> do n't, she's -> she 's),
words joined by hyphens, slashes or inner full stops stay together, brackets get their treebank names (-lrb-),
abbreviations keep their full stop, and single punctuation marks are dropped ("!!" is not one of them).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ..errors import InputError, shown

# A token of nothing but these is dropped; question and exclamation marks only where they stand alone.
_DROPPED = re.compile(r"""[?!] | ['"`.,:;\-–—]+""", re.VERBOSE).fullmatch
_PLAIN = str.maketrans(dict.fromkeys("‘’‚‛‹›", "'") | dict.fromkeys("“”„«»", '"') | {"\u00ad": None})
_ENTITIES = (("&quot;", '"'), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_SPELT = {
    **{"[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"},
    **{"£": "#", "€": "$", "¢": "cents"},
    **{"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"},
}

_ABBREVIATIONS = "|".join(
    (
        "mr mrs ms dr prof rev hon gov sen rep gen col lt sgt capt maj adm cmdr cpl pvt supt pres jr sr esq messrs",
        "inc corp ltd co cos bros assn mfg plc dept univ tel ext",
        "st ave blvd rd mt ft sq",
        "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri",
        "ala ariz calif colo conn fla ga ind kan ky md mich minn mo mont neb nev okla penn tenn va vt wis wyo",
        "vs etc al est ph\\.?d",
    )
).replace(" ", "|")

# After an initial, these begin a new sentence: "Terminal C. The man" against "J. Smith".
_STARTERS = (
    "A|After|An|As|At|But|He|Her|However|If|In|It|Many|One|Other|Our|She|Since|Some|Such|That|The|Their|Then|There|"
    "These|They|This|We|What|When|While|Yet|You"
)

_LONGEST_OPEN = 6

_TOKEN = re.compile(
    rf"""
      (?:https?://|www\.)[^\s"<>|()]*[^\s"<>|().,!?;:'-] | [a-z0-9][\w.+-]*@[\w-]+(?:\.[\w-]+)*
    | [@#][a-z_]\w* | </?[a-z][^\s<>]*>
    | [:;=]-?[()\[\]d|](?!\w)                                                   # :-)
    | [(]\d{{3}}[)](?=[ -]?\d{{3}})                                             # (555) 123-4567
    | (?:{_ABBREVIATIONS})\.(?!\w) | nos?\.(?=\s?\d) | [a-z]\.(?!\w|\s+(?-i:{_STARTERS})\b)
    | (?:can(?=not\b)|gon(?=na\b)|got(?=ta\b)|wan(?=na\b)|lem(?=me\b)|gim(?=me\b)|'t(?=is\b|isn't\b|was\b))(?!\w+-)
    | [^\W_]+(?=n't\b) | n't\b | y'(?=\w)                                       # do n't
    | '(?:s|d|m|ll|re|ve|em|cause|til|n'?|\d\ds?)(?!\w) | 'n'                   # 's
    | (?:[dlo]'(?!s\b)|(?:ma|ne|c|la|xi)'(?=am\b|er\b|mon\b|al\b|an\b))[^\W\d_]+ # o'clock
    | (?-i:[A-Z]+(?:&[A-Z]+)+) | c\+\+ | c\# | (?-i:[A-Z]{{1,3}}\$)
    | [+-]?(?:\d+(?:[.,:/-]\d+)*|\.\d+)(?![.,:/-]?\d|-?\w|/[a-z]) | \d+(?:[.,:]\d+)+(?=[a-z])  # numbers, dates, times
    | [½¼¾⅓⅔]
    # Words, together with what hyphens, slashes and inner full stops join to them; u.s. ends in one of its own.
    | (?:\d+(?:[.,:]\d+)+|[^\W½¼¾⅓⅔²³]+)(?:[-‑/]\w+|\.[^\W\d]\w*)*(?:(?<=\b\w\.\w)\.(?:-\w+)*(?!\w)|\.(?=[,;:]))?
    | \.+ | [!?]+ | \*+ | [-–—]+ | [^\s\U00010000-\U0010ffff\u200b-\u200f\ufeff]
    """,
    re.VERBOSE | re.IGNORECASE,
)


def caption_tokens(text: str) -> list[str]:
    """The words of one text as coco-caption's PTBTokenizer counts them, without Java.

    They never depend on other texts; in the Java program they may depend on the next line.

    Parameters
    ----------
    text : str
        A caption or a sentence.

    Returns
    -------
    list of str
        Lower-case words; single punctuation marks are dropped.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.caption_tokens("The dog doesn't sit, it runs.")
    ['the', 'dog', 'does', "n't", 'sit', 'it', 'runs']
    """
    if not isinstance(text, str):
        raise InputError(f"the words of a text were asked for, not of {shown(text)}")
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_PLAIN)
    if "&" in text:
        for entity, mark in _ENTITIES:
            text = text.replace(entity, mark)
    chunks = text.split()
    tokens: list[str] = []
    for position, chunk in enumerate(chunks, 1):
        # Only after these can the next word matter: is "C." an initial, "no." a number, "(555)" part of a telephone's?
        open_end = chunk[-1] in ".)" and len(chunk) < _LONGEST_OPEN
        tokens += _chunk_tokens(chunk, chunks[position] if open_end and position < len(chunks) else "")
    return tokens


@lru_cache(maxsize=1 << 16)
def _chunk_tokens(chunk: str, following: str) -> tuple[str, ...]:
    """Tokens of what stands between two spaces; none of them can cross a space."""
    matches = _TOKEN.finditer(f"{chunk} {following}")
    written = (_written(match[0]) for match in matches if match.start() < len(chunk))
    return tuple(token for token in written if token)


def _written(matched: str) -> str:
    """A token as it is counted; nothing where it is not."""
    token = matched.lower()
    if "(" in token or ")" in token:
        return token.replace("(", "-lrb-").replace(")", "-rrb-")
    return "" if _DROPPED(token) else _SPELT.get(token, token)
