"""`recapture correlate` in every format, and refused. Numbers of the golden texts are worked out by hand."""

import csv
import io
import json
from pathlib import Path

import pytest

import recapture as rc
from recapture.cli.app import run

# Four systems, two inputs. Means of people: 1, 2, 3, 4; bleu's .1, .2, .4, .3; ter's .4, .3, .2, .1 (lower is better).
# bleu: 1 - 6 (1 + 1) / (4 x 15) = .8 by Pearson and Spearman, 5 of 6 pairs alike: tau (5 - 1) / 6; ter: all alike, 1.
BLEU = {"a": 0.1, "b": 0.2, "c": 0.4, "d": 0.3}
HUMAN = {"a": 1, "b": 2, "c": 3, "d": 4}
ROWS = [
    {"system": name, "item": item, "bleu": BLEU[name] + step / 10, "ter": 0.5 - HUMAN[name] / 10, "length": 5 + item,
     "human": {"fluency": HUMAN[name] + step, "tone": 3}}
    for item, step in ((1, -0.5), (2, 0.5)) for name in BLEU
]  # fmt: skip

TABLE = """\
 metric   pearson   kendall
 ──────────────────────────
 bleu ↑    0.8000    0.6667
 ter ↓     1.0000    1.0000

correlation with human.fluency; system level: systems' means; 4 systems
2 inputs, 0 dropped
scores where lower is better (↓) are turned round first, so that 1 is best for all
"""

MARKDOWN = """\
| metric | pearson | kendall |
|---|---:|---:|
| bleu ↑ | 0.8000 | 0.6667 |
| ter ↓ | 1.0000 | 1.0000 |

- correlation with human.fluency; system level: systems' means; 4 systems
- 2 inputs, 0 dropped
- scores where lower is better (↓) are turned round first, so that 1 is best for all
- left out, since which way is better is not known: length
"""

LATEX = r"""% correlation with human.fluency; system level: systems' means; 4 systems
% 2 inputs, 0 dropped
% scores where lower is better (↓) are turned round first, so that 1 is best for all
% left out, since which way is better is not known: length
% needs \usepackage{booktabs}
\begin{tabular}{lrr}
\toprule
metric & pearson & kendall \\
\midrule
bleu $\uparrow$ & 0.8000 & 0.6667 \\
ter $\downarrow$ & 1.0000 & 1.0000 \\
\bottomrule
\end{tabular}
"""


