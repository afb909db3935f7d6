"""`recapture contexts` in every format, resumed, and refused. Numbers of the golden texts are worked out by hand."""

import csv
import gzip
import io
import json
import types
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import recapture as rc
from recapture.cli.app import run
from recapture.contexts import evaluate as evaluation
from recapture.contexts.declaration import METRICS
from recapture.similarity import scorer as base
from recapture.similarity.scorer import Scorer, Similarity

# By the metric below, 1 for equal texts and 0 for others:
# - "pairs": within edges 0, cross edges 1. All within edges are the shortest, Q = 4/3 both ways round, TRM = 8/3.
#   Of the 6 partitions 2 are so; the other 4 part both pairs, with one cross edge shorter and one equal: TRM = 4/3.
#   So p = 1/3.
#   The mean over candidates of the best score is 0 there and 1 in the others: p = 1/3.
# - 7: all texts differ, so all edges tie: TRM 0, mean 0, p = 1.
# - "small": no candidates.
PAIRS = {"id": "pairs", "references": ["a", "a"], "candidates": ["b", "b"]}
APART = {"id": 7, "references": ["a", "b"], "candidates": ["c", "d"]}
SMALL = {"id": "small", "references": ["a", "b"], "candidates": []}

SENTENCE = "Nothing was tested: no p-value was asked for; the means do not tell candidates from people by themselves."

TABLE = f"{SENTENCE}\n\n"
TABLE += """\
 metric     number         mean   contexts   left out
 ────────────────────────────────────────────────────
 trm-same   value    ↓   1.3333          2          1
 same       value    ↑   0.0000          2          1

3 contexts; ↑ higher is better, ↓ lower is better
"""

MARKDOWN = f"- {SENTENCE}\n\n"
MARKDOWN += """\
| metric | number |  | mean | contexts | left out |
|---|---|---|---:|---:|---:|
| trm-same | value | ↓ | 1.3333 | 2 | 1 |
| same | value | ↑ | 0.0000 | 2 | 1 |

3 contexts; ↑ higher is better, ↓ lower is better
"""

LATEX = f"% {SENTENCE}\n"
LATEX += r"""% 3 contexts; ↑ higher is better, ↓ lower is better
% needs \usepackage{booktabs}
\begin{tabular}{lllrrr}
\toprule
metric & number &  & mean & contexts & left out \\
\midrule
trm-same & value & $\downarrow$ & 1.3333 & 2 & 1 \\
same & value & $\uparrow$ & 0.0000 & 2 & 1 \\
\bottomrule
\end{tabular}
"""


class Same(Scorer):
    def __init__(self, calls):
        self._calls = calls

    def cross(self, hypotheses, references):
        self._calls.append(list(hypotheses))
        return np.array([[float(a == b) for b in references] for a in hypotheses])


@pytest.fixture
def calls(monkeypatch):
    """What the metric `same` has been asked to score."""
    made: list = []
    same = Similarity(name="same", title="Same", prepare=lambda: Same(made))
    monkeypatch.setattr(base.METRICS, "_metrics", {**base.METRICS.all(), "same": same})
    monkeypatch.setattr(METRICS, "_metrics", None)  # derived from those
    return made


@pytest.fixture
def files(tmp_path, monkeypatch, calls):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    write("contexts.jsonl", PAIRS, APART, SMALL)
    return tmp_path


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def write(path, *records):
    from pathlib import Path

    Path(path).write_text(lines(*records), encoding="utf-8")


def contexts(capsys, *arguments, code=0):
    assert run(["contexts", *map(str, arguments)]) == code
    return capsys.readouterr()


BOTH = ("contexts.jsonl", "--metrics", "trm-same,same")


@pytest.mark.parametrize("form, expected", [("table", TABLE), ("md", MARKDOWN), ("latex", LATEX)])
def test_golden_texts(files, capsys, form, expected):
    shown = contexts(capsys, *BOTH, "--format", form)
    assert shown.out == expected
    assert shown.err == ("recapture: 1 context too small, left out of trm-same, same: small (0 candidates, needs 1)\n")


