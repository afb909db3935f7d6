"""The fluency study on made-up generators: ratings by rule, metrics that must follow them, and the real ratings."""

import gzip
import json

import numpy as np
import pytest
from scipy import stats

from recapture import InputError
from recapture_studies.made_up.generators import SYSTEMS, build
from recapture_studies.mark_evaluate import e2e_ratings
from recapture_studies.mark_evaluate.fluency_paper import BEST_K, DEFAULT_K
from recapture_studies.mark_evaluate.fluency_scores import METHODS, Encoding, Scorer, Sizes
from recapture_studies.rated import shown
from recapture_studies.study import Setup, find_study


def write(path, rows):
    with gzip.open(path, "wt") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def findings(data, own_cache):
    return find_study("fluency").run(Setup(data, quick=True, encoder="bag-of-words"))


def cells(findings, name):
    grid = next(table.table for table in findings.tables if table.name == name)
    return {row[0]: dict(zip(grid.heads, row, strict=True)) for row in grid.rows}


def test_win_rates_by_hand():
    """a beats b, ties c; b loses to c: a 1.5 of 2, b 0, c 1.5. In the second a loses to b."""
    judgements = [(["a", "b", "c"], [90.0, 10.0, 90.0]), (["b", "a"], [1e9, 3.0])]
    won, counts = e2e_ratings.win_rates(judgements)
    assert won == pytest.approx({"a": 1.5 / 3, "b": 1 / 3, "c": 1.5 / 2})
    assert counts == {"a": 3, "b": 3, "c": 2}
    with pytest.raises(InputError, match="names 2 systems, but has 1 scores"):
        e2e_ratings.win_rates([(["a", "b"], [1.0])])


def test_win_rates_see_order_alone():
    rng = np.random.default_rng(1)
    rows = [([f"s{each}" for each in rng.permutation(6)[:4]], rng.integers(1, 9, 4).tolist()) for _ in range(50)]
    assert e2e_ratings.win_rates(rows) == e2e_ratings.win_rates([(names, np.exp(scores)) for names, scores in rows])
    # Every comparison is won once in all.
    won, counts = e2e_ratings.win_rates(rows)
    assert sum(won[name] * counts[name] for name in won) == pytest.approx(sum(counts.values()) / 2)


@pytest.mark.traced
@pytest.mark.slow
def test_made_up_people_and_metrics_agree(findings, data):
    """Disorder grows from system to system: people's shares fall, and so must precision and cross-entropy's order."""
    rated = e2e_ratings.load(Setup(data))
    assert list(np.argsort(-rated.won["naturalness"])) == list(range(SYSTEMS))
    own = cells(findings, "naturalness")
    assert set(own) == {*(method.name for method in METHODS), "forward CE", "reverse CE", "BLEU", "distinct bigrams"}
    for name in ("Fréchet", "precision", "ME quality", "ME Petersen", "MMD", "forward CE", "BLEU"):
        assert float(own[name]["r"]) > 0.6, name
        low, high = (float(each) for each in own[name]["95 % over systems"].split(" to "))
        assert low <= float(own[name]["r"]) <= high


@pytest.mark.traced
@pytest.mark.slow
def test_numbers_are_those_of_the_metrics_and_scipy(findings, data):
    import recapture as rc

    setup = Setup(data, quick=True)
    rated = e2e_ratings.load(setup, 6, 40)
    people = rated.won["naturalness"]
    flat = [text for group in rated.references for text in group]
    assert len(flat) == 100
    every = [rc.mark_evaluate(flat, texts, encoder="bag-of-words").petersen for texts in rated.outputs.values()]
    shown_there = cells(findings, "set-sizes")["ME Petersen"]["naturalness: all 100 references"]
    assert shown_there == shown(stats.pearsonr(people, every)[0])
    forward = [-rc.cross_entropy(rated.references, texts).forward for texts in rated.outputs.values()]
    own = cells(findings, "naturalness")["forward CE"]
    assert own["r"] == shown(stats.pearsonr(people, forward)[0])
    assert own["tau"] == shown(stats.kendalltau(people, forward)[0])
    assert own["rho"] == shown(stats.spearmanr(people, forward)[0])
    from sacrebleu.metrics import BLEU

    columns = [[group[at] if at < len(group) else None for group in rated.references] for at in range(3)]
    bleu = [BLEU(lowercase=True, force=True).corpus_score(texts, columns).score for texts in rated.outputs.values()]
    assert cells(findings, "naturalness")["BLEU"]["r"] == shown(stats.pearsonr(people, bleu)[0])


