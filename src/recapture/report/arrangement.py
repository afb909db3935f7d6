"""How tables are laid out for a paper: which rows, how many digits, which way round, where intervals stand."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..checks import check_count, check_flag
from ..errors import InputError, nearest_names, shown
from .report import Cell, Intervals, NumberCell, Table, decimals, names_of_label

MOST_DIGITS = 15
"""Decimals that a float has."""
PLACES = ("beside", "below", "±")
"""Of intervals, beside None."""
_SPELLINGS: dict[Any, Intervals] = {"+-": "±", "+/-": "±", "pm": "±", "none": None}
_SPREAD, _INTERVALS = "value ±", ("[low, high]", "[]:")
"""How lines of captions begin that explain what is in the cells."""


@dataclass(frozen=True)
class Arrangement:
    rows: tuple[str, ...] | None = None
    digits: int | None = None
    transpose: bool = False
    intervals: Intervals = "beside"
    tables: tuple[str, ...] | None = None


def arrangement(
    rows: Any = None, digits: Any = None, transpose: Any = False, intervals: Any = "beside", tables: Any = None
) -> Arrangement:
    """Checked at the door."""
    check_flag("transpose", transpose)
    digits = None if digits is None else check_count("digits", digits, 0, MOST_DIGITS)
    place: Any = _SPELLINGS.get(intervals, intervals) if isinstance(intervals, str) else intervals
    if place is not None and place not in PLACES:
        said = f"intervals stand beside, below, as ± (pm) or nowhere (none), not {shown(intervals)}"
        raise InputError(said, options=["intervals"])
    titles = asked_names(tables, "tables are titles, or words of them")
    return Arrangement(asked_names(rows), digits, bool(transpose), place, titles)


def asked_names(rows: Any, what: str = "rows are names of numbers or metrics") -> tuple[str, ...] | None:
    """The names of rows, or of other things (what): a list of them, or one text with commas."""
    if rows is None:
        return None
    names = rows.split(",") if isinstance(rows, str) else list(rows) if isinstance(rows, Iterable) else [rows]
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise InputError(f"{what}, one or more, not {shown(rows)}")
    return tuple(dict.fromkeys(name.strip() for name in names))


def check_known(asked: Iterable[str], known: Sequence[Sequence[str]]) -> None:
    """Refuse a name that no entry goes by; of each entry the first name is listed, the others are only looked for."""
    there = {_folded(name): name for names in known for name in names}
    listed = dict.fromkeys(names[0] for names in known if names)
    for name in asked:
        if _folded(name) not in there:
            close = difflib.get_close_matches(_folded(name), there, 3, 0.65)
            said = nearest_names(name, [there[each] for each in close] if close else listed)
            raise InputError(f"no row {shown(name)}; {said}", options=["rows"])


def picked(asked: Sequence[str], known: Sequence[Sequence[str]]) -> list[int]:
    """The places of the entries that are asked for, in the order of asking."""
    wanted = [_folded(name) for name in asked]
    first = {}
    for place, names in enumerate(known):
        own = {_folded(name) for name in names}
        found = [order for order, name in enumerate(wanted) if name in own]
        if found:
            first[place] = found[0]
    return sorted(first, key=lambda place: (first[place], place))


def arranged(tables: Sequence[Table], how: Arrangement) -> list[Table]:
    """The tables as they are asked for; of chosen rows only tables that have some."""
    if how == Arrangement():
        return list(tables)
    if how.tables is not None:
        tables = _titled(tables, how.tables)
    shapes = [_shape(table, how.transpose) for table in tables]
    if how.rows is not None:
        check_known(how.rows, [names for table, _ in shapes for names in _names(table)])
        shapes = [(_chosen(table, how.rows), turn) for table, turn in shapes if picked(how.rows, _names(table))]
    written = [(_written(table, how), turn) for table, turn in shapes]
    return [_transposed(table) if turn else table for table, turn in written]


def _titled(tables: Sequence[Table], asked: Sequence[str]) -> list[Table]:
    """The tables of these titles; a title that is the name itself goes before those that have it as one of words."""
    found: list[Table] = []
    for name in asked:
        wanted = name.casefold()
        whole = [table for table in tables if table.title.casefold() == wanted]
        own = whole or [table for table in tables if f" {wanted} " in f" {_plain_words(table.title)} "]
        if not own:
            listed = dict.fromkeys(table.title for table in tables if table.title)
            said = nearest_names(name, listed) if listed else "there is one, without a title"
            raise InputError(f"no table {shown(name)}; {said}", options=["tables"])
        found += [table for table in own if not any(table is other for other in found)]
    return found


def _plain_words(title: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in title.casefold()).split())


def _shape(table: Table, transpose: bool) -> tuple[Table, bool]:
    """The table whose rows are chosen, and whether it has still to be turned.

    Where a table has another shape on a page than in a terminal, the other one is the one in a terminal.
    """
    if table.page is None:
        return _filled(table), transpose
    if transpose:
        return replace(_filled(table), page=None), False
    return replace(table.page, caption=table.caption, title=table.title, listed=table.listed), False


def _filled(table: Table) -> Table:
    """With the names that a terminal leaves out where the row above has the same."""
    rows, above = [], ""
    for row in table.rows:
        above = row[0] if row[0] or table.left < 2 else above
        rows.append([above, *row[1:]])
    return replace(table, rows=rows)


def _names(table: Table) -> Sequence[Sequence[str]]:
    """What the entries of a table go by: columns where it says so, else rows."""
    if table.column_names is not None:
        return table.column_names
    if table.row_names is not None:
        return table.row_names
    return [[name for cell in row[: table.left] if cell for name in names_of_label(cell)] for row in table.rows]


def _chosen(table: Table, asked: Sequence[str]) -> Table:
    places = picked(asked, _names(table))
    if table.column_names is None:
        names = None if table.row_names is None else [table.row_names[place] for place in places]
        return replace(table, rows=[table.rows[place] for place in places], row_names=names)
    kept = [*range(table.left), *(table.left + place for place in places)]
    return replace(_columns(table, kept), column_names=[table.column_names[place] for place in places])


def _columns(table: Table, kept: Sequence[int]) -> Table:
    return replace(
        table,
        heads=[table.heads[column] for column in kept],
        rows=[[row[column] for column in kept] for row in table.rows],
    )


def _written(table: Table, how: Arrangement) -> Table:
    """With other digits, and intervals where they are asked for."""
    numbers = [cell.measured for row in table.rows for cell in row if isinstance(cell, NumberCell)]
    if how.intervals != "beside" and table.interval_column is not None:
        others = [column for column in range(len(table.heads)) if column != table.interval_column]
        table = replace(_columns(table, others), interval_column=None)
    rows = [
        [_rearranged(cell, how.digits, how.intervals) if isinstance(cell, NumberCell) else cell for cell in row]
        for row in table.rows
    ]
    caption = list(table.caption)
    if how.intervals is None:
        caption = [line for line in caption if not line.startswith(_INTERVALS)]
    if how.intervals == "±":
        caption = [line for line in caption if not line.startswith(_SPREAD)]
        if any(own.interval is not None for own in numbers):
            caption.append("±: half of the width from low to high; (+a, -b): up to high and down to low")
    return replace(table, rows=rows, caption=caption)


def _rearranged(cell: NumberCell, digits: int | None, intervals: Intervals) -> Cell:
    """A number as it is asked for. digits: decimals (None: as usual)."""
    if digits is None and intervals == "beside":
        return cell
    own = cell.measured
    beside = [] if own.interval is None or intervals is None else [_between(cell, digits)]
    if own.value is None:
        return Cell(" ".join(beside) or "-", cell.style)
    words = cell.partition(" ")[0] if digits is None else decimals(own.value, digits, own.signed)
    if own.apart and intervals == "beside":
        beside = []
    if intervals == "±":
        beside = [_around(cell, digits)] if beside else []
    elif own.error is not None:
        error = cell.partition(" ± ")[2].partition(" ")[0] if digits is None else decimals(own.error, digits)
        words = f"{words} ± {error}"
    beside += [own.aside] if own.aside else []
    if intervals == "below":
        return Cell(words, cell.style, " ".join(beside))
    return Cell(" ".join([words, *beside]), cell.style)


def _between(cell: NumberCell, digits: int | None) -> str:
    own = cell.measured
    assert own.interval is not None
    low, high = (decimals(end, digits, own.signed) for end in own.interval)
    return f"({low} to {high})" if own.band else f"[{low}, {high}]"


def _around(cell: NumberCell, digits: int | None) -> str:
    """Half of the interval's width; both sides where the number does not stand in its middle."""
    own = cell.measured
    assert own.interval is not None and own.value is not None
    down, up = own.value - own.interval[0], own.interval[1] - own.value
    if not (math.isfinite(down) and math.isfinite(up)) or min(down, up) < 0:
        return _between(cell, digits)
    below, above = decimals(down, digits), decimals(up, digits)
    # Ends are rounded, too, so halves that differ in the last place alone are no news.
    even = abs(down - up) <= 10.0 ** -(4 if digits is None else digits)
    return f"± {decimals((down + up) / 2, digits)}" if even else f"(+{above}, -{below})"


def _transposed(table: Table) -> Table:
    """Rows as columns: what stands on the left of a row becomes one head."""
    left = table.left
    heads = [" ".join(cell for cell in row[:left] if cell) for row in table.rows]
    rows = [[head, *(row[column] for row in table.rows)] for column, head in enumerate(table.heads) if column >= left]
    return replace(table, heads=["", *heads], rows=rows, left=1, repeated=None, row_names=None, column_names=None)


def _folded(name: str) -> str:
    return name.casefold().replace("_", "-")
