"""The map of texts: which are shown, where each lies, and its nearest text on the other side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..geometry.parallel import one_blas_thread
from ..geometry.sparse_rows import Rows, SparseRows, together
from .page_parts import TextMap

MOST = 20_000
"""Texts on a map."""
KEPT = 200_000
"""MapSamples that a result remembers for its map: more would hold memory that nobody expects."""
_DIRECTIONS = 10
"""More than two, which makes the first two good."""
_STEPS = 30
_TILE = 1_000


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

    @classmethod
    def kept(cls, values: Mapping[str, Rows], texts: Mapping[str, Sequence[str]] | None) -> MapSamples | None:
        """None where there are too many."""
        return cls(dict(values), texts) if sum(map(len, values.values())) <= KEPT else None


def map_of(samples: MapSamples | None, seed: int = 0, most: int = MOST) -> TextMap | None:
    """Principal components of all sets together; None where there is nothing to show.

    Of more than `most` samples every side keeps its share, drawn with the seed.
    """
    if samples is None or _UNWANTED.get() or min(map(len, samples.values.values())) == 0:
        return None
    names = list(samples.values)
    chosen = _chosen([len(each) for each in samples.values.values()], most, seed)
    sets = [rows[places] for rows, places in zip(samples.values.values(), chosen, strict=True)]
    side = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    plane, share = principal_plane(together(sets), seed)
    nearest, distance = _nearest(sets)
    total = sum(map(len, samples.values.values()))
    thinned = total > len(side)
    words = "texts" if samples.texts is not None else "samples"
    caption = [
        f"the two directions in which all {words} together differ most: {share:.0%} of their variance, so what lies "
        "together here may lie apart in others",
        f"nearest: by distance between whole vectors, not on the map{', among those shown' if thinned else ''}",
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
        caption=caption,
        of=total if thinned else None,
    )


def _shown(samples: MapSamples, name: str, place: int) -> str:
    return f"sample {place + 1}" if samples.texts is None else str(samples.texts[name][place])


def _chosen(sizes: Sequence[int], most: int, seed: int) -> list[np.ndarray]:
    total = sum(sizes)
    rng = np.random.default_rng(seed)
    if total <= most:
        return [np.arange(size) for size in sizes]
    return [np.sort(rng.choice(size, max(1, size * most // total), replace=False)) for size in sizes]


def principal_plane(rows: Rows, seed: int = 0) -> tuple[np.ndarray, float]:
    """(samples, 2) coordinates along the two directions of most variance, and the share of all variance they hold.

    By subspace iteration from a seeded start: word counts with very many columns are never made whole. The sign of each
    direction is such that its largest coordinate is positive.
    """
    held: Any = rows.matrix.astype(np.float64) if isinstance(rows, SparseRows) else np.asarray(rows, np.float64)
    width = min(_DIRECTIONS, *rows.shape)
    base = np.linalg.qr(np.random.default_rng(seed).standard_normal((rows.shape[1], width)))[0]
    with one_blas_thread:  # several would round differently with their number
        mean = np.asarray(held.mean(axis=0)).reshape(-1)
        for _ in range(_STEPS):
            at = held @ base - mean @ base
            base = np.linalg.qr(held.T @ at - np.outer(mean, at.sum(axis=0)))[0]
        at = held @ base - mean @ base
        sizes, turn = np.linalg.eigh(at.T @ at)
        plane = np.zeros((len(at), 2))
        two = at @ turn[:, ::-1][:, :2]
        plane[:, : two.shape[1]] = two
        squares = held.multiply(held).sum() if isinstance(rows, SparseRows) else np.einsum("ij,ij->", held, held)
        total = float(squares) - len(at) * float(mean @ mean)
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    plane *= np.where(largest < 0, -1.0, 1.0)
    return plane, float(min(1.0, max(0.0, sizes[::-1][:2].sum()) / total)) if total > 0 else 1.0


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
    place, distance = np.full(len(rows), -1), np.full(len(rows), np.nan)
    if not len(others):
        return place, distance
    centre = np.asarray(others[:_TILE], np.float64).mean(axis=0)  # differences of near points keep their digits
    best = np.full(len(rows), np.inf, np.float32)
    for start in range(0, len(others), _TILE):
        block = (np.asarray(others[start : start + _TILE], np.float64) - centre).astype(np.float32)
        squares = np.einsum("ij,ij->i", block, block)
        for first in range(0, len(rows), _TILE):
            part = slice(first, first + _TILE)
            mine = (np.asarray(rows[part], np.float64) - centre).astype(np.float32)
            apart = squares - 2 * (mine @ block.T)
            column = apart.argmin(axis=1)
            found = apart[np.arange(len(mine)), column]
            closer = found < best[part]
            best[part] = np.where(closer, found, best[part])
            place[part] = np.where(closer, column + start, place[part])
    for first in range(0, len(rows), _TILE):
        part = slice(first, first + _TILE)
        gap = np.asarray(rows[part], np.float64) - np.asarray(others[place[part]], np.float64)
        distance[part] = np.sqrt(np.einsum("ij,ij->i", gap, gap))
    return place, distance


def map_of_records(
    records: Sequence[Mapping[str, Any]], names: tuple[str, str], seed: int = 0, most: int = MOST
) -> TextMap | None:
    """The map of texts whose places are known already.

    Every record has side ("reference" or "candidate"), index (its place on its side), text, x, y, nearest (an index on
    the other side, or None) and distance; cluster and flags are what texts may be coloured by. names: of the two sides.
    Of more than `most` records some are drawn, those with flags first, and each brings its nearest.
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
    caption = ["nearest: by distance between whole vectors, not on the map"]
    if len(shown) < len(records):
        caption.insert(0, f"{len(shown):,} of {len(records):,} texts are shown, those with a flag first (seed {seed})")
    return TextMap(
        names,
        np.array([sides.index(record["side"]) for record in chosen]),
        np.array([record["x"] for record in chosen], np.float64),
        np.array([record["y"] for record in chosen], np.float64),
        [f"sample {record['index'] + 1}" if record["text"] is None else str(record["text"]) for record in chosen],
        np.array([where.get(near[place], -1) for place in shown]),
        np.array([np.nan if record["distance"] is None else record["distance"] for record in chosen], np.float64),
        colours,
        caption,
        of=len(records) if len(shown) < len(records) else None,
    )
