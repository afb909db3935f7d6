"""What is said of WMT 2017, on the numbers that the paper itself prints, and on small ones worked by hand."""

import math

import pytest
from scipy import stats

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


def test_claims_of_words_over_language_pairs():
    """Ahead by .1, give or take .01, in each of five pairs: t = .1 / (.01 / sqrt 5) is far above 2.78. Ahead by .1 in
    the mean, but by -.3 to .5: nobody knows."""
    steps = dict(zip(FIVE, (-0.01, -0.01, 0.0, 0.01, 0.01), strict=True))
    own = {name: {pair: DEFAULT_K[name][pair] + 0.01 for pair in FIVE} for name in wmt17_paper._PRINTED}
    rivals = {"bertscore f1": {pair: own["me-words capture"][pair] - 0.3 + step for pair, step in steps.items()}}
    first, second = wmt17_paper.word_claims(own | rivals, FIVE)
    assert first.holds == second.holds == "holds" and first.own and first.sample == "in sample"
    assert first.verdict.because == "of 3 parts 3 hold"
    wide = {"bertscore f1": {pair: 0.8 + 40 * step for pair, step in steps.items()}}
    first, _ = wmt17_paper.word_claims(own | wide, FIVE)
    assert first.holds == "cannot be told"
    # The other way round, and estimators far from the paper's numbers.
    low = {name: dict.fromkeys(FIVE, 0.3) | {"de-en": 0.31} for name in own}
    claims = wmt17_paper.word_claims(low | {"bertscore f1": own["me-words capture"]}, FIVE)
    assert [claim.holds for claim in claims] == ["does not hold", "does not hold"]
    assert wmt17_paper.word_claims(rivals, FIVE) == []


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
    same, other = wmt17_sweep.sweep_claims([dict(zip(table.heads, row, strict=True)) for row in table.rows])
    assert (same.holds, same.here, same.sample) == ("holds", "CAPTURE +0.100", "in sample")
    assert (other.holds, other.here, other.sample) == ("does not hold", "CAPTURE -0.300", "out of sample")
    assert wmt17_sweep.sweep_claims([]) == []


PAPER = {label: dict(zip(FIVE, row, strict=True)) for label, row in wmt17_sentences.PAPER.items()}


def test_claims_of_sentence_vectors_on_the_papers_numbers():
    """Table 5 by its rows: .883, .872 and .884 against .842 and .839. Over five language pairs that
    is too little: scipy's paired t-test has no p of at most .05 among the six."""
    claims = wmt17_sentences.sentence_claims(PAPER, FIVE, DEFAULT_K)
    for number in (".883", ".872", ".884", ".842", ".839"):
        assert number in claims[0].here
    told = [
        stats.ttest_rel(list(PAPER[one].values()), list(PAPER[other].values())).pvalue <= 0.05
        for one in PAPER
        if one.startswith("mark")
        for other in ("prd f1_8", "precision-recall precision")
    ]
    assert not any(told) and claims[0].verdict.because == "of 6 parts 6 cannot be told"
    assert claims[0].holds == "cannot be told"
    assert "capture .937 against .884" in claims[1].here
    # No words were scored: nothing is said of them. No Mark-Evaluate: nothing at all.
    assert len(wmt17_sentences.sentence_claims(PAPER, FIVE, {})) == 1
    others = {label: row for label, row in PAPER.items() if not label.startswith("mark-evaluate")}
    assert wmt17_sentences.sentence_claims(others, FIVE, DEFAULT_K) == []


def test_claims_of_sentence_vectors_that_do_not_hold():
    worse = {label: dict.fromkeys(FIVE, 0.1) if "mark" in label else row for label, row in PAPER.items()}
    claims = wmt17_sentences.sentence_claims(worse, FIVE, {"me-words capture": dict.fromkeys(FIVE, 0.05)})
    assert [claim.holds for claim in claims] == ["does not hold", "does not hold"] and claims[0].why
