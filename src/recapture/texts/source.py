"""Where bytes come from: a plain file, a compressed one, or standard input."""

from __future__ import annotations

import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..errors import InputError

_UNPACK: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}


@dataclass(frozen=True)
class Source:
    path: str
    """As the caller wrote it; "-" is standard input."""

    @property
    def name(self) -> str:
        return {"-": "standard input", "": "an empty file name"}.get(self.path, self.path)

    @property
    def suffixes(self) -> tuple[str, str]:
        """The suffix that tells the format and the one that tells the compression; "" where there is none."""
        path = Path(self.path)
        last = path.suffix.lower()
        return (Path(path.stem).suffix.lower(), last) if last in _UNPACK else (last, "")

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The unpacked bytes. Trouble in opening or reading them leaves as InputError."""
        try:
            with self._open() as stream:
                yield stream
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise InputError(f"{self.name} is cut off or damaged: {error}") from None
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error.strerror or first_line(error)}") from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, counting from 1, and with its line end.

        Only a line feed ends a line: other separators that Unicode knows may well stand inside a text.
        """
        with self.opened() as stream:
            for number, raw in enumerate(stream, 1):
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    bad = f"byte {error.start + 1} of the line (0x{raw[error.start]:02x})"
                    raise InputError(f"{self.name} line {number}: {bad} is not UTF-8") from None
                if number == 1:
                    line = line.removeprefix("\ufeff")
                if line:  # a file of a byte order mark alone has no lines
                    yield number, line

    def _open(self) -> Any:
        if self.path != "-":
            return _UNPACK.get(self.suffixes[1], Path.open)(Path(self.path), "rb")
        if sys.stdin is None:
            raise InputError("standard input is closed")
        return nullcontext(sys.stdin.buffer)  # not ours to close


def without_line_end(line: str) -> str:
    return line[:-1].removesuffix("\r") if line.endswith("\n") else line


def first_line(error: Exception) -> str:
    """What an error says, or its kind if it says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)
