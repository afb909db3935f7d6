"""What a metric of any kind declares about itself, and the registries that find declarations.

A metric is one file of its folder: functions, and one declaration under the name `METRIC`. A `Registry` looks through a
folder's modules for such declarations, so adding the file is all it takes: Python functions, command line, docs and
shared tests read the declaration. Encoders and file formats are found in the same way.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Generic, Literal, TypeVar

from .errors import InputError, OptionError, nearest_names, shown
from .versions import VERSION

Direction = Literal["higher", "lower"]
INFINITY = float("inf")


@dataclass(frozen=True)
class Output:
    """One number of a metric."""

    name: str
    meaning: str
    range: tuple[float, float] = (0.0, 1.0)
    main: bool = True
    """Whether tables show it; what they leave out is in JSON and CSV."""
    aspect: Literal["", "fidelity", "variety"] = ""
    """One side of closeness: are candidates like references (fidelity), or are all kinds of references there?"""
    notices: str = ""
    """What moves it, in plain words: tables with few rows say this of each."""


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What metrics of sets, of pairs, of contexts and of two texts all say about themselves."""

    name: str
    title: str
    citation: str = ""
    direction: Direction | None
    """Which way is better; None where neither is."""
    outputs: tuple[Output, ...] | Callable[[Mapping[str, Any]], tuple[Output, ...]]
    """The metric's numbers, the main one first; or a function that knows them from the parameters."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The metric's own parameters and their default values."""
    order: int = 100
    """Place in tables and lists."""
    libraries: tuple[str, ...] = ("numpy",)
    """Packages whose version belongs in the signature."""

    def outputs_for(self, parameters: Mapping[str, Any]) -> tuple[Output, ...]:
        return self.outputs({**self.defaults, **parameters}) if callable(self.outputs) else self.outputs

    def checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, numbers made plain, defaults filled in; a name that the metric does not have is refused."""
        from .checks import plain_value

        for name in parameters:
            if name not in self.defaults:
                known = nearest_names(name, self.defaults) if self.defaults else "it has none"
                raise OptionError(f"{self.name} has no option {shown(name)}: {known}")
        return {**self.defaults, **{name: plain_value(value, name) for name, value in parameters.items()}}

    def signature(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """How a number of this metric was made: its name, the settings, and versions of all that took part."""
        versions = {"recapture": VERSION, **{name: installed_version(name) for name in self.libraries}}
        return {"metric": self.name, **settings, "versions": versions}


@cache  # looked up in files, by every result
def installed_version(package: str) -> str:
    """For signatures and cache keys."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def function_name(function: Callable[..., Any]) -> str:
    """A caller's function as signatures show it; what has no name of its own goes by its kind."""
    if isinstance(function, functools.partial):
        return f"partial of {function_name(function.func)}"
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def fill_docstring(function: Callable[..., Any], parts: Mapping[str, str]) -> None:
    """Put text that many docstrings share where they say `{name}` on a line of its own, as deep as that line."""

    def indented(place: re.Match[str]) -> str:
        return textwrap.indent(parts[place[2]].strip("\n"), place[1])

    if function.__doc__:  # none under python -OO
        function.__doc__ = re.sub(r"^( *)\{(\w+)\}$", indented, function.__doc__, flags=re.MULTILINE)


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


Kind = TypeVar("Kind")
Metric = TypeVar("Metric", bound=Declaration)


def declared(package: str, attribute: str, kind: type[Kind]) -> list[Kind]:
    """What the modules of a package declare under one name: a declaration, several, or a function that makes them."""
    declarations: list[Kind] = []
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        value = getattr(importlib.import_module(f"{package}.{module.name}"), attribute, ())
        if isinstance(value, kind):
            declarations.append(value)
            continue
        several = value() if callable(value) else value
        declarations += [one for one in several if isinstance(one, kind)]
    return declarations


