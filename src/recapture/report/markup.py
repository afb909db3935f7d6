"""Words as Markdown, LaTeX and HTML: what each language would obey is escaped, and styles of cells are written in it.

Tables come here with the characters escaped that a terminal or a page would obey (`Table` does that for every form).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..errors import visible

if TYPE_CHECKING:
    from .report import Table

_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\n": " ", "\r": " ",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "≤": r"$\le$", "±": r"$\pm$",
    **{character: "\\" + character for character in "&%$#_{}"},
}  # fmt: skip
_MARKDOWN = {
    ord("\\"): r"\\", ord("|"): r"\|", ord("`"): r"\`", ord("\n"): " ", ord("\r"): " ",
    ord("<"): "&lt;", ord("&"): "&amp;",
}  # fmt: skip
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
"""What a page would take as the beginning of a tag."""


def markdown_table(table: Table) -> str:
    lines = [
        *([f"**{_markdown(table.title)}**", ""] if table.title else []),
        "| " + " | ".join(map(_markdown, table.heads)) + " |",
        "|" + "---|" * table.left + "---:|" * (len(table.heads) - table.left),
    ]
    lines += ["| " + " | ".join(map(_markdown, row)) + " |" for row in table.rows]
    if table.caption:
        below = [_TAG.sub("&lt;", _one_line(line)) for line in table.caption]
        lines += ["", *("- " + line.replace("|", r"\|") if table.listed else line for line in below)]
    return "\n".join(lines) + "\n"


def latex_table(table: Table) -> str:
    """In the style of booktabs."""
    lines = [
        *latex_comments([*([table.title] if table.title else []), *table.caption, r"needs \usepackage{booktabs}"]),
        r"\begin{tabular}{" + "l" * table.left + "r" * (len(table.heads) - table.left) + "}\n",
        "\\toprule\n",
        _latex_row(table.heads),
        "\\midrule\n",
        *map(_latex_row, table.rows),
        "\\bottomrule\n",
        "\\end{tabular}\n",
    ]
    return "".join(lines)


def html_table(table: Table) -> str:
    heads = "".join(f"<th>{html.escape(head)}</th>" for head in table.heads)
    body = "".join("<tr>" + "".join(f"<td>{_html(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    caption = html.escape("; ".join([*([table.title] if table.title else []), *table.caption]))
    return f"<table><caption>{caption}</caption><tr>{heads}</tr>{body}</table>"


def markdown_list(sentences: Iterable[str]) -> list[str]:
    return [f"- {_markdown(_one_line(visible(sentence)))}" for sentence in sentences]


def latex_comments(sentences: Iterable[str]) -> list[str]:
    return [f"% {_one_line(visible(sentence))}\n" for sentence in sentences]


def html_list(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{html.escape(visible(sentence))}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def latex(words: str) -> str:
    """Words with LaTeX's own characters escaped; a `Cell` keeps its style."""
    escaped = "".join(_LATEX.get(character, character) for character in words)
    if escaped.startswith(("[", "*")):
        escaped = "{}" + escaped  # behind the end of a row it would be taken for a length
    command = {"bold": "textbf", "emphasis": "emph"}.get(getattr(words, "style", ""))
    return rf"\{command}{{{escaped}}}" if command else escaped


def _latex_row(row: Sequence[str]) -> str:
    """A row, and a second one where cells have words below."""
    lines = " & ".join(map(latex, row)) + " \\\\\n"
    below = [getattr(cell, "below", "") for cell in row]
    if any(below):
        lines += " & ".join(rf"{{\footnotesize {latex(words)}}}" if words else "" for words in below) + " \\\\\n"
    return lines


def _markdown(cell: str) -> str:
    mark = {"bold": "**", "emphasis": "*"}.get(getattr(cell, "style", ""), "")
    below = getattr(cell, "below", "")
    return mark + cell.translate(_MARKDOWN) + mark + (f"<br>{below.translate(_MARKDOWN)}" if below else "")


def _html(cell: str) -> str:
    tag = {"bold": "b", "emphasis": "i"}.get(getattr(cell, "style", ""))
    return f"<{tag}>{html.escape(cell)}</{tag}>" if tag else html.escape(cell)


def _one_line(words: str) -> str:
    """Names may hold line ends, which would end a comment."""
    return " ".join(words.split())
