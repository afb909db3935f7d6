"""Small pairwise metrics with a score of any direction, so that these tests depend on no real one."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import overlap

from recapture.contexts import declaration as contexts
from recapture.similarity.scorer import METRICS, Scorer, Similarity


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
    """`toy` (higher is better, best over references), `toy-mean` (mean), `toy-far` (lower is better)."""
    calls: list = []
    made = {
        "toy": Similarity(name="toy", title="Toy", prepare=lambda turn: Toy(turn, calls), defaults={"turn": 1.0}),
        "toy-even": Similarity(name="toy-even", title="Even", prepare=lambda: Toy(1.0, calls), over_references="mean"),
        "toy-far": Similarity(name="toy-far", title="Far", prepare=lambda: ToyDistance(1.0, calls), direction="lower"),
    }
    monkeypatch.setattr(METRICS, "_metrics", {**METRICS.all(), **made})
    monkeypatch.setattr(contexts.METRICS, "_metrics", None)  # derived from those
    return calls
