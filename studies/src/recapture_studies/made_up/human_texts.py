"""Longer human texts of two kinds beside a machine's, as the studies of promises and of equal systems read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .writing import write_records

FOLDERS = ("ghostbuster",)
_WORDS = 60
"""That a kind of text has."""


def build(root: Path) -> None:
    """150 human texts and 60 of a machine a file, each 20 words drawn at random."""
    rng = np.random.default_rng(5)
    for name in ("reuter", "wp"):
        rows = [
            {"id": str(number), "source": source, "text": " ".join(f"{name}{word:02d}" for word in drawn)}
            for source, count in (("human", 150), ("machine", 60))
            for number, drawn in enumerate(rng.integers(0, _WORDS, (count, 20)))
        ]
        write_records(root / "ghostbuster" / f"{name}.jsonl.gz", rows)