class Registry(Generic[Metric]):
    """The metrics that the files of one folder declare, by name.

    what: how messages call such a metric; usual: names chosen where the caller names none (None: all).
    """

    def __init__(
        self, kind: type[Metric], package: str, what: str = "metric", usual: tuple[str, ...] | None = None
    ) -> None:
        self._kind, self._package, self._what, self.usual = kind, package, what, usual
        self._metrics: dict[str, Metric] | None = None

    def all(self) -> dict[str, Metric]:
        """The declarations by name, in the order of tables."""
        if self._metrics is None:
            metrics = declared(self._package, "METRIC", self._kind)
            metrics.sort(key=lambda metric: (metric.order, metric.name))
            self._metrics = {metric.name: metric for metric in metrics}
            if len(self._metrics) < len(metrics):
                names = [metric.name for metric in metrics]
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"two files of {self._package} declare the {self._what} {twice!r}")
        return dict(self._metrics)

    def find(self, name: str) -> Metric:
        """A metric by its name; `mark_evaluate` and `mark-evaluate` are the same."""
        metrics = self.all()
        if not isinstance(name, str):
            raise InputError(f"a {self._what} is named by a text, not by {shown(name)}")
        wanted = name.strip().lower().replace("_", "-")
        if wanted not in metrics:
            raise InputError(f"unknown {self._what} {shown(name)}: {nearest_names(wanted, metrics)}")
        return metrics[wanted]

    def choose(self, names: str | Iterable[str] | None) -> list[Metric]:
        """Declarations for names given as a list or as one comma-separated string; the usual ones for None."""
        if names is None:
            names = self.usual or list(self.all())
        if isinstance(names, (bytes, Mapping)) or not isinstance(names, Iterable):
            raise InputError(f"metrics are named by a text or a list of texts, not by {shown(names)}")
        listed = names.split(",") if isinstance(names, str) else list(names)
        named = (name for name in listed if not isinstance(name, str) or name.strip())
        chosen = {metric.name: metric for metric in map(self.find, named)}
        if not chosen:
            raise InputError("no metric was named")
        return list(chosen.values())

    def usual_that_run(self, mending: Callable[[Metric], str | None]) -> tuple[list[Metric], str]:
        """The usual metrics that this installation can run, and a sentence about the others ("" where there are none).

        mending: the command that brings what a metric lacks, None where it lacks nothing.
        """
        usual = self.choose(None)
        commands = {metric.name: mending(metric) for metric in usual}
        lacking: dict[str, list[str]] = {}
        for name, command in commands.items():
            if command is not None:
                lacking.setdefault(command, []).append(name)
        if len(usual) == sum(map(len, lacking.values())):
            return usual, ""  # nothing is left: whoever runs them says what is wrong
        left = "; ".join(f"{', '.join(names)} (to have {_it(names)}: {command})" for command, names in lacking.items())
        chosen = [metric for metric in usual if commands[metric.name] is None]
        return chosen, f"left out for what is not installed: {left}" if left else ""

    def own_parameters(
        self, chosen: Iterable[Metric], options: Mapping[str, Mapping[str, Any]] | None
    ) -> dict[str, dict[str, Any]]:
        """Parameters by metric; what names no chosen metric, or no parameter of it, is refused."""
        own: dict[str, dict[str, Any]] = {metric.name: {} for metric in chosen}
        if options is not None and not isinstance(options, Mapping):
            raise InputError(f"options are a mapping from metrics to their parameters, not {shown(options)}")
        for name, parameters in (options or {}).items():
            metric = self.find(name)
            if not isinstance(parameters, Mapping):
                raise InputError(
                    f"the options of {metric.name} are a mapping from names to values, not {shown(parameters)}"
                )
            if metric.name not in own:
                raise InputError(f"options were given for {metric.name}, which is not among the metrics")
            checked = metric.checked(parameters)
            own[metric.name] |= {name: checked[name] for name in parameters}
        return own


def number_label(metric: str, number: str, numbers: int) -> str:
    """What a number is called among all numbers: METRIC.NUMBER, or METRIC where it has one number alone."""
    return metric if numbers == 1 else f"{metric}.{number}"
