"""One report writer: a result says its parts, and every form is written once.

Results of all kinds (sets, pairs, contexts, agreement) are `Reported`: their `report()` returns a `Report` of tables,
notes, records for spreadsheets and content for programs. The forms are methods here: terminal, Markdown, LaTeX, HTML,
CSV and JSON. Tables of large results may have another shape on a page than in a terminal (`Table.page`). How words
become Markdown, LaTeX and HTML is in `markup`, how values become CSV and JSON in `data_forms`, how tables are laid out
anew for a paper in `arrangement`.
"""

from __future__ import annotations

import io
import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ..errors import InputError, visible
from ..versions import VERSION
from .data_forms import csv_text, json_text, spelt
from .frame import frame_of
from .markup import html_list, html_table, latex_comments, latex_table, markdown_list, markdown_table
from .notebook import notebook_html

if TYPE_CHECKING:
    from pandas import DataFrame

SCHEMA = 1
"""Of the JSON form: grows when a reader of the old one would misread the new one."""
HIGHER_LOWER = "↑ higher is better, ↓ lower is better"
ARROWS: dict[str | None, str] = {"higher": "↑", "lower": "↓", None: ""}

_LEAST_TEXT = 24
"""Characters of a text in a narrow terminal."""

Style = Literal["", "bold", "emphasis"]
Intervals = Literal["beside", "below", "±"] | None
"""Where the interval of a number stands: behind it, on a second line, as half of its width, or nowhere."""


class Cell(str):
    """A cell's words, which may stand out; `below` are words on a second line, in forms that have one."""

    style: Style
    below: str

    def __new__(cls, words: str, style: Style = "", below: str = "") -> Cell:
        cell = super().__new__(cls, words)
        cell.style, cell.below = style, below
        return cell


@dataclass(frozen=True)
class Measured:
    """What a cell's words were written from."""

    value: float | None
    """None where the cell has the interval alone."""
    interval: tuple[float, float] | None = None
    error: float | None = None
    """A standard error, which stands behind a ± of its own."""
    aside: str = ""
    """What stands behind all numbers: a p-value, a share."""
    band: bool = False
    """Whether the interval is where single parts fall, (low to high), and not where the value may lie, [low, high]."""
    signed: bool = False
    """Whether a plus is written, too."""
    apart: bool = False
    """Whether the interval has a column of its own, unless it is asked for elsewhere."""


_UNMEASURED = Measured(None)


class NumberCell(Cell):
    """A number as it is usually shown, and what it takes to show it otherwise."""

    measured: Measured

    def __new__(cls, words: str, measured: Measured = _UNMEASURED, style: Style = "") -> NumberCell:
        """words: the number first, then what stands beside it."""
        cell = super().__new__(cls, words, style)
        assert isinstance(cell, NumberCell)
        cell.measured = measured
        return cell


