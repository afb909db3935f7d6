"""Arrays in files that say themselves whether they are whole: anything else is as if it were not there.

The first line has a checksum of all that follows. Then comes one line of JSON (which plan, which part, which arrays),
then the arrays' bytes, little-endian and compressed. A file is written whole or not at all.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from .places import Place, content_up_to, whole

_START = b"recapture part "
_DIGEST = 16
_HEAD = len(_START) + 2 * _DIGEST + 1


class Expected(NamedTuple):
    """An array of a part."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))


def write_part(
    path: Place,
    plan: str,
    part: str,
    arrays: Mapping[str, np.ndarray],
    expected: Mapping[str, Expected],
    *,
    packed: bool = True,
) -> None:
    """packed: whether to make the bytes fewer, which takes long and gains little where they are vectors."""
    packing = zlib.compressobj(1 if packed else 0)
    body = _header(plan, part, expected)
    for name, kind in expected.items():
        array = np.ascontiguousarray(arrays[name], kind.dtype)
        assert array.shape == kind.shape, (name, array.shape, kind.shape)
        body += packing.compress(array.tobytes())
    body += packing.flush()
    with whole(path, checked=True) as temporary:
        temporary.write_bytes(_START + _digest(body) + b"\n" + body)


def may_be_whole(size: int, plan: str, part: str, expected: Mapping[str, Expected], *, packed: bool = True) -> bool:
    """Whether a part could have so many bytes."""
    around, content = _HEAD + len(_header(plan, part, expected)), _bytes(expected)
    return around + (1 if packed else content) <= size <= _most(around, content)


def read_part(path: Place, plan: str, part: str, expected: Mapping[str, Expected]) -> dict[str, np.ndarray] | None:
    """The arrays of a part; None where the file is not there, not whole, of another part, or of another plan."""
    with suppress(OSError):
        return part_arrays(path, plan, part, expected)
    return None


def is_damaged(path: Place, plan: str, part: str, expected: Mapping[str, Expected]) -> bool:
    """Whether a file was read and is not this part: one that cannot be read now may be whole."""
    with suppress(OSError):
        return part_arrays(path, plan, part, expected) is None
    return False


def part_arrays(path: Place, plan: str, part: str, expected: Mapping[str, Expected]) -> dict[str, np.ndarray] | None:
    """The same; OSError where the file cannot be read, which says nothing of what it holds."""
    header, size = _header(plan, part, expected), _bytes(expected)
    content = content_up_to(path, _most(_HEAD + len(header), size))
    if content is None:
        return None
    body = content[_HEAD:]
    if content[:_HEAD] != _START + _digest(body) + b"\n" or not body.startswith(header):
        return None
    unpacking = zlib.decompressobj()
    try:
        unpacked = unpacking.decompress(body[len(header) :], size + 1)
    except zlib.error:
        return None
    if len(unpacked) != size or not unpacking.eof or unpacking.unused_data:
        return None
    arrays, start = {}, 0
    for name, kind in expected.items():
        arrays[name] = np.frombuffer(unpacked[start : start + kind.bytes], kind.dtype).reshape(kind.shape)
        start += kind.bytes
    return arrays


def _header(plan: str, part: str, expected: Mapping[str, Expected]) -> bytes:
    """The same plan and part always have the same header, so that it can be compared as it stands."""
    described = {"plan": plan, "part": part, "arrays": {name: [*kind] for name, kind in expected.items()}}
    return json.dumps(described).encode() + b"\n"


def _bytes(expected: Mapping[str, Expected]) -> int:
    return sum(kind.bytes for kind in expected.values())


def _most(around: int, content: int) -> int:
    """Compressed bytes that do not shrink grow by a few in a thousand: what is longer is no part of ours."""
    return around + content + content // 100 + 1024


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=_DIGEST).hexdigest().encode()
