"""Where plans and vectors lie: folders here, or behind any URL that fsspec knows, with the few operations plans need.

What has to be mapped into memory is copied once to this machine's folder for temporary files (`local_copies`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import re
import stat
import time
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from ..errors import InputError, first_line
from ..files import expanded, whole_file
from .local_copies import copy_path, unnamed_copy, used_copy

_URL = re.compile(r"([a-z][a-z0-9+.:-]+)://", re.IGNORECASE)
"""How a URL begins; kinds of storage may be chained by "::"."""

_COARSE = 2_000_000_000
"""Nanoseconds of the coarsest clock of a file system."""


class _Digested(Protocol):
    @property
    def digest(self) -> str: ...


Content = TypeVar("Content", bound=_Digested)
Found = TypeVar("Found")


class _Stat(NamedTuple):
    st_size: int


class RemotePath:
    """A file or folder behind a URL: what is used of `Path`, by the same names and with the same errors."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __reduce__(self) -> tuple[type[RemotePath], tuple[str]]:
        return RemotePath, (self._url,)

    def __str__(self) -> str:
        return self._url

    def __truediv__(self, name: str) -> RemotePath:
        # Object stores know no "..": to them it is a name like others.
        start, path = _parts(self._url)
        return RemotePath(start + posixpath.normpath(posixpath.join(path, name)))

    @property
    def name(self) -> str:
        return self._url.rstrip("/").rpartition("/")[2]

    def stat(self) -> _Stat:
        with _as_os_errors():
            return _Stat(int(self._system.info(self._path)["size"]))

    def is_file(self) -> bool:
        try:
            with _as_os_errors():
                return bool(self._system.info(self._path)["type"] == "file")
        except FileNotFoundError:
            return False
        except OSError as error:  # which says nothing of whether there is one
            raise unread(self, error) from None

    def read_bytes(self) -> bytes:
        with _as_os_errors():
            return bytes(self._system.cat_file(self._path))

    def unlink(self) -> None:
        with _as_os_errors():
            self._system.rm_file(self._path)

    def mkdir(self, exist_ok: bool = True) -> None:
        with _as_os_errors():
            self._system.makedirs(self._path, exist_ok=exist_ok)

    def iterdir(self) -> list[RemotePath]:
        """Nothing where there is no such folder: object stores have none that are empty."""
        try:
            with _as_os_errors():
                listed = self._system.ls(self._path, detail=False)
        except FileNotFoundError:
            return []
        return [self / name.rstrip("/").rpartition("/")[2] for name in listed]

    def sizes(self) -> dict[str, int]:
        with _as_os_errors():
            listed = self._system.ls(self._path, detail=True)
        files = (each for each in listed if each.get("type") == "file")
        return {each["name"].rpartition("/")[2]: int(each.get("size") or 0) for each in files}

    def fetch(self, target: Path) -> None:
        with _as_os_errors():
            self._system.get_file(self._path, os.fspath(target))

    def put(self, source: Path) -> None:
        with _as_os_errors():
            self._system.put_file(os.fspath(source), self._path)

    @property
    def _system(self) -> Any:
        return self._opened[0]

    @property
    def _path(self) -> str:
        return str(self._opened[1])

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise InputError(
                f'{self._url} is read with fsspec, which is missing: pip install "recapture[storage]"'
            ) from None
        try:
            # What others write meanwhile is to be seen.
            system, path = url_to_fs(self._url, use_listings_cache=False)
        except Exception as error:  # an unknown kind of URL, a missing package for it, credentials: as the package says
            raise InputError(f"{self._url} cannot be opened: {first_line(error)}") from None
        return system, path


Place: TypeAlias = Path | RemotePath


def place_of(path: str) -> Place:
    """A folder or file by its path or URL."""
    found = _URL.match(path)
    if found is None:
        return expanded(path)
    if found[1].lower() == "file":
        return Path(path[found.end() :])
    return RemotePath(path[: found.end()] + path[found.end() :].rstrip("/"))


def beside(path: str, folder: Place) -> str:
    """A file as seen from a folder, or from nowhere in particular where they lie in different worlds."""
    place = place_of(path)
    if isinstance(place, Path):
        return os.path.relpath(place, folder) if isinstance(folder, Path) else os.path.abspath(place)  # noqa: PTH100
    (start, own), (other, theirs) = _parts(str(place)), _parts(str(folder))
    return posixpath.relpath(own, theirs) if start == other else str(place)


def seen_from(folder: Place, path: str) -> Place:
    """What `beside` made, as a place again."""
    if _URL.match(path) or Path(path).is_absolute():
        return place_of(path)
    return folder / path


