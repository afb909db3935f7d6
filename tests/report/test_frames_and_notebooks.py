"""Results as tables of pandas, and how they look in a notebook."""

import csv
import html
import io
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import recapture as rc

HUMAN, NEAR, FAR = np.random.default_rng(3).standard_normal((3, 40, 3))
TEXTS = ["a cat sat", "a dog ran", "rain fell", "we ate soup"]
NASTY = "<script>alert(1)</script> & \u202e\x00"


def scored(name="near"):
    return rc.evaluate(HUMAN, {name: NEAR, "far": FAR + 1}, ["mmd", "density-coverage"], interval=0.9, pvalue=99)


def compared(name="near"):
    return rc.compare(HUMAN, {name: NEAR, "far": FAR + 1}, ["mmd", "density-coverage"])


def diagnosed(text="zzz yyy xxx www vvv uuu"):
    return rc.diagnose(TEXTS * 5, [text, *TEXTS[:2]] * 5, encoder="bag-of-words")


def agreement():
    bleu, people = [[0, 0.2], [0.1, 0.3], [0.3, 0.5], [0.2, 0.1]], [[0, 2], [1, 3], [2, 4], [0, 1]]
    asked = {"tests": ["williams", "permutation"], "accuracy": True, "matrix": True, "interval": 0.9}
    return rc.correlate({"bleu": bleu, "other": people}, {"people": people}, directions="higher", **asked)


