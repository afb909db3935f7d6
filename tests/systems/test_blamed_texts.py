"""What the page of a comparison says of texts: planted phrases, copies and a lost topic are found, system by system."""

import numpy as np
import pytest

import recapture as rc
from recapture.page.page_parts import TextLists, page_of
from recapture.systems import blamed_texts

WORDS = ["red", "blue", "green", "small", "large", "old", "new", "quiet", "loud", "warm", "cold", "soft"]
THINGS = ["boat", "net", "pier", "harbour", "sail", "anchor"], ["soup", "bread", "stove", "oven", "spoon", "kitchen"]


def texts(rng, topics, count=60, more=""):
    """Sentences about boats (topic 0) or food (topic 1)."""
    made = []
    for at in range(count):
        things = rng.choice(THINGS[topics[at % len(topics)]], 3, replace=False)
        words = rng.choice(WORDS, 3)
        # Numbers keep texts from repeating each other by chance.
        said = [f"{word} {thing} {rng.integers(999)}" for word, thing in zip(words, things, strict=True)]
        made.append(" ".join(said) + more)
    return made


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(5)
    people = texts(rng, [0, 1])
    wordy = texts(rng, [0, 1], more=" it is important to note")
    narrow = [*texts(rng, [0], 56), *people[:4]]  # food is gone, four texts are copies
    return rc.compare(people, {"wordy": wordy, "narrow": narrow}, "mmd", encoder="bag-of-words", ceiling=4)


@pytest.mark.traced
@pytest.mark.slow
def test_phrases_by_which_each_side_is_known(compared):
    """ "important" stands in all texts of one system and in none of the others."""
    table = page_of(compared).lists[0]
    assert table.title == "Typical phrases" and list(table.heads[:2]) == ["side", "phrase"]
    rows = [list(map(str, row)) for row in table.rows]
    (row,) = [row for row in rows if "important" in row[1] and row[0] == "wordy"]
    assert row[2:5] == ["0.0%", "100.0%", "0.0%"]
    assert not any("important" in row[1] for row in rows if row[0] != "wordy")
    assert all(float(row[-1]) >= 3 for row in rows)


def test_each_system_has_its_lists_and_the_map_its_flags(compared):
    page = page_of(compared)
    groups = [each for each in page.lists if isinstance(each, TextLists)]
    assert [each.title.partition(":")[0] for each in groups] == ["wordy", "narrow"]
    assert "copied 4" in groups[1].title and "copied 0" in groups[0].title
    copied = next(table for table in groups[1].tables if table.title == "Copied")
    assert [row[0] for row in copied.rows] == ["56", "57", "58", "59"]
    seldom = next(table for table in groups[1].tables if table.title == "Too often, too seldom")
    assert any("too seldom" in row and set(THINGS[1]) & set(row[2].replace(",", "").split()) for row in seldom.rows)
    assert groups[1].said == rc.diagnose(
        compared.results.kept.prepared.texts["reference"], compared.results.kept.prepared.texts["narrow"],
        encoder=_same_space(compared), candidate_name="narrow",
    ).verdict  # fmt: skip
    shown = page.map
    places = zip(shown.side.tolist(), shown.index.tolist(), shown.colours["flag"], strict=True)
    assert {(side, at) for side, at, flag in places if "copied" in flag} == {(2, 56), (2, 57), (2, 58), (2, 59)}
    clusters = set(shown.colours["cluster"])
    assert any(set(THINGS[1]) & set(name.replace(",", "").split()) for name in clusters)  # named by their words
    html = page.to_html()
    assert html.count('<details class="group">') == 2 and "Typical phrases" in html


def _same_space(compared):
    """The vectors of the comparison, by text: an encoder that learns would learn from fewer texts."""
    prepared = compared.results.kept.prepared
    rows = {}
    for points, name in [
        (prepared.reference, "reference"),
        *((each, name) for name, each in prepared.candidates.items()),
    ]:
        rows |= dict(zip(prepared.texts[name], np.asarray(points.values), strict=True))
    return lambda texts: np.array([rows[text] for text in texts])


@pytest.mark.traced
@pytest.mark.slow
def test_vectors_have_no_words_and_large_sets_say_where_lists_are(compared, monkeypatch):
    people, a, b = np.random.default_rng(0).standard_normal((3, 30, 2))
    assert not page_of(rc.compare(people, {"a": a, "b": b}, "mmd", ceiling=False)).lists
    monkeypatch.setattr(blamed_texts, "MOST", 100)
    page = page_of(compared)
    assert len(page.lists) == 1 and "recapture inspect" in page.map.caption[-1]


def test_a_stored_baseline_has_vectors_alone(tmp_path):
    rng = np.random.default_rng(1)
    people, old, new = (texts(rng, [0, 1], 30) for _ in range(3))

    def encode(own):
        return np.array([[len(text), text.count("e"), text.count("a")] for text in own], float)

    rc.save_baseline(tmp_path / "old.safetensors", people, old, "mmd", encoder=encode)
    compared = rc.compare(None, {"new": new}, "mmd", encode, baseline=tmp_path / "old.safetensors", ceiling=False)
    page = page_of(compared)
    assert not page.lists and page.map.texts[0] == "sample 1"  # its numbers are no text
