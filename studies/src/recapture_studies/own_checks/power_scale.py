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
    """Shares of the candidate's texts that are damaged."""
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
        sizes = tuple(Size(*(tuple(each) if isinstance(each, list) else each for each in size))
                      for size in content["sizes"])  # fmt: skip
        return cls(**{**content, "sizes": sizes})


FULL = Scale(
    of_genre=750,
    damaged=2000,
    families=400,
    variations=5,
    dimensions=256,
    sizes=(
        Size(100, human=600, repeats=200, strengths=(0.1, 0.25, 0.5), dropped=(3, 6, 10)),
        Size(300, human=500, repeats=100, strengths=(0.05, 0.1, 0.25), dropped=(2, 4, 7)),
        Size(1000, human=300, repeats=50, strengths=(0.02, 0.05, 0.1), dropped=(1, 2, 4)),
        Size(5000, human=100, repeats=8, strengths=(0.01, 0.03), dropped=(1, 2)),
    ),
)
QUICK = Scale(
    of_genre=40,
    damaged=60,
    families=12,
    variations=5,
    dimensions=20,
    sizes=(
        Size(20, human=10, repeats=2, strengths=(0.5,), dropped=(4,)),
        Size(30, human=10, repeats=2, strengths=(0.2, 0.5), dropped=(2, 4)),
    ),
)
