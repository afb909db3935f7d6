"""Encoding 20,000 made-up sentences, and the same again from the disk cache."""

from __future__ import annotations

import random
import tempfile

import recapture as rc

from .timing import ratio, run, seconds

_WORDS = [
    *("harbour", "ferry", "lantern", "market", "baker", "orchard", "winter", "letter", "window", "garden", "piano"),
    *("cellar", "river", "bridge", "kettle", "ladder", "engine", "meadow", "station", "captain", "teacher", "violin"),
]


def main(count: int = 20_000) -> None:
    rng = random.Random(1)
    texts = [f"{number}: " + " ".join(rng.choices(_WORDS, k=rng.randint(5, 15))) for number in range(count)]
    print(f"encoding {count:,} texts, all-MiniLM-L6-v2")
    with tempfile.TemporaryDirectory() as folder:
        first = run(lambda: rc.encode(texts, cache=folder))
        second = min(run(lambda: rc.encode(texts, cache=folder)) for _ in range(3))
    seconds("first run", first)
    seconds("second run", second)
    ratio("first / second", first / second, "at least 20")
