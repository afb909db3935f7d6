"""`recapture pairs` in every format, and refused. Numbers of the golden texts are worked out by hand."""

import csv
import io
import json
from pathlib import Path

import pytest

import recapture as rc
from recapture.cli.app import run
from toy_pairs import toys

# By the toy metric: share = words of the reference that the candidate has, extra = words that only one side has.
# a.txt: 2 of 2 and 0; 1 of 2 and 1: means 3/4 and 1/2. b.txt: 1 of 2 and 1; empty: share 0, no extra: means 1/4, 1.
REFERENCES = ["red fish", "old dog"]
A = ["red fish", "old"]
B = ["fish", ""]

SENTENCE = "Which of these 2 is closest to people was not tested here: recapture compare tests that."

TABLE = f"{SENTENCE}\n\n"
TABLE += """\
 metric    number        a.txt    b.txt
 ──────────────────────────────────────
 overlap   share    ↑   0.7500   0.2500
           extra    ↑   0.5000   1.0000
 length    value    ↑   3.0000   1.0000

items: 2; references: 2 (1 an item)
b.txt, overlap extra: the mean of 1 of 2 items, the others have no score
↑ higher is better, ↓ lower is better
"""

MARKDOWN = f"- {SENTENCE}\n\n"
MARKDOWN += """\
| candidate | overlap share ↑ | overlap extra ↑ | length ↑ |
|---|---:|---:|---:|
| a.txt | 0.7500 | 0.5000 | 3.0000 |
| b.txt | 0.2500 | 1.0000 | 1.0000 |

- items: 2; references: 2 (1 an item)
- b.txt, overlap extra: the mean of 1 of 2 items, the others have no score
- ↑ higher is better, ↓ lower is better
- b.txt: 1 of 2 texts of candidate is empty: scored worst, left out of the mean of extra (overlap)
- b.txt: 1 of 2 texts of candidate is empty: scored worst (length)
"""

LATEX = f"% {SENTENCE}\n"
LATEX += r"""% items: 2; references: 2 (1 an item)
% b.txt, overlap extra: the mean of 1 of 2 items, the others have no score
% ↑ higher is better, ↓ lower is better
% b.txt: 1 of 2 texts of candidate is empty: scored worst, left out of the mean of extra (overlap)
% b.txt: 1 of 2 texts of candidate is empty: scored worst (length)
% needs \usepackage{booktabs}
\begin{tabular}{lrrr}
\toprule
candidate & overlap share $\uparrow$ & overlap extra $\uparrow$ & length $\uparrow$ \\
\midrule
a.txt & 0.7500 & 0.5000 & 3.0000 \\
b.txt & 0.2500 & 1.0000 & 1.0000 \\
\bottomrule
\end{tabular}
"""

ITEMS = [
    {"item": 0, "system": "a.txt", "overlap.share": 1.0, "overlap.extra": 0.0, "length": 2.0},
    {"item": 1, "system": "a.txt", "overlap.share": 0.5, "overlap.extra": 1.0, "length": 1.0},
    {"item": 0, "system": "b.txt", "overlap.share": 0.5, "overlap.extra": 1.0, "length": 1.0},
    {"item": 1, "system": "b.txt", "overlap.share": 0.0, "overlap.extra": None, "length": 0.0},
]


def write(path, texts):
    Path(path).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def records(path, *given):
    write(path, map(json.dumps, given))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toys(monkeypatch, [])
    write("refs.txt", REFERENCES)
    write("a.txt", A)
    write("b.txt", B)
    return tmp_path


def pairs(capsys, *arguments, code=0):
    assert run(["pairs", *map(str, arguments)]) == code
    return capsys.readouterr()


def rows(path):
    return [json.loads(line, parse_constant=pytest.fail) for line in Path(path).read_text("utf-8").splitlines()]


BOTH = ("-r", "refs.txt", "-c", "a.txt", "-c", "b.txt", "--metrics", "overlap,length")


