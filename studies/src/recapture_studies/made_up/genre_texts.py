"""Sentences with genres, as the synthetic experiments of Mark-Evaluate read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .writing import write_records

FOLDERS = ("xnli_en_genres", "brown_genres")
GENRES = ("cooking", "law", "sailing", "gardens", "trains", "weather")
_NUMBER = 30
"""Words of a genre."""


def sentence(rng: np.random.Generator, genre: str, source: str) -> str:
    """Seven different words of the genre in alphabetical order, and the source it comes from."""
    words = sorted(rng.choice(_NUMBER, 7, replace=False).tolist())
    return " ".join([f"{genre}{word:02d}" for word in words] + [f"zz{source}"])


def build(root: Path) -> None:
    """xnli_en_genres: 6 genres x 50 premises with three hypotheses each. brown_genres: 6 genres x 10 documents."""
    rng = np.random.default_rng(5)
    pairs, documents = [], []
    for at, genre in enumerate(GENRES):
        for premise in range(50):
            source = f"p{at}x{premise}"
            for place, role in enumerate(("premise", "hypothesis", "hypothesis", "hypothesis")):
                number = 150 * at + 3 * premise + max(0, place - 1)
                row = {"split": "dev", "genre": genre, "role": role, "label": None, "pair": number}
                pairs.append({**row, "text": sentence(rng, genre, source)})
        for document in range(10):
            source = f"c{at}x{document}"
            for number in range(6 + at):  # genres of unequal size
                head = {"genre": genre, "file": source, "n": number, "tokens": 8}
                documents.append({**head, "text": sentence(rng, genre, source)})
            documents += [{"genre": genre, "file": source, "n": 99, "tokens": 1, "text": ")"}]
    write_records(root / "xnli_en_genres" / "sentences.jsonl.gz", pairs)
    write_records(root / "brown_genres" / "sentences.jsonl.gz", documents)


def source_of(text: str) -> str:
    return next(word for word in text.split() if word.startswith("zz"))
