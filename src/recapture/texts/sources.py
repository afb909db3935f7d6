"""Where bytes come from: a file, compressed or not, a pipe or standard input; its lines, and limits against floods."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from ..errors import InputError, first_line
from ..progress import Waiting

_UNPACK: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}

LONGEST_LINE = 100_000_000
"""Bytes of a line: far above any text, far below what fills a machine's memory."""
MOST_BYTES = 4_000_000_000
"""Bytes of texts that are held in memory, and of arrays that are unpacked. RECAPTURE_NO_LIMITS=1 lifts both limits."""
_EACH = 64
"""What a text costs beside its characters: empty lines without end are a flood, too."""
_BLOCK = 1 << 20

# How files begin that are often taken for texts.
_FOREIGN = {
    b"\x1f\x8b": "is compressed (gzip), which its name does not say: it should end in .gz",
    b"\xfd7zXZ\x00": "is compressed (xz), which its name does not say: it should end in .xz",
    b"BZh": "is compressed (bzip2): unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed (zstd): unpack it first",
    b"PK\x03\x04": "is a zip archive or an office document: unpack it, or save it as text",
    b"PAR1": "is a Parquet file, which its name does not say",
    b"\x93NUMPY": "is an array of NumPy, which its name does not say",
    b"\xff\xfe": "is UTF-16 or UTF-32: save it as UTF-8",
    b"\xfe\xff": "is UTF-16: save it as UTF-8",
    b"\0\0\xfe\xff": "is UTF-32: save it as UTF-8",
}


def no_limits() -> bool:
    return os.environ.get("RECAPTURE_NO_LIMITS", "0") not in ("", "0")


def too_much(where: str, what: str) -> InputError:
    return InputError(f"{where} {what}; RECAPTURE_NO_LIMITS=1 in the environment lifts this limit")


@dataclass(frozen=True)
class Source:
    path: str
    """As the caller wrote it; "-" is standard input."""

    @property
    def name(self) -> str:
        if self.path in ("-", ""):
            return "standard input" if self.path else "an empty file name"
        # Bytes of a name that are not UTF-8 would make every message about it fail.
        return self.path.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")

    @property
    def suffixes(self) -> tuple[str, str]:
        """The suffix that tells the format and the one that tells the compression; "" where there is none."""
        path = Path(self.path)
        last = path.suffix.lower()
        return (Path(path.stem).suffix.lower(), last) if last in _UNPACK else (last, "")

    @property
    def is_pipe(self) -> bool:
        """Whether it can be read only once, from its start to its end."""
        if self.path == "-":
            return True
        try:
            mode = Path(self.path).stat().st_mode
        except (OSError, ValueError):  # whoever opens it says why it cannot be read
            return False
        return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The unpacked bytes. Errors in opening or reading them are raised as InputError."""
        try:
            with ExitStack() as stack:
                yield self._standard_input() if self.path == "-" else self._file(stack)
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise InputError(f"{self.name} is cut off or damaged: {error}") from None
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error.strerror or first_line(error)}") from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line with its number, counting from 1, and with its line end.

        Only a line feed ends a line: other separators of Unicode may be part of a text.
        """
        limited = not no_limits()
        longest, room = (LONGEST_LINE, MOST_BYTES) if limited else (-2, 0)
        with self.opened() as stream:
            for number, raw in enumerate(iter(partial(stream.readline, longest + 1), b""), 1):
                if limited:
                    room -= len(raw) + _EACH
                    if len(raw) > longest:
                        raise too_much(f"{self.name} line {number}", f"is longer than {longest // 10**6} MB")
                    if room < 0:
                        raise too_much(self.name, f"holds more than {MOST_BYTES // 10**9} GB of texts (line {number})")
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    if number == 1:
                        self._check_kind(raw)
                    bad = f"byte {error.start + 1} of the line (0x{raw[error.start]:02x})"
                    raise InputError(f"{self.name} line {number}: {bad} is not UTF-8: save the file as UTF-8") from None
                if number == 1:
                    line = line.removeprefix("\ufeff")
                if "\0" in line:
                    if number == 1:
                        self._check_kind(raw)
                    bad = f"byte {raw.index(0) + 1} of the line is 0"
                    raise InputError(f"{self.name} line {number}: {bad}, which no text has (UTF-16, or no text file?)")
                if line:  # a file of a byte order mark alone has no lines
                    yield number, line

    def content(self, most: int = MOST_BYTES) -> bytes:
        """All of its bytes, if they are not too many."""
        blocks, size = [], 0
        with self.opened() as stream:
            while block := stream.read(_BLOCK):
                blocks.append(block)
                size += len(block)
                if size > most and not no_limits():
                    raise too_much(self.name, f"holds more than {most // 10**6:,} MB")
        return b"".join(blocks)

    def _check_kind(self, start: bytes) -> None:
        for begins, what in _FOREIGN.items():
            if start.startswith(begins):
                raise InputError(f"{self.name} {what}")

    def _file(self, stack: ExitStack) -> Any:
        try:
            known = Path(self.path).stat()
            if stat.S_ISBLK(known.st_mode) or (stat.S_ISCHR(known.st_mode) and not _ends(self.path, known)):
                raise InputError(f"{self.name} is a device, not a file")
            pipe = self.is_pipe
            with Waiting(self.name) if pipe else nullcontext():  # for a writer, and then for its first bytes
                raw: Any = stack.enter_context(Path(self.path).open("rb"))  # noqa: SIM115 - the stack closes it
                if pipe:
                    raw.peek(1)
        except InputError:
            raise
        except ValueError:  # a NUL, or half of a surrogate pair
            raise InputError(f"{self.name} cannot be read: no file can have this name") from None
        unpack = _UNPACK.get(self.suffixes[1])
        return raw if unpack is None else stack.enter_context(unpack(raw, "rb"))

    def _standard_input(self) -> Any:
        stream = getattr(sys.stdin, "buffer", None)  # not ours to close
        if stream is None:
            raise InputError("standard input is closed" if sys.stdin is None else "standard input cannot be read here")
        if hasattr(stream, "peek"):
            with Waiting("standard input"):
                stream.peek(1)
        return stream


def _ends(path: str, known: os.stat_result) -> bool:
    """Whether a device is one that comes to an end: a terminal, or nothing at all."""
    if known.st_rdev == os.stat(os.devnull).st_rdev:  # noqa: PTH116 - a name, not a path of ours
        return True
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        return os.isatty(number)
    finally:
        os.close(number)


def without_line_end(line: str) -> str:
    return line[:-1].removesuffix("\r") if line.endswith("\n") else line
