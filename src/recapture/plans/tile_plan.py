"""A plan: which files, which settings, which parts; written once, read by whoever does a part."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from ..texts.json_values import parsed
from ..versions import VERSION
from .part_files import Expected, read_part, write_part
from .phases import COUNTS, PHASES, RADII, Part, Phase
from .places import Place, whole
from .vector_files import PlannedFile

FILE = "plan.json"
SCHEMA = 1
_LARGEST = 1 << 20


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

    @classmethod
    def opened(cls, folder: Place) -> TilePlan:
        """The plan of a folder; refused where it is damaged or of another version."""
        path = folder / FILE
        try:
            size = path.stat().st_size
            content = path.read_bytes() if size <= _LARGEST else b""
        except FileNotFoundError:
            raise InputError(f"{folder} holds no plan: there is no {FILE}") from None
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
            settings = said["settings"]
            return cls(
                folder,
                tuple(settings["metrics"]),
                settings["k"],
                tuple(settings["ks"]),
                settings["cuts"],
                PlannedFile.from_json(said["reference"]),
                PlannedFile.from_json(said["candidate"]),
                *said["names"],
            )
        except (KeyError, TypeError, ValueError):
            raise damaged from None

    def write(self) -> None:
        said: dict[str, Any] = {
            "schema": SCHEMA,
            "recapture": VERSION,
            "settings": self._settings,
            "names": [self.reference_name, self.candidate_name],
            "reference": self.reference.to_json(),
            "candidate": self.candidate.to_json(),
        }
        content = json.dumps({"check": _digest(said), **said}, indent=1)
        with whole(self.folder / FILE) as temporary:
            temporary.write_text(content + "\n", encoding="utf-8")

    @property
    def _settings(self) -> dict[str, Any]:
        return {"metrics": list(self.metrics), "k": self.k, "ks": list(self.ks), "cuts": self.cuts}

    @property
    def digest(self) -> str:
        """What the parts of this plan, and no others, carry: the files' content, the settings and the version."""
        return _digest([SCHEMA, VERSION, self._settings, self.reference.work, self.candidate.work])

    @cached_property
    def parts(self) -> dict[str, list[Part]]:
        """All of them by phase, in order; see `phases` for what can be made when."""
        return {phase.name: self._parts(phase) for phase in PHASES if phase.name in (*RADII, COUNTS)}

    def _parts(self, phase: Phase) -> list[Part]:
        rows = getattr(self, phase.side).different
        edges = [rows * cut // self.cuts for cut in range(self.cuts + 1)]
        filled = [slice(*edge) for edge in pairwise(edges) if edge[0] < edge[1]]
        return [Part(phase.name, number, part) for number, part in enumerate(filled, 1)]

    @property
    def names(self) -> list[str]:
        """Of all parts."""
        return [part.name for parts in self.parts.values() for part in parts]

    def done(self) -> set[str]:
        """Names of the parts that are there, and whole."""
        return {part.name for parts in self.parts.values() for part in parts if self.read(part) is not None}

    def read(self, part: Part) -> dict[str, np.ndarray] | None:
        """What a part found; None where that is not there as this plan would have it."""
        return read_part(self.path(part), self.digest, part.name, self._expected(part))

    def keep(self, part: Part, found: dict[str, np.ndarray]) -> None:
        write_part(self.path(part), self.digest, part.name, found, self._expected(part))

    def path(self, part: Part) -> Place:
        return self.folder / f"{part.name}.part"

    def _expected(self, part: Part) -> dict[str, Expected]:
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


def _digest(said: Any) -> str:
    return blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()
