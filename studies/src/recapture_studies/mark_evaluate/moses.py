"""Texts as written by people, from texts that were tokenised for machine translation."""

from __future__ import annotations

import html
import re

_LEFT = re.compile(r"(?:[,.;:!?%)\]}…”’]+|'[a-z]*|n't)", re.IGNORECASE)
"""Tokens that belong to the word before them."""
_RIGHT = frozenset("([{$£€#“‘")
"""Tokens that belong to the word behind them."""


def detokenised(text: str) -> str:
    """Entities such as &apos; read, and the spaces taken out that a Moses tokeniser put in.

    A straight double quote opens and closes in turn. Letters stay as they are: capitals that were lost are not guessed.
    """
    pieces: list[str] = []
    glue = True
    quoted = False
    for token in html.unescape(text).replace(" @-@ ", "-").split():
        if token == '"':
            pieces.append(token if quoted or glue else f" {token}")
            quoted = not quoted
            glue = quoted
            continue
        pieces.append(token if glue or _LEFT.fullmatch(token) else f" {token}")
        glue = token in _RIGHT
    return "".join(pieces)