def write(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("scores.jsonl", ROWS)
    Path("systems.csv").write_text("model,overall\n" + "".join(f"{name},{HUMAN[name]}\n" for name in "dcba"))
    return tmp_path


def correlate(capsys, *arguments, code=0):
    assert run(["correlate", *arguments]) == code
    return capsys.readouterr()


BOTH = ("scores.jsonl", "--human", "human.fluency", "--coefficient", "pearson,kendall")


@pytest.mark.parametrize("form, expected", [("table", TABLE), ("md", MARKDOWN), ("latex", LATEX)])
def test_golden_texts(files, capsys, form, expected):
    shown = correlate(capsys, *BOTH, "--format", form)
    assert shown.out == expected
    assert shown.err == "recapture: left out, since which way is better is not known: length\n"


def test_json_and_csv(files, capsys):
    content = json.loads(correlate(capsys, *BOTH, "--format", "json").out, parse_constant=pytest.fail)
    assert [row["value"] for row in content["results"]["correlations"]] == pytest.approx([0.8, 1, 2 / 3, 1])
    assert content["results"]["correlations"][0]["inputs"] == 2 and "length" in content["warnings"][0]
    shown = correlate(
        capsys, *BOTH, "--format", "csv", "--interval", "0.9", "--test", "williams", "--matrix", "--accuracy"
    )
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    kinds = [row["kind"] for row in rows]
    assert kinds == ["correlations"] * 4 + ["comparisons"] * 2 + ["clusters"] * 4 + ["accuracies"] * 2 + ["between"] * 8
    assert float(rows[0]["low"]) <= 0.8 <= float(rows[0]["high"])
    # Pairs of systems: bleu orders 5 of 6 as people do, ter all.
    assert [float(row["accuracy"]) for row in rows[10:12]] == pytest.approx([5 / 6, 1])
    assert float(rows[13]["value"]) == pytest.approx(
        0.8
    )  # ter orders as people do, so bleu agrees with it as with them


def test_every_table_says_what_it_rests_on(files, capsys):
    """One input of three lacks a score by ter."""
    rows = [*ROWS, *({**row, "item": 3, "ter": None if row["system"] == "a" else 1} for row in ROWS[:4])]
    write("gap.jsonl", rows)
    options = ("--test", "bootstrap", "--accuracy", "--matrix", "--resamples", "40", "--seed", "3", "--over", "inputs")
    shown = correlate(capsys, "gap.jsonl", *BOTH[1:3], *options).out
    assert "40 resamples of inputs, seed 3" in shown
    assert "bleu v human.fluency: 4 systems, 3 inputs, 0 dropped" in shown
    assert "ter v human.fluency: 4 systems, 2 inputs, 1 dropped" in shown
    assert shown.endswith("metrics with each other: system level, pearson\n4 systems, 2 inputs, 1 dropped\n")
    content = json.loads(correlate(capsys, "gap.jsonl", *BOTH[1:3], *options, "--format", "json").out)
    assert {(row["over"], row["resamples"], row["seed"]) for row in content["results"]["comparisons"]} == {
        ("inputs", 40, 3)
    }
    assert [(row["inputs"], row["dropped"], row["seed"]) for row in content["results"]["accuracies"]] == [
        (3, 0, 3),
        (2, 1, 3),
    ]
    assert [
        (row["inputs"], row["dropped"]) for row in content["results"]["between"] if row["metric"] != row["other"]
    ] == [(2, 1)] * 2


def test_output_goes_to_a_file(files, capsys):
    shown = correlate(capsys, *BOTH, "--output", "table.md")
    assert Path("table.md").read_text("utf-8") == MARKDOWN and shown.out == "" and "wrote table.md" in shown.err


def test_ratings_in_a_file_of_their_own(files, capsys):
    ratings = ("--human-file", "systems.csv", "--human", "overall", "--metrics", "bleu,ter")
    shown = correlate(capsys, "scores.jsonl", *ratings, *BOTH[3:])
    assert shown.out == TABLE.replace("human.fluency", "overall") and shown.err == ""


def test_standard_input(files, capsys, monkeypatch):
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("scores.jsonl").read_bytes())))
    assert correlate(capsys, "-", *BOTH[1:]).out == TABLE


def test_names_of_fields_and_rows(files, capsys):
    rows = [{"kind": kind, "who": row["system"], "what": row["item"], "m": sign * row["ter"],
             "h": row["human"]["fluency"]} for row in ROWS for kind, sign in (("x", 1), ("y", -1))]  # fmt: skip
    write("odd.jsonl", rows)
    options = ("--system-field", "who", "--item-field", "what", "--human", "h", "--metrics", "m", "--format", "json")
    for kind, way in (("x", "--lower-is-better"), ("y", "--higher-is-better")):
        shown = correlate(capsys, "odd.jsonl", *options, "--where", f"kind={kind}", way, "m")
        assert json.loads(shown.out)["results"]["correlations"][0]["value"] == pytest.approx(1)


def test_several_levels_and_tests(files, capsys):
    options = ("--level", "system,text", "--test", "permutation", "--resamples", "50", "--matrix")
    shown = correlate(capsys, *BOTH, *options).out
    assert (
        "system pearson" in shown
        and "text level, 2 inputs, 0 dropped" in shown
        and "clusters (human.fluency, text level" in shown
    )
    again = correlate(capsys, *BOTH, *options).out
    assert again == shown


def test_numbers_are_those_of_python(files, capsys):
    options = ("--interval", "0.9", "--over", "systems", "--resamples", "30", "--seed", "7", "--format", "json")
    rows = json.loads(correlate(capsys, *BOTH[:3], *options).out)["results"]["correlations"]
    matrix = rc.read_scores("scores.jsonl")
    result = rc.correlate(matrix, "human.fluency", interval=0.9, over="systems", resamples=30, seed=7)
    assert [(row["low"], row["high"]) for row in rows] == [row.interval for row in result]


