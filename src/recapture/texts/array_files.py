"""Ready embeddings: NumPy's .npy and .npz, and .safetensors. Nothing here ever unpickles."""

from __future__ import annotations

import errno
import math
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .json_values import parsed
from .reading import (
    MOST_BYTES,
    Format,
    Samples,
    Source,
    VectorBlocks,
    check_vectors,
    damage_told,
    no_limits,
    pick_field,
    too_much,
    vector_samples,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_BLOCK = 1 << 23
"""Bytes of a block of rows."""
_LARGEST_HEADER = 100_000_000
USUAL_NAMES = ("embeddings", "vectors")
_SAFETENSORS_TYPES = {f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "FIU" for size in (1, 2, 4, 8)}


def _read_npy(source: Source, field: str | None) -> Samples:
    if field is not None:
        raise InputError(f"{source.name} is a single array without names, so it has no field {field!r}")
    with source.opened() as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        return vector_samples(source, _array(source, stream, size))


def _read_npz(source: Source, field: str | None) -> Samples:
    with source.opened() as stream, zipfile.ZipFile(stream) as archive:
        known = _npz_member(source, archive, field)
        if known.file_size > MOST_BYTES and known.compress_type != zipfile.ZIP_STORED and not no_limits():
            raise too_much(source.name, f"unpacks to more than {MOST_BYTES // 10**9} GB")
        with archive.open(known) as member:
            return vector_samples(source, _array(source, member, known.file_size))


def new_npy(path: Path, kind: DTypeLike, shape: tuple[int, ...]) -> np.memmap:
    """An array in a new file, to be filled. Its place on disk is taken at once: where a disk fills up under an array
    that is mapped, the system ends the process without a word."""
    made: np.memmap = np.lib.format.open_memmap(path, "w+", kind, shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as stream:
            try:
                os.posix_fallocate(stream.fileno(), 0, os.fstat(stream.fileno()).st_size)
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # file systems that cannot
                    raise
    return made


def _npy_blocks(source: Source, field: str | None) -> VectorBlocks:
    if field is not None:
        raise InputError(f"{source.name} is a single array without names, so it has no field {field!r}")
    with source.opened() as stream, damage_told(source, "npy"):
        shape, by_columns, kind = _header(source, stream, stream.seek(0, os.SEEK_END))
        if kind.hasobject:
            raise InputError(f"{source.name} holds Python objects, which are never read")
        there = np.memmap(source.path, kind, "r", stream.tell(), shape, "F" if by_columns else "C")
        return _mapped_blocks(there, usable=not by_columns)


def _mapped_blocks(there: np.ndarray, usable: bool = True) -> VectorBlocks:
    """Of an array on disk. usable: whether rows lie there one after the other."""
    known = _engine_kind(there.dtype)
    rows, dimensions = there.shape
    at_once = max(1, _BLOCK // max(1, dimensions * known.itemsize))
    return VectorBlocks(
        (rows, dimensions),
        known,
        (np.asarray(there[start : start + at_once]) for start in range(0, rows, at_once)),
        there if usable and known == there.dtype else None,
    )


def _engine_kind(kind: np.dtype) -> np.dtype:
    """The type in which the engine takes numbers of a file."""
    if kind.kind == "b":
        return np.dtype(np.uint8)
    return np.dtype(np.float64) if kind.kind == "f" and kind.itemsize > 8 else kind.newbyteorder("=")


def _npz_blocks(source: Source, field: str | None) -> VectorBlocks:
    with source.opened() as stream, zipfile.ZipFile(stream) as archive:
        known = _npz_member(source, archive, field)
        with archive.open(known) as member:
            shape, by_columns, kind = _header(source, member, known.file_size)
    if by_columns:  # its rows are everywhere
        values = _read_npz(source, field).vectors
        assert values is not None
        return _mapped_blocks(values)
    row = shape[1] * kind.itemsize
    at_once = max(1, _BLOCK // max(1, row))

    def rows() -> Iterator[np.ndarray]:
        with source.opened() as stream, zipfile.ZipFile(stream) as archive, archive.open(known) as member:
            _header(source, member, known.file_size)
            for start in range(0, shape[0], at_once):
                many = min(at_once, shape[0] - start)
                yield np.frombuffer(member.read(many * row), kind).reshape(many, shape[1])

    return VectorBlocks((shape[0], shape[1]), _engine_kind(kind), rows())


def _npz_member(source: Source, archive: zipfile.ZipFile, field: str | None) -> zipfile.ZipInfo:
    names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    return archive.getinfo(pick_field(source.name, names, field, USUAL_NAMES) + ".npy")


def _array(source: Source, stream: IO[bytes], size: int) -> np.ndarray:
    """The array of a stream that holds `size` bytes; nothing is allocated that the bytes could not fill."""
    _header(source, stream, size)
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _header(source: Source, stream: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether columns come first, and type, where as much follows as they promise."""
    stream.seek(0)
    version = np.lib.format.read_magic(stream)
    # The third version differs from the second in names of fields alone, which no table of numbers has.
    parts = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, kind = parts(stream)
    if not kind.hasobject:  # which NumPy refuses, as it would have to unpickle
        check_vectors(source, kind, shape)
        wanted, there = math.prod(shape) * kind.itemsize, size - stream.tell()
        if min(shape) < 0 or wanted > there:
            claim = " x ".join(map(str, shape))
            raise InputError(
                f"{source.name} is cut off or damaged: its header promises {claim} numbers, {wanted:,} bytes, but "
                f"{max(there, 0):,} follow"
            )
    return shape, by_columns, kind


def _read_safetensors(source: Source, field: str | None) -> Samples:
    known = _safetensors_blocks(source, field)
    # Whoever reads keeps the numbers alone, neither the file's bytes nor its pages.
    return vector_samples(source, known.whole())


def _safetensors_blocks(source: Source, field: str | None) -> VectorBlocks:
    """Of one tensor of a file: the length of a header (8 bytes), the header in JSON, and the tensors' bytes."""
    with source.opened() as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or not 2 <= length <= min(size - 8, _LARGEST_HEADER):
            raise ValueError("there is no header of a possible length")
        header = parsed(stream.read(length).decode(), source.name)
    tensors = {name: about for name, about in header.items() if name != "__metadata__"}
    name = pick_field(source.name, sorted(tensors), field, USUAL_NAMES)
    kind, shape = tensors[name]["dtype"], [_whole(each) for each in tensors[name]["shape"]]
    start, stop = (_whole(each) for each in tensors[name]["data_offsets"])
    if kind != "BF16" and kind not in _SAFETENSORS_TYPES:
        raise InputError(f"{source.name}: tensor {name!r} is of type {kind}, which NumPy cannot hold")
    there = np.dtype("<u2") if kind == "BF16" else np.dtype(_SAFETENSORS_TYPES[kind])
    check_vectors(source, there, shape)
    if stop - start != math.prod(shape) * there.itemsize or 8 + length + stop > size:
        raise ValueError(f"tensor {name!r} is said to be of {math.prod(shape):,} numbers in {stop - start:,} bytes")
    mapped = np.memmap(source.path, there, "r", 8 + length + start, tuple(shape))
    if kind != "BF16":
        return _mapped_blocks(mapped)
    known = _mapped_blocks(mapped)
    # NumPy has no bfloat16, but it is the upper half of a float32, which holds it exactly.
    wide = ((rows.astype("<u4") << 16).view("<f4") for rows in known.rows)
    return VectorBlocks(known.shape, np.dtype(np.float32), wide)


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError("a size is no whole number")
    return number


FORMATS = (
    Format("npy", (".npy",), _read_npy, is_text=False, has_fields=False, blocks=_npy_blocks),
    Format("npz", (".npz",), _read_npz, is_text=False, blocks=_npz_blocks),
    Format("safetensors", (".safetensors",), _read_safetensors, is_text=False, blocks=_safetensors_blocks),
)
