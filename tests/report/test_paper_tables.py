"""Tables for papers: chosen rows, digits, transposed, where intervals stand; LaTeX that a LaTeX would take."""

import copy
import pickle
import re
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.report.report import Measured, NumberCell, Report, decimals

HUMAN, NEAR, FAR = np.random.default_rng(3).standard_normal((3, 40, 3))
METRICS = ["mmd", "precision-recall", "density-coverage"]


@pytest.fixture(scope="module")
def scored():
    return rc.evaluate(HUMAN, {"near_1": NEAR, "far & off": FAR + 1}, METRICS, interval=0.9, ceiling=False)


@pytest.fixture(scope="module")
def compared():
    return rc.compare(HUMAN, {"near": NEAR, "far": FAR + 1}, ["mmd", "density-coverage"], ceiling=False)


@pytest.fixture(scope="module")
def every(scored, compared):
    """A result of each kind."""
    texts = ["a cat sat", "a dog ran", "rain fell", "we ate soup"]
    one = rc.Context("one", ["a b c", "a b d", "c d"], ["a b c", "b c d"])
    return {
        "sets": scored,
        "parts": rc.evaluate(HUMAN, {"near": NEAR}, ["mmd", "prd"]),
        "compare": compared,
        "pairs": rc.evaluate_pairs(texts, {"x{}": texts[::-1], "y%": texts}, ["bleu", "rouge"], interval=0.9),
        "contexts": rc.evaluate_contexts([one], ["trm-rouge-l", "rouge-l"], interval=0.9, resume=False),
        "diagnose": rc.diagnose(texts * 5, ["a $cat_sat# ^~", *texts[:3]] * 5, encoder="bag-of-words"),
        "correlate": rc.correlate(
            {"bleu": [[0, 0.2], [0.1, 0.3], [0.3, 0.5], [0.2, 0.1]], "ter": [[0, 1], [1, 0], [0, 0], [1, 1]]},
            {"people": [[0, 2], [1, 3], [2, 4], [0, 1]]},
            interval=0.9,
        ),
    }


def compiled(text):
    """The cells of every table, as LaTeX's own rules part them; refuses what a LaTeX would stop at.

    No LaTeX is needed: an & outside of a command ends a cell, two backslashes end a row, % begins a comment, braces are
    in balance, and # $ _ ^ ~ stand behind a backslash or in mathematics.
    """
    code = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    tables = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", code, re.DOTALL)
    assert code.count("\\begin{tabular}") == code.count("\\end{tabular}") == len(tables) > 0
    made = []
    for columns, body in tables:
        rows = []
        assert re.match(r"\\toprule\n.*\n\\midrule\n", body) and body.endswith("\\bottomrule\n")
        for line in re.sub(r"\\(toprule|midrule|bottomrule)\n", "", body).splitlines():
            assert line.endswith(r" \\") and not line.startswith(("[", "*"))  # a length behind the end of a row
            cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
            for cell in cells:
                mathematics = re.sub(r"\$\\(uparrow|downarrow|le|pm)\$", "", cell)
                assert not re.search(r"(?<!\\)[#$%_^~]", mathematics), cell
                assert not re.search("[<>|±]", mathematics), cell
                bare = re.sub(r"\\[{}]", "", cell)
                assert bare.count("{") == bare.count("}"), cell
            assert len(cells) == len(columns), line
            rows.append([cell.strip() for cell in cells])
        made.append(rows)
    return made


ARRANGEMENTS = [
    {},
    {"digits": 2},
    {"transpose": True, "digits": 0},
    {"intervals": "below", "digits": 3},
    {"intervals": "±", "transpose": True},
    {"intervals": None},
    {"intervals": "below", "transpose": True},
]


@pytest.mark.parametrize("how", ARRANGEMENTS, ids=str)
def test_latex_of_every_result_compiles(every, how):
    for name, result in every.items():
        assert compiled(result.to_latex(**how)), name


@pytest.mark.parametrize("how", ARRANGEMENTS, ids=str)
def test_markdown_of_every_result_has_whole_rows(every, how):
    for name, result in every.items():
        lines = [line for line in result.to_markdown(**how).splitlines() if line.startswith("|")]
        counts = [len(re.split(r"(?<!\\)\|", line)) for line in lines]
        rule = [place for place, line in enumerate(lines) if re.fullmatch(r"\|(---:?\|)+", line)]
        assert rule, name
        for start, end in zip(rule, [*[place - 1 for place in rule[1:]], len(lines)], strict=True):
            assert len(set(counts[start - 1 : end])) == 1, name


