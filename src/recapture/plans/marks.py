"""Which parts somebody is at: hints, so that workers do not do each other's work. No result depends on them.

A mark is a small hidden file beside the parts, written anew again and again while somebody is at the part, however long
that takes. Who is killed leaves it there: a mark does not count that stays the same for long, or whose process has
ended, if that ran on this machine.
"""

from __future__ import annotations

import os
import socket
import stat
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from ..errors import InputError
from .places import Place, content_up_to, sizes_in, whole

_LONGEST = 300
"""Bytes of a mark."""
_RENEWED, _TRUSTED = 20, 120
"""Seconds after which a mark is written anew, and for which one is trusted that stays the same: shared folders may show
a change a minute late."""
_UNWRITTEN = 10
"""The same for one that says nothing: its worker was killed before it had written it, which takes no time."""


class Marks:
    """Marks of one plan, as one worker sees them."""

    def __init__(self, folder: Place) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[bytes, float]] = {}
        """Marks of others: what each says, and since when this worker has seen it say so."""

    def first_free(self, names: Iterable[str]) -> str | None:
        """Mark the first of some parts that nobody is at."""
        there: Collection[str] = ()
        with suppress(InputError):
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
        try:
            if isinstance(mark, Path):
                return _is_new(mark, _said(0))
            _write(mark, _said(0))  # such storage cannot tell who came first
        except (OSError, InputError):  # where nothing can be written the part itself will say so
            pass
        return True

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """As long as this worker is at a part; the mark is gone after the block."""
        ended = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(name, ended), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            ended.set()
            renewing.join()
            with suppress(OSError):
                self._mark(name).unlink()

    def _renew(self, name: str, ended: threading.Event) -> None:
        for times in count(1):
            if ended.wait(_RENEWED):
                return
            with suppress(OSError, InputError):
                _write(self._mark(name), _said(times))

    def _mark(self, name: str) -> Place:
        return self._folder / f".begun-{name}"

    def _holds(self, name: str, mark: Place) -> bool:
        """Whether somebody is still at a part that is marked."""
        said = b""
        with suppress(OSError):
            said = content_up_to(mark, _LONGEST) or b""
        if self._seen.get(name, (None, 0.0))[0] != said:  # else all who waited would begin when one of them does
            self._seen[name] = said, time.monotonic()
        if time.monotonic() - self._seen[name][1] > (_TRUSTED if said else _UNWRITTEN):
            return False
        with suppress(ValueError):
            host, process, _ = said.decode().rsplit(" ", 2)
            if host == socket.gethostname() and not _is_alive(int(process)):
                return False
        return True


def _said(times: int) -> str:
    """times: that the mark was written anew; what says something else than before is trusted again."""
    return f"{socket.gethostname()} {os.getpid()} {times}"[-_LONGEST:]


def _write(mark: Place, said: str) -> None:
    with whole(mark, checked=True) as temporary:
        temporary.write_text(said)


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
