"""Systems compared from results that were saved as JSON: what they hold is told, and what they lack is said.

Scores of single items or contexts (saved with arrays) are all that swaps and resamples need. Results of sets hold no
vectors: their numbers can stand side by side, but nothing tells which difference is more than chance.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_seed, path_of, plain_arguments
from ..contexts.declaration import METRICS as CONTEXT_METRICS
from ..contexts.table import ContextResults, ContextSystems, totals_of
from ..errors import InputError, UnknownNameError, nearest_names, shown
from ..pairs.table import PairResults, array_name
from ..report.report import SCHEMA, Report, Reported
from ..report.result import Result
from ..sets.beside_people import told_from_people
from ..sets.human import Band
from ..sets.table import SetResults
from ..texts.json_values import parsed
from ..texts.reading import Source
from ..versions import VERSION
from .comparison import Comparison, left_notes, listed_reasons, without
from .evidence import Loss, check_tests, pairs_of
from .gate import Gate, gate_of
from .item_answer import compared_items
from .of_contexts import context_numbers
from .of_items import ItemNumber, ItemSystems, mean_number
from .stored_baseline import LIBRARIES

KINDS = ("sets", "pairs", "contexts")
_ROUNDING = (*LIBRARIES, "versions")
"""What changes numbers by rounding alone."""
_NOT_IN_ALL = "not in all files"


class SavedFile(NamedTuple):
    """What one file holds."""

    name: str
    kind: str
    systems: dict[str, Any]
    """By system, as the file has it: {metric: result}, or the results of contexts."""
    reference: str
    """Which human texts; "" where the file does not say."""
    signature: Mapping[str, Any]


class SavedSets(Reported):
    """Saved results of sets beside each other.

    Attributes
    ----------
    results : SetResults
    systems : list of str
    numbers : dict of str to str
        Every number's name and which way is better.
    values : dict of str to dict of str to float
        By system and number.
    left_out : dict of str to str
        Numbers or metrics that files have but that cannot be held against each other, and why.
    verdict : list of str
        Sentences: what is told, what was left out, and that nothing tells which difference is more than chance.
    """

    def __init__(self, results: SetResults, notes: Sequence[str], left_out: Mapping[str, str]) -> None:
        """left_out: numbers or metrics that the files have and that cannot be held against each other, and why."""
        self.results, self._notes, self.left_out = results, list(notes), dict(left_out)
        first = next(iter(results.values()))
        self.systems = list(results)
        self.numbers = {_number(result, name): result.direction for result in first.values() for name in result.values}
        self.values = {
            system: {_number(result, name): value for result in own.values() for name, value in result.values.items()}
            for system, own in results.items()
        }

    @property
    def verdict(self) -> list[str]:
        return [
            "Saved results of sets hold no vectors: which difference between systems is more than chance cannot be "
            "told; compare the texts themselves for that.",
            *without(self.left_out),
            *told_from_people(self.results, 0.05),
        ]

    @property
    def notes(self) -> list[str]:
        return [*self.results.notes, *left_notes(self.left_out), *self._notes]

    def check_system(self, name: object) -> None:
        if name not in self.systems:
            raise UnknownNameError(f"no system {shown(name)}; {nearest_names(name, self.systems)}")

    def worse(self, than: str, tolerance: float = 0.0) -> dict[str, dict[str, Loss]]:
        """Refused: without vectors there is no test."""
        raise InputError(
            "saved results of sets hold no vectors: whether one system is worse than another cannot be told"
        )

    def gate(self, fail_if: Any, baseline: str | None = None, tolerance: float = 0.0) -> Gate:
        """As `Comparison.gate`, for limits on numbers alone."""
        return gate_of(self, fail_if, baseline, tolerance)

    def report(self) -> Report:
        own = self.results.report()
        results = {"values": self.values, "results": own.results}
        kind = "compare saved sets"
        return Report(
            kind, own.tables, self.notes, self.notes, own.records, results, own.signature, own.more, self.verdict
        )


@plain_arguments
def compare_saved(
    paths: Iterable[str | os.PathLike[str]],
    *,
    level: float = 0.05,
    interval: float = 0.95,
    seed: int = 0,
) -> Comparison | SavedSets:
    """Systems against each other, from results that were saved as JSON.

    Parameters
    ----------
    paths : list of str or path
        Files that `to_json` or --output wrote: of sets, of pairs or of contexts, all of one kind. Results of pairs and
        contexts need the scores of single items (`to_json(arrays=True)`).
    level, interval, seed
        As for `compare_pairs`.

    Returns
    -------
    Comparison or SavedSets
        Of pairs and contexts what `compare_pairs` and `compare_contexts` return, but for corpus numbers, whose counts
        no file holds. Of sets their numbers beside each other, without any p-value between systems.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import recapture as rc
    >>> people = [f"it rained for {n} days" for n in range(40)]
    >>> bad = [f"rain {n}" for n in range(40)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [pathlib.Path(folder, f"{name}.json") for name in ("copy", "bad")]
    ...     for file, texts in zip(files, (people, bad)):
    ...         results = rc.evaluate_pairs(people, {file.stem: texts}, "rouge")
    ...         _ = file.write_text(results.to_json(arrays=True))
    ...     rc.compare_saved(files).ranks
    {'copy': 1, 'bad': 2}
    """
    level, interval = check_tests(level, interval)
    seed = check_seed(seed)
    if isinstance(paths, (str, bytes, os.PathLike)) or not isinstance(paths, Iterable):
        raise InputError(f"saved results are a list of files, not {shown(paths)}")
    files = [_read(path_of(path, "saved results")) for path in paths]
    if not files:
        raise InputError("there are no saved results to compare")
    try:
        found = _compared(files, level, interval, seed)
        found.report()  # all that tables read is there
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        names = ", ".join(file.name for file in files)
        raise InputError(f"{names}: these results are damaged, they lack what recapture writes") from None
    return found


def _compared(files: Sequence[SavedFile], level: float, interval: float, seed: int) -> Comparison | SavedSets:
    first = files[0]
    for other in files[1:]:
        _check_same(first, other)
    systems = _named(files)
    if len(systems) < 2:
        raise InputError(f"{first.name} holds one system alone, {shown(next(iter(systems)))}: comparing takes two")
    notes = _notes(files)
    if first.kind == "contexts":
        return _of_contexts(systems, files, notes, level, interval, seed)
    results, left_out = _results(systems)
    if first.kind == "sets":
        return SavedSets(SetResults(results), [*notes, *_sizes(results)], left_out)
    return _of_pairs(PairResults(results), notes, left_out, level, interval, seed)


# Reading


def _read(path: str) -> SavedFile:
    source = Source(path)
    try:
        content = parsed(source.content().decode("utf-8"), source.name)
    except UnicodeDecodeError:
        raise InputError(f"{source.name} is not UTF-8: these are no saved results") from None
    if not isinstance(content, dict) or not {"schema", "kind", "results"} <= content.keys():
        raise InputError(f"{source.name} holds no results that recapture saved as JSON")
    if content["schema"] != SCHEMA:
        raise InputError(
            f"{source.name} has schema {shown(content['schema'])}, written by recapture "
            f"{content.get('recapture')}; this is {VERSION}, which reads schema {SCHEMA}"
        )
    kind, results = str(content["kind"]), content["results"]
    whole = kind.removeprefix("compare ")
    if whole != kind and isinstance(results, dict):
        results = results.get("results")
    if whole not in KINDS or not isinstance(results, dict) or not results:
        raise InputError(f"{source.name} holds results of {shown(kind)}, which are none of systems to compare")
    if whole == "contexts" and "totals" in results:
        results = {os.path.basename(path): results}  # noqa: PTH119 - as other commands name files
    signature = content.get("signature")
    return SavedFile(
        source.name, whole, results, str(content.get("reference_content") or ""),
        signature if isinstance(signature, dict) else {},
    )  # fmt: skip


def _named(files: Sequence[SavedFile]) -> dict[str, Any]:
    """All systems by name; with the file in front where two files have the same."""
    names = [name for file in files for name in file.systems]
    systems: dict[str, Any] = {}
    for file in files:
        for name, own in file.systems.items():
            called = name if names.count(name) == 1 else f"{file.name}: {name}"
            if called in systems:
                raise InputError(f"{file.name} is given twice")
            systems[called] = own
    return systems


# What has to be the same


def _check_same(first: SavedFile, other: SavedFile) -> None:
    """One sentence on what differs, where numbers cannot be held against each other."""
    both = f"{first.name} and {other.name}"
    if first.kind != other.kind:
        raise InputError(f"{first.name} holds results of {first.kind} and {other.name} of {other.kind}")
    if first.reference and other.reference and first.reference != other.reference:
        raise InputError(f"{both} are of different human texts: their numbers cannot be held against each other")
    if first.kind == "contexts":
        _check_settings(first.signature, other.signature, both, ("metrics", "pvalue", "interval", "versions"))
        return
    one, two = (next(iter(file.systems.values())) for file in (first, other))
    common = [metric for metric in one if metric in two]
    if not common:
        raise InputError(f"{both} have no metric in common: {', '.join(one)} and {', '.join(two)}")
    for metric in common:
        sizes = [result.get("sizes", {}).get("reference") for result in (one[metric], two[metric])]
        if sizes[0] != sizes[1]:
            raise InputError(f"{both} are of different human texts: {sizes[0]} and {sizes[1]} of them")
        signatures = [result.get("signature", {}) for result in (one[metric], two[metric])]
        if _encoder(signatures[0]) != _encoder(signatures[1]):
            told = _differing(_encoder(signatures[0]), _encoder(signatures[1]))
            raise InputError(f"{both} were made with different encoders: {told}")
        skipped = ("encoder", *_by_data(signatures[0]), *_by_data(signatures[1]))
        _check_settings(signatures[0], signatures[1], f"{both}, {metric},", skipped)


def _check_settings(one: Mapping[str, Any], two: Mapping[str, Any], both: str, skipped: Sequence[str]) -> None:
    ours, theirs = (
        {key: value for key, value in each.items() if key not in (*skipped, *_ROUNDING)} for each in (one, two)
    )
    if ours != theirs:
        raise InputError(f"{both} were made with different settings: {_differing(ours, theirs)}")


def _encoder(signature: Mapping[str, Any]) -> Mapping[str, Any]:
    found = signature.get("encoder")
    if not isinstance(found, Mapping):
        return {"encoder": found}
    return {key: value for key, value in found.items() if key not in _ROUNDING}


def _differing(one: Mapping[str, Any], two: Mapping[str, Any]) -> str:
    keys = [key for key in {**one, **two} if one.get(key) != two.get(key)]
    keys = ["encoder"] if "encoder" in keys else keys[:3]  # all else follows from it
    return ", ".join(f"{key} {shown(one.get(key))} and {shown(two.get(key))}" for key in keys)


def _by_data(signature: Mapping[str, Any]) -> list[str]:
    """What a rule chose from the data of each system."""
    return [key.removesuffix("_rule") for key in signature if key.endswith("_rule")]


def _notes(files: Sequence[SavedFile]) -> list[str]:
    silent = [file.name for file in files if not file.reference]
    if not silent or len(files) < 2:
        return []
    return [f"{', '.join(silent)} does not say which human texts it is of: whether they are the same cannot be told"]


# Sets and pairs


def _results(systems: Mapping[str, Any]) -> tuple[dict[str, dict[str, Result]], dict[str, str]]:
    """Results of all systems by the metrics that all have, and which were left out, and why."""
    everywhere = [metric for metric in next(iter(systems.values())) if all(metric in own for own in systems.values())]
    left = sorted({metric for own in systems.values() for metric in own} - set(everywhere))
    left_out = dict.fromkeys(left, _NOT_IN_ALL)
    kept = []
    for metric in everywhere:
        signatures = [own[metric].get("signature", {}) for own in systems.values()]
        chosen = {key: [each.get(key) for each in signatures] for key in _by_data(signatures[0])}
        odd = [key for key, values in chosen.items() if any(value != values[0] for value in values)]
        if odd:
            left_out[metric] = f"each file chose another {odd[0]} from its own texts"
        else:
            kept.append(metric)
    if not kept:
        raise InputError(f"nothing can be compared: {listed_reasons(left_out)}")
    return {
        name: {metric: _result(own[metric], f"{name}, {metric}") for metric in kept} for name, own in systems.items()
    }, left_out


def _result(saved: Any, where: str) -> Result:
    try:
        return Result(
            metric=saved["metric"],
            values={name: _real(value) for name, value in saved["values"].items()},
            direction=saved["direction"],
            ranges={
                name: (_real(low, -math.inf), _real(high, math.inf)) for name, (low, high) in saved["ranges"].items()
            },
            sizes=saved["sizes"],
            warnings=tuple(saved["warnings"]),
            signature=saved["signature"],
            details=saved["details"],
            arrays={name: np.array(_nested(value), np.float64) for name, value in saved.get("arrays", {}).items()},
            intervals={name: (_real(low), _real(high)) for name, (low, high) in saved.get("intervals", {}).items()},
            pvalues=saved.get("pvalues", {}),
            adjusted_pvalues=saved.get("adjusted_pvalues", {}),
            human={name: Band(**band) for name, band in saved.get("human", {}).items()},
            at_human_size={name: Band(**band) for name, band in saved.get("at_human_size", {}).items()},
            inside=saved.get("inside", {}),
            inference=saved.get("inference", {}),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"the saved result of {where} is damaged") from None


def _real(value: Any, missing: float = math.nan) -> float:
    return missing if value is None else float(value)


def _nested(value: Any) -> Any:
    return [_nested(each) for each in value] if isinstance(value, list) else _real(value)


def _number(result: Result, name: str) -> str:
    return result.metric if len(result.values) == 1 else f"{result.metric}.{name}"


def _sizes(results: Mapping[str, Mapping[str, Result]]) -> list[str]:
    sizes = {name: next(iter(own.values())).sizes.get("candidate") for name, own in results.items()}
    if len(set(sizes.values())) == 1:
        return []
    told = ", ".join(f"{name} {size}" for name, size in sizes.items())
    return [
        f"systems differ in size ({told} samples), and every number depends on it: part of a difference is due to that"
    ]


def _of_pairs(
    results: PairResults, notes: list[str], left_out: dict[str, str], level: float, interval: float, seed: int
) -> Comparison:
    numbers: list[ItemNumber] = []
    first = next(iter(results.values()))
    for metric, result in first.items():
        main = result.details.get("main", list(result.values))
        for output in result.values:
            name = _number(result, output)
            if output in result.details.get("corpus", ()):
                left_out[name] = "of the whole corpus, and no file has its counts by items"
                continue
            scores = {system: own[metric].arrays.get(array_name(output)) for system, own in results.items()}
            lacking = [system for system, each in scores.items() if each is None]
            if lacking:
                raise InputError(
                    f"the results of {', '.join(lacking)} hold no scores of single items, which a test needs: save "
                    "them with arrays, or compare the texts themselves",
                    options=["arrays"],
                )
            known = {system: each for system, each in scores.items() if each is not None}
            number, said = mean_number(name, result.direction, known, output in main, result.ranges[output])
            numbers += [] if number is None else [number]
            notes += [said] if said else []
    return _tested("pairs", results, numbers, "item", notes, left_out, level, interval, seed)


def _of_contexts(
    systems: Mapping[str, Any], files: Sequence[SavedFile], notes: list[str], level: float, interval: float, seed: int
) -> Comparison:
    lacking = [name for name, own in systems.items() if "records" not in own]
    if lacking:
        raise InputError(
            f"the results of {', '.join(lacking)} hold no scores of single contexts, which a test needs: save them "
            "with arrays, or compare the texts themselves",
            options=["arrays"],
        )
    listed = {name: [total["metric"] for total in own["totals"]] for name, own in systems.items()}
    common = [
        metric for metric in dict.fromkeys(next(iter(listed.values()))) if all(metric in own for own in listed.values())
    ]
    chosen = [metric for metric in (CONTEXT_METRICS.choose(common) if common else []) if metric.direction is not None]
    left = sorted({metric for own in listed.values() for metric in own} - set(common))
    left_out = dict.fromkeys(left, _NOT_IN_ALL)
    aside = [metric for metric in common if metric not in {each.name for each in chosen}]
    notes += [f"{', '.join(aside)}: without better and worse, so left out"] if aside else []
    ids = {name: [record["id"] for record in own["records"]] for name, own in systems.items()}
    base = next(iter(ids))
    for name, own in ids.items():
        if own != ids[base]:
            raise InputError(
                f"{base} and {name} have different contexts: compare results of the same ones, in one order"
            )
    if not chosen:
        raise InputError(f"nothing can be compared: {'; '.join([*notes, listed_reasons(left_out)])}")
    signature = files[0].signature
    results = ContextSystems({
        name: ContextResults(own["records"], totals_of(chosen, own["records"], None), signature)
        for name, own in systems.items()
    })  # fmt: skip
    numbers, said = context_numbers(results, chosen)
    return _tested("contexts", results, numbers, "context", [*notes, *said], left_out, level, interval, seed)


def _tested(
    kind: str,
    results: PairResults | ContextSystems,
    numbers: Sequence[ItemNumber],
    unit: str,
    notes: Sequence[str],
    left_out: Mapping[str, str],
    level: float,
    interval: float,
    seed: int,
) -> Comparison:
    if not numbers:
        raise InputError(f"nothing can be compared: {'; '.join([*notes, listed_reasons(left_out)])}")
    lengths = {name: len(items) for name, items in numbers[0].items.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {size}" for name, size in lengths.items())
        raise InputError(f"systems have different numbers of {unit}s: {told}")
    against = ItemSystems(numbers, range(next(iter(lengths.values()))), None, seed, unit)
    # Whether texts are the same is not in the files: nothing is said of it.
    same = dict.fromkeys(pairs_of(list(results)), 0)
    return compared_items(kind, results, against, same, level, interval, notes, left_out)
