"""Agreement with people: coefficients against scipy, kept scores, and the three studies on made-up and on real data."""

import csv
import gzip
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import recapture as rc
from recapture import InputError
from recapture.cli.app import run
from recapture_studies import item_scores
from recapture_studies.agreement import COEFFICIENTS, text_level
from recapture_studies.infolm import summarisation, webnlg
from recapture_studies.item_scores import Part, Task, fill, making, scores_of
from recapture_studies.made_up import build
from recapture_studies.made_up.rated_texts import GOOD
from recapture_studies.mark_evaluate import wmt17
from recapture_studies.mark_evaluate.moses import detokenised
from recapture_studies.rated import shown
from recapture_studies.study import Setup, find_study
from recapture_studies.write import made_with, write_findings

SCIPY = {
    "pearson": lambda a, b: stats.pearsonr(a, b)[0],
    "spearman": lambda a, b: stats.spearmanr(a, b)[0],
    "kendall": lambda a, b: stats.kendalltau(a, b)[0],  # tau-b
}


# Agreement


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_text_level_is_a_loop_over_inputs(coefficient):
    rng = np.random.default_rng(2)
    human, scores = rng.integers(0, 4, (6, 40)).astype(float), rng.integers(0, 5, (6, 40)) / 3
    human[:, 3] = 2.0  # people see no difference
    scores[:, 5] = 0.1 + 0.2  # nor does the metric
    scores[:, 7] = 1 / 3 + 1e-17 * np.arange(6)
    human[2, 9] = np.nan  # a rating is missing
    human[1:, 11] = np.nan  # one rating says nothing
    expected = []
    for one, other in zip(human.T, scores.T, strict=True):
        known = ~np.isnan(one)
        if len(set(one[known])) > 1 and len(set(np.round(other[known], 12))) > 1:
            expected.append(SCIPY[coefficient](one[known], other[known]))
    found = text_level(scores, human, coefficient)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.dropped == 40 - len(expected)
    assert found.dropped >= 4


def test_nothing_to_compare():
    nothing = text_level(np.ones((3, 2)), np.ones((3, 2)))
    assert math.isnan(nothing.value) and nothing.dropped == 2 and shown(nothing.value) == "-"


def test_shown_numbers():
    assert [shown(each) for each in (0.9634, -0.0182, 1.0, -1.0, 0.99961, 0.0001)] == [
        ".963", "-.018", "1", "-1", "1", "0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "stored, written",
    [
        ("the cat sat on the mat .", "the cat sat on the mat."),
        ("he said : &quot; it &apos;s 5 % , don &apos;t go &quot; .", "he said: \"it's 5%, don't go\"."),
        ("the boys &apos; hats ( two ) cost $ 5 ; r &amp; d !", "the boys' hats (two) cost $5; r & d!"),
        ("a well @-@ known &#91; red &#93; fish ...", "a well-known [red] fish..."),
        ("", ""),
    ],
)
def test_tokens_are_joined_as_people_write(stored, written):
    assert detokenised(stored) == written


# Made-up data, in the form of the real folders


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """References, systems that spoil more and more of their words, and people who see how much."""
    root = tmp_path_factory.mktemp("rated")
    build(root, ("wmt17_to_english", "webnlg2020_en", "realsumm"))
    return root


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "scores"


# Kept scores


def toy(**changes):
    texts = [GOOD, "a cat ran", "the dog sat"]
    systems = {"one": [GOOD, "a dog ran", "the dog sat"], "two": ["a bird", "a cat", "fish"]}
    tasks = [Task("chrf", "chrf"), Task("bleu", "bleu", {"lowercase": True})]
    return Part(**{"name": "toy", "references": texts, "systems": systems, "tasks": tasks, **changes})


