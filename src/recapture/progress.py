"""Progress bars: on stderr, only on a terminal, only for work that lasts longer than two seconds."""

from __future__ import annotations

import shutil
from types import TracebackType
from typing import Any


class Progress:
    """A bar that stays invisible for two seconds, and for ever where stderr is not a terminal."""

    def __init__(self, title: str, total: int, unit: str = "it") -> None:
        self._settings = {"desc": title, "total": total, "unit": unit}
        self._bar: Any = None

    def __enter__(self) -> Progress:
        from tqdm import tqdm  # at first use: keeps `import recapture` light

        # Some terminals report a width of 0, which tqdm would fill with nothing.
        columns = shutil.get_terminal_size().columns
        # disable=None means "off unless stderr is a terminal".
        self._bar = tqdm(**self._settings, delay=2.0, disable=None, leave=False, ncols=columns)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def advance(self, steps: int = 1) -> None:
        self._bar.update(steps)