def grid(markdown):
    """The first table as {row: {column: cell}}."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    heads, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)
    return {row[0]: dict(zip(heads[1:], row[1:], strict=True)) for row in rows}


def test_digits_are_those_of_decimal_arithmetic(scored):
    """Python's decimal module rounds the exact binary number to even halves: another route than formatting."""
    shown = grid(scored.to_markdown(digits=2, intervals=None))
    for candidate, by_metric in scored.items():
        for name, value in by_metric["density-coverage"].values.items():
            expected = Decimal(value).quantize(Decimal("0.01"), ROUND_HALF_EVEN)
            assert Decimal(shown[candidate.replace("&", "&amp;")][f"{name} ↑"]) == expected


def test_digits_are_decimals_for_small_numbers_too():
    """One rule: decimals, never digits that count. What is below 0 keeps its sign, and 0 itself has none."""
    assert [decimals(value, 2) for value in (0.0, -0.0, 0.004, -0.0041234, 0.006)] == [
        "0.00", "0.00", "0.00", "-0.00", "0.01",
    ]  # fmt: skip
    assert decimals(0.0041, 2, plus=True) == "+0.00" and decimals(0.000256, 4) == "0.0003"
    assert [decimals(value, 1, plus=True) for value in (0.25, -0.75, 0.0)] == ["+0.2", "-0.8", "0.0"]
    assert decimals(float("nan"), 2) == "-" and decimals(float("inf"), 2) == "inf"


def written(**how):
    """A table with an even interval, an uneven one, a band with a share behind it, and a number without anything."""
    rows = [
        ["even", NumberCell("0.5000 [0.4000, 0.6000] p 0.03", Measured(0.5, (0.4, 0.6), aside="p 0.03"))],
        ["uneven", NumberCell("0.9000 [0.7000, 1.0000]", Measured(0.9, (0.7, 1.0)))],
        ["band", NumberCell("0.5000 (0.4000 to 0.6000)", Measured(0.5, (0.4, 0.6), band=True))],
        ["bare", NumberCell("0.1234", Measured(0.12341))],
        ["mean", NumberCell("0.93 ± 0.01 [0.90, 0.96]", Measured(0.931, (0.901, 0.961), 0.0123))],
        ["words", "as they are"],
    ]
    report = Report("x", [rc.Table(["name", "value"], rows, ["[low, high]: 95 %", "value ± its error", "other"])])
    text = report.arranged(**how).to_markdown()
    return [cells["value"] for cells in grid(text).values()], [line for line in text.splitlines()[-4:] if line]


def test_where_intervals_stand():
    """By hand: half of [0.4, 0.6] is 0.1; 0.9 is 0.2 above 0.7 and 0.1 below 1."""
    usual = [
        "0.5000 [0.4000, 0.6000] p 0.03", "0.9000 [0.7000, 1.0000]", "0.5000 (0.4000 to 0.6000)", "0.1234",
        "0.93 ± 0.01 [0.90, 0.96]", "as they are",
    ]  # fmt: skip
    assert written()[0] == usual
    assert written(digits=1)[0] == [
        "0.5 [0.4, 0.6] p 0.03", "0.9 [0.7, 1.0]", "0.5 (0.4 to 0.6)", "0.1", "0.9 ± 0.0 [0.9, 1.0]", "as they are",
    ]  # fmt: skip
    assert written(digits=2, intervals="below")[0] == [
        "0.50<br>[0.40, 0.60] p 0.03", "0.90<br>[0.70, 1.00]", "0.50<br>(0.40 to 0.60)", "0.12",
        "0.93 ± 0.01<br>[0.90, 0.96]", "as they are",
    ]  # fmt: skip
    cells, below = written(digits=2, intervals="±")
    assert cells == [
        "0.50 ± 0.10 p 0.03", "0.90 (+0.10, -0.20)", "0.50 ± 0.10", "0.12", "0.93 ± 0.03", "as they are",
    ]  # fmt: skip
    assert not any(line.startswith("value ±") for line in below) and below[-1].startswith("±: half")
    cells, below = written(digits=2, intervals=None)
    assert cells == ["0.50 p 0.03", "0.90", "0.50", "0.12", "0.93 ± 0.01", "as they are"]
    assert not any(line.startswith("[low") for line in below)
    assert written(intervals="pm") == written(intervals="±")
    # Without digits numbers keep those they have.
    assert written(intervals="±")[0][-2:] == ["0.93 ± 0.0300", "as they are"]
    assert written(intervals=None)[0][4] == "0.93 ± 0.01"


