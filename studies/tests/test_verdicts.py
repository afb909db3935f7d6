"""Every rule by which claims are judged, on numbers worked by hand, and claims that are counted once."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from recapture import InputError, Table
from recapture_studies import cells
from recapture_studies.paper import statements
from recapture_studies.results_page import results_page
from recapture_studies.study import Claim, Findings, Section, Setup, find_study, list_studies
from recapture_studies.verdicts import (
    RULES,
    Estimate,
    Piece,
    Verdict,
    above,
    absent,
    differ,
    found,
    in_range,
    less,
    moves,
    near,
    no_alarm,
    not_found,
    of_correlation,
    of_spread,
    one_claim,
    over,
    stays,
    together,
)
from recapture_studies.write import write_findings

YES, PART, NO, OPEN = "holds", "holds in part", "does not hold", "cannot be told"


@pytest.mark.parametrize(
    "difference, holds",
    [
        (Estimate(0.1, 0.01, 0.2), YES),
        (Estimate(0.1, -0.01, 0.2), OPEN),
        (Estimate(0.1, 0.0, 0.2), OPEN),  # 0 is in the interval
        (Estimate(-0.1, -0.2, -0.01), NO),
        (Estimate(0.3, p=0.05), YES),
        (Estimate(0.3, p=0.051), OPEN),
        (Estimate(-0.3, p=0.01), NO),
        (Estimate(0.001), YES),
        (Estimate(0.0), NO),  # equal as printed
        (Estimate(math.nan), OPEN),
    ],
)
def test_comparison(difference, holds):
    verdict = above(difference)
    assert verdict.holds == holds and verdict.rule == "comparison"
    assert ("plain numbers" in verdict.because) == (difference.plain and not math.isnan(difference.value))


def test_the_interval_of_a_difference():
    """Zou: .5 in .3 to .6 less .2 in .16 to .5 is .3, down by sqrt(.2^2 + .3^2), up by sqrt(.1^2 + .04^2)."""
    gap = less(Estimate(0.5, 0.3, 0.6), Estimate(0.2, 0.16, 0.5))
    assert gap[:3] == pytest.approx((0.3, 0.3 - math.sqrt(0.13), 0.3 + math.sqrt(0.0116)))
    # A fixed number has no error of its own.
    assert less(Estimate(0.5, 0.3, 0.6), 0.4)[:3] == pytest.approx((0.1, -0.1, 0.2))
    # An error that is known on one side alone is none.
    assert less(Estimate(0.5, 0.3, 0.6), Estimate(0.2)).plain and less(Estimate(0.5), 0.4).plain


def test_means_with_their_intervals():
    """1, 2, 3: mean 2, standard deviation 1, t of 2 degrees of freedom 4.303: 2 ± 2.484."""
    assert over([1, 2, 3])[:3] == pytest.approx((2, 2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)))
    assert of_spread(2.0, 1.0, 3)[:3] == pytest.approx(over([1, 2, 3])[:3])
    assert over([1]).plain and of_spread(1.0, 0.5, 1).plain and of_spread(1.0, math.nan, 9).plain


def test_the_interval_of_a_correlation():
    """Fisher's z as scipy has it."""
    x, y = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 7, 5]
    r = stats.pearsonr(x, y)
    assert of_correlation(r.statistic, 6)[1:3] == pytest.approx(tuple(r.confidence_interval()), abs=1e-4)
    assert of_correlation(0.9, 3).plain and of_correlation(1.0, 9).plain


@pytest.mark.parametrize(
    "value, holds",
    [
        (Estimate(0.75), YES),  # .05 away
        (Estimate(0.7501), NO),
        (Estimate(0.7, 0.66, 0.74), YES),
        (Estimate(0.7, 0.6, 0.8), OPEN),
        (Estimate(0.9, 0.8, 1.0), NO),
        (Estimate(0.5, 0.4, 0.66), OPEN),
        (Estimate(math.nan), OPEN),
    ],
)
def test_near(value, holds):
    verdict = near(value, 0.7)
    assert verdict.holds == holds and verdict.rule == "near"


@pytest.mark.parametrize(
    "change, spearman, up, holds",
    [
        (Estimate(-0.1, -0.15, -0.05), -0.9, False, YES),
        (Estimate(-0.1, -0.15, -0.05), -0.7, False, NO),  # does not follow the steps
        (Estimate(-0.1, -0.25, 0.05), -0.9, False, OPEN),
        (Estimate(0.1, 0.05, 0.15), 0.9, False, NO),
        (Estimate(0.1, 0.05, 0.15), 0.8, True, YES),
        (Estimate(-0.1, -0.15, -0.05), -0.9, True, NO),
        (Estimate(-0.1), -1.0, False, YES),
    ],
)
def test_courses_that_move(change, spearman, up, holds):
    verdict = moves(change, spearman, up)
    assert verdict.holds == holds and verdict.rule == "course"


