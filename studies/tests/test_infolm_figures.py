"""metric-map, score-distributions and calibration on made-up summaries, against scipy, and on the real ones."""

import gzip
import json

import numpy as np
import pytest
from scipy import stats

import recapture as rc
from recapture_studies.infolm import summary_parameters
from recapture_studies.infolm.calibration import path, temperature_parts
from recapture_studies.infolm.metric_map import PEOPLE, summaries
from recapture_studies.infolm.summary_parameters import parameter_parts
from recapture_studies.made_up.summaries import build
from recapture_studies.made_up.writing import write_records
from recapture_studies.rated import shown
from recapture_studies.study import Setup, find_study
from recapture_studies.write import write_findings


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    build(folder)
    return folder


@pytest.fixture
def quick(data, tiny_bert, own_cache):
    return Setup(data, quick=True, encoder=str(tiny_bert), model=str(tiny_bert), encoding={"offline": True})


def table(findings, name):
    grid = next(each.table for each in findings.tables if each.name == name)
    return {row[0]: dict(zip(grid.heads, row, strict=True)) for row in grid.rows}


def human_of(setup, kind):
    return next(part for part in summaries(setup, kind)).human


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("name", ["metric-map", "score-distributions", "calibration"])
def test_everything_is_written(name, quick, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    study = find_study(name)
    findings = study.run(quick)
    written = {path.name for path in write_findings(study, findings, quick, tmp_path)}
    assert {f"{name}.md", f"{name}.json", f"{name}.svg"} <= written
    claims = study.claims(findings)
    assert claims and all(claim.id.startswith("infolm/figure-") and claim.own for claim in claims)


# metric-map


@pytest.mark.traced
@pytest.mark.slow
def test_the_map_is_a_matrix_of_correlations(quick):
    findings = find_study("metric-map").run(quick)
    rows = table(findings, "system-level")
    names = [row.partition(". ")[2] for row in rows]
    cells = [[row[str(at + 1)] for at in range(len(names))] for row in rows.values()]
    assert all(cells[at][at] == "1" for at in range(len(names)))
    assert all(cells[at][other] == cells[other][at] for at in range(len(names)) for other in range(at))
    human = human_of(quick, "abs")
    people, bert = human["litepyramid"].mean(axis=1), human["bert_f_score"].mean(axis=1)
    at, other = names.index(PEOPLE), names.index("authors' BERTScore F1")
    assert cells[at][other] == shown(stats.pearsonr(people, bert)[0])


def test_the_map_against_rouge_score(data, own_cache):
    from rouge_score.rouge_scorer import RougeScorer

    setup = Setup(data, quick=True, metrics=("rouge",), model="none", encoding={"cache": False, "offline": True})
    (part,) = summaries(setup, "abs")
    scorer = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)
    means = {each: [np.mean([scorer.score(reference, text)[each].fmeasure
                             for reference, text in zip(part.references, texts, strict=True)])
                    for texts in part.systems.values()] for each in ("rouge1", "rouge2")}  # fmt: skip
    rows = table(find_study("metric-map").run(setup), "system-level")
    names = [row.partition(". ")[2] for row in rows]
    one, other = names.index("rouge rouge1"), names.index("rouge rouge2")
    assert list(rows.values())[one][str(other + 1)] == shown(stats.pearsonr(means["rouge1"], means["rouge2"])[0])


def test_a_map_without_stored_scores(data, tmp_path, own_cache):
    """People and the one metric that was asked for: two rows, no claims, and r as scipy has it."""
    from sacrebleu.metrics import CHRF

    for name, dropped in (("documents", ()), ("summaries", ("auto_scores",))):
        with gzip.open(data / "realsumm" / f"{name}.jsonl.gz", "rt") as stream:
            rows = [json.loads(line) for line in stream]
        kept = [{field: value for field, value in row.items() if field not in dropped} for row in rows]
        write_records(tmp_path / "realsumm" / f"{name}.jsonl.gz", kept)
    setup = Setup(tmp_path, quick=True, metrics=("chrf",), model="none", encoding={"cache": False, "offline": True})
    findings = find_study("metric-map").run(setup)
    rows = table(findings, "system-level")
    assert list(rows) == [f"1. {PEOPLE}", "2. chrf"] and not find_study("metric-map").claims(findings)
    (part,) = summaries(setup, "abs")
    scorer = CHRF(lowercase=True)
    scores = [scorer.corpus_score(texts, [part.references]).score for texts in part.systems.values()]
    expected = {shown(stats.pearsonr(part.human["litepyramid"].mean(axis=1), scores)[0])}
    assert {rows[f"1. {PEOPLE}"]["2"], rows["2. chrf"]["1"]} == expected


