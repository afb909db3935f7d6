"""Finished contexts kept on disk while a run lasts, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .report.report import plain
from .representations.vector_cache import cache_folder

Record = dict[str, Any]


def _folder() -> Path:
    return cache_folder() / "runs"


def unfinished() -> list[Path]:
    """Journals of runs that were interrupted and not repeated."""
    return sorted(_folder().glob("contexts-*.jsonl"))


class Journal:
    """One JSON line per finished context, in a file named by everything the numbers depend on."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        """None keeps nothing."""

    @classmethod
    def of(cls, run: Mapping[str, Any], folder: Path | None = None) -> Journal:
        """The journal of a run, found again by whoever describes the same run."""
        described = json.dumps(plain(run), sort_keys=True, ensure_ascii=False)
        name = hashlib.blake2b(described.encode(), digest_size=16).hexdigest()
        return cls((folder or _folder()) / f"contexts-{name}.jsonl")

    def finished(self) -> dict[str, Record]:
        """Records by context; a line that was cut off when the run was is not one."""
        found: dict[str, Record] = {}
        if self.path is None:
            return found
        try:
            content = self.path.read_bytes()
        except OSError:  # most likely there is none
            return found
        for line in content.splitlines():
            with contextlib.suppress(json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
                record = json.loads(line)
                found[record["id"]] = record
        return found

    def add(self, records: Sequence[Record]) -> None:
        if self.path is None:
            return
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab") as stream:
                # The line break first parts these records from one that an interrupted run left unfinished.
                stream.write(("\n" + lines).encode())
        except OSError as error:
            warnings.warn(f"an interrupted run could not go on from here: {self.path}: {error.strerror}", stacklevel=2)
            self.path = None

    def close(self) -> None:
        """The run is complete: nothing is left to resume."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
