"""Every parameter of the public functions that takes a number, found by introspection, with a call around each.

A new function or metric is found by itself; where one has a parameter that must be given and that is not known here,
`doors` says so, and `GIVEN` needs one more line.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc
from recapture.contexts.declaration import METRICS as OF_CONTEXTS
from recapture.contexts.pairwise import PAIRWISE
from recapture.declarations import Declaration, Registry
from recapture.errors import InputError
from recapture.pairs.declaration import METRICS as OF_PAIRS
from recapture.sets.declaration import METRICS as OF_SETS
from recapture.sets.metric_functions import PairOptions

ROWS = 70
"""Twice as many do not fit into 8 bits."""
_RANDOM = np.random.default_rng(13)
REFERENCE, CANDIDATE = _RANDOM.standard_normal((2, ROWS, 2)).round(2)
TEXTS = ["the cat sat on the mat", "a dog ran under the tree", "the old bird sang"]
OTHERS = ["the cat sat near the mat", "a small dog ran", "the bird slept"]
SCORES, OTHER_SCORES, RATINGS = _RANDOM.integers(0, 9, (3, 4, 5)).astype(float)
CONTEXTS = [{"id": "1", "references": TEXTS, "candidates": OTHERS}]
NGRAMS = {("the",): 2, ("the", "cat"): 1}

_KEPT = tempfile.TemporaryDirectory(prefix="recapture-doors-")
"""Files that some functions read or write; removed when Python ends."""
SAVED = [Path(_KEPT.name, f"{name}.json") for name in ("one", "two")]
for _path, _texts in zip(SAVED, (TEXTS, OTHERS), strict=True):
    _path.write_text(rc.evaluate_pairs(TEXTS, {_path.stem: _texts}, "chrf,rouge").to_json(arrays=True))


VECTORS = [Path(_KEPT.name, f"{name}.npy") for name in ("human", "model")]
for _path, _rows in zip(VECTORS, (REFERENCE, CANDIDATE), strict=True):
    np.save(_path, _rows)
FILES_OF_TEXTS = [Path(_KEPT.name, f"{name}.txt") for name in ("human", "model")]
for _path, _texts in zip(FILES_OF_TEXTS, (TEXTS * 2, OTHERS * 2), strict=True):
    _path.write_text("\n".join(_texts) + "\n")
PLANNED = Path(_KEPT.name, "planned")
rc.make_plan(*VECTORS, PLANNED, parts=3)
rc.run_plan(PLANNED)


class NewFolder:
    """Another one whenever somebody asks: a folder has one plan alone."""

    made = 0

    def __fspath__(self) -> str:
        NewFolder.made += 1
        return f"{_KEPT.name}/plan {NewFolder.made}"


def lengths(texts: list[str]) -> np.ndarray:
    """An encoder that learns nothing."""
    return np.array([[len(text), text.count("a")] for text in texts], float)


NUMBER = re.compile(r"\b(int|float|Pvalue)\b")
GIVEN: dict[str, Any] = {
    "reference": REFERENCE,
    "candidate": CANDIDATE,
    "references": TEXTS,
    "candidates": OTHERS,
    "contexts": CONTEXTS,
    "texts": TEXTS,
    "text": TEXTS[0],
    "hypotheses": OTHERS,
    "metric": SCORES,
    "first": SCORES,
    "second": OTHER_SCORES,
    "human": RATINGS,
    "metric_scores": {"bleu": SCORES, "chrf": OTHER_SCORES},
    "human_scores": RATINGS,
    "scores": SCORES,
    "scores_by_setting": {"one": SCORES, "two": OTHER_SCORES},
    "metrics": {"bleu": SCORES, "chrf": OTHER_SCORES},
    "pvalues": [0.02, 0.5],
    "counts": NGRAMS,
    "groups": [TEXTS],
    "statistic": lambda one, other: float(abs(len(one) - len(other)) + ("cat" in str(one))),
}
"""What required parameters get, by their names."""
OWN: dict[str, dict[str, Any]] = {
    "evaluate": {"references": REFERENCE, "candidates": CANDIDATE, "metrics": "mark-evaluate", "ceiling": False},
    "evaluate_pairs": {"metrics": "chrf"},
    "diagnose": {"level": 0.5},
    "evaluate_contexts": {"metrics": "rouge-l", "resume": False},
    "compare": {"systems": {"a": CANDIDATE, "b": REFERENCE[::-1]}, "metrics": "density-coverage", "ceiling": False},
    "compare_pairs": {"systems": {"a": TEXTS, "b": OTHERS}, "metrics": "chrf"},
    "compare_contexts": {
        "references": [TEXTS, OTHERS],
        "systems": {"a": [TEXTS, TEXTS], "b": [OTHERS, TEXTS]},
        "metrics": "rouge-l",
        "resume": False,
    },
    "compare_saved": {"paths": SAVED},
    "save_baseline": {"path": f"{_KEPT.name}/kept.safetensors", "system": CANDIDATE, "metrics": "density-coverage"},
    "aggregate": {"metric": "rouge-l"},
    "triangle_rank": {"distance": "rouge-l"},
    "encode": {"encoder": "bag-of-words", "cache": False},
    "kendall_tau": {"metric": SCORES[0], "human": RATINGS[0]},
    "correlation": {"human": RATINGS[0]},
    "score_distributions": {"metric": SCORES[0], "human": RATINGS[0], "threshold": 4},
    "tie_calibration": {"metric": SCORES, "human": RATINGS},
    "compare_metrics": {"directions": "higher"},
    "correlate": {"directions": "higher", "interval": 0.5, "tests": "permutation"},
    "williams_test": {"r12": 0.5, "r13": 0.25, "r23": 0.5, "n": 50},
    "mark_evaluate_sweep": {"ks": 2},
    "distinct_n": {"n": 2},
    "DocumentFrequencies": {"documents": 100},
    "prd": {"clusterings": 1},
    "mauve": {"clusterings": 1},
    "infolm": {"measure": "ab", "alpha": 0.5, "beta": 0.5, "cache": False},
    "evaluate_files": {"reference": VECTORS[0], "candidates": VECTORS[1], "storage": NewFolder()},
    "make_plan": {"reference": VECTORS[0], "candidate": VECTORS[1], "folder": NewFolder()},
    "run_plan": {"folder": PLANNED, "worker": 2, "workers": 3},
    "merge_plan": {"folder": PLANNED},
}
"""What single functions get beside."""
FITTING = {
    "interval": 0.5,
    "level": 0.5,
    "alpha": 0.5,
    "layer": 1,
    "layers": 2,
    "k": 2,
    "resamples": 20,
    "balance": 3,
    "pvalue": 20,
}
FITTING |= {
    "parts": 3,
    "ceiling": 3,
    "bandwidth": 100,
    "clusters": 5,
    "order": 3,
    "batch_tokens": 100,
    "folds": 2,
    "quantiles": 2,
}
FITTING |= {
    "clusterings": 2,
    "angles": 11,
    "batch_size": 2,
    "confidence": 0.5,
    "threshold": 4,
    "samples": 20,
    "seed": 100,
    "budget": 100,
}
"""Numbers that a parameter may have and that fit into 8 bits, where the default is none or would take long."""
ABOUT_RESULTS = {"Result", "Results", "Table", "ScoreMatrix", "Context", "InputError", "OptionError", "Journal"}
ABOUT_RESULTS |= {"Comparison", "Diagnosis", "Gate", "Page"}
"""Classes that are not made from a caller's parameters."""
ON_MODELS = {"bertscore", "infolm", "moverscore", "prd_words", "mark_evaluate_words", "precision_recall_words"}
NOT_HERE = {"model_info", "read", "read_contexts", "read_scores"}
"""Functions of files, which take no numbers: a number among their parameters would be found, and fail."""

