"""The studies in their quick form: they run, write what they promise, and find what theory says they must."""

import gzip
import json
import shutil

import numpy as np
import pytest

from recapture.cli.app import run
from recapture_studies.made_up import build
from recapture_studies.study import Setup, find_study, list_studies


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Folders laid out as documented, with texts made up by rule."""
    folder = tmp_path_factory.mktemp("data")
    build(folder)
    return folder


def test_quick_form_on_a_folder_that_is_named(data, tmp_path, capsys, own_cache):
    """What every study writes: test_made_up.py."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    output = tmp_path / "out"
    arguments = ["reproduce", "word-swap", "--data", str(data), "--output", str(output), "--quick"]
    assert run([*arguments, "--encoder", "bag-of-words"]) == 0
    shown = capsys.readouterr()
    content = json.loads((output / "word-swap.json").read_text())
    assert content["quick"] is True and not content.get("made_up") and content["verdict"]
    assert all(paragraph in shown.out for paragraph in content["verdict"])
    assert "this was the quick form" in shown.err and "made up" not in shown.err


@pytest.mark.slow
def test_false_alarms_stay_within_chance_on_made_up_scenes(data, own_cache):
    """Splits of one scene are exchangeable, so no exact p-value may be at most .05 more often than 5 % (and chance)."""
    findings = find_study("human-null").run(Setup(data, quick=True, encoder="bag-of-words"))
    rows = [dict(zip(findings.tables[0].table.heads, row, strict=True)) for row in findings.tables[0].table.rows]
    for row in rows:
        assert float(row["false alarms"].rstrip("%")) <= 100 * (0.05 + 4 * np.sqrt(0.05 * 0.95 / 24)), row["metric"]
    assert "None is beyond chance" in findings.verdict[0]


@pytest.mark.slow
def test_real_human_sentences(data_folder, own_cache):
    """The same on real sentences: 40 splits and 40 pairs of scenes, word counts instead of sentence vectors."""
    findings = find_study("human-null").run(Setup(data_folder, quick=True, encoder="bag-of-words"))
    rows = [dict(zip(findings.tables[0].table.heads, row, strict=True)) for row in findings.tables[0].table.rows]
    for row in rows:
        assert float(row["false alarms"].rstrip("%")) <= 100 * (0.05 + 4 * np.sqrt(0.05 * 0.95 / 40)), row["metric"]
    found = {row["metric"]: float(row["found"].rstrip("%")) for row in rows}
    assert found["trm-meteor"] > 50 and found["mmd"] > 50


def test_listing(capsys):
    assert run(["reproduce", "--list"]) == 0
    shown = capsys.readouterr().out
    assert all(study.name in shown and study.reproduces in shown for study in list_studies().values())


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["sensitivty", "--data", "."], "did you mean sensitivity?"),
        (["sensitivity", "--data", "nowhere"], "it should hold contexts.jsonl.gz"),
        ([], "no study was named"),
        (["intervals", "--encoder", "bag-of-words"], "intervals needs no vectors"),
        (["intervals", "--output", "/dev/null/x"], "cannot write to /dev/null/x"),
        (["intervals", "--metrics", "bleu"], "leave --metrics out"),
        (["intervals", "--jobs", "2"], "intervals runs in one process"),
        (["wmt17", "--data", ".", "--jar", "x.jar"], "leave --jar out"),
        (["wmt17", "--data", ".", "--metrics", "blue"], "did you mean bleu?"),
        (["wmt17", "--data", "nowhere"], "it should hold segments.jsonl.gz"),
        (["wmt17", "--data", ".", "--metrics", " , "], "no metric was named"),
        (["wmt17", "--data", ".", "--preset", "bert-base", "--encoder", "x"], "brings the encoder bert-base-uncased"),
        (["wmt17", "--data", "nowhere", "--preset", "bert-base"], "it should hold segments.jsonl.gz"),
        (["sensitivity", "--data", "nowhere", "--pooling", "max"], "it should hold contexts.jsonl.gz"),
        (["metric-map", "--data", "nowhere", "--pooling", "max"], "--pooling is for vectors of whole texts"),
        (["all", "--data", "."], "for what belongs there"),
    ],
)
def test_bad_input(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_all_studies_need_all_folders_before_the_first_begins(tmp_path, capsys, monkeypatch):
    from recapture_studies import cli

    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    assert run(["reproduce", "all", "--output", str(tmp_path / "out")]) == 2
    assert "name the folder that holds the data" in capsys.readouterr().err
    needed = sorted({folder for study in list_studies().values() for folder in study.data})
    for name in needed[1:]:
        (tmp_path / name).mkdir()
    arguments = ["reproduce", "all", "--data", str(tmp_path), "--output", str(tmp_path / "out")]
    assert run(arguments) == 2
    assert f"has no {needed[0]}: see docs/data.md" in capsys.readouterr().err
    (tmp_path / needed[0]).mkdir()
    begun = []
    monkeypatch.setattr(cli, "_carry_out", lambda study, setup, target: begun.append((study.name, setup.data)))
    assert run(arguments) == 0
    assert begun == [(name, tmp_path) for name in list_studies()]


def test_damaged_and_small_files(data, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = shutil.copytree(data / "abstract48s", tmp_path / "data" / "abstract48s") / "contexts.jsonl.gz"
    arguments = [
        "reproduce",
        "human-null",
        "--data",
        str(tmp_path / "data"),
        "--output",
        str(tmp_path / "out"),
        "--quick",
    ]
    for content, message in (
        (b"not compressed", "contexts.jsonl.gz"),
        (gzip.compress(b'{"id": 1, "references": ["a", "b"]}'), "has 0 contexts with at least 10 references"),
        (None, "contexts.jsonl.gz cannot be read"),
    ):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        assert run(arguments) == 2
        assert message in capsys.readouterr().err
        if content is None:
            break
    assert not (tmp_path / "out").exists()


@pytest.mark.traced
@pytest.mark.slow
def test_a_page_of_what_was_found(tmp_path, capsys, own_cache, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "equal-sets", "--quick", "--output", "out", "--report", "found.html"]) == 0
    content = json.loads((tmp_path / "out" / "equal-sets.json").read_text())
    page = (tmp_path / "found.html").read_text("utf-8")
    assert content["verdict"][0].split(":")[0] in page and content["claims"][0]["where"] in page
    assert "data:image/svg+xml;base64," in page and "recapture reproduce equal-sets --quick" in page


@pytest.mark.parametrize("report", ["found.txt", "nowhere/found.html"])
def test_a_page_that_cannot_be_written_is_told_before_the_study(report, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "equal-sets", "--quick", "--output", "out", "--report", report]) == 2
    assert f"cannot write {report}" in capsys.readouterr().err and not (tmp_path / "out").exists()