def test_p_values_in_the_table(files, capsys):
    """HMP of 1/3 and 1 is 2 / (3 + 1); no p reaches .05."""
    out = contexts(capsys, *BOTH, "--pvalue", "--format", "md").out
    verdict, table = out.split("\n\n", 1)
    assert "not told from people by any of 2 numbers over 2 contexts" in verdict
    assert "With 2 contexts of so few texts nothing can be told" in verdict  # p is never below 1/3
    heads, _, ranks, same, _, *caption = table.splitlines()
    assert heads == (
        "| metric | number |  | mean | relabelled | contexts | left out | HMP | HMP corrected | Fisher | p ≤ level "
        "| after BH | after Holm |"
    )
    corrected = stats.landau.sf(2, loc=np.log(2) + 0.874367, scale=np.pi / 2)
    fisher = stats.combine_pvalues([1 / 3, 1]).pvalue
    cells = f"| 2 | 1 | 0.5 | {corrected:.2g} | {fisher:.2g} | 0.0% | 0.0% | 0.0% |"
    ranks, same = (" | ".join([*line.split(" | ")[:4], *line.split(" | ")[5:]]) for line in (ranks, same))
    assert ranks == "| trm-same | value | ↓ | 1.3333 " + cells and same == "| same | value | ↑ | 0.0000 " + cells
    assert "p ≤ 0.05" in caption[1] and "Fisher: for independent contexts only" in caption[1]


def test_intervals_in_the_table(files, capsys):
    """Two values, 0 and 8/3: 4/3 -+ t x 4/3; with one degree of freedom t(.55) = tan(.05 pi) = .158384."""
    shown = contexts(capsys, *BOTH, "--interval", "0.1")
    assert "1.3333 [1.1222, 1.5445]" in shown.out
    assert "[low, high]: 0.1 interval of the mean over contexts" in shown.out
    # t(.975) = 12.7 would lead beyond what a triangle rank can be.
    assert "1.3333 [0.0000, 4.0000]" in contexts(capsys, *BOTH, "--interval", "0.95").out


def test_json(files, capsys):
    shown = contexts(capsys, *BOTH, "--pvalue", "--interval", ".1", "--format", "json")
    made = json.loads(shown.out, parse_constant=pytest.fail)
    assert shown.err == ""  # what was left out is part of the result
    assert made["results"]["contexts"] == 3 and (made["schema"], made["kind"]) == (1, "contexts")
    assert made["warnings"] == ["1 context too small, left out of trm-same, same: small (0 candidates, needs 1)"]
    assert made["results"]["left_out"] == {name: {"small": "0 candidates, needs 1"} for name in ("trm-same", "same")}
    ranks, same = made["results"]["totals"]
    assert (ranks["metric"], ranks["number"], ranks["direction"]) == ("trm-same", "value", "lower")
    assert (ranks["mean"], ranks["contexts"], ranks["left_out"]) == (pytest.approx(4 / 3), 2, 1)
    assert ranks["interval"] == pytest.approx([4 / 3 * (1 - 0.158384), 4 / 3 * (1 + 0.158384)], abs=1e-5)
    assert ranks["pvalues"]["harmonic_mean"] == pytest.approx(0.5) and ranks["pvalues"]["level"] == 0.05
    assert same["direction"] == "higher" and same["mean"] == 0
    assert made["signature"]["pvalue"] is True and made["signature"]["interval"] == 0.1
    assert made["signature"]["metrics"] == ["trm-same", "same"] and made["recapture"] == rc.__version__


def test_csv_is_tidy(files, capsys):
    rows = list(csv.DictReader(io.StringIO(contexts(capsys, *BOTH, "--pvalue", "--format", "csv").out)))
    assert [(row["metric"], row["number"], row["direction"]) for row in rows] == [
        ("trm-same", "value", "lower"), ("same", "value", "higher"),
    ]  # fmt: skip
    assert float(rows[0]["mean"]) == 4 / 3 and rows[0]["contexts"] == "2" and rows[0]["left_out"] == "1"
    assert float(rows[0]["harmonic_mean"]) == 0.5 and rows[0]["interval_low"] == ""
    plain = list(csv.DictReader(io.StringIO(contexts(capsys, *BOTH, "--format", "csv", "--interval", "0.5").out)))
    assert "harmonic_mean" not in plain[0]
    assert float(plain[0]["interval_high"]) == pytest.approx(8 / 3)  # t(.75, 1) = 1


def test_when_nothing_could_be_scored(files, capsys):
    write("contexts.jsonl", SMALL)
    for form, expected in (
        ("table", "trm-same   value    ↓      -          0          1"),
        ("md", "| trm-same | value | ↓ | - | 0 | 1 |"),
        ("latex", r"trm-same & value & $\downarrow$ & - & 0 & 1 \\"),
        ("json", '"mean": null'),
        ("csv", "trm-same,value,lower,nan,0,1,,"),
    ):
        assert expected in contexts(capsys, *BOTH, "--pvalue", "--format", form).out