_OF_TEXTS = {
    "diagnose": {"reference": TEXTS, "candidate": OTHERS},
    "compare": {"reference": TEXTS * 2, "systems": {"one": OTHERS * 2, "two": TEXTS * 2}, "metrics": "mmd"},
}


class Door(NamedTuple):
    """One parameter of one function."""

    name: str
    parameter: str
    base: Any
    """A number that it takes."""
    annotation: str
    call: Callable[[Any], Any]

    @property
    def takes_bool(self) -> bool:
        return "bool" in self.annotation or "Pvalue" in self.annotation


def doors(model: Path | None = None) -> list[Door]:
    """All of them; those of metrics that need a model only where one is given."""
    found: list[Door] = []
    for name in rc.__all__:
        thing = getattr(rc, name)
        if name in ABOUT_RESULTS or (name in ON_MODELS and model is None):
            continue
        found += _of_function(name, thing, model)
    found += _of_function("DocumentFrequencies.from_references", rc.DocumentFrequencies.from_references, model)
    return [*found, *_of_registries(model)]


def _of_function(name: str, function: Callable[..., Any], model: Path | None) -> Iterator[Door]:
    fixed: dict[str, Any] = {}
    numbers: dict[str, tuple[str, Any]] = {}
    for parameter in inspect.signature(function).parameters.values():
        told = str(parameter.annotation)
        required = parameter.default is parameter.empty and parameter.kind != parameter.VAR_KEYWORD
        if parameter.kind == parameter.VAR_KEYWORD:
            if name == "compare_metrics":
                numbers |= {"resamples": ("int", 1000), "seed": ("int", 0)}
            if "Options" in told:
                numbers |= {key: (_text(kind), None) for key, kind in PairOptions.__annotations__.items()}
        elif NUMBER.search(told) and not re.search(r"Mapping|Iterable\[float|ArrayLike", told):
            numbers[parameter.name] = told, parameter.default
        if required and name not in NOT_HERE:
            own = OWN.get(name, {})
            assert parameter.name in own or parameter.name in GIVEN, f"{name}: what to give for {parameter.name}?"
            fixed[parameter.name] = own.get(parameter.name, GIVEN.get(parameter.name))
    if name == "DocumentFrequencies.from_references":
        fixed["groups"] = [TEXTS]
    assert name not in NOT_HERE or not numbers, f"{name} takes numbers: {numbers}"
    fixed |= OWN.get(name, {})
    if name in ON_MODELS:
        fixed |= {("model" if name == "infolm" else "encoder"): model}
        fixed |= {"layers": 2} if "layers" in inspect.signature(function).parameters else {}
    for parameter_name, (told, default) in numbers.items():
        if not NUMBER.search(told):
            continue
        base = OWN.get(name, {}).get(parameter_name, FITTING.get(parameter_name, default))
        base = FITTING[parameter_name] if isinstance(base, bool) else base
        assert isinstance(base, (int, float)), f"{name}: which number fits {parameter_name}?"
        arguments = {key: value for key, value in fixed.items() if key != parameter_name}
        if parameter_name == "seed" and name in ("evaluate", *_set_functions()):
            arguments |= {"pvalue": 20}
        if parameter_name == "batch_size" and name == "save_baseline":
            arguments |= {"reference": TEXTS * 2, "system": OTHERS * 2, "encoder": lengths, "metrics": "mmd"}
        if parameter_name == "batch_size" and name.startswith(
            ("evaluate", "compare", "diagnose")
        ):  # of texts that are encoded
            arguments |= {"encoder": "bag-of-words", "cache": False}
            arguments |= _OF_TEXTS.get(name, {})
            arguments |= {"references": TEXTS, "candidates": OTHERS, "metrics": "frechet"} if name == "evaluate" else {}
            arguments |= {"metrics": "trm-embedding"} if name.endswith("_contexts") else {}
        if name == "make_plan" and parameter_name == "batch_size":  # of an encoder that does not learn
            if model is None:
                continue
            arguments |= {"reference": FILES_OF_TEXTS[0], "candidate": FILES_OF_TEXTS[1], "encoder": str(model)}
        if name.endswith("_contexts") and parameter_name == "batch_tokens":  # of models of word pieces
            if model is None:
                continue
            arguments |= {"metrics": "trm-bertscore", "encoder": str(model)}
        yield Door(name, parameter_name, base, told, _caller(function, arguments, parameter_name))


