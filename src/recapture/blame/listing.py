"""Lists of texts: rows, what the list is worth, and what is shown where nothing can be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from .doubles import Double, Occurrences
from .reach import Reached
from .sides import TwoSides

SHOWN = 10
"""Rows of a table."""


@dataclass(frozen=True)
class NearestText:
    """The nearest text on the other side."""

    index: int
    text: str | None
    """None where vectors were given."""
    distance: float


@dataclass(frozen=True)
class TextRow:
    """One text of a list."""

    index: int
    """Its place in its set, from 0."""
    text: str | None
    """None where vectors were given."""
    score: float
    """Invented and lost: the distance from the other side, in units of people's median distance from each other.
    Repeated: how many texts of the candidate say it: itself, and those that equal it or are near it. Copied: the share
    of its words that one reference text has."""
    pvalue: float
    adjusted: float
    """By Benjamini and Hochberg, over all texts of the side."""
    nearest: NearestText | None
    """Of copies: the text that it stands in. None where no text counts as near (all are of its own group)."""
    match: str = ""
    """Of repeated and copied texts: equal or near."""
    places: tuple[int, ...] = ()
    """Of repeated texts: its own place, which stays, and those of the texts that repeat it."""

    def record(self) -> dict[str, Any]:
        near = self.nearest
        return {
            "index": self.index,
            "text": self.text,
            "score": self.score,
            "pvalue": self.pvalue,
            "adjusted": self.adjusted,
            "nearest": None if near is None else near.index,
            "nearest_text": None if near is None else near.text,
            "distance": None if near is None else near.distance,
            **({"match": self.match} if self.match else {}),
            **({"places": list(self.places)} if len(self.places) > 1 else {}),
        }


class TextList(Sequence[TextRow]):
    """The texts that stand out, worst first: a sequence of rows.

    Attributes
    ----------
    said : str
        What the list holds, in one sentence.
    shown : list of TextRow
        What a table shows, of equal texts the first: the first of the list, or the furthest where none stands out.
    least : int
        The fewest texts that a list can hold at this size and level; 0 where there is no such bound.
    amount : int
        How many texts it is about: as many as rows, but for repeated texts, whose rows stand for several.
    """

    def __init__(
        self, rows: Sequence[TextRow], shown: Sequence[TextRow], said: str, least: int = 0, amount: int | None = None
    ) -> None:
        self._rows = list(rows)
        self.amount = len(self._rows) if amount is None else amount
        self.shown, self.said, self.least = list(shown), said, least

    @overload
    def __getitem__(self, place: int) -> TextRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[TextRow]: ...

    def __getitem__(self, place: int | slice) -> TextRow | list[TextRow]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TextRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<{self.said}>"


def told_list(sides: TwoSides, side: int, found: Reached, level: float, what: str) -> TextList:
    """The texts of a side whose adjusted p-value is at most the level."""
    order = np.lexsort((np.arange(len(found.pvalue)), -found.score, found.pvalue))
    told = int((found.adjusted <= level).sum())
    total, name = len(order), sides.names[side]
    rows = [_row(sides, side, int(at), found) for at in order[:told]]
    different = np.unique(sides.folded[side].row[sides.folded[side].inverse[order]], return_index=True)[1]
    furthest = [_row(sides, side, int(order[at]), found) for at in np.sort(different)[:SHOWN] if at < (told or total)]
    if told:
        said = f"{what}: {told:,} of {total:,} texts of {name}, of which {level:.0%} may be false alarms"
    else:
        few = f"fewer than {found.least:,} cannot be told from chance at this size"
        why = "sets of this size are too small to tell any from chance" if found.least > total else few
        said = f"{what}: none for sure; the {len(furthest)} furthest; {why}"
    return TextList(rows, furthest, said, found.least)


def doubles_list(
    sides: TwoSides, rows: Sequence[Double], counts: Occurrences, to_reference: Reached, what: str
) -> TextList:
    """Repeated or copied texts of the candidate: all that there are."""
    made = []
    for row in rows:
        source = row.source if row.source >= 0 else int(to_reference.place[row.index])
        near = None
        if source >= 0:
            gap = _vector(sides.candidate.values, row.index) - _vector(sides.reference.values, source)
            near = NearestText(source, sides.text(0, source), float(np.sqrt(gap @ gap)))
        text = sides.text(1, row.index)
        made.append(TextRow(row.index, text, row.score, row.pvalue, row.adjusted, near, row.match, row.places))
    total = counts.equal + counts.near
    said = f"{what}: {total:,} of {len(sides.candidate):,} texts of {sides.names[1]}"
    if total and sides.candidate_texts is not None:
        said += f" ({counts.equal:,} word for word, {counts.near:,} nearly)"
    if total and counts.elsewhere is not None and counts.elsewhere < total:
        said += f", {counts.elsewhere:,} of them also from texts that are not of {sides.apart}"
    said += f"; among people {counts.human:,} of {counts.human_of:,}"
    return TextList(made, made[:SHOWN], said, amount=total)


def _row(sides: TwoSides, side: int, at: int, found: Reached) -> TextRow:
    place = int(found.place[at])
    near = None
    if place >= 0:
        near = NearestText(place, sides.text(1 - side, place), float(found.distance[at]))
    p, adjusted = float(found.pvalue[at]), float(found.adjusted[at])
    return TextRow(at, sides.text(side, at), float(found.score[at]), p, adjusted, near)


def _vector(values: Any, at: int) -> np.ndarray:
    row: np.ndarray = np.asarray(values[at : at + 1], np.float64)[0]
    return row
