"""Progress bars: on stderr, only on a terminal, only for work that lasts longer than two seconds."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any


class Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def advance(self, steps: int = 1) -> None:
        self._bar.update(steps)


@contextlib.contextmanager
def progress_bar(title: str, total: int, unit: str = "it") -> Iterator[Bar]:
    """A bar that stays invisible for two seconds, and for ever where stderr is not a terminal."""
    from tqdm import tqdm

    # Some terminals report a width of 0, which tqdm would fill with nothing. disable=None: off unless a terminal.
    columns = shutil.get_terminal_size().columns
    with tqdm(desc=title, total=total, unit=unit, delay=2.0, disable=None, leave=False, ncols=columns) as bar:
        yield Bar(bar)