@pytest.mark.parametrize(
    "change, holds",
    [
        (Estimate(-0.02, -0.05, 0.01), YES),
        (Estimate(-0.02, -0.06, 0.02), OPEN),
        (Estimate(-0.2, -0.3, -0.1), NO),
        (Estimate(0.2, 0.06, 0.3), NO),
        (Estimate(0.05), YES),
        (Estimate(-0.051), NO),
        (Estimate(math.nan), OPEN),
    ],
)
def test_courses_that_stay(change, holds):
    assert stays(change).holds == holds


def test_a_number_that_falls_by_little_does_both():
    little = Estimate(-0.02, -0.03, -0.01)
    assert moves(little, -1.0).holds == stays(little).holds == YES


def test_several_numbers_that_differ():
    """Two pairs: z of a joint 5 % is 2.2414, so an interval of ± 1.96 errors grows by 1.1436."""
    grown = 2.241403 / 1.96
    sure, unsure = Estimate(0.1, 0.1 - 0.099 / grown, 0.1 + 0.1), Estimate(0.1, 0.1 - 0.101 / grown, 0.1 + 0.1)
    wide = Estimate(0.0, -1.0, 1.0)
    assert differ([sure, wide]).holds == YES and differ([unsure, wide]).holds == OPEN
    assert differ([Estimate(0.0, -0.04, 0.04)] * 2).holds == NO
    assert differ([Estimate(0.0, -0.045, 0.04)] * 2).holds == OPEN  # -.0515 at the joint level
    assert differ([]).holds == differ([Estimate(0.3)]).holds == OPEN


def test_ranges_p_values_and_what_is_absent():
    assert [in_range(share).holds for share in (0.95, 0.94, 0.06, 0.05)] == [YES, OPEN, OPEN, NO]
    assert [found(p).holds for p in (0.05, 0.051)] == [YES, NO] and not_found(0.051).holds == YES
    assert absent("CLIP") == Verdict(OPEN, "not here: CLIP", "absent")


def test_false_alarms():
    """Clopper and Pearson as scipy has them: of 200 tests 16 may be chance (low .0464), 18 are not (low .0542)."""
    for alarms, holds in ((16, YES), (18, NO)):
        low = stats.binomtest(alarms, 200).proportion_ci(method="exact").low
        assert (low <= 0.05) == (holds == YES)
        assert no_alarm(alarms / 200, 200).holds == holds
    assert no_alarm(18 / 200, 200, looked_at=9).holds == YES  # one of nine that were looked at
    assert no_alarm(0.0, 50).holds == YES


@pytest.mark.parametrize(
    "parts, holds",
    [
        ([YES] * 3, YES),
        ([YES, YES, OPEN], PART),
        ([YES, OPEN, OPEN], OPEN),
        ([YES, OPEN], PART),
        ([YES, NO], PART),
        ([YES, NO, NO], NO),
        ([NO, OPEN], NO),
        ([NO] * 2, NO),
        ([PART, PART], PART),
        ([PART, NO], NO),
        ([OPEN], OPEN),
        ([], OPEN),
    ],
)
def test_several_parts(parts, holds):
    assert together(Verdict(part, "", "comparison") for part in parts).holds == holds


def test_what_is_said_of_several_parts():
    verdict = together([above(Estimate(1.0)), above(Estimate(-1.0, -2.0, -0.5)), near(Estimate(0.5, 0.1, 0.9), 0.5)])
    assert verdict == Verdict(PART, "of 3 parts 1 hold, 1 do not, 1 cannot be told; 1 by plain numbers",
                              "comparison, near")  # fmt: skip


def piece(holds, own=False, chosen="fixed", of="x"):
    return Piece(holds, own, chosen, of)


@pytest.mark.parametrize(
    "pieces, holds, word",
    [
        ([piece(NO)], NO, ""),
        ([piece(YES), piece(YES)], YES, ""),
        ([piece(YES, of="a"), piece(NO, of="b")], PART, "depends on a: holds; b: does not hold"),
        ([piece(YES), piece(NO, own=True)], NO, "own data decide"),
        ([piece(YES, chosen="same"), piece(NO, chosen="other")], NO, "not chosen on the same data"),
        ([piece(YES, chosen="same"), piece(OPEN)], OPEN, "not chosen on the same data"),
        ([piece(YES), piece(OPEN)], YES, "what can be told decides"),
        ([piece(YES, own=True, chosen="same"), piece(NO)], YES, "own data decide"),
        ([piece(YES, chosen="same"), piece(YES, chosen="same")], YES, ""),
    ],
)
def test_several_pieces_of_evidence(pieces, holds, word):
    verdict, why = one_claim(pieces)
    assert verdict == holds and word in why and bool(why) == bool(word)


