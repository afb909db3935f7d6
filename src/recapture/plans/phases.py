"""Which kinds of parts there are and which need which: all that a driver has to know to hand them out in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..errors import InputError

SIDES = ("reference", "candidate")
VECTORS = ("vectors-reference", "vectors-candidate")
ROWS = ("rows-reference", "rows-candidate")
RADII = ("radii-reference", "radii-candidate")
COUNTS = "counts"


class Phase(NamedTuple):
    """One kind of part."""

    name: str
    """Its parts' names begin with it."""
    side: str
    """Whose rows (or lines) are shared out among its parts."""
    needs: tuple[str, ...] = ()
    """Phases of which all parts have to be there first, as far as a plan has them."""


PHASES = (
    Phase(VECTORS[0], "reference"),
    Phase(VECTORS[1], "candidate"),
    # A text that both sides have is encoded once.
    Phase(ROWS[0], "reference", VECTORS),
    Phase(ROWS[1], "candidate", VECTORS),
    Phase(RADII[0], "reference", ROWS),
    Phase(RADII[1], "candidate", ROWS),
    Phase(COUNTS, "reference", (*ROWS, *RADII)),
)
"""Every phase stands behind those that it needs. A plan for ready vectors has radii and counts alone."""
FINAL = (*ROWS, COUNTS)
"""What a merge reads."""


class Part(NamedTuple):
    """Some rows of one side: to encode them, to find their radii, or what they share with all rows of the other."""

    stage: str
    """The name of its phase."""
    number: int
    """Counting from 1."""
    rows: slice
    """Lines of a file of texts for vectors and rows; different rows of the side for radii and counts."""

    @property
    def name(self) -> str:
        return f"{self.stage}-{self.number:04}"


class MissingPartsError(InputError):
    """Somebody needs parts that are missing or damaged."""

    def __init__(self, told: str, names: list[str]) -> None:
        super().__init__(told)
        self.names = names


Parts = Mapping[str, Sequence[Part]]
"""All parts of a plan by phase, in the order of PHASES."""


def wanted(parts: Parts, done: Iterable[str]) -> list[str]:
    """Phases whose parts a merge needs, itself or for what it lacks: of a phase that is complete nothing else counts.

    done: names of the parts that are there, and whole.
    """
    there, found = set(done), set()
    todo = [name for name in FINAL if name in parts]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        if any(part.name not in there for part in parts[name]):
            todo += [each for each in _NEEDS[name] if each in parts]
    return [name for name in parts if name in found]


def ready(parts: Parts, done: Iterable[str]) -> list[Part]:
    """Parts that are wanted, not there, and could be made now: none where all is done."""
    there = set(done)
    complete = {name for name, own in parts.items() if all(part.name in there for part in own)}
    return [
        part
        for name in wanted(parts, there)
        if all(each in complete for each in _NEEDS[name] if each in parts)
        for part in parts[name]
        if part.name not in there
    ]


def rounds(parts: Parts) -> list[list[Part]]:
    """All parts, those that need none of each other together: workers with fixed shares go through them in order."""
    depth: dict[str, int] = {}
    for name in parts:
        depth[name] = 1 + max((depth[each] for each in _NEEDS[name] if each in parts), default=-1)
    return [
        [part for name, own in parts.items() if depth[name] == level for part in own]
        for level in sorted(set(depth.values()))
    ]


_NEEDS = {phase.name: phase.needs for phase in PHASES}
