"""Small pairwise metrics with a score of any direction, so that these tests hang on no real one."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import overlap

from recapture.similarity import scorer as base
from recapture.similarity.scorer import Scorer, Similarity


class Toy(Scorer):
    def __init__(self, turn=1.0, calls=None):
        self.settings = {"turn": turn}
        self._turn = turn
        self.calls = [] if calls is None else calls

    def cross(self, hypotheses, references):
        self.calls.append((list(hypotheses), list(references)))
        return np.array([[float(overlap(a, b)) for b in references] for a in hypotheses]) * self._turn


class ToyDistance(Toy):
    def cross(self, hypotheses, references):
        return 1 - super().cross(hypotheses, references)


@pytest.fixture
def toys(monkeypatch):
    """`toy` (higher is better, max over references), `toy-mean` (mean), `toy-far` (lower is better)."""
    calls: list = []
    made = {
        "toy": Similarity("toy", "Toy", lambda turn: Toy(turn, calls), "nobody", defaults={"turn": 1.0}),
        "toy-even": Similarity("toy-even", "Even", lambda: Toy(1.0, calls), "nobody", over_references="mean"),
        "toy-far": Similarity("toy-far", "Far", lambda: ToyDistance(1.0, calls), "nobody", direction="lower"),
    }
    real = base._registry()
    monkeypatch.setattr(base, "_registry", lambda: {**real, **made})
    return calls
