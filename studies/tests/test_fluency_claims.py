"""What the fluency study says of agreements that are known: the paper's own numbers, and made-up ones."""

import math

import numpy as np
import pytest
from scipy import stats

from recapture_studies.mark_evaluate import fluency
from recapture_studies.mark_evaluate.e2e_ratings import CRITERIA, Rated
from recapture_studies.mark_evaluate.fluency_paper import BEST_K, DEFAULT_K
from recapture_studies.mark_evaluate.fluency_scores import Encoding
from recapture_studies.mark_evaluate.fluency_view import COEFFICIENTS, Agreement, drawer
from recapture_studies.study import Setup


def agreement(best, default=None, low=0.1, high=0.9, setting=1, on_halves=math.nan, honest=math.nan, curve=None):
    three = [dict(zip(COEFFICIENTS, numbers, strict=True)) for numbers in (default or best, best)]
    return Agreement(three[0], low, high, three[1], setting, on_halves, honest, curve or {None: best[0]})


def papers(encoder="SBERT"):
    """Tables 1 and 4 as if we had measured them; cross-entropies have no K."""
    return {name: agreement(best, DEFAULT_K[encoder].get(name)) for name, best in BEST_K.items()}


def held(claims):
    return [claim.holds for claim in claims]


def test_the_papers_claims_on_the_papers_numbers():
    """Table 1 bears out all that is said of it. Of Table 4, with the default K, CAPTURE has FID's numbers to the last
    digit and Petersen a lower r: 5 of 9 comparisons with FID are won, 18 of 18 with PRD and IMPAR."""
    claims = fluency._claims(papers(), None, "SBERT")
    assert held(claims) == ["holds"] * 5 + ["holds in part"]
    assert claims[-1].here.startswith("23 of 27 comparisons") and claims[-1].why
    assert all(claim.why == "" for claim in claims[:5])
    assert (
        claims[0].here
        == "best by pearson ME quality (.917), by kendall ME quality (.911), by spearman ME quality (.976)"
    )


def test_sentence_vectors_against_older_ones_on_the_papers_numbers():
    """Table 4, SBERT above InferSent, counted by hand: FID 3, PRD 3, IMPAR 1, Schnabel 3, Petersen 3, CAPTURE 0."""
    older = fluency._claims(papers(), papers("InferSent"), "SBERT")[-1]
    assert older.here == "SBERT above bag of words in 13 of 18 comparisons" and older.holds == "holds in part"
    # The bag itself is compared with nothing.
    assert len(fluency._claims(papers("InferSent"), papers("InferSent"), "bag of words")) == 6


def test_claims_of_numbers_the_other_way_round():
    """Whoever was best is now worst: nothing is left but ties, which nobody wins."""
    turned = {name: agreement([-number for number in best]) for name, best in BEST_K.items()}
    claims = fluency._claims(turned, turned, "other")
    # Forward cross-entropy is below reverse, and so on; with itself a method always ties.
    assert set(held(claims)) == {"does not hold"}
    assert claims[0].here.startswith("best by pearson reverse CE (-.440)")


def rated(systems):
    names = [f"s{at}" for at in range(systems)]
    return Rated([["a"]], {name: ["a"] for name in names}, {}, {})


def both(natural):
    return {("bag", "drawn", criterion): natural for criterion in CRITERIA}


THREE = (0.5, 0.4, 0.6)


def test_metrics_that_rank_the_other_way_round_are_named():
    """Their whole interval is below 0; the control, which no reference enters, says whether variety explains it."""
    turned = agreement((-0.8, -0.6, -0.7), low=-0.9, high=-0.2)
    unsure = agreement((-0.3, -0.2, -0.2), low=-0.8, high=0.3)
    control = {"distinct bigrams": agreement((-0.6, -0.5, -0.5), low=-0.9, high=-0.1)}
    (line,) = fluency._against({"recall": turned, "MMD": unsure, **control})
    assert "below 0: recall -.800. " in line and "people prefer systems that repeat themselves" in line
    assert "has r = -.600" in line
    (line,) = fluency._against({"recall": turned, "distinct bigrams": agreement(THREE)})
    assert line.endswith("Variety is not the reason: the share of distinct bigrams has r = .500.")
    assert fluency._against({"MMD": unsure, **control}) == []


