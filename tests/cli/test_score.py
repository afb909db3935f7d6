"""`recapture score` in every format. The numbers are the settled check values for these seeds, so the golden texts
below are written from them and not from a run."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from test_population import log_likelihood

import recapture as rc
from recapture.cli.app import run

X = np.random.RandomState(0).randn(200, 8)
Y = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7
SETTLED = {"petersen": 0.885714, "quality": 0.742991, "diversity": 0.834625, "capture": 0.925714}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("human.npy", X)
    np.save("model_1.npy", Y)
    np.save("copy.npy", X)
    return tmp_path


def score(capsys, *arguments, code=0):
    assert run(["score", *map(str, arguments)]) == code
    return capsys.readouterr()


BOTH = ("-r", "human.npy", "-c", "model_1.npy", "-c", "copy.npy", "--metrics", "precision-recall", "--no-ceiling")

SENTENCES = [
    "How close to people these are cannot be said: there is neither a p-value nor a human band beside them.",
    "Which of these 2 is closest to people was not tested here: recapture compare tests that.",
    "Beware: 200 of 200 samples of copy.npy stand in the reference.",
]

TABLE = "".join(f"{sentence}\n" for sentence in SENTENCES)
TABLE += """
 metric             number          model_1.npy   copy.npy
 ─────────────────────────────────────────────────────────
 precision-recall   precision   ↑        0.4200     1.0000
                    recall      ↑        0.9100     1.0000

reference: 200 samples; candidates: 150, 200; vectors: vectors as given; k: precision-recall 3
vectors that the reference has too: copy.npy 200 of 200
↑ higher is better, ↓ lower is better
"""

# Pages have the warnings, too: whoever gets one does not see what was said beside it.
WARNINGS = [
    "model_1.npy: set sizes differ (200 reference, 150 candidate): this shifts quality against diversity; sets of "
    "equal size (or balanced subsamples) do not [precision-recall]",
    "200 of 200 samples of candidate 'copy.npy' stand in the reference: scores of copies say nothing about a model "
    "[precision-recall]",
    "candidate 'copy.npy' holds the samples of reference human.npy, in the same order: is it the same file? "
    "[precision-recall]",
]

MARKDOWN = "".join(f"- {sentence}\n" for sentence in SENTENCES)
MARKDOWN += """
| candidate | precision ↑ | recall ↑ |
|---|---:|---:|
| model_1.npy | 0.4200 | 0.9100 |
| copy.npy | 1.0000 | 1.0000 |

- reference: 200 samples; candidates: 150, 200; vectors: vectors as given; k: precision-recall 3
- vectors that the reference has too: copy.npy 200 of 200
- ↑ higher is better, ↓ lower is better
"""
MARKDOWN += "".join(f"- {warning}\n" for warning in WARNINGS)

LATEX = (
    "".join(f"% {sentence}\n" for sentence in SENTENCES)
    + r"""% reference: 200 samples; candidates: 150, 200; vectors: vectors as given; k: precision-recall 3
% vectors that the reference has too: copy.npy 200 of 200
% ↑ higher is better, ↓ lower is better
"""
    + "".join(f"% {warning}\n" for warning in WARNINGS)
    + r"""% needs \usepackage{booktabs}