def test_claims_of_the_map_follow_from_its_table(quick):
    findings = find_study("metric-map").run(quick)
    beside = table(findings, "beside-the-paper")
    lowest = float(beside["infolm: among alpha, gamma, AB, Fisher-Rao"]["lowest r"])
    among = find_study("metric-map").claims(findings)[0]
    assert among.id == "infolm/figure-2/among-themselves"
    assert (among.holds == "holds") <= (lowest > 0.88)
    for row in beside.values():
        assert float(row["lowest r"]) <= float(row["mean r"])


def test_quick_texts_are_short(quick):
    for part in summaries(quick):
        assert max(len(text.split()) for texts in part.systems.values() for text in texts) <= 16


# score-distributions


def test_areas_are_those_of_mann_and_whitney(data, own_cache):
    setup = Setup(data, quick=True, metrics=("rouge", "chrf"), model="none", encoding={"cache": False, "offline": True})
    (part,) = summaries(setup, "abs")
    from sacrebleu.metrics import CHRF

    scores = np.array([[CHRF(lowercase=True).sentence_score(text, [reference]).score
                        for reference, text in zip(part.references, texts, strict=True)]
                       for texts in part.systems.values()])  # fmt: skip
    good = part.human["litepyramid"] >= 0.5
    assert 0 < good.sum() < good.size
    expected = stats.mannwhitneyu(scores[good], scores[~good]).statistic / (good.sum() * (~good).sum())
    findings = find_study("score-distributions").run(setup)
    areas = table(findings, "areas")
    assert areas["chrf"]["area"] == shown(expected)
    within = []
    for one, kind in zip(scores.T, good.T, strict=True):
        if 0 < kind.sum() < len(kind):
            within.append(stats.mannwhitneyu(one[kind], one[~kind]).statistic / (kind.sum() * (~kind).sum()))
    assert areas["chrf"]["area within documents"] == shown(np.mean(within))
    # Words are lost from system to system, so ROUGE-1 must see it.
    assert float(areas["rouge rouge1"]["area"]) > 0.8


def test_measures_that_are_functions_of_one_sum_have_one_area(quick):
    """alpha, Rényi, AB at one half and Fisher-Rao all fall as the sum of square roots of p q grows."""
    areas = table(find_study("score-distributions").run(quick), "areas")
    assert len({areas[f"infolm {name}"]["area"] for name in ("alpha", "renyi", "ab", "fisher_rao")}) == 1


# calibration


def test_paths_of_curves():
    """Rising: 1. One peak: 1 to 2, whatever its place. More peaks may be longer; a flat curve has no range."""
    rng = np.random.default_rng(2)
    rising = np.sort(rng.random(11))
    assert path(rising) == pytest.approx(1) and path(rising[::-1]) == pytest.approx(1)
    for place in range(1, 10):
        peaked = np.concatenate([np.sort(rng.random(place)), [2.0], np.sort(rng.random(10 - place))[::-1]])
        assert 1 <= path(peaked) <= 2
    assert path([0, 1, 0, 1]) == 3 and path([5, 5]) == 1
    # As its description says of random numbers.
    assert np.mean([path(rng.normal(size=11)) for _ in range(500)]) > 3


@pytest.mark.traced
@pytest.mark.slow
def test_temperatures_are_those_of_the_metric(quick):
    import recapture as rc

    findings = find_study("calibration").run(quick)
    rows = table(findings, "extractive-systems")
    assert list(rows) == ["0.5", "1", "2", "5"]
    part = next(each for each in temperature_parts(quick) if each.about["kind"] == "ext")
    people = part.human["litepyramid"].mean(axis=1)
    for temperature, row in rows.items():
        scores = [
            -rc.infolm(part.references, texts, model=quick.model, temperature=float(temperature), cache=False).value
            for texts in part.systems.values()
        ]
        assert row["infolm pearson"] == shown(stats.pearsonr(people, scores)[0])
        assert row["infolm kendall"] == shown(stats.kendalltau(people, scores)[0])
        assert row["infolm spearman"] == shown(stats.spearmanr(people, scores)[0])
    choosing = table(findings, "choosing")["extractive, infolm"]
    assert choosing["r at best T"] == max((row["infolm pearson"] for row in rows.values()), key=float)
    assert choosing["r at T = 1"] == rows["1"]["infolm pearson"]


def test_scores_can_be_made_elsewhere(quick, tmp_path):
    """What another machine keeps under a folder serves the study: the same files, found by the same names."""
    from recapture_studies import item_scores

    assert item_scores.fill(temperature_parts(quick), folder=tmp_path, device="cpu", offline=True) == 1
    names = sorted(path.name.rpartition("-")[0] for path in tmp_path.iterdir())
    assert names == ["realsumm-ext-temperatures-infolm"]


# Real data


