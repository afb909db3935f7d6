"""Translations and texts from data, with ratings: systems that spoil more and more words, and people who see it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .writing import write_records

FOLDERS = ("wmt17_to_english", "webnlg2020_en")
GOOD = "the old cat sat on the red mat near the river and then the small dog ran to the tree"
_WORDS = GOOD.split()
_CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
_SHARES = {"good": 0.1, "fair": 0.3, "poor": 0.5, "bad": 0.8}
"""By system, how many of its words are replaced."""


def _sentence(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(_WORDS, rng.integers(6, 12)))


def _worse(text: str, rng: np.random.Generator, share: float) -> str:
    """Some words replaced: the more, the worse."""
    return " ".join(str(rng.choice(_WORDS)) if rng.random() < share else word for word in text.split())


def _rated(share: float, rng: np.random.Generator) -> float:
    return float(1 - share + rng.normal(0, 0.05))


def build(root: Path) -> None:
    rng = np.random.default_rng(3)
    _translations(root / "wmt17_to_english", rng)
    _texts_from_data(root / "webnlg2020_en", rng)


def _translations(folder: Path, rng: np.random.Generator) -> None:
    """Two language pairs, 14 segments, four systems; every output is rated once."""
    segments, outputs, judged, systems = [], [], [], ["lp\tsystem\thuman_da"]
    for pair in ("cs-en", "zh-en"):
        references = {sid: f"{_sentence(rng)} , it &apos;s {sid} ." for sid in range(1, 15)}
        segments += [{"lp": pair, "sid": sid, "source": "-", "reference": text} for sid, text in references.items()]
        for name, share in _SHARES.items():
            systems.append(f"{pair}\t{name}\t{_rated(share, rng)}")
            for sid, text in references.items():
                made = _worse(text, rng, share)
                outputs.append({"lp": pair, "system": name, "sid": sid, "hyp": made})
                row = {"lp": pair, "sid": sid, "systems": [name], "reference": text, "hyp": made}
                judged.append({**row, "human_da": _rated(share, rng)})
    order = rng.permutation(len(judged))
    write_records(folder / "segments.jsonl.gz", segments)
    write_records(folder / "outputs.jsonl.gz", outputs)
    write_records(folder / "segment_da.jsonl", [judged[at] for at in order])
    (folder / "system_da.tsv").write_text("\n".join(systems) + "\n")


def _texts_from_data(folder: Path, rng: np.random.Generator) -> None:
    """Ten items with one to three references; one output is not rated, and people's own texts are not there."""
    human, plain = [], []
    for item in range(10):
        references = [_sentence(rng) for _ in range(1 + item % 3)]
        for name, share in _SHARES.items():
            made = _worse(references[0], rng, share)
            plain.append({"system": name, "id": item, "output": made})
            row = {"system": name, "id": item, "references": references, "output": made}
            if (name, item) != ("fair", 2):  # nobody rated this one
                human.append({**row, "human_mean": {name: 100 * _rated(share, rng) for name in _CRITERIA}})
        own = {"system": "WebNLG-2020-reference", "id": item, "references": references, "output": None}
        human.append({**own, "human_mean": dict.fromkeys(_CRITERIA, 90.0)})
    write_records(folder / "human_eval.jsonl.gz", human)
    write_records(folder / "outputs.jsonl.gz", plain)
