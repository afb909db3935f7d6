"""Sets as a caller gives them: their samples, how many there are, and what sets are called in messages and records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import InputError
from ..texts.objects import samples_of
from .grouping import Sized


class GivenSets(NamedTuple):
    """The reference, then a second human set where there is one, then the candidates."""

    candidates: list[str]
    names: list[str]
    """What `inputs` calls them."""
    labels: list[str]
    """What messages call them."""
    samples: list[Any]
    sizes: list[Sized]

    @classmethod
    def of(cls, references: Any, candidates: Any, human: Any, reference_name: str) -> GivenSets:
        named = _named(candidates)
        second = [] if human is None else [human]
        people = [reference_name, *("human" for _ in second)]
        for place in range(len(people)):
            while people[place] in (*named, *people[:place]):
                people[place] += " (human)" if place else " (reference)"
        of_reference = reference_name if reference_name == "reference" else f"reference {reference_name}"
        labels = [of_reference, *("human" for _ in second), *map(_label, named)]
        given = [references, *second, *named.values()]
        samples = [samples_of(each, label) for each, label in zip(given, labels, strict=True)]
        sizes = [Sized(label, _size(own, label)) for label, own in zip(labels, samples, strict=True)]
        return cls(list(named), [*people, *named], labels, samples, sizes)


def _named(candidates: Any) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InputError("there is no candidate: the mapping is empty")
        named = {str(name): samples for name, samples in candidates.items()}
        if len(named) < len(candidates):
            raise InputError("two candidates have the same name")
        return named
    return {"candidate": candidates}


def _size(samples: Any, label: str) -> int:
    try:
        return len(samples)
    except (TypeError, RuntimeError):  # a single number, or an array of no dimensions
        what = type(samples).__name__
        raise InputError(f"{label} must be a list of texts, or samples x dimensions, not {what}") from None


def _label(name: str) -> str:
    """What messages call a candidate."""
    return name if name == "candidate" else f"candidate {name!r}"
