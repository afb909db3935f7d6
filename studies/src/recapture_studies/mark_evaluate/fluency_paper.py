"""What Mark-Evaluate prints of ten text generators' fluency: Pearson, Kendall, Spearman (absolute values)."""

from __future__ import annotations

Three = tuple[float, float, float]

BEST_K: dict[str, Three] = {
    "forward CE": (0.606, 0.556, 0.697),
    "reverse CE": (0.440, 0.333, 0.491),
    "Fréchet": (0.902, 0.867, 0.964),
    "PRD F1/8": (0.830, 0.822, 0.939),
    "precision": (0.745, 0.778, 0.903),
    "ME quality": (0.917, 0.911, 0.976),
    "ME Petersen": (0.872, 0.911, 0.976),
    "ME CAPTURE": (0.902, 0.867, 0.964),
}
"""Table 1: SBERT (BERT-large), the best K of each method. Precision is the paper's IMPAR."""

DEFAULT_K: dict[str, dict[str, Three]] = {
    "InferSent": {
        "Fréchet": (0.838, 0.511, 0.733),
        "PRD F1/8": (0.669, 0.689, 0.830),
        "precision": (0.708, 0.689, 0.879),
        "ME quality": (0.905, 0.778, 0.903),
        "ME Petersen": (0.824, 0.867, 0.964),
        "ME CAPTURE": (0.903, 0.867, 0.964),
    },
    "sSBERT": {
        "Fréchet": (0.860, 0.867, 0.964),
        "PRD F1/8": (0.661, 0.778, 0.903),
        "precision": (0.629, 0.467, 0.552),
        "ME quality": (0.883, 0.911, 0.976),
        "ME Petersen": (0.828, 0.911, 0.976),
        "ME CAPTURE": (0.882, 0.911, 0.976),
    },
    "SBERT": {
        "Fréchet": (0.902, 0.867, 0.964),
        "PRD F1/8": (0.684, 0.822, 0.939),
        "precision": (0.633, 0.600, 0.903),
        "ME quality": (0.917, 0.911, 0.976),
        "ME Petersen": (0.872, 0.911, 0.976),
        "ME CAPTURE": (0.902, 0.867, 0.964),
    },
}
"""Table 4: the default K, three encoders."""
