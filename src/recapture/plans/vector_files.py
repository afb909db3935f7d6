"""Files that a plan is for: what they hold, whether they still hold it, and their rows or texts from disk."""

from __future__ import annotations

import os
import re
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
from ..texts.array_files import new_npy
from ..texts.reading import Source, VectorBlocks, format_names, plan, vector_blocks
from ..texts.text_index import AskedTexts, texts_from
from .json_kinds import NOTHING, NUMBER, TEXT, check_all, of_kinds
from .phases import SIDES
from .places import (
    Place,
    beside,
    drop_copy,
    kept_copy,
    local_copy,
    place_of,
    remembered,
    seen_from,
    size_of,
    told_of,
    whole,
)

_BLOCK = 1 << 24
_DIGEST = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Content:
    """What tells one file from another, wherever it lies."""

    bytes: int
    digest: str

    @classmethod
    def from_json(cls, said: Any) -> Content:
        """ValueError where it is something else: a digest is also the name of a file (`local_copy`)."""
        made = cls(**of_kinds(said, {"bytes": NUMBER, "digest": TEXT}))
        if made.bytes < 0 or not _DIGEST.fullmatch(made.digest):
            raise ValueError("no digest")
        return made


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


class FetchedFile(NamedTuple):
    """A file that is on this machine."""

    asked: AskedFile
    here: Path
    content: Content

    @classmethod
    def of(cls, asked: AskedFile) -> FetchedFile:
        return cls(asked, *kept_copy(asked.place, content_of))

    def vectors(self) -> VectorBlocks | None:
        """None where it holds texts."""
        with told_of(self.asked.place, self.here):
            return vector_blocks(Source(str(self.here)), self.asked.form, self.asked.field)

    @property
    def texts(self) -> AskedTexts:
        return AskedTexts(str(self.here), self.asked.field, self.asked.form)


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
    """How far from 0 its numbers go; 0 for texts, whose vectors nobody knows yet."""
    marks: tuple[tuple[int, int], ...] | None = None
    """Of a file of texts: where each part of them begins (offset and line). Its vectors are made by parts."""

    @classmethod
    def of(cls, file: FetchedFile, folder: Place, known: PlannedFile | None, stack: ExitStack) -> PlannedFile:
        """Look through a file of vectors. One that cannot be read row by row is copied, some rows at a time, and one
        that lies here where the folder does not: the copy is in the folder when the stack is closed. known: what an
        earlier plan in this folder says of the same side; a copy that is right is kept.
        """
        asked, here, content = file
        if known is not None and (known.content, known.field, known.form) == (content, asked.field, asked.form):
            with suppress(InputError):
                known.opened(folder)
                return replace(known, path=asked.whole_path, beside=beside(asked.path, folder))
        with told_of(asked.place, here):
            given = file.vectors()
            mapped, copy = None if given is None else given.mapped, None
            if given is None:
                raise InputError(f"{asked.path} holds texts, not vectors")
            if mapped is None or (isinstance(asked.place, Path) and not isinstance(folder, Path)):
                target = folder / f"{asked.side}.npy"
                if isinstance(target, Path):
                    check_writable(target, [asked.path])
                temporary = stack.enter_context(whole(target))
                written = new_npy(temporary, given.kind, given.shape)
                given.fill(written)
                written.flush()
                copy = content_of(temporary)
                mapped = np.load(temporary, mmap_mode="r", allow_pickle=False)
        values = as_matrix(mapped, asked.name)
        return cls(
            **cls._told(file, folder),
            copy=copy,
            rows=values.shape[0],
            dimensions=values.shape[1],
            kind=values.dtype.str,
            different=len(fold_rows(values).first),
            reach=largest(values),
        )

    @classmethod
    def of_texts(
        cls, file: FetchedFile, folder: Place, rows: int, different: int, marks: tuple[tuple[int, int], ...],
        dimensions: int,
    ) -> PlannedFile:  # fmt: skip
        """A file of texts that has been read."""
        return cls(
            **cls._told(file, folder),
            copy=None,
            rows=rows,
            dimensions=dimensions,
            kind=np.dtype(np.float32).str,
            different=different,
            reach=0.0,
            marks=marks,
        )

    @staticmethod
    def _told(file: FetchedFile, folder: Place) -> dict[str, Any]:
        asked = file.asked
        return {
            "side": asked.side,
            "path": asked.whole_path,
            "beside": beside(asked.path, folder),
            "field": asked.field,
            "form": asked.form,
            "content": file.content,
        }

    @classmethod
    def from_json(cls, said: Any, side: str, cuts: int) -> PlannedFile:
        """What `to_json` made of a side of a plan of so many parts; ValueError where it is something else."""
        known = of_kinds(said, _KINDS)
        copy, marks = known["copy"], known["marks"]
        if marks is not None:
            for mark in marks:
                check_all(mark, NUMBER)
            marks = tuple((offset, line) for offset, line in marks)
        changed = {"content": Content.from_json(known["content"]), "copy": copy and Content.from_json(copy)}
        made = cls(**{**known, **changed, "marks": marks})
        if made.side != side or made.form not in format_names():  # the side is also the name of a file
            raise ValueError("another side or format")
        if not 1 <= made.different <= made.rows or made.dimensions < 1:
            raise ValueError("impossible numbers of rows")
        if made.marks is not None and (
            len(made.marks) != min(cuts, made.rows) or any(offset < 0 or line < 1 for offset, line in made.marks)
        ):
            raise ValueError("impossible places of texts")
        return made

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
        made = self.copy is not None or self.marks is not None
        return (made and self.joined(folder).is_file()) or (self.copy is None and bool(self.places(folder)))

    def joined(self, folder: Place) -> Place:
        """Where the copy of a file lies, or all vectors of its texts."""
        return folder / f"{self.side}.npy"

    def opened_joined(self, folder: Place, vectors: Content) -> OpenVectors | None:
        """All vectors of a file of texts; None where they are not these."""
        there = self.places(folder)
        if there and isinstance(there[0], Path):  # texts may be gone, but must not have become others
            self._proved(there, self.content)
        here = proved_file(self.joined(folder), vectors)
        return None if here is None else OpenVectors(self, here, "npy", None)

    def opened(self, folder: Place) -> OpenVectors:
        """The rows, from a file that is proved to be the one that the plan was made for."""
        file = self.proved(folder)
        if self.copy is None:
            assert file is not None
            return OpenVectors(self, file, self.form, self.field)
        place = self.joined(folder)
        copy = proved_file(place, self.copy)
        if copy is None:
            raise InputError(f"{place}, a copy of the {self.side}, is missing or damaged: make the plan again")
        return OpenVectors(self, copy, "npy", None)

    def opened_texts(self, folder: Place) -> OpenTexts:
        file = self.proved(folder)
        assert file is not None  # texts are not copied
        return OpenTexts(self, file)

    def proved(self, folder: Place) -> Path | None:
        """The file itself; None where there is a copy, and the file is elsewhere or gone."""
        there = self.places(folder)
        if not there and self.copy is None:
            raise InputError(f"the {self.side} {self.path}, which the plan is for, is not there")
        if there and (self.copy is None or isinstance(there[0], Path)):  # what lies elsewhere is not fetched in vain
            return self._proved(there, self.content)
        return None

    def _proved(self, places: list[Place], content: Content) -> Path:
        """The first file with this content, on this machine."""
        for place in places:
            if (here := proved_file(place, content)) is not None:
                return here
        raise InputError(
            f"the {self.side} {places[0]} is not the file that the plan was made for: "
            "make a plan anew, in another folder"
        )


