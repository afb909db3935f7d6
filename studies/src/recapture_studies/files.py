"""Data files read, and findings written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import json
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc

_LONGEST_LINE = 100_000_000
"""Bytes; a packed file of a few of them may hold a line without end."""


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a text file, from 1; decompressed where the name ends in .gz."""
    number = 0
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise rc.InputError(f"{path} cannot be read: it is no file")
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            # Only a line feed ends a line.
            for number, raw in enumerate(iter(partial(stream.readline, _LONGEST_LINE), b""), 1):
                if len(raw) == _LONGEST_LINE:
                    raise rc.InputError(f"{path} line {number} is longer than {_LONGEST_LINE // 10**6} MB")
                if b"\0" in raw:
                    raise rc.InputError(f"{path} line {number} holds a byte 0, which no text has")
                line = raw.decode()
                yield number, line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError:
        raise rc.InputError(f"{path} line {number} is not UTF-8 text") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise rc.InputError(f"{path} cannot be read: {reason}") from None


def records(path: Path, fields: Mapping[str, Any] | Sequence[str]) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file, each with at least these fields; a mapping names their types, too."""
    types = fields if isinstance(fields, Mapping) else dict.fromkeys(fields, object)
    for number, line in lines_of(path):
        if not line or line.isspace():
            continue
        record = json_of(line, f"{path} line {number}")
        for name, kind in types.items():
            if not isinstance(record, dict) or name not in record:
                raise rc.InputError(f"{path} line {number} has no field {name!r}")
            if not of_kind(record[name], kind):
                raise rc.InputError(
                    f"{path} line {number}: {name!r} must be {described(kind)}, not {shown(record[name])}"
                )
        yield record


def json_of(content: str, where: str) -> Any:
    """The value of some JSON; what could be read in two ways is refused."""
    try:
        value = json.loads(content, object_pairs_hook=_record)
        if "\\u" in content:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise rc.InputError(f"{where}: broken JSON: {error.msg} (line {error.lineno} column {error.colno})") from None
    except UnicodeEncodeError:
        raise rc.InputError(f"{where} holds half of a surrogate pair") from None
    except RecursionError:
        raise rc.InputError(f"{where}: JSON nested too deeply") from None
    except ValueError as error:  # a key twice, or a whole number of thousands of digits
        raise rc.InputError(f"{where}: {str(error).partition(';')[0]}") from None
    return value


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return record


TEXTS = "texts"
"""A list of strings."""
NUMBER = "number"
NUMBERS = "numbers"
NAME = "name"
"""What something is called: a text or a whole number."""
OPTIONAL_TEXT = "text or null"
_DESCRIBED = {
    TEXTS: "a list of texts",
    NUMBERS: "a list of numbers",
    NUMBER: "a number",
    OPTIONAL_TEXT: "a text or null",
    NAME: "a text or a whole number",
    str: "a text",
    dict: "an object",
    list: "a list",
}


def of_kind(value: Any, kind: Any) -> bool:
    if kind == TEXTS:
        return isinstance(value, list) and all(isinstance(text, str) for text in value)
    if kind == NUMBER:
        # Infinity is no JSON, though Python reads it; nor is a number beyond the range of floats one.
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if kind == NAME:
        return isinstance(value, (str, int)) and not isinstance(value, bool)
    if kind == NUMBERS:
        return isinstance(value, list) and all(of_kind(number, NUMBER) for number in value)
    if kind == OPTIONAL_TEXT:
        return value is None or isinstance(value, str)
    return isinstance(value, kind)


def described(kind: Any) -> str:
    return _DESCRIBED[kind]


def shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "so many lists in each other"
    return text if len(text) <= 40 else text[:37] + "..."


def plain(value: Any) -> Any:
    """Only dict, list, str, int, float, bool and None."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def write(path: Path, content: str | bytes) -> None:
    """The whole file or none: what is written takes its name when it is complete."""
    write_all({path: content})


def write_all(contents: Mapping[Path, str | bytes]) -> None:
    """All files or none: they take their names when every one is complete. Rights of files that are replaced stay."""
    ready: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            with _cannot_write(path):
                if path.is_dir():
                    raise IsADirectoryError(errno.EISDIR, "Is a directory")
                handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
                ready[path] = Path(name)
                with os.fdopen(handle, "wb") as stream:
                    # A name that is not UTF-8 shows the bytes that are not; in JSON that is the way to write them.
                    stream.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)
                ready[path].chmod(_rights(path))
        for path, temporary in ready.items():
            with _cannot_write(path):
                temporary.replace(path.resolve())  # a link stays a link, to the new content
    finally:
        for temporary in ready.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _rights(path: Path) -> int:
    """Those of the file whose place is taken, or the usual ones; mkstemp makes files for the owner alone."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def _cannot_write(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> rc.InputError:
    return rc.InputError(f"cannot write {path}: {error.strerror or error}")


def check_writable(path: Path, keep: Iterable[Any] = ()) -> None:
    """Refuse before the work is done what could not be written after it, and what is read; keep: files and folders."""
    with _cannot_write(path):
        if path.exists() and any(_holds(Path(str(source)), path) for source in keep if source is not None):
            raise rc.InputError(f"cannot write {path}: it is an input, which would be lost")
        if path.is_dir():
            raise rc.InputError(f"cannot write {path}: it is a directory")
        if not path.parent.is_dir():
            raise rc.InputError(f"cannot write {path}: there is no directory {path.parent}")
        if path.exists() and not os.access(path, os.W_OK):
            raise rc.InputError(f"cannot write {path}: it is not writable")
        check_folder(path.parent)


def check_folder(folder: Path) -> None:
    """Raise an error of the system's where no file can be made; only trying tells."""
    handle, name = tempfile.mkstemp(dir=folder, prefix=".recapture.")
    os.close(handle)
    Path(name).unlink()


def _holds(source: Path, path: Path) -> bool:
    """Whether a file is the same, or a folder holds it."""
    with contextlib.suppress(OSError, ValueError):
        return source.samefile(path) or (source.is_dir() and path.resolve().is_relative_to(source.resolve()))
    return False
