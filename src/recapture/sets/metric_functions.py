"""The public functions of single metrics of two sets: their options, their docstrings, and the one call behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from ..checks import check_flag, check_level, check_seed, plain_arguments
from ..declarations import fill_docstring
from ..geometry.devices import on_device
from ..geometry.points import PointSet
from ..labellings.plans import Pvalue, check_pvalue
from ..report.result import Result
from ..representations.vectors import vectors_of
from .balance import check_balance
from .declaration import SetMetric
from .evaluate import Job, asked, check_splits, measure_pair
from .grouping import Labelled, SetGroups, Sized
from .pair import Pair, check_reach

if TYPE_CHECKING:
    from ..representations.encoder import EncoderLike
    from ..representations.vectors import SampleSet

Function = TypeVar("Function", bound=Callable[..., Any])


class PairOptions(TypedDict, total=False):
    """What the function of every metric takes beside its own parameters; `_OPTIONS` below says what each means."""

    balance: bool | int
    interval: float | None
    pvalue: Pvalue
    ceiling: bool | int
    seed: int
    reference_groups: Labelled | None
    candidate_groups: Labelled | None
    paired: bool
    device: str | None


class Options(PairOptions, total=False):
    encoder: EncoderLike | None


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "balance": check_balance,
    "ceiling": check_splits,
    "interval": check_level,
    "pvalue": check_pvalue,
    "seed": check_seed,
}
"""Of the options that are numbers."""


def measure(
    metric: SetMetric, reference: SampleSet, candidate: SampleSet, encoder: EncoderLike | None = None, **parameters: Any
) -> Result:
    """Run one metric on arrays or texts, reference first. Every metric's public function is a call of this.

    parameters: the options of `PairOptions`, and the metric's own.
    """
    options = {name: parameters.pop(name) for name in PairOptions.__annotations__ if name in parameters}
    own = metric.checked(parameters)
    made = make_pair(reference, candidate, encoder, options)
    job = Job(metric, {name: own[name] for name in parameters})
    return measure_pair([job], made.pair, made.identity, notes=made.notes, **made.options)[0]


_OPTIONS = """
    - balance (bool or int, default False): where the sets differ in size, average over that many subsamples of
      equal size (True: 10).
    - interval (float, default None): a level such as 0.95; adds `.intervals`.
    - pvalue (bool, int, "exact" or "sampled", default False): test whether both sets come from one distribution, by
      relabelling; adds `.pvalues`, `.adjusted_pvalues` and `.nulls`. True: all relabellings where there are at most
      200,000, else 999 random ones. A number: that many, or all where there are no more. "exact": all, "sampled": 999
      random ones.
    - ceiling (bool or int, default False): what human texts score in the candidate's place, over that many splits of
      the reference (True: 40); adds `.human`, `.at_human_size` and `.inside`.
    - reference_groups, candidate_groups (sequence of str or int, default None): one label a sample; samples of one
      group (document, prompt, author) are not independent and move together.
    - paired (bool, default False): whether sample i of both sides answers one prompt; labels swap within it.
    - seed (int, default 0): for all that is drawn at random.
    - device (str, default None): "auto" (or None), "cpu", "cuda" or "cuda:1": what encodes texts and measures
      large sets; counts are the same everywhere, real numbers within 1e-9.
"""
_DOCSTRING_PARTS = {
    "sides": """
reference : list of str or array of shape (samples, dimensions)
    The reference set: texts, or ready vectors.
candidate : list of str or array of shape (samples, dimensions)
    The candidate set, in the same form.
""",
    "options": f"""
**options
    What all metrics of two sets take; everything is optional:
{_OPTIONS}    - encoder (str, path, callable or Encoder, default None): what turns texts into vectors; see `encode`.
""",
    "pair_options": f"""
**options
    As for `mark_evaluate`; everything is optional:
{_OPTIONS}""",
}
"""What the docstrings of all metrics of two sets say alike."""


def set_function(function: Function) -> Function:
    """The public function of a metric of two sets: plain numbers, and the parts of the docstring that all share."""
    fill_docstring(function, _DOCSTRING_PARTS)
    return on_device(plain_arguments(function))


class MadePair(NamedTuple):
    """Two sets ready to be measured."""

    pair: Pair
    identity: dict[str, Any] | None
    """What encoded them; None for arrays that came ready."""
    notes: list[str]
    """On their texts."""
    options: dict[str, Any]
    """For `measure_pair`."""


def make_pair(
    reference: SampleSet, candidate: SampleSet, encoder: EncoderLike | None, options: Mapping[str, Any]
) -> MadePair:
    """Both sides as checked arrays. options: those of `PairOptions` that the caller gave."""
    rest = dict(options)
    paired, of_reference, of_candidate = (
        rest.pop(name, None) for name in ("paired", "reference_groups", "candidate_groups")
    )
    check_flag("paired", paired)
    rest |= {name: check(rest[name]) for name, check in _CHECKS.items() if name in rest}  # before texts are encoded
    blind = bool(rest.get("ceiling") or rest.get("interval") or asked(rest.get("pvalue")))
    device = rest.pop("device", None)
    encoding = {} if device is None else {"device": device}
    vectors = vectors_of([reference, candidate], ["reference", "candidate"], encoder, blind=blind, **encoding)
    pair = Pair(PointSet(vectors.sets[0], "reference"), PointSet(vectors.sets[1], "candidate"))
    check_reach(pair.reference, pair.candidate)
    sized = [Sized(points.name, len(points)) for points in (pair.reference, pair.candidate)]
    groups = SetGroups(bool(paired), sized[0], of_reference)
    groups.add({"candidate": sized[1]}, of_candidate)
    notes = [note for notes in vectors.notes for note in notes]
    pooled = groups.by_content(pair.reference, None, {"candidate": pair.candidate}).pooled
    return MadePair(pair, vectors.identity, notes, {**rest, "groups": pooled.get("candidate")})
