"""What the studies of InfoLM say of numbers that are chosen, against loops, formulas and hand-made answers."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from recapture_studies.agreement import COEFFICIENTS
from recapture_studies.infolm import (
    calibration,
    score_distributions,
    summarisation,
    webnlg,
    webnlg_claims,
    webnlg_sweep,
)
from recapture_studies.infolm.webnlg_paper import CRITERIA
from recapture_studies.infolm.webnlg_williams import williams_claims, williams_table
from recapture_studies.rated import shown

# score-distributions


def area_by_loop(scores, human):
    """The share of pairs of a good and a bad summary in which the good one scores higher, ties half."""
    good, bad = scores[human >= 0.5], scores[human < 0.5]
    return np.mean([1.0 if one > other else 0.5 if one == other else 0.0 for one in good for other in bad])


def test_areas_against_a_loop_over_pairs():
    rng = np.random.default_rng(5)
    scores, human = rng.integers(0, 4, (4, 6)) / 3, rng.random((4, 6))
    assert score_distributions._area(scores, human) == pytest.approx(area_by_loop(scores, human), abs=1e-15)
    scores[1, 2] = np.nan
    known = np.isfinite(scores)
    assert score_distributions._area(scores, human) == pytest.approx(area_by_loop(scores[known], human[known]))
    for flat in (np.ones((4, 6)), np.zeros((4, 6))):  # all good, all bad
        assert math.isnan(score_distributions._area(scores, flat))


def test_draws_and_documents_without_both_kinds_are_left_out():
    """The first document has good summaries only: drawn twice it has no area, and it has none of its own."""
    scores = np.array([[0.9, 0.2, 0.6], [0.7, 0.8, 0.1]])
    human = np.array([[0.9, 0.3, 0.8], [0.6, 0.7, 0.2]])
    draws = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 2], [0, 1, 2]])
    row = score_distributions._row(scores, human, draws)
    areas = [area_by_loop(scores[:, drawn], human[:, drawn]) for drawn in draws[1:]]
    assert (row.low, row.high) == pytest.approx(tuple(np.quantile(areas, [0.025, 0.975])))
    assert row.within == pytest.approx(np.mean([area_by_loop(scores[:, at], human[:, at]) for at in (1, 2)]))
    assert row.spread.auc == pytest.approx(area_by_loop(scores, human))
    # Scores that are people's, in other units, have people's distribution; scores that never vary have none.
    assert score_distributions._row(100 * human - 7, human, draws).apart == pytest.approx(0, abs=1e-12)
    assert math.isnan(score_distributions._row(np.ones((2, 3)), human, draws).apart)


def judge_areas(half=0.01, **by_name):
    """From a table of areas, each known to so much either way."""
    rows = [{"metric": name.replace("__", " "), "area": shown(value),
             "95 % over documents": f"{shown(value - half)} to {shown(value + half)}"}
            for name, value in by_name.items()]  # fmt: skip
    return score_distributions.judge({"areas": rows}, {"sizes": [14, 100]})


ABLE = {"infolm__ab": 0.8, "infolm__fisher_rao": 0.75, "infolm__jeffreys": 0.7}


def test_claims_of_areas_worked_by_hand():
    flat = {"infolm__l1": 0.7, "infolm__l2": 0.6, "infolm__linf": 0.5}
    claims = judge_areas(**ABLE, **flat, bleu=0.6, rouge__rouge1=0.65)
    assert [claim.holds for claim in claims] == ["holds"] * 3
    assert claims[0].verdict.because == "of 6 parts 6 hold" and all(claim.own for claim in claims)
    # With .1 either way a difference is known to .141: of .2 and .15 (AB) and .15 (Fisher-Rao with BLEU) it is sure.
    claims = judge_areas(0.1, **ABLE, **flat, bleu=0.6, rouge__rouge1=0.65)
    assert claims[0].verdict.because == "of 6 parts 3 hold, 3 cannot be told" and claims[0].holds == "holds in part"
    assert [claim.holds for claim in claims[1:]] == ["holds", "cannot be told"]
    # ROUGE between AB and the two others: one of three; Jeffreys below .5; L2 above L1.
    mixed = ABLE | {"infolm__jeffreys": 0.45}
    flat = {"infolm__l1": 0.6, "infolm__l2": 0.7, "infolm__linf": 0.5}
    claims = judge_areas(**mixed, **flat, rouge__rouge1=0.77)
    assert [claim.holds for claim in claims] == ["does not hold", "holds in part", "holds in part"] and claims[1].why
    # Without InfoLM there is nothing to say.
    assert judge_areas(bleu=0.6) == []


def test_a_panel_for_people_and_for_each_metric():
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed").Figure()
    human = np.array([[0.9, 0.3, 0.8], [0.6, 0.7, 0.2]])
    draws = np.array([[0, 1, 2]])
    rows = {
        "bleu": score_distributions._row(human, human, draws),
        "chrf": score_distributions._row(-human, human, draws),
    }
    score_distributions._draw(figure, rows, human)
    titles = [axes.get_title() for axes in figure.axes if axes.axison]
    assert titles == ["people: pyramid", "bleu, area 1", "chrf, area 0"]
    assert len(figure.axes) == 4  # one place of the grid stays empty


# calibration


def curve(by, honest=0.5, usual=0.5, optimistic=None):
    """One curve for all coefficients."""
    sweep = SimpleNamespace(optimistic=max(by.values()) if optimistic is None else optimistic, honest=honest,
                            flattered=0.6)  # fmt: skip
    return calibration._Curve(dict.fromkeys(COEFFICIENTS, by), sweep, usual, 0.5)


def judge_curves(shares, **curves):
    """From tables of Pearson's r by temperature, and of how often the best temperature lies in the paper's range."""
    temperatures = next(iter(curves.values()), {})
    rows = [{"temperature": f"{each:g}", **{f"{name} pearson": shown(by[each]) for name, by in curves.items()}}
            for each in temperatures]  # fmt: skip
    chosen = [{"systems, model": f"extractive, {name}", "best T: r, rho, tau": "-", "best T in [1, 2]": share}
              for name, share in zip(curves, shares, strict=True)]  # fmt: skip
    return calibration.judge({"extractive-systems": rows, "choosing": chosen}, {})


def test_claims_of_curves_worked_by_hand():
    """One peak at 1.5; two peaks (1 + .9 + .9 over a range of 1) and a cold model that is better than all in [1, 2]."""
    one_peak = {0.5: 0.1, 1.0: 0.5, 1.5: 0.8, 9.0: 0.2}
    two_peaks = {0.5: 1.0, 1.0: 0.0, 1.5: 0.9, 9.0: 0.0}
    assert [claim.holds for claim in judge_curves(["95%"], infolm=one_peak)] == ["holds"] * 3
    claims = judge_curves(["5%"], infolm=two_peaks)
    assert [claim.holds for claim in claims] == ["does not hold"] * 3 and claims[0].why and claims[1].why
    assert claims[0].here.endswith("at most 2): 2.80")
    # Two models are two pieces of evidence on the same claims; 50 % decides nothing.
    both = judge_curves(["95%", "50%"], one=one_peak, two=two_peaks)
    assert [claim.id for claim in both[:3]] == [claim.id for claim in both[3:]]
    assert both[4].holds == "cannot be told"
    assert judge_curves([]) == []


@pytest.mark.parametrize("honest, effect", [(0.6, "helps"), (0.4, "harms"), (0.5, "changes little")])
def test_what_a_chosen_temperature_does(honest, effect):
    by = {1.0: 0.5, 1.5: 0.8}
    (line,) = calibration._verdict({("ext", "infolm"): curve(by, honest)})
    assert f"the temperature {effect}: {shown(honest)} against .500 at T = 1" in line
    assert "is .500 at T = 1 and .800 at its best, T = 1.5." in line


def test_a_best_temperature_needs_a_number():
    assert curve({1.0: math.nan, 2.0: 0.1, 3.0: -0.1}).best("pearson") == 2
    assert math.isnan(curve({1.0: math.nan}, optimistic=0.0).best("pearson"))


# webnlg: Williams' test and free parameters


def williams(first, second, between, count):
    """The formula as Williams (1959) gives it, by way of Steiger (1980)."""
    minor = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    below = 2 * minor * (count - 1) / (count - 3) + (first + second) ** 2 / 4 * (1 - between) ** 3
    t = (first - second) * math.sqrt((count - 1) * (1 + between) / below)
    return t, 2 * stats.t.sf(abs(t), count - 3)


def test_williams_table_against_the_formula():
    rng = np.random.default_rng(6)
    human = {"Fluency": rng.random((8, 5))}
    people = human["Fluency"].mean(axis=1)
    totals = {"infolm fisher_rao": people + rng.normal(0, 0.05, 8), "bleu": people + rng.normal(0, 0.2, 8),
              "meteor": np.ones(8)}  # fmt: skip
    table = williams_table(totals, human)
    # METEOR tells no systems apart and is left out; with no metric on vectors only InfoLM is spoken of.
    (row,) = table.rows
    own, rival = (stats.pearsonr(people, totals[name])[0] for name in ("infolm fisher_rao", "bleu"))
    t, p = williams(own, rival, stats.pearsonr(totals["infolm fisher_rao"], totals["bleu"])[0], 8)
    assert row[:3] == ["Fluency", "infolm fisher_rao", "bleu"]
    assert row[3:] == [shown(own), shown(rival), f"{t:.2f}", f"{p:.2g}", f"{p:.2g}"]
    (claim,) = williams_claims([dict(zip(table.heads, row, strict=True))])
    sure = "holds" if own > rival else "does not hold"
    assert claim.id == "infolm/table-2/infolm-above-others" and claim.own
    assert claim.holds == (sure if p <= 0.05 else "cannot be told")
    assert claim.here.startswith(f"above in {int(own > rival)} of 1 comparisons")


def test_one_piece_of_evidence_for_each_model():
    row = {"other": "bleu", "r, one": ".9", "r, other": ".5", "p": "0.01", "p, Holm": "0.3"}
    claims = williams_claims([{**row, "one": name} for name in ("infolm-head ab", "infolm-mlm ab", "moverscore")])
    assert [(claim.id.split("/")[-1], claim.holds) for claim in claims] == [
        ("infolm-above-others", "holds"), ("infolm-above-others", "holds"), ("vectors-above-ngrams", "holds"),
    ]  # fmt: skip
    unsure = williams_claims([{**row, "one": "moverscore", "p": "0.051"}, {**row, "one": "moverscore", "p": "0.05"}])
    assert unsure[0].holds == "holds in part"


def test_williams_test_needs_rivals_systems_and_differences():
    rng = np.random.default_rng(7)
    human = {"Fluency": rng.random((8, 5))}
    infolm = {"infolm fisher_rao": rng.random(8)}
    assert williams_table(infolm, human) is None
    assert williams_table({**infolm, "bleu": np.ones(8)}, human) is None
    few = {"infolm fisher_rao": rng.random(3), "bleu": rng.random(3)}
    assert williams_table(few, {"Fluency": rng.random((3, 5))}) is None


def test_a_setting_that_is_best_everywhere_is_chosen_honestly_too():
    """One setting is people's scores, the default is noise: chosen on any items it has r = 1 on the others."""
    rng = np.random.default_rng(8)
    ratings = rng.random((6, 10))
    swept = {"fisher_rao": {"T 1": rng.random((6, 10)), "T 2": ratings}, "alpha": {"alpha 0.5, T 1": ratings}}
    table = webnlg_sweep.sweep_table(swept, {"Fluency": ratings}, 0)
    (row,) = table.rows  # alpha has one setting, and so nothing to choose
    assert row[:2] == ["Fisher-Rao (T)", "Fluency"] and row[3:5] == ["T 2", "1"] and row[6:] == ["1", "1"]
    assert row[2] == shown(stats.pearsonr(swept["fisher_rao"]["T 1"].mean(axis=1), ratings.mean(axis=1))[0])
    same, other = webnlg_sweep.sweep_claims([dict(zip(table.heads, row, strict=True))])
    assert same.holds == other.holds == "holds"
    assert (same.sample, other.sample) == ("in sample", "out of sample")
    assert not webnlg_sweep.sweep_table({}, {"Fluency": ratings}, 0).rows and webnlg_sweep.sweep_claims([]) == []


