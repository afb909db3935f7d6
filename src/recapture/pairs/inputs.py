"""Aligned input: every candidate with its own references, one text or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from ..errors import InputError


class Aligned(NamedTuple):
    """Checked input of one run."""

    groups: list[list[str]]
    """For each item its references."""
    systems: dict[str, list[str]]
    """For each system one candidate per item."""


def aligned_texts(references: Any, candidates: Any) -> Aligned:
    """references: one entry per item, a text or a list of texts; candidates: one text per item, or several such lists
    by name.
    """
    groups = [_group(entry, position) for position, entry in enumerate(_list(references, "references"))]
    if not groups:
        raise InputError("there are no references")
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InputError("there is no candidate: the mapping is empty")
        systems = {str(name): _texts(given, f"candidate {str(name)!r}") for name, given in candidates.items()}
        if len(systems) < len(candidates):
            raise InputError("two candidates have the same name")
    else:
        systems = {"candidate": _texts(candidates, "candidates")}
    for name, texts in systems.items():
        if len(texts) != len(groups):
            what = "candidates" if name == "candidate" else f"candidate {name!r}"
            raise InputError(
                f"references has {len(groups)} entries, but {what} has {len(texts)}: each candidate text needs its own "
                "entry, a text or a list of texts"
            )
    return Aligned(groups, systems)


def is_empty(text: str) -> bool:
    return not text.strip()


def _texts(given: Any, name: str) -> list[str]:
    listed = _list(given, name)
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            raise InputError(f"entry {position} of {name} is not a string but {type(text).__name__}")
        _check_unicode(text, position, name)
    return listed


def _group(entry: Any, position: int) -> list[str]:
    if isinstance(entry, str):
        group = [entry]
    elif not isinstance(entry, Iterable) or isinstance(entry, (bytes, Mapping)):
        raise InputError(f"entry {position} of references is neither a text nor a list of texts: {entry!r}")
    else:
        group = list(entry)
    if not group:
        raise InputError(f"entry {position} of references has no texts")
    for text in group:
        if not isinstance(text, str):
            raise InputError(f"entry {position} of references holds {type(text).__name__}, not only texts")
        _check_unicode(text, position, "references")
    return group


def _check_unicode(text: str, position: int, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"entry {position} of {name} is not valid Unicode: half of a surrogate pair") from None


def _kind(given: Any) -> str:
    """What to call something that is no list: a long one is not printed whole."""
    return type(given).__name__ if isinstance(given, Iterable) else repr(given)


def _list(given: Any, name: str) -> list[Any]:
    if isinstance(given, (str, bytes)):
        raise InputError(f"{name} must be a list with one entry per item, not one string")
    if not isinstance(given, Iterable) or isinstance(given, (Mapping, Set)):
        raise InputError(f"{name} must be a list with one entry per item, not {_kind(given)}")
    return list(given)
