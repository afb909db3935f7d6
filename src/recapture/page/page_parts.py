"""What a result says about itself for a page: the parts, without a word on how they look.

A result has a method `page_parts` that returns a `Page`; one that has none gets a page of its `report`. Colours and
shapes follow `Page.systems`: a part names its system by its place there (None: people, or what is no system).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from ..checks import check_number, shortened
from ..errors import InputError
from ..files import whole_file
from ..report.report import Report, Reported, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAN = float("nan")
ENDINGS = (".html", ".htm")
Series = bool | Sequence[float]
"""Whether the systems have an order; numbers say where each stands."""


class HumanBand(NamedTuple):
    """Where human texts fall."""

    low: float
    mean: float
    high: float


class Line(NamedTuple):
    """One value of a card, with where it may lie."""

    label: str
    value: float
    low: float = NAN
    high: float = NAN
    system: int | None = None


@dataclass(frozen=True)
class Card:
    """One number, for all who have it: a row of a forest plot."""

    title: str
    lines: Sequence[Line]
    direction: Literal["higher", "lower"] | None = None
    band: HumanBand | None = None
    note: str = ""
    """What the number means."""
    expected: float | None = None
    """What it would be if nothing differed."""
    zero: bool = False
    """Whether the card is about differences: 0 stands in the middle."""


@dataclass(frozen=True)
class Forest:
    """Cards that are read in one way."""

    title: str
    cards: Sequence[Card]
    caption: Sequence[str] = ()


class Point(NamedTuple):
    label: str
    x: float
    y: float
    system: int | None = None


@dataclass(frozen=True)
class Plane:
    """Two sides of closeness against each other: fidelity across, variety up; more is better in both."""

    title: str
    x: str
    y: str
    points: Sequence[Point]
    band: tuple[HumanBand, HumanBand] | None = None
    """Of people, across and up."""


class Stroke(NamedTuple):
    label: str
    x: Sequence[float]
    y: Sequence[float]
    system: int | None = None


class Mark(NamedTuple):
    """A place on the axis across."""

    label: str
    x: float
    system: int | None = None


@dataclass(frozen=True)
class Curve:
    title: str
    x: str
    y: str
    strokes: Sequence[Stroke]
    marks: Sequence[Mark] = ()
    points: Sequence[Point] = ()
    """Systems on the strokes, each with its own sign."""
    band: HumanBand | None = None
    """Of people, up."""
    bands: Sequence[tuple[float, HumanBand]] = ()
    """The same where it changes across: places and bands."""
    filled: bool = False
    """Whether the strokes are outlines of shares (histograms)."""
    places: Sequence[tuple[float, str]] = ()
    """Names of places on the axis across, where they are no numbers."""
    note: str = ""


@dataclass(frozen=True)
class TextMap:
    """Where texts lie in the plane: one entry a text in every field."""

    sides: Sequence[str]
    """What the sides are called; people first."""
    side: np.ndarray
    """Which of them a text belongs to."""
    x: np.ndarray
    y: np.ndarray
    texts: Sequence[str]
    """Texts, or what samples are called."""
    nearest: np.ndarray
    """The place here of the nearest text on the other side; -1 where there is none."""
    distance: np.ndarray
    """From that text, as the metrics see it."""
    colours: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What else texts may be coloured by: a cluster's name, a flag; "" where a text has none."""
    caption: Sequence[str] = ()
    layout: str = ""
    """What x and y are called."""
    layouts: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """Other places of the same texts, by name: x and y."""
    of: int | None = None
    """How many texts there are, where not all are here."""
    index: np.ndarray | None = None
    """Of each text its place on its side, from 0."""


@dataclass(frozen=True)
class TextLists:
    """Lists of texts that belong together, such as those of one system; a page opens them on demand."""

    title: str
    said: Sequence[str]
    """What they hold, in sentences."""
    tables: Sequence[Table]


class Picture(NamedTuple):
    """A ready SVG."""

    title: str
    svg: str
    words: str = ""
    """What it shows, for those who do not see it."""