@pytest.mark.parametrize("form, expected", [("table", TABLE), ("md", MARKDOWN), ("latex", LATEX)])
def test_golden_texts(files, capsys, form, expected):
    shown = pairs(capsys, *BOTH, "--format", form)
    assert shown.out == expected
    assert shown.err == (
        "recapture: b.txt: 1 of 2 texts of candidate is empty: scored worst, left out of the mean of extra [overlap]\n"
        "recapture: b.txt: 1 of 2 texts of candidate is empty: scored worst [length]\n"
    )


def test_items_are_rows_of_system_and_item(files, capsys):
    shown = pairs(capsys, *BOTH, "--per-item", "items.jsonl")
    assert rows("items.jsonl") == ITEMS and "wrote items.jsonl" in shown.err and shown.out == TABLE


def test_json_and_csv(files, capsys):
    write("none.txt", ["", ""])
    shown = pairs(capsys, *BOTH, "-c", "none.txt", "--format", "json")
    results = json.loads(shown.out, parse_constant=pytest.fail)["results"]
    assert results["a.txt"]["overlap"]["values"] == {"share": 0.75, "extra": 0.5}
    assert results["none.txt"]["overlap"]["values"] == {"share": 0, "extra": None}
    assert any("empty" in warning for warning in results["b.txt"]["overlap"]["warnings"]) and shown.err == ""
    assert " -\n" in pairs(capsys, "-r", "refs.txt", "-c", "none.txt", "--metrics", "overlap").out
    listed = list(csv.DictReader(io.StringIO(pairs(capsys, *BOTH, "--format", "csv").out)))
    assert [(row["candidate"], row["metric"], row["number"], float(row["value"])) for row in listed] == [
        ("a.txt", "overlap", "share", 0.75), ("a.txt", "overlap", "extra", 0.5), ("a.txt", "length", "value", 3),
        ("b.txt", "overlap", "share", 0.25), ("b.txt", "overlap", "extra", 1), ("b.txt", "length", "value", 1),
    ]  # fmt: skip


def test_output_and_names(files, capsys):
    shown = pairs(capsys, *BOTH, "--name", "a.txt", "--name", "second", "--output", "table.md", "--per-item", "i.jsonl")
    assert Path("table.md").read_text("utf-8") == MARKDOWN.replace("b.txt", "second")
    assert shown.out and f"- {shown.out.splitlines()[0]}" in MARKDOWN
    assert [row["system"] for row in rows("i.jsonl")] == ["a.txt", "a.txt", "second", "second"]


def share(capsys, *arguments):
    shown = pairs(capsys, *arguments, "--metrics", "overlap", "--per-item", "out.jsonl")
    assert "items: 2" in shown.out
    return [row["overlap.share"] for row in rows("out.jsonl")]


def test_several_references(files, capsys):
    """Two files, or a list in each record: the best counts, or the mean."""
    write("more.txt", ["fish", "old dog sleeps here"])
    two = ("-r", "refs.txt", "-r", "more.txt", "-c", "a.txt")
    assert share(capsys, *two) == [1, 1 / 2]
    assert share(capsys, *two, "--over-references", "mean") == [1, (1 / 2 + 1 / 4) / 2]
    records(
        "refs.jsonl",
        {"references": ["red fish", "fish"], "text": "no"},
        {"references": ["old dog", "old dog sleeps here"], "text": "no"},
    )
    assert share(capsys, "-r", "refs.jsonl", "-c", "a.txt", "--over-references", "mean") == [1, 3 / 8]
    shown = pairs(capsys, *two, "--metrics", "overlap,meteor,bleu")
    assert "items: 2; references: 4 (2 an item)\nof several references: best for overlap, meteor\n" in shown.out
    assert "\nbleu: sacrebleu nrefs:2|" in shown.out
    records("uneven.jsonl", {"references": ["red fish"]}, {"references": ["old", "dog"]})
    assert (
        "references: 3 (1 to 2 an item)" in pairs(capsys, "-r", "uneven.jsonl", "-c", "a.txt", "--metrics", "bleu").out
    )


