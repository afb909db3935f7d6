"""Scores of whole sets of outputs against the references, for the fluency study: every method at several settings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import oriented
from ..encoders import loading_options
from ..models import RECURRENT
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Setup
from .e2e_ratings import Rated

FORMS = ("drawn", "all")
"""One reference for each input, mean over draws; all references."""


@dataclass(frozen=True)
class Method:
    """One number of a metric, under the name that tables show."""

    name: str
    metric: str
    output: str
    parameter: str | None = None
    """What is swept over."""


METHODS = (
    Method("Fréchet", "frechet", "value"),
    Method("PRD F1/8", "prd", "f1_8", "clusters"),
    Method("PRD F8", "prd", "f8", "clusters"),
    Method("precision", "precision-recall", "precision", "k"),
    Method("recall", "precision-recall", "recall", "k"),
    Method("ME quality", "mark-evaluate", "quality", "k"),
    Method("ME diversity", "mark-evaluate", "diversity", "k"),
    Method("ME Petersen", "mark-evaluate", "petersen", "k"),
    Method("ME CAPTURE", "mark-evaluate", "capture", "k"),
    Method("MMD", "mmd", "value"),
    Method("MAUVE", "mauve", "value"),
)


@dataclass(frozen=True)
class Sizes:
    ks: tuple[int, ...]
    clusters: tuple[int, ...]
    draws: int

    def settings(self, method: Method) -> tuple[int | None, ...]:
        return {"k": self.ks, "clusters": self.clusters, None: (None,)}[method.parameter]


@dataclass(frozen=True)
class Encoding:
    """An encoder under the name that tables show."""

    label: str
    encoder: Any = None
    pooling: str | None = None

    @property
    def is_here(self) -> bool:
        """Whether there is a folder of an encoder that has to be trained first; a damaged one is here, too."""
        places = [Path(place).expanduser() for place in (".", os.environ.get("RECAPTURE_MODELS")) if place]
        return self.encoder != RECURRENT or any((place / RECURRENT).is_dir() for place in places)


def default_of(method: Method) -> int | None:
    return rc.list_metrics()[method.metric].defaults[method.parameter] if method.parameter else None


class Scorer:
    """All methods with one encoder, step by step."""

    def __init__(self, setup: Setup, rated: Rated, encoding: Encoding, sizes: Sizes, paths: Sequence[Path]) -> None:
        # A device is for the encoder that was asked for with it; word counts have none.
        without = {"pooling"} | ({"device"} if encoding.encoder == "bag-of-words" != setup.encoder else set())
        options = {name: value for name, value in setup.encoding.items() if name not in without}
        options |= {"pooling": encoding.pooling} if encoding.pooling else {}
        options |= {"offline": True} if encoding.encoder == RECURRENT else {}
        self._setup = replace(setup, encoder=encoding.encoder, encoding=options)
        self._rated, self._sizes, self._label = rated, sizes, encoding.label
        settings = {"revision": 3, "methods": [method.name for method in METHODS], "sizes": vars(sizes)}
        self._steps = steps_of(self._setup, "fluency", settings, paths)

    def scores(self, form: str) -> dict[str, dict[int | None, np.ndarray]]:
        """By method and setting, one number for each system; higher is better."""
        by_system = []
        with progress_bar(f"{self._label}, {form}", len(self._rated.outputs), "system") as progress:
            for at, name in enumerate(self._rated.outputs):
                by_system.append(self._steps.get(f"{form}: {name}", lambda at=at: self._of(form, at)))  # type: ignore[misc]
                progress.advance()
        by_method: dict[str, dict[int | None, np.ndarray]] = {}
        for method in METHODS:
            direction = rc.list_metrics()[method.metric].direction
            by_method[method.name] = {
                setting: oriented(np.array([each[f"{method.name}@{setting}"] for each in by_system]), direction)
                for setting in self._sizes.settings(method)
            }
        return by_method

    @cached_property
    def _vectors(self) -> list[np.ndarray]:
        """The references' first, all of them in order; then each system's."""
        flat = [text for group in self._rated.references for text in group]
        sets = [flat, *self._rated.outputs.values()]
        loading, options = loading_options(self._setup.encoding)
        encoder = rc.resolve_encoder(self._setup.encoder, **loading).fit(flat)
        vectors = rc.encode([text for texts in sets for text in texts], encoder, **options)
        return np.split(vectors, np.cumsum([len(texts) for texts in sets])[:-1])

    def _of(self, form: str, system: int) -> dict[str, float]:
        reference, candidate = self._vectors[0], self._vectors[system + 1]
        if form == "all":
            return self._measured(reference, candidate)
        runs = [self._measured(reference[rows], candidate) for rows in self._draws]
        return {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}

    @cached_property
    def _draws(self) -> list[np.ndarray]:
        """Rows of one reference for each input; the same for all systems and encoders."""
        counts = [len(group) for group in self._rated.references]
        starts = np.cumsum([0, *counts[:-1]])
        rng = np.random.default_rng(self._setup.seed)
        return [starts + rng.integers(0, counts) for _ in range(self._sizes.draws)]

    def _measured(self, reference: np.ndarray, candidate: np.ndarray) -> dict[str, float]:
        sweep = rc.mark_evaluate_sweep(reference, candidate, self._sizes.ks)
        results: dict[tuple[str, int | None], rc.Result] = {("mark-evaluate", k): sweep[k] for k in self._sizes.ks}
        for method in METHODS:
            measure = getattr(rc, method.metric.replace("-", "_"))
            for setting in self._sizes.settings(method):
                if (method.metric, setting) not in results:
                    parameters = {} if method.parameter is None else {method.parameter: setting}
                    results[method.metric, setting] = measure(reference, candidate, seed=self._setup.seed, **parameters)
        return {
            f"{method.name}@{setting}": float(results[method.metric, setting].values[method.output])
            for method in METHODS
            for setting in self._sizes.settings(method)
        }
