"""From a path to samples: where bytes come from, which format they have, and plain lines, which have no other.

A source is a file, compressed or not, a pipe or standard input, with limits against floods. The other formats are a
module each of this package.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import stat
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from textwrap import shorten
from typing import IO, Any, NamedTuple

import numpy as np

from ..checks import is_one_of, path_of, plain_arguments
from ..declarations import declared
from ..errors import InputError, first_line, nearest_names, shown
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


class Place(NamedTuple):
    """Where a text begins in its file."""

    offset: int
    """Bytes before it, of the unpacked file; rows before it in a format of columns."""
    line: int
    """For messages, counting from 1."""


START = Place(0, 1)


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
        for number, _, line in self.located():
            yield number, line

    def located(self, start: Place | None = None, *, held: bool = True) -> Iterator[tuple[int, int, str]]:
        """Number, first byte and content of every line. start: of the line to begin with. held: whether the caller
        keeps all lines, so that there is a limit to them.
        """
        limited = not no_limits()
        longest, room = (LONGEST_LINE, MOST_BYTES) if limited else (-2, 0)
        offset, first = start or START
        after = offset
        with self.opened() as stream:
            if after:
                stream.seek(after)
            for number, raw in enumerate(iter(partial(stream.readline, longest + 1), b""), first):
                offset, after = after, after + len(raw)
                if limited:
                    room -= len(raw) + _EACH
                    if len(raw) > longest:
                        raise too_much(f"{self.name} line {number}", f"is longer than {longest // 10**6} MB")
                    if room < 0 and held:
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
                    yield number, offset, line

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


# Samples, and the formats they are kept in


@dataclass(frozen=True)
class Samples:
    """One set of samples, in the order of the file: either texts or ready embeddings."""

    source: str
    """What to call the set in messages: the path as it was given, or "standard input"."""
    texts: tuple[str, ...] | None
    vectors: np.ndarray | None
    """(samples, dimensions), in the number type of the file."""
    empty: int
    """How many texts are empty or only whitespace. They are counted, never dropped."""
    notes: tuple[str, ...] = ()
    """Sentences about what looks odd."""

    @property
    def content(self) -> list[str] | np.ndarray:
        """The texts as a list, or the vectors."""
        return self.vectors if self.texts is None else list(self.texts)  # type: ignore[return-value]

    def take(self, places: np.ndarray) -> Samples:
        """Those at some places alone."""
        if self.texts is None:
            return replace(self, vectors=np.asarray(self.vectors)[places])
        texts = tuple(self.texts[place] for place in places.tolist())
        return replace(self, texts=texts, empty=sum(not text or text.isspace() for text in texts))

    def __len__(self) -> int:
        return len(self.vectors if self.texts is None else self.texts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Format:
    """A way to store samples."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, str | None], Samples]
    """From a source and the field the caller asked for (None: the usual one) to its samples."""
    is_text: bool = True
    """Text formats may also be compressed or come through standard input."""
    has_fields: bool = True
    """Whether a caller can choose between fields."""
    stream: Callable[[Source, str | None, Place], Iterator[tuple[Place, str]]] | None = None
    """From a source, a field and where to begin to one text after the other; None: it has to be read whole."""
    blocks: Callable[[Source, str | None], VectorBlocks | None] | None = None
    """From a source and a field to its vectors in blocks (None where it holds texts); None: it never has any."""


class VectorBlocks(NamedTuple):
    """Vectors of a file, some rows at a time."""

    shape: tuple[int, int]
    kind: np.dtype
    """In the processor's own byte order."""
    rows: Iterator[np.ndarray]
    """Blocks that may have another type or order of bytes."""
    mapped: np.ndarray | None = None
    """All of them as they lie on disk, where they can be used so."""

    def whole(self) -> np.ndarray:
        """All of them in memory, which holds little else beside."""
        return self.fill(np.empty(self.shape, self.kind))

    def fill(self, values: np.ndarray) -> np.ndarray:
        """Put all of them into an array."""
        start = 0
        for block in self.rows:
            values[start : start + len(block)] = block
            start += len(block)
        if start != len(values):
            raise ValueError(f"{start} of {len(values)} rows are there")
        return values