@pytest.mark.traced
@pytest.mark.slow
def test_one_call_gives_what_is_printed(files, capsys):
    write("raters.jsonl", [{"system": name, "item": item, "rater": rater, "h": HUMAN[name] + rater * item}
                           for name in HUMAN for item in (1, 2) for rater in (0, 1)])  # fmt: skip
    options = ("--level", "system,text", "--coefficient", "pearson,kendall", "--interval", "0.9", "--resamples", "20")
    more = ("--test", "permutation,williams", "--accuracy", "--matrix", "--average", "--where", "rater=0")
    read = ("--where", "rater=1", "--human-file", "raters.jsonl", "--human", "h,human.fluency")
    scores, ratings = rc.read_scores(
        "scores.jsonl", human_files=["raters.jsonl"], where={"rater": [0, 1]}, average=True
    )
    result = rc.correlate(
        scores,
        ratings,
        ["system", "text"],
        ["pearson", "kendall"],
        criteria=["h", "human.fluency"],
        interval=0.9,
        resamples=20,
        tests=["permutation", "williams"],
        accuracy=True,
        matrix=True,
    )
    said = "".join(f"recapture: {warning}\n" for warning in result.warnings)
    assert "at the text level use the permutation test" in said
    forms = {"md": result.to_markdown, "latex": result.to_latex, "csv": result.to_csv, "json": result.to_json}
    for form, written in {"table": result.to_table, **forms}.items():
        shown = correlate(capsys, "scores.jsonl", *options, *more, *read, "--format", form)
        assert shown.out == written(), form
        assert shown.err == ("" if form == "json" else said), form
    assert str(result) == repr(result) == result.to_table() and "<table>" in result._repr_html_()
    assert len(result.comparisons) == 12 and len(result.accuracies) == 4 and len(result.matrices) == 4


def test_table_and_test_may_order_metrics_differently(files, capsys):
    """bleu alone has all inputs. On the input that both have (item 1), people rate 0, 1, 2, 3; bleu goes 1, 2, 4, 3
    (r = .8), ter turned round 2, 1, 4, 3 (r = .6). Over both inputs bleu's sums fall, 11, 10, 9, 8: r = -1."""
    table = {"a": (1, 2, 10), "b": (2, 1, 8), "c": (4, 4, 5), "d": (3, 3, 5)}
    rows = []
    for at, (name, (bleu, ter, other)) in enumerate(table.items()):
        rows.append({"system": name, "item": 1, "bleu": bleu, "ter": -ter, "h": at})
        rows.append({"system": name, "item": 2, "bleu": other, "h": at})
    write("gaps.jsonl", rows)
    shown = correlate(capsys, "gaps.jsonl", "--human", "h", "--test", "williams", "--format", "json")
    content = json.loads(shown.out)
    own = {row["metric"]: row["value"] for row in content["results"]["correlations"]}
    (pair,) = content["results"]["comparisons"]
    assert own["ter"] == pytest.approx(0.6) and own["bleu"] == pytest.approx(-1)
    assert pair["metric"] == "bleu"
    assert (pair["agreement"], pair["other_agreement"]) == pytest.approx((0.8, 0.6))
    (warning,) = content["warnings"]
    assert "bleu over ter; in the table of correlations it is the other way round" in warning
    shown = correlate(capsys, "gaps.jsonl", "--human", "h", "--test", "williams,permutation", "--level", "system,text")
    assert "at the text level use the permutation test" in shown.err and "bleu over ter" in shown.err
    assert "all metrics on the same cells: 4 systems, 1 input, 1 dropped" in shown.out  # Williams, one level
    assert "all metrics on the same cells (system level): 4 systems, 1 input, 1 dropped" in shown.out
    assert "all metrics on the same cells (text level): 4 systems, 1 input, 4 cells dropped" in shown.out


