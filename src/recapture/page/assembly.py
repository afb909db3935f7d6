"""The page from its parts: sections in a fixed order, styles and scripts inside, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ..report.data_forms import finite
from ..versions import VERSION
from .axes import mark, svg
from .curve_pictures import curve_picture
from .escaping import Html, data, element, joined, text
from .forest import forest_section
from .map_picture import map_data, map_section
from .page_parts import Curve, Page, Picture
from .quality_plane import plane_picture
from .table_section import copies, flat, joined_tables, list_section


class Section(NamedTuple):
    name: str
    title: str
    content: Html


def whole_page(page: Page) -> str:
    style, script = _resource("page.css"), _resource("page.js")
    tables = [*page.tables, *flat(page.lists)]
    sections = _sections(page)
    content = {"tables": copies(tables), "map": None if page.map is None else map_data(page.map)}
    # Nothing is fetched, and no script runs but ours: both are known by their digests.
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"recapture {VERSION}"),
        element("title", f"{page.title} - recapture"),
        element("style", Html(style)),
    )
    links = [element("li", element("a", each.title, href=f"#{each.name}")) for each in sections]
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "header",
            element("p", "recapture", class_="brand"),
            element("h1", page.title),
            element("p", page.subtitle, class_="subtitle") if page.subtitle else None,
            element("nav", element("ul", *links), aria_label="Sections"),
        ),
        element("main", *map(_section, sections), id="content"),
        element("footer", element("p", f"Made with recapture {VERSION}. This file holds all it shows.")),
        element("p", id="status", role="status", class_="unseen"),
        data(content, "data"),
        Html(f"<script>{script}</script>"),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _sections(page: Page) -> list[Section]:
    legend = _legend(page)
    found = [
        Section("verdict", "Verdict", element("ul", *(element("li", each) for each in page.verdict), class_="verdict"))
        if page.verdict
        else None,
        Section("order", "In their order", joined(legend, _cards(page.ordered))) if page.ordered else None,
        Section("numbers", "Every number", joined(legend, *map(forest_section, page.forests)))
        if page.forests
        else None,
        Section("plane", "Fidelity and variety", joined(legend, _planes(page))) if page.planes else None,
        Section("tables", "Tables", joined_tables(page.tables, 0)) if page.tables else None,
        Section("map", "Map of texts", map_section(page.map)) if page.map is not None else None,
        Section("texts", "Which texts", list_section(page.lists, len(page.tables))) if page.lists else None,
        Section("curves", "Curves", joined(legend, _cards(page.curves))) if page.curves else None,
        Section("pictures", "Pictures", joined(*(_picture(Picture(*each)) for each in page.pictures)))
        if page.pictures
        else None,
        Section("how", "How it was made", _how(page)),
    ]
    return [each for each in found if each is not None]


def _cards(curves: Sequence[Curve]) -> Html:
    return element("div", *map(curve_picture, curves), class_="cards")


def _section(section: Section) -> Html:
    head = element("h2", section.title, id=f"{section.name}-title")
    return element("section", head, section.content, id=section.name, aria_labelledby=f"{section.name}-title")


def _planes(page: Page) -> Html:
    said = ["fidelity: are its texts like people's; variety: are all kinds of people's texts there"]
    if any(plane.band for plane in page.planes):
        said.append("shaded: where 95 % of human parts fall; ring: their mean")
    return joined(
        element("div", *map(plane_picture, page.planes), class_="cards"),
        element("ul", *(element("li", each) for each in said), class_="caption"),
    )


def _legend(page: Page) -> Html | None:
    """Which colour and shape is whose."""
    if not page.systems:
        return None
    bands = any(card.band for forest in page.forests for card in forest.cards)
    items = [element("li", _sign(place), element("bdi", name)) for place, name in enumerate(page.systems)]
    if bands:
        swatch = svg(16, 16, "", element("rect", x=1, y=2, width=14, height=12, class_="band"), class_="sign")
        items.insert(0, element("li", swatch, "human texts: where 95 % of them fall"))
    return element("ul", *items, class_="legend")


def _sign(system: int) -> Html:
    return svg(16, 16, "", mark(system, 8, 8, 5), class_="sign")


def _picture(picture: Picture) -> Html:
    """As an image, in which no script runs."""
    coded = base64.b64encode(picture.svg.encode("utf-8")).decode("ascii")
    image = element("img", src=f"data:image/svg+xml;base64,{coded}", alt=picture.words or picture.title)
    return element("figure", element("figcaption", element("h4", picture.title)), image, class_="shown")


def _how(page: Page) -> Html:
    notes = element("ul", *(element("li", each) for each in page.notes))
    cited = element("ul", *(element("li", each) for each in page.citations))
    signature = json.dumps(finite(page.signature), indent=2, ensure_ascii=False, default=str)
    return joined(
        joined(element("h3", "Warnings"), notes) if page.notes else None,
        joined(element("h3", "Command"), element("pre", element("code", page.command), tabindex="0"))
        if page.command
        else None,
        joined(element("h3", "Please cite"), cited) if page.citations else None,
        element(
            "details",
            element("summary", "Signature: settings, encoder, versions"),
            element("pre", element("code", text(signature)), tabindex="0"),
        )
        if page.signature
        else None,
        element("p", f"recapture {VERSION}", class_="quiet"),
    )


@cache
def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
