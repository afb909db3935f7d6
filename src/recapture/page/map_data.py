"""The map of texts: which are shown, where each lies, and its nearest text on the other side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..geometry.distinct import distinct_rows
from ..geometry.nearest import nearest_rows
from ..geometry.sparse_rows import Rows, together
from .page_parts import TextMap
from .projection import PRINCIPAL, projected

MOST = 20_000
"""Texts on a map."""
KEPT = 200_000
"""MapSamples that a result remembers for its map: more would hold memory that nobody expects."""
_UNWANTED: ContextVar[bool] = ContextVar("maps are not wanted", default=False)


@contextmanager
def without_maps() -> Iterator[None]:
    """Inside, pages have no map of samples: it takes longer than all their other parts."""
    token = _UNWANTED.set(True)
    try:
        yield
    finally:
        _UNWANTED.reset(token)


def _forgotten() -> None:
    return None


@dataclass(frozen=True)
class MapSamples:
    """The sets behind a result, people's first; a pickled or copied result leaves them behind."""

    values: Mapping[str, Rows]
    texts: Mapping[str, Sequence[str]] | None
    """None where vectors came ready."""

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return _forgotten, ()

    def rows(self) -> Rows:
        """Of all sets, one after another."""
        return together(list(self.values.values()))

    @classmethod
    def kept(cls, values: Mapping[str, Rows], texts: Mapping[str, Sequence[str]] | None) -> MapSamples | None:
        """None where there are too many."""
        return cls(dict(values), texts) if sum(map(len, values.values())) <= KEPT else None


def map_of(samples: MapSamples | None, seed: int = 0, most: int = MOST) -> TextMap | None:
    """All sets together, coloured by cluster, too; None where there is nothing to show.

    Of more than `most` samples every side keeps its share, drawn with the seed.
    """
    if samples is None or _UNWANTED.get() or min(map(len, samples.values.values())) == 0:
        return None
    names = list(samples.values)
    chosen = _chosen([len(each) for each in samples.values.values()], most, seed)
    sets = [rows[places] for rows, places in zip(samples.values.values(), chosen, strict=True)]
    side = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    words = "texts" if samples.texts is not None else "samples"
    found = projected(together(sets), seed, words)
    plane = found.layouts[0].at
    nearest, distance = _nearest(sets)
    sides = {"side": ["a system" if each else "people" for each in side.tolist()]} if len(sets) > 2 else {}
    total = sum(map(len, samples.values.values()))
    thinned = total > len(side)
    caption = [
        *(each.said for each in found.layouts),
        f"nearest: by distance between whole vectors, not on the map{', among those shown' if thinned else ''}",
        "cluster: by k-means of the first principal components of those shown",
    ]
    if len(np.unique(plane.round(9), axis=0)) < len(plane):
        caption.append("larger: several of one side at one place")
    if thinned:
        caption.insert(0, f"{len(side):,} of {total:,} {words} are shown, drawn from every side alike (seed {seed})")
    return TextMap(
        names,
        side,
        plane[:, 0],
        plane[:, 1],
        [_shown(samples, name, place) for name, places in zip(names, chosen, strict=True) for place in places.tolist()],
        nearest,
        distance,
        {**sides, "cluster": [str(each + 1) for each in found.cluster.tolist()]},
        caption,
        layout=found.layouts[0].name,
        layouts={each.name: (each.at[:, 0], each.at[:, 1]) for each in found.layouts[1:]},
        of=total if thinned else None,
        index=np.concatenate(chosen),
    )


def _shown(samples: MapSamples, name: str, place: int) -> str:
    return f"sample {place + 1}" if samples.texts is None else str(samples.texts[name][place])


