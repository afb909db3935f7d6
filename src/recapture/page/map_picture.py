"""The map on the page: a still picture for all, and the data from which the script makes one that answers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .axes import look, mark, svg
from .escaping import Html, data, element, joined
from .page_parts import TextMap

_WIDTH, _HEIGHT = 900, 520
_GRID = 4095
"""Places across and up: finer than a screen."""
_STILL = 1_500
"""Points of the still picture."""
_BYTES = 3_000_000
"""Of all texts together; each is cut to its share."""
_LONGEST = 600
"""Characters of a text, where there is room."""


def map_section(shown: TextMap) -> Html:
    """The picture, what works it (scripts alone make that visible), and what it says."""
    caption = element("ul", *(element("li", each) for each in (*shown.caption, *_cut(shown))), class_="caption")
    first = element("option", "system" if len(shown.sides) > 2 else "side", value="")
    colours = [first, *(element("option", each, value=each) for each in shown.colours)]
    chooser = element("label", "Colour by ", element("select", *colours, id="map-colour"))
    layouts = [element("option", shown.layout, value="")]
    layouts += [element("option", each, value=each) for each in shown.layouts]
    controls = element(
        "div",
        element("label", "Search ", element("input", id="map-search", type="search", autocomplete="off")),
        chooser if shown.colours else None,
        element("label", "Layout ", element("select", *layouts, id="map-layout")) if shown.layouts else None,
        element("button", "Zoom to selection", id="map-zoom", type="button"),
        element("button", "Whole map", id="map-whole", type="button"),
        element("button", "Clear", id="map-clear", type="button"),
        class_="controls needs-script",
    )
    help_words = (
        "Point at a text to read it and its nearest on the other side. Drag to select. With the keyboard: arrows go "
        "from text to text, N to the nearest on the other side, Space begins and ends a selection, Escape clears."
    )
    stage = element(
        "div",
        element("canvas", id="map-points", aria_hidden="true"),
        element(
            "canvas", id="map-over", tabindex="0", role="application", aria_label="Map of texts",
            aria_describedby="map-help",
        ),
        class_="stage needs-script",
    )  # fmt: skip
    told = element("div", element("p", "No text is chosen.", class_="quiet"), id="map-told", aria_live="polite")
    listed = element("div", id="map-list", aria_live="polite")
    return joined(
        element("div", id="map-legend", class_="legend needs-script"),
        controls,
        element("div", stage, _still(shown), class_="map"),
        element("p", help_words, id="map-help", class_="note needs-script"),
        element("div", told, listed, class_="told needs-script"),
        caption,
    )


def _still(shown: TextMap) -> Html:
    x, y = _placed(shown.x, shown.y)
    count = len(x)
    some = np.arange(count) if count <= _STILL else np.linspace(0, count - 1, _STILL).round().astype(int)
    wide, tall = (_WIDTH - 24) / _GRID, (_HEIGHT - 24) / _GRID
    groups: list[Html] = []
    for side in range(len(shown.sides)):
        own = some[shown.side[some] == side]
        system = side - 1 if side else None
        places, times = np.unique(np.stack([x[own], y[own]], axis=1), axis=0, return_counts=True)
        sizes = 2.4 * np.take([1, 1.5, 2.1, 2.8], np.minimum(3, np.log2(times) / 1.5).astype(int))
        dots = [
            mark(system, round(12 + across * wide, 1), round(12 + down * tall, 1), size)
            for (across, down), size in zip(places.tolist(), sizes.tolist(), strict=True)
        ]
        groups.append(element("g", element("title", shown.sides[side]), *dots, class_=f"dots {look(system)}"))
    fewer = f" ({len(some):,} of {count:,} drawn)" if len(some) < count else ""
    said = f"Map of {count:,} texts{fewer}: {', '.join(shown.sides)}"
    return svg(_WIDTH, _HEIGHT, said, *groups, class_="picture still")


def map_data(shown: TextMap) -> dict[str, Any]:
    """What the script reads: numbers in a few digits, texts cut to what fits."""
    x, y = _placed(shown.x, shown.y)
    longest = _fitting(shown)
    return {
        "sides": list(shown.sides),
        "side": np.asarray(shown.side).tolist(),
        "x": x.tolist(),
        "y": y.tolist(),
        "layouts": {name: [each.tolist() for each in _placed(*at)] for name, at in shown.layouts.items()},
        "near": np.asarray(shown.nearest).tolist(),
        "far": [float(f"{value:.3g}") for value in np.asarray(shown.distance, np.float64).tolist()],
        "texts": [each if len(each) <= longest else each[: longest - 1] + "…" for each in shown.texts],
        "colours": {name: _numbered(values) for name, values in shown.colours.items()},
        "grid": _GRID,
    }


def _placed(across: Any, up: Any) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, across and down; both axes fill the picture."""
    x, y = np.asarray(across, np.float64), np.asarray(up, np.float64)
    if not len(x):
        return np.zeros(0, int), np.zeros(0, int)
    reach = [float(np.ptp(x)) or 1.0, float(np.ptp(y)) or 1.0]
    left, top = float(x.min()), float(y.max())
    return (
        np.round((x - left) / reach[0] * _GRID).astype(int),
        np.round((top - y) / reach[1] * _GRID).astype(int),
    )


def _numbered(values: Any) -> dict[str, Any]:
    # "" first, numbers as numbers: legends are read in this order.
    names = sorted(set(values), key=lambda name: (int(found[0]) if (found := re.match(r"\d+", name)) else 0, name))
    place = {name: at for at, name in enumerate(names)}
    return {"names": names, "of": [place[value] for value in values]}


def _fitting(shown: TextMap) -> int:
    """How long texts may be so that all of them together are not too much."""
    lengths = np.array([len(each) for each in shown.texts])
    if not len(lengths):
        return _LONGEST
    # Characters that take several bytes, or escapes: judged from some texts, spread over all.
    some = [
        shown.texts[place][:_LONGEST] for place in np.linspace(0, len(lengths) - 1, min(len(lengths), 500)).astype(int)
    ]
    characters = max(1, sum(map(len, some)))
    heavy = max(1.0, len(data(some, "").encode("utf-8")) / characters)
    for longest in (_LONGEST, 400, 300, 240, 180, 140, 110, 80, 50, 30):
        if heavy * float(np.minimum(lengths, longest).sum()) <= _BYTES:
            return longest
    return 20


def _cut(shown: TextMap) -> list[str]:
    longest = _fitting(shown)
    if not any(len(each) > longest for each in shown.texts):
        return []
    return [f"texts are cut after {longest} characters"]
