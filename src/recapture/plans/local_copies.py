"""Copies on this machine of files that lie elsewhere: one for all processes of a user, gone with the last that uses it.

They lie in the folder for temporary files under the digest of their content, so that whoever reads one can prove that
it is the right one. Every process holds a lock on what it uses, as long as it lives: a lock ends with the process,
however that ends. What nobody holds is deleted when a process ends, and when another begins. A cluster ends its
processes without asking them: those say for which run they work, and what they hold for it is let go when it is done.
Where files cannot be locked nothing is deleted.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_OWN = re.compile(r"\.?([0-9a-f]{32})(\..*)?")
"""Copies, what they are written to before they are whole, and their locks."""
_MADE, _USED = ".lock", ".used"
"""Endings of the locks of whoever makes a copy, and of all who use it."""
_held: dict[Path, IO[str]] = {}
"""Locks of the copies that a process uses. A child that was forked has no locks of its own: those are its parent's."""
_holder = os.getpid()
_run = ""


def copy_path(digest: str, name: str) -> Path:
    """Where the copy of a file with this digest and name lies."""
    return _folder() / f"{digest}{Path(name).suffix}"


@contextlib.contextmanager
def used_copy(digest: str, name: str) -> Iterator[Path]:
    """The same, as long as this process lives: in the block this process alone may make it."""
    path = copy_path(digest, name)
    with _locked(path.with_suffix(_MADE)):
        _hold(_used(path))
        yield path


@contextlib.contextmanager
def unnamed_copy(name: str) -> Iterator[Path]:
    """Where a file may be written whose digest nobody knows yet; it is deleted after the block."""
    path = copy_path(secrets.token_hex(16), name)
    used = _used(path)
    _hold(used)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        if used in _held:
            _held.pop(used).close()
        used.unlink(missing_ok=True)


def work_for(run: str) -> None:
    """Whatever this process uses from now on is used for a run of this name."""
    global _run
    _run = run


def end_of(run: str) -> None:
    """What processes on this machine hold for a run is not needed any more."""
    folder = _folder()
    for lock in folder.glob(f"*.{run}{_USED}"):
        lock.unlink(missing_ok=True)
    delete_unused(folder)


def _used(path: Path) -> Path:
    """The lock of all who use a copy, here or for one run."""
    return path.with_name(f"{path.stem}{'.' * bool(_run)}{_run}{_USED}")


def _folder() -> Path:
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"recapture-{owner}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if _is_own(folder):
            return folder
    except OSError as error:
        raise InputError(f"copies cannot be kept in {folder}: {error.strerror or error}") from None
    raise InputError(f"copies cannot be kept in {folder}: somebody else may write there")


def _is_own(folder: Path) -> bool:
    """Whether nobody else may write there, who could change copies while they are read."""
    found = folder.lstat()  # a link may lead to any folder of the user
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & 0o022


def _hold(used: Path) -> None:
    """Say that this process uses a copy, until it ends."""
    global _holder
    if fcntl is None:
        return
    if _holder != os.getpid():
        while _held:  # the parent has them still
            _held.popitem()[1].close()
        _holder = os.getpid()
    if used in _held:
        return
    if not any(used.parent == other.parent for other in list(_held)):  # other threads may hold and let go meanwhile
        delete_unused(used.parent)
    lock = _lock(used, fcntl.LOCK_SH)
    if lock is not None:
        _held[used] = lock


@atexit.register
def _let_go() -> None:
    """All that this process uses."""
    if _holder != os.getpid():
        return
    folders = {path.parent for path in _held}
    while _held:
        _held.popitem()[1].close()
    for folder in folders:
        delete_unused(folder)


def delete_unused(folder: Path) -> None:
    """Copies that no process holds; nothing else that may lie in the folder."""
    files: dict[str, list[Path]] = {}
    with contextlib.suppress(OSError):
        for path in folder.iterdir() if fcntl is not None and _is_own(folder) else ():
            if (found := _OWN.fullmatch(path.name)) is not None:
                files.setdefault(found[1], []).append(path)
    for digest, own in files.items():
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.suppress(OSError))
            locks = [folder / f"{digest}{_MADE}", *(path for path in own if path.suffix == _USED)]
            taken = (_lock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB) for lock in locks)
            if all(lock is not None and stack.enter_context(lock) for lock in taken):
                for path in (*(path for path in own if path not in locks), *locks):  # which others may wait for
                    path.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The processes of a machine do not all fetch the same file; where files cannot be locked, they do."""
    lock = None if fcntl is None else _lock(path, fcntl.LOCK_EX)
    with lock or contextlib.nullcontext():
        yield


def _lock(path: Path, how: int) -> IO[str] | None:
    """A lock that ends when it is closed; None where it cannot be had."""
    with contextlib.suppress(OSError):
        while True:
            with contextlib.ExitStack() as unless_had:
                lock = unless_had.enter_context(path.open("a"))
                fcntl.flock(lock, how)
                if _is_at(lock, path):
                    unless_had.pop_all()
                    return lock
    return None


def _is_at(lock: IO[str], path: Path) -> bool:
    """Whether it is still the file of this name: one that somebody has deleted keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False