@contextlib.contextmanager
def whole(place: Place, *, checked: bool = False) -> Iterator[Path]:
    """A temporary path; its content is in the place when the block ends well (see `whole_file`). Nothing is written
    through a link: a folder may come from somebody else."""
    if isinstance(place, Path):
        if os.path.lexists(place) and not stat.S_ISREG(place.lstat().st_mode):
            raise InputError(f"cannot write {place}: a link, or no plain file, is in its place")
        with whole_file(place, checked=checked) as temporary:
            yield temporary
        return
    try:
        with unnamed_copy(place.name) as temporary:
            yield temporary
            place.put(temporary)
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from None


def content_up_to(place: Place, most: int) -> bytes | None:
    """All of a file; None where it is longer. OSError where there is none: a pipe would be waited for."""
    if isinstance(place, Path) and not stat.S_ISREG(place.stat().st_mode):
        raise OSError("it is no plain file")
    return None if place.stat().st_size > most else place.read_bytes()


def size_of(place: Place) -> int | None:
    """Bytes of a plain file; None where there is none. A pipe, which has none, would be waited for."""
    try:
        found = place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unread(place, error) from None
    is_plain = not isinstance(found, os.stat_result) or stat.S_ISREG(found.st_mode)
    return found.st_size if is_plain else None


def sizes_in(folder: Place) -> dict[str, int]:
    """Names and sizes of the plain files of a folder, by one look at it; none where there is no such folder."""
    found: dict[str, int] = {}
    try:
        if not isinstance(folder, Path):
            return folder.sizes()
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # it may be gone meanwhile
                    if entry.is_file():
                        found[entry.name] = entry.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise unread(folder, error) from None
    return found


class _FileState(NamedTuple):
    """What a file on this machine changes with its content, whoever writes to it."""

    device: int
    number: int
    bytes: int
    written: int
    changed: int
    """As `written`, in nanoseconds; but nobody can set it."""

    @classmethod
    def of(cls, path: Path) -> _FileState:
        found = path.stat()
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        """Whether a change from now on would show: clocks of file systems are coarse."""
        return time.time_ns() - max(self.written, self.changed) > _COARSE


def remembered(place: Place, question: Hashable, find: Callable[[], Found]) -> Found:
    """What is found in a file. A file on this machine that stays as it is is not looked through again for the same
    question by this process, unless nothing was found."""
    state = None
    if isinstance(place, Path):
        with contextlib.suppress(OSError):  # which is told by whoever reads it
            state = _FileState.of(place)
    if (state, question) in _REMEMBERED:
        return cast(Found, _REMEMBERED[state, question])
    settled = state is not None and state.is_settled  # before it is read
    found = find()
    if found and settled:
        _REMEMBERED[state, question] = found
    return found


_REMEMBERED: dict[tuple[_FileState | None, Hashable], Any] = {}


def local_copy(place: Place, digest: str) -> Path:
    """The file itself where it lies here; else a copy in this machine's folder for temporary files, made once for all
    processes. Whoever reads it has to prove that it has this digest, and to `drop_copy` where it has not."""
    if isinstance(place, Path):
        return place
    with used_copy(digest, place.name) as target:
        if not target.exists():
            with whole_file(target, checked=True) as temporary:
                try:
                    place.fetch(temporary)
                except OSError as error:
                    if error.errno == errno.ENOSPC:  # which is about this machine
                        raise
                    raise unread(place, error) from None
    return target


def drop_copy(place: Place, digest: str) -> None:
    if isinstance(place, RemotePath):
        copy_path(digest, place.name).unlink(missing_ok=True)


def kept_copy(place: Place, content_of: Callable[[Path], Content]) -> tuple[Path, Content]:
    """A file whose content nobody knows yet: itself where it lies here, else the copy that `local_copy` will find."""
    if isinstance(place, Path):
        return place, content_of(place)
    with unnamed_copy(place.name) as fetched:
        try:
            place.fetch(fetched)
        except OSError as error:
            raise unread(place, error) from None
        content = content_of(fetched)
        with used_copy(content.digest, place.name) as target:
            # One that is right stays: to whoever reads it, it would have changed.
            right = target.exists() and content_of(target) == content
            return target if right else fetched.replace(target), content


def unread(place: Place, error: OSError) -> InputError:
    return InputError(f"{place} cannot be read: {error.strerror or error}")


@contextlib.contextmanager
def told_of(place: Place, copy: Path) -> Iterator[None]:
    """What is wrong with a copy is said of the file that it is a copy of."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(str(copy), str(place))) from None


@contextlib.contextmanager
def _as_os_errors() -> Iterator[None]:
    """Every kind of storage has errors of its own, which nobody here can list."""
    try:
        yield
    except (OSError, InputError):
        raise
    except Exception as error:
        raise OSError(first_line(error)) from None


def _parts(url: str) -> tuple[str, str]:
    """What a path is never without (the kind of storage), and the path."""
    found = _URL.match(url)
    start = found.end() if found else 0
    return url[:start], url[start:]
