"""Words that change places: the perturbation itself, and what theory forces on the numbers."""

import numpy as np
import pytest

from recapture_studies.made_up.genre_texts import build
from recapture_studies.mark_evaluate import word_swap
from recapture_studies.mark_evaluate.perturbed import CURVES, Track
from recapture_studies.mark_evaluate.word_swap import PROBABILITIES, swapped
from recapture_studies.study import Setup, find_study

TEXT = "one two three four five six seven eight nine ten"


@pytest.fixture
def data(tmp_path):
    build(tmp_path)
    return tmp_path


def test_words_stay_the_same():
    for seed in range(50):
        for p in PROBABILITIES:
            assert sorted(swapped(TEXT, p, [seed]).split()) == sorted(TEXT.split())
        assert swapped(TEXT, 0, [seed]) == TEXT and swapped("alone", 1, [seed]) == "alone"
        assert swapped("first second", 1, [seed]) == "first second"  # there and back again
        assert swapped(TEXT, 0.7, [seed]) == swapped(TEXT, 0.7, [seed])


def test_how_many_sentences_change():
    """None of ten places changes with probability (1 - p)^10; changes that undo each other are rare."""
    seeds = range(3000)
    for p in (0.1, 0.2, 0.4):
        same = np.mean([swapped(TEXT, p, [seed]) == TEXT for seed in seeds])
        untouched = (1 - p) ** 10
        error = 4 * np.sqrt(untouched * (1 - untouched) / len(seeds))
        assert untouched - error <= same <= untouched + error + 0.01


def test_a_higher_probability_moves_more():
    def moved(p):
        return np.mean([
            [a != b for a, b in zip(swapped(TEXT, p, [seed]).split(), TEXT.split(), strict=True)] for seed in range(400)
        ])  # fmt: skip

    shares = [moved(p) for p in PROBABILITIES]
    assert shares == sorted(shares) and shares[0] == 0
    # Every place swaps with another: close to a random order, in which a tenth would stay.
    assert 0.85 < shares[-1] < 1


def curves(findings, name="curves", data="XNLI, no partners"):
    grid = next(each.table for each in findings.tables if each.name == name)
    rows = [dict(zip(grid.heads, row, strict=True)) for row in grid.rows]
    return {(row["method"], row["number"]): row for row in rows if row["data"] == data}


def check_blind(findings):
    """A bag of words has no order, so nothing may move at all."""
    both = [curves(findings, "summary", data) for data in ("XNLI, no partners", "Brown")]
    for row in [row for rows in both for row in rows.values()]:
        assert row["change"] in ("0.000", "-") and row["as written"] == row["swapped"]
        assert row["seen"] in ("stays", "wavers" if row["change"] == "-" else "stays")
    held = {claim.id.split("/")[-1]: claim.holds for claim in find_study("word-swap").claims(findings)}
    # Not a digit moves: that it stays is sure. Whether it falls cannot be seen over folds that do not move, and is
    # denied by the plain numbers of one draw: half of the parts each.
    assert held["schnabel"] == "holds in part" and held["single-numbers"] == "does not hold"


@pytest.mark.traced
@pytest.mark.slow
def test_a_bag_of_words_sees_nothing(data, own_cache):
    check_blind(find_study("word-swap").run(Setup(data, quick=True, encoder="bag-of-words")))


@pytest.mark.slow
def test_a_bag_of_words_sees_nothing_in_real_sentences(data_folder, own_cache):
    check_blind(find_study("word-swap").run(Setup(data_folder, quick=True, encoder="bag-of-words")))


def disorder(texts):
    """Where a sentence is by its words, and far away if they are not in the alphabet's order."""
    rows = np.zeros((len(texts), 5))
    for row, text in zip(rows, texts, strict=True):
        words = text.split()
        digits = sorted(int(word[-2:]) for word in words if word[:2] != "zz")
        row[:4] = np.array(digits[:4]) + 0.01 * np.array(digits[3:7])
        row[4] = 1e4 * sum(a > b for at, a in enumerate(words) for b in words[at:])
    return rows


@pytest.mark.traced
@pytest.mark.slow
def test_an_encoder_that_sees_all_of_it(data, own_cache):
    """Only sentences that stay in order can lie in a reference's sphere: precision is at most their share."""
    findings = find_study("word-swap").run(Setup(data, quick=True, encoder=disorder))
    grid = next(each.table for each in findings.tables if each.name == "curves")
    notes = dict(zip(("XNLI, no partners", "Brown"), grid.caption[0].split("written: ")[1:], strict=True))
    for data, steps in (("XNLI, no partners", ("0", "0.3", "0.6", "1")), ("Brown", ("0", "0.3", "1"))):
        rows = curves(findings, data=data)
        shares = dict(part.split(" at ")[::-1] for part in notes[data].split(". ")[0].split(", "))
        assert tuple(shares) == steps
        for p in steps:
            unmoved = 1 - float(shares[p].rstrip("%")) / 100
            assert float(rows["IMPAR", "precision"][p]) <= unmoved + 0.006
    assert rows["IMPAR", "precision"]["0.6"] == "-"  # Brown has no such step, and no number in its column
    rows = curves(findings)
    assert float(rows["IMPAR", "precision"]["0"]) > 0.5
    assert float(rows["Fréchet", "-"]["1"]) > float(rows["Fréchet", "-"]["0.3"]) > float(rows["Fréchet", "-"]["0"])
    summary = curves(findings, "summary")
    assert summary["IMPAR", "precision"]["seen"] == summary["ME Schnabel", "quality"]["seen"] == "falls"


@pytest.mark.parametrize("recall, said", [([0.8, 0.6, 0.4], True), ([0.8, 0.8, 0.8], False)])
def test_sentences_that_move_together_are_told_of(recall, said):
    """Precision stays and recall falls: order is lost, but it looks like variety. Where both stay, not a word."""
    noise = np.array([[1e-4], [-1e-4]])
    by_name = {curve.name: Track(curve, np.array([0.8, 0.8, 0.8]) + noise) for curve in CURVES}
    by_name["IMPAR recall"] = Track(by_name["IMPAR recall"].curve, np.array(recall) + noise)
    lines = word_swap._verdict(by_name, "XNLI", {"size": {"XNLI": 10_000}, "folds": {"XNLI": 2}})
    assert lines[0].startswith("XNLI, 10,000 v 10,000 sentences (the paper's size): ")
    assert (
        any("(precision 0.80 to 0.80) but reach fewer references (recall 0.80 to 0.40)" in line for line in lines)
        is said
    )
    assert lines[3] == "Quality falls, and by more than diversity, for none of the methods that tell the two apart."