@pytest.mark.parametrize("field", ["references", "reference", "text", "other"])
def test_fields_of_references(files, capsys, field):
    records("refs.jsonl", *({field: text} for text in REFERENCES))
    named = ("--reference-field", "other") if field == "other" else ()
    assert share(capsys, "-r", "refs.jsonl", "-c", "a.txt", *named) == [1, 1 / 2]
    records("a.jsonl", *({"output": text, "text": "x"} for text in A))
    assert share(capsys, "-r", "refs.jsonl", "-c", "a.jsonl", *named, "--field", "output") == [1, 1 / 2]


def test_one_file_for_both_sides_and_other_formats(files, capsys, monkeypatch):
    both = [{"id": f"n{at}", "reference": REFERENCES[at], "out": {"a": A[at]}} for at in range(2)]
    records("all.jsonl", *both)
    assert share(capsys, "-r", "all.jsonl", "-c", "all.jsonl", "--field", "out.a") == [1, 1 / 2]
    assert [row["item"] for row in rows("out.jsonl")] == ["n0", "n1"]
    Path("all.json").write_text(json.dumps(both))
    assert share(capsys, "-r", "refs.txt", "-c", "all.json", "--field", "out.a") == [1, 1 / 2]
    Path("all.csv").write_text("ref,cand\n" + "".join(f"{REFERENCES[at]},{A[at]}\n" for at in range(2)))
    assert share(capsys, "-r", "all.csv", "-c", "all.csv", "--field", "cand", "--reference-field", "ref") == [1, 1 / 2]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(A).encode())))
    assert share(capsys, "-r", "refs.txt", "-c", "-") == [1, 1 / 2]
    lines = "\n".join(json.dumps(record) for record in both)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert share(capsys, "-r", "-", "--reference-format", "jsonl", "-c", "a.txt") == [1, 1 / 2]
    records("strings.jsonl", *A)
    assert share(capsys, "-r", "refs.txt", "-c", "strings.jsonl") == [1, 1 / 2]


def test_ids_of_items(files, capsys):
    records("refs.jsonl", {"id": 7, "text": "red fish"}, {"id": "x", "text": "old dog"})
    records("a.jsonl", {"id": "7", "key": 1, "text": "red fish"}, {"id": "x", "key": 2, "text": "old"})
    share(capsys, "-r", "refs.jsonl", "-c", "a.jsonl")
    assert [row["item"] for row in rows("out.jsonl")] == [7, "x"]
    share(capsys, "-r", "refs.jsonl", "-c", "a.jsonl", "--id-field", "key")
    assert [row["item"] for row in rows("out.jsonl")] == [1, 2]
    share(capsys, "-r", "refs.jsonl", "-c", "a.jsonl", "--id-field", "")
    assert [row["item"] for row in rows("out.jsonl")] == [0, 1]


def test_intervals(files, capsys):
    """All items alike: every resample has the same mean."""
    write("same.txt", ["red", "old"])
    shown = pairs(capsys, "-r", "refs.txt", "-c", "same.txt", "--metrics", "overlap,length", "--interval", "0.95")
    assert "0.5000 [0.5000, 0.5000]" in shown.out
    assert "[low, high]: 95% interval of the mean, bootstrap over items (1,000 resamples, seed 0)" in shown.out
    assert "no interval for numbers of the whole corpus, which are no means: length" in shown.out


