"""What `diagnose` returns: lists of texts, clusters, rates and phrases, and how they are shown."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..files import whole_file
from ..page.map_data import MapSamples, map_of_records
from ..page.page_parts import Page, Paged
from ..report.frame import Rows
from ..report.report import Measured, NumberCell, Report, Table, beginning, short, short_p
from .doubles import Rate
from .listing import SHOWN, TextList, TextRow
from .per_text import texts_file
from .phrases import Phrase
from .topics import Topic, listed_topics

_COLUMNS = ("index", "text", "score", "pvalue", "adjusted", "nearest", "nearest_text", "distance")
"""What rows of every list have."""
_WORDS = 60
"""Characters of a text in a table that is no wider than it must be."""
_WHOLE = 20_000
"""Characters of a text on a page, where it is opened."""

_RATES = {
    "copied": ("stand in the reference", "nearly stand in it"),
    "repeated": ("repeat others of their set", "nearly repeat others"),
}
"""The rates of either list."""


class Diagnosis(Paged):
    """What `diagnose` returns.

    Attributes
    ----------
    invented : TextList
        Candidate texts further from people than people are from each other: rows with `.index`, `.text`, `.score`,
        `.pvalue`, `.adjusted` and `.nearest` (`.index`, `.text`, `.distance`), worst first.
    lost : TextList
        Reference texts that people reach and the candidate does not.
    repeated : TextList
        Candidate texts that others of it repeat: equal them, or have half of their words from them.
    copied : TextList
        Candidate texts that stand in the reference, word for word or nearly.
    clusters : list of Topic
        Of the pooled texts, those whose shares differ most first: `.candidate_share`, `.reference_share`, `.pvalue`,
        `.adjusted`, `.verdict`, `.ngrams`, `.central`.
    phrases : list of Phrase
        Words that the candidate uses too often, three or more.
    seldom : list of Phrase
        Words that it uses too seldom, or not at all, one or more.
    rates : list of Rate
        How many texts are copied and repeated, in the candidate and among people.
    level : float
        Of the lists: the share of false alarms.
    texts : list of dict
        One record for every text of both sides: side, index, text, x, y, cluster, nearest, ...
    settings : dict
        How it was made.
    notes : list of str
        What to know about the inputs.
    """

    def __init__(
        self,
        invented: TextList,
        lost: TextList,
        repeated: TextList,
        copied: TextList,
        clusters: Sequence[Topic],
        phrases: Sequence[Phrase],
        seldom: Sequence[Phrase],
        rates: Sequence[Rate],
        texts: Sequence[dict[str, Any]],
        level: float,
        names: tuple[str, str],
        settings: Mapping[str, Any],
        notes: Sequence[str],
        samples: MapSamples | None = None,
    ) -> None:
        """samples: the vectors of both sides, for layouts of the page's map (None: there are none)."""
        self.invented, self.lost, self.repeated, self.copied = invented, lost, repeated, copied
        self.clusters, self.rates = list(clusters), list(rates)
        self.phrases, self.seldom = list(phrases), list(seldom)
        self.texts, self.level, self.names = list(texts), level, names
        self.settings, self.notes = dict(settings), list(notes)
        self._samples = samples

    @property
    def lists(self) -> dict[str, TextList]:
        return {"invented": self.invented, "lost": self.lost, "repeated": self.repeated, "copied": self.copied}

    @property
    def verdict(self) -> list[str]:
        """A sentence for each list, and one for clusters and phrases; those that found something come first."""
        often, seldom = (sum(topic.verdict == each for topic in self.clusters) for each in ("too often", "too seldom"))
        shares = f"clusters: {often} too often and {seldom} too seldom, of {len(self.clusters)}"
        if self.phrases:
            shares += f"; phrases too often: {len(self.phrases):,}"
        if self.seldom:
            shares += f"; words too seldom: {len(self.seldom):,}"
        strongest = self._strongest()
        said = [(each.amount > 0 and self._more_than_people(name), each.said) for name, each in self.lists.items()]
        said.append((strongest is not None, f"{shares}; {strongest}" if strongest else shares))
        return [f"{each[0].upper()}{each[1:]}." for _, each in sorted(said, key=lambda pair: not pair[0])]

    def _more_than_people(self, name: str) -> bool:
        """Whether a list of doubles is more than people's own texts would give; others are tested one by one."""
        told = [rate.pvalue for rate in self.rates if rate.what in _RATES.get(name, ())]
        return not told or min(told) <= self.level

    def _strongest(self) -> str | None:
        """Of phrases and clusters that stand out, the one with the smallest adjusted p-value."""
        found: list[tuple[Phrase | Topic, str]] = [
            (each, f'the {"phrase" if " " in each.words else "word"} "{each.words}"')
            for each in (*self.phrases, *self.seldom)
        ]
        for topic in self.clusters:
            if topic.verdict:
                words = f" ({', '.join(topic.ngrams)})" if topic.ngrams else ""
                found.append((topic, f"cluster {topic.number}{words}"))
        if not found:
            return None
        best, name = min(found, key=lambda pair: (pair[0].adjusted, -abs(_gap(pair[0]))))
        return (
            f"strongest: {name}, {_percent(best.candidate_share)} of the texts of {self.names[1]} and "
            f"{_percent(best.reference_share)} of people's (adjusted p {short_p(best.adjusted)})"
        )

    def save_texts(self, path: str | os.PathLike[str]) -> None:
        """Write one row for every text of both sides; .jsonl, .csv or .parquet by the ending of the name.

        Parameters
        ----------
        path : str or path
            The file; it appears only when it is complete.
        """
        content = self.texts_file(path)
        with whole_file(path) as temporary:
            temporary.write_bytes(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)

    def texts_file(self, path: str | os.PathLike[str]) -> str | bytes:
        """What `save_texts` writes."""
        return texts_file(self.texts, path)

    def report(self) -> Report:
        rows = {name: Rows((row.record() for row in listed), _COLUMNS) for name, listed in self.lists.items()}
        topics = [_topic_record(topic) for topic in self.clusters]
        columns = [each.name for each in fields(Phrase)]
        phrases, seldom = (Rows(map(vars, listed), columns) for listed in (self.phrases, self.seldom))
        rates = [vars(each) for each in self.rates]
        tables = [
            *(
                _list_table(name, listed, self.settings.get("nearest_leaves_out", ""))
                for name, listed in self.lists.items()
                if listed.shown
            ),
            _topics_table(self.clusters, self.level),
            *([_phrases_table(self.phrases, "Phrases used too often", "phrases")] if self.phrases else []),
            *([_phrases_table(self.seldom, "Words used too seldom", "words")] if self.seldom else []),
            _rates_table(self.rates, self.settings),
        ]
        results = {**rows, "clusters": topics, "phrases": phrases, "seldom": seldom, "rates": rates}
        said = {name: {"said": listed.said, "least": listed.least} for name, listed in self.lists.items()}
        more = {"level": self.level, "lists": said, "names": list(self.names)}
        return Report("texts", tables, self.notes, self.notes, results, results, self.settings, more, self.verdict)

    def page_parts(self) -> Page:
        return Page(
            "Which texts",
            self.verdict,
            [self.names[1]],
            f"{self.names[1]} beside {self.names[0]}",
            map=map_of_records(self.texts, self.names, rows=None if self._samples is None else self._samples.rows),
            lists=self.report().tables,
            notes=self.notes,
            signature=self.settings,
        )


