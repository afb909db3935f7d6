"""Table 2 of the InfoLM paper, as printed: correlations in per cent at the system level."""

from __future__ import annotations

from ..paper import paper_numbers

CRITERIA: tuple[str, ...] = tuple(paper_numbers(__package__, "webnlg-criteria"))
PAPER: dict[str, tuple[list[str], list[float]]] = {
    name: (row["is"], row["row"]) for name, row in paper_numbers(__package__, "webnlg").items()
}
"""For each criterion Pearson, Spearman, Kendall; before them the outputs here that are the same metric."""
CRITERIA_PAPER: dict[tuple[str, str], list[float]] = {
    (first, second): numbers for first, second, *numbers in paper_numbers(__package__, "webnlg-between-criteria")
}
"""How far the criteria agree with each other; the row of the first criterion named (the table's other half sometimes
has Pearson and Spearman exchanged)."""
