"""What a metric of two sets declares about itself.

A metric is one file of `metrics/`. It declares `METRIC = SetMetric(...)` and has a public function of the file's name
that ends in `evaluate.measure(METRIC, reference, candidate, ...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..declarations import INFINITY, Declaration, Direction, Output, Registry, number_label
from ..geometry.labels import Labels

if TYPE_CHECKING:
    from ..geometry.points import PointSet
    from .pair import Pair

__all__ = [
    "ASPECTS",
    "INFINITY",
    "METRICS",
    "ROWS",
    "CurveOf",
    "Exchanged",
    "Measurement",
    "Output",
    "Relabelled",
    "SetMetric",
    "list_metrics",
    "notices",
    "row_name",
]

Relabelled = Callable[[Labels], Mapping[str, np.ndarray]]
"""What `SetMetric.relabel` prepares: from a batch of labellings to one number per labelling, by output."""

Exchanged = Callable[[np.ndarray], Mapping[str, np.ndarray]]
"""What `SetMetric.exchange` prepares: (labellings, candidates) which half of the candidates is the first system's, the
others are the second's -> by output, the first system's number less the second's."""


class CurveOf(NamedTuple):
    """A curve among a metric's arrays, as pages draw it."""

    title: str
    across: str
    """The array across, and the array up."""
    up: str
    x: str
    """What the axes are called."""
    y: str


@dataclass(frozen=True)
class Measurement:
    """What a metric's function returns: numbers, and what stands behind them."""

    values: Mapping[str, float]
    details: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    """One entry per sample."""
    curves: Mapping[str, Any] = field(default_factory=dict)
    """Arrays that belong to no sample."""
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Choices made on the way that belong in the signature."""


@dataclass(frozen=True, kw_only=True)
class SetMetric(Declaration):
    """A declaration, read by the Python functions, the command line, the docs and the shared tests."""

    direction: Direction
    outputs: tuple[Output, ...]
    measure: Callable[..., Measurement]
    """(pair, **parameters) -> Measurement"""
    swapped: Mapping[str, str] = field(default_factory=dict)
    """Which output each output becomes when reference and candidate change places, where there is such a rule."""
    relabel: Callable[..., Relabelled] | None = None
    """(pair, **parameters) -> the metric's numbers under any labellings of the pooled samples; with it the metric has
    p-values and intervals."""
    exchange: Callable[..., Exchanged] | None = None
    """(pair, **parameters) -> differences of two systems, equally many candidates each, under labellings that exchange
    these alone: what `relabel` gives for both, subtracted. For metrics that find it at less cost."""
    rounding: Callable[[Pair], float] = lambda pair: 1e-14
    """How far rounding alone may move a number: differences below say nothing in a test."""
    needs: str = "vectors"
    least_samples: int = 2
    """Fewest samples a side must have."""
    depends_on_pool: bool = False
    """Whether `relabel` prepares something (clusters) that other pooled samples would change: parts of sets are then
    measured one by one."""
    settle: Callable[[PointSet, Mapping[str, Any]], Mapping[str, Any]] | None = None
    """(reference, parameters) -> parameters that all parts of sets share, where each pair would choose its own."""
    costly_labellings: bool = False
    """Whether thousands of labellings take minutes: systems are then compared by half-samples alone, unless asked."""
    drawn: tuple[CurveOf, ...] = ()
    """Curves among its arrays."""
    band_note: str = ""
    """What a reader must know of this metric's human band."""
    ranges: Callable[[Mapping[str, Any]], Mapping[str, tuple[float, float]]] = lambda parameters: {}
    """(parameters) -> ranges of outputs, where they are not the declared ones."""
    no_interval: Callable[[Mapping[str, Any]], str] = lambda parameters: ""
    """(parameters) -> why half-samples say nothing of the whole sets' number; empty where they do."""
    moves_with_size: Callable[[Mapping[str, Any]], bool] = lambda parameters: True
    """(parameters) -> whether its numbers are others, on average, for sets of another size."""
    floors: Callable[..., Mapping[str, float]] | None = None
    """(n, m, **parameters) -> the scores of two sets of these sizes that never meet, by output."""

    def ranges_for(self, parameters: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
        """Of every output."""
        return {output.name: output.range for output in self.outputs} | dict(self.ranges(parameters))

    @property
    def uses_neighbours(self) -> bool:
        return "k" in self.defaults


METRICS = Registry(SetMetric, f"{__package__}.metrics")

ROWS = ("mauve.value", "frechet", "mmd")
"""The numbers that tables show unless metrics are named or all are asked for: METRIC.NUMBER, or METRIC where it has one
number alone. Chosen by the study `power`; nowhere else are they listed."""

ASPECTS = ("precision-recall.precision", "precision-recall.recall")
"""The numbers by which verdicts speak of fidelity and variety beside those rows, which mix both: of the cheap pairs the
one that notices foreign texts and missing topics best (study `power`)."""

_BESIDE = ("mark-evaluate",)
"""What a comparison measures as well: the estimators that this library is about."""


def usual_metrics() -> list[str]:
    """What is compared unless metrics are named."""
    wanted = {row.partition(".")[0] for row in (*ROWS, *ASPECTS, *_BESIDE)}
    return [name for name in METRICS.all() if name in wanted]


def row_name(metric: str, number: str) -> str:
    """As `number_label`, by the declaration of the metric."""
    declared = METRICS.all().get(metric)
    numbers = (1 if number == "value" else 2) if declared is None else len(declared.outputs)
    return number_label(metric, number, numbers)


def notices(row: str) -> str:
    """What moves a number of this name, in plain words; "" where nothing is declared."""
    metric, _, number = row.partition(".")
    declared = METRICS.all().get(metric)
    outputs = () if declared is None else declared.outputs
    return next((output.notices for output in outputs if output.name == (number or outputs[0].name)), "")


def list_metrics() -> dict[str, SetMetric]:
    """The declarations of all metrics of two sets, by name.

    Returns
    -------
    dict
        Name to declaration: title, outputs with their ranges, direction, defaults, citation.

    Examples
    --------
    >>> import recapture as rc
    >>> [output.name for output in rc.list_metrics()["precision-recall"].outputs]
    ['precision', 'recall']
    """
    return METRICS.all()