def _chosen(sizes: Sequence[int], most: int, seed: int) -> list[np.ndarray]:
    total = sum(sizes)
    rng = np.random.default_rng(seed)
    if total <= most:
        return [np.arange(size) for size in sizes]
    return [np.sort(rng.choice(size, max(1, size * most // total), replace=False)) for size in sizes]


def _nearest(sets: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    """Of every sample, the place of its nearest on the other side and the distance: people's of all candidates, and
    candidates' of people."""
    people, others = sets[0], together(list(sets[1:])) if len(sets) > 1 else sets[0][:0]
    offset = len(people)
    of_people, near = _closest(people, others)
    of_others, far = _closest(others, people)
    return np.concatenate([np.where(of_people < 0, -1, of_people + offset), of_others]), np.concatenate([near, far])


def _closest(rows: Rows, others: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Of every row its closest other one, -1 where there is none, and their distance."""
    if not len(rows) or not len(others):
        return np.full(len(rows), -1), np.full(len(rows), np.nan)
    mine, theirs = distinct_rows(rows), distinct_rows(others)
    found = nearest_rows(mine.values, theirs.values)
    first = np.unique(theirs.inverse, return_index=True)[1]
    return first[found.place[0][mine.inverse]], np.sqrt(found.squared[0][mine.inverse])


def map_of_records(
    records: Sequence[Mapping[str, Any]],
    names: tuple[str, str],
    seed: int = 0,
    most: int = MOST,
    rows: Callable[[], Rows] | None = None,
) -> TextMap | None:
    """The map of texts whose places are known already.

    Every record has side ("reference" or "candidate"), index (its place on its side), text, x, y, nearest (an index on
    the other side, or None) and distance; cluster and flags are what texts may be coloured by. names: of the two sides.
    rows: gives the records' vectors, for further layouts (None: there are none). Of more than `most` records some are
    drawn, those with flags first, and each brings its nearest.
    """
    if not records:
        return None
    sides = ("reference", "candidate")
    at = {(record["side"], record["index"]): place for place, record in enumerate(records)}
    other = dict(zip(sides, sides[::-1], strict=True))
    near = [at.get((other[record["side"]], record["nearest"]), -1) for record in records]
    shown = list(range(len(records)))
    if len(records) > most:
        flagged = np.array([bool(each.get("flags")) for each in records])
        drawn = np.argsort(np.random.default_rng(seed).random(len(records)) - flagged)[: most // 2].tolist()
        shown = sorted({*drawn, *(near[place] for place in drawn if near[place] >= 0)})
    where = {place: own for own, place in enumerate(shown)}
    chosen = [records[place] for place in shown]
    colours = {
        title: [str("" if record[key] is None else record[key]) for record in chosen]
        for title, key in (("cluster", "cluster"), ("flag", "flags"))
        if any(record.get(key) not in (None, "") for record in chosen)
    }
    x, y = (np.array([record[axis] for record in chosen], np.float64) for axis in "xy")
    places = {PRINCIPAL: (x, y)}
    caption = ["nearest: by distance between whole vectors, not on the map"]
    if rows is not None:
        layouts = projected(rows()[np.array(shown)], seed, "texts").layouts
        # Principal components are those of all texts, as the records have them.
        places = {each.name: (each.at[:, 0], each.at[:, 1]) for each in layouts[:-1]} | places
        caption = [*(each.said for each in layouts), *caption]
    layout = next(iter(places))
    if len(shown) < len(records):
        caption.insert(0, f"{len(shown):,} of {len(records):,} texts are shown, those with a flag first (seed {seed})")
    return TextMap(
        names,
        np.array([sides.index(record["side"]) for record in chosen]),
        *places.pop(layout),
        [f"sample {record['index'] + 1}" if record["text"] is None else str(record["text"]) for record in chosen],
        np.array([where.get(near[place], -1) for place in shown]),
        np.array([np.nan if record["distance"] is None else record["distance"] for record in chosen], np.float64),
        colours,
        caption,
        layout=layout,
        layouts=places,
        of=len(records) if len(shown) < len(records) else None,
        index=np.array([record["index"] for record in chosen]),
    )
