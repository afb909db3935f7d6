"""How large the study of power is: sizes, strengths of damage, repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Size(NamedTuple):
    """Comparisons of sets of one size."""

    texts: int
    """A side."""
    human: int
    """Comparisons without damage, by which numbers are calibrated."""
    repeats: int
    """Of each damage."""
    strengths: tuple[float, ...]
    """Shares of the candidate's texts that are damaged;"""
    quiet: tuple[float, ...]
    """of damage that hardly moves a text's vector."""
    dropped: tuple[int, ...]
    """Numbers of genres dropped."""


class Scale(NamedTuple):
    of_genre: int
    """People's texts of each genre."""
    damaged: int
    """Texts that are also there with their words shuffled, and truncated."""
    families: int
    """Texts of which there are variations,"""
    variations: int
    """and how many of each."""
    dimensions: int
    """Of the word counts' leading directions."""
    sizes: tuple[Size, ...]

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Scale:
        """From what JSON made of it."""
        sizes = tuple(Size._make(tuple(part) if isinstance(part, list) else part for part in size)
                      for size in content["sizes"])  # fmt: skip
        return cls(**{**content, "sizes": sizes})


FULL = Scale(
    of_genre=750,
    damaged=2000,
    families=400,
    variations=5,
    dimensions=256,
    sizes=(
        Size(100, 600, 200, strengths=(0.05, 0.1, 0.25), quiet=(0.25, 0.5, 1.0), dropped=(3, 6, 10)),
        Size(300, 500, 100, strengths=(0.03, 0.06, 0.15), quiet=(0.15, 0.3, 0.6), dropped=(2, 4, 7)),
        Size(1000, 300, 50, strengths=(0.01, 0.03, 0.1), quiet=(0.1, 0.2, 0.5), dropped=(1, 2, 4)),
        Size(5000, 80, 6, strengths=(0.005, 0.02), quiet=(0.05, 0.2), dropped=(1, 2)),
    ),
)
QUICK = Scale(
    of_genre=40,
    damaged=60,
    families=12,
    variations=5,
    dimensions=20,
    sizes=(
        Size(20, 5, 2, strengths=(0.5,), quiet=(1.0,), dropped=(4,)),
        Size(30, 5, 1, strengths=(0.2, 0.5), quiet=(0.5, 1.0), dropped=(2, 4)),
    ),
)
