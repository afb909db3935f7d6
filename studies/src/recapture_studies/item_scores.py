"""Scores of single texts, made once and kept: a long study that is interrupted goes on with the next part.

A part is one set of references with the outputs of several systems; a task is a metric with its parameters. The scores
of a task on a part are one file in the cache folder. Its name depends on metric, parameters, the model's revision and
all texts, not on libraries, number type or device: these are written down inside. So scores made on one machine serve
on another: copy the file. Nothing here needs the command line or matplotlib:

    from recapture_studies import item_scores, study
    from recapture_studies.mark_evaluate import wmt17
    item_scores.fill(wmt17.parts(study.Setup(Path("data"))), metrics=["infolm"], device="cuda")
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

import recapture as rc

from .files import plain
from .words import nearest_names

_FORM = 1
"""Grows when what is kept changes: older files are then not found."""
_STEP = "scores"
"""The one entry of a file."""


@dataclass(frozen=True)
class Scores:
    """What one metric says of several systems, in the caller's order."""

    direction: str
    """higher or lower: which is better."""
    items: Mapping[str, np.ndarray]
    """(systems, items), by output."""
    totals: Mapping[str, np.ndarray]
    """(systems,), by output: the mean, or the corpus number where the metric has one."""
    warnings: Sequence[str]
    signature: Mapping[str, Any]
    """How the scores were made, with versions, number type and device."""


@dataclass(frozen=True)
class Task:
    """A metric with its parameters, under the name that tables show."""

    metric: str
    label: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    name: str
    references: Sequence[Any]
    """For each item a text or a list of texts."""
    systems: Mapping[str, Sequence[str]]
    tasks: Sequence[Task]
    about: Mapping[str, str] = field(default_factory=dict)
    """What the study tells its parts apart by."""
    human: Mapping[str, np.ndarray] = field(default_factory=dict)
    """By criterion: one number per system, or (systems, items)."""


@dataclass(frozen=True)
class Making:
    """How missing scores are made."""

    metrics: frozenset[str] | None = None
    """Those to make; None: all. Others are taken where they are kept."""
    encoder: Any = None
    device: str | None = None
    batch_tokens: int | None = None
    offline: bool | None = None
    folder: Path | None = None
    """Where scores are kept; None: in the cache folder."""
    keep: bool = True
    """Whether kept scores are read, and new ones written."""
    known_as: Mapping[str, str] = field(default_factory=dict)
    """By a model's name, the revision that stands for it in names of files: for a copy of weights in another number
    type, whose own hash differs. The true one is written inside."""

    @property
    def place(self) -> Path:
        return self.folder or rc.cache_folder() / "scores"


def metric_names(names: str | Iterable[str]) -> list[str]:
    """Names of metrics of aligned texts, as a list or one comma-separated string; checked."""
    listed = names.split(",") if isinstance(names, str) else list(names)
    wanted = [str(name).strip().lower().replace("_", "-") for name in listed if str(name).strip()]
    for name in wanted:
        if name not in rc.list_pair_metrics():
            raise rc.InputError(f"unknown pair metric {name!r}: {nearest_names(name, rc.list_pair_metrics())}")
    if not wanted:
        raise rc.InputError("no metric was named")
    return list(dict.fromkeys(wanted))


def making(metrics: str | Iterable[str] | None = None, **options: Any) -> Making:
    """Checked: every name is that of a metric."""
    chosen = None if metrics is None else frozenset(metric_names(metrics))
    if isinstance(options.get("folder"), str):
        options["folder"] = Path(options["folder"])
    return Making(chosen, **options)


def fill(parts: Iterable[Part], metrics: str | Iterable[str] | None = None, **options: Any) -> int:
    """Make and keep what is not there yet, part by part; how many files there are now. options: those of Making."""
    how = making(metrics, **options)
    return sum(len(scores_of(part, how)) for part in parts)


def scores_of(part: Part, how: Making) -> dict[str, Scores]:
    """By label of the task: kept scores, or new ones. A task that is neither kept nor to be made is absent."""
    by_label: dict[str, Scores] = {}
    paths: dict[str, Path] = {}
    for task in part.tasks:
        wanted = how.metrics is None or task.metric in how.metrics
        try:
            paths[task.label] = how.place / f"{_plain(part.name)}-{_plain(task.label)}-{key(part, task, how)}.jsonl"
        except rc.InputError:  # its model is not there
            if wanted:
                raise
            continue
        kept = _read(paths[task.label], part) if how.keep else None
        if kept is not None:
            by_label[task.label] = kept
    missing = [task for task in part.tasks if task.label not in by_label]
    missing = [task for task in missing if how.metrics is None or task.metric in how.metrics]
    for together in _together(missing):
        for label, scores in _make(part, together, how).items():
            if how.keep:
                _write(paths[label], part, scores)
            by_label[label] = scores
    return {task.label: by_label[task.label] for task in part.tasks if task.label in by_label}


def _write(path: Path, part: Part, scores: Scores) -> None:
    rc.Journal(path).add({_STEP: {"systems": list(part.systems), **vars(scores)}})