def test_cells_travel():
    cell = NumberCell("0.5 [0.4, 0.6]", Measured(0.5, (0.4, 0.6)), "bold")
    for other in (pickle.loads(pickle.dumps(cell)), copy.deepcopy(cell)):
        assert (other, other.measured, other.style) == (cell, cell.measured, "bold")


def test_intervals_below_are_a_row_of_their_own_in_latex(compared):
    first, below = compiled(compared.to_latex(rows="mmd", intervals="below", digits=2))[1][1:3]
    difference = compared.differences["near", "far"]["mmd"]
    assert first[:4] == ["near - far", "mmd", "near", f"{difference.value:.2f}"]
    assert below[:3] == ["", "", ""] and f"[{difference.low:.2f}, {difference.high:.2f}]" in below[3]
    assert "interval" not in compared.to_latex(rows="mmd", intervals="below").partition(r"\midrule")[0].split("&")


def test_rows_are_chosen_by_metric_by_number_and_by_both(scored, compared):
    heads = list(grid(scored.to_markdown(rows=["density-coverage", "mmd"]))["near_1"])
    assert heads == ["density ↑", "coverage ↑", "mmd ↓"]  # in the order of asking
    for asked in ("coverage", "density-coverage.coverage", "density_coverage coverage", ["Coverage"]):
        assert list(grid(scored.to_markdown(rows=asked))["near_1"]) == ["coverage ↑"]
    text = compared.to_markdown(rows="density-coverage.coverage, rank")
    systems, rest = text.split("**Differences**")
    rows = [line.split(" | ")[0] for line in systems.splitlines() if line.startswith("| ")]
    assert rows == ["| number", "| density-coverage.coverage", "| rank"]
    assert "mmd" not in "".join(line for line in rest.splitlines() if line.startswith("|"))


def test_rows_that_tables_leave_out_can_be_chosen():
    """A comparison without names of metrics shows few of its numbers; JSON has all."""
    usual = rc.compare(HUMAN, {"near": NEAR, "far": FAR + 1}, ceiling=False)
    hidden = [name for name in usual.numbers if name not in usual.shown]
    assert hidden and f"| {hidden[0]} |" not in usual.to_markdown()
    assert f"| {hidden[0]} |" in usual.to_markdown(rows=hidden[:1])
    assert f"| {hidden[0]} |" not in usual.to_markdown()  # the comparison itself stays as it was


def test_transposed_is_the_same_with_rows_as_columns(scored):
    plain, turned = (scored.to_markdown(rows=METRICS, transpose=turn) for turn in (False, True))
    lines = [line.strip("|").split(" | ") for line in turned.splitlines() if line.startswith("| ")]
    heads, *rows = ([cell.strip() for cell in line] for line in lines)
    assert heads == ["metric", "number", "", "near_1", "far &amp; off"]
    assert [row[0] for row in rows] == ["mmd", *["precision-recall"] * 2, *["density-coverage"] * 2]  # names are kept
    labels = {"mmd value": "mmd"}
    again = {
        candidate: {f"{labels.get(f'{row[0]} {row[1]}', row[1])} {row[2]}": row[3 + place] for row in rows}
        for place, candidate in enumerate(heads[3:])
    }
    assert again == grid(plain)


def test_a_comparison_transposed_has_systems_as_rows(compared):
    text = compared.to_markdown(rows="mmd", transpose=True, digits=3)
    shown = grid(text[text.index("| ") :])
    assert [Decimal(shown[name]["mmd ↓"].strip("*")) for name in ("near", "far")] == [
        Decimal(compared.values[name]["mmd"]).quantize(Decimal("0.001")) for name in ("near", "far")
    ]


