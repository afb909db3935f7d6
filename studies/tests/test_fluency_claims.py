"""What the fluency study says of agreements that are known: the paper's own numbers, and made-up ones."""

import math

import numpy as np
import pytest
from scipy import stats

from recapture_studies.mark_evaluate import fluency
from recapture_studies.mark_evaluate.e2e_ratings import CRITERIA, Rated
from recapture_studies.mark_evaluate.fluency_paper import BEST_K, DEFAULT_K
from recapture_studies.mark_evaluate.fluency_scores import METHODS, Encoding
from recapture_studies.mark_evaluate.fluency_view import (
    COEFFICIENTS,
    Agreement,
    beside_the_paper,
    by_method,
    drawer,
    over_encoders,
)
from recapture_studies.rated import shown
from recapture_studies.study import Setup


def agreement(best, default=None, low=0.1, high=0.9, setting=1, on_halves=math.nan, honest=math.nan, curve=None):
    three = [dict(zip(COEFFICIENTS, numbers, strict=True)) for numbers in (default or best, best)]
    return Agreement(three[0], low, high, three[1], setting, on_halves, honest, curve or {None: best[0]})


def papers(encoder="SBERT"):
    """Tables 1 and 4 as if we had measured them; cross-entropies have no K."""
    return {name: agreement(best, DEFAULT_K[encoder].get(name)) for name, best in BEST_K.items()}


def judged(agreements, bag=None, lstm=None):
    """Claims by id and by how k was chosen, from the tables that would be printed."""
    systems = rated(10)
    tables = {"beside-the-paper": beside_the_paper(agreements, systems, "SBERT"),
              "naturalness": by_method(agreements, systems, "SBERT", "naturalness", fluency._FULL)}  # fmt: skip
    stored = {name: [dict(zip(grid.heads, row, strict=True)) for row in grid.rows] for name, grid in tables.items()}
    stored["ratings"] = [{}] * 10
    stored["encoders"] = [
        {"method": name, "SBERT: naturalness": shown(own.default["pearson"]),
         "recurrent LSTM: naturalness": shown(lstm[name].default["pearson"]) if lstm else "-",
         **({"bag of words: naturalness": shown(bag[name].default["pearson"])} if bag else {})}
        for name, own in agreements.items()
    ]  # fmt: skip
    claims = fluency.judge(stored, {"encoders": ["SBERT"]})
    return {(claim.id.removeprefix("mark-evaluate/"), claim.chosen): claim for claim in claims}


def narrow(best, default=None):
    """Numbers that are known to a hundredth of a thousandth."""
    value = (default or best)[0]
    return agreement(best, default, low=value - 1e-5, high=value + 1e-5)


def test_the_papers_claims_on_the_papers_numbers():
    """Table 1 bears out what is said of it, but Petersen has Schnabel's tau and rho to the last digit: of 21
    comparisons two are ties, so that Schnabel is the best in part. CAPTURE has FID's numbers, as printed, and Petersen
    a lower r: with the default K one of three comparisons with FID is won, and six of six with PRD and IMPAR."""
    claims = judged({name: narrow(best, DEFAULT_K["SBERT"].get(name)) for name, best in BEST_K.items()})
    table = {name: claim.holds for (name, chosen), claim in claims.items() if chosen == "same"}
    assert table.pop("table-1/vectors-above-cross-entropy") == "holds"
    assert list(table.values()) == ["holds in part", "holds", "holds", "holds"]
    assert claims["table-1/schnabel-best", "same"].verdict.because == "of 21 parts 19 hold, 2 do not; plain numbers"
    # Numbers alike to three digits, known to a hundredth of that: their order cannot be told.
    ahead = claims["table-4/estimators-ahead", "fixed"]
    assert ahead.holds == "holds in part" and ahead.verdict.because == "of 9 parts 7 hold, 1 do not, 1 cannot be told"
    assert "ME quality .917" in claims["table-1/schnabel-best", "same"].here


def test_wide_intervals_leave_the_order_open():
    """The same numbers, each known to lie between .1 and .9 or so: no comparison can be decided."""
    claims = judged(papers())
    assert {claim.holds for (_, chosen), claim in claims.items() if chosen == "fixed"} == {"cannot be told"}
    assert "cannot be told" not in {claim.holds for (_, chosen), claim in claims.items() if chosen == "same"}