\begin{tabular}{lrr}
\toprule
candidate & precision $\uparrow$ & recall $\uparrow$ \\
\midrule
model\_1.npy & 0.4200 & 0.9100 \\
copy.npy & 1.0000 & 1.0000 \\
\bottomrule
\end{tabular}
"""
)


@pytest.mark.parametrize("form, expected", [("table", TABLE), ("md", MARKDOWN), ("latex", LATEX)])
def test_golden_texts(files, capsys, form, expected):
    assert score(capsys, *BOTH, "--format", form).out == expected


def test_json_has_full_precision_and_the_signature(files, capsys):
    shown = score(capsys, "-r", "human.npy", "-c", "model_1.npy", "--metrics", "mark-evaluate", "--format", "json")
    result = json.loads(shown.out)["results"]["model_1.npy"]["mark-evaluate"]
    assert result["values"] == pytest.approx(SETTLED, abs=5e-7)
    assert result["values"]["petersen"] == 1 - 40 / 350  # to the last digit
    assert result["details"]["estimates"]["schnabel_quality"] == pytest.approx(439.953271, abs=5e-7)
    assert result["signature"]["metric"] == "mark-evaluate" and result["signature"]["k"] == 1
    assert result["signature"]["versions"]["numpy"] == np.__version__
    assert result["direction"] == "higher" and result["sizes"] == {"reference": 200, "candidate": 150}
    assert any("set sizes differ" in warning for warning in result["warnings"])
    assert "arrays" not in result
    assert shown.err == ""  # warnings are part of the result


def test_json_has_no_infinities(files, capsys):
    np.save("far.npy", X + 1e3)
    shown = score(capsys, "-r", "human.npy", "-c", "far.npy", "--metrics", "mark-evaluate", "--format", "json")
    result = json.loads(shown.out, parse_constant=pytest.fail)["results"]["far.npy"]["mark-evaluate"]
    assert result["details"]["estimates"]["petersen"] is None


def test_json_with_flags(files, capsys):
    shown = score(capsys, *BOTH, "--format", "json", "--arrays")
    inside = json.loads(shown.out)["results"]["model_1.npy"]["precision-recall"]["arrays"]["candidate_inside"]
    assert len(inside) == 150 and sum(inside) == 0.42 * 150


def test_csv_is_tidy(files, capsys):
    rows = list(csv.DictReader(io.StringIO(score(capsys, *BOTH, "--format", "csv").out)))
    assert [(row["candidate"], row["number"], float(row["value"])) for row in rows] == [
        ("model_1.npy", "precision", 0.42), ("model_1.npy", "recall", 0.91),
        ("copy.npy", "precision", 1.0), ("copy.npy", "recall", 1.0),
    ]  # fmt: skip
    assert json.loads(rows[0]["signature"])["k"] == 3
    assert (rows[0]["low"], rows[0]["high"], rows[0]["direction"]) == ("0.0", "1.0", "higher")


def test_warnings_go_to_stderr(files, capsys):
    shown = score(capsys, *BOTH)
    assert "recapture: model_1.npy: set sizes differ" in shown.err
    assert "set sizes" not in shown.out


def test_k_and_balance(files, capsys):
    options = ("-r", "human.npy", "-c", "model_1.npy", "--format", "json", "--metrics", "precision-recall")
    at_five = json.loads(score(capsys, *options, "--k", 5).out)["results"]["model_1.npy"]["precision-recall"]
    assert at_five["values"] == pytest.approx({"precision": 0.4666667, "recall": 0.96}, abs=5e-8)
    balanced = json.loads(score(capsys, *options, "--balance").out)["results"]["model_1.npy"]["precision-recall"]
    assert balanced["signature"]["balance"] == {"size": 150, "draws": 10, "seed": 0}
    assert balanced["details"]["balance_spread"]["precision"] > 0
    chosen = json.loads(score(capsys, *options, "--balance", 3, "--seed", 5).out)
    assert chosen["results"]["model_1.npy"]["precision-recall"]["signature"]["balance"] == {
        "size": 150,
        "draws": 3,
        "seed": 5,
    }


def test_output_file_is_written_whole(files, capsys):
    shown = score(capsys, *BOTH, "--format", "md", "--output", "table.md")
    assert (files / "table.md").read_text(encoding="utf-8") == MARKDOWN
    assert "wrote table.md" in shown.err
    sentences = [line.removeprefix("- ") for line in MARKDOWN.splitlines() if line.startswith("- ")]
    assert shown.out.splitlines() == sentences[: len(shown.out.splitlines())] and "closest to people" in shown.out
    assert sorted(path.name for path in files.iterdir()) == ["copy.npy", "human.npy", "model_1.npy", "table.md"]


def test_interrupting_leaves_no_half_written_output(files, capsys, monkeypatch):
    """Ctrl-C after half of the text is on disk: the old content stays, and nothing else is left behind."""
    (files / "table.md").write_text("before")
    real = Path.write_bytes

    def half(path, content):
        real(path, content[: len(content) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", half)
    assert run(["score", *BOTH, "--format", "md", "--output", "table.md"]) == 130
    assert (files / "table.md").read_text() == "before"
    assert sorted(path.name for path in files.iterdir()) == ["copy.npy", "human.npy", "model_1.npy", "table.md"]


def test_a_full_disk_is_one_sentence(files, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "cannot write table.md: No space left" in score(capsys, *BOTH, "--output", "table.md", code=2).err
    assert not (files / "table.md").exists()


def test_links_and_devices_are_written_to_not_replaced(files, capsys):
    (files / "real.md").write_text("before")
    (files / "link.md").symlink_to("real.md")
    score(capsys, *BOTH, "--output", "link.md")
    assert (files / "link.md").is_symlink() and (files / "real.md").read_text(encoding="utf-8") == MARKDOWN
    os.mkfifo(files / "pipe")
    reader = os.open(files / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    score(capsys, *BOTH, "--format", "md", "--output", "pipe")
    assert os.read(reader, 10_000).decode() == MARKDOWN
    os.close(reader)
    assert (files / "pipe").is_fifo()


HUMAN = [
    f"{who} {did} the {what}" for who in ("Ann", "Bo") for did in ("saw", "sold") for what in ("boat", "net", "map")
]


def test_text_formats_side_by_side(tmp_path, monkeypatch, capsys):
    """Plain lines, JSONL with a field, CSV and standard input give the same numbers for the same texts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.txt").write_text("\n".join(HUMAN) + "\n")
    (tmp_path / "a.txt").write_text("\n".join(HUMAN) + "\n")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in HUMAN))
    (tmp_path / "c.csv").write_text("id,text\n" + "".join(f"{place},{text}\n" for place, text in enumerate(HUMAN)))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(HUMAN).encode())))
    shown = score(
        capsys, "-r", "human.txt", "-c", "a.txt", "-c", "b.jsonl", "-c", "c.csv", "-c", "-", "--field", "text",
        "--encoder", "bag-of-words", "--metrics", "precision-recall", "--k", 1, "--format", "json",
    )  # fmt: skip
    results = json.loads(shown.out)["results"]
    assert list(results) == ["a.txt", "b.jsonl", "c.csv", "-"]
    assert all(by["precision-recall"]["values"] == {"precision": 1, "recall": 1} for by in results.values())
    assert results["a.txt"]["precision-recall"]["signature"]["encoder"]["encoder"] == "bag-of-words"


