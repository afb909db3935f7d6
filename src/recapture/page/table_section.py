"""Tables on a page: they can be sorted and copied; without scripts they can be read."""

from __future__ import annotations

from collections.abc import Sequence

from ..report.report import Table, beginning, whole_text
from .escaping import Html, element, joined
from .page_parts import TextLists

_STARTS = 100
"""Characters of a text before it is opened."""
_MANY = 40
"""Rows of a table beyond which it scrolls in its own place, so that what stands below is found."""
_LONG_NAME = 24
"""Characters of a name that stands on one line."""
_FORMS = (("Markdown", "md"), ("LaTeX", "tex"), ("CSV", "csv"))


def table_section(table: Table, place: int) -> Html:
    """place: which of the page's tables it is, for the script that copies them."""
    heads = [
        element(
            "th",
            head or element("span", "better", class_="unseen"),
            scope="col",
            class_=_classes(None if column < table.left else "number", _named(head)),
        )
        for column, head in enumerate(table.heads)
    ]
    title = table.title or "Numbers"
    buttons = [
        element(
            "button", label, type="button", data_copy=f"{place}", data_form=form, aria_label=f"Copy {title} as {label}"
        )
        for label, form in _FORMS
    ]
    caption = [element("li", each) for each in table.caption]
    # Beside the table, not in it: there it would be pushed aside with the columns. Readers hear the caption.
    said = element("p", title, class_="title", aria_hidden="true")
    bar = element("div", element("span", "Copy as "), *buttons, class_="copy needs-script")
    drawn = element(
        "table",
        element("caption", title, class_="unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *_rows(table)),
    )
    shape = "scroll tall" if len(table.rows) > _MANY else "scroll"
    return element(
        "div",
        element("div", said, bar, class_="above"),
        element("div", drawn, class_=shape, tabindex="0", role="region", aria_label=title),
        element("ul", *caption, class_="caption") if caption else None,
        class_="table",
    )


def _rows(table: Table) -> list[Html]:
    rows, above = [], ""
    for row in table.rows:
        # A terminal leaves out what the row above says already; sorted, or read aloud, a row has to stand alone.
        again = table.left > 1 and not row[0] and bool(above)
        above = above if again else row[0]
        rows.append(element("tr", *_cells([above, *row[1:]], table.left, again)))
    return rows


def _cells(row: Sequence[str], left: int, again: bool) -> list[Html]:
    cells = []
    for column, words in enumerate(row):
        styled = {"bold": "b", "emphasis": "i"}.get(getattr(words, "style", ""))
        shown: str = element(styled, words) if styled else words
        if column == 0:
            cells.append(
                element(
                    "th", shown, scope="row", dir="auto", class_=_classes("again" if again else None, _named(words))
                )
            )
        elif whole := whole_text(words):
            cells.append(element("td", _opened(whole), class_="long"))
        elif column < left:
            cells.append(element("td", shown, dir="auto", class_="long" if len(words) > 40 else None))
        else:
            cells.append(element("td", shown, class_="number"))
    return cells


def _named(words: str) -> str | None:
    """What is longer may be broken anywhere, or the columns beside it would be out of sight."""
    return "named" if len(words) > _LONG_NAME else None


def _classes(*names: str | None) -> str | None:
    return " ".join(name for name in names if name) or None


def _opened(whole: str) -> Html:
    """The beginning of a text, and all of it once it is opened; that needs no script."""
    start = beginning(whole, _STARTS)
    if start == whole:
        return element("span", whole, dir="auto")
    summary = element("summary", element("span", start, class_="start", dir="auto"))
    return element("details", summary, element("p", whole, dir="auto"), class_="text")


def copies(tables: Sequence[Table]) -> list[dict[str, str]]:
    """Every table in the forms that are copied."""
    return [{"md": each.to_markdown(), "tex": each.to_latex(), "csv": each.to_csv()} for each in tables]


def joined_tables(tables: Sequence[Table], first: int) -> Html:
    return joined(*(table_section(table, first + place) for place, table in enumerate(tables)))


def flat(lists: Sequence[Table | TextLists]) -> list[Table]:
    """The tables alone, in their order."""
    return [table for each in lists for table in ([each] if isinstance(each, Table) else each.tables)]


def list_section(lists: Sequence[Table | TextLists], first: int) -> Html:
    """Tables, and those that belong together behind one line, which opens without scripts."""
    drawn = []
    for each in lists:
        if isinstance(each, Table):
            drawn.append(table_section(each, first))
        else:
            said = element("ul", *(element("li", sentence) for sentence in each.said))
            summary = element("summary", element("h3", each.title))
            drawn.append(element("details", summary, said, joined_tables(each.tables, first), class_="group"))
        first += len(flat([each]))
    return joined(*drawn)
