"""Scores, ratings and settings that cannot be compared are refused with one sentence; unusual forms are understood."""

import json
import math

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError

RATINGS = np.random.default_rng(0).normal(size=(4, 6))
SCORES = RATINGS + np.random.default_rng(1).normal(size=(4, 6))
NAMED = {"bleu": {"a": [1, 2], "b": [2, 1], "c": [3, 3]}}
NO_NUMBERS = np.full((4, 6), np.nan)


def matrix(**columns):
    return rc.ScoreMatrix.from_arrays({name: np.asarray(column, float) for name, column in columns.items()})


REFUSED = {
    "ratings named twice": (
        lambda: rc.correlate(matrix(bleu=SCORES, human=RATINGS), "human", criteria="human"),
        "criteria are named twice",
    ),
    "no ratings": (lambda: rc.correlate(SCORES, RATINGS, criteria=[]), "no ratings to compare scores with"),
    "no metrics": (lambda: rc.correlate(SCORES, RATINGS, metrics=[]), "no metrics to compare with the ratings"),
    "no level": (lambda: rc.correlate(SCORES, RATINGS, level=[]), "no level was named"),
    "a metric without a number": (
        lambda: rc.correlate({"bleu": SCORES, "ter": NO_NUMBERS}, RATINGS),
        "'ter' has no score for any system",
    ),
    "no system with all": (
        lambda: rc.correlate(
            {
                "bleu": [[1.0], [1], [math.nan], [math.nan]],
                "ter": [[math.nan], [1], [1], [math.nan]],
                "chrf": [[1.0], [math.nan], [1], [1]],
            },
            [[1.0], [2], [3], [4]],
        ),
        "no system has a score in every column",
    ),
    "whole systems text by text": (
        lambda: rc.correlate(SCORES, [1.0, 2, 3, 4], level="text"),
        "scores of whole systems, so there is no text level",
    ),
    "one metric against itself": (lambda: rc.metric_correlations({"bleu": SCORES}), "no other to be compared with"),
    "metrics of unknown direction": (
        lambda: rc.metric_correlations(matrix(bleu=SCORES, mystery=RATINGS)),
        "'?mystery'?",
    ),
    "a list of columns": (lambda: rc.ScoreMatrix.from_arrays([SCORES]), "by name, as a mapping, not as list"),
    "a list in a cell": (
        lambda: rc.ScoreMatrix.from_dicts({"bleu": {"a": {"x1": [1, 2]}}}),
        "holds a list where one number should stand",
    ),
    "one record": (
        lambda: rc.ScoreMatrix.from_records({"system": "a", "bleu": 1}),
        "a list of mappings, not as dict",
    ),
    "no records": (lambda: rc.ScoreMatrix.from_records([]), "holds? no scores"),
    "a number as record": (lambda: rc.ScoreMatrix.from_records([3]), "record 1 is not an object"),
    "no path": (lambda: rc.read_scores([]), "no file of scores was named"),
    "a number as path": (lambda: rc.read_scores(3), "named by a path or a list of paths, not by 3"),
    "a list of settings": (lambda: rc.sweep([SCORES], RATINGS), "by setting, as a mapping, not as list"),
    "settings without numbers": (lambda: rc.sweep({1: NO_NUMBERS}, RATINGS), "no input has the scores of all systems"),
    "two systems to sweep": (lambda: rc.sweep({1: SCORES[:2]}, RATINGS[:2]), "at least 3 systems, but there are 2"),
    "one group": (lambda: rc.sweep({1: {"de": SCORES}}, {"de": RATINGS}), "at least two of them"),
    "constant ratings": (
        lambda: rc.sweep({1: SCORES}, np.ones_like(RATINGS)),
        "no setting has a correlation with the ratings",
    ),
    "a threshold that is none": (
        lambda: rc.score_distributions(SCORES, RATINGS, threshold="half"),
        "threshold must be a number, not 'half'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_sentence(case):
    call, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        call()


def test_names_on_one_side_name_the_other():
    """Ratings by system and input, scores as an array in the same order."""
    ratings = {"human": {"a": [1, 2], "b": [2, 1], "c": [3, 3]}}
    scores = [[1.0, 2], [2, 1], [3, 3]]
    (row,) = rc.correlate(scores, ratings)
    assert row.value == pytest.approx(1) and row.systems == 3
    (row,) = rc.correlate(NAMED, ratings)
    assert row.value == pytest.approx(1)
    (row,) = rc.correlate(NAMED, [[3.0, 3], [2, 1], [1, 2]])
    assert row.value == pytest.approx(np.corrcoef([1.5, 1.5, 3], [3, 1.5, 1.5])[0, 1])


def test_one_infinite_number_of_several_makes_the_mean_infinite_and_is_left_out():
    records = [
        {"system": system, "item": item, "human": rating}
        for system in "ab"
        for item in ("x1", "x2")
        for rating in (math.inf if (system, item) == ("a", "x1") else 2.0, 4.0)
    ]
    found = rc.ScoreMatrix.from_records(records, average=True)
    np.testing.assert_array_equal(found["human"], [[np.nan, 3], [3, 3]])
    assert any("infinite" in note for note in found.notes)


def test_systems_numbered_by_whole_floats(tmp_path):
    """A column of numbers with gaps comes out of Parquet and JSON as 1.0, 2.0: those are systems 1 and 2."""
    path = tmp_path / "scores.jsonl"
    rows = [{"system": 1.0, "item": "x", "bleu": 0.5}, {"system": 2, "item": "x", "bleu": 0.25}]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = rc.read_scores(path)
    assert found.systems == ("1", "2")
    np.testing.assert_array_equal(found["bleu"], [[0.5], [0.25]])


def test_empty_lines_of_a_table_are_skipped(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,item,bleu\na,x,1\n\nb,x,2\n")
    np.testing.assert_array_equal(rc.read_scores(path)["bleu"], [[1.0], [2.0]])


def test_a_condition_on_a_field_that_a_row_lacks_leaves_it_out():
    records = [{"system": "a", "item": "x", "bleu": 1.0, "rater": "r1"}, {"system": "b", "item": "x", "bleu": 2.0}]
    assert rc.ScoreMatrix.from_records(records, where={"rater": "r1"}).systems == ("a",)


def test_a_row_is_chosen_by_all_that_tells_it_apart():
    found = rc.correlate({"bleu": SCORES, "ter": -SCORES}, RATINGS, directions={"bleu": "higher", "ter": "higher"})
    assert found.find(metric="bleu").value == pytest.approx(-found.find(metric="ter").value)
    with pytest.raises(InputError, match="2 rows"):
        found.find()
