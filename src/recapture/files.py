"""Files and folders: where things are kept, and whole files or none.

What is written appears under its name only when it is complete.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .errors import InputError


def cache_folder() -> Path:
    """Where vectors and unfinished work are kept: RECAPTURE_CACHE, else the user's own cache folder.

    Returns
    -------
    pathlib.Path
        It need not exist yet.

    Notes
    -----
    The user's own cache folder is `recapture` in XDG_CACHE_HOME, or in `~/.cache` where that variable is not set.

    Examples
    --------
    >>> from unittest.mock import patch
    >>> import recapture as rc
    >>> with patch.dict("os.environ", RECAPTURE_CACHE="kept"):
    ...     print(rc.cache_folder())
    kept
    """
    own = os.environ.get("RECAPTURE_CACHE")
    if own:
        return expanded(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or expanded("~/.cache")) / "recapture"


def expanded(path: str | os.PathLike[str]) -> Path:
    """A path with ~ filled in where there is such a user, and left alone where there is not."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises for an unknown user


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`; moved there when the block ends well, removed when it does not."""
    temporary = None
    try:
        target = Path(path).resolve()  # a link stays a link, to the new content
        device = target.exists() and not target.is_file()
        folder = None if device else target.parent
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{target.name[:40]}.", suffix=target.suffix)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        if device:  # a terminal, a pipe, /dev/null: written to, never replaced
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        else:
            # mkstemp makes files for the owner alone; give the usual rights before the file takes its name.
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)
            temporary.replace(target)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def check_writable(path: str | Path, keep: Sequence[str] = ()) -> None:
    """Refuse a target that cannot be written, or that is one of the inputs, before the work is done, not after."""
    target = Path(path)
    try:
        for source in keep:
            if target.exists() and Path(source).exists() and target.samefile(source):
                raise InputError(f"cannot write {path}: it is an input, which would be lost")
        if target.is_dir():
            raise InputError(f"cannot write {path}: it is a directory")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no directory {target.parent}")
    except OSError as error:  # a name too long, for one
        raise cannot_write(path, error) from None
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"cannot write {path}: it is not writable")


def cannot_write(path: str | Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")