def _read(path: Path, part: Part) -> Scores | None:
    """None where there is no file, or a damaged one: it will be made again."""
    kept: Any = rc.Journal(path).finished().get(_STEP)
    try:
        items, totals = (
            {name: np.array(values, np.float64) for name, values in kept[of].items()} for of in ("items", "totals")
        )
        scores = Scores(kept["direction"], items, totals, kept["warnings"], kept["signature"])
        same = kept["systems"] == list(part.systems)
    except (AttributeError, KeyError, ValueError, TypeError):
        return None
    shape = len(part.systems), len(part.references)
    fits = same and bool(items) and all(values.shape == shape for values in items.values())
    return scores if fits and all(values.shape == shape[:1] for values in totals.values()) else None


def _together(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Metrics on word vectors in one run, so that each text is encoded once; others one by one.

    A metric that is there with several parameters takes as many runs.
    """
    waiting = [task for task in tasks if "encoder" in rc.list_pair_metrics()[task.metric].defaults]
    while waiting:
        run: dict[str, Task] = {}
        for task in waiting:
            run.setdefault(task.metric, task)
        waiting = [task for task in waiting if run[task.metric] is not task]
        yield list(run.values())
    for task in tasks:
        if "encoder" not in rc.list_pair_metrics()[task.metric].defaults:
            yield [task]


def _make(part: Part, tasks: Sequence[Task], how: Making) -> dict[str, Scores]:
    results = rc.evaluate_pairs(
        part.references,
        part.systems,
        [task.metric for task in tasks],
        options={task.metric: task.parameters for task in tasks},
        encoder=how.encoder,
        device=how.device,
        batch_tokens=how.batch_tokens,
        offline=how.offline,
        cache=False,  # head vectors of a whole study fill gigabytes; the scores are kept instead
    )
    by_label = {}
    for task in tasks:
        by_system = [results[name][task.metric] for name in part.systems]
        signature = {**plain(by_system[0].signature), **_device(task, how)}
        outputs = list(by_system[0].values)
        by_label[task.label] = Scores(
            by_system[0].direction,
            {name: np.stack([result.arrays[_array_name(name)] for result in by_system]) for name in outputs},
            {name: np.array([result.values[name] for result in by_system]) for name in outputs},
            _warnings(part, by_system),
            signature,
        )
    return by_label


def _device(task: Task, how: Making) -> dict[str, str]:
    if not {"encoder", "model"} & set(rc.list_pair_metrics()[task.metric].defaults):
        return {}
    kind: Literal["words", "masked"] = (
        "words" if "encoder" in rc.list_pair_metrics()[task.metric].defaults else "masked"
    )
    given = task.parameters.get("encoder" if kind == "words" else "model") or (how.encoder if kind == "words" else None)
    info = rc.model_info(given, kind, device=how.device, offline=how.offline)
    return {"device": str(info["device"])}


def _array_name(output: str) -> str:
    """Under which name a Result has the scores of single items."""
    return "scores" if output == "value" else f"{output}_scores"


def _warnings(part: Part, results: Sequence[rc.Result]) -> list[str]:
    """Each once, with the first system that has it."""
    first_system: dict[str, str] = {}
    for name, result in zip(part.systems, results, strict=True):
        for warning in result.warnings:
            first_system.setdefault(warning, name)
    return [f"{name}: {warning}" for warning, name in first_system.items()]


def key(part: Part, task: Task, how: Making) -> str:
    """A hash over all that the scores depend on, but for libraries, number type and device."""
    metric = rc.list_pair_metrics()[task.metric]
    parameters = metric.checked(task.parameters)
    content = hashlib.blake2b(digest_size=16)
    head = {
        "form": _FORM,
        "metric": metric.name,
        "parameters": {name: value for name, value in parameters.items() if name not in ("encoder", "model", "jar")},
        "model": _revision(metric, parameters, how),
        **({"jar": _jar_revisions(str(parameters["jar"]))} if parameters.get("jar") is not None else {}),
        "systems": list(part.systems),
        **({"revision": metric.revision} if metric.revision else {}),
    }
    for piece in (head, list(part.references), *(list(texts) for texts in part.systems.values())):
        content.update(json.dumps(plain(piece), sort_keys=True).encode() + b"\n")
    return content.hexdigest()


def _revision(metric: Any, parameters: Mapping[str, Any], how: Making) -> list[str]:
    for kind, default in (("encoder", how.encoder), ("model", None)):
        if kind in metric.defaults:
            given = parameters[kind] if parameters[kind] is not None else default
            name, revision = _identity(kind, None if given is None else str(given), how.offline)
            return [name, how.known_as.get(name, revision)]
    return []


@lru_cache(maxsize=16)
def _identity(kind: str, name: str | None, offline: bool | None) -> tuple[str, str]:
    known = rc.model_info(name, "words" if kind == "encoder" else "masked", offline=offline)
    return known["encoder"], known["revision"]


@lru_cache(maxsize=4)
def _jar_revisions(jar: str) -> list[str]:
    """What METEOR's own tables hold, wherever they lie. Empty texts: the largest of them need not be read for it."""
    signature = rc.meteor([""], [""], jar=jar).signature
    return [signature[table]["revision"] for table in ("jar", "wordnet", "paraphrases")]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
