"""Scores of texts against each other, and metrics of contexts on scores that are there already."""

import numpy as np
import pytest

import recapture as rc

REFERENCES = ["a cat sat on the mat", "the cat sat there", "a small cat on a mat"]
CANDIDATES = ["a dog ran home", "the cat sat on a mat"]
TEXTS = [*REFERENCES, *CANDIDATES]


@pytest.mark.parametrize("metric", ["meteor", "rouge-l", "chrf"])
def test_every_pair_alone(metric):
    square = rc.pairwise_scores(TEXTS, TEXTS, metric)
    assert square.shape == (5, 5)
    for at, text in enumerate(TEXTS):
        assert rc.pairwise_scores([text], TEXTS, metric)[0].tolist() == square[at].tolist()
    if metric == "rouge-l":
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeL"])
        expected = [[scorer.score(reference, text)["rougeL"].fmeasure for reference in TEXTS] for text in TEXTS]
        np.testing.assert_allclose(square, expected, atol=1e-12)


@pytest.mark.parametrize("rule", [None, "mean"])
def test_ready_scores_give_the_same_average_and_p(rule):
    square = rc.pairwise_scores(TEXTS, TEXTS, "meteor")
    made = rc.aggregate(REFERENCES, CANDIDATES, "meteor", rule, pvalue=True)
    ready = rc.aggregate(REFERENCES, CANDIDATES, "meteor", rule, pvalue=True, scores=square)
    assert (ready.value, ready.pvalue) == (made.value, made.pvalue)
    by_hand = square[3:, :3].mean(axis=1) if rule else square[3:, :3].max(axis=1)
    assert ready.value == pytest.approx(by_hand.mean(), abs=1e-15)
    distances = 1 - square
    np.fill_diagonal(distances, 0)
    assert rc.triangle_rank(REFERENCES, CANDIDATES, distances).value == rc.triangle_rank(REFERENCES, CANDIDATES).value


@pytest.mark.parametrize(
    "given, message",
    [
        ({"scores": np.ones((4, 4))}, r"shape \(4, 4\), but 5 texts need 5 x 5"),
        ({"scores": "high"}, "square matrix of numbers"),
        ({"scores": np.full((5, 5), np.nan)}, "finite"),
        ({"scores": np.ones((5, 5)), "wordnet": "auto"}, "wordnet goes with scores that are still to be made"),
    ],
)
def test_bad_scores(given, message):
    with pytest.raises(rc.InputError, match=message):
        rc.aggregate(REFERENCES, CANDIDATES, "meteor", **given)


def test_bad_texts():
    with pytest.raises(rc.InputError, match="a list of texts, not one string"):
        rc.pairwise_scores("a cat", TEXTS)
    with pytest.raises(rc.InputError, match="text 0 of references is not a string but int"):
        rc.pairwise_scores(TEXTS, [3])
