"""Counts and lists of names in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names, of many the first ones and how many more."""
    if len(names) <= most + 1:  # "and 1 more" would save nothing
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"
