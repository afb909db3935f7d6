"""What the studies of the distribution-aware paper share: contexts, their metrics, nested candidate sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..contexts.declaration import Batch, ContextMetric, Settings, find_context_metrics
from ..contexts.uncertainty import Asked, Scored
from ..errors import InputError
from ..lexical.ngrams import DocumentFrequencies
from ..progress import Progress
from ..similarity.scorer import find_pairwise
from ..texts.context_files import Context, read_contexts
from .steps import Steps
from .study import Setup

FIGURE_3 = ("meteor", "trm-meteor", "cider", "trm-cider", "embedding", "trm-embedding", "mmd", "frechet")
_CHUNK = 50
FILES = {
    "abstract48s": ("contexts.jsonl.gz", "id, references"),
    "e2e_dev_multi": ("contexts.jsonl.gz", "id, references, candidates"),
    "captions_coco1000": ("captions.jsonl.gz", "id, references, candidates"),
}
"""By data folder: its file, and the fields of its objects."""
LAYOUT = {
    "abstract48s": "contexts.jsonl.gz, one object a line: id, references (48 sentences of people on one scene; at "
    "least 20 will do)",
    "e2e_dev_multi": "contexts.jsonl.gz, one object a line: id, references (2 or more wordings by people), candidates "
    "(20 outputs of one model, each of another training seed)",
    "captions_coco1000": "captions.jsonl.gz, one object a line: id, references (5 captions by people), candidates (1 "
    "caption by a model)",
}
"""For `Study.layout`."""


def data_file(setup: Setup, name: str) -> Path:
    file, fields = FILES[name]
    return setup.folder(name, f"{file} ({fields})") / file


def load(path: Path, contexts: int, references: int, candidates: int = 0) -> list[Context]:
    """The contexts of a file that have as many texts as a study needs; at least `contexts` of them."""
    listed = read_contexts(str(path), candidates="candidates" if candidates else "references")
    usable = [each for each in listed if len(each.references) >= references and len(each.candidates) >= candidates]
    if len(usable) < contexts:
        what = f"at least {references} references" + (f" and {candidates} candidates" if candidates else "")
        raise InputError(f"{path} has {len(usable)} contexts with {what}; the study needs {contexts}")
    return usable


class Scoring:
    """Metrics with one table of document frequencies, on groups of texts of one shape."""

    def __init__(self, setup: Setup, names: Sequence[str], corpus: Sequence[Sequence[str]]) -> None:
        self.metrics: list[ContextMetric] = find_context_metrics(list(names))
        self._setup = setup
        encodes = any(metric.vectors or metric.pairwise == "embedding" for metric in self.metrics)
        # What learns from texts learns from all references at once: no number hangs on who shares a chunk.
        self._encoding = _learnt(setup, corpus) if encodes else {}
        options: dict[str, dict[str, Any]] = {
            "cider": {"df": DocumentFrequencies.from_references(corpus)},
            "embedding": self._encoding,
        }
        needed = dict.fromkeys(metric.pairwise for metric in self.metrics if metric.pairwise)
        self._scorers = {name: find_pairwise(name).scorer(**options.get(name, {})) for name in needed}

    def batch(self, groups: Sequence[Sequence[str]], references: int) -> Batch:
        """Groups of texts, references first, with all that the metrics need."""
        squares = {name: np.stack(scorer.squares(groups)) for name, scorer in self._scorers.items()}
        vectors: Sequence[np.ndarray] = ()
        if any(metric.vectors for metric in self.metrics):
            from ..representations.encode import encode

            texts = [text for group in groups for text in group]
            vectors = np.split(encode(texts, **self._encoding), len(groups))
        return Batch(references, len(groups[0]) - references, groups, squares, vectors)

    def score(self, batch: Batch, pvalue: bool = True) -> dict[str, list[Scored]]:
        asked = Asked(pvalue, self._setup.seed, nulls=False)
        settings = Settings(seed=self._setup.seed)
        sizes = batch.references, batch.candidates
        able = [metric for metric in self.metrics if metric.too_small(*sizes) is None]
        return {metric.name: metric.score(batch, settings, asked) for metric in able}


def _learnt(setup: Setup, corpus: Sequence[Sequence[str]]) -> dict[str, Any]:
    from ..similarity.embedding import learning_from

    texts = [text for references in corpus for text in references]
    return learning_from(texts, {"encoder": setup.encoder, **setup.encoding})


class Case(NamedTuple):
    """Which texts of a group are compared: positions, the first of them references."""

    texts: Sequence[int]
    references: int
    pvalue: bool = True


Kept = dict[str, dict[str, np.ndarray]]
"""By metric: `value`, `p` and `smallest` of every context."""


def kept_tests(
    steps: Steps, label: str, scoring: Scoring, groups: Sequence[Sequence[str]], cases: Mapping[str, Case]
) -> dict[str, Kept]:
    """By case, every metric's numbers of every group; what an earlier run has made is not made again."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {case: {} for case in cases}
    with Progress(label, len(groups), "context") as progress:
        for start in range(0, len(groups), _CHUNK):
            chunk = groups[start : start + _CHUNK]

            def make(chunk: Sequence[Sequence[str]] = chunk) -> dict[str, Any]:
                whole = scoring.batch(chunk, 1)
                made = {}
                for case, (texts, references, pvalue) in cases.items():
                    scored = scoring.score(chosen(whole, texts, references), pvalue)
                    made[case] = {name: _numbers(each) for name, each in scored.items()}
                return made

            for case, by_metric in steps.get(f"{label} {start}", make).items():
                for name, numbers in by_metric.items():
                    for number, values in numbers.items():
                        found[case].setdefault(name, {}).setdefault(number, []).extend(values)
            progress.advance(len(chunk))
    return {
        case: {name: {number: np.array(values) for number, values in numbers.items()} for name, numbers in each.items()}
        for case, each in found.items()
    }


def _numbers(scored: Sequence[Scored]) -> dict[str, list[float]]:
    numbers = {"value": [each.values["value"] for each in scored]}
    tests = [each.tests["value"] for each in scored if each.tests]
    return numbers | ({"p": [t.pvalue for t in tests], "smallest": [t.smallest for t in tests]} if tests else {})


def chosen(batch: Batch, texts: Sequence[int], references: int) -> Batch:
    """The same contexts with only these texts, in this order; the first are references."""
    at = np.asarray(texts)
    return Batch(
        references,
        len(at) - references,
        [[group[i] for i in texts] for group in batch.texts],
        {name: square[:, at][:, :, at] for name, square in batch.squares.items()},
        [vectors[at] for vectors in batch.vectors],
    )


def pvalues(scored: Sequence[Scored]) -> np.ndarray:
    return np.array([each.tests["value"].pvalue for each in scored])