@pytest.mark.traced
@pytest.mark.slow
def test_lists_of_parameters_are_columns(files, capsys, tiny_bert):
    models = ("--model", tiny_bert, "--offline", "--no-cache", "--dtype", "bf16")
    listed = ("--measure", "ab,l2", "--alpha", "0.5,-2", "--beta", "1,3")
    shown = json.loads(pairs(capsys, *BOTH[:-1], "infolm", *models, *listed, "--format", "json").out)
    found = shown["results"]["a.txt"]["infolm"]
    pairs_of = [f"ab(alpha={alpha} beta={beta})" for alpha in ("0.5", "-2") for beta in (1, 3)]
    assert list(found["values"]) == [*pairs_of, "l2"]
    assert found["signature"]["model"]["dtype"] == "bfloat16"
    table = pairs(capsys, *BOTH[:-1], "infolm", *models, *listed).out
    assert "infolm: ab, l2; temperature 1; alpha 0.5, -2; beta 1, 3; idf of the references\n" in table


@pytest.mark.traced
@pytest.mark.slow
def test_models(files, capsys, tiny_bert):
    """All metrics on models in one run, against evaluate_pairs; measures and temperatures are columns."""
    models = ("--model", tiny_bert, "--encoder", tiny_bert, "--layers", 2, "--offline", "--no-cache")
    asked = "infolm,me-words,bertscore,moverscore,rouge,meteor"
    shown = pairs(
        capsys, *BOTH[:-1], asked, *models, "--measure", "l2,renyi", "--alpha", 0.5, "--temperature", "0.5,1",
        "--k", 2, "--no-idf", "--over-references", "mean", "--per-item", "items.jsonl", "--format", "json",
    )  # fmt: skip
    infolm = {"measure": ["l2", "renyi"], "temperature": [0.5, 1], "alpha": 0.5, "idf": False}
    words = {"layers": 2}
    expected = rc.evaluate_pairs(
        REFERENCES, {"a.txt": A, "b.txt": B}, asked, encoder=str(tiny_bert), model=str(tiny_bert), cache=False,
        over_references="mean",
        options={"infolm": infolm, "me-words": {**words, "k": 2}, "moverscore": {**words, "idf": False}},
    )  # fmt: skip
    assert json.loads(shown.out) == json.loads(expected.to_json())
    first = rows("items.jsonl")[0]
    names = [f"{measure}@{at}" for measure in ("l2", "renyi") for at in ("0.5", "1")]
    assert list(first)[2:6] == [f"infolm.{name}" for name in names]
    assert first["infolm.l2@0.5"] == expected["a.txt"]["infolm"].arrays["l2@0.5_scores"][0]
    assert {"me-words.capture", "bertscore.f1", "moverscore", "rouge.rougeL_recall", "meteor"} <= set(first)
    assert json.loads(shown.out)["results"]["a.txt"]["meteor"]["signature"]["alpha"] == 0.85  # --alpha is InfoLM's
    table = pairs(capsys, *BOTH[:-1], "infolm,me-words", *models).out
    shown_name = expected["a.txt"]["bertscore"].signature["encoder"]["encoder"]
    assert tiny_bert.name in shown_name
    assert f"masked language model: {shown_name} (" in table and f"word vectors: {shown_name} (" in table
    assert "k: me-words 1\ninfolm: fisher_rao; temperature 1; idf of the references\n" in table


