"""Vectors kept on disk, so that no text is encoded twice.

One SQLite file, written in transactions: entries are complete or not there, even if other processes write at the same
time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import struct
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..checks import path_of
from ..errors import InputError
from ..files import cache_folder, expanded
from .database import Database, writing

Result = TypeVar("Result")

# The number grows when the tables change: an older file is then left alone.
_FILE_NAME = "vectors-1.sqlite"
_TABLES = (
    "spaces (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, encoder TEXT NOT NULL)",
    """vectors (key BLOB NOT NULL UNIQUE, space INTEGER NOT NULL, vector BLOB NOT NULL, checksum BLOB NOT NULL,
        used INTEGER NOT NULL)""",
)
_PAGE_SIZE = 16_384  # ten vectors of 384 numbers fit; into the default only two
_KEYS_PER_QUERY = 500
_NUMBER = np.dtype("<f4")
_WIDTH = struct.Struct("<I")
_FAILURES = (sqlite3.Error, OSError, UnicodeDecodeError, OverflowError)
"""What a file that is damaged, locked, full or out of reach may raise."""


@dataclass(frozen=True)
class CacheUse:
    """What one encoder has in the cache. Bytes are those of its vectors; the file is a few per cent larger."""

    encoder: str
    entries: int
    bytes: int


@dataclass(frozen=True)
class CacheSummary:
    path: Path
    entries: int
    bytes: int
    spaces: list[CacheUse]


class VectorCache:
    """Vectors by text and encoder identity, in a file in the given folder. Where it fails, work goes on without it."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = (cache_folder() if path is None else expanded(path_of(path, "the cache folder"))) / _FILE_NAME
        self._database = Database(self.path, _TABLES, _PAGE_SIZE)
        self._unusable = self._said = self._locked = False

    def get(self, space: dict[str, str], texts: Sequence[str], noted: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """The vectors that are there, in the order of the texts, and a mask over the texts that says which are.

        noted: whether this counts as a use of them.
        """
        keys = _keys(space, texts)
        known = self._known(keys, equal=True, noted=noted)
        is_known = np.array([key in known for key in keys], bool)
        blobs = [known[key] for key in keys if key in known]
        width = len(blobs[0]) // _NUMBER.itemsize if blobs else 0
        vectors = np.frombuffer(b"".join(blobs), _NUMBER).reshape(len(blobs), width)
        return vectors.astype(np.float32), is_known

    def get_arrays(self, space: dict[str, str], texts: Sequence[str]) -> list[np.ndarray | None]:
        """What `put_arrays` kept for each text; None where there is nothing."""
        keys = _keys({**space, "arrays": "1"}, texts)
        known = self._known(keys, equal=False)
        return [_array(known[key]) if key in known else None for key in keys]

    def put_arrays(self, space: dict[str, str], texts: Sequence[str], arrays: Sequence[np.ndarray]) -> None:
        """Keep an array of rows for each text: as many rows as it has tokens."""
        blobs = [_WIDTH.pack(array.shape[1]) + np.asarray(array, _NUMBER).tobytes() for array in arrays]
        self._put({**space, "arrays": "1"}, texts, blobs)

    def put(self, space: dict[str, str], texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep one vector per text, in place of any earlier one, all in one transaction."""
        self._put(space, texts, [row.tobytes() for row in np.asarray(vectors, _NUMBER)])

    def _known(self, keys: Sequence[bytes], equal: bool, noted: bool = True) -> dict[bytes, bytes]:
        nothing: dict[bytes, bytes] = {}
        return self._attempt(lambda db: _read(db, keys, equal, noted), nothing, only_old=True)

    def _put(self, space: dict[str, str], texts: Sequence[str], blobs: Sequence[bytes]) -> None:
        keys = _keys(space, texts)

        def write(db: sqlite3.Connection) -> None:
            known = (_text_of(space), _storable(space.get("encoder", "")))
            with writing(db):
                db.execute("INSERT OR IGNORE INTO spaces (identity, encoder) VALUES (?, ?)", known)
                found = db.execute("SELECT id FROM spaces WHERE identity = ?", known[:1]).fetchone()
                if found is None:
                    raise sqlite3.DatabaseError("an entry that was just written is not there")
                number = found[0]
                entries = (
                    (key, number, blob, _checksum(key, blob), _today()) for key, blob in zip(keys, blobs, strict=True)
                )
                db.executemany(
                    "INSERT OR REPLACE INTO vectors (key, space, vector, checksum, used) VALUES (?, ?, ?, ?, ?)",
                    entries,
                )

        self._attempt(write, None)

    def summary(self) -> CacheSummary:
        """How much is kept for each encoder."""
        query = """SELECT CAST(encoder AS TEXT) AS name, COUNT(*), COALESCE(SUM(LENGTH(vector)), 0)
            FROM vectors JOIN spaces ON space = id GROUP BY name ORDER BY name"""
        nothing: list[tuple[str, int, int]] = []
        rows = self._insist(lambda db: db.execute(query).fetchall(), nothing)
        uses = [CacheUse(*row) for row in rows]
        return CacheSummary(self.path, sum(use.entries for use in uses), sum(use.bytes for use in uses), uses)

    def prune(
        self,
        max_bytes: int | None = None,
        older_than_days: int | None = None,
        encoder: str | None = None,
        everything: bool = False,
    ) -> tuple[int, int]:
        """Remove entries, those that were not used for longest first; how many, and the bytes of their vectors.

        `older_than_days` removes what was last used longer ago, `max_bytes` what is too much (the bytes of vectors).
        `encoder` limits both to one encoder, and alone removes all that it has.
        """
        if not everything and max_bytes is None and older_than_days is None and encoder is None:
            raise InputError("say what to remove from the cache: a size, an age, an encoder, or everything")
        if (max_bytes or 0) < 0 or (older_than_days or 0) < 0:
            raise InputError("neither the size nor the age of what stays in the cache can be negative")
        if everything or (max_bytes is None and older_than_days is None):
            max_bytes = 0
        oldest_day = None if older_than_days is None else _today() - older_than_days

        def remove(db: sqlite3.Connection) -> tuple[int, int]:
            with writing(db):
                doomed = _doomed(db, max_bytes, oldest_day, encoder)
                db.executemany("DELETE FROM vectors WHERE rowid = ?", ((row,) for row, _ in doomed))
                db.execute("DELETE FROM spaces WHERE id NOT IN (SELECT space FROM vectors)")
            with contextlib.suppress(sqlite3.OperationalError):  # no room, or in use: the file keeps its size for now
                db.execute("VACUUM")
            return len(doomed), sum(size for _, size in doomed)

        return self._insist(remove, (0, 0))

    def _attempt(
        self, action: Callable[[sqlite3.Connection], Result], otherwise: Result, only_old: bool = False
    ) -> Result:
        """Do without the cache when it fails: say so once, and do not wait for it again.

        only_old: whether a file that is not there yet means `otherwise`, too.
        """
        if self._unusable:
            return otherwise
        try:
            if only_old and not self.path.is_file():
                return otherwise
            done = self._database.run(action, patient=not self._locked)
            self._locked = False
            return done
        except _FAILURES as error:
            # Whoever holds the lock may let go: it is tried again, but not waited for.
            self._locked = isinstance(error, sqlite3.Error) and "locked" in str(error)
            self._unusable = not self._locked
            if not self._said:
                self._said = True
                held = ", another process holds it" if self._locked else ""
                warnings.warn(f"going on without the vector cache {self.path}: {_reason(error)}{held}", stacklevel=4)
            return otherwise

    def _insist(self, action: Callable[[sqlite3.Connection], Result], otherwise: Result) -> Result:
        """Say what is wrong; a file that is not there means `otherwise`."""
        try:
            return self._database.run(action) if self.path.is_file() else otherwise
        except _FAILURES as error:
            raise InputError(f"the vector cache {self.path} cannot be used: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _read(db: sqlite3.Connection, keys: Sequence[bytes], equal: bool, noted: bool) -> dict[bytes, bytes]:
    """Undamaged entries, if asked for all of one length, and if asked for with a note that they were used today."""
    known: dict[bytes, bytes] = {}
    stale: list[tuple[int, int]] = []
    today = _today()
    width = None
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        part = keys[start : start + _KEYS_PER_QUERY]
        marks = ",".join("?" * len(part))
        rows = db.execute(f"SELECT rowid, key, vector, checksum, used FROM vectors WHERE key IN ({marks})", part)
        wanted = set(part)
        for row, key, blob, checksum, used in rows:
            whole = isinstance(blob, bytes) and key in wanted and checksum == _checksum(key, blob)
            if not whole or len(blob) != (width or len(blob)):
                continue  # damaged: will be made again and replaced
            width = len(blob) if equal else None
            known[key] = blob
            if used != today:
                stale.append((today, row))
    if stale and noted:
        _note_use(db, stale)
    return known


def _array(blob: bytes) -> np.ndarray:
    (width,) = _WIDTH.unpack_from(blob)
    rows = np.frombuffer(blob, _NUMBER, offset=_WIDTH.size)
    return rows.reshape(-1, width).astype(np.float32)


def _note_use(db: sqlite3.Connection, stale: list[tuple[int, int]]) -> None:
    db.execute("PRAGMA busy_timeout = 1000")  # not worth a long wait
    with contextlib.suppress(sqlite3.OperationalError), writing(db):  # a shared cache that is read-only works, too
        db.executemany("UPDATE vectors SET used = ? WHERE rowid = ?", stale)


def _doomed(
    db: sqlite3.Connection, max_bytes: int | None, oldest_day: int | None, encoder: str | None
) -> list[tuple[int, int]]:
    """Row and size of the entries to remove."""
    rows = db.execute(
        """SELECT vectors.rowid, COALESCE(LENGTH(vector), 0), COALESCE(CAST(used AS INTEGER), 0) AS day,
            CAST(encoder AS TEXT) FROM vectors LEFT JOIN spaces ON space = id ORDER BY day DESC, vectors.rowid DESC"""
    )
    doomed = []
    total = 0
    for row, size, used, owner in rows:
        if encoder is not None and encoder not in (owner, (owner or "").rpartition("/")[2]):
            continue
        total += size
        if (oldest_day is not None and used < oldest_day) or (max_bytes is not None and total > max_bytes):
            doomed.append((row, size))
    return doomed


def _text_of(space: dict[str, str]) -> str:
    return _storable(json.dumps(space, sort_keys=True, ensure_ascii=False))


def _storable(name: str) -> str:
    """A folder's name need not be UTF-8; what the store keeps must be."""
    return name.encode(errors="backslashreplace").decode()


def _keys(space: dict[str, str], texts: Sequence[str]) -> list[bytes]:
    start = hashlib.blake2b(_text_of(space).encode()).digest()
    return [hashlib.blake2b(start + text.encode(), digest_size=16).digest() for text in texts]


def _checksum(key: bytes, blob: bytes) -> bytes:
    return hashlib.blake2b(blob, digest_size=8, key=key).digest()


def _today() -> int:
    return int(time.time() // 86_400)