def test_several_raters(files, capsys):
    rows = [{"system": name, "item": item, "rater": rater, "h": HUMAN[name] + rater}
            for name in HUMAN for item in (1, 2) for rater in (-1, 0, 1)]  # fmt: skip
    write("raters.jsonl", rows)
    arguments = ("scores.jsonl", "--human-file", "raters.jsonl", "--human", "h", *BOTH[3:])
    assert "--average" in correlate(capsys, *arguments, code=2).err
    averaged = "24 rows are averaged into 8, one for each system and input\n"
    assert correlate(capsys, *arguments, "--average").out == TABLE.replace("human.fluency", "h") + averaged
    one = correlate(capsys, *arguments, "--where", "rater=0")  # a field of one file
    assert one.out == TABLE.replace("human.fluency", "h")
    some = correlate(capsys, *arguments, "--where", "rater=1", *(f"--where=system={name}" for name in "acd"))
    assert "3 systems" in some.out
    assert (
        "the field 'ratr' that rows are kept by (see --where,"
        in correlate(capsys, *arguments, "--where", "ratr=0", code=2).err
    )


def test_ratings_here_and_there(files, capsys):
    arguments = ("scores.jsonl", "--human-file", "systems.csv", "--format", "json")
    content = json.loads(correlate(capsys, *arguments, "--human", "overall,human.fluency").out)
    assert [(row["criterion"], row["metric"]) for row in content["results"]["correlations"]] == [
        (criterion, metric) for criterion in ("overall", "human.fluency") for metric in ("bleu", "ter")
    ]
    assert [row["value"] for row in content["results"]["correlations"]] == pytest.approx([0.8, 1, 0.8, 1])
    assert "in systems.csv or scores.jsonl" in correlate(capsys, *arguments, "--human", "zzz", code=2).err


def test_a_criterion_in_both_files_is_the_human_files(files, capsys):
    """Turned upside down there: bleu's .8 becomes -.8. Nobody calls the other copy, or its neighbour, a metric."""
    write("again.jsonl", [{**row, "human": {"fluency": -row["human"]["fluency"]}} for row in ROWS])
    shown = correlate(capsys, "scores.jsonl", "--human-file", "again.jsonl", "--human", "human.fluency")
    assert " bleu ↑   -0.8000" in shown.out
    assert shown.err == "recapture: left out, since which way is better is not known: length\n"


def test_patterns_of_metrics_and_contrary_directions(files, capsys):
    shown = correlate(capsys, *BOTH[:3], "--metrics", "b*", "--metrics", "t?r", "--lower-is-better", "bleu")
    assert " bleu ↓   -0.8000" in shown.out and "ter" in shown.out
    assert "recapture knows it as higher-is-better" in shown.err


def test_a_metric_with_a_bad_cell_is_missed(files, capsys):
    """bleu and ter are metrics that recapture knows; of mine and of length nobody says anything."""
    bad = [{**row, "bleu": "n.a." if at == 2 else row["bleu"], "mine": "?" if at == 4 else 1, "note": "x"}
           for at, row in enumerate(ROWS)]  # fmt: skip
    write("bad.jsonl", bad)
    shown = correlate(capsys, "bad.jsonl", *BOTH[1:], code=2)
    assert "bad.jsonl line 3: field 'bleu' must be a number, not the text 'n.a.'" in shown.err
    write("empty.jsonl", [{**row, "bleu": None} for row in bad])
    assert "empty.jsonl: field 'bleu' has no score" in correlate(capsys, "empty.jsonl", *BOTH[1:], code=2).err
    assert correlate(capsys, "bad.jsonl", *BOTH[1:], "--metrics", "ter").err == ""
    write("mine.jsonl", [{**row, "bleu": 1 + at % 4} for at, row in enumerate(bad)])
    shown = correlate(capsys, "mine.jsonl", *BOTH[1:])
    assert "not all of it is numbers: mine.jsonl line 5: field 'mine'" in shown.err and "'note'" not in shown.err
    for name in ("mine", "mi*"):
        shown = correlate(
            capsys, "mine.jsonl", *BOTH[1:], "--lower-is-better", name, "--higher-is-better", "b*", code=2
        )
        assert "mine.jsonl line 5: field 'mine' must be a number, not the text '?'" in shown.err


