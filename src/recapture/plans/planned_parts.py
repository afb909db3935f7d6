"""The work of a plan's parts: to encode texts, to join vectors, to find radii, to count."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..geometry.streamed import StreamedRows, memberships, squared_radii
from ..texts.array_files import new_npy
from .phases import COUNTS, RADII, ROWS, VECTORS, MissingPartsError, Part
from .places import whole
from .tile_plan import TilePlan
from .vector_files import OpenTexts, OpenVectors, content_of, proved_file

if TYPE_CHECKING:
    from ..representations.encoder import Encoder

_NAMED = 5
"""Missing parts that a message names."""


class _ThereError(Exception):
    """Somebody was quicker. A file that others read is not put in its own place: to them it would have changed."""


class PlannedParts:
    """The parts of a plan as work: for whoever hands them out one by one."""

    def __init__(self, plan: TilePlan, offline: bool | None = None, twin: TilePlan | None = None) -> None:
        self.plan, self._offline, self._twin = plan, offline, twin
        self._radii: dict[str, np.ndarray] = {}

    def make(self, part: Part) -> None:
        """Do one part and keep what it found, once all that its phase needs is there."""
        if self._twin is not None and (found := self.plan.found_by(self._twin, part)) is not None:
            self.plan.keep(part, found)
            return
        if part.stage in VECTORS:
            encoded = self._encoded(part)
            # One who came late may have another device: rows of both sides are to be of the same vectors.
            if not self.plan.is_whole(part):
                self.plan.keep(part, {"vectors": encoded})
            return
        if part.stage in ROWS:
            self.plan.keep(part, self._joined(part))
            return
        if part.stage == COUNTS:
            found = self._counts(part)
        else:
            rows = self._rows[RADII.index(part.stage)]
            found = {"radii": squared_radii(rows, part.rows, self.plan.ks)}
        for vectors in self._vectors:
            vectors.check_unchanged()
        self.plan.keep(part, found)

    def _encoded(self, part: Part) -> np.ndarray:
        """Vectors of the texts of a part that stand nowhere before."""
        encoding = self.plan.encoding
        assert encoding is not None
        read = self._texts[VECTORS.index(part.stage)].part(part.number, part.rows.stop - part.rows.start)
        return encoding.vectors(self._encoder, [read[place] for place in self.plan.own_texts(part).tolist()])

    @cached_property
    def _texts(self) -> list[OpenTexts]:
        files = self.plan.reference, self.plan.candidate
        return [file.opened_texts(self.plan.folder) for file in files]

    @cached_property
    def _encoder(self) -> Encoder:
        assert self.plan.encoding is not None
        return self.plan.encoding.resolved(self.plan.folder, self._offline)

    def _joined(self, part: Part) -> dict[str, np.ndarray]:
        """All vectors of one side in one file: a text that stands somewhere before has the vector from there."""
        plan, side = self.plan, ROWS.index(part.stage)
        file = (plan.reference, plan.candidate)[side]
        first = plan.first_equal
        rank = np.cumsum(first == np.arange(len(first))) - 1  # of a text that stands nowhere before, among these
        start = plan.reference.rows * side
        wanted_rank = rank[first[start : start + file.rows]]
        order = np.argsort(wanted_rank, kind="stable")
        place = file.joined(plan.folder)
        shards = [shard for stage in VECTORS for shard in plan.parts[stage]]
        with suppress(_ThereError), whole(place, checked=True) as temporary:
            written = new_npy(temporary, np.float32, (file.rows, file.dimensions))
            before = 0
            for shard in shards:
                many = len(plan.own_texts(shard))
                lines = order[slice(*np.searchsorted(wanted_rank, [before, before + many], sorter=order))]
                if len(lines):
                    found = plan.read(shard)
                    if found is None:
                        missing = [each.name for each in shards if not plan.is_whole(each)] or [shard.name]
                        raise _lacking(part, "vectors", missing)
                    written[lines] = found["vectors"][wanted_rank[lines] - before]
                before += many
            written.flush()
            content = content_of(temporary)
            if proved_file(place, content) is not None:
                raise _ThereError
        return {"bytes": np.array([content.bytes]), "digest": np.frombuffer(bytes.fromhex(content.digest), np.uint8)}

    def missing_radii(self) -> list[str]:
        """Names of the radii parts that are not there, or not whole."""
        missing: list[str] = []
        radii: dict[str, list[np.ndarray]] = {stage: [] for stage in RADII}
        for part in (part for stage in RADII for part in self.plan.parts[stage]):
            found = self.plan.read(part)
            if found is None:
                missing.append(part.name)
            else:
                radii[part.stage].append(found["radii"])
        self._radii = {} if missing else {stage: np.concatenate(of_stage) for stage, of_stage in radii.items()}
        return missing

    @cached_property
    def _vectors(self) -> list[OpenVectors]:
        return opened_vectors(self.plan)

    @cached_property
    def _rows(self) -> list[StreamedRows]:
        values = [vectors.values for vectors in self._vectors]
        return [StreamedRows(*side) for side in zip(values, self.plan.foldings(values), strict=True)]

    def _counts(self, part: Part) -> dict[str, np.ndarray]:
        if not self._radii and (missing := self.missing_radii()):
            raise _lacking(part, "radii", missing)
        reference, candidate = self._rows
        of_reference, of_candidate = (self._radii[stage] for stage in RADII)
        return memberships(
            reference, candidate, part.rows, self.plan.ks, of_reference[part.rows], of_candidate
        )._asdict()


def opened_vectors(plan: TilePlan) -> list[OpenVectors]:
    """Of both sides; of texts, once they are all made."""
    files = plan.reference, plan.candidate
    if plan.encoding is None:
        return [file.opened(plan.folder) for file in files]
    rows = [part.name for stage in ROWS for part in plan.parts[stage]]
    if (joined := plan.joined()) is None:
        raise missing_parts(plan, [name for name in rows if name not in plan.look()] or rows)
    opened = [file.opened_joined(plan.folder, content) for file, content in zip(files, joined, strict=True)]
    if missing := [name for name, vectors in zip(rows, opened, strict=True) if vectors is None]:
        raise missing_parts(plan, missing)
    return [vectors for vectors in opened if vectors is not None]


def _lacking(part: Part, what: str, names: list[str]) -> MissingPartsError:
    told = f"{part.name} needs all {what}, but {listed(names)} missing or damaged: run the plan again"
    return MissingPartsError(told, names)


def missing_parts(plan: TilePlan, names: list[str]) -> MissingPartsError:
    return MissingPartsError(f"of {plan.folder} {listed(names)} missing or damaged: run the plan again", names)


def listed(names: list[str]) -> str:
    """Some names of many, and the verb."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more} {'is' if len(names) == 1 else 'are'}"