def test_papers_encoders_are_not_here():
    """Word counts stand in for InferSent: whatever they say, SBERT against InferSent cannot be told."""
    older = judged(papers(), papers("InferSent"))["table-4/contextual-vectors", "fixed"]
    # By r: FID, PRD, Schnabel and Petersen are higher with SBERT, IMPAR and CAPTURE lower.
    assert older.holds == "cannot be told" and older.verdict.rule == "absent"
    # Means of Table 4's r: (.902 + .684 + .633 + .917 + .872 + .902) / 6 and the same of InferSent's.
    assert older.here == (
        "stand-ins, mean r over 6 numbers: SBERT .818, bag of words .808; SBERT above bag of words by 4 of 6; "
        "recurrent LSTM cannot be told: its weights are not here"
    )
    three = judged(papers(), papers("InferSent"), papers("sSBERT"))["table-4/contextual-vectors", "fixed"]
    assert three.holds == "cannot be told" and "SBERT .818, recurrent LSTM .790, bag of words .808" in three.here
    # sSBERT above InferSent by r of FID and Petersen alone.
    assert three.here.endswith("SBERT above bag of words by 4 of 6, recurrent LSTM above bag of words by 2 of 6")
    assert ("table-4/contextual-vectors", "fixed") not in judged(papers())


def test_claims_of_numbers_the_other_way_round():
    """Whoever was best is now worst: nothing is left but ties, which nobody wins."""
    turned = {name: narrow([-number for number in best]) for name, best in BEST_K.items()}
    claims = judged(turned)
    assert {claim.holds for claim in claims.values()} == {"does not hold"}
    assert all(claim.why for claim in claims.values())


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


MEAN, MAX, CLS, LSTM, BAG = fluency._ENCODERS
OTHER = Encoding("glove.txt", "glove.txt", None)


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, [MEAN, MAX, CLS, LSTM, BAG]),
        ({"quick": True}, [MEAN, BAG]),
        ({"encoding": {"pooling": "cls"}}, [CLS, MEAN, MAX, LSTM, BAG]),
        ({"encoding": {"pooling": "cls"}, "quick": True}, [CLS, BAG]),
        ({"encoder": "bag-of-words"}, [BAG, MEAN, MAX, CLS, LSTM]),
        ({"encoder": "bag-of-words", "quick": True}, [BAG]),
        ({"encoder": "glove.txt"}, [OTHER, MEAN, MAX, CLS, LSTM, BAG]),
        ({"encoder": "m", "encoding": {"pooling": "max"}, "quick": True}, [Encoding("m max", "m", "max")]),
    ],
)
def test_the_encoder_that_was_asked_for_comes_first(options, expected):
    assert fluency._encoders(Setup(None, **options)) == expected


def test_an_encoder_that_is_not_here_has_an_empty_column():
    natural = {method.name: agreement(THREE) for method in METHODS}
    grid = over_encoders(both(natural), ["bag", "recurrent LSTM"])
    assert grid.heads[1:3] == ["bag: naturalness", "recurrent LSTM: naturalness"]
    assert all(row[1:] == [".500", "-", ".500", "-"] for row in grid.rows)
    assert grid.caption[-1].startswith("recurrent LSTM: cannot be told, the weights are not here")
    assert len(over_encoders(both(natural), ["bag"]).caption) == 1


def test_where_the_recurrent_encoder_is_looked_for(tmp_path, monkeypatch):
    """Here, or in the folder that RECAPTURE_MODELS names, as recapture looks for any encoder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RECAPTURE_MODELS", raising=False)
    assert BAG.is_here and MEAN.is_here and not LSTM.is_here
    (tmp_path / "models" / "recurrent-lstm").mkdir(parents=True)
    monkeypatch.setenv("RECAPTURE_MODELS", str(tmp_path / "models"))
    assert LSTM.is_here
    monkeypatch.chdir(tmp_path / "models")
    monkeypatch.delenv("RECAPTURE_MODELS")
    assert LSTM.is_here


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
