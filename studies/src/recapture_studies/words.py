"""Numbers and names as words, for tables and messages."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys instead of showing it."""


def visible(words: str) -> str:
    """With escapes in the place of characters that a terminal would obey."""
    return _UNSEEN.sub(_escape, words)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def short(value: float) -> str:
    """Four decimals for ordinary numbers, more digits rather than zeros for small ones."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:.3g}" if value != 0 and abs(value) < 0.001 else f"{value:.4f}"


def short_p(value: float) -> str:
    """Two significant digits, and never a plain 0."""
    if value >= 1e-4:
        return f"{value:.2g}"
    return f"{value:.0e}" if value > 0 else "<1e-300"


def nearest_names(wanted: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' for a misspelt name, or the list of all names when nothing is close."""
    names = sorted(known)
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.65)
    return "did you mean " + " or ".join(close) + "?" if close else "known: " + ", ".join(names)