_KINDS = {
    "side": TEXT, "path": TEXT, "beside": TEXT, "field": TEXT + NOTHING, "form": TEXT, "content": (dict,),
    "copy": (dict, *NOTHING), "rows": NUMBER, "dimensions": NUMBER, "kind": TEXT, "different": NUMBER,
    "reach": (float, int), "marks": (list, *NOTHING),
}  # fmt: skip
"""Of what `PlannedFile.to_json` makes."""


class WatchedFile:
    """A planned file that is read for a while."""

    def __init__(self, planned: PlannedFile, place: Path) -> None:
        self._planned, self._place = planned, place
        self._seen = self._state()

    def check_unchanged(self) -> None:
        """A file that is written to while it is read gives numbers of neither."""
        if self._state() != self._seen:
            raise self.changed()

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self._place.stat()
        except OSError:
            return None
        return found.st_size, found.st_mtime_ns, found.st_ino

    def changed(self) -> InputError:
        return InputError(
            f"the {self._planned.side} {self._place} was changed while it was read: nothing was kept of it"
        )


class OpenTexts(WatchedFile):
    """A planned file of texts."""

    def __init__(self, planned: PlannedFile, place: Path) -> None:
        super().__init__(planned, place)
        self._marks = planned.marks or ()

    def part(self, number: int, count: int) -> list[str]:
        """The texts of a part, counting from 1."""
        asked = AskedTexts(str(self._place), self._planned.field, self._planned.form)
        read = texts_from(asked, self._marks[number - 1], count)
        self.check_unchanged()
        if len(read) != count:
            raise self.changed()
        return read


class OpenVectors(WatchedFile):
    """The rows of a planned file, on disk."""

    def __init__(self, planned: PlannedFile, place: Path, form: str, field: str | None) -> None:
        super().__init__(planned, place)
        found = vector_blocks(Source(str(place)), form, field)
        values = None if found is None else found.mapped
        if values is None or values.shape != (planned.rows, planned.dimensions) or values.dtype.str != planned.kind:
            raise self.changed()
        self.values = values


def proved_file(place: Place, content: Content) -> Path | None:
    """A file on this machine, where it is there and has this content."""
    if size_of(place) != content.bytes:
        return None
    for _ in range(1 if isinstance(place, Path) else 2):  # a copy that was damaged here is fetched once more
        here = local_copy(place, content.digest)
        if known_content(here) == content:
            return here
        drop_copy(place, content.digest)
    return None


def known_content(path: Path) -> Content:
    """`content_of`, but what this process has looked through, and has not changed since, is not read again."""
    return remembered(path, Content, lambda: content_of(path))


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