def test_a_model_without_numbers_is_passed_over():
    columns = [(criterion, name) for criterion in CRITERIA for name in COEFFICIENTS]
    human = {criterion: np.arange(8.0).reshape(4, 2) for criterion in CRITERIA}
    system = {"infolm-head ab": dict.fromkeys(columns, 0.75), "infolm-head l1": dict.fromkeys(columns, 0.25),
              "infolm-mlm ab": dict.fromkeys(columns, math.nan), "meteor": dict.fromkeys(columns, 0.5)}  # fmt: skip
    overall = {level: {name: webnlg._overall(by) for name, by in system.items()} for level in ("system", "text")}
    lines = webnlg._verdict({"system": system, "text": system}, overall, human)
    assert lines[0].startswith(
        "Mean Pearson over the five criteria, system level: best are infolm-head ab .750, meteor"
    )
    (model,) = [line for line in lines if line.startswith("infolm")]
    assert model.startswith("infolm-head: best measure ab (.750), then l1 .250; least l1 (.250).")
    assert "Its best is above 1 of 1 other numbers." in model


# summarisation

SETTINGS = [(kind, level, name) for kind in ("abs", "ext") for level in ("system", "text") for name in COEFFICIENTS]
CURVED, FLAT = ("jeffreys", "fisher_rao", "alpha", "gamma", "ab"), ("l1", "l2", "linf")


