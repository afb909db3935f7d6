"""Values as CSV and JSON, in full precision: no formula for a spreadsheet, and nothing that a terminal would obey."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..checks import plain
from ..errors import visible

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+|inf|nan)(?:e[-+]?\d+)?"
_BETWEEN = r"(?:[\s,()\[\]±%<>]|\b(?:p|to)\b)"
_NUMBERS = rf"[-+]{_NUMBER}(?:{_BETWEEN}*(?:[(\[,]\s*|\bto\s+)[-+]{_NUMBER}|{_BETWEEN}+{_NUMBER})*{_BETWEEN}*$"
_FORMULA = re.compile(rf"[=@\t]|(?!{_NUMBERS})[-+](?!$)")
"""What a spreadsheet would take as a formula. Numbers, with or without an interval or a p-value, are none."""
_RAW_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON may hold as it is, but a terminal would obey (see `visible`)."""


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(map(_harmless, row) for row in rows)
    return stream.getvalue()


def _harmless(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    words = visible(cell)
    return "'" + words if _FORMULA.match(words) else words


def spelt(value: Any) -> Any:
    """A value as it stands in a cell of CSV: lists in one cell, numbers with all their digits."""
    if isinstance(value, (list, tuple)):
        return " | ".join(map(str, value))
    return "" if value is None else float.__repr__(value) if isinstance(value, float) else value


def finite(value: Any) -> Any:
    """Plain Python types without infinities or NaN."""
    value = plain(value)
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object a line."""
    return "".join(json_text(record) + "\n" for record in records)


def json_text(content: Any, indent: int | None = None) -> str:
    """Readable and harmless: what a terminal would obey stands as an escape of JSON's own, which means the same."""
    text = json.dumps(finite(content), indent=indent, ensure_ascii=False, allow_nan=False)
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
