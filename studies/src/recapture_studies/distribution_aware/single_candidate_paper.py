"""Table 1 of the distribution-aware paper, and what means of p-values tend to where nothing differs."""

from __future__ import annotations

import numpy as np

import recapture as rc

METRICS = {"embedding": "embedding", "cider": "CIDEr-D", "bleu": "BLEU@4", "meteor": "METEOR", "rouge-l": "ROUGE-L"}
FEW, MANY = 4, 19
"""References beside the candidate: as in the paper on MS-COCO and on MSR-VTT."""
# Table 1 of the paper, in the order of METRICS; references beside the one candidate as its appendix A.5 says.
PAPER = {
    ("MSR-VTT", "TVT", MANY): (0.6582, 0.4098, 0.7813, 0.4573, 0.4771),
    ("MSR-VTT", "O2NA", MANY): (0.6455, 0.4574, 0.7959, 0.5646, 0.5938),
    ("MSR-VTT", "Human", MANY): (0.5153, 0.5314, 0.8291, 0.5306, 0.5669),
    ("MS-COCO", "CLIPCap", FEW): (0.5581, 0.8223, 0.8788, 0.7483, 0.7985),
    ("MS-COCO", "VLP", FEW): (0.5925, 0.7424, 0.8593, 0.6644, 0.7706),
    ("MS-COCO", "Human", FEW): (0.6406, 0.6686, 0.8743, 0.6358, 0.6841),
}

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
                if name != "bleu":
                    off = {how: abs(value - equal_shares(references + 1, how)) for how in nearer}
                    nearer[min(off, key=off.__getitem__)] += 1
    return sum(nearer.values()), nearer["harmonic mean"], nearer["arithmetic mean"]