@pytest.mark.parametrize(
    "how, said",
    [
        ({"rows": "coverge"}, "no row 'coverge'; did you mean coverage?"),
        ({"rows": "nonsense"}, "known: .*density-coverage.coverage, .*mmd"),
        ({"rows": []}, "rows are names of numbers or metrics"),
        ({"rows": 3}, "rows are names of numbers or metrics"),
        ({"rows": ["mmd", 3]}, "rows are names of numbers or metrics"),
        ({"digits": -1}, "digits must be a whole number of at least 0"),
        ({"digits": 1.5}, "digits must be a whole number"),
        ({"digits": 99}, "digits is at most 15"),
        ({"intervals": "above"}, "intervals stand beside, below, as ± "),
        ({"transpose": "yes"}, "transpose must be true or false"),
        ({"tables": 3}, "tables are titles, or words of them, one or more, not 3"),
        ({"tables": "sytems"}, "no table 'sytems'; .*Whole sets|without a title"),
    ],
)
def test_what_is_refused(scored, how, said):
    for form in (scored.to_latex, scored.to_markdown):
        with pytest.raises(rc.InputError, match=said):
            form(**how)


def test_which_tables_are_written(compared):
    """By title, by a word of it, in the order of asking; a title goes before tables that have it as a word."""

    def first_lines(**how):
        blocks = compared.to_latex(**how).split(r"\end{tabular}")[:-1]
        lines = [block.strip().splitlines() for block in blocks]
        return [next(line for line in block if line[2:] in known).removeprefix("% ") for block in lines]

    known = [table.title for table in compared.report().tables]
    assert len(known) > 2 and first_lines() == known
    assert first_lines(tables="systems") == ["Systems"]
    assert first_lines(tables=["Differences", "alike"]) == ["Differences", "How alike systems are to each other"]
    assert first_lines(tables="differences,systems", rows="mmd", digits=2) == ["Differences", "Systems"]
    with pytest.raises(rc.InputError, match="no table 'sytems'; did you mean Systems"):
        compared.to_markdown(tables="sytems")


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in {"human": HUMAN, "near": NEAR, "far": FAR + 1}.items():
        np.save(f"{name}.npy", rows)
    return tmp_path


SCORE = ["score", "-r", "human.npy", "-c", "near.npy", "far.npy", "--metrics", "mmd,density-coverage", "--no-ceiling"]


def test_the_command_line_has_the_same(vectors, capsys):
    shape = ["--rows", "coverage,mmd", "--digits", "2", "--transpose", "--intervals", "pm"]
    assert run([*SCORE, "--interval", "0.9", "--format", "latex", *shape]) == 0
    candidates = {"near.npy": NEAR, "far.npy": FAR + 1}
    scored = rc.evaluate(HUMAN, candidates, ["mmd", "density-coverage"], interval=0.9, ceiling=False)
    expected = scored.to_latex(rows=["coverage", "mmd"], digits=2, transpose=True, intervals="±")
    assert compiled(capsys.readouterr().out) == compiled(expected)
    assert r"$\pm$" in expected and len(compiled(expected)[0]) == 3


@pytest.mark.parametrize(
    "more, said",
    [
        (["--format", "md", "--rows", "coverge"], "no row 'coverge'; did you mean coverage? (see --rows)"),
        (["--rows", "mmd", "--digits", "2"], "--rows and --digits lay out tables of --format md and latex, not table"),
        (["-o", "out.json", "--transpose"], "--transpose lay out tables of --format md and latex, not json"),
        (["-o", "out.md", "--intervals", "x"], "as ± (pm) or nowhere (none), not 'x' (see --intervals)"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(vectors, capsys, more, said):
    assert run([*SCORE, *more]) == 2
    shown = capsys.readouterr()
    assert said in shown.err and shown.out == "" and len(shown.err.splitlines()) == 1
    assert not list(vectors.glob("out.*"))


def test_all_commands_with_tables_have_the_options():
    from recapture.cli.app import app
    from recapture.cli.compare import KINDS

    commands = [*(app.commands[name] for name in ("score", "pairs", "contexts", "compare", "inspect", "correlate"))]
    for command in [*commands, *KINDS.values()]:
        known = {option for parameter in command.params for option in parameter.opts}
        assert {"--rows", "--tables", "--digits", "--transpose", "--intervals"} <= known, command.name
