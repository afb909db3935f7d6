"""What the page of a comparison says of texts: by what words systems are known, and which texts each is to blame for.

All of it is made when a page is, and only then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..blame.diagnose import diagnose_prepared
from ..blame.diagnosis import Diagnosis
from ..blame.phrases import NGrams, TypicalPhrase
from ..page.page_parts import Page, TextLists, TextMap
from ..report.report import Table

if TYPE_CHECKING:
    from ..sets.table import SetResults

LEVEL = 0.1
"""Of the lists: as `diagnose` has it."""
MOST = 40_000
"""Texts of all systems, each with the reference, that are looked at: some seconds."""
_PHRASES = 8
"""Of every system."""
_LENGTHS = (2, 5)
"""Words of a phrase."""
_SURE = 3.0
"""Standard errors that a phrase's log-odds have at least."""
_WORDS = 3
"""Typical words in the name of a cluster."""


def with_texts(page: Page, results: SetResults) -> Page:
    """The page with phrases and lists of every system, and a map that is coloured by them; as it is for vectors."""
    if results.kept is None or not results.kept.prepared.has_texts or page.map is None:
        return page
    prepared, seed = results.kept.prepared, results.kept.seed
    shown = page.map
    ngrams = NGrams(shown.texts)
    phrases = ngrams.best_known(shown.side, len(shown.sides), _PHRASES, _LENGTHS, grown=True)
    lists: list[Table | TextLists] = [_phrases_table(phrases, shown)]
    looked_at = sum(len(prepared.reference) + len(points) for points in prepared.candidates.values())
    colours = {**shown.colours, "cluster": _named(ngrams, shown)}
    caption = list(shown.caption)
    if looked_at <= MOST:
        found = {name: diagnose_prepared(prepared, name, LEVEL, seed=seed) for name in prepared.candidates}
        lists += [TextLists(_title(each), each.verdict, each.report().tables) for each in found.values()]
        colours["flag"] = _flags(found, shown)
    else:
        caption.append(
            f"which texts each system lost, invented, repeats or copied is not listed, of more than {MOST:,} texts: "
            "`recapture inspect` (in Python `diagnose`) lists them, system by system"
        )
    return replace(page, lists=lists, map=replace(shown, colours=colours, caption=caption))


def _title(found: Diagnosis) -> str:
    counts = {name: each.amount for name, each in found.lists.items()}
    for verdict in ("too often", "too seldom"):
        counts[f"clusters {verdict}"] = sum(topic.verdict == verdict for topic in found.clusters)
    return f"{found.names[1]}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items())


def _phrases_table(phrases: list[list[TypicalPhrase]], shown: TextMap) -> Table:
    rows = [
        [shown.sides[side], each.words, *(f"{share:.1%}" for share in each.shares), f"{each.score:.1f}"]
        for side, listed in enumerate(phrases)
        for each in listed
        if each.score >= _SURE
    ]
    among = " among those on the map" if shown.of is not None else ""
    caption = [
        f"phrases by which a side is best known: shares of its texts{among} that have them; log-odds against "
        f"all other texts with a prior worth ten texts, in standard errors, {_SURE:g} at least",
        "words are counted without case and punctuation",
    ]
    heads = ["side", "phrase", *(f"in {name}" for name in shown.sides), "log-odds"]
    return Table(heads, rows, caption, 2, title="Typical phrases", listed=True)


def _named(ngrams: NGrams, shown: TextMap) -> list[str]:
    """The clusters of the map, by their typical words."""
    numbers = shown.colours["cluster"]
    names = sorted(set(numbers), key=int)
    label = np.array([names.index(each) for each in numbers])
    typical = ngrams.typical(label, len(names))
    called = [
        f"{name}: {', '.join(words[:_WORDS])}" if words else name for name, words in zip(names, typical, strict=True)
    ]
    return [called[at] for at in label.tolist()]


def _flags(found: Mapping[str, Diagnosis], shown: TextMap) -> list[str]:
    """The lists that each text is on; of people's by whom it was lost."""
    flags: dict[tuple[int, int], list[str]] = {}
    for side, (name, each) in enumerate(found.items(), 1):
        for record in each.texts:
            if record["flags"] and record["side"] == "candidate":
                flags.setdefault((side, record["index"]), []).append(record["flags"])
            elif record["flags"]:
                flags.setdefault((0, record["index"]), []).append(f"lost by {name}")
    assert shown.index is not None
    places = zip(shown.side.tolist(), shown.index.tolist(), strict=True)
    return [", ".join(flags.get(place, [])) for place in places]
