"""Made-up folders of sentences with genres, as the synthetic experiments of Mark-Evaluate read them."""

import gzip
import json
from pathlib import Path

import numpy as np

GENRES = ("cooking", "law", "sailing", "gardens", "trains", "weather")
_NUMBER = 30
"""Words of a genre."""


def sentence(rng, genre, source):
    """Seven different words of the genre in alphabetical order, and the source it comes from."""
    words = sorted(rng.choice(_NUMBER, 7, replace=False).tolist())
    return " ".join([f"{genre}{word:02d}" for word in words] + [f"zz{source}"])


def build(folder: Path) -> None:
    """xnli_en_genres: 6 genres x 50 premises with three hypotheses each. brown_genres: 6 genres x 10 documents."""
    rng = np.random.default_rng(5)
    pairs, documents = [], []
    for at, genre in enumerate(GENRES):
        for premise in range(50):
            source = f"p{at}x{premise}"
            for place, role in enumerate(("premise", "hypothesis", "hypothesis", "hypothesis")):
                row = {"split": "dev", "genre": genre, "role": role, "label": None, "pair": 150 * at + 3 * premise}
                pairs.append({**row, "pair": row["pair"] + max(0, place - 1), "text": sentence(rng, genre, source)})
        for document in range(10):
            source = f"c{at}x{document}"
            for number in range(6 + at):  # genres of unequal size
                row = {"genre": genre, "file": source, "n": number, "tokens": 8}
                documents.append({**row, "text": sentence(rng, genre, source)})
            documents += [{"genre": genre, "file": source, "n": 99, "tokens": 1, "text": ")"}]
    for name, rows in (("xnli_en_genres", pairs), ("brown_genres", documents)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        with gzip.open(folder / name / "sentences.jsonl.gz", "wt") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)


def source_of(text):
    return next(word for word in text.split() if word.startswith("zz"))
