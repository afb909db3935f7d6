"""A plan: which files, which settings, which parts; written once, read by whoever does a part."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.distinct import Folding, fold_codes, fold_rows
from ..texts.json_values import parsed
from ..versions import VERSION
from .json_kinds import NOTHING, NUMBER, TEXT, check_all, of_kinds
from .part_files import Expected, is_damaged, may_be_whole, part_arrays, read_part, write_part
from .phases import COUNTS, PHASES, RADII, ROWS, SIDES, VECTORS, Part, Phase, wanted
from .places import Place, content_up_to, drop_copy, local_copy, place_of, remembered, size_of, sizes_in, unread, whole
from .planned_texts import LINES, PlannedEncoding
from .vector_files import Content, PlannedFile, known_content, proved_file

FILE = "plan.json"
SCHEMA = 1
_ROWS_A_PART = 10_000
_LARGE = 100_000
_SEVERAL, _FEWEST_ROWS = 16, 500
_MOST_PARTS = 9_999
LARGEST = 1 << 22
"""Bytes of a plan: four times those of one that has all parts of texts that it may have."""
_CHECKED = 1 << 20
"""Texts whose places are looked at together."""
_SETTINGS = {"metrics": (list,), "k": NUMBER + NOTHING, "ks": (list,), "cuts": NUMBER}


@dataclass(frozen=True)
class TilePlan:
    """A plan in its folder."""

    folder: Place
    metrics: tuple[str, ...]
    k: int | None
    """As asked for: None where each metric has its own."""
    ks: tuple[int, ...]
    """All that are needed, in rising order."""
    cuts: int
    """Parts of each kind, unless a side has fewer rows."""
    reference: PlannedFile
    candidate: PlannedFile
    reference_name: str
    """What results call it."""
    candidate_name: str
    encoding: PlannedEncoding | None = None
    """Of texts; None where the files hold vectors."""
    lines: Content | None = None
    """Of the file that says which texts are equal."""
    people: str | None = None
    """Of the reference's texts: what results say of them (`report.result.content_digest`)."""

    @classmethod
    def opened(cls, folder: Place) -> TilePlan:
        """The plan of a folder; refused where it is damaged or of another version."""
        path = folder / FILE
        try:
            content = content_up_to(path, LARGEST) or b""
        except FileNotFoundError:
            raise InputError(f"{folder} holds no plan: there is no {FILE}") from None
        except NotADirectoryError:
            raise InputError(f"{folder} is no plan's folder, but a file") from None
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
        damaged = InputError(f"{path} is cut off or damaged: make the plan again")
        try:
            said = parsed(content.decode(), str(path))
            check = said.pop("check")
        except (InputError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
            raise damaged from None
        if check != _digest(said):
            raise damaged
        if said.get("schema") != SCHEMA or said.get("recapture") != VERSION:
            made_by = said.get("recapture")
            raise InputError(f"{path} was made by recapture {made_by}, this is {VERSION}: make a plan anew")
        try:
            return cls._of(folder, said)
        except (KeyError, TypeError, ValueError):
            raise damaged from None

    @classmethod
    def _of(cls, folder: Place, said: Any) -> TilePlan:
        """ValueError, KeyError or TypeError where something is not as `write` has it."""
        settings = of_kinds(said["settings"], _SETTINGS)
        metrics, ks, cuts = (settings[name] for name in ("metrics", "ks", "cuts"))
        check_all(metrics, TEXT)
        check_all(ks, NUMBER)
        check_all(said["names"], TEXT)
        reference_name, candidate_name = said["names"]
        if not 1 <= cuts <= _MOST_PARTS:
            raise ValueError("an impossible number of parts")
        files = [PlannedFile.from_json(said[side], side, cuts) for side in SIDES]
        if not ks or ks != sorted(set(ks)) or not 1 <= ks[0] <= ks[-1] < min(file.rows for file in files):
            raise ValueError("impossible numbers of neighbours")
        encoding, lines, people = _texts_of(said["texts"]) if "texts" in said else (None, None, None)
        if any((file.marks is None) != (encoding is None) for file in files):
            raise ValueError("texts on one side")
        if len({file.dimensions for file in files} | ({encoding.dimensions} if encoding else set())) > 1:
            raise ValueError("other dimensions")
        names, asked = (reference_name, candidate_name), (tuple(metrics), settings["k"], tuple(ks))
        return cls(folder, *asked, cuts, files[0], files[1], *names, encoding, lines, people)

    def write(self) -> None:
        said: dict[str, Any] = {
            "schema": SCHEMA,
            "recapture": VERSION,
            "settings": self._settings,
            "names": [self.reference_name, self.candidate_name],
            "reference": self.reference.to_json(),
            "candidate": self.candidate.to_json(),
        }
        if self.encoding is not None and self.lines is not None:
            texts = {"encoding": self.encoding.to_json(), "lines": asdict(self.lines), "people": self.people}
            said["texts"] = texts
        content = json.dumps({"check": _digest(said), **said}, indent=1)
        with whole(self.folder / FILE) as temporary:
            temporary.write_text(content + "\n", encoding="utf-8")

    @property
    def _settings(self) -> dict[str, Any]:
        return {"metrics": list(self.metrics), "k": self.k, "ks": list(self.ks), "cuts": self.cuts}

    @cached_property
    def digest(self) -> str:
        """What the parts of this plan, and no others, carry: the files' content, the settings and the version."""
        texts = None if self.encoding is None else self.encoding.work
        return _digest([SCHEMA, VERSION, self._settings, self.reference.work, self.candidate.work, texts])

    @cached_property
    def parts(self) -> dict[str, list[Part]]:
        """All of them by phase, in order; see `phases` for what can be made when."""
        of_texts = (*VECTORS, *ROWS)
        return {
            phase.name: self._parts(phase)
            for phase in PHASES
            if self.encoding is not None or phase.name not in of_texts
        }

    def _parts(self, phase: Phase) -> list[Part]:
        file: PlannedFile = getattr(self, phase.side)
        if phase.name in ROWS:
            return [Part(phase.name, 1, slice(0, file.rows))]
        filled = cut(file.rows if phase.name in VECTORS else file.different, self.cuts)
        return [Part(phase.name, number, part) for number, part in enumerate(filled, 1)]

    @property
    def needs_copies(self) -> bool:
        """Whether some of its files have to be copied to the machine where they are read."""
        files = self.reference, self.candidate
        return not all(isinstance(place, Path) for place in (self.folder, *(place_of(file.path) for file in files)))

    @property
    def names(self) -> list[str]:
        """Of all parts."""
        return [part.name for parts in self.parts.values() for part in parts]

    def named(self, names: Collection[str]) -> list[Part]:
        return [part for parts in self.parts.values() for part in parts if part.name in names]

    def done(self, proved: Callable[[Part], bool] = lambda _: True, *, discard: bool = False) -> set[str]:
        """Names of the parts that are there, and whole, as far as somebody needs them.

        proved: of which parts that has to be proved; of others, which whoever uses them proves, name and size will do.
        discard: whether to remove those that are not whole.
        """
        there, needed = self.look(), set[str]()
        while new := [stage for stage in wanted(self.parts, there) if stage not in needed]:
            for part in (part for stage in new for part in self.parts[stage]):  # rows before what is made of them
                if part.name in there and proved(part) and not self.is_whole(part):
                    there.remove(part.name)
                    if discard:
                        self.discard(part)
            needed.update(new)
        return there & {part.name for stage in needed for part in self.parts[stage]}

    def look(self) -> set[str]:
        """Names of the parts that are there by name and size, which takes no reading."""
        sizes, found = sizes_in(self.folder), set()
        for part in (part for own in self.parts.values() for part in own):
            size = sizes.get(self.path(part).name)
            if size is None:
                continue
            if part.stage in ROWS:
                try:
                    there = self._joined_as(part) is not None
                except InputError:  # what it says will be seen by whoever proves it
                    there = True
            else:
                packed = part.stage not in VECTORS
                there = may_be_whole(size, self.digest, part.name, self._expected(part), packed=packed)
            if there:
                found.add(part.name)
        return found

    def is_whole(self, part: Part) -> bool:
        """Whether a part is there as this plan would have it. What was proved and is unchanged is not read again."""
        if part.stage in ROWS:  # it is about another file
            content = self._joined_as(part)
            whole = content is not None and proved_file(self._joined_place(part), content) is not None
            self._damaged.discard(part.name)
            if not whole:
                self._joined.clear()
            if content is not None and not whole:  # one that is not there yet may come from somebody else
                self._damaged.add(part.name)
            return whole
        asked = self._carried(part), part.name
        return remembered(self.path(part), asked, lambda: self.read(part) is not None)

    def read(self, part: Part) -> dict[str, np.ndarray] | None:
        """What a part found; None where that is not there as this plan would have it.

        Texts are not encoded anew for what cannot be read for a while: a sentence. All else takes little to make again.
        """
        if (carried := self._carried(part)) is None:
            return None
        path, expected = self.path(part), self._expected(part)
        if part.stage not in (*VECTORS, *ROWS):
            return read_part(path, carried, part.name, expected)
        try:
            return part_arrays(path, carried, part.name, expected)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unread(path, error) from None

    def found_by(self, twin: TilePlan, part: Part) -> dict[str, np.ndarray] | None:
        """What another plan found for a part of the reference alone; None where that is not there, or was another."""
        if part.stage not in (VECTORS[0], RADII[0]) or part not in twin.parts.get(part.stage, ()):
            return None
        return twin.read(part) if self._of_reference(part) == twin._of_reference(part) else None

    def _of_reference(self, part: Part) -> list[Any]:
        """All that a part of the reference alone depends on."""
        texts = None if self.encoding is None else self.encoding.work
        if part.stage == VECTORS[0]:
            return [self.reference.work, texts]
        joined = None if texts is None else self.joined()
        return [self.reference.work, texts, self.ks, None if joined is None else joined[0]]

    def discard(self, part: Part) -> None:
        """A part that is not whole: who looks at names alone is to see that it is missing, and what it needs."""
        path, carried = self.path(part), self._carried(part)
        with suppress(OSError):
            is_plain = not isinstance(path, Path) or stat.S_ISREG(path.lstat().st_mode)
            is_wrong = part.name in self._damaged or (
                carried is not None and is_damaged(path, carried, part.name, self._expected(part))
            )
            if is_plain and is_wrong:  # what cannot be read for a while stays
                path.unlink()
        if part.stage in ROWS:
            self._joined.clear()
            self._damaged.discard(part.name)

    def keep(self, part: Part, found: dict[str, np.ndarray]) -> None:
        packed = part.stage not in VECTORS
        if (carried := self._carried(part)) is None:
            raise InputError(f"{part.name} needs all vectors, which are missing")
        write_part(self.path(part), carried, part.name, found, self._expected(part), packed=packed)
        if part.stage in ROWS:  # these may be others than before
            self._joined.clear()
            self._damaged.discard(part.name)

    def _carried(self, part: Part) -> str | None:
        """What tells that a part is of this plan. Of texts also the very vectors: another device would make them anew
        with other last digits. None where there are none."""
        if self.encoding is None or part.stage in (*VECTORS, *ROWS):
            return self.digest
        known = self.joined()
        return None if known is None else _digest([self.digest, *(asdict(content) for content in known)])

    def joined(self) -> tuple[Content, Content] | None:
        """Of the files of all vectors of texts, once both are there; the same ones from then on. Whoever opens them
        proves that they are these."""
        if not self._joined and not self._damaged:
            found = [self._joined_as(part) for stage in ROWS for part in self.parts[stage]]
            self._joined.extend(each for each in found if each is not None)
            if len(self._joined) < len(found):
                self._joined.clear()
        return (self._joined[0], self._joined[1]) if self._joined else None

    @cached_property
    def _joined(self) -> list[Content]:
        return []

    @cached_property
    def _damaged(self) -> set[str]:
        """Parts of rows whose file was found to be another."""
        return set()

    def _joined_as(self, part: Part) -> Content | None:
        """What a part of rows says of the file of all vectors, where that has the right size."""
        found = self.read(part)
        if found is None:
            return None
        content = Content(int(found["bytes"][0]), found["digest"].tobytes().hex())
        return content if size_of(self._joined_place(part)) == content.bytes else None

    def _joined_place(self, part: Part) -> Place:
        file: PlannedFile = getattr(self, SIDES[ROWS.index(part.stage)])
        return file.joined(self.folder)

    def path(self, part: Part) -> Place:
        return self.folder / f"{part.name}.part"

    def _expected(self, part: Part) -> dict[str, Expected]:
        if part.stage in VECTORS:
            return {"vectors": Expected("<f4", (len(self.own_texts(part)), self.reference.dimensions))}
        if part.stage in ROWS:
            return {"bytes": Expected("<i8", (1,)), "digest": Expected("|u1", (16,))}
        rows, ks = part.rows.stop - part.rows.start, len(self.ks)
        if part.stage != COUNTS:
            return {"radii": Expected("<f8", (rows, ks))}
        first = "|u1" if ks < 256 else "<i4"
        mine, theirs = Expected(first, (rows,)), Expected(first, (self.candidate.different,))
        return {
            "candidate_pairs": Expected("<i8", (ks,)),
            "reference_pairs": Expected("<i8", (ks,)),
            "covered_first": mine,
            "reference_first": mine,
            "candidate_first": theirs,
            "covering_first": theirs,
        }

    @cached_property
    def first_equal(self) -> np.ndarray:
        """Of every text, the reference's first, the number of the first that is equal to it."""
        assert self.lines is not None
        place = self.folder / LINES
        here = local_copy(place, self.lines.digest) if place.is_file() else None
        if here is None or known_content(here) != self.lines:
            drop_copy(place, self.lines.digest)
            raise InputError(f"{place} is missing or damaged: make the plan again")
        try:
            first = np.asarray(np.load(here, mmap_mode="r", allow_pickle=False))
        except ValueError:
            first = np.empty(0)
        if not _points_back(first, self.reference.rows + self.candidate.rows):
            raise InputError(f"{place} is missing or damaged: make the plan again")
        return first

    def first_number(self, part: Part) -> int:
        """Of a part's texts, counted over both files."""
        return int(part.rows.start) + (self.reference.rows if part.stage == VECTORS[1] else 0)

    def own_texts(self, part: Part) -> np.ndarray:
        """Which texts of a part it encodes: those that stand nowhere before."""
        start = self.first_number(part)
        first = self.first_equal[start : start + part.rows.stop - part.rows.start]
        return np.flatnonzero(first == np.arange(start, start + len(first)))

    def foldings(self, sides: Sequence[np.ndarray]) -> list[Folding]:
        """Which rows of each side are equal: where there are texts, those of equal texts."""
        if self.encoding is None:
            return [fold_rows(values) for values in sides]
        cut_at = self.reference.rows
        return [fold_codes(self.first_equal[:cut_at]), fold_codes(self.first_equal[cut_at:])]


def cuts_of(rows: int, parts: int | None) -> int:
    """Parts of each kind for so many rows. Sets so small that no GPU is taken unasked have several, so that workers
    have something to divide and a kill costs little."""
    if parts is None:
        parts = -(-rows // _ROWS_A_PART)
        if rows < _LARGE:
            parts = max(parts, min(_SEVERAL, rows // _FEWEST_ROWS))
    return min(parts, rows, _MOST_PARTS)


def cut(rows: int, cuts: int) -> list[slice]:
    """About equal parts, none of them empty."""
    edges = [rows * each // cuts for each in range(cuts + 1)]
    return [slice(*edge) for edge in pairwise(edges) if edge[0] < edge[1]]


def _texts_of(said: Any) -> tuple[PlannedEncoding, Content, str]:
    check_all([said["people"]], TEXT)
    return PlannedEncoding.from_json(said["encoding"]), Content.from_json(said["lines"]), said["people"]


def _points_back(first: np.ndarray, count: int) -> bool:
    """Whether each of so many texts names one that names itself, and no later one."""
    if first.dtype != np.int64 or first.shape != (count,):
        return False
    for start in range(0, count, _CHECKED):
        some = first[start : start + _CHECKED]
        if some.min() < 0 or (some > np.arange(start, start + len(some))).any() or (first[some] != some).any():
            return False
    return True


def _digest(said: Any) -> str:
    return blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()
