"""What a comparison says on a page: the answer, differences with their intervals, and all that its results say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..page.page_parts import Card, Forest, Line, Page, page_of
from ..report.report import Table
from ..sets.table import EQUAL_TERMS, SetResults
from .evidence import pairs_of

if TYPE_CHECKING:
    from .comparison import Comparison

_NAMED = 5
"""Systems that the line below the title names; the legend names all."""
_MOST = 15
"""Pairs of systems in one picture."""


def page_of_comparison(compared: Comparison) -> Page:
    own = page_of(compared.results)
    report, count = compared.report(), len(compared.systems)
    by_title = {each.title: each for each in report.tables if each.title != EQUAL_TERMS}  # which its results have, too
    systems, differences = by_title.pop("Systems"), by_title.pop("Differences")
    if isinstance(compared.results, SetResults):
        from .blamed_texts import with_texts

        own = with_texts(own, compared.results)
    return replace(
        own,
        title="Which system is closest to people?",
        subtitle=f"{', '.join(compared.systems) if count <= _NAMED else f'{count} systems'}; {own.subtitle}",
        verdict=compared.verdict,
        systems=compared.systems,
        forests=[*(own.forests if compared.kind == "sets" else [_values(compared, own)]), _differences(compared)],
        tables=[differences, systems, *by_title.values(), *(_by_itself(each, compared.kind) for each in own.tables)],
        notes=report.notes,
        signature={**report.signature, "comparison": compared.settings},
    )


def _by_itself(table: Table, kind: str) -> Table:
    """Of contexts each system has a table of its own, which counts contexts that others may lack."""
    return (
        replace(table, title=f"{table.title}, over its own contexts") if kind == "contexts" and table.title else table
    )


def _values(compared: Comparison, own: Page) -> Forest:
    """Of items: the numbers that the table has, over the items that all systems have, not each system's own."""
    meanings = {card.title: card.note for forest in own.forests for card in forest.cards}
    cards = [
        Card(
            name,
            [Line(system, each[name], system=at) for at, (system, each) in enumerate(compared.values.items())],
            "higher" if compared.numbers[name] == "higher" else "lower",
            note=meanings.get(name.replace(".", " ", 1), ""),
        )
        for name in compared.shown
    ]
    return Forest("", cards, [f"dot: over the {compared.settings.get('unit', 'items')} that all systems have"])


def _differences(compared: Comparison) -> Forest:
    place = {name: at for at, name in enumerate(compared.systems)}
    pairs, left = pairs_of(compared.systems), ""
    if len(pairs) > _MOST:
        best = compared.clusters[0][0]
        pairs = [(best, other) for other in compared.systems if other != best]
        left = f"{best}, which no system beats, against all others; the table has every pair"
    cards = []
    for name in compared.shown:
        lines = []
        for a, b in pairs:
            each = compared.differences[a, b][name]
            closer = a if name in compared.closer(a, b) else b if name in compared.closer(b, a) else None
            system = None if closer is None else place[closer]
            lines.append(Line(f"{a} - {b}", each.value, each.low, each.high, system))
        more = {"higher": "to the right: the first scores better", "lower": "to the left: the first scores better"}
        cards.append(Card(name, lines, note=more[compared.numbers[name]], zero=True))
    return Forest(
        "Differences between systems",
        cards,
        [
            f"line: {compared.settings.get('interval', 0.95):.0%} interval; in a system's colour where it is surely "
            f"closer to people (adjusted p below {compared.level:g}, interval without 0); a ring: neither is",
            *([left] if left else []),
        ],
    )