def _set_functions() -> set[str]:
    return {name.replace("-", "_") for name in OF_SETS.all()} | {"mark_evaluate_sweep"}


def _text(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__forward_arg__", str(kind))


def _caller(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> Callable[[Any], Any]:
    return lambda value: function(**arguments, **{name: value})


def _of_registries(model: Path | None) -> Iterator[Door]:
    """The numbers that metrics declare as their own parameters, by the functions that take them as options."""
    calls: list[tuple[Registry[Any], str, Callable[[Declaration, dict[str, Any]], Any]]] = [
        (OF_SETS, "evaluate", lambda metric, own: rc.evaluate(
            REFERENCE, CANDIDATE, metric.name, ceiling=False, options={metric.name: own})),
        (OF_PAIRS, "evaluate_pairs", lambda metric, own: rc.evaluate_pairs(
            TEXTS, OTHERS, metric.name, options={metric.name: own}, encoder=model, model=model, cache=False)),
        (PAIRWISE, "pairwise_scores", lambda metric, own: rc.pairwise_scores(
            TEXTS, OTHERS, metric.name, **_with_table(metric.name, model), **own)),
        (PAIRWISE, "evaluate_contexts", lambda metric, own: rc.evaluate_contexts(
            CONTEXTS, f"trm-{metric.name}", options={metric.name: {**_model_of(metric.name, model), **own}},
            resume=False, encoder="bag-of-words" if metric.on_vectors else None)),
    ]  # fmt: skip
    assert not any(metric.defaults for metric in OF_CONTEXTS.all().values()), "metrics of contexts have parameters now"
    for registry, how, call in calls:
        for metric in registry.all().values():
            if model is None and "torch" in metric.libraries:
                continue
            function = getattr(rc, metric.name.replace("-", "_").replace("me_words", "mark_evaluate_words"), None)
            told = inspect.signature(function).parameters if function is not None else {}
            for name, default in metric.defaults.items():
                annotation = str(told[name].annotation) if name in told else ""
                if isinstance(default, bool) or not (
                    isinstance(default, (int, float)) or (default is None and NUMBER.search(annotation))
                ):
                    continue
                base = FITTING.get(name, default)
                base = 0.5 if base is None else base
                given = _beside(metric, name)
                yield Door(
                    f"{how} {metric.name}",
                    name,
                    base,
                    annotation or "int | float",
                    _metric_caller(call, metric, given, name),
                )


def _beside(metric: Declaration, name: str) -> dict[str, Any]:
    beside: dict[str, Any] = {"measure": "ab", "alpha": 0.5, "beta": 0.5} if metric.name == "infolm" else {}
    beside |= {"layers": 2} if "layers" in metric.defaults else {}
    return {key: value for key, value in beside.items() if key != name}


def _with_table(name: str, model: Path | None) -> dict[str, Any]:
    if name == "cider":
        return {"df": rc.DocumentFrequencies.from_references([TEXTS, OTHERS])}
    if name in ON_MODELS:
        return {"idf": False, **_model_of(name, model)}
    return {"encoder": "bag-of-words"} if name == "embedding" else {}


def _model_of(name: str, model: Path | None) -> dict[str, Any]:
    """The options that name the model of a metric that needs one."""
    if name not in ON_MODELS:
        return {}
    return {"model": model, "cache": False} if name == "infolm" else {"encoder": model}


def _metric_caller(call: Any, metric: Declaration, given: dict[str, Any], name: str) -> Callable[[Any], Any]:
    return lambda value: call(metric, {**given, name: value})


def outcome(door: Door, value: Any) -> Any:
    """What comes out, in a form whose parts can be compared exactly; of a refusal, that it is one."""
    try:
        return canonical(door.call(value))
    except InputError:
        return "refused"


def canonical(value: Any) -> Any:
    """Nested lists of plain values, each beside its type: 1, 1.0 and NumPy's 1 are three different things."""
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), value.shape, [repr(each) for each in value.ravel().tolist()]]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            *([part.name, canonical(getattr(value, part.name))] for part in dataclasses.fields(value)),
        ]
    if isinstance(value, Mapping):
        return [type(value).__name__, *([repr(key), canonical(each)] for key, each in value.items())]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(canonical, value)]
    if isinstance(value, rc.DocumentFrequencies):
        return [value.documents, value.order, sorted(value.items())]
    return [type(value).__name__, repr(value)]