def test_every_context_on_a_line_of_its_own(files, capsys):
    shown = contexts(capsys, *BOTH, "--pvalue", "--per-item", "items.jsonl")
    assert "recapture: wrote items.jsonl" in shown.err and "trm-same" in shown.out
    first, second, third = map(json.loads, (files / "items.jsonl").read_text().splitlines())
    assert (first["id"], first["references"], first["candidates"]) == ("pairs", 2, 2)
    ranks = first["scores"]["trm-same"]
    assert ranks["value"] == pytest.approx(8 / 3) and ranks["pvalue"] == ranks["smallest_pvalue"] == 1 / 3
    assert (ranks["exact"], ranks["labellings"], ranks["form"]) == (True, 6, "Q(C, R) + Q(R, C)")
    assert ranks["dispersion"] == {"reference": 0, "candidate": 0}
    assert ranks["central"] == {"reference": 0, "candidate": 0}
    assert first["scores"]["same"]["value"] == 0 and first["scores"]["same"]["pvalue"] == 1 / 3
    assert second["id"] == "7" and second["scores"]["trm-same"]["value"] == 0
    assert second["scores"]["trm-same"]["pvalue"] == 1 == second["scores"]["same"]["pvalue"]
    assert third["scores"] == {} and third["left_out"] == dict.fromkeys(("trm-same", "same"), "0 candidates, needs 1")


@pytest.mark.parametrize(
    "ending, start", [("md", MARKDOWN), ("tex", LATEX), ("txt", TABLE), ("json", "{"), ("csv", "metric,")]
)
def test_output_takes_its_form_from_its_ending(files, capsys, ending, start):
    shown = contexts(capsys, *BOTH, "-o", f"totals.{ending}", "--per-item", "items.jsonl")
    assert "Nothing was tested" in shown.out and f"wrote totals.{ending}" in shown.err
    assert (files / f"totals.{ending}").read_text(encoding="utf-8").startswith(start)
    assert sorted(path.name for path in files.iterdir()) == ["contexts.jsonl", "items.jsonl", f"totals.{ending}"]


def test_ties_and_direction(files, capsys):
    """By the printed rule the context of different texts has all three ranks for every triangle: Q = 3 x 2/3 = 2."""
    printed = json.loads(contexts(capsys, *BOTH, "--ties", "paper", "--format", "json").out)
    assert printed["results"]["totals"][0]["mean"] == pytest.approx((8 / 3 + 4) / 2)
    one_way = json.loads(contexts(capsys, *BOTH, "--directed", "--format", "json").out)
    assert one_way["results"]["totals"][0]["mean"] == pytest.approx(2 / 3)
    assert one_way["signature"]["directed"] is True


def test_fields_by_other_names(files, capsys):
    write("own.jsonl", {"image": 3, "human": ["a", "a"], "model": {"b": ["b", "b"]}})
    options = ("--id-field", "image", "--references-field", "human", "--candidates-field", "model.b")
    contexts(capsys, "own.jsonl", *options, "--metrics", "trm-same", "--per-item", "items.jsonl")
    (item,) = map(json.loads, (files / "items.jsonl").read_text().splitlines())
    assert item["id"] == "3" and item["scores"]["trm-same"]["value"] == pytest.approx(8 / 3)


def test_compressed_and_through_standard_input(files, capsys, monkeypatch):
    content = (files / "contexts.jsonl").read_bytes()
    (files / "contexts.jsonl.gz").write_bytes(gzip.compress(content))
    assert contexts(capsys, "contexts.jsonl.gz", *BOTH[1:]).out == TABLE
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    assert contexts(capsys, "-", *BOTH[1:]).out == TABLE