@dataclass(frozen=True)
class Page:
    """The parts of one page, in the order in which they stand on it.

    Parameters
    ----------
    title : str
        What was compared.
    verdict : sequence of str
        Sentences that answer.
    systems : sequence of str
        Whose colours and shapes are kept all over the page.
    ordered, forests, planes, tables, map, lists, curves, pictures
        What there is to see; each may be left out. `ordered` are curves of systems that have an order, `lists` tables
        of texts.
    notes, citations : sequence of str
        What a reader should know, and whom to cite.
    signature : mapping
        How all of it was made.

    Examples
    --------
    >>> import recapture as rc
    >>> page = rc.Page("Two systems", ["a is closer."], tables=[rc.Table(["system", "score"], [["a", "0.5"]])])
    >>> page.to_html().startswith("<!doctype html>")
    True
    """

    title: str
    verdict: Sequence[str] = ()
    systems: Sequence[str] = ()
    subtitle: str = ""
    forests: Sequence[Forest] = ()
    planes: Sequence[Plane] = ()
    tables: Sequence[Table] = ()
    map: TextMap | None = None
    lists: Sequence[Table | TextLists] = ()
    curves: Sequence[Curve] = ()
    pictures: Sequence[Picture | tuple[str, str, str]] = ()
    """Each (title, SVG, what it shows)."""
    notes: Sequence[str] = ()
    signature: Mapping[str, Any] = field(default_factory=dict)
    citations: Sequence[str] = ()
    command: str = ""
    """The command, or the call, that made it."""
    ordered: Sequence[Curve] = ()
    """Behind the verdict: every number of systems in their order."""

    def to_html(self) -> str:
        """The whole page."""
        from .assembly import whole_page

        return whole_page(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page; the file appears only when it is complete.

        Parameters
        ----------
        path : str or path
            Its name ends in .html or .htm.
        """
        check_ending(path)
        content = self.to_html()
        with whole_file(path) as temporary:
            temporary.write_text(content, encoding="utf-8")


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a name under which no browser would look for a page."""
    name = os.fspath(path)
    if not name.lower().endswith(ENDINGS):
        raise InputError(f"cannot write {shortened(name)}: a page's name ends in .html or .htm")


def page_of(result: Reported, *, series: Series = False, command: str = "") -> Page:
    """The page of any result. series: see `Paged.to_html`."""
    from .series import in_order, with_series

    result = in_order(result, series)
    said = getattr(result, "page_parts", None)
    page: Page = said() if said is not None else _page_of_report(result.report())
    page = replace(page, command=command or page.command)
    return with_series(page, series) if series is not False else page


def _page_of_report(report: Report) -> Page:
    return Page(
        report.kind[:1].upper() + report.kind[1:],
        list(report.verdict),
        tables=report.tables,
        notes=report.notes,
        signature=report.signature,
    )


class Paged(Reported):
    """A result that has a page of its own."""

    def page_parts(self) -> Page:
        """What stands on its page."""
        return _page_of_report(self.report())

    @overload
    def to_html(self) -> str: ...

    @overload
    def to_html(self, path: str | os.PathLike[str], *, series: Series = False) -> None: ...

    def to_html(self, path: str | os.PathLike[str] | None = None, *, series: Series = False) -> str | None:
        """Write the page; without a path, bare tables for a page of your own, every text escaped.

        Parameters
        ----------
        path : str or path, optional
            A name that ends in .html or .htm: one file with everything in it, which asks nothing of a network.
        series : bool or sequence of float, default False
            Whether the systems have an order, such as checkpoints or temperatures: their numbers are then drawn as
            curves. Numbers say where each system stands.
        """
        if path is None:
            return self.report().to_html()
        page_of(self, series=series).write(path)
        return None

    def plot(
        self,
        rows: str | Sequence[str] | None = None,
        *,
        what: Literal["numbers", "whole", "differences", "map"] | None = None,
        series: Series = False,
        width: float = 3.35,
        height: float | None = None,
    ) -> Figure:
        """A picture for a paper, by matplotlib (`pip install "recapture[plot]"`).

        Parameters
        ----------
        rows : str or sequence of str, optional
            Which numbers, in this order (default: those of the tables), as for `to_latex`; or which systems.
        what : {"numbers", "whole", "differences", "map"}, optional
            Numbers with their intervals beside where human texts fall; numbers of whole sets, where those are of parts;
            differences between systems; a map of texts. By default the first there is of: differences, numbers, map.
        series : bool or sequence of float, default False
            Whether the systems have an order, such as checkpoints or temperatures: numbers are then drawn as curves.
            Numbers say where each system stands.
        width : float, default 3.35
            In inches: that of a column of a paper. From about 5 on panels stand side by side.
        height : float, optional
            In inches (default: as high as the rows ask for).

        Returns
        -------
        matplotlib.figure.Figure
            `figure.savefig("figure.pdf")` (or .svg, .png) needs no display; a notebook shows it.
        """
        try:
            from .paper_figure import figure_of
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise InputError('plot needs matplotlib: pip install "recapture[plot]"') from None
        from .map_data import without_maps

        width = check_number("width", width, 1, 100)
        height = None if height is None else check_number("height", height, 0.5, 300)
        with contextlib.nullcontext() if what == "map" else without_maps():
            page = page_of(self if rows is None else self.all_rows())
        return figure_of(page, what, rows, width, height, series, getattr(self, "shown", None))