@dataclass(frozen=True)
class Table:
    """Rows of ready words, to be written in several forms.

    Parameters
    ----------
    heads : sequence of str
        The words above the columns.
    rows : sequence of sequences of str
        The cells of each row.
    caption : sequence of str
        Lines below (in LaTeX: comments above).
    left : int, default 1
        Columns from the left that hold words; the rest are numbers and stand to the right.
    repeated : int, optional
        How many columns stand again in each block where a terminal is too narrow for all (None: `left`).
    longest_head : int, optional
        Heads of numbers that are longer than this, and than the numbers below, are folded in a terminal (None: never).
    listed : bool, default False
        Whether the caption is a list in Markdown, where lines that follow each other run together.
    page : Table, optional
        The table's shape in Markdown and LaTeX, where it is another than in a terminal or a notebook.
    title : str, optional
        A line above, where several tables follow each other.
    row_names, column_names : sequence of sequences of str, optional
        What the rows, or the columns of numbers, go by where some of them are chosen (None: rows, by their words).
    interval_column : int, optional
        The column that has the intervals of the numbers on its left.

    Examples
    --------
    >>> import recapture as rc
    >>> print(rc.Table(["system", "score"], [["a", "0.5"], ["b", "0.25"]]).to_markdown())
    | system | score |
    |---|---:|
    | a | 0.5 |
    | b | 0.25 |
    <BLANKLINE>
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: Sequence[str] = ()
    left: int = 1
    repeated: int | None = None
    longest_head: int | None = None
    listed: bool = False
    page: Table | None = None
    title: str = ""
    row_names: Sequence[Sequence[str]] | None = None
    column_names: Sequence[Sequence[str]] | None = None
    interval_column: int | None = None

    def __post_init__(self) -> None:
        if not self.heads or any(len(row) != len(self.heads) for row in self.rows):
            raise InputError("a table has at least one column, and as many cells in each row as there are heads")

    def to_table(self, width: int | None = None, color: bool = False) -> str:
        """For a terminal, in as many blocks as its width asks for."""
        table = self._visible(lines=False)._fitted(width)
        drawn = [table._drawn(columns, color) for columns in table._blocks(width)]
        if table.title:
            drawn[0] = f"{table.title}\n{drawn[0]}"
        return "\n\n".join([*drawn, "\n".join(table.caption)] if table.caption else drawn) + "\n"

    def to_markdown(self) -> str:
        return markdown_table(self._on_page())

    def to_latex(self) -> str:
        """A booktabs table."""
        return latex_table(self._on_page())

    def to_html(self) -> str:
        """Every word escaped."""
        return html_table(self._visible())

    def to_csv(self) -> str:
        """The words as they are, texts in full, but for what a spreadsheet or a terminal would obey (see
        `Report.to_csv`)."""
        return csv_text([self.heads, *([whole_text(cell) or cell for cell in row] for row in self.rows)])

    def _visible(self, lines: bool = True) -> Table:
        """With escapes in the place of characters that a terminal or a page would obey; lines: see `visible`."""

        def shown(cell: str) -> Cell:
            if isinstance(cell, TextCell):
                return TextCell.of(_safe(cell, lines), _safe(cell.whole, lines))
            return Cell(_safe(cell, lines), getattr(cell, "style", ""), _safe(getattr(cell, "below", ""), lines))

        return replace(
            self,
            heads=[shown(head) for head in self.heads],
            rows=[[shown(cell) for cell in row] for row in self.rows],
            caption=[_safe(line, lines) for line in self.caption],
            title=_safe(self.title, lines),
        )

    def _on_page(self) -> Table:
        """Its shape in Markdown and LaTeX, with the words around it."""
        page = self.page or self
        return replace(page, title=self.title, caption=self.caption, listed=self.listed)._visible()

    def _fitted(self, width: int | None) -> Table:
        """With texts that are beginnings as long as there is room for beside the other columns."""
        cut = [at for at in range(len(self.heads)) if any(whole_text(row[at]) for row in self.rows)]
        if width is None or not cut:
            return self
        others = sum(3 + max(self._widths(at)) for at in range(len(self.heads)) if at not in cut)
        room = max(_LEAST_TEXT, (width - others) // len(cut) - 3)

        def fitted(cell: str) -> Cell:
            return beginning(whole_text(cell) or cell, room)

        return replace(
            self, rows=[[fitted(cell) if at in cut else cell for at, cell in enumerate(row)] for row in self.rows]
        )

    def _blocks(self, width: int | None) -> list[list[int]]:
        """Which columns stand together: the first ones in every block."""
        sizes = [3 + max(self._widths(column)) for column in range(len(self.heads))]
        repeated = self.left if self.repeated is None else self.repeated
        blocks: list[list[int]] = [[]]
        used = first = sum(sizes[:repeated])
        for column in range(repeated, len(sizes)):
            if width and blocks[-1] and used + sizes[column] > width:
                blocks.append([])
                used = first
            blocks[-1].append(column)
            used += sizes[column]
        return [[*range(repeated), *block] for block in blocks]

    def _widths(self, column: int) -> tuple[int, int]:
        """Of the head as it is shown, and of the widest cell below."""
        head = len(self.heads[column])
        shown = head if column < self.left or self.longest_head is None else min(head, self.longest_head)
        return shown, max((len(row[column]) for row in self.rows), default=0)

    def _drawn(self, columns: Sequence[int], color: bool) -> str:
        from rich import box
        from rich.console import Console
        from rich.table import Table as Drawing
        from rich.text import Text

        drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            words = column < self.left
            widest = None if words or self.longest_head is None else max(self.longest_head, *self._widths(column))
            drawing.add_column(
                Text(self.heads[column]),
                justify="left" if words else "right",
                overflow="fold",
                no_wrap=widest is None,
                max_width=widest,
            )
        for row in self.rows:
            drawing.add_row(*(Text(row[column], style=_rich(row[column])) for column in columns))
        stream = io.StringIO()
        # Wide enough for every table: columns that do not fit the terminal are in another block already.
        Console(file=stream, force_terminal=color, width=10_000, highlight=False, no_color=not color).print(drawing)
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines() if line.strip())


class TextCell(Cell):
    """A cell that has the beginning of a text."""

    whole: str
    """All of it; "" where nothing is left out."""

    @classmethod
    def of(cls, words: str, whole: str) -> TextCell:
        cell = cls(words)
        cell.whole = whole
        return cell


def beginning(text: str, longest: int) -> TextCell:
    """The beginning of a text on one line, with all of it behind."""
    line = " ".join(text[: 4 * longest].split())
    if len(line) <= longest and len(text) <= 4 * longest:
        return TextCell.of(line, text if line != text else "")
    return TextCell.of(line[: longest - 3] + "...", text)


def whole_text(cell: str) -> str:
    """The text that a cell has the beginning of; "" where it has all of it."""
    return cell.whole if isinstance(cell, TextCell) else ""


@dataclass(frozen=True)
class Report:
    """The parts of a result: what every form is written from."""

    kind: str
    """What was compared: sets, pairs, contexts or agreement."""
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    """What a reader should know beside the tables: sentences."""
    page_notes: Sequence[str] = ()
    """What pages, which are read without the messages of a terminal, say below their first table."""
    records: Mapping[str, Sequence[Mapping[str, Any]]] | Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()
    """Numbers in full precision, one mapping a row, by kind of row; pairs where one kind stands in several places."""
    results: Mapping[str, Any] = field(default_factory=dict)
    """Everything, for programs."""
    signature: Mapping[str, Any] = field(default_factory=dict)
    """How all of it was made."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else programs may want to know, by kind of result."""
    verdict: Sequence[str] = ()
    """The answer, in sentences: what every form but CSV, which is for programs, opens with."""

    def to_table(self, width: int | None = None, color: bool = False) -> str:
        opening = [_wrapped(_safe(sentence), width) for sentence in self.verdict]
        tables = "\n".join(table.to_table(width, color) for table in self.tables)
        return "\n".join([*opening, "", tables]) if opening else tables

    def to_markdown(self) -> str:
        opening = markdown_list(self.verdict)
        tables = "\n".join(table.to_markdown() for table in self._alone())
        return "\n".join([*opening, "", tables]) if opening else tables

    def to_latex(self) -> str:
        """The verdict stands in comments: a table is put where the author's own words are."""
        return "".join(latex_comments(self.verdict)) + "\n".join(table.to_latex() for table in self._alone())

    def to_html(self) -> str:
        return html_list(self.verdict) + "".join(table.to_html() for table in self.tables) + html_list(self.notes)

    def to_csv(self) -> str:
        """One table: what kind of row each is stands first where there are several kinds.

        Words that a spreadsheet would take as a formula (they begin with = + - @ or a tab, and are no number) get an
        apostrophe in front; characters that a terminal would obey are written as escapes. JSON has both as they are.
        """
        parts = self._parts()
        several = len({kind for kind, _ in parts}) > 1
        heads = dict.fromkeys(head for _, rows in parts for row in rows for head in row)
        lines = [
            [*([kind] if several else []), *(spelt(row.get(head)) for head in heads)]
            for kind, rows in parts
            for row in rows
        ]
        return csv_text([[*(["kind"] if several else []), *heads], *lines])

    def arranged(self, **how: Any) -> Report:
        """The same with tables as they are asked for: see `Reported.to_latex`."""
        from .arrangement import arranged, arrangement

        return replace(self, tables=arranged(self.tables, arrangement(**how)))

    def to_pandas(self, kind: str | None = None) -> DataFrame:
        """The same rows as in CSV; kind: see `Reported.to_pandas`."""
        return frame_of(self._parts(), kind)

    def to_notebook(self) -> str:
        """The answer, where there is one, and the tables."""
        return notebook_html(self.verdict, self.tables, self.notes)

    def _parts(self) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
        return list(self.records.items() if isinstance(self.records, Mapping) else self.records)

    def to_json(self) -> str:
        """Full precision. JSON has no infinity: unbounded or infinite numbers are null."""
        content = {
            "schema": SCHEMA,
            "recapture": VERSION,
            "kind": self.kind,
            **({"verdict": list(self.verdict)} if self.verdict else {}),
            "results": self.results,
            **self.more,
            "warnings": list(self.notes),
            "signature": self.signature,
        }
        return json_text(content, indent=2) + "\n"

    def _alone(self) -> list[Table]:
        """The tables with what belongs on a page."""
        return [
            replace(table, caption=[*table.caption, *(self.page_notes if place == 0 else ())])
            for place, table in enumerate(self.tables)
        ]