def test_scores_are_kept_and_read_back(cache, monkeypatch):
    made = scores_of(toy(), making())
    assert sorted(path.name.rpartition("-")[0] for path in cache.iterdir()) == ["toy-bleu", "toy-chrf"]
    monkeypatch.setattr(rc, "evaluate_pairs", lambda *_, **__: pytest.fail("scored again"))
    kept = scores_of(toy(), making())
    for label, scores in made.items():
        for name in scores.items:
            np.testing.assert_array_equal(kept[label].items[name], scores.items[name])
            np.testing.assert_array_equal(kept[label].totals[name], scores.totals[name])
        assert kept[label].signature == scores.signature and kept[label].direction == scores.direction
    # What sacrebleu itself says.
    from sacrebleu.metrics import CHRF

    expected = [CHRF().corpus_score(texts, [toy().references]).score / 100 for texts in toy().systems.values()]
    np.testing.assert_allclose(made["chrf"].totals["value"], expected, atol=1e-12)
    with pytest.raises(pytest.fail.Exception):
        scores_of(toy(), making(keep=False))


def test_what_a_file_hangs_on():
    part = toy()
    how = making()
    seen = {item_scores.key(part, part.tasks[0], how)}
    seen.add(item_scores.key(part, Task("chrf", "chrf", {"beta": 3}), how))
    seen.add(item_scores.key(part, Task("bleu", "chrf"), how))
    seen.add(item_scores.key(toy(references=[GOOD, "a cat ran", "the dog sat."]), part.tasks[0], how))
    seen.add(item_scores.key(toy(references=[[GOOD], "a cat ran", "the dog sat"]), part.tasks[0], how))
    seen.add(item_scores.key(toy(systems={**part.systems, "two": ["a bird", "a cat", "fishes"]}), part.tasks[0], how))
    assert len(seen) == 6
    elsewhere = making(device="cuda", batch_tokens=7, metrics="chrf")
    assert item_scores.key(part, part.tasks[0], elsewhere) in seen
    assert item_scores.key(part, Task("chrf", "another label", {"beta": 2}), how) in seen  # the default, spelt out


def test_models_are_told_apart_by_name_and_content(tiny_bert, tmp_path, cache):
    import shutil

    part = toy()
    tasks = [Task("infolm", "i", {"model": tiny_bert}), Task("bertscore", "b")]
    copy = shutil.copytree(tiny_bert, tmp_path / "elsewhere" / tiny_bert.name)
    how, moved = making(encoder=tiny_bert), making(encoder=copy)
    assert item_scores.key(part, tasks[1], how) == item_scores.key(part, tasks[1], moved)
    assert item_scores.key(part, tasks[0], how) == item_scores.key(part, Task("infolm", "i", {"model": copy}), moved)
    other = shutil.copytree(tiny_bert, tmp_path / "other" / tiny_bert.name)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
    changed = making(encoder=other)
    assert item_scores.key(part, tasks[1], how) != item_scores.key(part, tasks[1], changed)
    # Said to be the same weights in another number type, the scores stand in for those of the original.
    revision = item_scores._identity("encoder", str(tiny_bert), None)[1]
    assert item_scores.key(part, tasks[1], how) == item_scores.key(
        part, tasks[1], making(encoder=other, known_as={tiny_bert.name: revision})
    )


def test_damaged_files_are_made_again(cache):
    good = scores_of(toy(), making())
    for content in (b"", b"PK\x03\x04 not JSON", b"[1]\n{}\n3"):
        for path in cache.iterdir():
            path.write_bytes(content)
        again = scores_of(toy(), making())
        np.testing.assert_array_equal(again["chrf"].items["value"], good["chrf"].items["value"])
    path = next(cache.glob("toy-chrf*"))
    path.write_text('{"step": "scores", "value": {"systems": ["one", "two"], "items": {"value": [[1, 2], 3]}}}')
    assert scores_of(toy(), making())["chrf"].totals["value"].shape == (2,)


def test_an_interrupted_run_goes_on(cache, monkeypatch):
    real = rc.evaluate_pairs
    asked = []

    def fails_at_second(references, systems, metrics, **options):
        asked.append(list(metrics))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return real(references, systems, metrics, **options)

    monkeypatch.setattr(rc, "evaluate_pairs", fails_at_second)
    with pytest.raises(KeyboardInterrupt):
        fill([toy()])
    assert len(list(cache.iterdir())) == 1
    assert fill([toy()]) == 2
    assert asked == [["chrf"], ["bleu"], ["bleu"]]
    assert fill([toy()], metrics=["chrf"], folder=str(cache / "beside")) == 1
    assert next(path.name for path in (cache / "beside").iterdir()).startswith("toy-chrf")


