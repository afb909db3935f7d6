"""Numbers of a study's steps, kept as they are made: a study that is interrupted goes on with the next step.

One JSONL file in the cache folder for each study with its settings, texts and encoder, one line a step. Whoever changes
what a step computes must change the settings (`revision`), or old numbers would be taken for new ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..report.result import plain
from ..representations.vector_cache import cache_folder
from .study import Setup


class Steps:
    """settings: all that numbers depend on, but for seed, form and encoder. files: the data that is read.
    encodes: whether numbers depend on the encoder.
    """

    def __init__(
        self, setup: Setup, study: str, settings: Mapping[str, Any], files: Sequence[Path], encodes: bool = True
    ) -> None:
        self._path: Path | None = None
        self._known: dict[str, Any] = {}
        encoder = _encoder(setup) if encodes else {}
        if setup.encoding.get("cache") is False or encoder is None:
            return
        content = hashlib.blake2b(digest_size=12)
        head = {"settings": settings, "quick": setup.quick, "seed": setup.seed, "encoder": encoder}
        content.update(json.dumps(plain(head), sort_keys=True, default=str).encode())
        for file in files:
            content.update(hashlib.blake2b(file.read_bytes()).digest() if file.is_file() else b"absent")
        self._path = cache_folder() / "studies" / f"{study}-{content.hexdigest()}.jsonl"
        if self._path.is_file():
            for line in self._path.read_text(encoding="utf-8", errors="replace").splitlines():
                with contextlib.suppress(ValueError, KeyError, TypeError):  # cut off while it was written
                    record = json.loads(line)
                    self._known[record["step"]] = record["value"]

    def get(self, step: str, make: Callable[[], Any]) -> Any:
        """The value of a step, made now or kept; anything JSON can say."""
        if step not in self._known:
            value = json.loads(json.dumps(plain(make())))  # what is made now must look like what will be read
            self._known[step] = value
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write("\n" * _torn(self._path) + json.dumps({"step": step, "value": value}) + "\n")
        return self._known[step]


def _torn(path: Path) -> bool:
    """Whether a file ends in the middle of a line."""
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read() != b"\n"


def _encoder(setup: Setup) -> dict[str, str] | None:
    """What its vectors depend on, so that other weights under one name are other numbers; None: nobody knows."""
    from ..representations.encoder import resolve_encoder

    options = {name: setup.encoding[name] for name in ("pooling", "offline") if name in setup.encoding}
    encoder = resolve_encoder(setup.encoder, **options)
    # An encoder that learns from texts is no worse for it: the texts are among the files.
    return None if encoder.identity().get("kind") == "function" else encoder.identity()
