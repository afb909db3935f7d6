"""From aligned lists, each candidate with its own references, to a Result: what all pairwise metrics share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError
from ..progress import Progress
from ..results.result import Result
from ..versions import installed_version
from .base import Pairwise, Scorer


def aligned(declaration: Pairwise, scorer: Scorer, references: Any, candidates: Any) -> Result:
    """Every candidate against its own references, which are one text or several; the mean over candidates is `.value`.

    Several references are joined by the declaration's rule, `over_references`. The scorer's settings go into the
    signature, so they have to name its parameters.
    """
    listed = candidate_texts(candidates)
    groups = reference_groups(references, len(listed))
    join = np.max if declaration.over_references == "max" else np.mean
    scores = np.empty(len(listed))
    with Progress(declaration.name, len(listed), "text") as progress:
        for position, (text, group) in enumerate(zip(listed, groups, strict=True)):
            scores[position] = join(scorer.cross([text], group)[0])
            progress.advance()
    flat = [text for group in groups for text in group]
    return Result(
        metric=declaration.name,
        values={"value": float(np.mean(scores))},
        direction=declaration.direction,
        ranges={"value": declaration.range},
        sizes={"reference": len(flat), "candidate": len(listed)},
        warnings=(*_empty(flat, "reference"), *_empty(listed, "candidate")),
        signature={
            "metric": declaration.name,
            **scorer.settings,
            "over_references": declaration.over_references,
            "versions": {"recapture": __version__, **{name: installed_version(name) for name in declaration.libraries}},
        },
        arrays={"scores": scores},
    )


def candidate_texts(candidates: Any) -> list[str]:
    """The candidates as a list, once it is certain that they are texts."""
    listed = _list(candidates, "candidates")
    if not listed:
        raise InputError("there are no candidates")
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"candidate {position} is not a string but {type(text).__name__}")
    return listed


def reference_groups(references: Any, count: int) -> list[list[str]]:
    """The references of each of `count` candidates as lists; an entry may also be one text alone."""
    listed = _list(references, "references")
    if len(listed) != count:
        raise InputError(
            f"references has {len(listed)} entries for {count} candidates: each candidate needs its own entry, "
            "a text or a list of texts"
        )
    return [_group(entry, position) for position, entry in enumerate(listed)]


def _group(entry: Any, position: int) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    if not isinstance(entry, Iterable) or isinstance(entry, bytes):
        raise InputError(f"entry {position} of references is neither a text nor a list of texts: {entry!r}")
    group = list(entry)
    if not group:
        raise InputError(f"entry {position} of references has no texts")
    for text in group:
        if not isinstance(text, str):
            raise InputError(f"entry {position} of references holds {type(text).__name__}, not only texts")
    return group


def _list(given: Any, name: str) -> list[Any]:
    if isinstance(given, (str, bytes)):
        raise InputError(f"{name} must be a list with one entry per candidate, not one string")
    if not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list with one entry per candidate, not {given!r}")
    return list(given)


def _empty(texts: list[str], name: str) -> list[str]:
    count = sum(not text.strip() for text in texts)
    return [f"{count} of {len(texts)} texts of {name} are empty; they were kept"] if count else []