def everywhere(value):
    return dict.fromkeys(SETTINGS, value)


def infolm(curved, flat):
    own = {f"infolm {name}": everywhere(curved) for name in CURVED}
    return own | {f"infolm {name}": everywhere(flat) for name in FLAT}


def test_claims_of_summaries_by_counting_settings():
    own = infolm(0.6, 0.2) | {"bertscore f1": everywhere(0.5), "moverscore": everywhere(0.4)}
    claims = summarisation._infolm_claims(own)
    assert [claim.holds for claim in claims] == ["holds", "holds"]
    assert claims[0].here.startswith("above both: AB in 12, Fisher-Rao in 12 of 12 settings")
    # BERTScore wins five settings: 7 of 12 are left; and ten, which leaves 2.
    for lost, holds in ((5, "holds in part"), (10, "does not hold")):
        own["bertscore f1"] = everywhere(0.5) | dict.fromkeys(SETTINGS[:lost], 0.7)
        first = summarisation._infolm_claims(own)[0]
        assert first.holds == holds and f"AB in {12 - lost}, Fisher-Rao in {12 - lost} of 12" in first.here


def test_nothing_is_claimed_without_rivals_or_common_settings():
    assert summarisation._infolm_claims(infolm(0.6, 0.2)) == []
    halves = infolm(0.6, 0.2) | {"moverscore": {}}
    assert summarisation._infolm_claims(halves) == []
    words = {"me-words capture": everywhere(0.5)}
    assert summarisation._tac_claims(words) == []
    assert summarisation._tac_claims(words | {"moverscore": {}}) == []


