"""Samples of language models by the way they were drawn, beside people's texts: anyone's, in one layout."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import recapture as rc

from ..files import NAME, NUMBER, TEXTS, of_kind, records, shown
from ..study import SAMPLES, Setup

LAYOUT = (
    "any number of .jsonl or .jsonl.gz files, each a set of its own; one object a line: id (of the context), human "
    "(people's texts there: 4 or more, or 1 of each of many contexts), samples (a list of objects: texts, and how they "
    "were drawn: temperature, top_p, top_k, or search greedy or beam with beams); model and prompt may be there"
)
SEVERAL = 4
"""People's texts that a context has at least, to be looked at by itself."""
_SEARCHES = ("sampling", "greedy", "beam")
_KEYS = ("texts", "temperature", "top_p", "top_k", "search", "beams")


class Drawn(NamedTuple):
    """How texts were drawn. What is not said: temperature 1, of all tokens."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    """0: all."""
    search: str = "sampling"
    beams: int = 0

    @property
    def cut(self) -> str:
        """Which tokens were drawn from, in words."""
        parts = [f"top-p {self.top_p:g}"] * (self.top_p < 1) + [f"top-k {self.top_k}"] * (self.top_k > 0)
        return ", ".join(parts) or PLAIN

    def __str__(self) -> str:
        if self.search != "sampling":
            return self.search + (f" {self.beams}" if self.beams else "")
        return f"temperature {self.temperature:g}" + ("" if self.cut == PLAIN else f", {self.cut}")


PLAIN = "all tokens"


class Row(NamedTuple):
    """A context: people's texts, and a model's by the way they were drawn."""

    id: str
    human: list[str]
    texts: dict[Drawn, list[str]]


class SampleSet(NamedTuple):
    """The contexts of one file."""

    name: str
    file: Path
    models: dict[str, list[Row]]

    @property
    def ways(self) -> list[Drawn]:
        """In the order of the files; the same for every model."""
        return list(next(iter(self.models.values()))[0].texts)

    @property
    def people(self) -> int:
        """How many texts of people every context has."""
        return min(len(row.human) for rows in self.models.values() for row in rows)


def samples_folder(setup: Setup) -> Path | None:
    """The folder that was named, or that among the data; None: there is none."""
    if setup.samples is not None:
        if not os.path.isdir(setup.samples):  # noqa: PTH112 - a name too long is no folder, and no error
            raise rc.InputError(f"{setup.samples} is no folder: it should hold {LAYOUT}")
        return setup.samples
    path = setup.data / SAMPLES
    return path if os.path.isdir(path) else None  # noqa: PTH112


def read_samples(folder: Path) -> list[SampleSet]:
    """The sets of a folder, by name."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        if path.name not in (f"{name}.jsonl", f"{name}.jsonl.gz"):
            continue
        if name in found:
            raise rc.InputError(f"{folder} has {name} twice, packed and not: leave one of them out")
        found[name] = path
    if not found:
        raise rc.InputError(f"{folder} has no .jsonl or .jsonl.gz file: it should hold {LAYOUT}")
    return [_read(name, path) for name, path in found.items()]


def _read(name: str, path: Path) -> SampleSet:
    models: dict[str, list[Row]] = {}
    known: set[tuple[str, str]] = set()
    for number, record in enumerate(records(path, {"id": NAME, "human": TEXTS, "samples": list}), 1):
        where = f"{path}, context {number}"
        model = record.get("model", "model")
        if not isinstance(model, str):
            raise rc.InputError(f"{where}: 'model' must be a text, not {shown(model)}")
        row = Row(str(record["id"]), record["human"], _texts(record["samples"], where))
        if not row.human or not all(text.strip() for text in row.human):
            raise rc.InputError(f"{where}: 'human' must hold texts, none of them blank")
        if (model, row.id) in known:
            raise rc.InputError(f"{where}: {row.id!r} of {model!r} is there twice")
        known.add((model, row.id))
        models.setdefault(model, []).append(row)
    if not models:
        raise rc.InputError(f"{path} holds no contexts")
    first = next(iter(models.values()))[0]
    for rows in models.values():
        for row in rows:
            odd = set(row.texts) ^ set(first.texts)
            if odd:
                raise rc.InputError(
                    f"{path}: {row.id!r} and {first.id!r} differ in how texts were drawn: only one has {min(odd)}"
                )
    return SampleSet(name, path, models)


def _texts(samples: Sequence[Any], where: str) -> dict[Drawn, list[str]]:
    by_way: dict[Drawn, list[str]] = {}
    for each in samples:
        if not isinstance(each, Mapping) or not of_kind(each.get("texts"), TEXTS) or not each["texts"]:
            raise rc.InputError(f"{where}: 'samples' must be objects with a list of texts, not {shown(each)}")
        unknown = [key for key in each if key not in _KEYS]
        if unknown:
            raise rc.InputError(f"{where}: samples are told apart by {', '.join(_KEYS[1:])}, not by {unknown[0]!r}")
        way = _way(each, where)
        if way in by_way:
            raise rc.InputError(f"{where} has samples of {way} twice: put their texts together")
        by_way[way] = list(each["texts"])
    if not by_way:
        raise rc.InputError(f"{where} has no samples")
    return by_way


def _way(each: Mapping[str, Any], where: str) -> Drawn:
    for key, low, high, whole in (("temperature", 0, 1e6, False), ("top_p", 0, 1, False), ("top_k", -1, 1e9, True),
                                  ("beams", -1, 1e9, True)):  # fmt: skip
        if key not in each:
            continue
        value = each[key]
        if not of_kind(value, NUMBER) or not low < value <= high or (whole and value != int(value)):
            wanted = "a whole number" if whole else f"a number above 0{' and at most 1' if high == 1 else ''}"
            raise rc.InputError(f"{where}: {key!r} must be {wanted}, not {shown(value)}")
    search = each.get("search", "sampling")
    if search not in _SEARCHES:
        raise rc.InputError(f"{where}: 'search' is one of {', '.join(_SEARCHES)}, not {shown(search)}")
    if search != "sampling":
        return Drawn(search=search, beams=int(each.get("beams", 0)))
    cut = float(each.get("top_p", 1.0)), int(each.get("top_k", 0))
    return Drawn(float(each.get("temperature", 1.0)), *cut)