def test_best_setting_and_claims(findings):
    own = cells(findings, "naturalness")
    for row in own.values():
        if row["best k"] != "-":
            assert float(row["r at best k"]) >= float(row["r"])
    claims = find_study("fluency").claims(findings)
    assert {claim.id.split("/")[1] for claim in claims} == {"table-1", "table-4"}
    for claim in claims:  # at the best k, chosen on the ratings, or at the default
        best = claim.here.startswith("r at the best k")
        assert claim.chosen == ("same" if best else "fixed")
        assert claim.sample == ("in sample" if best else "out of sample")
    paper = cells(findings, "beside-the-paper")
    assert list(paper) == list(BEST_K)
    assert paper["ME quality"]["paper, best K"] == ".917, .911, .976"


@pytest.mark.traced
@pytest.mark.slow
def test_drawn_references(data):
    """One reference of every input; the same rows for every system; means over draws."""
    setup = Setup(data, encoder="bag-of-words")
    rated = e2e_ratings.load(setup, items=30)
    paths = e2e_ratings.files(data / "e2e_nlg")
    scorer = Scorer(setup, rated, Encoding("bag", "bag-of-words"), Sizes((1,), (20,), 4), paths)
    owner = np.repeat(np.arange(30), [len(group) for group in rated.references])
    assert len(scorer._draws) == 4
    for rows in scorer._draws:
        assert list(owner[rows]) == list(range(30))
    each = [scorer._measured(scorer._vectors[0][rows], scorer._vectors[2])["ME quality@1"] for rows in scorer._draws]
    assert scorer.scores("drawn")["ME quality"][1][1] == pytest.approx(np.mean(each), abs=1e-15)


@pytest.mark.traced
@pytest.mark.slow
def test_a_second_run_reads_what_was_kept(data, findings, monkeypatch):
    import recapture as rc

    monkeypatch.setattr(rc, "mark_evaluate_sweep", lambda *_, **__: pytest.fail("measured again"))
    again = find_study("fluency").run(Setup(data, quick=True, encoder="bag-of-words"))
    assert [table.table for table in again.tables] == [table.table for table in findings.tables]


def test_bad_input(data, tmp_path):
    import shutil

    with pytest.raises(InputError, match="it should hold test_refs"):
        find_study("fluency").run(Setup(tmp_path, quick=True))
    copy = shutil.copytree(data, tmp_path / "data")
    write(copy / "e2e_nlg" / "outputs.jsonl.gz", [{"system": "s0", "id": 0, "output": "x"}])
    with pytest.raises(InputError, match="has no output of s0 for item 1"):
        e2e_ratings.load(Setup(copy))
    write(copy / "e2e_nlg" / "human_quality.jsonl.gz", [{"systems": ["s1"], "scores": [1.0]}])
    shutil.copy(data / "e2e_nlg" / "outputs.jsonl.gz", copy / "e2e_nlg" / "outputs.jsonl.gz")
    with pytest.raises(InputError, match="has no rating of s0"):
        e2e_ratings.load(Setup(copy))


def test_the_papers_numbers_agree_with_each_other():
    """Table 1 repeats Table 4's SBERT columns where the default K is the best (FID has none)."""
    for name in ("Fréchet", "ME quality", "ME Petersen", "ME CAPTURE"):
        assert BEST_K[name] == DEFAULT_K["SBERT"][name]
    assert all(max(by.values()) <= (1, 1, 1) for by in DEFAULT_K.values())


@pytest.mark.slow
def test_real_ratings(data_folder):
    """The data's README: 21 systems, 4,693 references; BLEU of slug 66.2, tgen 65.9, tnt1 65.6; BLEU v win rate .295
    (quality) and .674 (naturalness), Pearson."""
    from sacrebleu.metrics import BLEU

    rated = e2e_ratings.load(Setup(data_folder))
    assert len(rated.outputs) == 21 and sum(map(len, rated.references)) == 4693 and len(rated.references) == 630
    most = max(map(len, rated.references))
    columns = [[group[at] if at < len(group) else None for group in rated.references] for at in range(most)]
    metric = BLEU(lowercase=True, force=True, references=columns)
    scores = {name: metric.corpus_score(texts, None).score for name, texts in rated.outputs.items()}
    for name, expected in (("slug", 66.2), ("tgen", 65.9), ("tnt1", 65.6)):
        assert scores[name] == pytest.approx(expected, abs=0.05)
    for criterion, expected in (("quality", 0.295), ("naturalness", 0.674)):
        found = stats.pearsonr(rated.won[criterion], list(scores.values()))[0]
        assert found == pytest.approx(expected, abs=6e-4)
