"""The one place where words become markup: whatever is not markup already is escaped.

Texts of others stand on a page: tags, scripts, characters that turn the direction of words, zero bytes. All of them
appear as text. What a page is made of goes through `element`, and what scripts read through `data`.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from ..errors import visible
from ..report.data_forms import finite

_EMPTY = frozenset({"br", "hr", "img", "input", "meta"})
"""Elements that have no end."""
_IN_SCRIPT = re.compile("[<>&\u2028\u2029]")
"""What could end the element that JSON stands in, or begin another."""


class Html(str):
    """Words that are markup already."""


Content = str | None
"""What an element holds: `Html` as it is, all other words escaped, None nothing."""


def text(words: str) -> Html:
    """Words as they should be read, whatever they hold."""
    return words if isinstance(words, Html) else Html(html.escape(visible(words)))


def joined(*parts: Content) -> Html:
    """One after another."""
    return Html("".join(text(part) for part in parts if part is not None))


def element(kind: str, /, *content: Content, **attributes: str | float | bool | None) -> Html:
    """An element; `class_` stands for class and `aria_label` for aria-label; None and False leave an attribute out."""
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        named = key.rstrip("_").replace("_", "-")
        shown = value if isinstance(value, str) else f"{value:g}"
        written.append(f" {named}" if value is True else f' {named}="{html.escape(visible(shown))}"')
    opened = f"<{kind}{''.join(written)}>"
    return Html(opened if kind in _EMPTY else f"{opened}{joined(*content)}</{kind}>")


def data(content: Any, name: str) -> Html:
    """What scripts read, as JSON in an element that nothing inside can end."""
    written = json.dumps(_readable(finite(content)), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = _IN_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
    return Html(f'<script type="application/json" id="{html.escape(name)}">{safe}</script>')


def _readable(content: Any) -> Any:
    """With escapes in the place of characters that a page would obey."""
    if isinstance(content, str):
        return content if content.isprintable() else visible(content)
    if isinstance(content, Mapping):
        return {_readable(str(key)): _readable(value) for key, value in content.items()}
    return [_readable(value) for value in content] if isinstance(content, list) else content
