"""Ready embeddings: NumPy's .npy and .npz, and .safetensors. Nothing here ever unpickles."""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO

import numpy as np

from ..errors import InputError
from .reading import (
    MOST_BYTES,
    Format,
    Samples,
    Source,
    check_vectors,
    damage_told,
    no_limits,
    pick_field,
    too_much,
    vector_samples,
)

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
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        known = archive.getinfo(pick_field(source.name, names, field, USUAL_NAMES) + ".npy")
        if known.file_size > MOST_BYTES and known.compress_type != zipfile.ZIP_STORED and not no_limits():
            raise too_much(source.name, f"unpacks to more than {MOST_BYTES // 10**9} GB")
        with archive.open(known) as member:
            return vector_samples(source, _array(source, member, known.file_size))


def mapped_npy(path: str) -> np.ndarray | None:
    """The table of a .npy file, which stays on disk and is read where it is looked at.

    None where its numbers cannot be used as they lie there: columns first, another byte order, or a type that the
    engine has not.
    """
    source = Source(path)
    with source.opened() as stream, damage_told(source, "npy"):
        shape, by_columns, kind = _header(source, stream, stream.seek(0, os.SEEK_END))
        if by_columns or not kind.isnative or kind.kind not in "fiu" or kind.itemsize > 8:
            return None
        return np.memmap(path, kind, "r", stream.tell(), shape)


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
    import safetensors

    with source.opened() as stream:
        tensors = dict(safetensors.deserialize(stream.read()))  # type: ignore[no-untyped-call]
    name = pick_field(source.name, sorted(tensors), field, USUAL_NAMES)
    kind, data = tensors[name]["dtype"], tensors[name]["data"]
    if kind == "BF16":
        # NumPy has no bfloat16, but it is the upper half of a float32, which holds it exactly.
        flat = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    elif kind in _SAFETENSORS_TYPES:
        flat = np.frombuffer(data, _SAFETENSORS_TYPES[kind])
    else:
        raise InputError(f"{source.name}: tensor {name!r} is of type {kind}, which NumPy cannot hold")
    return vector_samples(source, flat.reshape(tensors[name]["shape"]))


FORMATS = (
    Format("npy", (".npy",), _read_npy, is_text=False, has_fields=False),
    Format("npz", (".npz",), _read_npz, is_text=False),
    Format("safetensors", (".safetensors",), _read_safetensors, is_text=False),
)