@pytest.mark.parametrize("form", ["csv", "jsonl", "tsv"])
def test_two_files_with_a_group_column(files, capsys, form):
    """The same contexts, text by text and in a mixed order; "small" has no candidates, 9 no references."""
    human = [("pairs", "a"), (7, "a"), ("small", "a"), ("pairs", "a"), (7, "b"), ("small", "b")]
    model = [(7, "c"), ("pairs", "b"), (9, "a"), (7, "d"), ("pairs", "b")]
    for name, rows in (("human", human), ("model", model)):
        records = [{"image": image, "caption": text} for image, text in rows]
        if form == "jsonl":
            write(f"{name}.jsonl", *records)
        else:
            with open(f"{name}.{form}", "w", newline="") as stream:  # noqa: PTH123
                table = csv.DictWriter(stream, ["image", "caption"], delimiter="\t" if form == "tsv" else ",")
                table.writeheader()
                table.writerows(records)
    options = ("--group", "image", "--field", "caption", "--metrics", "trm-same,same", "--per-item", "items.jsonl")
    shown = contexts(capsys, "-r", f"human.{form}", "-c", f"model.{form}", *options)
    items = [json.loads(line) for line in (files / "items.jsonl").read_text().splitlines()]
    assert [(item["id"], item["references"], item["candidates"]) for item in items] == [
        ("pairs", 2, 2), ("7", 2, 2), ("small", 2, 0), ("9", 0, 1),
    ]  # fmt: skip
    assert "1.3333" in shown.out
    assert (
        "2 contexts too small, left out of trm-same, same: small (0 candidates, needs 1), 9 (0 references" in shown.err
    )


def test_many_small_contexts_are_counted_and_five_are_named(files, capsys):
    write("contexts.jsonl", PAIRS, *({**SMALL, "id": f"s{i}"} for i in range(12)))
    shown = contexts(capsys, *BOTH)
    assert shown.err.startswith("recapture: 12 contexts too small, left out of trm-same, same: s0 (0 candidates")
    assert "s4 (0 candidates, needs 1) and 7 more\n" in shown.err and "s5" not in shown.err


def test_odd_ids_stay_on_their_line(files, capsys):
    odd = ["new\nline", "\x1b[31mred\x1b[0m", "tab\there", "x" * 200, "|<b>&\\", ""]
    write("contexts.jsonl", PAIRS, *({**SMALL, "id": name} for name in odd))
    shown = contexts(capsys, *BOTH, "--per-item", "items.jsonl")
    assert len(shown.err.splitlines()) == 2 and "\x1b" not in shown.err and "\t" not in shown.err
    assert "new line (0 candidates" in shown.err and "x" * 57 + "... (0" in shown.err and "|<b>&\\ (0" in shown.err
    items = [json.loads(line)["id"] for line in (files / "items.jsonl").read_text().split("\n") if line]
    assert items == ["pairs", *odd]


def test_an_interrupted_run_goes_on(files, capsys, calls, monkeypatch):
    monkeypatch.setattr(evaluation, "_CHUNK", 2)
    write("contexts.jsonl", *({**PAIRS, "id": i, "references": ["a", f"a{i}"]} for i in range(7)))
    options = (*BOTH, "--pvalue", "--output", "totals.md", "--per-item", "items.jsonl")
    whole = contexts(capsys, *BOTH, "--pvalue", "--format", "md").out
    calls.clear()
    cross = Same.cross

    def interrupted(self, hypotheses, references):
        if len(calls) == 5:
            raise KeyboardInterrupt
        return cross(self, hypotheses, references)

    with monkeypatch.context() as patched:
        patched.setattr(Same, "cross", interrupted)
        shown = contexts(capsys, *options, code=130)
    assert "interrupted" in shown.err and shown.out == ""
    assert sorted(path.name for path in files.iterdir()) == ["contexts.jsonl"]
    calls.clear()
    contexts(capsys, *options)
    assert [texts[1] for texts in calls] == ["a4", "a5", "a6"]
    assert (files / "totals.md").read_text(encoding="utf-8") == whole
    assert len((files / "items.jsonl").read_text().splitlines()) == 7
    calls.clear()
    contexts(capsys, *options)
    assert len(calls) == 7  # a complete run leaves nothing to go on from


def test_no_resume(files, capsys, calls, monkeypatch):
    monkeypatch.setattr(evaluation, "_CHUNK", 1)
    cross = Same.cross

    def interrupted(self, hypotheses, references):
        if calls:
            raise KeyboardInterrupt
        return cross(self, hypotheses, references)

    for options, kept in ((["--no-resume"], 0), ([], 1)):
        calls.clear()
        with monkeypatch.context() as patched:
            patched.setattr(Same, "cross", interrupted)
            contexts(capsys, *BOTH, *options, code=130)
        assert len(list(files.parent.glob(f"{files.name}-cache/runs/*"))) == kept
    calls.clear()
    contexts(capsys, *BOTH, "--no-resume")
    assert len(calls) == 2  # begins anew, though there is something to go on from