REAL = ("-r", "refs.txt", "-c", "a.txt", "--metrics")
ANY = (*REAL, "overlap")
INFOLM = (*REAL, "infolm,bertscore")
CASES = {
    "numbers of lines": (["-r", "refs.txt", "-c", "a.txt", "-c", "three.txt"], ["refs.txt has 2", "three.txt has 3"]),
    "numbers of references": ([*ANY, "-r", "three.txt"], ["refs.txt", "three.txt has 3"]),
    "no texts": ([*ANY, "-c", "empty.txt"], ["empty.txt", "no texts"]),
    "missing file": (["-r", "nowhere.txt", "-c", "a.txt"], ["nowhere.txt", "No such file"]),
    "no reference": (["-c", "a.txt"], ["--reference"]),
    "unknown metric": ([*REAL, "bertscor"], ["bertscor", "did you mean bertscore"]),
    "no metric": ([*REAL, ","], ["no metric was named"]),
    "unknown measure": ([*INFOLM, "--measure", "fisher_roa"], ["fisher_roa", "did you mean fisher_rao"]),
    "no measure": ([*INFOLM, "--measure", ","], ["no information measure"]),
    "alpha missing": ([*INFOLM, "--measure", "l2,renyi"], ["renyi needs alpha"]),
    "alpha forbidden": ([*INFOLM, "--measure", "alpha", "--alpha", "1"], ["alpha = 1", "kl"]),
    "alpha twice": ([*INFOLM, "--measure", "renyi", "--alpha", "0.5,0.5"], ["two values of alpha are the same"]),
    "alpha no numbers": ([*INFOLM, "--measure", "renyi", "--alpha", "0.5,x"], ["--alpha takes numbers", "'0.5,x'"]),
    "number type": ([*INFOLM, "--dtype", "int8"], ["dtype must be auto, float32, float16 or bfloat16", "'int8'"]),
    "number type of none": ([*REAL, "bleu", "--dtype", "bf16"], ["--dtype is for", "infolm", "bleu"]),
    "alpha unused": ([*INFOLM, "--measure", "l2", "--alpha", "1"], ["alpha = 1", "l2"]),
    "beta forbidden": ([*INFOLM, "--measure", "gamma", "--beta", "-1"], ["gamma", "beta = -1"]),
    "temperature of zero": ([*INFOLM, "--temperature", "0"], ["--temperature", "above 0", "'0'"]),
    "temperature below": ([*INFOLM, "--temperature", "1,-2"], ["--temperature", "above 0", "'1,-2'"]),
    "temperature no number": ([*INFOLM, "--temperature", "warm"], ["--temperature", "'warm'"]),
    "temperature twice": ([*INFOLM, "--temperature", "1,1.0"], ["two temperatures are the same"]),
    "k of zero": ([*REAL, "me-words", "--k", "0"], ["--k", "0"]),
    "k for none": ([*REAL, "bleu,infolm", "--k", "2"], ["--k is for me-words, pr-words", "bleu, infolm"]),
    "layers for none": ([*REAL, "bleu", "--layers", "2"], ["--layers is for me-words"]),
    "measure for none": ([*REAL, "bleu", "--measure", "l2"], ["--measure is for infolm", "bleu"]),
    "alpha is not METEOR's": ([*REAL, "meteor", "--alpha", "0.5"], ["--alpha is for infolm", "meteor"]),
    "idf for none": ([*REAL, "bleu", "--no-idf"], ["--no-idf is for infolm, bertscore, moverscore"]),
    "model for none": ([*REAL, "bertscore", "--model", "x"], ["--model is for infolm"]),
    "encoder for none": ([*REAL, "infolm", "--encoder", "x"], ["--encoder is for me-words"]),
    "device for none": ([*REAL, "bleu,rouge", "--device", "cpu"], ["--device is for infolm, me-words"]),
    "tokens for none": ([*REAL, "bleu", "--batch-tokens", "9"], ["--batch-tokens is for infolm"]),
    "rule for none": ([*REAL, "bleu,rouge", "--over-references", "mean"], ["bleu, rouge takes a rule"]),
    "unknown rule": ([*INFOLM, "--over-references", "max"], ["best or mean, not 'max'"]),
    "interval": ([*INFOLM, "--interval", "95"], ["--interval", "between 0 and 1"]),
    "candidate twice": ([*ANY, "-c", "a.txt"], ["a.txt", "twice"]),
    "reference twice": ([*ANY, "-r", "refs.txt"], ["refs.txt", "twice"]),
    "standard input twice": (["-r", "-", "-c", "-"], ["standard input"]),
    "too few names": ([*ANY, "--name", "x", "--name", "y"], ["equally many, not 1 and 2"]),
    "items in an input": ([*ANY, "--per-item", "a.txt"], ["a.txt", "it is an input"]),
    "output in an input": ([*ANY, "-o", "refs.txt"], ["refs.txt", "it is an input"]),
    "items in the output": ([*ANY, "-o", "x.json", "--per-item", "./x.json"], ["both name x.json"]),
    "items nowhere": ([*ANY, "--per-item", "no/such/items.jsonl"], ["no/such"]),
    "items to stdout": ([*ANY, "--per-item", "-"], ["--per-item name files"]),
    "vectors": (["-r", "refs.txt", "-c", "points.jsonl"], ["points.jsonl line 1", "must be a text, not a list"]),
    "other order": (
        ["-r", "one.jsonl", "-c", "other.jsonl"],
        ["one.jsonl line 1 has the id 'p'", "other.jsonl line 1 has 'q'"],
    ),
    "one id twice": (
        ["-r", "twice.jsonl", "-c", "a.txt", "--metrics", "overlap", "--per-item", "items.jsonl"],
        ["items 1 and 2 have the same id 'p'"],
    ),
    "some ids": (["-r", "some.jsonl", "-c", "a.txt"], ["some.jsonl: 1 of 2 records have no field 'id'"]),
    "an odd id": (["-r", "odd.jsonl", "-c", "a.txt"], ["odd.jsonl line 1", "'id'", "the number 1.5"]),
    "no field": (["-r", "refs.txt", "-c", "one.jsonl", "--field", "txt"], ["one.jsonl line 1", "'txt'", "text"]),
    "no references": (["-r", "hollow.jsonl", "-c", "a.txt"], ["hollow.jsonl line 2", "'references'", "empty list"]),
    "numbers for texts": (["-r", "mixed.jsonl", "-c", "a.txt"], ["mixed.jsonl line 2", "text 2", "a whole number"]),
    "half an emoji": (["-r", "half.jsonl", "-c", "a.txt"], ["half.jsonl line 1", "surrogate"]),
    "broken JSON": (["-r", "refs.txt", "-c", "broken.jsonl"], ["broken.jsonl line 2", "broken JSON"]),
    "no array": (["-r", "refs.txt", "-c", "object.json"], ["object.json", "array", "an object"]),
    "array of vectors": (["-r", "refs.txt", "-c", "points.npy"], ["points.npy holds vectors"]),
}  # fmt: skip