def test_empty_texts_are_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.txt").write_text("\n".join(HUMAN) + "\n")
    (tmp_path / "a.txt").write_text("\n".join([*HUMAN, "", "  ", "the boat"]) + "\n")
    shown = score(capsys, "-r", "human.txt", "-c", "a.txt", "--encoder", "bag-of-words", "--metrics", "frechet")
    assert "2 of 15 texts of candidate 'a.txt' are empty; they were kept" in shown.err


def test_fields_formats_and_names_of_their_own(tmp_path, monkeypatch, capsys):
    """Reference and candidates keep their texts under different fields; JSONL comes through standard input."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in HUMAN))
    (tmp_path / "human.txt").write_text("\n".join(HUMAN) + "\n")
    records = "".join(json.dumps({"output": text}) + "\n" for text in HUMAN)
    (tmp_path / "model.jsonl").write_text(records)
    options = ("--encoder", "bag-of-words", "--metrics", "precision-recall", "--k", 1, "--format", "csv")
    shown = score(
        capsys, "-r", "human.jsonl", "--reference-field", "text", "-c", "model.jsonl", "--field", "output",
        "--name", "model 7", *options,
    )  # fmt: skip
    assert [row.split(",")[:4] for row in shown.out.splitlines()[1:]] == [
        ["model 7", "precision-recall", "precision", "1.0"], ["model 7", "precision-recall", "recall", "1.0"],
    ]  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(records.encode())))
    shown = score(capsys, "-r", "human.txt", "-c", "-", "--input-format", "jsonl", "--field", "output", *options)
    assert ",1.0," in shown.out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(records.encode())))
    shown = score(capsys, "-r", "human.txt", "-c", "-", *options)
    assert "standard input is read as plain lines, but they look like JSON" in shown.err


ENDINGS = [("t.json", "{"), ("t.csv", "candidate,"), ("t.md", "- How close"), ("t.tex", "%"), ("t", "How close")]


@pytest.mark.parametrize("name, start", ENDINGS)
def test_format_follows_the_ending_of_the_output(files, capsys, name, start):
    score(capsys, *BOTH, "--output", name)
    assert (files / name).read_text(encoding="utf-8").startswith(start)


def test_inputs_are_not_overwritten(files, capsys):
    shown = score(capsys, *BOTH, "--output", "./copy.npy", code=2)
    assert "copy.npy: it is an input" in shown.err
    np.testing.assert_array_equal(np.load("copy.npy"), X)


def test_balanced_candidates_are_compared_at_one_size(files, capsys):
    """All sides come down to the smallest set, and the table says so."""
    np.save("few.npy", Y[:60])
    shown = score(capsys, *BOTH, "-c", "few.npy", "--balance", 4)
    assert "means over 4 subsamples of 60 a side, seed 0" in shown.out
    content = json.loads(score(capsys, *BOTH, "-c", "few.npy", "--balance", 4, "--format", "json").out)["results"]
    assert {by["precision-recall"]["signature"]["balance"]["size"] for by in content.values()} == {60}
    assert content["copy.npy"]["precision-recall"]["details"]["balance_spread"]["recall"] > 0


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_no_number_is_cut_on_a_narrow_terminal(columns):
    """Candidates that do not fit side by side stand in blocks below each other."""
    names = [f"model-with-a-rather-long-name-{number}.txt" for number in range(7)]
    sets = {name: Y[: 100 + place] for place, name in enumerate(names)}
    results = rc.evaluate(X, sets, metrics="precision-recall", ceiling=False)
    text = results.to_table(width=columns)
    for by_metric in results.values():
        for value in by_metric["precision-recall"].values.values():
            assert f"{value:.4f}" in text
    table = text.partition("\nreference:")[0]
    assert columns < 80 or max(map(len, table.splitlines())) <= columns
    assert columns >= 80 or text.count("precision-recall  ") == 7  # one block each


def test_the_human_band_stands_in_every_block_of_a_narrow_terminal():
    names = [f"model-{number}.txt" for number in range(7)]
    results = rc.evaluate(X, {name: Y[: 100 + place] for place, name in enumerate(names)}, metrics="precision-recall")
    parts = results.to_table(width=90).partition("Whole sets")[0]
    heads = [line for line in parts.splitlines() if "metric " in line]
    assert len(heads) > 1 and all("human" in line for line in heads)


def test_scores_with_a_floor_are_shown_without_it_too(files, capsys):
    """CAPTURE at k = 1: (score - floor) / (1 - floor), with the floor of 200 v 150 samples in 60-digit arithmetic."""
    shown = score(capsys, "-r", "human.npy", "-c", "model_1.npy", "--metrics", "mark-evaluate")
    floor = 1 - (max(range(350, 700), key=lambda n: log_likelihood(n, 350, 700, 350)) - 350) / 350
    whole = shown.out.partition("Whole sets")[2]
    row = next(line for line in whole.splitlines() if "capture adjusted" in line)
    assert float(row.split()[-1]) == pytest.approx((SETTLED["capture"] - floor) / (1 - floor), abs=1e-4)
    assert "petersen adjusted" not in shown.out  # its floor is 0


def test_same_file_names_in_two_folders(files, capsys):
    for folder in ("one", "two"):
        (files / folder).mkdir()
        np.save(f"{folder}/out.npy", Y)
    shown = score(capsys, "-r", "human.npy", "-c", "one/out.npy", "-c", "two/out.npy", "--metrics", "mmd")
    assert "one/out.npy" in shown.out and "two/out.npy" in shown.out