def test_directions_of_patterns(files, capsys):
    """People's numbers as errors: bleu's .8 becomes -.8."""
    shown = correlate(capsys, *BOTH[:3], "--lower-is-better", "human.*")
    assert " bleu ↑   -0.8000" in shown.out and "so are the ratings human.fluency" in shown.out
    shown = correlate(capsys, *BOTH[:3], "--lower-is-better", "b*", "--higher-is-better", "*u", code=2)
    assert "'bleu' is said to be better" in shown.err and shown.err.count("\n") == 1


def test_two_numbers_for_one_cell_in_three_files(files, capsys):
    """The first file has the cell, but not this column."""
    for name, column in (("one", "ter"), ("two", "bleu"), ("three", "bleu")):
        write(f"{name}.jsonl", [{"system": row["system"], "item": row["item"], column: 1, name: 2} for row in ROWS])
    shown = correlate(capsys, "one.jsonl", "two.jsonl", "three.jsonl", "--human", "one", code=2)
    assert "two.jsonl line 1 and three.jsonl line 1 both have 'bleu' of system 'a' on input '1'" in shown.err


def test_wide_tables_break(files, capsys, monkeypatch):
    monkeypatch.setattr("recapture.cli.options.terminal_width", lambda: 24)
    shown = correlate(capsys, *BOTH).out
    assert shown.startswith(" metric   pearson\n") and "\n metric   kendall\n" in shown
    assert max(map(len, shown.split("correlation with")[0].splitlines())) <= 24


def constant(name):
    return [{**row, name: 1} for row in ROWS]


