"""Table 1 of the distribution-aware paper, and what means of p-values tend to where nothing differs."""

from __future__ import annotations

import numpy as np

import recapture as rc

from ..paper import paper_numbers

METRICS = {
    "embedding": "embedding",
    "cider": "CIDEr-D",
    "sentence-bleu": "BLEU@4",
    "meteor": "METEOR",
    "rouge-l": "ROUGE-L",
}
FEW, MANY = 4, 19
"""References beside the candidate: as in the paper on MS-COCO and on MSR-VTT."""
PAPER: dict[tuple[str, str, int], list[float]] = {
    (row["data"], row["candidate"], row["references"]): row["p"]
    for row in paper_numbers(__package__, "single-candidate")
}
"""In the order of METRICS."""

JOINED = {
    "harmonic mean": lambda p: rc.harmonic_mean_p(p).raw,
    "arithmetic mean": lambda p: float(np.mean(p)),
    "Fisher": lambda p: rc.fisher(p),
}


def equal_shares(partitions: int, how: str) -> float:
    """What the mean of p tends to where nothing differs and nothing ties: 1/N, 2/N, ..., 1 equally often."""
    p = np.arange(1, partitions + 1) / partitions
    return JOINED[how](p)


def closest() -> tuple[int, int, int]:
    """How many of the paper's figures for people there are, and how many are nearer to which mean."""
    nearer = {"harmonic mean": 0, "arithmetic mean": 0}
    for (_, model, references), numbers in PAPER.items():
        if model == "Human":
            for name, value in zip(METRICS, numbers, strict=True):
                if name != "sentence-bleu":
                    off = {how: abs(value - equal_shares(references + 1, how)) for how in nearer}
                    nearer[min(off, key=off.__getitem__)] += 1
    return sum(nearer.values()), nearer["harmonic mean"], nearer["arithmetic mean"]
