"""What all metrics of aligned texts share: joining references, empty texts, warnings, order, intervals."""

from __future__ import annotations

import dataclasses
import math
import random

import numpy as np
import pytest
from scipy import stats

import recapture as rc
from recapture.errors import InputError
from recapture.pairs import evaluate as run
from recapture.pairs.uncertainty import Intervals
from toy_pairs import toys


@pytest.fixture
def calls(monkeypatch):
    made: list = []
    toys(monkeypatch, made)
    return made


def overlap(references, candidates, **options):
    return rc.evaluate_pairs(references, candidates, "overlap", **options)["candidate"]["overlap"]


def test_best_and_mean_over_references(calls):
    # Shares: a b of "a b" 1, of "a b c d" 1/2; words besides: 0 and 2.
    references, candidates = [["a b", "a b c d"], "x y"], ["a b", "x"]
    best = overlap(references, candidates)
    assert best.share_scores.tolist() == [1, 1 / 2] and best.share == 3 / 4
    assert best.extra_scores.tolist() == [2, 1]  # each number by itself: more is "better" here
    mean = overlap(references, candidates, over_references="mean")
    assert mean.share_scores.tolist() == [3 / 4, 1 / 2] and mean.extra_scores.tolist() == [1, 1]
    assert (best.signature["over_references"], mean.signature["over_references"]) == ("best", "mean")
    assert best.sizes == {"reference": 3, "candidate": 2}
    assert best.details["aligned"] == {"items": 2, "references": 3, "least": 1, "most": 2}


def test_each_distinct_pair_is_scored_once_and_no_empty_text(calls):
    systems = {"one": ["a", "b", " ", "a"], "two": ["a", "c", "d", "a"]}
    rc.evaluate_pairs(["a", ["b", ""], "d", "a"], systems, "overlap")
    (chunk,) = calls
    assert sorted(chunk) == [("a", "a"), ("b", "b"), ("b", "c"), ("d", "d")]


def test_chunks_do_not_change_scores(calls, monkeypatch):
    words = [f"w{number} w{number % 7} w{number % 3}" for number in range(40)]
    whole = overlap(words, words[::-1])
    monkeypatch.setattr(run, "_CHUNK_CHARACTERS", 30)
    del calls[:]
    assert overlap(words, words[::-1]).share_scores.tolist() == whole.share_scores.tolist()
    assert len(calls) > 10


def test_empty_texts(calls):
    result = overlap(["a", "", "c", "d"], ["a", "b", "\t", "d"])
    assert result.share_scores.tolist() == [1, 0, 0, 1] and result.share == 1 / 2
    # No worst bound: such items have no score, and the mean is that of the others.
    assert np.isnan(result.extra_scores).tolist() == [False, True, True, False] and result.extra == 0
    fate = "empty: scored worst, left out of the mean of extra"
    assert result.warnings == (f"1 of 4 texts of reference is {fate}", f"1 of 4 texts of candidate is {fate}")
    nothing = overlap(["", "b"], ["a", ""])
    assert nothing.share == 0 and math.isnan(nothing.extra)


def test_an_empty_reference_beside_others_counts_in_means_alone(calls):
    references, candidates = [["a", "", "a b"], ["", ""]], ["a", "a"]
    assert overlap(references, candidates).share_scores.tolist() == [1, 0]
    mean = overlap(references, candidates, over_references="mean")
    assert mean.share_scores.tolist() == [(1 + 0 + 1 / 2) / 3, 0]
    assert all("ignored" not in note for note in mean.warnings)
    rc.evaluate_pairs(references, candidates, "length")
    assert calls[-1] == [["a", "a b"], [""]]


def test_pairs_that_cannot_be_compared(calls):
    result = overlap([["a", "?"], "?", "b"], ["a", "b", "b"])
    assert result.share_scores.tolist() == [1, 0, 1]
    assert result.warnings == (
        "1 of 3 pairs could not be compared: scored worst, left out of the mean of extra",
    )  # fmt: skip


def test_scorers_have_the_last_word(calls):
    result = rc.evaluate_pairs(["a"], ["a"], "overlap", options={"overlap": {"scale": 2}})["candidate"]["overlap"]
    assert result.warnings == ("toys say little",) and result.signature["scale"] == 2 and result.share == 2


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_items_does_not_matter(calls, seed):
    source = random.Random(seed)
    words = [" ".join(source.choices("abcdefgh", k=source.randint(1, 9))) for _ in range(60)]
    references = [source.sample(words, source.randint(1, 3)) for _ in range(50)]
    candidates = source.sample(words, 50)
    order = source.sample(range(50), 50)
    asked = {"metrics": "overlap,length", "over_references": "mean", "interval": 0.9}
    plain = rc.evaluate_pairs(references, candidates, **asked)["candidate"]
    mixed = rc.evaluate_pairs([references[at] for at in order], [candidates[at] for at in order], **asked)["candidate"]
    for name in ("overlap", "length"):
        assert plain[name].values == mixed[name].values and plain[name].intervals == mixed[name].intervals
    assert plain["overlap"].share_scores[order].tolist() == mixed["overlap"].share_scores.tolist()


