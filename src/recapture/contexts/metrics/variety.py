"""How varied each side is by itself, without looking at the other: self-BLEU and distinct n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...declarations import Output
from ...similarity.diversity import distinct_n, self_bleu
from ..declaration import OF_EACH_SIDE, SIDES, Batch, ContextMetric, Settings
from ..uncertainty import Asked, ContextScores


def _of_each_side(
    name: str,
    title: str,
    least: tuple[int, int],
    measure: Callable[[Sequence[str]], Any],
    libraries: tuple[str, ...],
) -> ContextMetric:
    def score(batch: Batch, _: Settings, __: Asked) -> list[ContextScores]:
        n = batch.references
        return [
            ContextScores({"reference": measure(texts[:n]), "candidate": measure(texts[n:])}) for texts in batch.texts
        ]

    outputs = tuple(Output(side, f"of the {side}s") for side in SIDES)
    return ContextMetric(
        name=name,
        title=title,
        direction=None,
        outputs=outputs,
        score=score,
        least=least,
        varies_with_size=True,
        no_pvalue=OF_EACH_SIDE,
        libraries=libraries,
    )


def _distinct(order: int) -> ContextMetric:
    def measure(texts: Sequence[str]) -> float | None:
        return distinct_n(texts, (order,))[order]

    title = f"share of a side's {order}-grams that are different"
    return _of_each_side(f"distinct-{order}", title, (2, 1), measure, ("numpy",))


METRIC = (
    _of_each_side(
        "self-bleu",
        "BLEU of each text against the others of its side: high means alike",
        (2, 2),
        self_bleu,
        ("sacrebleu",),
    ),
    _distinct(1),
    _distinct(2),
)