def test_in_and_out_of_sample():
    made = Claim("mark-evaluate/figure-3/fid", absent("x"), "h", "d")
    samples = {(own, chosen): replace(made, own=own, chosen=chosen).sample
               for own in (False, True) for chosen in ("fixed", "same", "other")}  # fmt: skip
    out = [key for key, sample in samples.items() if sample == "out of sample"]
    assert out == [(False, "fixed"), (False, "other"), (True, "other")]


def write(folder, study, *claims):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    findings = Findings([Section("t", Table(["k"], [["1"]]))], lambda figure: None, ["Said."])
    own = replace(find_study(study), judge=lambda tables, settings: claims)
    write_findings(own, findings, Setup(folder), folder)


def test_a_claim_of_two_studies_is_counted_once(tmp_path):
    """Two studies of two papers, three pieces of evidence on one claim: one row, one count, under the claim's paper."""
    fid = Claim("mark-evaluate/figure-3/fid", Verdict(YES, "b", "course"), "it grows by 7", "Brown")
    write(tmp_path, "wmt17", fid, replace(fid, verdict=Verdict(NO, "b", "course"), here="it falls by 2", data="XNLI"))
    write(tmp_path, "summarisation", replace(fid, here="it grows by 9", data="CNN"))
    page = results_page(tmp_path, tmp_path / "page.md")
    rows = [line for line in page.splitlines() if "it grows by 7" in line]
    assert len(rows) == 1 and all(words in rows[0] for words in ("it grows by 9", "it falls by 2", "[summarisation]"))
    assert "**holds in part** (depends on CNN: holds; Brown: holds; XNLI: does not hold)" in rows[0]
    counts = {line.split("|")[1].strip(): line.split("|")[2:6] for line in page.splitlines()[:12] if "|" in line}
    assert [int(cell) for cell in counts["Mark-Evaluate"]] == [0, 1, 0, 0]
    assert [int(cell) for cell in counts["InfoLM"]] == [0, 0, 0, 0]


def test_evidence_on_no_claim_is_refused(tmp_path):
    write(tmp_path, "wmt17")
    path = tmp_path / "wmt17.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "claims": [{"id": "mark-evaluate/table-99/none"}]}))
    with pytest.raises(InputError, match="which is no claim of a paper"):
        results_page(tmp_path, tmp_path / "page.md")
    path.write_text(json.dumps({**content, "claims": [{"where": "Table 1"}]}))
    with pytest.raises(InputError, match="judge its tables anew"):
        results_page(tmp_path, tmp_path / "page.md")


def test_statements_have_numbers_or_say_that_the_paper_prints_none():
    assert len({(each.paper, each.where, each.says) for each in statements().values()}) == len(statements())
    for claim, each in statements().items():
        assert claim.count("/") == 2 and each.reports and not each.says.endswith("."), claim


def test_all_rules_of_stored_claims_are_known():
    evidence = Path(__file__).parent.parent.parent / "docs" / "evidence"
    for name in list_studies():
        for record in json.loads((evidence / f"{name}.json").read_text(encoding="utf-8"))["claims"]:
            assert set(record["rule"].split(", ")) <= set(RULES), (name, record["id"])


@pytest.mark.parametrize(
    "cell, expected",
    [
        ("1,094 ± 340", [1094, 340]), ("-.842 to -.402", [-0.842, -0.402]), ("0.92 [0.88, 0.95]", [0.92, 0.88, 0.95]),
        ("3, 1.5, 0.25", [3, 1.5, 0.25]), ("<1e-300", [1e-300]), ("-", []), ("1", [1]),
    ],
)  # fmt: skip
def test_numbers_in_cells(cell, expected):
    assert cells.numbers(cell) == expected
    assert cells.number(cell) == pytest.approx(expected[0] if expected else math.nan, nan_ok=True)


def test_cells_with_their_intervals():
    assert cells.number("4.65%") == pytest.approx(0.0465)
    assert cells.estimate("0.5 ± 0.2")[:3] == pytest.approx((0.5, 0.3, 0.7))
    assert cells.estimate("0.92 [0.88, 0.95]")[:3] == (0.92, 0.88, 0.95)
    assert cells.estimate(".5", ".4 to .7")[:3] == (0.5, 0.4, 0.7)
    assert cells.estimate(".5", "-").plain and cells.estimate("0.500 ± nan").plain
    # Mean 2, standard error 1 / sqrt 3.
    assert cells.mean_and_half(np.array([1.0, 2.0, 3.0])) == "2.000 ± 1.132"
    assert cells.mean_and_half(np.array([1.0])) == "1.000 ± nan"
