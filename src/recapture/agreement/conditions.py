"""Which rows of files of scores are wanted: those whose fields have certain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import InputError, nearest_names
from ..texts.records import has_field, value_of
from .rows import Placed

_MOST = 1000
"""Values of a field that are remembered, to name the nearest."""


class Conditions:
    """Values by field, any of several; asked of the files that have the field at all."""

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self.wanted = {
            field: [_word(each) for each in value] if isinstance(value, (list, tuple, set)) else [_word(value)]
            for field, value in wanted.items()
        }
        self._values: dict[str, dict[str, None]] = {field: {} for field in wanted}
        self._heads: dict[str, None] = {}
        self._found: set[str] = set()
        self._names: list[str] = []
        self._any = False

    def kept(self, rows: Placed, name: str) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
        """The wanted rows of one file."""
        rows = list(rows) if self.wanted else rows
        own = [field for field in self.wanted if any(has_field(record, field) for _, record, _ in rows)]
        self._found |= set(own)
        self._names.append(name)
        empty = True
        for place, record, loose in rows:
            empty = False
            if self.wanted:
                self._heads |= dict.fromkeys(map(str, record))
            if all(self._fits(record, place, field) for field in own):
                self._any = True
                yield place, record, loose
        if empty:
            raise InputError(f"{name} holds no scores")

    def _fits(self, record: Mapping[str, Any], place: str, field: str) -> bool:
        if not has_field(record, field):
            return False
        value = _word(value_of(record, place, field))
        if len(self._values[field]) < _MOST:
            self._values[field][value] = None
        return value in self.wanted[field]

    def check_rows(self) -> None:
        """Refuse conditions that no row of the files so far meets."""
        if self._any or not self._found:
            self._any = False  # files that are read later have to meet them, too
            return
        asked = " and ".join(f"{field} {' or '.join(map(repr, values))}" for field, values in self.wanted.items())
        field = next(field for field in self.wanted if field in self._found)
        near = nearest_names(self.wanted[field][0], self._values[field])
        raise InputError(f"{', '.join(self._names)}: no row has {asked}: {near}")

    def unfound(self) -> str:
        """Of fields that no row has had so far, for messages about rows that should not be there."""
        absent = [field for field in self.wanted if field not in self._found]
        return f"; no row so far has the field {absent[0]!r} that --where names" if absent else ""

    def check_fields(self) -> None:
        """Refuse conditions on fields that none of the files has."""
        for field in self.wanted:
            if field not in self._found:
                files = " or ".join(self._names)
                raise InputError(f"no row of {files} has a field {field!r}: {nearest_names(field, self._heads)}")


def _word(value: Any) -> str:
    """As JSON writes it."""
    return (
        {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else str(value)
    )
