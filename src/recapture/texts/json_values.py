"""JSON parsed with care: nothing that could be read in two ways, and one sentence for all that is broken."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from ..errors import InputError

_DEEPEST = 100
"""Lists and objects inside each other; what walks through them later must not run out of stack."""
_DIGITS = 400
"""Of a whole number. Longer ones are beyond the range of floats, and Python refuses the longest."""


class _RepeatedKeyError(ValueError):
    pass


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _RepeatedKeyError(next(key for key, count in counts.items() if count > 1))
    return record


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_WHOLE = json.JSONDecoder(object_pairs_hook=_record, parse_int=_whole)
# Where whole numbers matter only inside embeddings.
_REAL = json.JSONDecoder(object_pairs_hook=_record, parse_int=float)


def parsed(content: str, where: str, *, line: int | None = None, real: bool = False, if_more_follows: str = "") -> Any:
    """The value of some JSON.

    line: where the content begins in the file, for messages; None if `where` says it already. real: all numbers become
    floats. if_more_follows: advice where there is more than one value.
    """
    place = where if line is None else f"{where} line {line}"
    try:
        value = (_REAL if real else _WHOLE).decode(content)
    except json.JSONDecodeError as error:
        if line is not None:
            place = f"{where} line {line + error.lineno - 1}"
        hint = if_more_follows if error.msg == "Extra data" else ""
        raise InputError(f"{place}: broken JSON: {error.msg} (column {error.colno}){hint}") from None
    except _RepeatedKeyError as error:
        key = str(error).encode("utf-8", "backslashreplace").decode()
        raise InputError(f"{place}: the key {key!r} stands twice in one object") from None
    except RecursionError:
        raise InputError(f"{place}: JSON nested too deeply") from None
    # Most content has too few brackets to be deep: only the rest is looked through.
    if content.count("[") + content.count("{") > _DEEPEST and _is_deep(value):
        raise InputError(f"{place}: JSON nested too deeply")
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _containers(each)]
        if not level:
            return False
    return True


def _containers(value: Any) -> list[Any]:
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if {dict, list}.isdisjoint(map(type, inside)):  # a long list of numbers: no look at each of them in Python
        return []
    return [inner for inner in inside if isinstance(inner, (dict, list))]