def test_metrics_on_word_vectors_share_one_run(tiny_bert, cache, monkeypatch):
    real = rc.evaluate_pairs
    asked = []

    def spy(references, systems, metrics, **options):
        asked.append(list(metrics))
        return real(references, systems, metrics, **options)

    monkeypatch.setattr(rc, "evaluate_pairs", spy)
    tasks = [Task("me-words", "me-words", {"layers": 2}), Task("chrf", "chrf"), Task("bertscore", "bertscore")]
    part = toy(tasks=tasks)
    together = scores_of(part, making(encoder=tiny_bert))
    assert asked == [["me-words", "bertscore"], ["chrf"]]
    assert list(together) == ["me-words", "chrf", "bertscore"]
    alone = scores_of(part, making("bertscore", encoder=tiny_bert, keep=False))
    np.testing.assert_allclose(alone["bertscore"].items["f1"], together["bertscore"].items["f1"], atol=1e-6)
    assert together["me-words"].signature["device"] and "device" not in together["chrf"].signature


def test_a_model_that_is_absent_matters_only_where_it_is_wanted(cache):
    part = toy(tasks=[Task("chrf", "chrf"), Task("infolm", "infolm", {"model": "/no/such/folder"})])
    assert list(scores_of(part, making("chrf"))) == ["chrf"]
    with pytest.raises(InputError, match="no such folder"):
        scores_of(part, making())


# The studies

MODULES = {"wmt17": wmt17, "webnlg": webnlg, "summarisation": summarisation}


def cells(findings, table):
    grid = next(each.table for each in findings.tables if each.name == table)
    return {row[0]: dict(zip(grid.heads, row, strict=True)) for row in grid.rows}


