"""An SQLite file that several processes share, and that is replaced where it is damaged."""

from __future__ import annotations

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")

_PATIENCE = 5.0
"""Seconds to wait for another process to finish writing."""
_OUTSIDE = ("locked", "full", "unable to open", "disk i/o", "authoriz", "protocol", "memory")
"""Words of SQLite's about what is wrong around a file; all else that it says is about what is in the file, since our
questions do not change."""


class Database:
    """Opened anew for every action, so that it survives forks and threads and never keeps a lock for long.

    The journal stays SQLite's default, the one that also works on network file systems.
    """

    def __init__(self, path: Path, tables: Sequence[str], page_size: int) -> None:
        self.path = path
        self._tables = tables
        self._page_size = page_size
        self._inode: int | None = None

    def run(self, action: Callable[[sqlite3.Connection], Result], patient: bool = True) -> Result:
        """Run the action; a damaged file is set aside and the action repeated once on a fresh one.

        patient: whether to wait for other processes.
        """
        try:
            with closing(self._open(patient)) as db:
                return action(db)
        except (
            sqlite3.Error,
            UnicodeDecodeError,
            OverflowError,
        ) as error:  # messages quote damaged names, lengths are wild
            if not self._is_damage(error):
                raise
            self._set_aside(error)
        with closing(self._open(patient)) as db:
            return action(db)

    def _open(self, patient: bool) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._inode = self.path.stat().st_ino if self.path.exists() else None
        db = sqlite3.connect(self.path, timeout=_PATIENCE if patient else 0, isolation_level=None)
        # Texts that are damaged must not stop whoever counts or removes entries.
        db.text_factory = lambda raw: raw.decode(errors="replace")
        try:
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                db.execute(f"PRAGMA page_size = {self._page_size}")
                with writing(db):
                    for table in self._tables:
                        db.execute(f"CREATE TABLE IF NOT EXISTS {table}")
        except BaseException:
            db.close()
            raise
        return db

    def _set_aside(self, error: Exception) -> None:
        if not self.path.exists() or self.path.stat().st_ino != self._inode:
            return  # another process was faster
        aside = f"{self.path}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
        journal = Path(f"{self.path}-journal")
        if journal.exists():  # goes first: otherwise SQLite would apply it to the fresh file
            journal.replace(f"{aside}-journal")
        self.path.replace(aside)
        reason = "its text is not UTF-8" if isinstance(error, UnicodeError) else error
        warnings.warn(f"the vector cache was damaged ({reason}); set aside as {aside}, starting afresh", stacklevel=2)

    def _is_damage(self, error: Exception) -> bool:
        if type(error) is sqlite3.DatabaseError or not isinstance(error, sqlite3.Error):
            return True
        words = str(error).lower()
        if "readonly" in words:  # a damaged head, too, may say that nobody is to write
            return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        return not any(about in words for about in _OUTSIDE)


@contextmanager
def writing(db: sqlite3.Connection) -> Iterator[None]:
    """One transaction. The lock is taken at once: two processes that read first would block each other for ever."""
    db.execute("BEGIN IMMEDIATE")
    yield
    # After an error the connection is closed, which undoes whatever was begun.
    db.execute("COMMIT")
