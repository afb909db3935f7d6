"""Generators of one domain and what people said of them, as the fluency study reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .writing import write_records

_NAMES = ["The Lamp", "Old Anchor", "Tall Oak", "Miro", "The Kettle", "Salvia", "Nine Steps", "The Forge"]
_KINDS = ["coffee shop", "pub", "restaurant"]
_PLACES = ["riverside", "city centre", "park", "station"]
_FOOD = ["Italian", "French", "English", "Indian"]
_FORMS = [
    "{name} is a {kind} near the {place} that serves {food} food.",
    "Near the {place} there is a {kind} called {name} with {food} food.",
    "For {food} food try {name}, a {kind} by the {place}.",
]
SYSTEMS = 8


def build(root: Path) -> None:
    """Eight systems; each puts more words in disorder than the one before, and people see how many."""
    rng = np.random.default_rng(5)
    references, outputs = [], []
    judged: dict[str, list[dict[str, Any]]] = {"naturalness": [], "quality": []}
    for item in range(70):
        facts = {
            "name": _NAMES[item % 8],
            "kind": _KINDS[item % 3],
            "place": _PLACES[item % 4],
            "food": _FOOD[item // 18],
        }
        texts = [form.format(**facts) for form in _FORMS]
        references.append({"id": item, "mr": "-", "references": texts[: 2 + item % 2]})
        for system in range(SYSTEMS):
            words = texts[int(rng.integers(3))].split()
            for place in np.flatnonzero(rng.random(len(words)) < 0.12 * system):
                words[place] = str(rng.choice(["shop", "near", "the", "food", "a", "that"]))
            outputs.append({"system": f"s{system}", "id": item, "output": " ".join(words)})
        for rows in judged.values():
            chosen = rng.permutation(SYSTEMS)[:5]
            unit = 10.0 ** rng.integers(0, 5)  # every judge has a scale of his own
            scores = [float(unit * (20 - 2 * system + rng.normal())) for system in chosen]
            names = [f"s{system}" for system in chosen]
            rows.append({"id": item, "rater": item % 9, "systems": names, "scores": scores})
    folder = root / "e2e_nlg"
    write_records(folder / "test_refs.jsonl.gz", references)
    write_records(folder / "outputs.jsonl.gz", outputs)
    for criterion, rows in judged.items():
        write_records(folder / f"human_{criterion}.jsonl.gz", rows)