@pytest.fixture
def bad_files(files):
    import numpy as np

    write("three.txt", ["a", "b", "c"])
    write("empty.txt", [])
    records("points.jsonl", {"text": [1, 2]}, {"text": [3, 4]})
    records("one.jsonl", {"id": "p", "text": "a"}, {"id": "q", "text": "b"})
    records("other.jsonl", {"id": "q", "text": "b"}, {"id": "p", "text": "a"})
    records("twice.jsonl", {"id": "p", "text": "a"}, {"id": "p", "text": "b"})
    records("some.jsonl", {"id": "p", "text": "a"}, {"text": "b"})
    records("odd.jsonl", {"id": 1.5, "text": "a"}, {"id": 2, "text": "b"})
    records("hollow.jsonl", {"references": ["a"]}, {"references": []})
    records("mixed.jsonl", {"references": ["a"]}, {"references": ["a", 5]})
    write("half.jsonl", ['{"text": "\\ud83d"}', '{"text": "a"}'])
    write("broken.jsonl", ['{"text": "a"}', '{"text": '])
    Path("object.json").write_text('{"text": "a"}')
    np.save("points.npy", np.eye(2))
    return files


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_before_any_model(bad_files, capsys, monkeypatch, name):
    def never(*_, **__):
        raise AssertionError("a model was asked for")

    monkeypatch.setattr("recapture.pairs.evaluate.Shared.masked", never)
    monkeypatch.setattr("recapture.pairs.evaluate.Shared.words", never)
    before = {path: path.read_bytes() for path in bad_files.iterdir()}
    arguments, words = CASES[name]
    code = run(["pairs", *([] if "-o" in arguments else ["--output", "out.json"]), *arguments])
    shown = capsys.readouterr()
    assert code == 2, shown
    lines = shown.err.strip().splitlines()
    assert shown.out == "" and len(lines) == 1 and lines[0].startswith("recapture: "), shown.err
    for word in words:
        assert word in lines[0], (word, lines[0])
    assert {path: path.read_bytes() for path in bad_files.iterdir()} == before