def text_samples(source: Source, texts: Sequence[str]) -> Samples:
    if not texts:
        raise InputError(f"{source.name} holds no texts")
    return Samples(source.name, tuple(texts), None, sum(not text or text.isspace() for text in texts))


def check_vectors(source: Source, kind: np.dtype, shape: Sequence[int]) -> None:
    """Refuse an array that is no set of vectors, by what its header says."""
    if kind.kind not in "fiub":
        raise InputError(f"{source.name} must hold real numbers, but their type is {kind}")
    if len(shape) != 2:
        raise InputError(f"{source.name} must hold samples x dimensions, but the shape is {tuple(shape)}")
    if 0 in shape:
        raise InputError(f"{source.name} holds no vectors: the shape is {tuple(shape)}")


def vector_samples(source: Source, vectors: np.ndarray) -> Samples:
    check_vectors(source, vectors.dtype, vectors.shape)
    # Files may have the other byte order, which torch refuses and which makes NumPy slow.
    return Samples(source.name, None, vectors.astype(vectors.dtype.newbyteorder("="), copy=False), 0)


def pick_field(where: str, there: Sequence[str], field: str | None, usual: Sequence[str] = ("text",)) -> str:
    """The field asked for; without a request the only one, or the first of the usual ones that is there."""
    if field is None and len(there) == 1:
        return there[0]
    wanted = usual if field is None else (field,)
    name = next((name for name in wanted if name in there), None)
    if name is None:
        raise no_field(where, wanted, there)
    if list(there).count(name) > 1:
        raise InputError(f"{where}: more than one field is called {name!r}")
    return name


_COMPARED = 1000
"""Names that are looked through for one that is nearly the one asked for."""


def no_field(where: str, wanted: Sequence[str], there: Sequence[str]) -> InputError:
    # Where a table lacks its header, whole texts stand here: the message must stay one readable line.
    names = [shorten(name, 40, placeholder="...") for name in there[:_COMPARED]]
    hint = nearest_names(wanted[0], names)
    close = f"; {hint}" if hint.startswith("did you mean") else ""
    shown = ", ".join([*names[:20], "..."] if len(names) > 20 else names) or "none"
    return InputError(f"{where}: no field {' or '.join(map(repr, wanted))}; fields there are: {shown}{close}")


def read_samples(
    path: str | os.PathLike[str],
    *,
    field: str | None = None,
    format: str | None = None,  # noqa: A002 - the word a user expects
) -> Samples:
    """The samples of a file, or of standard input for "-".

    `format` is one of `format_names()`; without it the suffix decides, and an unknown suffix means plain lines.
    `field` names the column, key or array to take where the format has such names.
    Raises InputError with file, line and reason for anything that cannot be used.
    """
    source = Source(path_of(path))
    chosen = chosen_format(source, format)
    return chosen.read(source, field) if chosen.is_text else _read_binary(source, chosen, field)


@plain_arguments
def read(
    path: str | os.PathLike[str],
    *,
    field: str | None = None,
    format: str | None = None,  # noqa: A002 - the word a user expects
) -> list[str] | np.ndarray:
    """The texts of a file, or its ready vectors.

    Parameters
    ----------
    path : str or path
        The file; "-" is standard input. Text formats may be compressed (.gz, .xz).
    field : str, optional
        The column, key or array to take, where the format has such names (None: the usual one, or the only one).
    format : str, optional
        lines, csv, tsv, jsonl, json, parquet, arrow, npy, npz or safetensors. None: the suffix decides, and an unknown
        suffix means plain lines.

    Returns
    -------
    list of str or numpy.ndarray
        Texts as a list; vectors as an array of samples x dimensions, in the number type of the file. Empty texts are
        kept.

    Raises
    ------
    InputError
        With file, line and reason, for anything that cannot be used.

    Examples
    --------
    >>> from pathlib import Path
    >>> import recapture as rc
    >>> _ = Path("human.jsonl").write_text('{"text": "a cat sat"}\\n{"text": "a dog ran"}\\n')
    >>> rc.read("human.jsonl", field="text")
    ['a cat sat', 'a dog ran']
    """
    samples = read_samples(path, field=field, format=format)
    for note in samples.notes:
        warnings.warn(note, stacklevel=2)
    return samples.content


