"""A gate for builds: which conditions of a comparison fail, in one sentence."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..errors import InputError, nearest_names, shown
from ..report.report import first_few, short, short_p
from .evidence import Loss

if TYPE_CHECKING:
    from ..report.result import Result
    from .comparison import Comparison
    from .saved_results import SavedSets

WORSE = "worse"
_CONDITION = re.compile(r"\s*(?P<number>.*?\S)\s*(?P<sign><=|>=|<|>)\s*(?P<limit>[^<>=\s]+)\s*", re.DOTALL)
_SIGNS: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "<": (operator.lt, "below"),
    "<=": (operator.le, "at most"),
    ">": (operator.gt, "above"),
    ">=": (operator.ge, "at least"),
}
_LISTED = 2
"""Numbers of one system that a sentence names."""


@dataclass(frozen=True)
class Gate:
    """Whether a comparison passes.

    Attributes
    ----------
    failed : bool
    sentence : str
        What failed, or that nothing did.
    worse : dict of str to dict of str to Loss
        The systems that are surely worse than the baseline, with the numbers that say so.
    beyond : dict of str to list of str
        By system, the conditions on its numbers that hold.
    """

    failed: bool
    sentence: str
    worse: Mapping[str, Mapping[str, Loss]]
    beyond: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Limit:
    """A condition on one number, such as diversity < 0.8."""

    number: str
    sign: str
    limit: float

    def __str__(self) -> str:
        return f"{self.number} {self.sign} {self.limit:g}"

    def named(self, numbers: Iterable[str]) -> Limit:
        """With the number's full name."""
        return Limit(full_name(self.number, numbers), self.sign, self.limit)

    def holds(self, value: float) -> bool:
        return _SIGNS[self.sign][0](value, self.limit)

    def said(self, value: float) -> str:
        return f"{self.number} {short(value)}, which is {_SIGNS[self.sign][1]} {self.limit:g}"