def test_words_against_rivals_on_single_summaries():
    """Four settings: two kinds of systems, Kendall and Spearman; three of them are won."""
    lost = ("abs", "text", "kendall")
    own = {"me-words capture": everywhere(0.5), "moverscore": everywhere(0.4) | {lost: 0.6}}
    (claim,) = summarisation._tac_claims(own)
    assert claim.holds == "holds in part"
    assert claim.here.startswith(
        "abstractive, kendall: best of Mark-Evaluate .500, best of the two .600; abstractive, sp"
    )
    own["moverscore"] = everywhere(0.4)
    assert summarisation._tac_claims(own)[0].holds == "holds"
    own["moverscore"] = everywhere(0.6)
    assert summarisation._tac_claims(own)[0].holds == "does not hold"


def test_the_authors_scores_are_told_where_they_are():
    theirs = summarisation.AUTHORS["mover_score"]
    lines = summarisation._verdict({"moverscore": everywhere(0.4), theirs: everywhere(0.3)})
    assert "moverscore .400 (theirs .300) abstractive, moverscore .400 (theirs .300) extractive." in lines[-1]
    alone = summarisation._verdict({"moverscore": everywhere(0.4)})
    assert len(alone) == 2 and all("best are" in line for line in alone)


# What the paper says of its Table 2


