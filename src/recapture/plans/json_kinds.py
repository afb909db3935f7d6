"""What a plan says, read with care: whoever made the folder may have written anything, with the right checksum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NUMBER: tuple[type, ...] = (int,)
TEXT: tuple[type, ...] = (str,)
NOTHING: tuple[type, ...] = (type(None),)


def of_kinds(said: Any, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    """The members of an object in JSON, all of them and each of its kind; ValueError where it has others."""
    if not isinstance(said, dict) or set(said) != set(kinds):
        raise ValueError("other members than a plan has")
    for name, kind in kinds.items():
        if type(said[name]) not in kind:  # a bool is no number
            raise ValueError(f"{name} is of another kind")
    return said


def check_all(values: Any, kind: tuple[type, ...]) -> None:
    """ValueError where a list, or what is in it, is of another kind."""
    if not isinstance(values, list) or any(type(value) not in kind for value in values):
        raise ValueError("a list of another kind")