def test_a_system_does_not_depend_on_the_others(calls):
    texts = ["a b", "b c", "c d", "d"]
    both = rc.evaluate_pairs(texts, {"one": texts[::-1], "two": texts}, "overlap", interval=0.9)
    alone = rc.evaluate_pairs(texts, {"two": texts}, "overlap", interval=0.9)
    assert both["two"]["overlap"].to_dict(arrays=True) == alone["two"]["overlap"].to_dict(arrays=True)


def test_intervals_of_means(calls):
    """Half of the items score 1: the mean of a resample is binomial, and so are the percentiles of 1,000 of them."""
    result = rc.evaluate_pairs(["a"] * 20, ["a", "b"] * 10, "overlap,length", interval=0.8)["candidate"]
    ends = stats.binom.ppf([0.1, 0.9], 20, 0.5) / 20
    assert result["overlap"].intervals["share"] == pytest.approx(ends, abs=1e-12)
    assert result["overlap"].inference["intervals"] == {
        "level": 0.8,
        "method": "bootstrap over items",
        "resamples": 1000,
        "seed": 0,
    }
    assert not result["length"].intervals  # a sum over the corpus
    assert result["length"].inference["intervals"] == {"corpus_numbers": ["value"]}


def test_intervals_are_those_of_scipy():
    """scipy's percentile bootstrap of many more resamples; the ends of ours vary by about sd / sqrt(1,000) x 3."""
    scores = np.random.default_rng(5).gamma(2, size=200)
    peer = stats.bootstrap((scores,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(6))
    found = Intervals(0.95).of_mean(scores)
    assert found == pytest.approx(tuple(peer.confidence_interval), abs=0.3 * peer.standard_error)
    assert found == Intervals(0.95).of_mean(np.append(scores[::-1], np.nan))  # NaN is left out, order does not matter
    assert found != Intervals(0.95, seed=1).of_mean(scores)


@pytest.mark.parametrize("scores", [[], [1.0], [math.nan, 1.0], [1.0, math.inf, 2.0]])
def test_no_interval_of_too_little(scores):
    assert Intervals(0.95).of_mean(np.array(scores, float)) is None


def test_parameters_are_checked_before_anything_is_prepared(calls, monkeypatch):
    def never(*_, **__):
        raise AssertionError("a model was asked for")

    monkeypatch.setattr("recapture.pairs.evaluate.Shared.masked", never)
    monkeypatch.setattr("recapture.pairs.evaluate.Shared.words", never)
    for options, words in (
        ({"overlap": {"scale": "x"}}, "scale must be a number"),
        ({"overlap": {"scael": 1}}, "overlap has no option 'scael': did you mean scale"),
        ({"infolm": {"measure": "renyi"}}, "renyi needs alpha"),
    ):
        with pytest.raises(InputError, match=words):
            rc.evaluate_pairs(["a"], ["a"], "infolm,bertscore,overlap", options=options)
    with pytest.raises(InputError, match="options were given for chrf"):
        rc.evaluate_pairs(["a"], ["a"], "overlap", options={"chrf": {"beta": 1}})
    with pytest.raises(InputError, match="best or mean, not 'worst'"):
        rc.evaluate_pairs(["a"], ["a"], "infolm,overlap", over_references="worst")
    with pytest.raises(InputError, match="references has 2 entries, but candidates has 1"):
        rc.evaluate_pairs(["a", "b"], ["a"], "infolm")
    for level in (0, 1, True, "x"):
        with pytest.raises(InputError, match="interval must be a level between 0 and 1"):
            rc.evaluate_pairs(["a"], ["a"], "infolm,overlap", interval=level)
    with pytest.raises(InputError, match="seed must be a whole number"):
        rc.evaluate_pairs(["a"], ["a"], "overlap", interval=0.9, seed=-1)


def test_tables_show_main_numbers_and_name_their_metric(calls):
    results = rc.evaluate_pairs(["a b", "c"], ["a", "c"], "overlap,rouge")
    verdict, _, heads, *_ = results.to_markdown().splitlines()
    assert verdict.startswith("- Nothing was tested") and verdict[2:] == results.verdict[0]
    assert heads == "| candidate | overlap share ↑ | overlap extra ↑ | rouge1 ↑ | rouge2 ↑ | rougeL ↑ |"
    assert "rouge has 6 further numbers: see json, csv or the scores of items" in str(results)
    assert "rouge1_recall" in results.to_csv() and "rouge1_recall" in results.to_json()


@pytest.mark.parametrize("given", [{"the cat", "a dog"}, {"the cat": "a dog", "x": "y"}])
def test_what_has_no_order_is_refused(given):
    """Items of a set stand in no order, and a mapping would give its keys."""
    with pytest.raises(InputError, match=r"references must be a list with one entry per item, not (set|dict)"):
        rc.evaluate_pairs(given, ["the cat", "a dog"], "bleu")


# Empty texts: one rule for all metrics

LEXICAL = ("bleu", "chrf", "rouge", "meteor", "cider", "ter")
WITH_MODELS = ("infolm", "me-words", "pr-words", "prd-words", "bertscore", "moverscore")


def check_empty_texts(results, apart):
    """Two blank texts score what every other text scores against itself: the best there is. With one of them blank a
    pair scores what texts do that never meet, NaN where there is no such number."""
    for metric, result in results.items():
        declared = rc.list_pair_metrics()[metric]
        for name, (low, high) in result.ranges.items():
            column = result.arrays["scores" if name == "value" else f"{name}_scores"]
            best, worst = (high, low) if declared.direction == "higher" else (low, high)
            assert column[0] == best, (metric, name)
            assert column[3] == pytest.approx(best, abs=1e-5), (metric, name)  # PRD's angles stop short of 1
            expected = apart.get(metric, worst)
            np.testing.assert_allclose(column[1:3], expected, rtol=0, atol=1e-12, err_msg=f"{metric} {name}")
        assert "1 of 4 pairs is of two empty texts: scored as equal" in result.warnings
        # The two others with an empty text: neither counts the pair that is equal.
        for side in ("reference", "candidate"):
            assert sum(note.startswith(f"1 more of 4 texts of {side} is empty: ") for note in result.warnings) == 1, (
                metric
            )


REFERENCES = [" ", "", "a dog ran to the river", "the cat sat on the mat"]
CANDIDATES = ["", "the cat sat on the mat", "\t\n", "the cat sat on the mat"]


def test_empty_texts_in_lexical_metrics():
    results = rc.evaluate_pairs(REFERENCES, CANDIDATES, LEXICAL)["candidate"]
    check_empty_texts(results, {"ter": math.nan})  # a rate without an upper end
    assert math.isnan(rc.cross_entropy(["", "a"], ["", "a"]).forward_scores[0])  # of sets, not of pairs


@pytest.mark.traced
@pytest.mark.slow
def test_empty_texts_in_metrics_with_models(minilm):
    pytest.importorskip("recapture_weights")
    results = rc.evaluate_pairs(REFERENCES, CANDIDATES, WITH_MODELS, offline=True)["candidate"]
    capture = results["me-words"].capture_scores
    assert all(0.74 < score < 0.78 for score in capture[1:3])  # sets that never meet: .745 as they grow
    # CAPTURE of equal texts is the formula's, .98 to 1; its floor is looked at above and in test_word_metrics.py.
    assert 0.97 < capture[3] <= 1
    mark = results.pop("me-words")
    assert [mark.arrays[f"{name}_scores"].tolist() for name in ("petersen", "quality", "diversity")] == [
        [1, 0, 0, 1]
    ] * 3
    assert capture[0] == 1
    check_empty_texts(results, {"bertscore": 0})


def test_an_empty_candidate_is_equal_to_an_empty_reference_beside_others(calls):
    references, candidates = [["", "a b"], ["a", "b"]], ["", " "]
    assert overlap(references, candidates).share_scores.tolist() == [1, 0]
    assert overlap(references, candidates, over_references="mean").share_scores.tolist() == [1 / 2, 0]
    assert rc.bleu(references, candidates).scores.tolist() == [1, 0]


def test_an_empty_reference_is_never_the_best(calls):
    """BERTScore gives an empty text 0, more than the least there is."""
    declared = rc.list_pair_metrics()["overlap"]
    job = run.PairJob(
        dataclasses.replace(declared, empty={"share": 0.9}), {}, "best", declared.prepare([], None, scale=1)
    )
    known = {("a", "b"): (0.25, 0.0)}
    assert run._joined(job, known, [["a", ""]], ["b"]).items["share"].tolist() == [0.25]
    job = dataclasses.replace(job, rule="mean")
    assert run._joined(job, known, [["a", ""]], ["b"]).items["share"].tolist() == [(0.25 + 0.9) / 2]
