"""Scores of every hypothesis against every reference, by any pairwise metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import plain_arguments
from ..texts.objects import texts_of_object
from .pairwise import PAIRWISE


@plain_arguments
def pairwise_scores(
    hypotheses: Sequence[str], references: Sequence[str], metric: str = "meteor", **options: Any
) -> np.ndarray:
    """The score of every hypothesis against every reference alone.

    Parameters
    ----------
    hypotheses, references : sequence of str
        Texts; the same list twice gives the square that `triangle_rank` (as distances) and `aggregate` take.
    metric : str
        A name of `list_pairwise`: meteor, cider, embedding, bertscore, ...
    **options
        The metric's own, such as df= for cider, encoder= for embedding, idf_from= for infolm.

    Returns
    -------
    numpy.ndarray
        (hypotheses, references), float64.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.pairwise_scores(["a cat sat", "a dog"], ["a cat sat"], "rouge-l").round(3).tolist()
    [[1.0], [0.4]]
    """
    same = hypotheses is references
    listed = texts_of_object(hypotheses, "hypotheses")
    scorer = PAIRWISE.find(metric).scorer(**options)
    if same:
        return scorer.squares([listed])[0]
    return scorer.cross(listed, texts_of_object(references, "references"))