def test_what_choosing_k_is_worth():
    """Two methods gain .1 and .3 where k is chosen on the same ratings; on other halves one wins .05, one loses .15."""
    natural = {
        "recall": agreement((0.6, 0, 0), (0.5, 0, 0), 0.3, 0.7, 2, 0.4, 0.45, {1: 0.5, 2: 0.6}),
        "precision": agreement((0.7, 0, 0), (0.4, 0, 0), 0.2, 0.6, 3, 0.4, 0.25, {1: 0.4, 3: 0.7}),
        "BLEU": agreement((0.2, 0, 0), low=0.0, high=0.4),
    }
    lines = fluency._verdict(both(natural), "bag", rated(9))
    assert lines[0] == (
        "Naturalness, bag, default settings: best by Pearson's r are recall .500, precision .400, BLEU .200; BLEU has "
        ".200."
    )
    assert "adds .200 to Pearson's r, mean over 2 methods" in lines[2]
    assert "it adds -.050 (from -.150 to .050)." in lines[2]
    # All three intervals are .4 wide.
    assert lines[3].startswith("With 9 systems a correlation is known to about ± .200")


def test_narrow_intervals_and_none_at_all():
    narrow = fluency._verdict(both({"BLEU": agreement(THREE, low=0.45, high=0.55)}), "bag", rated(30))
    assert len(narrow) == 3 and narrow[-1] == "The 95 % intervals are .100 wide on average."
    unknown = fluency._verdict(both({"BLEU": agreement(THREE, low=math.nan, high=math.nan)}), "bag", rated(30))
    assert len(unknown) == 2


def test_agreement_is_that_of_scipy_at_the_best_setting():
    rng = np.random.default_rng(4)
    people = rng.random(8)
    by = {1: people + rng.normal(0, 0.5, 8), 2: people + rng.normal(0, 0.05, 8), 3: np.ones(8)}
    own = fluency._agreement("ME quality", by, people, Setup(None, quick=True), halved=False)
    assert own.setting == 2 and math.isnan(own.curve[3])
    assert own.default["kendall"] == pytest.approx(stats.kendalltau(people, by[1])[0])
    assert own.best["pearson"] == pytest.approx(stats.pearsonr(people, by[2])[0])
    assert own.low <= own.default["pearson"] <= own.high
    assert math.isnan(own.honest) and math.isnan(own.on_halves)


def test_agreement_of_scores_that_never_vary():
    """No correlation, no best setting, no interval, nothing on halves."""
    own = fluency._agreement("ME quality", {1: np.ones(6), 2: np.ones(6)}, np.arange(6.0), Setup(None), halved=True)
    numbers = [*own.default.values(), *own.best.values(), own.low, own.high, own.on_halves, own.honest]
    assert all(math.isnan(number) for number in numbers) and own.setting == 1


def test_halves_need_six_systems():
    scores = {1: np.array([1.0, 2, 3, 5, 4, 6, 7]), 2: np.array([2.0, 1, 3, 4, 5, 7, 6])}
    setup = Setup(None, quick=True)
    enough = fluency._agreement("ME quality", scores, np.arange(7.0), setup, halved=True)
    assert 0 < enough.on_halves <= 1 and 0 < enough.honest <= 1
    few = {setting: values[:5] for setting, values in scores.items()}
    assert math.isnan(fluency._agreement("ME quality", few, np.arange(5.0), setup, halved=True).honest)


MEAN, MAX, CLS, BAG = fluency._ENCODERS
OTHER = Encoding("glove.txt", "glove.txt", None)


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, [MEAN, MAX, CLS, BAG]),
        ({"quick": True}, [MEAN, BAG]),
        ({"encoding": {"pooling": "cls"}}, [CLS, MEAN, MAX, BAG]),
        ({"encoding": {"pooling": "cls"}, "quick": True}, [CLS, BAG]),
        ({"encoder": "bag-of-words"}, [BAG, MEAN, MAX, CLS]),
        ({"encoder": "bag-of-words", "quick": True}, [BAG]),
        ({"encoder": "glove.txt"}, [OTHER, MEAN, MAX, CLS, BAG]),
        ({"encoder": "m", "encoding": {"pooling": "max"}, "quick": True}, [Encoding("m max", "m", "max")]),
    ],
)
def test_the_encoder_that_was_asked_for_comes_first(options, expected):
    assert fluency._encoders(Setup(None, **options)) == expected


def test_the_figure_shows_every_method_once():
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed").Figure()
    natural = {
        "ME quality": agreement((0.6, 0, 0), (0.5, 0, 0), curve={1: 0.5, 2: 0.6}),
        "PRD F8": agreement((0.3, 0, 0), curve={10: 0.3, 20: 0.2}),
        "BLEU": agreement(THREE),
    }
    drawer(natural, "bag")(figure)
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["BLEU", "PRD F8", "ME quality"]
    # By neighbourhood size: neither clusters nor methods without a setting; the curve as it was given.
    (curve,) = right.get_lines()
    assert curve.get_label() == "ME quality" and list(curve.get_xdata()) == [1, 2]
    assert list(curve.get_ydata()) == [0.5, 0.6]
