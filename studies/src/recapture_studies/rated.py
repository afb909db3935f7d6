"""What the studies of agreement with people share: their data files, metrics, and how findings are written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import recapture as rc

from .item_scores import Making, Part, Scores, Task, making, scores_of
from .models import MASKED_MODELS
from .study import Section, Setup

HALF = 0.5
"""alpha and beta of InfoLM's measures that have them."""
_LAYERS = 5


def tasks(setup: Setup, names: Sequence[str], options: Mapping[str, Mapping[str, Any]] | None = None) -> list[Task]:
    """The metrics of a study: InfoLM with all its measures, once for each masked language model."""
    wanted = []
    for name in names:
        parameters = dict((options or {}).get(name, {}))
        if name == "infolm":
            wanted += _infolm(setup, parameters)
        else:
            if name in ("me-words", "pr-words", "prd-words", "moverscore"):
                parameters["layers"] = layers_read(setup)
            if name == "meteor" and setup.jar is not None:
                parameters["jar"] = str(setup.jar)
            wanted.append(Task(name, name, parameters))
    return wanted


def _infolm(setup: Setup, parameters: Mapping[str, Any]) -> list[Task]:

    every = {"measure": list(rc.list_measures()), "alpha": HALF, "beta": HALF, **parameters}
    if setup.model is not None:
        return [Task("infolm", "infolm", {**every, "model": setup.model})]
    models = MASKED_MODELS[:1] if setup.quick else MASKED_MODELS
    return [Task("infolm", f"infolm-{name.rpartition('-')[2]}", {**every, "model": name}) for name in models]


def layers_read(setup: Setup) -> int:
    """The last five, or all of a smaller encoder."""
    if setup.encoder is None:
        return _LAYERS
    info = rc.model_info(str(setup.encoder), "words", offline=setup.encoding.get("offline"))
    return min(_LAYERS, int(info["layers"]))


def how(setup: Setup) -> Making:
    """The caller's options, as far as they matter to metrics of aligned texts."""
    # Pooling and batch size are for vectors of whole texts.
    options = {name: value for name, value in setup.encoding.items() if name not in ("pooling", "batch_size")}
    keep = options.pop("cache", True) is not False
    return making(setup.metrics, encoder=setup.encoder, keep=keep, **options)


class Seen:
    """All parts of a study scored, one after the other; with what, and what was left out."""

    def __init__(self, setup: Setup, parts: Iterable[Part], see: Callable[[Part, str, Scores], None]) -> None:
        self._made: Counter[tuple[str, ...]] = Counter()
        self.left_out: dict[str, int] = {}
        """By label: in how many parts it has no scores."""
        self.warnings: dict[str, None] = {}
        chosen = how(setup)
        for part in parts:
            by_label = scores_of(part, chosen)
            for task in part.tasks:
                if task.label not in by_label:
                    self.left_out[task.label] = self.left_out.get(task.label, 0) + 1
                    continue
                scores = by_label[task.label]
                see(part, task.label, scores)
                self._made[(task.label, *_made_with(scores.signature))] += 1
                for warning in scores.warnings:
                    self.warnings.setdefault(f"{task.label}, {part.name}, {warning}", None)
        if not self._made:
            raise rc.InputError(
                "there are no scores: --metrics names nothing that this study scores, and none are kept"
            )

    def about_left_out(self) -> list[str]:
        if not self.left_out:
            return []
        listed = ", ".join(f"{label} ({count} part{'s' * (count > 1)})" for label, count in self.left_out.items())
        return [f"Not scored, since this run was told to score other metrics and no scores were kept: {listed}."]

    def table(self) -> Section:
        heads = ["metric", "model", "revision", "numbers", "device", "versions", "parts"]
        rows = [[*key, str(count)] for key, count in self._made.items()]
        caption = ["Where scores came from: those kept by an earlier run say what that run had."]
        return Section("made-with", rc.Table(heads, rows, caption, left=6))


def _made_with(signature: Mapping[str, Any]) -> tuple[str, ...]:
    models = [signature[key] for key in ("encoder", "model") if isinstance(signature.get(key), Mapping)]
    model: Mapping[str, Any] = models[0] if models else {}
    versions = ", ".join(f"{name} {version}" for name, version in signature.get("versions", {}).items())
    return (
        str(model.get("encoder", "-")),
        str(model.get("revision", "-"))[:70],
        str(model.get("dtype", "-")),
        str(signature.get("device", "-")),
        versions,
    )


def row_name(label: str, output: str) -> str:
    return label if output == "value" else f"{label} {output}"


def shown(value: float) -> str:
    """.963, -.018: correlations have no digits before the point."""
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.0f}"
    return "0" if text in (".000", "-.000") else text


def mean(values: Iterable[float]) -> float:
    """NaN where one of the numbers is: a mean over fewer could not be compared."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def ranked(values: Mapping[str, float]) -> list[str]:
    """Names, best first; those without a number left out."""
    return sorted((name for name in values if not math.isnan(values[name])), key=lambda name: -values[name])


def leaders(values: Mapping[str, float], count: int = 5) -> str:
    """The best names with their numbers, as words."""
    return ", ".join(f"{name} {shown(values[name])}" for name in ranked(values)[:count]) or "none"