@pytest.fixture
def quick(data, tiny_bert, loaded_once):
    return Setup(data, quick=True, encoder=str(tiny_bert), model=str(tiny_bert))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_quick_form_writes_everything(name, quick, tmp_path, own_cache, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    study = find_study(name)
    findings = study.run(quick)
    write_findings(study, findings, quick, tmp_path / "out")
    content = json.loads((tmp_path / "out" / f"{name}.json").read_text())
    for table, rows in content["tables"].items():
        with (tmp_path / "out" / f"{name}-{table}.csv").open() as stream:
            assert list(csv.DictReader(stream)) == rows
    labels = {task.label for part in MODULES[name].parts(quick) for task in part.tasks}
    rows = {row["metric"].split()[0] for rows in content["tables"].values() for row in rows if "metric" in row}
    assert labels <= rows
    assert "infolm fisher_rao" in (tmp_path / "out" / f"{name}.md").read_text()
    if name == "wmt17":  # InfoLM is scored on the sample alone
        alike, whole = cells(findings, "on-the-same-sample"), cells(findings, "system-level-stored")
        assert alike["infolm kl"]["stored"] == whole["infolm kl"]["mean"]
    # A second run reads all scores, and finds the same.
    monkeypatch.setattr(rc, "evaluate_pairs", lambda *_, **__: pytest.fail("scored again"))
    assert [table.table for table in study.run(quick).tables] == [table.table for table in findings.tables]


@pytest.mark.traced
@pytest.mark.slow
def test_translations_against_sacrebleu_and_scipy(quick, data, cache):
    from sacrebleu.metrics import BLEU, CHRF

    findings = find_study("wmt17").run(Setup(data, quick=True, metrics=("bleu", "chrf")))
    rows = list(csv.DictReader((data / "wmt17_to_english/system_da.tsv").open(), delimiter="\t"))
    with gzip.open(data / "wmt17_to_english/segments.jsonl.gz", "rt") as stream:
        segments = [json.loads(line) for line in stream]
    with gzip.open(data / "wmt17_to_english/outputs.jsonl.gz", "rt") as stream:
        outputs = [json.loads(line) for line in stream]
    judged = [json.loads(line) for line in (data / "wmt17_to_english/segment_da.jsonl").open()]
    few = cells(findings, "on-the-same-sample")
    for form, clean in (("stored", str), ("cleaned", detokenised)):
        by_pair = []
        system, segment = (cells(findings, f"{level}-level-{form}") for level in ("system", "segment"))
        for name, metric in (("bleu", BLEU(force=True)), ("chrf", CHRF())):
            for pair in ("cs-en", "zh-en"):
                references = [clean(row["reference"]) for row in segments if row["lp"] == pair][:12]
                human, scores, thirds = [], [], []
                for row in rows:
                    if row["lp"] == pair:
                        texts = [clean(each["hyp"]) for each in outputs
                                 if (each["lp"], each["system"]) == (pair, row["system"])][:12]  # fmt: skip
                        human.append(float(row["human_da"]))
                        scores.append(metric.corpus_score(texts, [references]).score)
                        every = [CHRF().sentence_score(texts[at], [references[at]]).score for at in (0, 4, 8)]
                        thirds.append(np.mean(every))
                assert system[name][pair] == shown(stats.pearsonr(human, scores)[0])
                if name == "chrf":
                    by_pair.append(stats.pearsonr(human, thirds)[0])
                single = BLEU(effective_order=True) if name == "bleu" else metric
                rated = [row for row in judged if row["lp"] == pair][:8]
                scores = [single.sentence_score(clean(row["hyp"]), [clean(row["reference"])]).score for row in rated]
                human = [row["human_da"] for row in rated]
                assert segment[name][pair] == shown(stats.pearsonr(human, scores)[0])
        assert few["chrf"][form] == shown(np.mean(by_pair))


def test_data_to_text_against_scipy(data, cache):
    from sacrebleu.metrics import CHRF

    findings = find_study("webnlg").run(Setup(data, quick=True, metrics=("chrf",)))
    with gzip.open(data / "webnlg2020_en/human_eval.jsonl.gz", "rt") as stream:
        rows = [json.loads(line) for line in stream]
    with gzip.open(data / "webnlg2020_en/outputs.jsonl.gz", "rt") as stream:
        texts = {(row["system"], row["id"]): row["output"] for row in map(json.loads, stream)}
    references = {row["id"]: row["references"] for row in rows}
    names = ["good", "fair", "poor", "bad"]
    ratings = {(row["system"], row["id"]): row["human_mean"]["Fluency"] for row in rows}
    columns = [[references[item][at] if at < len(references[item]) else None for item in range(8)] for at in range(3)]
    totals = [CHRF().corpus_score([texts[name, item] for item in range(8)], columns).score for name in names]
    means = [np.mean([ratings[name, item] for item in range(8) if (name, item) in ratings]) for name in names]
    system, text = cells(findings, "system-level")["chrf"], cells(findings, "text-level")["chrf"]
    assert system["Fluency p"] == shown(stats.pearsonr(means, totals)[0])
    assert system["Fluency k"] == shown(stats.kendalltau(means, totals)[0])
    singles = []
    for item in range(8):
        known = [name for name in names if (name, item) in ratings]
        scores = [CHRF().sentence_score(texts[name, item], references[item]).score for name in known]
        singles.append(stats.spearmanr([ratings[name, item] for name in known], scores)[0])
    assert text["Fluency s"] == shown(np.mean(singles))


@pytest.mark.slow
def test_measures_that_are_functions_of_one_sum_rank_alike(data, tiny_bert, cache):
    """alpha, Rényi, AB at one half and Fisher-Rao all fall as the sum of square roots of p q grows."""
    setup = Setup(data, quick=True, metrics=("infolm",), model=str(tiny_bert))
    text = cells(find_study("webnlg").run(setup), "text-level")
    for column in text["infolm alpha"]:
        if column.endswith((" s", " k")):
            assert len({text[f"infolm {name}"][column] for name in ("alpha", "renyi", "ab", "fisher_rao")}) == 1


def test_summaries_against_rouge_score_and_scipy(data, cache):
    from rouge_score.rouge_scorer import RougeScorer

    findings = find_study("summarisation").run(Setup(data, quick=True, metrics=("rouge",)))
    with gzip.open(data / "realsumm/documents.jsonl.gz", "rt") as stream:
        references = {row["doc_id"]: " ".join(row["reference_sents"]) for row in map(json.loads, stream)}
    with gzip.open(data / "realsumm/summaries.jsonl.gz", "rt") as stream:
        rows = [row for row in map(json.loads, stream) if row["type"] == "ext" and row["doc_id"] < 3]
    scorer = RougeScorer(["rouge2"], use_stemmer=True)
    scores, human = np.zeros((4, 3)), np.zeros((4, 3))
    names = ["good", "fair", "poor", "bad"]
    for row in rows:
        at = names.index(row["system"]), row["doc_id"]
        scores[at] = scorer.score(references[row["doc_id"]], " ".join(row["summary_sents"]))["rouge2"].recall
        human[at] = row["litepyramid_recall"]
    found = cells(findings, "ext-system-level")
    assert found["rouge rouge2_recall"]["pearson"] == shown(stats.pearsonr(human.mean(1), scores.mean(1))[0])
    # The authors' own scores need no metric: here they are exactly in the systems' order.
    order = stats.kendalltau(human.mean(1), [4, 3, 2, 1])[0]
    assert found["authors' ROUGE-2 recall"]["kendall"] == shown(order)
    singles = [stats.kendalltau(human[:, at], scores[:, at])[0] for at in range(3)]
    assert cells(findings, "ext-text-level")["rouge rouge2_recall"]["kendall"] == shown(np.nanmean(singles))


@pytest.mark.traced
@pytest.mark.slow
def test_command_line_scores_what_it_is_told(data, tmp_path, cache, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    arguments = ["reproduce", "wmt17", "--data", str(data), "--output", str(tmp_path / "out"), "--quick", "--offline"]
    assert run([*arguments, "--metrics", "chrf"]) == 0
    shown_first = capsys.readouterr().out
    assert "Not scored" in shown_first and "bleu (8 parts)" in shown_first  # 2 pairs x 2 forms x 2 levels
    assert run([*arguments, "--metrics", "bleu"]) == 0
    content = json.loads((tmp_path / "out" / "wmt17.json").read_text())
    # The scores that the first run kept are shown beside.
    assert [row["metric"] for row in content["tables"]["system-level-stored"]] == ["bleu", "chrf"]
    assert {row["metric"]: row["parts"] for row in content["tables"]["made-with"]} == {"bleu": "8", "chrf": "8"}
    assert run([*arguments, "--metrics", "meteor"]) == 0  # not in this study: what is kept is shown
    assert run([*arguments, "--metrics", "meteor", "--no-cache"]) == 2
    assert "there are no scores" in capsys.readouterr().err
    other = ["webnlg" if each == "wmt17" else each for each in arguments]  # wmt17 has sentence vectors, too
    assert run([*other, "--metrics", "chrf", "--pooling", "mean"]) == 2
    assert "--pooling is for vectors of whole texts" in capsys.readouterr().err


def test_meteor_with_the_tables_that_are_named(data, tmp_path, cache, monkeypatch):
    """A made-up jar in which two words are synonyms: METEOR's scores follow it, and are kept by what it holds."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import shutil
    import zipfile

    def make(folder, synset):
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(b"0.5\nthe\na\n"))
        with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as archive:
            archive.writestr("function/english.words", "the\n")
            archive.writestr("nonbreaking/english.prefixes", "Mr\n")
            archive.writestr("synonym/english.synsets", f"lies\n1\nstands\n{synset}\n")
        return str(folder / "meteor-1.5.jar")

    setup = Setup(data, quick=True, metrics=("meteor",), jar=make(tmp_path / "one", 1))
    part = next(iter(webnlg.parts(setup)))
    task = next(task for task in part.tasks if task.metric == "meteor")
    made = only(part, task)
    how = item_scores.Making()
    scores = item_scores.scores_of(made, how)["meteor"]
    assert scores.signature["stages"] == ["exact", "stem", "synonym", "paraphrase"]
    first = rc.meteor(part.references, next(iter(part.systems.values())), jar=setup.jar).scores
    np.testing.assert_array_equal(scores.items["value"][0], first)
    shutil.copytree(tmp_path / "one", tmp_path / "copy")

    def key(jar):
        return item_scores.key(part, item_scores.Task("meteor", "meteor", {**task.parameters, "jar": jar}), how)

    assert key(str(tmp_path / "copy" / "meteor-1.5.jar")) == key(setup.jar) != key(make(tmp_path / "two", 2))
    assert key(None) not in (key(setup.jar), key(str(tmp_path / "two" / "meteor-1.5.jar")))
    assert made_with(find_study("webnlg"), setup)["METEOR"].endswith("tables of meteor-1.5.jar")
    assert "METEOR" not in made_with(find_study("webnlg"), Setup(data))
    given = []
    monkeypatch.setattr("recapture_studies.cli._carry_out", lambda study, setup, target: given.append(setup.jar))
    for name in ("webnlg", "summarisation", "metric-map", "score-distributions"):
        assert run(["reproduce", name, "--data", str(data), "--quick", "--jar", setup.jar]) == 0
    assert given == [setup.jar] * 4


def test_incomplete_data_is_named(data, tmp_path, cache):
    import shutil

    copy = shutil.copytree(data, tmp_path / "data")
    for name, file, message in (
        ("wmt17", "wmt17_to_english/outputs.jsonl.gz", "has not one text for each segment"),
        ("webnlg", "webnlg2020_en/outputs.jsonl.gz", "has no output of good for item 0"),
        ("summarisation", "realsumm/summaries.jsonl.gz", "has no summary of document 0 by good"),
    ):
        with gzip.open(copy / file, "rt") as stream:
            lines = stream.readlines()
        with gzip.open(copy / file, "wt") as stream:
            stream.writelines(lines[1:])
        with pytest.raises(InputError, match=message):
            find_study(name).run(Setup(copy, quick=True, metrics=("chrf",)))
        with gzip.open(copy / file, "wt") as stream:
            stream.write('{"id": 1}\n')
        with pytest.raises(InputError, match="line 1 has no field"):
            find_study(name).run(Setup(copy, quick=True, metrics=("chrf",)))
    for name, file, line, message in (
        (
            "wmt17",
            "wmt17_to_english/segments.jsonl.gz",
            {"lp": 3, "sid": 1, "reference": "x"},
            "'lp' must be a text, not 3",
        ),
        (
            "webnlg",
            "webnlg2020_en/outputs.jsonl.gz",
            {"system": "s", "id": 1, "output": None},
            "must be a text, not null",
        ),
        (
            "webnlg",
            "webnlg2020_en/human_eval.jsonl.gz",
            {"system": "s", "id": 1, "references": ["x"], "output": "x", "human_mean": {"Correctness": 1.0}},
            "has no number for DataCoverage",
        ),
        (
            "summarisation",
            "realsumm/documents.jsonl.gz",
            {"doc_id": 0, "reference_sents": "x"},
            "must be a list of texts",
        ),
    ):
        kept = (copy / file).read_bytes()
        with gzip.open(copy / file, "wt") as stream:
            stream.write(json.dumps(line) + "\n")
        with pytest.raises(InputError, match=message):
            find_study(name).run(Setup(copy, quick=True, metrics=("chrf",), model="x"))
        (copy / file).write_bytes(kept)
    (copy / "wmt17_to_english/system_da.tsv").write_text("lp\tsystem\thuman_da\ncs-en\tgood\tfine\n")
    with pytest.raises(InputError, match="needs the columns lp, system and human_da"):
        list(wmt17.parts(Setup(copy, quick=True, model="x")))


@pytest.mark.slow
def test_scoring_needs_neither_command_line_nor_other_extras(data, tiny_bert, tmp_path):
    """On a machine with only a GPU's libraries: no click, matplotlib, sacrebleu, POT or rouge-score."""
    program = f"""
import sys
for name in ("click", "matplotlib", "sacrebleu", "ot", "rouge_score", "rich", "scipy"):
    sys.modules[name] = None
from pathlib import Path
from recapture_studies import item_scores
from recapture_studies import study
from recapture_studies.infolm import summarisation
from recapture_studies.infolm import webnlg
from recapture_studies.mark_evaluate import wmt17
setup = study.Setup(Path({str(data)!r}), quick=True, model={str(tiny_bert)!r})
for module in (wmt17, webnlg, summarisation):
    print(item_scores.fill(module.parts(setup), metrics=["infolm"], device="cpu", folder={str(tmp_path)!r}))
"""
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert made.stdout.split() == ["8", "2", "2"]


# Real data


def real_parts(module, setup, *names):
    """Parts by their names, in this order: reading all the data once is enough."""
    listed = module.parts(setup)
    return [next(part for part in listed if part.name == name) for name in names]


def only(part, *tasks):
    return Part(part.name, part.references, part.systems, tasks, part.about, part.human)


@pytest.mark.slow
def test_real_translations(data_folder, cache):
    """sacrebleu 2.6's own correlations on this data, as its README states them (cs-en, text as stored)."""
    setup = Setup(data_folder, model="unused")
    both = Task("bleu", "bleu"), Task("chrf", "chrf")
    forms = "stored-all", "stored-rated", "cleaned-sample"
    every, rated, sample = real_parts(wmt17, setup, *(f"wmt17-cs-en-{form}" for form in forms))
    part = only(every, *both)
    assert len(part.systems) == 4 and len(part.references) == 3005
    found = scores_of(part, making())
    for label, expected in (("bleu", 0.926), ("chrf", 0.926)):
        assert rc.correlation(part.human["da"], found[label].totals["value"]) == pytest.approx(expected, abs=6e-4)
    part = only(rated, *both)
    assert len(part.references) == 560
    found = scores_of(part, making())
    for label, expected in (("bleu", 0.423), ("chrf", 0.512)):
        assert rc.correlation(part.human["da"][0], found[label].items["value"][0]) == pytest.approx(expected, abs=6e-4)
    assert len(sample.references) == wmt17.SAMPLE
    assert not any("&apos;" in text or text.endswith(" .") for text in sample.references)


@pytest.mark.slow
def test_real_summaries(data_folder, cache):
    """rouge-score's correlations on this data, as its README states them: ROUGE-1, -2, -L recall, -2 F1."""
    expected = {
        "abs": {"rouge1_recall": (0.912, 0.538), "rouge2_recall": (0.984, 0.868), "rougeL_recall": (0.973, 0.824),
                "rouge2": (0.870, 0.802)},
        "ext": {"rouge1_recall": (0.722, 0.564), "rouge2_recall": (0.769, 0.600), "rougeL_recall": (0.771, 0.564),
                "rouge2": (0.192, -0.018)},
    }  # fmt: skip
    stored = {"abs": {"rouge_2_recall": (0.983, 0.868), "bert_recall_score": (0.824, 0.626),
                      "mover_score": (0.858, 0.868)},
              "ext": {"rouge_2_recall": (0.739, 0.491), "bert_recall_score": (0.333, 0.127),
                      "mover_score": (0.012, -0.018)}}  # fmt: skip
    for part in summarisation.parts(Setup(data_folder, model="unused")):
        kind, human = part.about["kind"], part.human["litepyramid"].mean(axis=1)
        rouge = next(task for task in part.tasks if task.label == "rouge")
        found = scores_of(only(part, rouge), making())["rouge"]
        for name, numbers in expected[kind].items():
            for coefficient, number in zip(("pearson", "kendall"), numbers, strict=True):
                assert rc.correlation(human, found.totals[name], coefficient) == pytest.approx(number, abs=6e-4)
        for name, numbers in stored[kind].items():
            for coefficient, number in zip(("pearson", "kendall"), numbers, strict=True):
                assert rc.correlation(human, part.human[name].mean(axis=1), coefficient) == pytest.approx(
                    number, abs=6e-4
                )


def test_real_data_to_text(data_folder):
    """The README: 16 systems with outputs, 178 rated items, one rating missing."""
    (part,) = webnlg.parts(Setup(data_folder, model="unused"))
    assert len(part.systems) == 16 and len(part.references) == 178 and "WebNLG-2020-reference" not in part.systems
    for ratings in part.human.values():
        missing = np.argwhere(np.isnan(ratings))
        assert [list(part.systems)[at] for at, _ in missing] == ["Baseline-FORGE2020"]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_quick_form_on_real_data(name, data_folder, tiny_bert, loaded_once, cache):
    setup = Setup(data_folder, quick=True, encoder=str(tiny_bert), model=str(tiny_bert))
    assert find_study(name).run(setup).verdict