def read_together(paths: Sequence[str], formats: Sequence[str | None], *, field: str | None = None) -> list[Samples]:
    """Several inputs under one `field`. Plain lines and single arrays, which have none, may stand beside the others."""
    return [read_samples(source.path, field=of, format=known.name) for source, known, of in plan(paths, formats, field)]


def plan(
    paths: Sequence[str], formats: Sequence[str | None], field: str | None
) -> list[tuple[Source, Format, str | None]]:
    """How inputs under one `field` are to be read: each with its format, and the field unless it has none."""
    sources = [Source(path) for path in paths]
    chosen = [chosen_format(source, name) for source, name in zip(sources, formats, strict=True)]
    mixed = any(known.has_fields for known in chosen)
    plans = []
    for source, known in zip(sources, chosen, strict=True):
        # Only where the name shows that there are no fields: records under an odd suffix must not pass as lines.
        plain = source.path == "-" or source.suffixes[0] in known.suffixes
        skip = mixed and plain and not known.has_fields
        plans.append((source, known, None if skip else field))
    return plans


def streamed_texts(source: Source, form: str, field: str | None, start: Place = START) -> Iterator[tuple[Place, str]]:
    """Texts of a file one after the other, from any of them on, each with where it begins: none is kept."""
    known = _formats()[form]
    if known.stream is None:
        if not known.is_text:
            raise InputError(f"{source.name} holds vectors, not texts")
        raise InputError(f"{source.name}: {form} has to be read whole; write one record a line (jsonl) instead")
    with _not_damaged(source, known):
        yield from known.stream(source, field, start)


def vector_blocks(source: Source, form: str, field: str | None) -> VectorBlocks | None:
    """Vectors of a file in blocks; None where it holds texts."""
    known = _formats()[form]
    if known.blocks is None:
        return None
    with _not_damaged(source, known):
        found = known.blocks(source, field)
    if found is None:
        return None

    def rows() -> Iterator[np.ndarray]:
        with _not_damaged(source, known):
            yield from found.rows

    return found._replace(rows=rows())


def has_known_suffix(path: str) -> bool:
    """Whether the ending of a name belongs to a format; what has none is read as lines where it is named alone."""
    return any(Source(path).suffixes[0] in known.suffixes for known in _formats().values())


def format_names() -> list[str]:
    return sorted(_formats())


def chosen_format(source: Source, name: str | None) -> Format:
    formats = _formats()
    if name is None:
        return next((known for known in formats.values() if source.suffixes[0] in known.suffixes), formats["lines"])
    if not is_one_of(name, formats):
        raise InputError(f"no format {shown(name)}; {nearest_names(name, formats)}")
    return formats[name]


def _read_binary(source: Source, chosen: Format, field: str | None) -> Samples:
    with _not_damaged(source, chosen):
        return chosen.read(source, field)


@contextmanager
def _not_damaged(source: Source, chosen: Format) -> Iterator[None]:
    """Refuse what this format cannot be read from."""
    if chosen.is_text:
        yield
        return
    if source.is_pipe:
        able = ", ".join(name for name in format_names() if _formats()[name].is_text)
        pipe = source.name if source.path == "-" else f"{source.name}, a pipe or device,"
        raise InputError(f"{pipe} cannot carry {chosen.name}, only {able}")
    if source.suffixes[1]:
        raise InputError(f"{source.name}: {chosen.name} cannot be read compressed; unpack the file first")
    with damage_told(source, chosen.name):
        yield


