"""Which parts somebody is at: hints, so that workers do not do each other's work. No result depends on them.

A mark is a small hidden file beside the parts. Who is killed leaves it there. A mark does not count whose process has
ended, if that ran on this machine, or that stays for much longer than parts take here.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from ..errors import InputError
from .places import Place, content_up_to, sizes_in, whole

_LONGEST = 300
"""Bytes of a mark."""
_PATIENCE, _LEAST = 10, 60
"""A mark is trusted for so many times as long as the longest part took here, and for so many seconds at least."""


class Marks:
    """Marks of one plan, as one worker sees them."""

    def __init__(self, folder: Place) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[bytes, float]] = {}
        """Marks of others: what each says, and since when this worker has seen it say so."""
        self._longest = 0.0
        """Seconds that a part took here."""

    def first_free(self, names: Iterable[str]) -> str | None:
        """Mark the first of some parts that nobody is at."""
        there = sizes_in(self._folder)
        return next((name for name in names if self._take(name, there)), None)

    def _take(self, name: str, there: Collection[str]) -> bool:
        mark = self._mark(name)
        if mark.name in there:
            if self._holds(name, mark):
                return False
            try:
                mark.unlink()
            except FileNotFoundError:
                pass
            except OSError:  # it is somebody else's, and stays
                return True
        self._seen.pop(name, None)
        said = f"{socket.gethostname()} {os.getpid()}"[:_LONGEST]
        try:
            if isinstance(mark, Path):
                return _is_new(mark, said)
            with whole(mark) as temporary:  # such storage cannot tell who came first
                temporary.write_text(said)
        except (OSError, InputError):  # where nothing can be written the part itself will say so
            pass
        return True

    def drop(self, name: str, seconds: float) -> None:
        """seconds: that the part took"""
        self._longest = max(self._longest, seconds)
        with suppress(OSError):
            self._mark(name).unlink()

    def _mark(self, name: str) -> Place:
        return self._folder / f".begun-{name}"

    def _holds(self, name: str, mark: Place) -> bool:
        """Whether somebody is still at a part that is marked."""
        said = b""
        with suppress(OSError):
            said = content_up_to(mark, _LONGEST) or b""
        if self._seen.get(name, (None, 0.0))[0] != said:  # else all who waited would begin when one of them does
            self._seen[name] = said, time.monotonic()
        if time.monotonic() - self._seen[name][1] > max(_LEAST, _PATIENCE * self._longest):
            return False
        with suppress(ValueError):
            host, _, process = said.decode().rpartition(" ")
            if host == socket.gethostname() and not _is_alive(int(process)):
                return False
        return True


def _is_new(mark: Path, said: str) -> bool:
    """Write a mark; whether nobody was quicker. Folders, pipes and links are no marks."""
    try:
        with mark.open("x") as stream:
            stream.write(said)
    except FileExistsError:
        return not stat.S_ISREG(mark.lstat().st_mode)
    return True


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere the question would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    with suppress(OSError):  # one that has ended while its parent has not asked for it
        return Path("/proc", str(process), "stat").read_bytes().rpartition(b") ")[2][:1] != b"Z"
    return True
