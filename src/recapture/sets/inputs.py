"""What went in: copies, repeats and what the encoder did not see, for the reference and each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..geometry.points import PointSet
from ..geometry.sparse_rows import equal_rows
from ..texts.copies import Copies, copies

if TYPE_CHECKING:
    from ..representations.facts import TextFacts

Inputs = dict[str, dict[str, float | int | None]]
"""By set: numbers of texts, and shares; None where nothing can be told."""
_COUNTS = ("copied", "near_copied", "repeated", "near_repeated")
_SEEN = ("beyond_limit", "unseen_tokens", "unknown_pieces")
_MANY_COPIES = 0.05
"""Above what human texts usually share with each other (about 2 %)."""
_WORDS = {
    "copied": "{samples} that the reference has {exactly}",
    "near_copied": "{samples} half of which, or more, stand in one reference text",
    "repeated": "{samples} that repeat others of their set",
    "near_repeated": "{samples} that nearly repeat others of their set",
    "beyond_limit": "{samples} beyond the encoder's limit",
    "unseen_tokens": "tokens not seen",
    "unknown_pieces": "pieces unknown to the encoder",
}


def inputs_of(names: Sequence[str], sets: Sequence[Any], facts: Sequence[TextFacts], texts: bool) -> Inputs:
    """Of the reference, which comes first, and of every candidate. texts: whether the sets hold texts."""
    counted = _of_texts(names, sets) if texts else _of_rows(sets)
    return {
        name: {**of_set, **{fact: getattr(seen, fact) for fact in _SEEN}}
        for name, of_set, seen in zip(names, counted, facts, strict=True)
    }


def _of_texts(names: Sequence[str], sets: Sequence[Sequence[str]]) -> list[dict[str, int | None]]:
    found = copies(sets[0], dict(zip(names[1:], sets[1:], strict=True)))
    by_set: list[Copies] = [found.reference, *(found.candidates[name] for name in names[1:])]
    return [{count: getattr(of_set, count) for count in _COUNTS} for of_set in by_set]


def _of_rows(sets: Sequence[PointSet]) -> list[dict[str, int | None]]:
    """Of ready vectors: equal rows. How near is near cannot be told."""
    copied = [0, *(int(sets[0].which_has(points).sum()) for points in sets[1:])]
    return [
        {"copied": found, "near_copied": None, "repeated": points.duplicates, "near_repeated": None}
        for points, found in zip(sets, copied, strict=True)
    ]


def copies_note(inputs: Inputs, name: str, points: PointSet, reference: PointSet) -> list[str]:
    """A warning where more of a candidate stands in the reference than these people repeat each other.

    inputs: of all sets, the reference first.
    """
    own, people = inputs[name], next(iter(inputs.values()))
    copied, near = own["copied"] or 0, own["near_copied"] or 0
    repeated, near_repeated = people["repeated"] or 0, people["near_repeated"] or 0

    def many(found: float, of_people: float) -> bool:
        # Of two texts that are alike one counts as a repeat of people's, but either would count as a copy.
        return found / len(points) > max(_MANY_COPIES, 2 * of_people / len(reference))

    if not many(copied, repeated) and not many(copied + near, repeated + near_repeated):
        return []
    nearly = f" and {near:,} nearly" if near else ""
    others = repeated + near_repeated
    beside = f" ({others:,} of the reference's own {len(reference):,} repeat others there, or nearly)" if others else ""
    then = "scores of copies say nothing about a model" if many(copied, repeated) else "near copies flatter a model"
    return [f"{copied:,} of {len(points):,} samples of {points.name} stand in the reference{nearly}{beside}: {then}"]


def doubled(inputs: Inputs, name: str, samples: int, people: int) -> list[str]:
    """What verdicts say of a candidate that stands in the reference or repeats itself, word for word, more often than
    these people repeat each other. samples, people: in the candidate and in the reference.
    """
    own, first = inputs.get(name, {}), next(iter(inputs.values()), {})
    usual = (first.get("repeated") or 0) / people
    unit = "samples" if own.get("near_copied") is None else "texts"
    said = []
    for what, words in (("copied", "stand in the reference"), ("repeated", "repeat others of it")):
        found = own.get(what) or 0
        # Of two texts that are alike one counts as a repeat of people's, but either would count as a copy.
        if found / samples > max(_MANY_COPIES, 2 * usual):
            said.append(f"{found:,} of {samples:,} {unit} of {name} {words}")
    return said


def same_as_reference(reference: PointSet, candidate: PointSet) -> bool:
    """Whether both sets hold the same samples in the same order."""
    return equal_rows(reference.values, candidate.values)


def footnotes(inputs: Inputs, sizes: Mapping[str, int], texts: bool) -> list[str]:
    """One line for each thing that is not 0 everywhere. texts: whether the sets hold texts."""
    lines = []
    kind = {"samples": "texts", "exactly": "word for word"} if texts else {"samples": "vectors", "exactly": "too"}
    for what, words in _WORDS.items():
        there = {name: of_set[what] for name, of_set in inputs.items() if of_set[what]}
        if there:
            listed = ", ".join(f"{name} {_amount(what, amount, sizes[name])}" for name, amount in there.items())
            lines.append(f"{words.format(**kind)}: {listed}")
    return lines


def _amount(what: str, amount: float | int | None, size: int) -> str:
    if what in ("unseen_tokens", "unknown_pieces"):
        return "below 0.1 %" if amount is not None and amount < 0.001 else f"{100 * (amount or 0):.1f} %"
    return f"{amount:,} of {size:,}"