@contextmanager
def damage_told(source: Source, what: str) -> Iterator[None]:
    """Whatever libraries raise over damaged bytes, as one sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # zip, NumPy and Arrow fail in more ways than can be listed
        raise InputError(f"{source.name} cannot be read as {what}: {first_line(error)}") from error


@cache
def _formats() -> dict[str, Format]:
    """Every format that a module of this package declares."""
    return {known.name: known for known in declared(__package__, "FORMATS", Format)}


# Plain text: one sample a line


def _read_lines(source: Source, field: str | None) -> Samples:
    _check_no_field(source, field)
    samples = text_samples(source, [without_line_end(line) for _, _, line in source.located()])
    return replace(samples, notes=tuple(check_lines(source, samples.texts or ())))


def _stream_lines(source: Source, field: str | None, start: Place) -> Iterator[tuple[Place, str]]:
    _check_no_field(source, field)
    for number, offset, line in source.located(start, held=False):
        yield Place(offset, number), without_line_end(line)


def _check_no_field(source: Source, field: str | None) -> None:
    if field is not None:
        # Most likely records under an unusual suffix: reading them as plain lines would give wrong scores silently.
        raise InputError(f"{source.name} is read as plain lines, which have no field {field!r}; name its format")


def check_lines(source: Source, texts: Sequence[str]) -> list[str]:
    """Sentences about lines that look odd; what are plainly no texts is refused."""
    _check_document(source, texts)
    notes = []
    if all(_is_record(text) for text in texts[:3]):
        notes.append(
            f"{source.name} is read as plain lines, but they look like JSON: name its format (jsonl) if they are"
        )
    empty = sum(not text or text.isspace() for text in texts)
    if empty >= max(_DOUBLE_SPACED, _MANY_EMPTY * len(texts)):
        notes.append(f"{source.name}: {empty:,} of {len(texts):,} lines are empty, and each is an empty text here")
    # A line that ends in two carriage returns is a slip of some programs; one inside may be the end of a text.
    broken = sum("\r" in text.rstrip("\r") for text in texts if "\r" in text)
    if broken and len(texts) == 1:
        raise InputError(
            f"{source.name} has carriage returns and no line feed that ends a line, so it would be a single text: give "
            "it the line ends of Unix or Windows"
        )
    if broken:
        notes.append(
            f"{source.name}: {broken:,} of {len(texts):,} texts hold a carriage return, which does not end a text here"
        )
    return notes


_DOCUMENTS = {"<!doctype html": "a web page (HTML)", "<html": "a web page (HTML)", "{\\rtf": "a document (RTF)"}
"""How files begin whose lines are no texts, though they can be read as lines."""
_DOUBLE_SPACED = 5
"""Empty lines, one between every two texts, from which on they are a way to set texts apart, and no texts."""
_MANY_EMPTY = 0.1
"""Share of empty lines that is more often a slip than a system's silence."""


def _check_document(source: Source, texts: Sequence[str]) -> None:
    """Refuse lines that are plainly no texts: of a document, and empty ones that part the others."""
    first = [text.lstrip()[:20].lower() for text in texts if text.strip()][:2]
    for begins, what in _DOCUMENTS.items():
        # Texts that are whole pages each begin like that.
        if first and first[0].startswith(begins) and not (len(first) > 1 and first[1].startswith(begins)):
            raise InputError(f"{source.name} is {what}, not one text a line: save its texts, each in a line of its own")
    for start in (0, 1):
        empty = [not text.strip() for text in texts[start::2]]
        if len(empty) >= _DOUBLE_SPACED and all(empty) and all(text.strip() for text in texts[1 - start :: 2]):
            raise InputError(
                f"every second line of {source.name} is empty, and an empty line is an empty text here: leave the "
                f"{len(empty):,} empty lines out"
            )


def _is_record(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


FORMATS = (Format("lines", (".txt", ".text"), _read_lines, has_fields=False, stream=_stream_lines),)