class Reported(ABC):
    """A result that shows itself and writes itself down."""

    @abstractmethod
    def report(self) -> Report:
        """Its parts, from which every form is written."""

    def all_rows(self) -> Reported:
        """The same result, with every number in its tables."""
        return self

    def __str__(self) -> str:
        return self.report().to_table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.report().to_notebook()

    def to_table(self, width: int | None = None, color: bool = False) -> str:
        """For a terminal of so many columns (None: as wide as it gets)."""
        return self.report().to_table(width, color)

    def to_markdown(
        self,
        rows: str | Sequence[str] | None = None,
        digits: int | None = None,
        transpose: bool = False,
        intervals: Intervals = "beside",
        tables: str | Sequence[str] | None = None,
    ) -> str:
        """The parameters are those of `to_latex`; intervals below a number stand behind a line break (`<br>`)."""
        how = {"digits": digits, "transpose": transpose, "intervals": intervals, "tables": tables}
        return self._arranged(rows, **how).to_markdown()

    def to_latex(
        self,
        rows: str | Sequence[str] | None = None,
        digits: int | None = None,
        transpose: bool = False,
        intervals: Intervals = "beside",
        tables: str | Sequence[str] | None = None,
    ) -> str:
        """Tables in the style of booktabs.

        Parameters
        ----------
        rows : str or sequence of str, optional
            Which numbers, in this order (default: all): names of metrics, of numbers, or both (`mmd`, `diversity`,
            `mark-evaluate.diversity`); one text with commas is several.
        digits : int, optional
            Decimals of every number but p-values, which keep two digits that count (default: four, fewer where a
            number is less sure, more where it is small).
        transpose : bool, default False
            Rows as columns and columns as rows.
        intervals : {"beside", "below", "±"} or None, default "beside"
            Behind the number, on a second line, as half of their width, or left out.
        tables : str or sequence of str, optional
            Which tables, in this order (default: all): by their titles, or a word of them (`systems`, `differences`);
            one text with commas is several.
        """
        how = {"digits": digits, "transpose": transpose, "intervals": intervals, "tables": tables}
        return self._arranged(rows, **how).to_latex()

    def _arranged(self, rows: str | Sequence[str] | None, **how: Any) -> Report:
        # Rows are chosen from all there are, also where tables usually show some of them.
        return (self if rows is None else self.all_rows()).report().arranged(rows=rows, **how)

    def to_html(self) -> str:
        """Bare tables for a page of your own, every text escaped."""
        return self.report().to_html()

    def to_csv(self) -> str:
        """One row per number, in full precision."""
        return self.report().to_csv()

    def to_json(self) -> str:
        """Full precision and the whole signature."""
        return self.report().to_json()

    def to_pandas(self, kind: str | None = None) -> DataFrame:
        """One row per number, in full precision, as a table of pandas (`pip install "recapture[pandas]"`).

        Parameters
        ----------
        kind : str, optional
            Where there are rows of several kinds (`differences` of a comparison, `lost` of a diagnosis): those of one
            kind, with its own columns. By default all, with their kind in the first column.
        """
        return self.report().to_pandas(kind)


