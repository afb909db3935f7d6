"""Progress on stderr: bars on terminals and in notebooks, a line a minute in pipes and logs.

Work that lasts less than two seconds shows no bar. A log gets its first line after a minute, and only the outermost of
several bars speaks there: the whole is what a reader of a log waits for. TQDM_DISABLE=1 silences all of it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
import warnings
from types import TracebackType
from typing import Any, Protocol, cast

from .errors import visible

MINUTE = 60.0
_SHORT = 2.0
"""Seconds that work must last before anything is shown of it."""
_PAUSE = 10.0
"""Seconds without any work after which the clock of the lines starts anew."""


class Progress:
    """How far some work has come; shown where and as often as is fit."""

    def __init__(self, title: str, total: int, unit: str = "it") -> None:
        self.title = title if title.isprintable() else visible(title, lines=False)
        self.total, self.unit = total, unit
        self._shown: _Shown | None = None

    def __enter__(self) -> Progress:
        self._shown = _bar(self) or _Line(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.close()

    def advance(self, steps: int = 1) -> None:
        if self._shown is not None:
            self._shown.update(steps)


class Waiting:
    """A block that waits for others to write: after two seconds one line says for what."""

    def __init__(self, what: str) -> None:
        self._timer = threading.Timer(_SHORT, self._say, [what])
        self._timer.daemon = True  # the program may end while it waits

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    @staticmethod
    def _say(what: str) -> None:
        if sys.stderr is not None and os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
            print(f"recapture: waiting for {what}: nothing has been written to it yet", file=sys.stderr, flush=True)


class _Shown(Protocol):
    def update(self, steps: int) -> Any: ...
    def close(self) -> Any: ...


def _bar(progress: Progress) -> _Shown | None:
    """A bar where something can draw it."""
    settings: dict[str, Any] = {"desc": progress.title, "total": progress.total, "unit": progress.unit}
    settings |= {"delay": _SHORT, "leave": False}
    if _in_notebook():
        with warnings.catch_warnings():
            # Without ipywidgets the bar is drawn in characters, which is no news to whoever waits for it.
            warnings.simplefilter("ignore")
            from tqdm import auto

            return cast(_Shown, auto.tqdm(**settings))
    if sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm  # at first use: keeps `import recapture` light

        # Some terminals report a width of 0, which tqdm would fill with nothing.
        return cast(_Shown, tqdm(**settings, ncols=shutil.get_terminal_size().columns))
    return None


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this (as tqdm.auto finds out, but without loading IPython)."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if get_ipython is not None else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", ())


class _Line:
    """A line a minute: how much is done and how long the rest may take."""

    _open: list[_Line] = []  # noqa: RUF012 - shared by all of them: the outermost comes first
    _last = _ended = -MINUTE

    def __init__(self, progress: Progress) -> None:
        self._progress, self._done = progress, 0
        self._start = time.monotonic()
        if not _Line._open and self._start - _Line._ended > _PAUSE:
            _Line._last = self._start
        _Line._open.append(self)

    def update(self, steps: int) -> None:
        self._done += steps
        now = time.monotonic()
        # Work that has just begun has nothing to say, whenever the last line was.
        if now - _Line._last >= MINUTE and _Line._open and now - _Line._open[0]._start >= _SHORT:
            _Line._last = now
            _Line._open[0]._say(now)

    def close(self) -> None:
        if self in _Line._open:
            _Line._open.remove(self)
        _Line._ended = time.monotonic()

    def _say(self, now: float) -> None:
        if sys.stderr is None or os.environ.get("TQDM_DISABLE", "0") not in ("", "0"):
            return
        total, passed = self._progress.total, now - self._start
        words = f"recapture: {self._progress.title}: {self._done:,} of {total:,} {self._progress.unit}s"
        if total and self._done:
            rest = passed * max(total - self._done, 0) / self._done
            words += f" ({self._done / total:.0%}) in {span(passed)}, about {span(rest)} left"
        with contextlib.suppress(OSError):  # whoever closed stderr does without
            print(words, file=sys.stderr, flush=True)


def span(seconds: float) -> str:
    """A time as one says it: 40 s, 5 min, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
