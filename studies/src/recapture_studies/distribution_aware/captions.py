"""What the studies of the distribution-aware paper share: contexts, their metrics, nested candidate sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..encoders import RememberingEncoder
from ..progress import progress_bar
from ..study import Setup

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


def load(path: Path, contexts: int, references: int, candidates: int = 0) -> list[rc.Context]:
    """The contexts of a file that have as many texts as a study needs; at least `contexts` of them."""
    listed = rc.read_contexts(str(path), candidates="candidates" if candidates else "references")
    usable = [each for each in listed if len(each.references) >= references and len(each.candidates) >= candidates]
    if len(usable) < contexts:
        what = f"at least {references} references" + (f" and {candidates} candidates" if candidates else "")
        raise rc.InputError(f"{path} has {len(usable)} contexts with {what}; the study needs {contexts}")
    return usable


class Scoring:
    """Metrics of contexts with one table of document frequencies and one encoder, which learn from all references at
    once: no number depends on who shares a chunk."""

    def __init__(self, setup: Setup, names: Sequence[str], corpus: Sequence[Sequence[str]]) -> None:
        self.names = tuple(names)
        self._seed = setup.seed
        bases = {name.removeprefix("trm-").removesuffix("-mean") for name in names}
        self._pairwise = [name for name in rc.list_pairwise() if name in bases]
        self._options = {}
        if "cider" in self._pairwise:
            self._options["cider"] = {"df": rc.DocumentFrequencies.from_references(corpus)}
        self.encoder: RememberingEncoder | None = None
        if "embedding" in bases or bases - set(self._pairwise):
            self.encoder = RememberingEncoder(setup, (text for references in corpus for text in references))

    def prepare(self, groups: Iterable[Sequence[str]]) -> None:
        """Encode the texts of these groups together, where there is something to encode for."""
        if self.encoder is not None:
            self.encoder.remember(text for group in groups for text in group)

    def scores(
        self, references: Sequence[Sequence[str]], candidates: Sequence[Sequence[str]], pvalue: bool = True
    ) -> list[Mapping[str, Mapping[str, Any]]]:
        """Of every context the numbers of every metric that it is large enough for."""
        contexts = [
            rc.Context(str(at), tuple(known), tuple(given))
            for at, (known, given) in enumerate(zip(references, candidates, strict=True))
        ]
        evaluated = rc.evaluate_contexts(
            contexts, self.names, pvalue=pvalue, encoder=self.encoder, options=self._options, seed=self._seed,
            resume=False,
        )  # fmt: skip
        return [record["scores"] for record in evaluated.contexts]

    def alone(self, groups: Iterable[Sequence[str]]) -> dict[str, list[float]]:
        """p-values of MMD and Fréchet, of those asked for, where each group's last text is the only candidate."""
        assert self.encoder is not None
        found = [of_one_candidate(self.encoder.encode_batch(list(group))) for group in groups]
        return {name: [each[name] for each in found] for name in ("mmd", "frechet") if name in self.names}

    def squares(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Scores of texts against each other, by pairwise metric."""
        return {name: rc.pairwise_scores(texts, texts, name, **self._options.get(name, {})) for name in self._pairwise}

    def on_squares(
        self, squares: Mapping[str, np.ndarray], texts: Sequence[str], references: int, cells: Sequence[Sequence[int]]
    ) -> dict[str, list[float]]:
        """By metric (of those on pairwise scores) the value of every cell: positions in texts, the first references."""
        values: dict[str, list[float]] = {name: [] for name in self.names}
        for cell in cells:
            at = np.asarray(cell)
            chosen = [texts[i] for i in cell]
            sides = chosen[:references], chosen[references:]
            for name in self.names:
                base = name.removeprefix("trm-").removesuffix("-mean")
                square = squares[base][at[:, None], at]
                if name.startswith("trm-"):
                    result = rc.triangle_rank(*sides, distances(base, square))
                else:
                    rule: Any = "mean" if name.endswith("-mean") else None
                    result = rc.aggregate(*sides, base, rule, scores=square)
                values[name].append(float(result.value))
        return values


def distances(name: str, square: np.ndarray) -> np.ndarray:
    """Distances from a pairwise metric's scores, 0 between a text and itself."""
    made: np.ndarray = np.maximum(rc.list_pairwise()[name].distance(square), 0.0)
    np.fill_diagonal(made, 0.0)
    return made


class Case(NamedTuple):
    """Which texts of a group are compared: positions, the first of them references."""

    texts: Sequence[int]
    references: int

    def sides(self, groups: Iterable[Sequence[str]]) -> tuple[list[list[str]], list[list[str]]]:
        """References and candidates of every group."""
        chosen = [[group[at] for at in self.texts] for group in groups]
        return [texts[: self.references] for texts in chosen], [texts[self.references :] for texts in chosen]


def of_one_candidate(vectors: np.ndarray) -> dict[str, float]:
    """Exact p-values of MMD and of the Fréchet distance where the last row is the only candidate.

    Their usual forms divide by the number of candidates less one. What is defined for one: MMD's biased form, and the
    Fréchet distance of a Gaussian that is a point, that is with covariance 0.
    """
    rows = np.asarray(vectors, np.float64)
    count = len(rows) - 1
    squared = np.square(rows[:, None] - rows).sum(axis=2)
    apart = np.sqrt(squared[np.triu_indices(count + 1, 1)])
    # Half the median distance, as recapture's MMD has it; of those above 0 where it is 0.
    width = (np.median(apart) or np.median(apart[apart > 0] if apart.any() else [2.0])) / 2
    kernel = np.exp(-squared / (2 * width**2))
    across = kernel.sum(axis=0) - 1
    within = kernel.sum() - 2 * across - 1
    rest = (rows.sum(axis=0) - rows) / count
    spread = (np.square(rows).sum() - np.square(rows).sum(axis=1) - count * np.square(rest).sum(axis=1)) / (count - 1)
    by_text = {
        "mmd": within / count**2 + 1 - 2 * across / count,
        "frechet": np.square(rest - rows).sum(axis=1) + spread,
    }
    return {
        name: float(np.mean(values >= values[-1] - 1e-9 * max(1e-9, float(np.abs(values).max()))))
        for name, values in by_text.items()
    }


Kept = dict[str, dict[str, np.ndarray]]
"""By metric: `value`, `p` and `smallest` of every context."""
NUMBERS = {"value": "value", "p": "pvalue", "smallest": "smallest_pvalue"}
"""What they are called in the records of contexts."""


def kept_tests(
    steps: rc.Journal, label: str, scoring: Scoring, groups: Sequence[Sequence[str]], cases: Mapping[str, Case]
) -> dict[str, Kept]:
    """By case, every metric's numbers of every group; what an earlier run has made is not made again."""
    by_case: dict[str, dict[str, dict[str, list[float]]]] = {case: {} for case in cases}
    with progress_bar(label, len(groups), "context") as progress:
        for start in range(0, len(groups), _CHUNK):
            chunk = groups[start : start + _CHUNK]

            def make(chunk: Sequence[Sequence[str]] = chunk) -> dict[str, Any]:
                scoring.prepare(chunk)
                return {
                    case: numbers_by_metric(scoring.scores(*texts.sides(chunk)), NUMBERS)
                    for case, texts in cases.items()
                }

            for case, numbers_of in steps.get(f"{label} {start}", make).items():
                for name, numbers in numbers_of.items():
                    for number, values in numbers.items():
                        by_case[case].setdefault(name, {}).setdefault(number, []).extend(values)
            progress.advance(len(chunk))
    return {
        case: {name: {number: np.array(values) for number, values in numbers.items()} for name, numbers in each.items()}
        for case, each in by_case.items()
    }


def numbers_by_metric(
    scores: Sequence[Mapping[str, Mapping[str, Any]]], numbers: Mapping[str, str]
) -> dict[str, dict[str, list[float]]]:
    """Numbers of every context by metric, under names of our own."""
    return {
        name: {number: [context[name][there] for context in scores] for number, there in numbers.items()}
        for name in scores[0]
    }