def conditions(given: Any, baseline: Any) -> tuple[bool, list[Limit]]:
    """Whether worse systems fail, and the limits; checked but for the names of numbers."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or isinstance(listed, (bytes, Mapping)):
        raise InputError(f"fail_if must be a condition or a list of them, not {shown(given)}")
    limits, worse = [], False
    for each in listed:
        if isinstance(each, str) and each.strip() == WORSE:
            worse = True
        else:
            limits.append(_limit(each))
    if not worse and not limits:
        raise InputError(f"there is no condition to fail on: say {WORSE!r}, or a limit such as 'diversity < 0.8'")
    if worse and baseline is None:
        raise InputError("worse than what? Name the baseline", options=["baseline"])
    return worse, limits


def _limit(given: Any) -> Limit:
    found = _CONDITION.fullmatch(given) if isinstance(given, str) else None
    try:
        value = float(found["limit"]) if found else math.nan
    except ValueError:
        value = math.nan
    if found is None or not math.isfinite(value):
        raise InputError(
            f"cannot read the condition {shown(given)}: it is {WORSE!r}, or the name of a number, one of <, <=, > and "
            ">=, and a limit, such as 'diversity < 0.8'"
        )
    return Limit(found["number"], found["sign"], value)


def full_name(name: str, numbers: Iterable[str]) -> str:
    """METRIC.NUMBER of a number by its full name, or by what follows the dot where one metric alone has it."""
    known = list(numbers)
    plain = name.removesuffix(".value")
    for each in (name, plain):
        if each in known:
            return each
    # Metrics with one number are known by their own name, and tables call that number value.
    found = [each for each in known if each.rpartition(".")[2] == name or (name == "value" and "." not in each)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{name!r} may be {' or '.join(found)}: write which")
    raise InputError(f"no number is called {shown(name)}; {nearest_names(name, {*known, *_short_names(known)})}")


def _short_names(known: Sequence[str]) -> list[str]:
    last = [each.rpartition(".")[2] for each in known]
    return [each for each in last if last.count(each) == 1]


def gate_of(compared: Comparison | SavedSets, fail_if: Any, baseline: str | None, tolerance: float) -> Gate:
    worse_fails, given = conditions(fail_if, baseline)
    limits = [each.named(compared.numbers) for each in given]
    for limit in limits:
        _check_reach(compared, limit)
    if baseline is not None:
        compared.check_system(baseline)
    systems = [name for name in compared.systems if name != baseline]
    parts: list[str] = []
    beyond: dict[str, list[str]] = {}
    worse: Mapping[str, Mapping[str, Loss]] = {}
    told = True
    if worse_fails:
        worse = compared.worse(str(baseline), tolerance)
        tested = cast("Comparison", compared)  # saved sets have refused
        told = tested.can_be_worse(str(baseline))
        for system, numbers in worse.items():
            by = _losses(numbers, tested.least_loss(str(baseline)), tested.deciding)
            parts.append(f"{system} is worse than {baseline} by {by}{_wins(tested, system, str(baseline))}")
    for system in systems:
        for limit in limits:
            value = compared.values[system][limit.number]
            if math.isnan(value):
                raise InputError(f"{system} has no {limit.number}, so that {str(limit)!r} cannot be told")
            if limit.holds(value):
                beyond.setdefault(system, []).append(str(limit))
                parts.append(f"{system} has {limit.said(value)}{_human(compared, limit.number)}")
    if parts:
        return Gate(True, f"failed: {'; '.join(parts)}", worse, beyond)
    passed = []
    if worse_fails:
        passed.append(f"none is surely worse than {baseline}" + ("" if told else " (too few items to call any worse)"))
    passed += ["no number is beyond its limit"] if limits else []
    return Gate(False, f"passed: {' and '.join(passed)}", worse, beyond)


def _check_reach(compared: Comparison | SavedSets, limit: Limit) -> None:
    """Refuse a limit beyond what a number can be, such as one meant for percents: it would always fail, or never."""
    reach = _range(compared, limit.number)
    if reach is None:
        return
    low, high = reach
    beyond = limit.limit > high or limit.limit < low
    if beyond or (limit.sign == "<" and limit.limit == low) or (limit.sign == ">" and limit.limit == high):
        always = limit.holds(low) and limit.holds(high)
        ends = f"from {low:g} to {high:g}" if math.isfinite(high) and math.isfinite(low) else f"never below {low:g}"
        how = "always" if always else "never"
        raise InputError(f"{limit.number} is {ends}: {str(limit)!r} {how} holds{_human(compared, limit.number)}")


def _range(compared: Comparison | SavedSets, number: str) -> tuple[float, float] | None:
    """The least and the most that a number can be, where its results say so."""
    return next((result.ranges[name] for result, name in _results_of(compared, number)), None)


def _human(compared: Comparison | SavedSets, number: str) -> str:
    """What people score, for whoever chooses a limit; "" where that was not measured."""
    known = (result.human[name].mean for result, name in _results_of(compared, number) if name in result.human)
    mean = next(known, None)
    return "" if mean is None else f" (people's parts, which are smaller, have {short(mean)})"


def _results_of(compared: Comparison | SavedSets, number: str) -> Iterator[tuple[Result, str]]:
    """The results that have a number, and what they call it."""
    metric, _, name = number.partition(".")
    for by_metric in compared.results.values():
        result = by_metric.get(metric) if isinstance(by_metric, Mapping) else None
        if result is not None and (len(result.ranges) == 1 or name in result.ranges):
            yield result, name if name in result.ranges else next(iter(result.ranges))


def _wins(compared: Comparison, system: str, baseline: str) -> str:
    """By what a worse system is better, for whoever has to weigh both."""
    won = compared.wins(system, baseline)
    return f", but closer to people by {first_few(won, _LISTED)}" if won else ""


def _losses(numbers: Mapping[str, Loss], least: float, shown: Sequence[str]) -> str:
    """The surest first, of those the ones that tables show; least: what no p-value from labellings is below."""
    order = sorted(numbers, key=lambda name: (max(least, numbers[name].adjusted), name not in shown))
    told = []
    for name in order:
        loss = numbers[name]
        halves = "" if math.isnan(loss.halves) else f", {loss.halves:.1f} half-widths of the human band"
        told.append(f"{name} ({short(loss.value)}{halves}, p {short_p(loss.adjusted, least)})")
    return first_few(told, _LISTED)
