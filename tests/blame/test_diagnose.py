"""The whole of `diagnose`: rows, sentences, forms, repeats and copies with their human rates, and what is refused."""

import csv
import io
import json

import numpy as np
import pytest
from scipy.stats import fisher_exact

import recapture as rc

_WHO, _WHAT, _WHERE = ("cats", "dogs", "birds", "mice"), ("sit", "run", "hide", "eat"), ("barn", "mill", "pier", "yard")
HUMAN = [f"{who} {what} near the old {where} today" for who in _WHO for what in _WHAT for where in _WHERE]
COPY = "the minister said on friday that taxes would rise again next year"


@pytest.fixture(scope="module")
def of_texts():
    """Four copies, one of them twice and one nearly; one text five times."""
    reference = [*HUMAN[:50], COPY, "a short one here", "a second short one", "the third of these short ones"]
    candidate = [
        *HUMAN[50:],
        COPY,
        COPY.replace("again", "sharply"),
        "a short  one here",
        *["as an assistant i cannot say"] * 5,
        "",
        "",
    ]
    return reference, candidate, rc.diagnose(reference, candidate, encoder="bag-of-words")


def test_copied(of_texts):
    reference, candidate, found = of_texts
    rows = {row.index: row for row in found.copied}
    assert rows[14].match == "equal" and rows[14].nearest.text == COPY and rows[14].nearest.distance == 0
    assert rows[15].match == "near" and rows[15].nearest.index == reference.index(COPY)
    assert rows[15].score == 9 / 12  # behind the changed word only two are left, too few for a run of six
    assert rows[16].match == "equal" and rows[16].score == 1 and rows[16].text == "a short  one here"
    assert not {index for index in rows if candidate[index] == ""}
    rate = {each.what: each for each in found.rates}["stand in the reference"]
    assert rate.candidate == 2 / len(candidate) and rate.human == 0
    expected = fisher_exact([[2, 0], [len(candidate) - 2, len(reference)]], "greater").pvalue
    assert rate.pvalue == pytest.approx(expected)


def test_repeated(of_texts):
    _, candidate, found = of_texts
    row = next(row for row in found.repeated if "assistant" in row.text)
    assert row.score == 5 and row.match == "equal" and row.places == (17, 18, 19, 20, 21) and row.index == 17
    n, m = 54, len(candidate)
    # Given the text itself, four others of the candidate's and none of people's repeat it.
    assert row.pvalue == pytest.approx(fisher_exact([[4, 0], [m - 5, n]], "greater").pvalue)
    rate = {each.what: each for each in found.rates}["repeat others of their set"]
    assert rate.candidate == pytest.approx(4 / m) and rate.human == 0 and rate.pvalue <= 0.05
    flags = {record["index"]: record["flags"] for record in found.texts if record["side"] == "candidate"}
    assert "repeated" in flags[21] and "copied" in flags[14] and flags[22] in ("", "invented")


TEMPLATE = "{} is a {} pub in the riverside area near the old bridge that serves {} food"


@pytest.fixture(scope="module")
def of_templates():
    """Texts of one template, some of them equal, and some copies of their own pair."""
    rng = np.random.default_rng(7)
    words = [f"w{number}" for number in range(200)]
    reference = [" ".join(rng.choice(words, 14)) for _ in range(40)]
    filled = [TEMPLATE.format(*rng.choice(words, 3)) for _ in range(25)]
    candidate = [*filled, *filled[:5], *(" ".join(rng.choice(words, 14)) for _ in range(6)), *reference[36:]]
    return reference, candidate, rc.diagnose(reference, candidate, encoder="bag-of-words", paired=True)


def test_counts_are_those_of_other_commands(of_templates):
    reference, candidate, found = of_templates
    scored = rc.evaluate(reference, {"candidate": candidate}, metrics="mmd", encoder="bag-of-words", paired=True)
    inputs = scored.inputs["candidate"]
    assert found.copied.amount == inputs["copied"] + inputs["near_copied"] == 4
    assert found.repeated.amount == inputs["repeated"] + inputs["near_repeated"] == 29
    assert found.repeated.amount == sum(len(row.places) - 1 for row in found.repeated)
    assert "repeated: 29 of 40 texts of candidate (5 word for word, 24 nearly); among people 0 of 40" in str(found)
    rates = {each.what: each.candidate for each in found.rates}
    assert rates["repeat others of their set"] == 5 / 40 and rates["nearly repeat others"] == 24 / 40
    flagged = [record for record in found.texts if "repeated" in record["flags"]]
    assert len(flagged) == 29


