"""What is said of WMT 2017, on the numbers that the paper itself prints, and on small ones worked by hand."""

import math

import pytest

from recapture_studies.mark_evaluate import wmt17_paper, wmt17_sentences, wmt17_sweep
from recapture_studies.mark_evaluate.wmt17_paper import BEST_K, DEFAULT_K, FIVE, SEPARATE
from recapture_studies.rated import shown

NONE = {(level, form): {} for level in ("system", "segment") for form in ("stored", "cleaned")}


def averages(table):
    return {name: sum(row.values()) / len(row) for name, row in table.items()}


def means(stored):
    return {**NONE, ("system", "stored"): stored}


def test_averages_are_those_the_paper_prints():
    """Table 2 and 6 print an average over the five pairs at the end of each row."""
    printed = {"me-words capture": (".949", ".937"), "me-words petersen": (".949", ".934"),
               "me-words quality": (".952", ".935")}  # fmt: skip
    table = wmt17_paper.beside(NONE, NONE, FIVE)
    assert table.heads[-1] == "mean"
    for name, (best, default) in printed.items():
        rows = {row[1]: row for row in table.rows if row[0] == name}
        assert rows["paper, best K"][-1] == best and rows["paper, K by default"][-1] == default
        assert rows["separate program"][-1] == shown(SEPARATE[name])
        assert rows["paper, best K"][2:-1] == [shown(BEST_K[name][pair]) for pair in FIVE]


def test_other_language_pairs_stand_beside_no_other_program():
    ours = {"me-words capture": {"de-en": 0.5, "fi-en": 0.7}}
    table = wmt17_paper.beside(
        {**NONE, ("system", "stored"): ours}, means({"me-words capture": 0.6}), ["de-en", "fi-en"]
    )
    rows = [row for row in table.rows if row[0] == "me-words capture"]
    assert rows[0] == ["me-words capture", "here, stored", ".500", ".700", ".600"]
    # The paper has no fi-en, and so no mean.
    assert rows[1] == ["me-words capture", "paper, best K", ".953", "-", "-"]
    assert "separate program" not in {row[1] for row in table.rows}


def test_claims_of_words_on_the_papers_numbers():
    """With the best K all three estimators are above all four rivals. With the default one all are below MoverScore
    (.940), which has no K, and above the other three: 9 of 12."""
    best, default = averages(BEST_K), averages(BEST_K) | averages(DEFAULT_K)
    first, second = wmt17_paper.word_claims(means(best), FIVE)
    assert first.holds == second.holds == "holds"
    assert first.here.startswith("of 12 comparisons of its three estimators with the four others 12 go its way")
    first, second = wmt17_paper.word_claims(means(default), FIVE)
    assert first.holds == "holds in part" and "9 go its way" in first.here and second.holds == "holds"
    low = {name: 0.5 if name.startswith("me-words") else value for name, value in best.items()}
    assert [claim.holds for claim in wmt17_paper.word_claims(means(low), FIVE)] == ["does not hold"] * 2
    assert wmt17_paper.word_claims(means({"bertscore f1": 0.9}), FIVE) == []


def test_sentences_on_the_papers_numbers():
    lines = wmt17_paper.verdict(means(averages(BEST_K)), FIVE)
    assert lines[0].endswith("cleaned, none.")
    assert "me-words capture .949 (separate program .963; paper .949 with the best K, .937 by default)" in lines[1]
    assert lines[2].endswith("Here the best is above bertscore f1, moverscore, pr-words precision.")
    assert len(lines) == 3  # nothing was cleaned, no InfoLM, no single translations
    cleaned = {**means({"bleu": 0.5, "ter": 0.75}), ("system", "cleaned"): {"bleu": 0.75, "ter": 0.5}}
    assert wmt17_paper.verdict(cleaned, FIVE)[1:] == [
        "Cleaning the texts moves the mean by -0.250 (ter) to +0.250 (bleu), in the middle +0.000."
    ]


def test_k_is_raised_until_the_correlation_drops():
    assert wmt17_sweep.until_it_drops([0.1, 0.2, 0.2, 0.1, 0.9]) == 2
    assert wmt17_sweep.until_it_drops([0.1, 0.2, 0.3]) == 2
    assert wmt17_sweep.until_it_drops([0.3, 0.2, 0.9]) == 0
    assert wmt17_sweep.until_it_drops([0.3, math.nan, 0.9]) == 0


# Pair a rises to k = 3, pair b falls from the start and has its best at k = 5.
BY_K = {
    1: {"a": 0.50, "b": 0.60},
    2: {"a": 0.60, "b": 0.50},
    3: {"a": 0.70, "b": 0.40},
    4: {"a": 0.20, "b": 0.30},
    5: {"a": 0.10, "b": 0.90},
}


def test_best_and_honest_k_by_hand():
    """The paper's way: a stops at k = 3 (.7), b at k = 1 (.6), mean .65. Honestly a takes b's k = 5 (.1), and b takes
    a's k = 3 (.4): mean .25."""
    assert wmt17_sweep.best_k(BY_K, ["a", "b"]) == pytest.approx(0.65)
    assert wmt17_sweep.honest_k(BY_K, ["a", "b"]) == pytest.approx(0.25)
    table = wmt17_sweep.sweep_table({"me-words capture": BY_K}, ["a", "b"])
    assert table.rows == [["CAPTURE", ".550", ".550", ".550", ".250", ".500", ".650", ".250"]]
    (claim,) = wmt17_sweep.sweep_claim({"me-words capture": BY_K}, ["a", "b"])
    assert claim.holds == "does not hold" and claim.here == "CAPTURE +0.100 as the paper does it, -0.300 honestly"
    assert wmt17_sweep.sweep_claim({"me-words capture": BY_K}, ["a"]) == []


PAPER = {label: {1: dict(zip(FIVE, row, strict=True))} for label, row in wmt17_sentences.PAPER.items()}


def test_claims_of_sentence_vectors_on_the_papers_numbers():
    """Table 5 by its rows: .883, .872 and .884 against .842 and .839; words (.934 to .937) are above all of them."""
    words = averages(DEFAULT_K)
    claims = wmt17_sentences.sentence_claims(PAPER, FIVE, words)
    assert [claim.holds for claim in claims] == ["holds", "holds"]
    for number in (".883", ".872", ".884", ".842", ".839"):
        assert number in claims[0].here
    assert claims[1].here == "words .934 to .937, sentences .872 to .884"
    # No words were scored: nothing is said of them. No Mark-Evaluate: nothing at all.
    assert len(wmt17_sentences.sentence_claims(PAPER, FIVE, {})) == 1
    others = {label: by_k for label, by_k in PAPER.items() if not label.startswith("mark-evaluate")}
    assert wmt17_sentences.sentence_claims(others, FIVE, words) == []


def test_claims_of_sentence_vectors_in_part_and_not_at_all():
    low = {**PAPER, "mark-evaluate capture": {1: dict.fromkeys(FIVE, 0.8)}}
    words = {"me-words capture": 0.9, "me-words petersen": 0.7}
    claims = wmt17_sentences.sentence_claims(low, FIVE, words)
    assert [claim.holds for claim in claims] == ["holds in part", "holds in part"] and claims[0].why
    worse = {label: {1: dict.fromkeys(FIVE, 0.5)} if "mark" in label else by_k for label, by_k in PAPER.items()}
    claims = wmt17_sentences.sentence_claims(worse, FIVE, {"me-words capture": 0.4})
    assert [claim.holds for claim in claims] == ["does not hold", "does not hold"]