def table_2(**changes):
    """Every metric at .5 in every cell, but for those named."""
    measures = [f"infolm {name}" for name in ("ab", "alpha", "gamma", "jeffreys", "fisher_rao", "l1", "l2", "linf")]
    names = [*measures, "bertscore f1", "moverscore", "bleu", "rouge rouge1", "meteor", "ter"]
    rows = []
    for name in names:
        own = {criterion: changes.get(name.replace(" ", "_"), 0.5) for criterion in CRITERIA}
        own |= changes.get(name.replace(" ", "_") + "__", {})
        cells = {f"{criterion} {each[0]}": shown(own[criterion]) for criterion in CRITERIA for each in COEFFICIENTS}
        rows.append({"metric": name, **cells})
    return {claim.id.partition("/")[2]: claim for claim in webnlg_claims.table_claims(rows)}


def test_claims_of_the_table_of_systems():
    claims = table_2(infolm_ab=0.65, infolm_alpha=0.65, infolm_l1=0.3, infolm_l2=0.3, infolm_linf=0.3)
    assert {name.partition("/")[2] for name, claim in claims.items() if claim.holds == "holds"} == {
        "ab-alpha-best", "data-coverage-gain", "lp-low", "beta-lower", "fluency-structure-alike", "gains",
    }  # fmt: skip
    assert claims["table-2/fisher-rao-fluency"].holds == "does not hold"  # .5 and .5
    assert "by at most 15 points" in claims["table-2/data-coverage-gain"].here
    # One measure of two: half of the parts.
    claims = table_2(infolm_ab=0.65)
    assert claims["table-2/beta-lower"].holds == "holds in part"
    # .65 of AB is above alpha, too, which is another of the best: AB holds everywhere, alpha nowhere.
    assert claims["table-2/ab-alpha-best"].holds == "holds in part"
    fluent = {"Fluency": 0.7, "TextStructure": 0.7}
    claims = table_2(infolm_fisher_rao__=fluent, bleu__={"Fluency": 0.4, "TextStructure": 0.6})
    assert claims["table-2/fisher-rao-fluency"].holds == "holds"
    assert claims["table-2/fluency-structure-alike"].holds == "holds in part"
    assert claims["abstract/gains"].holds == "does not hold"  # six of fifteen cells


def test_a_table_that_lacks_metrics_of_the_paper_is_not_judged():
    assert (
        webnlg_claims.table_claims(
            [{"metric": "bleu", **{f"{c} {x[0]}": ".5" for c in CRITERIA for x in COEFFICIENTS}}]
        )
        == []
    )