def test_own_pairs_are_said_to_be_left_out(of_templates):
    reference, candidate, found = of_templates
    assert "copied: 4 of 40 texts of candidate (4 word for word, 0 nearly), 0 of them also from texts" in str(found)
    assert str(found).count("not counting texts of its own pair") == 5  # four lists, and rates
    assert {record["nearest"] != record["index"] for record in found.texts} == {True}
    alone = rc.diagnose(reference, candidate, encoder="bag-of-words")
    assert "not counting" not in str(alone) and "from texts that" not in str(alone)
    assert alone.copied.amount == 4


def test_the_strongest_finding_is_in_the_verdict(of_templates):
    *_, found = of_templates
    (said,) = (each for each in found.verdict if "strongest" in each)
    best = min([*found.phrases, *found.seldom, *found.clusters], key=lambda each: each.adjusted)
    assert "75 % of the texts of candidate and 0 % of people's" in said and best.candidate == 30
    names = [each.split(":")[0] for each in found.verdict]
    assert len(names) == 5 and names.index("Clusters") < names.index("Lost")  # what found nothing comes last
    rng = np.random.default_rng(8)
    assert "strongest" not in " ".join(rc.diagnose(*rng.standard_normal((2, 80, 3))).verdict)


def test_human_rates_leave_each_text_out():
    reference = ["one two three", "one two three", "four five six", "seven eight nine ten"]
    found = rc.diagnose(reference, ["one two three", "other words here", "more words"], encoder="bag-of-words")
    rate = found.rates[0]
    assert (rate.candidate, rate.human) == (pytest.approx(1 / 3), 0.5)
    grouped = rc.diagnose(
        reference, ["one two three", "other words here", "more words"], encoder="bag-of-words",
        reference_groups=["a", "a", "b", "c"], candidate_groups=["d", "e", "f"],
    )  # fmt: skip
    assert grouped.rates[0].human == 0  # one document says it twice


def test_vectors():
    rng = np.random.default_rng(0)
    reference, candidate = rng.standard_normal((2, 60, 3))
    candidate[5], candidate[7] = reference[2], candidate[6]
    found = rc.diagnose(reference, candidate)
    (copied,) = found.copied
    assert copied.index == 5 and copied.text is None and copied.nearest.index == 2 and copied.nearest.text is None
    (repeated,) = found.repeated
    assert repeated.places == (6, 7)
    assert found.phrases == [] and all(topic.ngrams == () for topic in found.clusters)
    assert all(record["text"] is None for record in found.texts)


def test_sentences_where_little_can_be_told():
    rng = np.random.default_rng(1)
    reference, candidate = rng.standard_normal((2, 100, 3))
    found = rc.diagnose(reference, candidate)
    assert len(found.invented) == 0 and found.invented.least == 10
    said = "the 10 furthest; fewer than 10 cannot be told from chance at this size"
    assert said in found.invented.said and f"Invented: none for sure; {said}." in found.verdict and said in str(found)
    furthest = [row.score for row in found.invented.shown]
    assert len(furthest) == 10 and furthest == sorted(furthest, reverse=True)
    few = rc.diagnose(reference[:5], candidate[:3])
    assert "too small to tell any from chance" in few.invented.said


def test_order_of_texts_does_not_matter():
    rng = np.random.default_rng(2)
    reference, candidate = rng.standard_normal((90, 4)), rng.standard_normal((50, 4))
    candidate[:20] += 8
    order = rng.permutation(50)
    one, other = rc.diagnose(reference, candidate), rc.diagnose(reference, candidate[order])
    assert {row.index for row in one.invented} == {int(order[row.index]) for row in other.invented}
    assert [(t.candidate, t.reference, t.pvalue) for t in one.clusters] == [
        (t.candidate, t.reference, t.pvalue) for t in other.clusters
    ]
    assert [rate.pvalue for rate in one.rates] == [rate.pvalue for rate in other.rates]


