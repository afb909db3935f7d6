"""The one result type of all metrics."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Direction = Literal["higher", "lower"]
_ASIDE = ("intervals", "pvalues", "ceilings", "nulls")
"""What may stand beside a value; `.pvalue` reads `.pvalues` where there is one value."""


class Frozen(dict):
    """A dict that can be read, copied and pickled, but not changed."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("results are read-only; copy with dict(...) to change")

    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict]]:
        return Frozen, (dict(self),)


def freeze(value: Any) -> Any:
    """Mappings and arrays, all the way down, made read-only."""
    if isinstance(value, Mapping):
        return Frozen({key: freeze(inner) for key, inner in value.items()})
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


@dataclass(frozen=True, eq=False)
class Result:
    """Numbers of one metric, with all it takes to trust and to repeat them.

    Every entry of `values`, `details` and `arrays` can also be read as an attribute: `result.precision`.
    """

    metric: str
    """The metric's name in the registry."""
    values: Mapping[str, float]
    """The metric's numbers, in full precision."""
    direction: Direction
    """Which way is better, for all of `values`."""
    ranges: Mapping[str, tuple[float, float]]
    """Smallest and largest possible number, by name."""
    sizes: Mapping[str, int]
    """How many samples each side has: `reference`, `candidate`."""
    warnings: tuple[str, ...] = ()
    """Sentences that say where a number says little."""
    signature: Mapping[str, Any] = field(default_factory=Frozen)
    """How the numbers were made: metric, parameters, encoder and its revision, library versions."""
    details: Mapping[str, Any] = field(default_factory=Frozen)
    """Further numbers behind the values."""
    arrays: Mapping[str, np.ndarray] = field(default_factory=Frozen)
    """One entry per sample, or curves."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=Frozen)
    """Where each value may lie, at the level asked for."""
    pvalues: Mapping[str, float] = field(default_factory=Frozen)
    """Of "candidate and reference come from one distribution", by each value."""
    ceilings: Mapping[str, float] = field(default_factory=Frozen)
    """What one half of the reference scores against the other."""
    nulls: Mapping[str, np.ndarray] = field(default_factory=Frozen)
    """Each value under relabelled samples, the observed one first (of the whole sets, where values are balanced)."""
    inference: Mapping[str, Any] = field(default_factory=Frozen)
    """How intervals, p-values and ceilings were made, and the smallest p-value there could have been."""

    def __post_init__(self) -> None:
        for name in ("values", "ranges", "sizes", "signature", "details", "arrays", *_ASIDE, "inference"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    def __getattr__(self, name: str) -> Any:
        if f"{name}s" in _ASIDE:
            return self._only(name)
        if not name.startswith("_"):
            for store in ("values", "details", "arrays"):
                if name in self.__dict__.get(store, ()):
                    return self.__dict__[store][name]
        raise AttributeError(f"result of {self.__dict__.get('metric')} has no {name!r}; it has {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        for store in ("values", "details", "arrays"):
            yield from self.__dict__.get(store, ())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def _only(self, name: str) -> Any:
        """`.pvalue` for `.pvalues`, where there is one number, or one called `value`; None where not asked for."""
        known = self.__dict__.get(f"{name}s", {})
        numbers = self.__dict__.get("values", {})
        if len(numbers) > 1 and "value" not in numbers:
            raise AttributeError(f"{self.metric} has several numbers: see .{name}s, by {', '.join(numbers)}")
        return known.get("value" if "value" in numbers else next(iter(numbers), None))

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest number any of the values can take."""
        return min(low for low, _ in self.ranges.values()), max(high for _, high in self.ranges.values())

    def to_dict(self, arrays: bool = False) -> dict[str, Any]:
        """Plain Python types; per-sample flags and curves only on request."""
        names = ["metric", "values", "direction", "ranges", "sizes", "warnings", "signature", "details"]
        names += [name for name in (*_ASIDE, "inference") if name != "nulls" and getattr(self, name)]
        names += ["arrays", *(["nulls"] if self.nulls else [])] if arrays else []
        return {name: plain(getattr(self, name)) for name in names}

    def shown(self, name: str) -> str:
        """A value with its interval, p-value and ceiling, where they were asked for."""
        ceiling = f"(ceiling {short(self.ceilings[name])})" if name in self.ceilings else ""
        return " ".join(part for part in (short(self.values[name]), self.beside(name), ceiling) if part)

    def beside(self, name: str) -> str:
        """A value's interval and p-value, as they stand behind it in tables."""
        parts = []
        if name in self.intervals:
            parts.append("[" + ", ".join(map(short, self.intervals[name])) + "]")
        if name in self.pvalues:
            parts.append(f"p {short_p(self.pvalues[name])}")
        return " ".join(parts)

    def __str__(self) -> str:
        width = max(len(name) for name in self.values)
        arrow = "higher is better" if self.direction == "higher" else "lower is better"
        sizes = " v ".join(f"{count:,} {side}" for side, count in self.sizes.items())
        lines = [f"{self.metric} ({arrow}; {sizes})"]
        lines += [f"  {name:<{width}}  {self.shown(name)}" for name in self.values]
        lines += [f"  ! {warning}" for warning in self.warnings]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *_ = str(self).splitlines()
        rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{self.shown(name)}</td></tr>" for name in self.values)
        notes = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        notes = f"<ul>{notes}</ul>" if notes else ""
        return f"<table><caption>{html.escape(head)}</caption>{rows}</table>{notes}"


def short(value: float) -> str:
    """Four decimals for ordinary numbers, more digits rather than zeros for small ones."""
    if not math.isfinite(value):
        return str(value)
    if value != 0 and abs(value) < 0.001:
        return f"{value:.3g}"
    return f"{value:.4f}"


def short_p(value: float) -> str:
    """Two significant digits, and never a plain 0."""
    if value >= 1e-4:
        return f"{value:.2g}"
    return f"{value:.0e}" if value > 0 else "<1e-300"


def plain(value: Any) -> Any:
    """Only dict, list, str, int, float, bool and None."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value
