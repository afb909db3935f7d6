"""What a study declares, gets and gives, and the registry that finds the declarations."""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import recapture as rc

from .cells import Tables
from .files import plain
from .paper import statements
from .verdicts import Holds, Verdict
from .words import nearest_names


@dataclass(frozen=True)
class Setup:
    """What the caller decides."""

    data: Path
    quick: bool = False
    """A small form of the study, for a first look and for tests."""
    seed: int = 0
    encoder: Any = None
    encoding: Mapping[str, Any] = field(default_factory=dict)
    """Further options of `encode`."""
    metrics: tuple[str, ...] | None = None
    """Of a study that scores aligned texts: those to score now; None: all. Others show where their scores are kept."""
    model: Any = None
    """A masked language model in place of recapture's own."""
    made_up: bool = False
    """Whether the data are texts that the program made up."""
    jar: Any = None
    """METEOR's own program, for METEOR with synonyms and paraphrases."""
    samples: Path | None = None
    """A folder of a language model's samples in the place of that among the data."""
    jobs: int = 1
    """Processes at once, of a study that can use several; no number depends on it."""

    def folder(self, name: str, holds: str) -> Path:
        """A data set's folder, or a sentence that says what to put there."""
        path = self.data / name
        if not os.path.isdir(path):  # noqa: PTH112 - a name too long is no folder, and no error
            raise rc.InputError(f"{path} is not there (name another folder with --data): it should hold {holds}")
        return path


@dataclass(frozen=True)
class Section:
    name: str
    """Of its file, and its heading."""
    table: rc.Table
    adds: str = ""
    """A sentence on what this shows that the paper has not; the results page gathers such tables."""


Chosen = Literal["fixed", "same", "other"]


@dataclass(frozen=True)
class Claim:
    """A piece of evidence on one thing a paper says. The results page is made of these, one row for each id."""

    id: str
    """Of `paper.statements()`."""
    verdict: Verdict
    here: str
    """Our numbers, computed, never typed; no full stop."""
    data: str
    """On what data, and with which models."""
    why: str = ""
    """Where it does not hold: the likely reason. Other encoder, other data, a slip in the paper."""
    own: bool = False
    """Whether these are the paper's own data."""
    chosen: Chosen = "fixed"
    """How free parameters were set: beforehand, on the data they are measured on, or on other data."""

    @property
    def holds(self) -> Holds:
        return self.verdict.holds

    @property
    def sample(self) -> str:
        """In sample: on the paper's data, or with parameters chosen on the data they are measured on."""
        return "out of sample" if self.chosen == "other" or (self.chosen == "fixed" and not self.own) else "in sample"

    def record(self) -> dict[str, Any]:
        """What a file keeps."""
        said = statements()[self.id]
        return {"id": self.id, **said._asdict(), **self.verdict._asdict(), "here": self.here, "why": self.why,
                "data": self.data, "own": self.own, "chosen": self.chosen, "sample": self.sample}  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """What a study found."""

    tables: Sequence[Section]
    draw: Callable[[Any], None]
    """Draws the figure on an empty matplotlib Figure."""
    verdict: Sequence[str]
    """Paragraphs: what agrees with the paper, what does not, and why."""
    settings: Mapping[str, Any] = field(default_factory=dict)


Judge = Callable[[Tables, Mapping[str, Any]], Sequence[Claim]]
"""From the tables a study prints and its settings to what they say of the paper's claims."""


def rows_of(tables: Sequence[Section]) -> dict[str, list[dict[str, str]]]:
    """Tables as files keep them, and as claims are judged from."""
    return {each.name: [dict(zip(each.table.heads, row, strict=True)) for row in each.table.rows] for each in tables}


def _nothing(tables: Tables, settings: Mapping[str, Any]) -> Sequence[Claim]:
    return []


@dataclass(frozen=True)
class Study:
    """A declaration, read by the command line and the docs."""

    name: str
    title: str
    paper: str
    """Mark-Evaluate, InfoLM, Distribution-aware metrics, or empty where the question is ours."""
    reproduces: str
    """Which of its tables and figures."""
    data: Sequence[str]
    """Folders it reads."""
    run: Callable[[Setup], Findings]
    judge: Judge = _nothing
    """Reads the tables alone, so that stored ones can be judged by rules that came later."""
    optional: Sequence[str] = ()
    """Those of them that it can do without: where one is absent, what it is about cannot be told."""
    encodes: bool = True
    """Whether it turns texts into vectors, so that an encoder can be chosen."""
    pools: bool = True
    """Whether these are vectors of whole texts, so that pooling and batch size can be chosen."""
    masked: bool = False
    """Whether it uses a masked language model, so that `Setup.model` can name one."""
    chooses: bool = False
    """Whether `Setup.metrics` can name what it scores."""
    meteor: bool = False
    """Whether it scores METEOR of aligned texts, so that `Setup.jar` can name METEOR's own tables."""
    spreads: bool = False
    """Whether it can use several processes at once, so that `Setup.jobs` can say how many."""
    layout: Mapping[str, str] = field(default_factory=dict)
    """By folder, the files in it and their fields: what to put in their place."""
    takes: str = ""
    """How long the full form took, and on what."""

    def claims(self, findings: Findings) -> Sequence[Claim]:
        return self.judge(rows_of(findings.tables), plain(findings.settings))


SAMPLES = "lm_samples"
"""The data folder that `Setup.samples` may take the place of."""
FOLDERS = ("mark_evaluate", "infolm", "distribution_aware", "own_checks")
"""One for each paper, and one for questions of our own."""


@lru_cache(maxsize=1)
def _registry() -> dict[str, Study]:
    package = importlib.import_module(__package__)
    by_name = {}
    for folder in FOLDERS:
        modules = pkgutil.iter_modules([str(Path(where) / folder) for where in package.__path__])
        for name in sorted(module.name for module in modules):
            declared = getattr(importlib.import_module(f"{__package__}.{folder}.{name}"), "STUDY", None)
            if isinstance(declared, Study):
                by_name[declared.name] = declared
    return {study.name: study for study in sorted(by_name.values(), key=lambda study: study.name)}


def list_studies() -> dict[str, Study]:
    """The declarations of all studies, by name."""
    return dict(_registry())


def find_study(name: str) -> Study:
    registry = _registry()
    if name not in registry:
        raise rc.InputError(f"unknown study {name!r}: {nearest_names(name, registry)}")
    return registry[name]