def test_models_that_do_not_fit(files, capsys, tiny_bert, tmp_path):
    """No head, no mask token, too few layers: one sentence, nothing written."""
    import shutil

    from transformers import AutoModelForMaskedLM

    headless, maskless = tmp_path / "headless", tmp_path / "maskless"
    for folder in (headless, maskless):
        shutil.copytree(tiny_bert, folder)
    AutoModelForMaskedLM.from_pretrained(tiny_bert).bert.save_pretrained(headless)
    capsys.readouterr()
    settings = json.loads((maskless / "tokenizer_config.json").read_text())
    settings.pop("mask_token")
    settings.pop("added_tokens_decoder", None)
    (maskless / "tokenizer_config.json").write_text(json.dumps(settings))
    (maskless / "special_tokens_map.json").unlink(missing_ok=True)
    for arguments, word in (
        (("infolm", "--model", headless), "no masked-language-model head"),
        (("infolm", "--model", maskless), "no mask token"),
        (("infolm", "--model", tmp_path / "nowhere"), "nowhere"),
        (("me-words", "--encoder", tiny_bert, "--layers", 4), "layers must be a whole number from 1 to 3"),
        (("bertscore", "--encoder", tiny_bert, "--device", "tpu"), "tpu"),
    ):
        shown = pairs(capsys, *REAL, *arguments, "--offline", "--output", "out.md", "--per-item", "o.jsonl", code=2)
        assert word in shown.err and len(shown.err.splitlines()) == 1, shown.err
        assert not Path("out.md").exists() and not Path("o.jsonl").exists()


@pytest.mark.parametrize("asked", ["infolm", "bleu,infolm"])
def test_missing_default_model_is_one_sentence(files, capsys, monkeypatch, asked):
    from recapture.representations import shipped

    monkeypatch.setattr(shipped, "package_folders", lambda package: [])
    shown = pairs(
        capsys, "-r", "refs.txt", "-c", "a.txt", "--metrics", asked, "--offline", "--output", "out.md", code=2
    )
    assert shown.out == "" and len(shown.err.splitlines()) == 1 and "pip install ./weights" in shown.err
    assert not Path("out.md").exists()


def test_list_shows_pair_metrics(capsys):
    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    for metric in rc.list_pair_metrics().values():
        assert f"    {metric.name}  {metric.title}; {metric.direction} is better; {metric.citation}" in shown
        assert all(f"        {output.name} " in shown for output in metric.outputs_for({}))
    assert "        renyi (alpha)  Rényi divergence" in shown


def test_help_shows_examples(capsys):
    assert run(["pairs", "--help"]) == 0
    assert "recapture pairs --reference refs.txt" in capsys.readouterr().out


def test_an_id_field_that_no_record_has(files, capsys):
    """Asked for, it must be there: without it nothing checks that files are in one order."""
    records("refs.jsonl", {"id": "x", "references": "a b"}, {"id": "y", "references": "c"})
    records("c.jsonl", {"id": "y", "text": "a"}, {"id": "x", "text": "c"})
    shown = pairs(capsys, "-r", "refs.jsonl", "-c", "c.jsonl", "--metrics", "overlap", "--id-field", "idd", code=2)
    assert shown.err == "recapture: no record has the field 'idd', by which items should be called\n"
