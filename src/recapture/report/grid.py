"""Rows of ready words in the forms people want: terminal, Markdown, LaTeX, CSV, HTML."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\n": " ", "\r": " ",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "≤": r"$\le$",
    **{character: "\\" + character for character in "&%$#_{}"},
}  # fmt: skip
_MARKDOWN = {ord("\\"): r"\\", ord("|"): r"\|", ord("\n"): " ", ord("\r"): " ", ord("<"): "&lt;", ord("&"): "&amp;"}


@dataclass(frozen=True)
class Grid:
    """Rows of ready words under heads, with a caption, for any form of output.

    Parameters
    ----------
    heads : sequence of str
    rows : sequence of sequences of str
    caption : sequence of str
        Lines below (in LaTeX: comments above).
    left : int
        Columns from the left that hold words; the rest are numbers and stand to the right.

    Examples
    --------
    >>> import recapture as rc
    >>> print(rc.Table(["metric", "value"], [["bleu", "0.31"]]).to_csv(), end="")
    metric,value
    bleu,0.31
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: Sequence[str] = field(default_factory=list)
    """Lines below (in LaTeX: comments above)."""
    left: int = 1
    """Columns from the left that hold words; the rest are numbers and stand to the right."""

    def to_table(self) -> str:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, head in enumerate(self.heads):
            table.add_column(Text(head), no_wrap=True, justify="left" if number < self.left else "right")
        for row in self.rows:
            table.add_row(*map(Text, row))
        stream = io.StringIO()
        Console(file=stream, width=10_000, highlight=False, no_color=True).print(table)
        drawn = "\n".join(line.rstrip() for line in stream.getvalue().splitlines() if line.strip())
        return "\n\n".join([drawn, "\n".join(self.caption)] if self.caption else [drawn]) + "\n"

    def to_markdown(self) -> str:
        lines = [
            "| " + " | ".join(head.translate(_MARKDOWN) for head in self.heads) + " |",
            "|" + "---|" * self.left + "---:|" * (len(self.heads) - self.left),
        ]
        lines += ["| " + " | ".join(cell.translate(_MARKDOWN) for cell in row) + " |" for row in self.rows]
        return "\n".join([*lines, *(["", *self.caption] if self.caption else [])]) + "\n"

    def to_latex(self) -> str:
        """A booktabs table."""
        lines = [
            *(f"% {line}" for line in (*self.caption, r"needs \usepackage{booktabs}")),
            r"\begin{tabular}{" + "l" * self.left + "r" * (len(self.heads) - self.left) + "}",
            r"\toprule",
            " & ".join(map(latex, self.heads)) + r" \\",
            r"\midrule",
            *(" & ".join(map(latex, row)) + r" \\" for row in self.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"

    def to_csv(self) -> str:
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.heads)
        writer.writerows(self.rows)
        return stream.getvalue()

    def to_html(self) -> str:
        heads = "".join(f"<th>{html.escape(head)}</th>" for head in self.heads)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        caption = html.escape("; ".join(self.caption))
        return f"<table><caption>{caption}</caption><tr>{heads}</tr>{body}</table>"


def latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


Table = Grid
"""The public name."""