def _gap(found: Phrase | Topic) -> float:
    return found.candidate_share - found.reference_share


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 or 0.9905 < share < 1 else f"{100 * share:.0f} %"


def _list_table(name: str, listed: TextList, apart: str) -> Table:
    """apart: which texts of the other side are left out where the nearest one is looked for."""
    scores = {"repeated": "times", "copied": "words shared"}
    heads = ["index", "text", "nearest on the other side", scores.get(name, "score"), "p", "p adjusted", "distance"]
    rows = [_cells(row, name) for row in listed.shown]
    caption = [listed.said, *([f"the first {len(rows)} different ones are shown"] if len(rows) < len(listed) else [])]
    if name in ("invented", "lost"):
        caption.append("score: distance from the other side, in units of people's median distance from each other")
    if name == "repeated":
        caption.append(
            "times: this text and those of its set that equal it, or half of whose words stand in it; each text is "
            "listed once, where most repeat it; p: exact, of people's texts repeating it as often"
        )
    if apart and name == "copied":
        caption.append(f"nearest: the text that it stands in; p: not counting texts of {apart}")
    elif apart:
        caption.append(f"nearest and distance: not counting texts of {apart} on the other side")
    title = name.capitalize() if len(listed) else f"{name.capitalize()}: none for sure; the furthest"
    return Table(heads, rows, caption, 3, repeated=1, title=title, listed=True, row_names=[(name,)] * len(rows))


