"""Names and notes with anything in them, in every form of a report: harmless, and in JSON as they are."""

import csv
import html
import io
import json

import numpy as np
import pytest

import recapture as rc

ROWS = np.random.default_rng(2).normal(size=(12, 3))


def results(*names):
    return rc.evaluate(ROWS, dict.fromkeys(names, ROWS + 1), "mmd", ceiling=False)


def test_markdown():
    r"""CommonMark: a backslash before ASCII punctuation is that character; GFM: a cell ends at a bare pipe."""
    text = results("a|b", "c\\", "`d`", "e\nf", "<b>g</b>", "\x1b[31mh").to_markdown()
    cells = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")][1:]
    assert cells == [r"| a\|b", r"| c\\", r"| \`d\`", "| e f", "| &lt;b>g&lt;/b>", r"| \\x1b[31mh"]


def test_spreadsheets():
    """OWASP's list of what begins a formula: = + - @, tab and carriage return."""
    names = ["=1+1", "+x", "-x", "@x", "\t=x", "\r=x", "-2+3+cmd|' /C calc'!A0", "plain", "a=b", "'quoted"]
    rows = list(csv.DictReader(io.StringIO(results(*names).to_csv())))
    shown = ["'=1+1", "'+x", "'-x", "'@x", "'\t=x", "\\x0d=x", "'-2+3+cmd|' /C calc'!A0", "plain", "a=b", "'quoted"]
    assert [row["candidate"] for row in rows] == shown
    assert all(0 <= float(row["value"]) < 10 for row in rows)


def test_numbers_stay_numbers_in_spreadsheets():
    cells = ["-1.5", "+2", "-1e-05", "-0.12 [-0.3, 0.1]", "-.5 ± .1", "-", "-inf", "-12 %", "-0.2 p 0.03", "-1 to +2"]
    table = rc.Table(["x", *cells], [["a", *cells]])
    assert list(csv.reader(io.StringIO(table.to_csv())))[1] == ["a", *cells]
    sums = ["-2+3", "-2 -3", "+1-1", "-1(2)+3"]  # which a spreadsheet would work out
    shown = list(csv.reader(io.StringIO(rc.Table(["x", *sums], [["a", *sums]]).to_csv())))[1]
    assert shown == ["a", *("'" + cell for cell in sums)]


@pytest.mark.parametrize("form", ["to_table", "to_markdown", "to_latex", "to_html", "to_csv", "to_json"])
def test_no_terminal_is_told_anything(form):
    odd = "\x1b]0;t\x07 \x9b2J \u202e \r \x00 \x7f"
    text = getattr(results(odd), form)()
    assert not set("\x1b\x07\x9b\u202e\r\x00\x7f") & set(text)
    assert "202e" in text


def test_json_has_names_as_they_are():
    odd = "\x1b]0;t\x07\x9b\u202e|\\`<&=\u2028\n\ud800"
    assert list(json.loads(results(odd).to_json())["results"]) == [odd]


def test_html_is_escaped_everywhere():
    odd = "<script>alert('x')</script>&"
    both = results(odd)
    assert odd not in both.to_html() and html.escape(odd) in both.to_html()
    assert "<script" not in both[odd]["mmd"]._repr_html_()


def test_a_terminal_table_has_one_row_for_each_name():
    table = rc.Table(["a", "b"], [["x\ny", "1"], ["z\tz", "2"]]).to_table()
    assert r"x\ny" in table and r"z\tz" in table and len(table.splitlines()) == 4


def test_rows_of_latex_that_begin_with_a_bracket():
    """Behind the end of a row, LaTeX takes [x] for a length and * for a way to end it."""
    lines = rc.Table(["x", "y"], [["[a]", "1"], ["*b", "2"]]).to_latex().splitlines()
    assert "{}[a] & 1 \\\\" in lines and "{}*b & 2 \\\\" in lines
