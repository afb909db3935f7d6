"""What Mark-Evaluate prints of ten text generators' fluency: Pearson, Kendall, Spearman (absolute values)."""

from __future__ import annotations

from ..paper import paper_numbers

Three = tuple[float, ...]

BEST_K: dict[str, Three] = {name: tuple(row) for name, row in paper_numbers(__package__, "fluency-best-k").items()}
DEFAULT_K: dict[str, dict[str, Three]] = {
    encoder: {name: tuple(row) for name, row in by_name.items()}
    for encoder, by_name in paper_numbers(__package__, "fluency-default-k").items()
}
