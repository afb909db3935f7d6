"""Files of vectors that a plan is for: what they hold, whether they still hold it, and their rows from disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..files import check_writable
from ..geometry.arrays import as_matrix
from ..geometry.distinct import fold_rows
from ..geometry.parallel import run_tiles
from ..geometry.products import largest
from ..texts.array_files import mapped_npy
from ..texts.reading import Samples, Source, plan, read_samples
from .phases import SIDES
from .places import Place, beside, drop_copy, kept_copy, local_copy, place_of, seen_from, told_of, whole

_BLOCK = 1 << 24


@dataclass(frozen=True)
class Content:
    """What tells one file from another, wherever it lies."""

    bytes: int
    digest: str


class AskedFile(NamedTuple):
    """A file as the caller names it."""

    side: str
    path: str
    field: str | None
    form: str

    @property
    def name(self) -> str:
        return f"{self.side} {Source(self.path).name}"

    @property
    def place(self) -> Place:
        return place_of(self.path)

    @property
    def whole_path(self) -> str:
        place = self.place
        return os.path.abspath(place) if isinstance(place, Path) else str(place)  # noqa: PTH100 - links stay as they are

    @classmethod
    def both(cls, paths: Sequence[str], field: str | None, form: str | None) -> list[AskedFile]:
        """The reference and the candidate."""
        asked = []
        for side, (source, known, own) in zip(SIDES, plan(paths, [form, form], field), strict=True):
            if source.is_pipe:
                raise InputError(f"{source.name} can be read only once: a plan is for files")
            asked.append(cls(side, source.path, own, known.name))
        return asked


@dataclass(frozen=True)
class PlannedFile:
    """One side of a plan."""

    side: str
    """reference or candidate"""
    path: str
    """Where the file lay, from the root."""
    beside: str
    """The same, seen from the plan's folder: what moves together stays together."""
    field: str | None
    form: str
    """How it is read."""
    content: Content
    copy: Content | None
    """Of the copy in the plan's folder, where the file cannot be read row by row."""
    rows: int
    dimensions: int
    kind: str
    """Type of the numbers."""
    different: int
    """Rows that are not equal to an earlier one."""
    reach: float
    """How far from 0 its numbers go."""

    @classmethod
    def of(cls, asked: AskedFile, folder: Place, known: PlannedFile | None, stack: ExitStack) -> PlannedFile:
        """Look through a file. One that cannot be read row by row is copied, and one that lies here where the folder
        does not: the copy is in the folder when the stack is closed. known: what an earlier plan in this folder says of
        the same side; a copy that is right is kept.
        """
        here, content = kept_copy(asked.place, content_of)
        if known is not None and (known.content, known.field, known.form) == (content, asked.field, asked.form):
            with suppress(InputError):
                known.opened(folder)
                return replace(known, path=asked.whole_path, beside=beside(asked.path, folder))
        with told_of(asked.place, here):
            mapped = mapped_npy(str(here)) if asked.form == "npy" and asked.field is None else None
            read = None if mapped is not None else read_samples(str(here), field=asked.field, format=asked.form)
        given = mapped if read is None else _vectors(replace(read, source=asked.path))
        values, copy = as_matrix(given, asked.name), None
        if mapped is None or (isinstance(asked.place, Path) and not isinstance(folder, Path)):
            target = folder / f"{asked.side}.npy"
            if isinstance(target, Path):
                check_writable(target, [asked.path])
            temporary = stack.enter_context(whole(target))
            with temporary.open("wb") as stream:
                np.save(stream, np.asarray(values), allow_pickle=False)
            copy = content_of(temporary)
        return cls(
            side=asked.side,
            path=asked.whole_path,
            beside=beside(asked.path, folder),
            field=asked.field,
            form=asked.form,
            content=content,
            copy=copy,
            rows=values.shape[0],
            dimensions=values.shape[1],
            kind=values.dtype.str,
            different=len(fold_rows(values).first),
            reach=largest(values),
        )

    @classmethod
    def from_json(cls, said: Any) -> PlannedFile:
        """What `to_json` made; KeyError or TypeError where it is something else."""
        copy = said["copy"]
        return cls(**{**said, "content": Content(**said["content"]), "copy": None if copy is None else Content(**copy)})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def work(self) -> dict[str, Any]:
        """What parts depend on: not where the file lies."""
        return {name: value for name, value in self.to_json().items() if name not in ("path", "beside")}

    def places(self, folder: Place) -> list[Place]:
        """Where the file is found, of the places where it may lie."""
        return [place for place in (seen_from(folder, self.beside), place_of(self.path)) if place.is_file()]

    def is_there(self, folder: Place) -> bool:
        """Whether a worker finds it, or its copy, without a look into it."""
        return (folder / f"{self.side}.npy").is_file() if self.copy is not None else bool(self.places(folder))

    def opened(self, folder: Place) -> OpenVectors:
        """The rows, from a file that is proved to be the one that the plan was made for."""
        there = self.places(folder)
        if not there and self.copy is None:
            raise InputError(f"the {self.side} {self.path}, which the plan is for, is not there")
        if there and (self.copy is None or isinstance(there[0], Path)):  # what lies elsewhere is not fetched in vain
            place = self._proved(there, self.content)
        if self.copy is not None:
            place = self._proved([folder / f"{self.side}.npy"], self.copy)
        return OpenVectors(self, place)

    def _proved(self, places: list[Place], content: Content) -> Path:
        """The first file with this content, on this machine."""
        for place in places:
            if not place.is_file() or place.stat().st_size != content.bytes:
                continue
            for _ in range(2):  # a copy that was damaged here is fetched once more
                here = local_copy(place, content.digest)
                if content_of(here) == content:
                    return here
                drop_copy(place, content.digest)
        raise InputError(
            f"the {self.side} {places[0]} is not the file that the plan was made for: "
            "make a plan anew, in another folder"
        )


class OpenVectors:
    """The rows of a planned file, on disk."""

    def __init__(self, planned: PlannedFile, place: Path) -> None:
        self._planned, self._place = planned, place
        self._seen = self._state()
        values = mapped_npy(str(place))
        if values is None or values.shape != (planned.rows, planned.dimensions) or values.dtype.str != planned.kind:
            raise self._changed()
        self.values = values

    def check_unchanged(self) -> None:
        """A file that is written to while it is read gives numbers of neither."""
        if self._state() != self._seen:
            raise self._changed()

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self._place.stat()
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino

    def _changed(self) -> InputError:
        return InputError(
            f"the {self._planned.side} {self._place} was changed while it was read: nothing was kept of it"
        )


def _vectors(samples: Samples) -> np.ndarray:
    if samples.vectors is None:
        raise InputError(f"{samples.source} holds texts, but plans are for vectors: encode them first")
    return samples.vectors


def content_of(path: Path) -> Content:
    """Of all bytes, block by block on all cores."""
    try:
        size = path.stat().st_size
        digests = [b""] * -(-size // _BLOCK)

        def digest(block: int) -> None:
            with path.open("rb") as stream:
                stream.seek(block * _BLOCK)
                digests[block] = blake2b(stream.read(_BLOCK), digest_size=32).digest()

        run_tiles(digest, range(len(digests)), "checking files")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    return Content(size, blake2b(b"".join(digests), digest_size=16).hexdigest())