def test_seeds_and_numbers_of_labellings(files, capsys):
    write("contexts.jsonl", {**BIG, "references": ["r1", *BIG["references"]]})  # r1 twice: p near 1/2
    drawn = []
    for seed in (0, 5, 5):
        contexts(capsys, *BOTH, "--pvalue", 99, "--seed", seed, "--per-item", "items.jsonl")
        (item,) = map(json.loads, (files / "items.jsonl").read_text().splitlines())
        assert not item["scores"]["same"]["exact"] and item["scores"]["same"]["labellings"] == 100
        drawn.append(item["scores"]["same"]["pvalue"])
    assert drawn[0] != drawn[1] == drawn[2]


BIG = {"id": "big", "references": [f"r{i}" for i in range(15)], "candidates": [f"c{i}" for i in range(15)]}
CASES = {
    "no input": ([], "--metrics same", ["no input", "--group"]),
    "missing file": ([], "nowhere.jsonl", ["nowhere.jsonl", "No such file"]),
    "a directory": ([], ".", ["directory"]),
    "empty file": ([], "in.jsonl", ["in.jsonl has no contexts"]),
    "broken JSON": ([PAIRS, '{"id": '], "in.jsonl", ["in.jsonl line 2", "broken JSON"]),
    "surrogates": (['{"references": ["\\ud800"], "candidates": []}'], "in.jsonl", ["line 1", "surrogate"]),
    "surrogates in an id": (['{"id": "\\ud800", "references": [], "candidates": []}'], "in.jsonl", ["line 1", "'id'"]),
    "wrong field": ([{"refs": [], "candidates": []}], "in.jsonl", ["line 1", "'references'", "refs"]),
    "id field": ([PAIRS], "in.jsonl --id-field image", ["line 1", "'image'", "id, references"]),
    "mixed types": ([PAIRS, {**APART, "candidates": "c"}], "in.jsonl", ["line 2", "'candidates'", "a list of texts"]),
    "mixed texts": ([PAIRS, {**APART, "candidates": ["c", 4]}], "in.jsonl", ["line 2", "text 2", "'candidates'"]),
    "same id": ([PAIRS, APART, PAIRS], "in.jsonl", ["contexts 1 and 3", "'pairs'"]),
    "unknown metric": ([PAIRS], "in.jsonl --metrics trm-sme", ["'trm-sme'", "did you mean trm-same"]),
    "unknown metric without file": ([], "nowhere.jsonl --metrics frechett", ["did you mean frechet"]),
    "no metric": ([PAIRS], "in.jsonl --metrics ,", ["no metric"]),
    "exact": ([PAIRS, BIG], "in.jsonl --pvalue exact", ["context big", "155,117,520 partitions", "too many"]),
    "pvalue": ([PAIRS], "in.jsonl --pvalue often", ["--pvalue", "'often'"]),
    "pvalue takes the file": ([PAIRS], "--pvalue in.jsonl", ["--pvalue", "'in.jsonl'", "file name"]),
    "no labellings": ([PAIRS], "in.jsonl --pvalue 0", ["--pvalue", "'0'"]),
    "interval": ([PAIRS], "in.jsonl --interval 95", ["--interval", "95"]),
    "ties": ([PAIRS], "in.jsonl --ties papr", ["'papr'", "did you mean paper"]),
    "seed": ([PAIRS], "in.jsonl --seed -1", ["--seed"]),
    "format": ([PAIRS], "in.jsonl --format tabel", ["'tabel'", "did you mean table"]),
    "encoder": ([PAIRS], "in.jsonl --encoder bag-of-words", ["no metric needs vectors"]),
    "df of no metric": ([PAIRS], "in.jsonl --cider-df df.json", ["'cider'"]),
    "no df": ([PAIRS], "in.jsonl --metrics cider --cider-df nowhere.json", ["nowhere.json"]),
    "two outputs": ([PAIRS], "in.jsonl --per-item out.json", ["--output", "--per-item", "out.json"]),
    "an output that is the input": ([PAIRS], "in.jsonl --per-item in.jsonl", ["in.jsonl", "input"]),
    "no such folder": ([PAIRS], "in.jsonl --per-item no/items.jsonl", ["no/items.jsonl", "no directory"]),
    "both forms": ([PAIRS], "in.jsonl -r in.jsonl", ["--reference", "in.jsonl"]),
    "field for contexts": ([PAIRS], "in.jsonl --field text", ["--field"]),
    "no group": ([PAIRS], "-r in.jsonl -c in.jsonl", ["--group is missing"]),
    "no candidates": ([PAIRS], "-r in.jsonl --group id", ["--candidate is missing"]),
    "standard input twice": ([PAIRS], "-r - -c - --group id", ["standard input"]),
    "standard input": ([PAIRS], "-r in.jsonl -c - --group id --field id", ["standard input"]),
    "wrong group": ([{"text": "a", "image": 1}], "-r in.jsonl -c in.jsonl --group photo", ["line 1", "'photo'"]),
    "unknown option": ([PAIRS], "in.jsonl --metric same", ["--metric"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_and_exit_code_2(files, capsys, calls, name):
    records, arguments, words = CASES[name]
    (files / "in.jsonl").write_text("".join(r + "\n" if isinstance(r, str) else lines(r) for r in records))
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    given = arguments.split()
    given = given if "--metrics" in given else [*given, "--metrics", "same"]
    shown = contexts(capsys, "--output", "out.json", *given, code=2)
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("recapture: ")
    for word in words:
        assert word in line, (word, line)
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before
    assert not calls and not list(files.parent.glob(f"{files.name}-cache/runs/*"))


def test_a_cache_that_cannot_be_written_is_said_once(files, capsys, monkeypatch):
    monkeypatch.setattr(evaluation, "_CHUNK", 1)
    monkeypatch.setenv("RECAPTURE_CACHE", str(files / "contexts.jsonl"))
    shown = contexts(capsys, *BOTH)
    assert shown.out == TABLE and shown.err.count("could not go on from here") == 1


def test_vectors(files, capsys):
    """Texts without a word in common: the kernel of equal counts is 1; MMD and Fréchet of equal sides are 0."""
    same = {"id": "same", "references": ["a b", "c"], "candidates": ["a b", "c"]}
    write("contexts.jsonl", same, {**SMALL, "candidates": ["a"]})
    shown = contexts(
        capsys,
        "contexts.jsonl",
        "--metrics",
        "frechet,distinct-1,same",
        "--encoder",
        "bag-of-words",
        "--format",
        "json",
    )
    made = json.loads(shown.out)
    assert [(total["metric"], total["number"], total["contexts"]) for total in made["results"]["totals"]] == [
        ("frechet", "value", 1), ("distinct-1", "reference", 2), ("distinct-1", "candidate", 2), ("same", "value", 2),
    ]  # fmt: skip
    assert (
        made["results"]["totals"][0]["mean"] == pytest.approx(0, abs=1e-9) and made["results"]["totals"][1]["mean"] == 1
    )
    assert made["results"]["left_out"] == {"frechet": {"small": "1 candidate, needs 2"}}
    assert made["signature"]["encoder"]["encoder"] == "bag-of-words"


def test_document_frequencies_from_a_file(files, capsys):
    df = rc.DocumentFrequencies.from_references([["a dog runs in the park"], ["a cat"], ["two birds"]])
    df.write("df.json")
    write("contexts.jsonl", {"references": ["a dog runs", "the dog runs"], "candidates": ["a dog runs"]})
    shown = contexts(capsys, "contexts.jsonl", "--metrics", "cider", "--cider-df", "df.json", "--format", "json")
    made = json.loads(shown.out)
    expected = rc.cider([["a dog runs", "the dog runs"]], ["a dog runs"], df=df).value
    assert made["results"]["totals"][0]["mean"] == pytest.approx(expected, abs=1e-12)
    assert made["signature"]["pairwise"]["cider"]["df"]["documents"] == 3


def test_analytic_p_values(files, capsys):
    """As in Python; contexts too small for them are named, and nothing is written."""
    rng = np.random.default_rng(0)
    words = [" ".join("abcdefghij"[:length]) for length in rng.integers(1, 11, 50)]
    write("large.jsonl", {"id": "a", "references": words[:25], "candidates": words[25:]})
    asked = ["--metrics", "trm-chrf", "--pvalue", "analytic", "--per-item", "items.jsonl"]
    shown = contexts(capsys, "large.jsonl", *asked, "--format", "json")
    made = json.loads(Path("items.jsonl").read_text())["scores"]["trm-chrf"]
    expected = rc.triangle_rank(words[:25], words[25:], "chrf", pvalue="analytic")
    assert made["pvalue"] == expected.pvalue and made["labellings"] == 0
    assert json.loads(shown.out)["signature"]["pvalue"] == "analytic"
    write("small.jsonl", {"id": "b", "references": words[:3], "candidates": words[3:6]})
    shown = contexts(capsys, "small.jsonl", *asked[:-1], "none.jsonl", code=2)
    assert "context b: 3 references and 3 candidates are too few for an analytic p-value" in shown.err
    assert not Path("none.jsonl").exists()
