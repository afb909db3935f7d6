"""Table 2 of the InfoLM paper, as printed: correlations in per cent at the system level."""

from __future__ import annotations

CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")

# For each criterion Pearson, Spearman, Kendall. First the outputs here that are the same metric.
_ROWS: dict[str, tuple[tuple[str, ...], str]] = {
    "AB": (("ab",), "88.8 89.3 76.6 81.8 82.6 70.0 86.6 92.0 76.6 89.8 87.9 73.3 86.6 91.4 75.0"),
    "alpha": (("alpha",), "88.8 89.3 76.6 81.8 82.6 70.0 86.6 92.0 76.6 89.8 87.9 73.3 86.6 91.4 75.0"),
    "gamma": (("gamma",), "81.4 50.0 71.6 48.4 79.7 65.0 44.8 84.7 76.6 49.3 72.3 60.0 48.0 83.8 75.0"),
    "L1": (("l1",), "75.2 33.8 61.6 32.4 53.8 40.0 22.7 83.5 73.3 32.2 57.9 45.0 25.6 83.2 71.6"),
    "Fisher-Rao": (("fisher_rao",), "89.7 86.0 75.0 78.7 70.5 51.6 93.3 95.7 85.3 87.6 84.4 70.0 92.4 93.8 81.6"),
    "Jeffreys (JS)": (("jeffreys",), "79.4 81.1 70.0 69.3 75.5 60.0 89.4 91.4 75.0 81.7 70.5 60.0 91.9 91.1 73.3"),
    "BERTScore": (("bertscore f1",), "85.5 83.4 73.3 74.7 68.2 53.3 92.3 95.5 85.0 83.3 79.4 65.0 91.9 95.0 83.3"),
    "MoverScore": (("moverscore",), "84.1 84.1 73.3 78.7 66.2 53.3 91.2 92.1 78.3 82.1 77.4 65.0 90.1 91.4 76.3"),
    "BLEU": (("bleu",), "77.6 66.3 60.0 55.7 50.2 36.6 89.4 90.5 78.3 63.0 65.2 51.6 88.5 89.1 76.6"),
    "ROUGE-1": (("rouge rouge1",), "80.6 65.0 65.0 61.1 59.6 48.3 76.5 76.3 60.3 64.3 69.2 56.7 75.9 77.5 58.3"),
    "METEOR": (("meteor",), "86.5 66.3 70.0 77.3 50.2 46.6 86.7 90.5 78.3 82.1 65.2 58.6 86.2 89.1 76.6"),
    "TER": (("ter",), "79.6 78.3 58.0 69.7 58.2 38.0 89.1 93.5 80.0 75.0 70.2 77.6 89.5 91.1 78.6"),
}
PAPER = {name: (outputs, [float(number) for number in row.split()]) for name, (outputs, row) in _ROWS.items()}

CRITERIA_PAPER = {
    ("Correctness", "DataCoverage"): (97.6, 85.2, 73.3),
    ("Correctness", "Fluency"): (80.0, 81.1, 61.6),
    ("Correctness", "Relevance"): (99.1, 89.7, 75.0),
    ("Correctness", "TextStructure"): (80.1, 80.8, 60.0),
    ("DataCoverage", "Fluency"): (71.8, 51.7, 38.3),
    ("DataCoverage", "Relevance"): (96.0, 93.8, 81.6),
    ("DataCoverage", "TextStructure"): (71.6, 51.4, 36.6),
    ("Fluency", "Relevance"): (77.0, 61.4, 46.6),
    ("Fluency", "TextStructure"): (99.5, 99.7, 98.3),
    ("Relevance", "TextStructure"): (77.2, 61.1, 45.0),
}
"""How far the criteria agree with each other; the row of the first criterion named (the table's other half sometimes
has Pearson and Spearman exchanged)."""