FORMS = {"table": "to_table", "json": "to_json", "csv": "to_csv", "md": "to_markdown", "latex": "to_latex"}
"""The forms a command offers, and the methods that write them."""


def short(value: float) -> str:
    """Four decimals for ordinary numbers, more digits rather than zeros for small ones."""
    if not math.isfinite(value):
        return str(value)
    if value != 0 and abs(value) < 0.001:
        return f"{value:.3g}"
    return f"{value:.4f}"


def short_p(value: float, least: float = 0.0) -> str:
    """Two significant digits, and never a plain 0; least: what is not told apart from smaller ones."""
    if value < least * (1 - 1e-9):
        return f"<{short_p(least)}"
    if value >= 1e-4:
        return f"{value:.2g}"
    return f"{value:.0e}" if value > 0 else "<1e-300"


def signed(value: float) -> str:
    return "-" if math.isnan(value) else f"+{short(value)}" if value > 0 else short(value)


def decimals(value: float, digits: int | None, plus: bool = False) -> str:
    """With so many decimals (None: as usual), whatever is left of small numbers; 0 itself has no sign."""
    if math.isnan(value):
        return "-"
    if digits is None or math.isinf(value):
        return signed(value) if plus else short(value)
    words = f"{value or 0.0:.{digits}f}"
    return f"+{words}" if plus and value > 0 else words


