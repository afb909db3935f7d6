"""All distances among the texts of one context, from a name, a function or a ready matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import numbers_of, plain_value
from ..declarations import function_name
from ..errors import InputError, shown
from ..similarity.scorer import Scorer, Similarity
from ..texts.objects import samples_of, texts_of_object
from .pairwise import PAIRWISE

_SELF = 1e-6
"""Farthest a text may be from itself, for a function that claims to be a distance."""

NO_SCORE = "a text without words has no score"
"""Where a metric has no bound, nothing says how far such a text is from others."""

Distance = str | ArrayLike | Callable[[str, str], float]
"""A name, a square matrix with references first, or a function d(hypothesis, reference)."""


class Square(NamedTuple):
    """Distances of all texts of a context, references first: [i, j] with i as hypothesis and j as reference."""

    distances: np.ndarray
    name: str
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


def square(
    references: Sequence[Any], candidates: Sequence[Any], distance: Distance, options: Mapping[str, Any] | None = None
) -> Square:
    """options: for a distance by name, such as df= for cider, encoder= for embedding, measure= for infolm."""
    if isinstance(distance, str):
        declared = PAIRWISE.find(distance)
        texts = check_texts(references, candidates)
        scorer = scorer_for(declared, references, options or {})
        return Square(
            as_distances(declared, one_square(declared, scorer, texts)),
            declared.name,
            scorer.settings,
            tuple(scorer.warnings(texts)),
        )
    if options:
        raise InputError(f"{next(iter(options))} goes with a distance chosen by name")
    if callable(distance):
        texts = check_texts(references, candidates)
        return Square(_called(distance, texts), function_name(distance), {})
    return Square(_given(distance, len(references), len(candidates)), "given", {})


def scorer_for(declared: Similarity, references: Sequence[str], options: Mapping[str, Any]) -> Scorer:
    """The metric made ready; what learns from texts learns from the references alone."""
    if declared.reference_options is not None:
        options = declared.reference_options(references, options)
    return declared.scorer(**options)


def one_square(declared: Similarity, scorer: Scorer, texts: Sequence[str]) -> np.ndarray:
    """The scores of one context's texts against each other; refused where some cannot be compared."""
    square = scorer.squares([texts])[0]
    if np.isnan(square).any():
        raise InputError(f"{NO_SCORE} by {declared.name} with these options: leave such texts out")
    return square


def as_distances(declared: Similarity, scores: np.ndarray) -> np.ndarray:
    """Distances from a pairwise metric's scores; rounding below 0 is cut off and the diagonal is 0."""
    distances: np.ndarray = np.maximum(declared.distance(np.asarray(scores, dtype=np.float64)), 0.0)
    diagonal = np.arange(distances.shape[-1])
    distances[..., diagonal, diagonal] = 0
    return distances


def check_texts(references: Sequence[Any], candidates: Sequence[Any]) -> list[str]:
    """Both sides as one list of texts."""
    sides = (("references", references), ("candidates", candidates))
    return [text for side, texts in sides for text in texts_of_object(texts, side)]


def both_sides(references: Any, candidates: Any, least: int = 2) -> tuple[Any, Any]:
    """References and candidates of one context as lists, whatever held them; refused where they are too few."""
    references, candidates = samples_of(references, "references"), samples_of(candidates, "candidates")
    for side, texts in (("references", references), ("candidates", candidates)):
        if not isinstance(texts, Sized) or getattr(texts, "ndim", 1) == 0:  # beside a matrix only lengths matter
            raise InputError(f"{side} must be a list of texts, not {shown(texts)}")
    if not len(candidates):
        raise InputError("there are no candidates")
    if len(references) < least:
        needed = "a reference is" if least == 1 else f"{least} references are"
        raise InputError(f"{needed} needed, but there {'is 1' if len(references) == 1 else 'are none'}")
    return references, candidates


def _called(distance: Callable[[str, str], float], texts: list[str]) -> np.ndarray:
    answers = [[plain_value(distance(text, other), "a distance") for other in texts] for text in texts]
    distances = numbers_of(answers, "what the distance function returns", "one number for two texts")
    if distances.ndim != 2:
        raise InputError(f"the distance function must return one number for two texts, not {shown(answers[0][0])}")
    _check(distances)
    far = np.flatnonzero(np.diagonal(distances) > _SELF)
    if len(far):
        raise InputError(f"the distance of text {far[0]} from itself is {distances[far[0], far[0]]:g}; it must be 0")
    np.fill_diagonal(distances, 0)
    return distances


def _given(distance: Any, n: int, m: int) -> np.ndarray:
    what = "a name, a function of two texts or a square matrix of real numbers"
    matrix = numbers_of(distance, "a distance", what).copy()
    if not matrix.ndim:
        raise InputError(f"a distance must be {what}, not {type(distance).__name__}")
    if matrix.shape != (n + m, n + m):
        raise InputError(
            f"the matrix has shape {matrix.shape}, but {n} references and {m} candidates need {n + m} x {n + m}"
        )
    _check(matrix)
    np.fill_diagonal(matrix, 0)
    return matrix


def _check(distances: np.ndarray) -> None:
    wrong = np.argwhere(~(np.isfinite(distances) & (distances >= 0)))
    if len(wrong):
        i, j = wrong[0]
        raise InputError(
            f"the distance of texts {i} and {j} is {distances[i, j]:g}: distances are finite and at least 0"
        )
