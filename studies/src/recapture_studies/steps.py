"""Numbers of a study's steps, kept as they are made: a study that is interrupted goes on with the next step.

One journal in the cache folder for each study with its settings, texts and encoder, one line a step. Whoever changes
what a step computes must change the settings (`revision`), or old numbers would be taken for new ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import recapture as rc

from .files import plain
from .study import Setup


def steps_of(
    setup: Setup, study: str, settings: Mapping[str, Any], files: Sequence[Path], encodes: bool = True
) -> rc.Journal:
    """settings: all that numbers depend on, but for seed, form and encoder. files: the data that is read.
    encodes: whether numbers depend on the encoder.
    """
    encoder = _encoder(setup) if encodes else {}
    if setup.encoding.get("cache") is False or encoder is None:
        return rc.Journal(None)
    content = hashlib.blake2b(digest_size=12)
    head = {"settings": settings, "quick": setup.quick, "seed": setup.seed, "encoder": encoder}
    content.update(json.dumps(plain(head), sort_keys=True, default=str).encode())
    for file in files:
        content.update(hashlib.blake2b(file.read_bytes()).digest() if file.is_file() else b"absent")
    return rc.Journal(rc.cache_folder() / "studies" / f"{study}-{content.hexdigest()}.jsonl")


def _encoder(setup: Setup) -> dict[str, str] | None:
    """What its vectors depend on, so that other weights under one name are other numbers; None: nobody knows."""
    options = {name: setup.encoding[name] for name in ("pooling", "offline") if name in setup.encoding}
    identity = rc.resolve_encoder(setup.encoder, **options).identity()
    # An encoder that learns from texts is no worse for it: the texts are among the files.
    return None if identity.get("kind") == "function" else identity