def _cells(row: TextRow, name: str) -> list[str]:
    near = row.nearest
    score: str = NumberCell(f"{row.score:.2f}", Measured(row.score))
    if name == "repeated":
        score = f"{row.score:.0f}"
    return [
        str(row.index),
        shortened_text(row.text),
        "-" if near is None else shortened_text(near.text) if near.text is not None else str(near.index),
        score,
        short_p(row.pvalue),
        short_p(row.adjusted),
        "-" if near is None else NumberCell(short(near.distance), Measured(near.distance)),
    ]


def shortened_text(text: str | None) -> str:
    """The beginning of a text on one line; tables write escapes for what a terminal would obey."""
    return "-" if text is None else beginning(text if len(text) <= _WHOLE else f"{text[:_WHOLE]}…", _WORDS)


def _topics_table(topics: Sequence[Topic], level: float) -> Table:
    shown = listed_topics(topics)[:SHOWN]
    rows = [
        [
            str(topic.number), topic.verdict or "-", ", ".join(topic.ngrams) or "-",
            shortened_text(topic.central[0].text) if topic.central else "-",
            f"{topic.candidate_share:.1%}", f"{topic.reference_share:.1%}", short_p(topic.pvalue),
            short_p(topic.adjusted),
        ]
        for topic in shown
    ]  # fmt: skip
    heads = ["cluster", "is", "typical words", "central text", "candidate", "reference", "p", "p adjusted"]
    caption = [
        f"{len(shown)} of {len(topics)} clusters of the texts of both sides; shares of each side's texts; p: exact, of "
        f"equal shares, adjusted by Holm; too often, too seldom: adjusted p at most {level:g}"
    ]
    names = [("clusters", *([topic.verdict] if topic.verdict else [])) for topic in shown]
    return Table(heads, rows, caption, 4, repeated=2, title="Too often, too seldom", listed=True, row_names=names)


def _phrases_table(phrases: Sequence[Phrase], title: str, what: str) -> Table:
    rows = [
        [
            each.words, f"{each.candidate:,} ({each.candidate_share:.1%})",
            f"{each.reference:,} ({each.reference_share:.1%})", short_p(each.pvalue), short_p(each.adjusted),
        ]
        for each in phrases[:SHOWN]
    ]  # fmt: skip
    of = f"{len(phrases[:SHOWN])} of {len(phrases):,}; " if len(phrases) > SHOWN else ""
    caption = [f"{of}texts that have them; p: exact, one-sided, adjusted by Holm over all that enough texts have"]
    return Table(
        [what, "candidate", "human", "p", "p adjusted"], rows, caption, 1, title=title, listed=True,
        row_names=[("phrases",)] * len(rows),
    )  # fmt: skip


def _rates_table(rates: Sequence[Rate], settings: Mapping[str, Any]) -> Table:
    rows = [[each.what, f"{each.candidate:.1%}", f"{each.human:.1%}", short_p(each.pvalue)] for each in rates]
    caption = [
        "human: reference texts that stand in other reference texts, each left out in turn; repeats: both sides at "
        f"{settings['size']:,} texts; p: one-sided, of no more than people"
    ]
    if apart := settings.get("nearest_leaves_out"):
        caption.append(f"what stands in the reference: not counting texts of {apart} there")
    heads, names = ["texts that", "candidate", "human", "p"], [("rates",)] * len(rows)
    return Table(heads, rows, caption, 1, title="Copied and repeated", listed=True, row_names=names)


def _topic_record(topic: Topic) -> dict[str, Any]:
    central = [vars(text) for text in topic.central]
    return {**vars(topic), "ngrams": list(topic.ngrams), "central": central}