@pytest.mark.slow
def test_real_map(data_folder, own_cache):
    """The data's README: ROUGE-2 F1 .870, stored MoverScore .858, with people, abstractive systems."""
    setup = Setup(data_folder, metrics=("rouge",), model="none", encoding={"cache": False, "offline": True})
    rows = table(find_study("metric-map").run(setup), "system-level")
    names = [row.partition(". ")[2] for row in rows]
    people = list(rows.values())[names.index(PEOPLE)]
    assert people[str(names.index("rouge rouge2") + 1)] == ".870"
    assert people[str(names.index("authors' MoverScore") + 1)] == ".858"


# summary-parameters


@pytest.mark.slow
def test_parameters_are_chosen_as_a_loop_chooses_them(quick):
    """The best setting on all documents by scipy's coefficients over the metric's own scores; no model is run twice."""
    findings = find_study("summary-parameters").run(quick)
    grid = next(each.table for each in findings.tables if each.name == "chosen")
    rows = {tuple(row[:4]): dict(zip(grid.heads, row, strict=True)) for row in grid.rows}
    part = next(each for each in parameter_parts(quick) if each.about["kind"] == "ext")
    human = part.human["litepyramid"].mean(axis=1)
    for measure, free in (("jeffreys", ""), ("alpha", "alpha 0.5, ")):
        by_setting = {}
        for temperature in (0.5, 1.0, 2.0):
            scores = [
                -rc.infolm(part.references, texts, measure, model=quick.model, temperature=temperature, cache=False,
                           alpha=0.5 if free else None).value
                for texts in part.systems.values()
            ]  # fmt: skip
            by_setting[f"{free}T {temperature:g}"] = stats.kendalltau(scores, human).statistic
        row = rows["extractive", "system", "kendall", f"infolm {measure}"]
        assert row["default"] == shown(by_setting[f"{free}T 1"])
        assert row["best"] == shown(max(by_setting.values()))
        assert by_setting[row["best setting"]] == max(by_setting.values())
    # What has no parameters has one number.
    row = rows["extractive", "system", "pearson", "rouge rouge1"]
    assert (row["best setting"], row["best"], row["honest, halves"]) == ("-", row["default"], row["default, halves"])


def chosen_table(**changes):
    """Every metric at .5 in every cell, but for those named: (best, honest)."""
    rows = []
    for kind in ("abstractive", "extractive"):
        for level in ("system", "text"):
            for coefficient in ("pearson", "spearman", "kendall"):
                for name in [*(f"infolm {each}" for each in summary_parameters.FAMILIES), *OTHER_METRICS]:
                    best, honest = changes.get(name.replace(" ", "_"), (0.5, 0.5))
                    plain = name in OTHER_METRICS
                    rows.append({"systems": kind, "level": level, "coefficient": coefficient, "metric": name,
                                 "best setting": "-" if plain else "T 1", "best": shown(best),
                                 "default, halves": shown(honest), "honest, halves": shown(honest)})  # fmt: skip
    claims = summary_parameters.judge({"chosen": rows}, {})
    return {(claim.id.partition("/")[2], claim.chosen): claim.holds for claim in claims}


OTHER_METRICS = ("bertscore f1", "moverscore", "rouge rouge1", "rouge rouge2", "rouge rougeL", "bleu", "meteor")


def test_claims_of_figure_1_by_both_ways_to_choose():
    """AB is the best by .2 where it was chosen and no better than others where it was not."""
    claims = chosen_table(infolm_ab=(0.7, 0.5), infolm_gamma=(0.3, 0.3), infolm_linf=(0.6, 0.4))
    assert [claims["figure-1/ab-best", how] for how in ("same", "other")] == ["holds", "does not hold"]
    assert [claims["abstract/gains", how] for how in ("same", "other")] == ["holds", "does not hold"]
    assert [claims["figure-1/linf-sometimes", how] for how in ("same", "other")] == ["holds", "does not hold"]
    assert claims["figure-1/alpha-like-ab", "same"] == "does not hold"  # .7 and .5
    assert claims["figure-1/alpha-like-ab", "other"] == "holds"
    assert {claims["figure-1/beta-lower", how] for how in ("same", "other")} == {"holds"}
    assert claims["figure-1/ab-above-ngrams", "same"] == "holds"
    # Fisher-Rao at .5 is not above BERTScore at .5; AB is: half of the parts.
    assert claims["figure-1/above-bertscore", "same"] == "holds in part"
    assert claims["figure-1/vectors-poor-extractive", "other"] == "does not hold"


def test_an_interrupted_run_says_nothing_of_figure_1():
    rows = [{"systems": "abstractive", "level": "text", "coefficient": "pearson", "metric": "infolm ab",
             "best setting": "T 1", "best": ".5", "default, halves": ".5", "honest, halves": ".5"}]  # fmt: skip
    assert summary_parameters.judge({"chosen": rows}, {}) == []