CASES = {
    "no such file": (["nowhere.jsonl", "--human", "x"], ["nowhere.jsonl", "No such file"]),
    "no such file, no ending": (["nowhere"], ["nowhere cannot be read: No such file or directory\n"]),
    "a folder": (["."], [". cannot be read: Is a directory\n"]),
    "ratings not there": (["scores.jsonl", "--human-file", "nowhere", "--human", "x"], ["nowhere", "No such file"]),
    "an ending that says nothing": (["scores.txt"], ["scores.txt: scores are read from jsonl", "--input-format"]),
    "no ratings named": (["scores.jsonl"], ["--human", "one of length, human.fluency, human.tone"]),
    "unknown criterion": (["scores.jsonl", "--human", "human.flueny"], ["did you mean human.fluency"]),
    "criterion not near any": (
        ["scores.jsonl", "--human", "zzz"],
        ["'zzz'", "scores.jsonl", "known: human.fluency, human.tone, length"],
    ),
    "unknown metric": ([*BOTH, "--metrics", "bleu,tre"], ["'tre'", "did you mean ter"]),
    "no direction": ([*BOTH, "--metrics", "length"], ["length", "--lower-is-better"]),
    "both directions": ([*BOTH, "--lower-is-better", "ter", "--higher-is-better", "ter"], ["--lower-is-better"]),
    "direction of nothing": ([*BOTH, "--lower-is-better", "tr"], ["'tr'", "no column"]),
    "constant ratings": (["scores.jsonl", "--human", "human.tone"], ["'human.tone' is the same for all 4"]),
    "constant metric": (["constant.jsonl", "--human", "human.fluency"], ["'bleu' is the same for all 4 systems"]),
    "no input shared": (["unshared.jsonl", "--human", "human.fluency"], ["no input", "all 4", "--item-field"]),
    "two systems": (["two.jsonl", "--human", "human.fluency"], ["2 systems", "at least 3"]),
    "three for Williams": (["three.jsonl", "--human", "human.fluency", "--test", "williams"], ["four", "3"]),
    "Williams of texts": ([*BOTH, "--test", "williams", "--level", "text"], ["Williams", "text level"]),
    "duplicate rows": (["twice.jsonl", "--human", "human.fluency"], ["line 1 and", "line 9", "'a'", "--average"]),
    "not a number": (["words.jsonl", "--human", "human.fluency", "--metrics", "bleu"], ["line 2", "'bleu'"]),
    "ratings not numbers": (["words.jsonl", "--human", "note"], ["words.jsonl line 1", "'note'", "the text 'good'"]),
    "no system": (["nameless.jsonl", "--human", "h"], ["nameless.jsonl line 1", "'system'", "--system-field"]),
    "no such system field": ([*BOTH, "--system-field", "team"], ["scores.jsonl line 1", "'team'"]),
    "no such item field": ([*BOTH, "--item-field", "items"], ["scores.jsonl line 1", "'items'", "did you mean item"]),
    "no row left": ([*BOTH, "--where", "system=e"], ["no row has system 'e'"]),
    "bad condition": ([*BOTH, "--where", "system"], ["FIELD=VALUE"]),
    "unknown test": ([*BOTH, "--test", "wiliams"], ["'wiliams'", "did you mean williams"]),
    "unknown level": ([*BOTH, "--level", "segment"], ["'segment'", "did you mean text?"]),
    "unknown over": ([*BOTH, "--over", "rows"], ["'rows'", "systems or inputs"]),
    "level of interval": ([*BOTH, "--interval", "95"], ["--interval", "95"]),
    "text level of whole systems": (
        ["scores.jsonl", "--human-file", "systems.csv", "--human", "overall", "--level", "text"],
        ["'overall' has scores of whole systems", "text level"],
    ),
    "one metric to compare": ([*BOTH, "--metrics", "bleu", "--test", "bootstrap"], ["at least two"]),
    "input as output": ([*BOTH, "--output", "scores.jsonl"], ["scores.jsonl", "is an input"]),
    "stdin twice": (["-", "--human-file", "-", "--human", "x"], ["standard input (-)"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused_with_one_sentence(files, capsys, name):
    write("constant.jsonl", constant("bleu"))
    write("unshared.jsonl", [{**row, "item": number} for number, row in enumerate(ROWS)])
    write("two.jsonl", [row for row in ROWS if row["system"] in "ab"])
    write("three.jsonl", [row for row in ROWS if row["system"] in "abc"])
    write("twice.jsonl", [*ROWS, ROWS[0]])
    write("words.jsonl", [{**row, "note": "good", "bleu": "x" if at == 1 else 1} for at, row in enumerate(ROWS)])
    write("nameless.jsonl", [{"id": 1, "h": 2}])
    write("scores.txt", ROWS)
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    arguments, words = CASES[name]
    output = [] if "--output" in arguments else ["--output", "out.md"]
    shown = correlate(capsys, *arguments, *output, code=2)
    assert shown.out == "" and shown.err.count("\n") == 1 and shown.err.startswith("recapture: ")
    assert all(word in shown.err for word in words), shown.err
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_help_shows_examples(capsys):
    assert run(["correlate", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown and "--lower-is-better" in shown


def test_williams_at_the_global_level_is_refused(files, capsys):
    shown = correlate(capsys, *BOTH, "--level", "global", "--test", "williams", code=2)
    assert shown.out == "" and shown.err.count("\n") == 1
    assert "at the global level use the bootstrap over systems and inputs, or the permutation test" in shown.err


def test_captions_say_sides_and_ties(files, capsys):
    options = ("--test", "permutation", "--accuracy", "--resamples", "20")
    shown = correlate(capsys, *BOTH[:3], *options, "--soft-ties", "listed-order").out
    assert "p (two-sided, not adjusted) <= 0.05 opens the next" in shown
    # 2^8 ways to swap eight cells are more than 20, so 20 are drawn: 1 / 21.
    assert "smallest that can come out: p 0.048, p (Holm) 0.048, p (one-sided) 0.048" in shown
    assert "listed-order: p of the system listed first, as in mt-metrics-eval" in shown
    content = json.loads(correlate(capsys, *BOTH[:3], *options, "--format", "json").out)
    assert {row["soft_ties"] for row in content["results"]["accuracies"]} == {"both-orders"}
    assert {row["by"] for row in content["results"]["clusters"]} == {"p"}
    assert "unknown rule for ties 'wmt'" in correlate(capsys, *BOTH, "--soft-ties", "wmt", code=2).err
