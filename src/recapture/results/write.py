"""Whole files or none: what is written appears under its name only when it is complete."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import InputError


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`; moved there when the block ends well, removed when it does not."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files for the owner alone; give the usual rights before the file takes its name.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        try:
            temporary.replace(target)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path, keep: Sequence[str] = ()) -> None:
    """Refuse a target that cannot be written, or that is one of the inputs, before the work is done, not after."""
    target = Path(path)
    for source in keep:
        if target.exists() and Path(source).exists() and target.samefile(source):
            raise InputError(f"cannot write {path}: it is an input, which would be lost")
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a directory")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no directory {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: {target.parent} is not writable")


def write_text(path: str | Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
