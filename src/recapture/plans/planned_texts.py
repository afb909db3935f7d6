"""What encodes the texts of a plan.

A text is encoded once, in the part where it stands first, whichever file that is: the vectors of equal texts are equal.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.parallel import engine_options
from ..representations.encode import check_batch_size, encode_rows
from ..representations.encoder import Encoder, resolve_encoder
from .json_kinds import NOTHING, NUMBER, TEXT, check_all, of_kinds
from .places import Place, beside, place_of, seen_from

_KINDS = {
    "name": TEXT + NOTHING, "beside": TEXT + NOTHING, "pooling": TEXT + NOTHING, "truncate": (bool,),
    "batch_size": NUMBER + NOTHING, "dtype": TEXT + NOTHING, "identity": (dict,), "dimensions": NUMBER,
}  # fmt: skip
LINES = "lines.npy"
"""Of every text, the reference's first, the number of the first that is equal to it."""


@dataclass(frozen=True)
class PlannedEncoding:
    """What encodes the texts of a plan: nothing else that their vectors depend on is left open."""

    name: str | None
    """As it was asked for, or the whole path of a folder or file."""
    beside: str | None
    """Of a folder or file: as seen from the plan's folder."""
    pooling: str | None
    truncate: bool
    batch_size: int | None
    dtype: str | None
    identity: dict[str, str]
    dimensions: int

    @classmethod
    def of(
        cls,
        encoder: str | None,
        folder: Place,
        text: str,
        pooling: str | None,
        truncate: bool,
        batch_size: int | None,
        dtype: str | None,
        offline: bool | None,
    ) -> PlannedEncoding:
        """text: to see what it makes of one."""
        path = None
        if encoder is not None and Path(encoder).expanduser().exists():
            path = os.path.abspath(Path(encoder).expanduser())  # noqa: PTH100 - links stay as they are
        resolved = resolve_encoder(path or encoder, pooling=pooling, truncate=truncate, dtype=dtype, offline=offline)
        if resolved.fit([text or "a"]) is not resolved:
            raise InputError(
                f"{resolved.name} learns from texts, which parts of a plan cannot: encode both files first, and make "
                "the plan for their vectors"
            )
        size = check_batch_size(batch_size)
        dimensions = encode_rows([text], resolved, batch_size=size, cache=False).shape[1]
        return cls(
            path or encoder,
            None if path is None else beside(path, folder),
            pooling,
            truncate,
            size,
            dtype,
            resolved.identity(),
            dimensions,
        )

    @classmethod
    def from_json(cls, said: Any) -> PlannedEncoding:
        """What `to_json` made; ValueError where it is something else."""
        made = cls(**of_kinds(said, _KINDS))
        check_all([*made.identity.values()], TEXT)
        return made

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def work(self) -> dict[str, Any]:
        """What vectors depend on: not where the encoder lies."""
        return {"identity": self._told(self.identity), "batch size": self.batch_size}

    def resolved(self, folder: Place, offline: bool | None) -> Encoder:
        """The encoder, on the device that the work is done on."""
        asked, name = engine_options().device, self.name
        if self.beside is not None:
            places = [seen_from(folder, self.beside), place_of(str(self.name))]
            name = next((str(place) for place in places if Path(str(place)).exists()), self.name)
        device = None if asked == "auto" else asked
        found = resolve_encoder(
            name, pooling=self.pooling, truncate=self.truncate, device=device, dtype=self.dtype, offline=offline
        )
        other = {key: value for key, value in self._told(found.identity()).items() if value != self.identity.get(key)}
        if other:
            key, value = next(iter(other.items()))
            raise InputError(
                f"the encoder {found.name} is not the one that the plan was made with: its {key} is {value}, not "
                f"{self.identity.get(key)}"
            )
        return found

    def _told(self, identity: dict[str, str]) -> dict[str, str]:
        """A folder or file may lie elsewhere, so that its name says nothing."""
        return {key: value for key, value in identity.items() if self.beside is None or key != "encoder"}

    def vectors(self, encoder: Encoder, texts: list[str]) -> np.ndarray:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return np.asarray(encode_rows(texts, encoder, batch_size=self.batch_size, cache=False))