def test_paired_texts_are_not_each_others_nearest():
    rng = np.random.default_rng(3)
    prompts = rng.standard_normal((40, 3))
    reference, candidate = prompts + 1e-3, prompts - 1e-3
    found = rc.diagnose(reference, candidate, paired=True)
    assert all(record["nearest"] != record["index"] for record in found.texts)
    assert all(record["nearest"] == record["index"] for record in rc.diagnose(reference, candidate).texts)


def test_forms(of_texts, tmp_path):
    reference, candidate, found = of_texts
    content = json.loads(found.to_json())
    assert content["kind"] == "texts" and set(content["results"]) == {
        "invented", "lost", "repeated", "copied", "clusters", "phrases", "seldom", "rates"
    }  # fmt: skip
    assert content["results"]["copied"][0]["nearest_text"] == found.copied[0].nearest.text
    assert content["verdict"] == found.verdict
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert {row["kind"] for row in rows} >= {"repeated", "copied", "clusters", "rates"}
    assert "\\begin{tabular}" in found.to_latex() and "| index | text |" in found.to_markdown()
    assert "<table>" in found._repr_html_()
    paths = [tmp_path / f"texts{ending}" for ending in (".jsonl", ".csv", ".parquet")]
    for path in paths:
        found.save_texts(path)
    lines = [json.loads(line) for line in paths[0].read_text().splitlines()]
    assert lines == found.texts and len(lines) == len(reference) + len(candidate)
    assert [line["text"] for line in lines] == [*reference, *candidate]
    assert {"text", "side", "x", "y", "cluster", "nearest"} <= set(lines[0])
    table = list(csv.DictReader(paths[1].open(encoding="utf-8")))
    assert [float(row["x"]) for row in table] == [line["x"] for line in lines]
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed").read_table(paths[2])
    assert parquet.to_pylist() == lines


def test_texts_are_shown_harmless():
    texts = ["red \x1b[31m alarm", "right \u202e to left", "<script>alert(1)</script>", "zero \x00 byte", "=1+1"]
    found = rc.diagnose(texts, [*texts[:3], "another one", "and one more"], encoder="bag-of-words")
    shown = str(found) + found.to_csv() + found.to_markdown()
    assert "\x1b" not in shown and "\u202e" not in shown and "\x00" not in shown
    assert "<script>" not in found.to_html() and "<script>" not in found.to_markdown()
    assert any(record["text"] == texts[0] for record in found.texts)  # kept as it is


@pytest.mark.parametrize(
    "sets",
    [
        (np.zeros((4, 2)), np.zeros((3, 2))),
        (np.zeros((1, 2)), np.ones((1, 2))),
        (np.zeros((1, 2)), np.ones((5, 2))),
        (np.eye(3), np.zeros((1, 3))),
        (1e140 * np.eye(4), np.zeros((4, 4))),
    ],
)
def test_odd_sets(sets):
    found = rc.diagnose(*sets)
    json.loads(found.to_json())
    assert len(found.texts) == sum(map(len, sets)) and len(found.invented) == 0


@pytest.mark.parametrize("level", [0, 1, -0.1, 2, "0.1", float("nan"), True, None])
def test_level_is_checked(level):
    with pytest.raises(rc.InputError, match="level must be a number between 0 and 1"):
        rc.diagnose(np.eye(3), np.eye(3), level=level)


def test_bad_input(tmp_path):
    texts = ["a b", "c d"]
    with pytest.raises(rc.InputError, match="clusters must be a whole number of at least 1"):
        rc.diagnose(np.eye(3), np.eye(3), clusters=0)
    with pytest.raises(rc.InputError, match="candidate holds vectors"):
        rc.diagnose(texts, np.eye(2))
    with pytest.raises(rc.InputError, match="has groups and"):
        rc.diagnose(np.eye(3), np.eye(3), reference_groups=[1, 2, 3])
    found = rc.diagnose(np.eye(3), np.eye(3))
    with pytest.raises(rc.InputError, match=r"the name must end in .jsonl, .csv, .parquet"):
        found.save_texts(tmp_path / "texts.txt")
    with pytest.raises(rc.InputError, match="cannot write"):
        found.save_texts(tmp_path / "nowhere" / "texts.csv")
    assert not list(tmp_path.iterdir())
