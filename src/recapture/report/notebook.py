"""How results look in a notebook: the answer, tables and notes, in one piece of HTML that asks for nothing.

Colours are the notebook's own, or greys that let them through, so the same piece is readable in light and in dark
themes, however the notebook switches between them. There is no script, and every word is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import visible

if TYPE_CHECKING:
    from .report import Table

_STYLE = """
.recapture-result{color:inherit;color-scheme:light dark;max-width:100%}
.recapture-result .verdict{margin:.2em 0 .8em;padding:.5em .8em;border-left:4px solid #3b82c4}
.recapture-result .verdict{background:rgba(127,127,127,.12)}
.recapture-result .verdict p{margin:.2em 0}
.recapture-result .verdict p:first-child{font-weight:600}
.recapture-result .wide{overflow-x:auto;margin:0 0 .8em}
.recapture-result table{border-collapse:collapse;border:0;margin:0;color:inherit;background:transparent;font-size:.92em}
.recapture-result caption{caption-side:top;text-align:left;font-weight:600;padding:.3em 0;color:inherit}
.recapture-result tr,.recapture-result tr:nth-child(even){background:transparent}
.recapture-result tr:hover{background:rgba(127,127,127,.14)}
.recapture-result th,.recapture-result td{padding:.22em .7em;border:0;text-align:left;vertical-align:top;color:inherit}
.recapture-result thead th{border-bottom:1.5px solid currentColor;white-space:nowrap}
.recapture-result tbody td{border-bottom:1px solid rgba(127,127,127,.25)}
.recapture-result .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.recapture-result ul{margin:.3em 0 .9em;padding-left:1.2em;font-size:.82em;opacity:.8}
"""


def notebook_html(verdict: Sequence[str], tables: Sequence[Table], notes: Sequence[str]) -> str:
    said = "".join(f"<p>{_words(sentence)}</p>" for sentence in verdict)
    parts = [
        f"<style>{_STYLE.strip()}</style>",
        f'<div class="verdict">{said}</div>' if said else "",
        *map(_table, tables),
        _list(notes),
    ]
    return f'<div class="recapture-result">{"".join(parts)}</div>'


def _table(table: Table) -> str:
    heads = "".join(_cell("th", head, column >= table.left) for column, head in enumerate(table.heads))
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, column >= table.left) for column, cell in enumerate(row)) + "</tr>"
        for row in table.rows
    )
    title = f"<caption>{_words(table.title)}</caption>" if table.title else ""
    drawn = f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{drawn}</div>{_list(table.caption)}'


def _cell(tag: str, words: str, number: bool) -> str:
    styled = {"bold": "b", "emphasis": "i"}.get(getattr(words, "style", ""))
    content = f"<{styled}>{_words(words)}</{styled}>" if styled else _words(words)
    return f'<{tag} class="n">{content}</{tag}>' if number else f"<{tag}>{content}</{tag}>"


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{_words(line)}</li>" for line in lines) + "</ul>" if lines else ""


def _words(words: str) -> str:
    return html.escape(visible(words))
