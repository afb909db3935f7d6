"""Finished parts of long work kept on disk, so that interrupted work goes on where it stopped.

One JSON object a line, {"step": KEY, "value": anything JSON can say}, appended as parts are finished.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .files import cache_folder
from .report.report import plain

_KEY, _VALUE = "step", "value"


def _folder() -> Path:
    return cache_folder() / "runs"


def unfinished() -> list[Path]:
    """Journals of runs over contexts that were interrupted and not repeated."""
    return sorted(_folder().glob("contexts-*.jsonl"))


class Journal:
    """Values by key in a file of JSON lines, appended one by one; interrupted work finds again what it had finished.

    Lines that are damaged or cut off are passed over: their values are made again.

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
        self.path = None if path is None else Path(path)
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
        digest = hashlib.blake2b(described.encode(), digest_size=16).hexdigest()
        return cls((folder or _folder()) / f"{name}-{digest}.jsonl")

    def finished(self) -> dict[str, Any]:
        """All values by key, as the file has them now; a line that was cut off does not count.

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
            with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError):  # broken in whatever way
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
        lines = "".join(
            json.dumps({_KEY: key, _VALUE: plain(value)}, ensure_ascii=False) + "\n" for key, value in values.items()
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as stream:
                # The first line break separates these lines from one that interrupted work left unfinished.
                stream.write(("\n" + lines).encode())
        except OSError as error:
            warnings.warn(f"an interrupted run could not go on from here: {self.path}: {error.strerror}", stacklevel=2)
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
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