def every_parameter() -> dict[str, dict[str, Callable[[Any], Any]]]:
    """By function and parameter, numbers or not: a call with that one left open. Models are not needed for any."""
    functions = {name: getattr(rc, name) for name in rc.__all__ if name not in ABOUT_RESULTS | ON_MODELS}
    functions |= {"Journal": rc.Journal, "DocumentFrequencies.read": rc.DocumentFrequencies.read}
    functions |= {"DocumentFrequencies.from_references": rc.DocumentFrequencies.from_references}
    found: dict[str, dict[str, Callable[[Any], Any]]] = {}
    for function_name, function in functions.items():
        if not callable(function):
            continue
        parameters = inspect.signature(function).parameters.values()
        own = OWN.get(function_name, {})
        fixed = {"path": "there is none", "paths": "there is none", "encoder": "bag-of-words", **GIVEN, **own}
        open_ones = [each.name for each in parameters if each.kind != each.VAR_KEYWORD]
        if any("Options" in str(each.annotation) for each in parameters):
            open_ones += [*PairOptions.__annotations__]
        required = {each.name: fixed.get(each.name) for each in parameters if each.default is each.empty}
        required |= {key: value for key, value in own.items() if key in open_ones}
        required |= {"encoder": "bag-of-words"} if "encoder" in open_ones else {}
        required |= {"cache": False} if "cache" in open_ones else {}
        required = {key: value for key, value in required.items() if key in open_ones}
        found[function_name] = {
            name: _caller(function, {key: value for key, value in required.items() if key != name}, name)
            for name in open_ones
        }
    return found
