"""Numbers of a result as one table of pandas: a row each, in full precision."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError, nearest_names, shown

if TYPE_CHECKING:
    from pandas import DataFrame

Records = Sequence[tuple[str, Sequence[Mapping[str, Any]]]]
"""Rows by kind; a kind may stand in several places."""


class Rows(list[dict[str, Any]]):
    """Rows of one kind, which may be none, and the columns that they have all the same."""

    def __init__(self, rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
        super().__init__(rows)
        self.columns = tuple(columns)


def frame_of(parts: Records, kind: str | None) -> DataFrame:
    """All rows, with their kind in the first column where there are several; or those of one kind, with its columns."""
    try:
        from pandas import DataFrame, Series
    except ImportError:
        raise InputError('to_pandas needs pandas: pip install "recapture[pandas]"') from None
    kinds = list(dict.fromkeys(each for each, _ in parts))
    if kind is not None and kind not in kinds:
        raise InputError(f"there are no rows of the kind {shown(kind)}; {nearest_names(kind, kinds)}")
    chosen = [(each, row) for each, rows in parts if kind in (None, each) for row in rows]
    empty = (getattr(rows, "columns", ()) for each, rows in parts if each == kind)
    heads = dict.fromkeys(head for own in (*empty, *(row for _, row in chosen)) for head in own)
    columns: dict[str, Any] = {}
    if kind is None and len(kinds) > 1:
        columns["kind"] = [each for each, _ in chosen]
    for head in heads:
        values = _column([row.get(head) for _, row in chosen])
        columns[head] = Series(values, dtype=object) if any(map(_half, values)) else values
    return DataFrame(columns)


def _column(values: Sequence[Any]) -> Sequence[Any]:
    """Lists as tuples, which can be grouped by and compared; among numbers, what is missing is not a number."""
    values = [_hashable(value) for value in values]
    numbers = [value for value in values if value is not None]
    if all(type(value) in (int, float) for value in numbers) and len(numbers) < len(values):
        return [math.nan if value is None else float(value) for value in values]
    return values


def _half(value: Any) -> bool:
    """Whether this is a text with half of a character, which pandas' own type of texts cannot hold."""
    return isinstance(value, str) and not value.isascii() and any("\ud800" <= each <= "\udfff" for each in value)


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, _hashable(inner)) for key, inner in value.items())
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value