def names_of_number(metric: str, number: str = "value") -> tuple[str, ...]:
    """What a number may be called: by its metric, by itself, or by both."""
    if number in ("value", ""):
        return metric, f"{metric}.value"
    return f"{metric}.{number}", f"{metric} {number}", number, metric


def names_of_label(label: str) -> tuple[str, ...]:
    """The same from how a number is written in one: mark-evaluate.diversity, mmd, bleu ↑."""
    plain = label.rstrip(" ↑↓")
    metric, _, number = plain.replace(".", " ", 1).partition(" ")
    return tuple(dict.fromkeys((plain, *names_of_number(metric, number))))


def percent(share: float) -> str:
    """A level as it was asked for: 99.5 % must not read 100 %, nor 0.1 % read 0 %."""
    return f"{100 * share:g}%"


def first_few(parts: Sequence[str], most: int, between: str = ", ") -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(parts) - most:,} more" if len(parts) > most else ""
    return between.join(parts[:most]) + more


def not_compared(systems: int) -> str:
    """What is said of systems that stand side by side without a test of one against another."""
    return f"Which of these {systems} is closest to people was not tested here: recapture compare tests that."


def _rich(cell: str) -> str:
    return {"bold": "bold", "emphasis": "italic"}.get(getattr(cell, "style", ""), "")


def _safe(words: str, lines: bool = True) -> str:
    """Words that a terminal or a page may have as they are; lines: see `visible`."""
    return words if words.isprintable() else visible(words, lines)


def _wrapped(sentence: str, width: int | None) -> str:
    """In lines of a terminal of this width, at the ends of words; line ends of names are none."""
    sentence = " ".join(sentence.split())
    if width is None:
        return sentence
    return textwrap.fill(sentence, max(20, width), break_long_words=False, break_on_hyphens=False)
