"""Files and folders: where things are kept, and whole files or none.

What is written appears under its name only when it is complete.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from .errors import InputError

_NOWHERE = Path(os.devnull, "no-home")
"""A folder that cannot be made."""
_ASKED = threading.Lock()
"""The system tells the rights of new files only to whoever changes them."""
if hasattr(os, "register_at_fork"):  # no child is to begin with the lock closed, or with other rights
    os.register_at_fork(before=_ASKED.acquire, after_in_parent=_ASKED.release, after_in_child=_ASKED.release)


def cache_folder() -> Path:
    """Where vectors and unfinished work are kept: RECAPTURE_CACHE, else the user's own cache folder.

    Returns
    -------
    pathlib.Path
        It need not exist yet.

    Notes
    -----
    The user's own cache folder is `recapture` in XDG_CACHE_HOME, or in `~/.cache` where that variable is not set. Where
    nothing tells the home folder, the path is one that cannot be made, and nothing is kept.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> import recapture as rc
    >>> with patch.dict("os.environ", RECAPTURE_CACHE="kept"):
    ...     print(rc.cache_folder())
    kept
    """
    own = os.environ.get("RECAPTURE_CACHE")
    place = own or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = expanded(place)
    if place.startswith("~") and folder == Path(place):  # nobody knows where home is: better no cache than a folder "~"
        folder = _NOWHERE
    return folder if own else folder / "recapture"


def expanded(path: str | os.PathLike[str]) -> Path:
    """A path with ~ filled in where there is such a user, and left alone where there is not."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises for an unknown user


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, checked: bool = False) -> Iterator[Path]:
    """A temporary path beside `path`; moved there when the block ends well, removed when it does not.

    checked: whether a checksum tells whoever reads the file that it is whole, so that nobody has to wait for the disk:
    what a power cut takes is missed.
    """
    with _cannot_write(path):
        target = _Target(path)
        try:
            yield target.temporary
            target.finish(wait=not checked)
        finally:
            target.temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_files(contents: Mapping[str, str | bytes]) -> Iterator[None]:
    """Several files by path, all or none: they are ready, under other names, before the block, and there after it.

    What else has to succeed, such as results on stdout, stands in the block.
    """
    targets: list[_Target] = []
    try:
        for path, content in contents.items():
            with _cannot_write(path):
                targets.append(_Target(path))
                # A name that is not UTF-8 shows the bytes that are not; in JSON that is the way to write them.
                ready = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
                targets[-1].temporary.write_bytes(ready)
        yield
        # Pipes and devices may refuse what they are given; files that are ready only change their names.
        for target in sorted(targets, key=lambda each: each.replaces):
            with _cannot_write(target.path):
                target.finish()
    finally:
        for target in targets:
            target.temporary.unlink(missing_ok=True)


class _Target:
    """What is to be written: a file that is replaced in one step, or a device that is written to."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._open = _descriptor(path)
        # A terminal, a pipe, /dev/null are never replaced; nor is what this process was given as an open file.
        self.replaces = self._open is None and (self.path.is_file() or not self.path.exists())
        self._resolved = _resolved(self.path) if self.replaces else self.path  # a link stays a link, to the new content
        ending = self.path.suffix if len(self.path.suffix) <= 20 else ""
        handle, name = tempfile.mkstemp(
            dir=self._resolved.parent if self.replaces else None, prefix=f".{self.path.name[:40]}.", suffix=ending
        )
        os.close(handle)
        self.temporary = Path(name)

    def finish(self, wait: bool = True) -> None:
        """wait: for the disk."""
        if not self.replaces:
            with self.temporary.open("rb") as source, self._device() as sink:
                shutil.copyfileobj(source, sink)
            return
        if wait:
            with self.temporary.open("rb+") as written:
                os.fsync(written.fileno())  # on the disk before it takes the place of what was there
        self._take_rights()
        self.temporary.replace(self._resolved)

    def _device(self) -> IO[bytes]:
        if self._open is None:
            return self.path.open("wb")
        for stream in (sys.stdout, sys.stderr):  # what was said before comes first
            if stream is not None:
                stream.flush()
        return os.fdopen(os.dup(self._open), "wb")

    def _take_rights(self) -> None:
        """Owner and rights of the file whose place it takes, or the usual ones: so far they are for the owner alone."""
        try:
            before = self._resolved.stat()
        except FileNotFoundError:
            with _ASKED:  # of two threads that ask at once one would be told what the other has set
                mask = os.umask(0)
                os.umask(mask)
            self.temporary.chmod(0o666 & ~mask)
            return
        now = self.temporary.stat()
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            for owner, group in ((before.st_uid, before.st_gid), (-1, before.st_gid)):
                with contextlib.suppress(OSError):  # only some may give files away
                    os.chown(self.temporary, owner, group)
                    break
        self.temporary.chmod(stat.S_IMODE(before.st_mode))


def check_writable(path: str | os.PathLike[str], keep: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Refuse a target that cannot be written, or that is among the inputs, before the work is done, not after.

    keep: files that are read ("-": standard input), and folders whose files are.
    """
    target = Path(path)
    with _cannot_write(path):
        known = _identity(target)
        if known is not None and any(_holds(source, target, known) for source in keep):
            raise InputError(f"cannot write {path}: it is an input, which would be lost")
        if (number := _descriptor(path)) is not None:
            os.fstat(number)
            return
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a directory")
        if target.exists() and not os.access(target, os.W_OK):
            raise InputError(f"cannot write {path}: it is not writable")
        if target.exists() and not target.is_file():
            return
        folder = _resolved(target).parent
        if not folder.is_dir():
            raise InputError(f"cannot write {path}: there is no directory {target.parent}")
        # Only trying tells: file systems and containers refuse in more ways than rights show.
        handle, name = tempfile.mkstemp(dir=folder, prefix=".recapture.")
        os.close(handle)
        Path(name).unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    """What all names of a regular file have in common; None where there is none."""
    try:
        found = os.fstat(0) if str(path) == "-" else path.stat()
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _holds(source: str | os.PathLike[str], target: Path, known: tuple[int, int]) -> bool:
    """Whether a file, or a file of a folder, is the one that is known."""
    with contextlib.suppress(OSError, ValueError):
        place = expanded(source)
        if not place.is_dir():
            return _identity(place) == known
        # By links, too: a folder of weights may hold nothing else.
        inside = target.resolve().is_relative_to(place.resolve())
        return inside or any(_identity(Path(at, name)) == known for at, _, names in os.walk(place) for name in names)
    return False


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a path such as /dev/stdout stands for."""
    given = os.fspath(path)
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", given)
    return int(found[1]) if found else {"/dev/stdout": 1, "/dev/stderr": 2}.get(given)


@contextlib.contextmanager
def _cannot_write(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from None


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (RuntimeError, ValueError) as error:  # links in a circle, a name with a zero byte
        raise OSError(str(error)) from None
