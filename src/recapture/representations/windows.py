"""Texts longer than a model takes, cut into overlapping windows."""

from __future__ import annotations

from typing import NamedTuple


class Window(NamedTuple):
    """Tokens `start` to `stop` go through the model together; `first` to `last` of them are kept."""

    start: int
    stop: int
    first: int
    last: int


def windows(count: int, room: int) -> list[Window]:
    """Windows of `room` tokens over `count`: every token is kept once, from a window that shows both sides of it.

    Neighbouring windows share half their tokens, so a token has at least a quarter of a window before and behind it,
    unless the text itself begins or ends there.
    """
    if count <= room:
        return [Window(0, count, 0, count)]
    step = max(1, room // 2)
    starts = [*range(0, count - room, step), count - room]
    parts = []
    first = 0
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        stop = start + room
        last = count if following is None else (following + stop + 1) // 2
        parts.append(Window(start, stop, first, last))
        first = last
    return parts
