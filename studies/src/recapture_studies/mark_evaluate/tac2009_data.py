"""The public JSON of TAC 2009's summaries, read as it is, and laid out by topic.

One object, topic -> {references: [{text: [sentences]}], annotations: [{summ_id, text: [sentences], responsiveness,
pyr_score}]}. Further fields do no harm. People's own summaries are among the annotations, under a single letter; the
references are the same texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..files import NAME, NUMBER, TEXTS, described, json_of, lines_of, of_kind, shown

FILE = "tac.09.mds.gen.resp-pyr"
CRITERIA = {"responsiveness": "responsiveness", "pyr_score": "pyramid"}
"""By field of the file, what people rated."""


class Summary(NamedTuple):
    name: str
    text: str
    sentences: int
    """Entries of its list, empty ones included: what MoverScore's program counts."""
    ratings: Mapping[str, float]

    @property
    def of_a_person(self) -> bool:
        """TAC's systems have numbers, people a capital letter."""
        return len(self.name) == 1 and self.name.isupper()


class Topic(NamedTuple):
    name: str
    references: Sequence[str]
    summaries: Sequence[Summary]


def read_topics(path: Path) -> list[Topic]:
    content = json_of("".join(line for _, line in lines_of(path)), str(path))
    if not isinstance(content, dict) or not content:
        raise rc.InputError(f"{path} must be one JSON object with topics: topic -> references and annotations")
    return [_topic(f"{path}, topic {shown(name)}", name, held) for name, held in content.items()]


def _topic(where: str, name: str, held: Any) -> Topic:
    references = _field(where, held, "references", list)
    annotations = _field(where, held, "annotations", list)
    if not references or not annotations:
        raise rc.InputError(f"{where}: {'annotations' if references else 'references'!r} is an empty list")
    texts = [_joined(_field(f"{where}, reference {at}", each, "text", TEXTS)) for at, each in enumerate(references, 1)]
    summaries: dict[str, Summary] = {}
    for at, each in enumerate(annotations, 1):
        known = _summary(f"{where}, annotation {at}", each)
        if known.name in summaries:
            raise rc.InputError(f"{where}: 'summ_id' {shown(known.name)} stands twice")
        summaries[known.name] = known
    return Topic(name, texts, list(summaries.values()))


def _summary(where: str, held: Any) -> Summary:
    name = str(_field(where, held, "summ_id", NAME))
    where = f"{where} (summ_id {shown(name)})"
    sentences = _field(where, held, "text", TEXTS)
    ratings = {criterion: float(_field(where, held, field, NUMBER)) for field, criterion in CRITERIA.items()}
    return Summary(name, _joined(sentences), len(sentences), ratings)


def _field(where: str, held: Any, field: str, kind: Any) -> Any:
    if not isinstance(held, dict):
        raise rc.InputError(f"{where} must be an object with the field {field!r}, not {shown(held)}")
    if field not in held:
        there = ", ".join(map(str, held)) or "none"
        raise rc.InputError(f"{where} has no field {field!r} (its fields: {there})")
    if not of_kind(held[field], kind):
        wanted = "a list" if kind is list else described(kind)
        raise rc.InputError(f"{where}: {field!r} must be {wanted}, not {shown(held[field])}")
    return held[field]


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(each.strip() for each in sentences if each.strip())


class Grid:
    """Numbers by summary and topic. Topics need not have the same summaries: places that are left over hold NaN."""

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._topics = topics
        self.human = {
            criterion: self._of(lambda summary, key=criterion: summary.ratings[key]) for criterion in CRITERIA.values()
        }
        """(summaries, topics), by criterion."""

    @property
    def references(self) -> list[str]:
        """One for each comparison of a summary with a reference: all of a topic's for its first summary, and so on."""
        return [text for topic in self._topics for _ in topic.summaries for text in topic.references]

    @property
    def candidates(self) -> list[str]:
        return [summary.text for topic in self._topics for summary in topic.summaries for _ in topic.references]

    def means(self, scores: np.ndarray) -> np.ndarray:
        """(summaries, topics): the mean over references, each compared by itself, from one score a comparison."""
        table = self._of(lambda _: np.nan)
        at = 0
        for column, topic in enumerate(self._topics):
            size = len(topic.summaries) * len(topic.references)
            apart = scores[at : at + size].reshape(len(topic.summaries), len(topic.references))
            table[: len(apart), column] = apart.mean(axis=1)
            at += size
        return table

    def counted(self, who: Any) -> np.ndarray:
        """(summaries, topics): for which summaries `who` says yes."""
        chosen: np.ndarray = self._of(lambda summary: float(who(summary))) == 1
        return chosen

    def _of(self, number: Any) -> np.ndarray:
        table = np.full((max(len(topic.summaries) for topic in self._topics), len(self._topics)), np.nan)
        for column, topic in enumerate(self._topics):
            table[: len(topic.summaries), column] = [number(summary) for summary in topic.summaries]
        return table