MADE = {
    "score": scored,
    "compare": compared,
    "diagnose": diagnosed,
    "correlate": agreement,
    "pairs": lambda: rc.evaluate_pairs(TEXTS, {"x": TEXTS[::-1]}, ["bleu", "chrf"], interval=0.9),
    "contexts": lambda: rc.evaluate_contexts(
        [rc.Context("one", ["a b c", "a b d", "c d"], ["a b c", "b c d"])], ["trm-rouge-l"], resume=False
    ),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_table_of_pandas_has_what_csv_has(kind):
    """Row by row and column by column, read back by Python's csv module; numbers to the last digit."""
    pandas = pytest.importorskip("pandas")
    result = MADE[kind]()
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert list(frame.columns) == list(rows[0]) and len(frame) == len(rows) > 0
    compared_cells = 0
    for column in frame.columns:
        for value, words in zip(frame[column], (row[column] for row in rows), strict=True):
            if isinstance(value, float) and words:
                assert value == float(words) or value != value
                compared_cells += 1
            elif isinstance(value, str):
                assert value == words.removeprefix("'")
                compared_cells += 1
    assert compared_cells >= len(rows)


PAGE = Path(__file__).parents[2] / "docs" / "papers-and-notebooks.md"


@pytest.mark.parametrize("kind", MADE)
def test_every_column_is_documented(kind):
    pytest.importorskip("pandas")
    section = PAGE.read_text(encoding="utf-8").partition("## Tables of pandas")[2].partition("## Figures")[0]
    documented = set(re.findall(r"`(\w+)`", section))
    assert set(MADE[kind]().to_pandas().columns) <= documented


def test_numbers_are_numbers_and_lists_can_be_grouped():
    pytest.importorskip("pandas")
    frame = scored().to_pandas()
    assert {str(frame[name].dtype) for name in ("value", "interval_low", "pvalue", "human_mean")} == {"float64"}
    assert str(frame["candidate_samples"].dtype) == "int64"
    assert all(isinstance(each, tuple) for each in frame["warnings"])
    assert len(frame.groupby("warnings").size()) >= 1
    best = frame[frame["number"] == "coverage"].set_index("candidate")["value"]
    assert best["near"] > best["far"]


def test_rows_of_one_kind_have_its_own_columns():
    pytest.importorskip("pandas")
    result = compared()
    differences = result.to_pandas("differences")
    assert list(differences.columns) == [
        "a", "b", "number", "value", "low", "high", "pvalue", "adjusted", "distinct",
    ]  # fmt: skip
    assert differences["value"].tolist() == [each.value for each in result.differences["near", "far"].values()]
    assert set(result.to_pandas()["kind"]) == {"values", "differences"}
    with pytest.raises(rc.InputError, match="no rows of the kind 'diferences'; did you mean differences"):
        result.to_pandas("diferences")


def test_lists_without_texts_have_their_columns():
    """A model without faults is no reason for a notebook to stop."""
    pytest.importorskip("pandas")
    found = rc.diagnose(TEXTS * 5, TEXTS * 5, encoder="bag-of-words")
    assert not found.lost and not found.phrases
    for kind in ("invented", "lost"):
        assert len(found.to_pandas(kind)[["index", "text", "score", "pvalue", "nearest_text"]]) == 0
    assert list(found.to_pandas("phrases").columns)[:2] == ["words", "candidate"]


def test_half_characters_do_not_stop_it():
    """pandas' own type of texts is UTF-8, which has no halves of pairs."""
    pytest.importorskip("pandas")
    frame = compared("a\ud800b").to_pandas("values")
    assert frame["system"].tolist()[0] == "a\ud800b"


def test_one_result_alone():
    pytest.importorskip("pandas")
    result = rc.density_coverage(HUMAN, NEAR)
    assert result.to_pandas()["value"].tolist() == [result.density, result.coverage]


def test_without_pandas_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(rc.InputError, match=r'^to_pandas needs pandas: pip install "recapture\[pandas\]"$'):
        rc.density_coverage(HUMAN, NEAR).to_pandas()


@pytest.mark.slow
def test_neither_pandas_nor_matplotlib_is_loaded_before_it_is_used():
    code = (
        "import sys, numpy as np, recapture as rc; from recapture.report import report; import recapture.page;"
        "rc.mmd(np.eye(4), np.eye(4))._repr_html_();"
        "print([name for name in ('pandas', 'matplotlib') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


class Read(HTMLParser):
    """Tags in balance, words, and every attribute."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.attributes, self.style = [], [], [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["style"]:
            self.style += data
        else:
            self.words.append(data)


@pytest.mark.parametrize("kind", MADE)
def test_a_notebook_shows_the_answer_and_the_tables_in_one_piece(kind):
    result = MADE[kind]()
    seen = Read(result._repr_html_())
    text = "".join(seen.words)
    assert seen.tags[0] == "div" and seen.tags.count("table") == len(result.report().tables)
    for sentence in getattr(result, "verdict", ()):
        assert sentence in text
    for table in result.report().tables:
        assert all(cell in text for row in table.rows for cell in row)
    # Nothing runs and nothing is asked for.
    assert not {"script", "link", "img", "iframe", "object"} & set(seen.tags)
    assert {name for name, _ in seen.attributes} <= {"class"}
    assert "url(" not in seen.style and "@import" not in seen.style


def test_a_notebook_in_the_dark_keeps_its_own_colours():
    """No opaque black, white or grey for words or grounds: they are inherited, or let the notebook's through."""
    style = Read(compared()._repr_html_()).style
    grounds = re.findall(r"background:([^;}]+)", style)
    words = re.findall(r"(?<![-\w])color:([^;}]+)", style)
    assert grounds and set(grounds) <= {"transparent", "rgba(127,127,127,.12)", "rgba(127,127,127,.14)"}
    assert words and set(words) == {"inherit"}
    # Rules hold for our own piece alone: a notebook's other tables stay as they are.
    assert all(rule.strip().startswith(".recapture-result") for rule in re.findall(r"[^{}]+(?=\{)", style))


def test_texts_in_a_notebook_are_text():
    for result in (scored(NASTY), compared(NASTY), diagnosed(f"{NASTY} one two three four five")):
        page = result._repr_html_()
        assert "<script" not in page and "\u202e" not in page and "\x00" not in page
        assert html.escape("<script>alert(1)</script> &") in page
        Read(page)
