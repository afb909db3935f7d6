"""Toy metrics of aligned texts whose numbers can be worked out in the head."""

from __future__ import annotations

import math

import numpy as np

from recapture.errors import InputError
from recapture.pairs import declaration as base
from recapture.pairs.declaration import INFINITY, GroupScorer, Output, PairMetric, PairScores, TextPairScorer


class Overlap(TextPairScorer):
    """share: of the reference's words, those the candidate has; extra: words the candidate has besides."""

    def __init__(self, calls, scale):
        self._calls = calls
        self.settings = {"scale": scale}
        self._scale = scale

    def score(self, pairs):
        self._calls.append(list(pairs))
        sides = [(set(reference.split()), set(candidate.split())) for reference, candidate in pairs]
        strange = [any("?" in side for side in both) for both in sides]
        share = [len(one & other) / len(one) for one, other in sides]
        extra = [len(one ^ other) for one, other in sides]
        return {
            "share": np.where(strange, math.nan, np.array(share) * self._scale),
            "extra": np.where(strange, math.nan, np.array(extra, float)),
        }

    def warnings(self, texts):
        return ("toys say little",) if self._scale != 1 else ()


class Length(GroupScorer):
    """Words of the candidate; the corpus number is their sum."""

    def __init__(self, calls):
        self._calls = calls

    def score(self, references, candidates):
        self._calls.append([list(group) for group in references])
        counts = np.array([float(len(text.split())) for text in candidates])
        return PairScores({"value": counts}, {"value": float(counts.sum())})


def toys(monkeypatch, calls):
    """`overlap` and `length` beside the metrics there are; what they are asked goes to `calls`."""

    def outputs(parameters):
        if not isinstance(parameters["scale"], (int, float)):
            raise InputError(f"scale must be a number, not {parameters['scale']!r}")
        return Output("share", "words shared"), Output("extra", "words besides", (-INFINITY, INFINITY))

    overlap = PairMetric(
        name="overlap",
        title="Overlap",
        outputs=outputs,
        direction="higher",
        prepare=lambda references, shared, scale: Overlap(calls, scale),
        defaults={"scale": 1},
    )
    length = PairMetric(
        name="length",
        title="Length",
        outputs=(Output("value", "words", (0.0, INFINITY)),),
        direction="higher",
        prepare=lambda references, shared: Length(calls),
        over_references=None,
    )
    monkeypatch.setattr(base.METRICS, "_metrics", {**base.METRICS.all(), "overlap": overlap, "length": length})
