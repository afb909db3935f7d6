"""Finished parts of long work kept on disk, so that interrupted work goes on where it stopped.

One JSON object a line, {"check": CHECKSUM, "step": KEY, "value": what JSON can say}, appended as parts are finished.
The checksum is over all bytes that follow it in the line: a line that is not what was written, or that has none (as
written before there were any), is as if it were not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .checks import path_of, plain
from .files import cache_folder

_KEY, _VALUE = "step", "value"
_HEAD = b'{"check": "%s", '
_HEAD_SIZE = len(_HEAD % (b"0" * 16))
_waiting: ContextVar[list[Journal] | None] = ContextVar("waiting", default=None)


def _folder() -> Path:
    return cache_folder() / "runs"


def unfinished() -> list[Path]:
    """Journals of runs over contexts that were interrupted and not repeated."""
    return sorted(_folder().glob("contexts-*.jsonl"))


@contextlib.contextmanager
def kept_until_the_end() -> Iterator[None]:
    """What journals hold outlives the block if it fails: those that close within are removed when it ends well."""
    waiting: list[Journal] = []
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
    for journal in waiting:
        journal.close()


class Journal:
    """Values by key in a file of JSON lines, appended one by one; interrupted work finds again what it had finished.

    Every line has a checksum: values of lines that are damaged, cut off or without one are made again.

    Parameters
    ----------
    path : pathlib.Path, str or None
        The file; it and its folder are made when the first value is added. None keeps nothing on disk.

    Examples
    --------
    >>> import recapture as rc
    >>> journal = rc.Journal(None)
    >>> journal.get("a", lambda: 3 * 14)
    42
    >>> journal.get("a", lambda: 0)  # known already
    42
    """

    def __init__(self, path: Path | str | None) -> None:
        self.path = None if path is None else Path(path_of(path, "a journal"))
        self._known: dict[str, Any] | None = None

    @classmethod
    def of(cls, run: Mapping[str, Any], name: str = "run", folder: Path | None = None) -> Journal:
        """The journal of a run: the same description always leads to the same file.

        Parameters
        ----------
        run : mapping
            Everything the values depend on; it decides the name of the file.
        name : str
            What the file's name begins with.
        folder : pathlib.Path, optional
            Where the file lies; by default `runs` in the cache folder.

        Returns
        -------
        Journal
        """
        described = json.dumps(plain(run), sort_keys=True, ensure_ascii=False)
        digest = hashlib.blake2b(described.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        return cls((folder or _folder()) / f"{name}-{digest}.jsonl")

    def finished(self) -> dict[str, Any]:
        """All values by key, as the file has them now; a line that is damaged or cut off does not count.

        Returns
        -------
        dict
        """
        values: dict[str, Any] = {}
        if self.path is None:
            return values
        try:
            content = self.path.read_bytes()
        except OSError:  # most likely there is none
            return values
        for line in content.splitlines():
            if line[:_HEAD_SIZE] != _head(line[_HEAD_SIZE:]):
                continue
            # A line with the right checksum may still be one that no journal wrote.
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                record = json.loads(line)
                values[record[_KEY]] = record[_VALUE]
        return values

    def add(self, values: Mapping[str, Any]) -> None:
        """Keep values by key. Where the file cannot be written there is one warning, and nothing is kept from then on.

        Parameters
        ----------
        values : mapping
            What JSON can say; NumPy's numbers and arrays are turned into plain ones.
        """
        if self._known is not None:
            self._known.update(values)
        if self.path is None:
            return
        lines = b"".join(_line(key, value) for key, value in values.items())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as stream:
                # The first line break separates these lines from one that interrupted work left unfinished.
                stream.write(b"\n" + lines)
        except OSError as error:
            where = f"{self.path.parent}: {error.strerror or error}"
            warnings.warn(f"an interrupted run could not go on from here, nothing is kept in {where}", stacklevel=2)
            self.path = None

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The value of one part, made now or kept from before.

        Parameters
        ----------
        key : str
            The part's name.
        make : callable
            Makes the value where it is not known yet.

        Returns
        -------
        object
            What JSON can say: what is made now looks like what will be read later (lists for tuples and arrays).
        """
        if self._known is None:
            self._known = self.finished()
        if key not in self._known:
            self.add({key: json.loads(json.dumps(plain(make())))})
        return self._known[key]

    def close(self) -> None:
        """Remove the file: the work is complete."""
        waiting = _waiting.get()
        if waiting is not None:
            waiting.append(self)
        elif self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)


def _line(key: str, value: Any) -> bytes:
    # All in ASCII: no character can end a line, or be one that bytes cannot hold.
    rest = json.dumps({_KEY: key, _VALUE: plain(value)}).encode()[1:]
    return _head(rest) + rest + b"\n"


def _head(rest: bytes) -> bytes:
    return _HEAD % hashlib.blake2b(rest, digest_size=8).hexdigest().encode()
