"""`diagnose`: which texts a candidate invented, lost, repeats and copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import MOST_OF_ANYTHING, check_count, check_number, check_seed, plain_arguments
from ..errors import InputError
from ..geometry.devices import on_device
from ..geometry.principal_plane import principal_plane
from ..page.map_data import MapSamples
from ..representations.vectors import asked_encoding
from ..sets.evaluate import PreparedSets, prepare_sets
from .diagnosis import Diagnosis
from .doubles import doubles
from .listing import TextList, doubles_list, told_list
from .phrases import NGrams, Phrase
from .reach import CUTS, Reached, reached
from .sides import TwoSides
from .topics import cluster_count, clustered

if TYPE_CHECKING:
    import os

    from ..representations.encoder import EncoderLike
    from ..representations.vector_cache import VectorCache
    from ..representations.vectors import SampleSet
    from ..sets.grouping import Labelled


@on_device
@plain_arguments
def diagnose(
    reference: SampleSet,
    candidate: SampleSet,
    level: float = 0.1,
    encoder: EncoderLike | None = None,
    *,
    clusters: int | None = None,
    reference_groups: Labelled | None = None,
    candidate_groups: Labelled | None = None,
    paired: bool = False,
    seed: int = 0,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache | None = None,
    reference_name: str = "reference",
    candidate_name: str = "candidate",
) -> Diagnosis:
    """Which texts of a candidate nobody would write, which of people's it lost, what it repeats and what it copied.

    Parameters
    ----------
    reference : list of str or array of shape (samples, dimensions)
        People's texts, or ready vectors.
    candidate : list of str or array
        The candidate's, in the same form.
    level : float, default 0.1
        Of the lists: the share of their texts that may be false alarms; a list of what is in truth human is empty but
        with that chance.
    encoder : str, path, callable or Encoder, optional
        What turns texts into vectors; see `encode`.
    clusters : int, optional
        How many clusters of the pooled texts (default: one for 50 texts, 2 to 50).
    reference_groups, candidate_groups : sequence of str or int, optional
        One label a text: texts of one document, prompt or author are left out together, and count as one.
    paired : bool, default False
        Whether text i of both sides answers one prompt.
    seed : int, default 0
        For all that is drawn at random: cuts, clusters, relabellings.
    pooling, device, batch_size, offline, truncate, dtype, cache
        For `encode`.
    reference_name, candidate_name : str
        What sentences and records call the sides.

    Returns
    -------
    Diagnosis
        `.invented`, `.lost`, `.repeated`, `.copied` (rows with `.index`, `.text`, `.score`, `.pvalue`, `.nearest`),
        `.clusters`, `.phrases`, `.seldom`, `.rates`, `.verdict`; `.save_texts(path)` writes one row for every text.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> people, model = np.random.default_rng(0).standard_normal((2, 200, 4))
    >>> model[:30] += 9
    >>> found = rc.diagnose(people, model)
    >>> set(range(30)) <= {row.index for row in found.invented}
    True
    """
    level = check_number("level", level, above=0.0, what="a number between 0 and 1 such as 0.1")
    if level >= 1:
        raise InputError(f"level must be a number between 0 and 1 such as 0.1, not {level:g}")
    seed = check_seed(seed)
    wanted = None if clusters is None else check_count("clusters", clusters, 1, MOST_OF_ANYTHING)
    sets: dict[str, Any] = {candidate_name: candidate}
    prepared = prepare_sets(
        reference,
        sets,
        "mmd",
        encoder,
        None,
        blind=True,  # else the space would fit people better than equals of theirs
        reference_groups=reference_groups,
        candidate_groups=None if candidate_groups is None else {candidate_name: candidate_groups},
        paired=paired,
        reference_name=reference_name,
        encoding=asked_encoding(pooling, device, batch_size, offline, cache, truncate, dtype),
    )
    return diagnose_prepared(prepared, candidate_name, level, wanted, seed)


def diagnose_prepared(
    prepared: PreparedSets, name: str, level: float, clusters: int | None = None, seed: int = 0
) -> Diagnosis:
    """The same for one candidate of sets that are prepared already, blind to sides."""
    sides = _sides(prepared, name, seed)
    return diagnose_sides(sides, level, clusters or cluster_count(sum(sides.sizes)), prepared)


def diagnose_sides(sides: TwoSides, level: float, clusters: int, prepared: PreparedSets) -> Diagnosis:
    """The same for sides that are vectors already."""
    ngrams = None
    if sides.reference_texts is not None and sides.candidate_texts is not None:
        ngrams = NGrams([*sides.reference_texts, *sides.candidate_texts])
    topics = clustered(sides, clusters, level, ngrams)
    to_reference, to_candidate = reached(sides, level)
    twice = doubles(sides)
    lists = {
        "invented": told_list(sides, 1, to_reference, level, "invented"),
        "lost": told_list(sides, 0, to_candidate, level, "lost"),
        "repeated": doubles_list(sides, twice.repeated, twice.counts["repeated"], to_reference, "repeated"),
        "copied": doubles_list(sides, twice.copied, twice.counts["copied"], to_reference, "copied"),
    }
    settings = {
        "level": level,
        "size": min(sides.sizes),
        "sizes": dict(zip(("reference", "candidate"), sides.sizes, strict=True)),
        "cuts": 1 if sides.sizes[0] == sides.sizes[1] else CUTS,
        "clusters": len(topics.topics),
        "seed": sides.seed,
        "encoder": prepared.identity or "vectors as given",
        **({"nearest_leaves_out": sides.apart} if sides.apart else {}),
    }
    plane = principal_plane(topics.rows.values, topics.rows.weight, sides.seed).at[topics.rows.inverse]
    texts = _records(sides, (to_candidate, to_reference), lists, topics.label, plane)
    often, seldom = _phrases(sides, ngrams, level)
    return Diagnosis(
        **lists,
        clusters=topics.topics,
        phrases=often,
        seldom=seldom,
        rates=twice.rates,
        texts=texts,
        level=level,
        names=sides.names,
        settings=settings,
        notes=[note for notes in prepared.notes.values() for note in notes],
        samples=MapSamples.kept({"reference": sides.reference.values, "candidate": sides.candidate.values}, None),
    )


def _sides(prepared: PreparedSets, name: str, seed: int) -> TwoSides:
    reference, candidate = prepared.reference, prepared.candidates[name]
    of_reference = next(iter(prepared.texts))
    texts: list[list[str] | None] = [None, None]
    if prepared.has_texts:
        texts = [list(prepared.texts[each]) for each in (of_reference, name)]
    return TwoSides(
        reference,
        candidate,
        texts[0],
        texts[1],
        prepared.groups.reference,
        prepared.groups.candidates.get(name),
        prepared.moved.pooled.get(name),
        (of_reference, name),
        seed,
        "" if prepared.groups.reference is None else "its own pair" if prepared.groups.paired else "its own group",
    )


def _phrases(sides: TwoSides, ngrams: NGrams | None, level: float) -> tuple[list[Phrase], list[Phrase]]:
    """Those used too often, and words used too seldom."""
    if ngrams is None:
        return [], []
    units = np.concatenate([sides.units[0], sides.unit_counts[0] + sides.units[1]])
    is_candidate = np.arange(sum(sides.sizes)) >= sides.sizes[0]
    return ngrams.overused(units, is_candidate, level), ngrams.underused(units, is_candidate, level)


def _records(
    sides: TwoSides,
    reached_by_side: tuple[Reached, Reached],
    lists: Mapping[str, TextList],
    label: np.ndarray,
    plane: np.ndarray,
) -> list[dict[str, Any]]:
    """One for every text, references first."""
    flags: tuple[dict[int, list[str]], dict[int, list[str]]] = ({}, {})
    for name, listed in lists.items():
        for row in listed:
            for place in row.places[name == "repeated" :] or (row.index,):  # the first of repeated texts stays
                flags[name != "lost"].setdefault(place, []).append(name)
    records = []
    for side, found in enumerate(reached_by_side):
        start = side * sides.sizes[0]
        for at in range(sides.sizes[side]):
            place = int(found.place[at])
            records.append(
                {
                    "side": ("reference", "candidate")[side],
                    "index": at,
                    "text": sides.text(side, at),
                    "x": float(plane[start + at, 0]),
                    "y": float(plane[start + at, 1]),
                    "cluster": int(label[start + at]),
                    "nearest": place if place >= 0 else None,
                    "nearest_text": sides.text(1 - side, place) if place >= 0 else None,
                    "distance": float(found.distance[at]) if place >= 0 else None,
                    "score": float(found.score[at]) if place >= 0 else None,
                    "pvalue": float(found.pvalue[at]),
                    "flags": " ".join(flags[side].get(at, [])),
                }
            )
    return records
