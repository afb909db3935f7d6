"""Score matrices: from arrays, mappings, records and files; joined by system and input."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

import recapture as rc
from recapture.agreement.data.score_matrix import match
from recapture.errors import InputError

ROWS = [
    {"system": "b", "item": 7, "bleu": 0.1, "rouge.rouge1": 0.5, "human": {"fluency": 3}, "text": "one"},
    {"system": "b", "item": 8, "bleu": None, "rouge.rouge1": 0.6, "human": {"fluency": 4}, "text": "two"},
    {"system": "a", "item": 7, "bleu": 0.3, "rouge.rouge1": 0.7, "human": {"fluency": 5}, "text": "three"},
]
NAN = np.nan


def same(matrix):
    """What ROWS say, worked out by hand: systems and inputs in order of appearance, what is absent is NaN."""
    assert (matrix.systems, matrix.inputs) == (("b", "a"), ("7", "8"))
    np.testing.assert_array_equal(matrix["bleu"], [[0.1, NAN], [0.3, NAN]])
    np.testing.assert_array_equal(matrix["rouge.rouge1"], [[0.5, 0.6], [0.7, NAN]])
    np.testing.assert_array_equal(matrix["human.fluency"], [[3, 4], [5, NAN]])
    return True


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_records_of_every_kind_of_file(tmp_path, monkeypatch):
    assert same(rc.ScoreMatrix.from_records(ROWS))
    plain = lines(tmp_path / "a.jsonl", *ROWS)
    assert same(rc.read_scores(plain))
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    assert same(rc.read_scores(tmp_path / "a.json"))
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as packed:
        packed.write(plain.read_bytes())
    assert same(rc.read_scores(tmp_path / "a.jsonl.gz"))
    heads = ["model", "doc_id", "bleu", "rouge.rouge1", "human.fluency", "text"]
    cells = [["b", 7, 0.1, 0.5, 3, "one"], ["b", 8, "", 0.6, 4, "two"], ["a", 7, " 3e-1", "0.70", 5, "three"]]
    for delimiter, ending in ((",", "csv"), ("\t", "tsv")):
        table = "".join(delimiter.join(map(str, row)) + "\n" for row in [heads, *cells])
        (tmp_path / f"a.{ending}").write_text(table)
        assert same(rc.read_scores(tmp_path / f"a.{ending}"))
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    assert same(rc.read_scores(tmp_path / "a.parquet"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(plain.read_bytes())))
    assert same(rc.read_scores("-"))


def test_what_pairs_writes_can_be_read(tmp_path):
    results = rc.evaluate_pairs(
        ["a red fish", "an old dog"], {"one": ["a fish", "an old dog"], "two": ["a", ""]}, "bleu"
    )
    (tmp_path / "items.jsonl").write_text(results.to_jsonl())
    matrix = rc.read_scores(tmp_path / "items.jsonl")
    assert (matrix.systems, matrix.inputs) == (("one", "two"), ("0", "1"))
    np.testing.assert_array_equal(matrix["bleu"], [results[name]["bleu"].scores for name in ("one", "two")])


def test_several_files_add_columns_and_systems(tmp_path):
    first = lines(tmp_path / "1.jsonl", ROWS[0], {"system": "a", "item": 7, "bleu": 0.3})
    second = lines(
        tmp_path / "2.jsonl", {"system": "a", "item": 7, "ter": 0.9}, {"system": "c", "item": 7, "bleu": 0.4}
    )
    matrix = rc.read_scores([first, second])
    assert matrix.systems == ("b", "a", "c")
    np.testing.assert_array_equal(matrix["bleu"], [[0.1], [0.3], [0.4]])
    np.testing.assert_array_equal(matrix["ter"], [[NAN], [0.9], [NAN]])
    third = lines(tmp_path / "3.jsonl", {"system": "a", "item": 7, "bleu": 0.5})
    with pytest.raises(InputError, match=r"1.jsonl line 2 and .*3.jsonl line 1 both have 'bleu' of system 'a'"):
        rc.read_scores([first, third])


def test_ratings_from_files_of_their_own(tmp_path):
    """A condition is about the files that have its field, and some file has to have it."""
    systems = dict(enumerate("abc"))
    rows = [{"system": name, "item": 1, "bleu": at, "tone": 2 * at} for at, name in systems.items()]
    scores = lines(tmp_path / "s.jsonl", *rows)
    rated = [{"system": name, "item": 1, "rater": r, "h": r * at} for at, name in systems.items() for r in (1, 3)]
    people = lines(tmp_path / "h.jsonl", *rated)
    first, second = rc.read_scores(scores, human_files=people, where={"rater": 3})
    assert list(first) == ["bleu", "tone"] and second["h"].tolist() == [[0], [3], [6]]
    _, second = rc.read_scores(scores, human_files=[people], average=True)
    assert second["h"].tolist() == [[0], [2], [4]] and second.averaged.startswith("6 rows are averaged into 3")
    assert (first.sources, second.sources) == ((str(scores),), (str(people),))
    with pytest.raises(InputError, match=r"no row of .*s.jsonl or .*h.jsonl has a field 'ratr'"):
        rc.read_scores(scores, human_files=people, where={"ratr": 3}, average=True)
    # Criteria are looked for among the ratings, then among the scores.
    assert rc.correlate(first, second, criteria="h", metrics="bleu").value == pytest.approx(1)
    both = rc.correlate(first, second, criteria=["h", "tone"])
    assert [(row.metric, row.criterion) for row in both] == [("bleu", "h"), ("bleu", "tone")]


def test_infinite_scores_are_missing_and_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("system,item,m\na,1,inf\na,2,-Infinity\nb,1,2\nb,2,NaN\n")
    matrix = rc.read_scores(path)
    np.testing.assert_array_equal(matrix["m"], [[NAN, NAN], [2, NAN]])
    assert matrix.notes == ("m: 2 infinite scores, treated as missing",)
    assert rc.ScoreMatrix.from_arrays({"m": [[1, np.inf]]}).notes == ("m: 1 infinite score, treated as missing",)


def test_scores_of_whole_systems(tmp_path):
    path = lines(tmp_path / "a.jsonl", {"system": "a", "overall": 3}, {"system": "b", "overall": 4, "item": None})
    matrix = rc.read_scores(path)
    assert matrix.inputs == () and matrix["overall"].tolist() == [3, 4]
    both = rc.ScoreMatrix.from_records(
        [*ROWS, {"system": "a", "overall": 2}, {"system": "b", "item": None, "overall": 1}]
    )
    assert both["overall"].tolist() == [1, 2] and same(both)


def test_fields_can_be_named(tmp_path):
    rows = [{"who": {"name": "a"}, "what": "x", "system": "s", "id": 1, "m": 1}]
    matrix = rc.read_scores(lines(tmp_path / "a.jsonl", *rows), system_field="who.name", item_field="what")
    assert (matrix.systems, matrix.inputs) == (("a",), ("x",))


def test_rows_can_be_chosen(tmp_path):
    rows = [{"system": "a", "id": 1, "type": kind, "deep": {"ok": ok}, "m": value}
            for kind, ok, value in (("abs", True, 1), ("ext", True, 2), ("ext", False, 3))]  # fmt: skip
    path = lines(tmp_path / "a.jsonl", *rows)
    assert rc.read_scores(path, where={"type": "abs"})["m"] == 1
    assert rc.read_scores(path, where={"type": "ext", "deep.ok": False})["m"] == 3
    with pytest.raises(
        InputError, match=r"line 1 and .* line 2 both have .* 'a' on input '1': .*\(see where, average\)"
    ):
        rc.read_scores(path)
    with pytest.raises(InputError, match=r"no row has type 'abss': did you mean abs\?"):
        rc.read_scores(path, where={"type": "abss"})


def test_conditions_apply_where_their_field_is(tmp_path):
    first = lines(tmp_path / "1.jsonl", *({"system": name, "id": 1, "type": "abs", "m": 1} for name in "abc"))
    second = lines(tmp_path / "2.jsonl", *({"system": name, "id": 1, "n": 2} for name in "abc"))
    matrix = rc.read_scores([first, second], where={"type": "abs", "system": ["a", "c"]})
    assert matrix.systems == ("a", "c") and set(matrix) == {"m", "n"}
    with pytest.raises(InputError, match=r"no row of .*1.jsonl or .*2.jsonl has a field 'typ': did you mean type"):
        rc.read_scores([first, second], where={"typ": "abs"})
    with pytest.raises(InputError, match="no row has system 'x' or 'y'"):
        rc.read_scores([first, second], where={"system": ["x", "y"]})


def test_several_raters_are_averaged_on_request(tmp_path):
    """Means by hand: (3 + 4 + 5) / 3, (2 + 4) / 2 where one rater gave none, and a score that every row repeats."""
    rows = [("a", 1, 3), ("a", 1, 4), ("a", 1, 5), ("a", 2, 2), ("a", 2, None), ("a", 2, 4), ("b", 1, 1)]
    path = lines(tmp_path / "a.jsonl", *({"system": s, "item": i, "h": h, "m": 0.1} for s, i, h in rows))
    matrix = rc.read_scores(path, average=True)
    np.testing.assert_array_equal(matrix["h"], [[4, 3], [1, NAN]])
    np.testing.assert_array_equal(matrix["m"], [[0.1, 0.1], [0.1, NAN]])
    assert matrix.averaged == "6 rows are averaged into 2, one for each system and input"
    with pytest.raises(InputError, match=r"both have scores of system 'a' on input '1': .*\(see where, average\)"):
        rc.read_scores(path)
    assert rc.ScoreMatrix.from_records(ROWS, average=True).averaged == ""
    assert same(rc.ScoreMatrix.from_records(ROWS, average=True))


def test_arrays_and_dicts():
    array = np.arange(6.0).reshape(2, 3)
    matrix = rc.ScoreMatrix.from_arrays({"m": array, "h": [1, 2]})
    assert (matrix.systems, matrix.inputs) == (("0", "1"), ("0", "1", "2")) and matrix["h"].shape == (2,)
    nested = rc.ScoreMatrix.from_dicts({"m": {"a": {"x": 1, "y": None}, "b": {"y": 2}}, "h": {"b": 5, "a": 4}})
    np.testing.assert_array_equal(nested["m"], [[1, NAN], [NAN, 2]])
    assert nested["h"].tolist() == [4, 5]
    np.testing.assert_array_equal(
        rc.ScoreMatrix.from_dicts({"m": {"a": [1, 2], "b": [3, NAN]}})["m"], [[1, 2], [3, NAN]]
    )


def test_matrices_are_frozen():
    matrix = rc.ScoreMatrix.from_arrays({"m": np.ones((2, 2))})
    with pytest.raises(ValueError):
        matrix["m"][0, 0] = 2
    with pytest.raises(TypeError):
        matrix.values["m"] = 1
    with pytest.raises(AttributeError):
        matrix.systems = ()


def test_match_counts_what_only_one_side_has():
    first = rc.ScoreMatrix.from_dicts({"m": {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}, "c": {"x": 5}}})
    second = rc.ScoreMatrix.from_dicts({"h": {"b": {"y": 6, "x": 7, "z": 8, "w": 9}, "a": {"x": 1, "y": 0}}})
    found = match(first, second)
    assert found.first.systems == found.second.systems == ("a", "b") and found.first.inputs == ("x", "y")
    np.testing.assert_array_equal(found.first["m"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(found.second["h"], [[1, 0], [7, 6]])
    assert found.notes == ("1 system only in scores, left out: c", "2 inputs only in ratings, left out")
    other = rc.ScoreMatrix.from_dicts({"h": {"q": {"x": 1}}})
    with pytest.raises(InputError, match="no system in common: one begins with 'a', the other with 'q'"):
        match(first, other)


BAD = {
    "boolean": ([{"system": "a", "id": 1, "m": True}], "m", "line 1: field 'm' must be a number, not a boolean"),
    "text": ([{"system": "a", "id": 1, "m": 1}, {"system": "a", "id": 2, "m": "x"}], "m", "line 2: field 'm'"),
    "unknown": ([{"system": "a", "id": 1, "meteor": 1}], "meter", "no column 'meter': did you mean meteor?"),
    "nothing": ([{"system": "a", "id": 1, "m": None}], "m", "'m' has no score"),
}


@pytest.mark.parametrize("name", BAD)
def test_columns_without_numbers_are_refused_when_asked_for(tmp_path, name):
    rows, column, message = BAD[name]
    matrix = rc.read_scores(lines(tmp_path / "a.jsonl", *rows))
    with pytest.raises(InputError, match=message):
        matrix[column]


@pytest.mark.parametrize("content, message", [
    ("", "holds no scores"),
    ('{"id": 1, "m": 2}\n', "line 1: no field 'system'.*see system_field"),
    ('{"system": "a", "m": 2}\n{"system": "a", "m": 3}\n', "line 1 and .*line 2 both .*'a': .*see item_field"),
    ('{"system": null, "m": 2}\n', "names no system"),
    ('{"system": 1.5, "m": 2}\n', "must be a text or a whole number"),
    ("[1]\n", "not an object but a list"),
    ('{"system": "a", "id": 1, "m": 2}\n{"system": "a", "m": 3}\n', "'m' has scores of whole systems and"),
])  # fmt: skip
def test_bad_files(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        rc.read_scores(tmp_path / "a.jsonl")
    assert "\n" not in str(caught.value)


def test_bad_tables(tmp_path):
    for content, message in (
        ("system,m,m\na,1,2\n", "line 1: more than one column is called 'm'"),
        ("system,m\na,1,2\n", "line 2: the row has 3 cells, but the header has 2"),
    ):
        (tmp_path / "a.csv").write_text(content)
        with pytest.raises(InputError, match=message):
            rc.read_scores(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("system,id,m\na,1,1_000\n")
    with pytest.raises(InputError, match="line 2: field 'm' must be a number, not the text '1_000'"):
        rc.read_scores(tmp_path / "a.csv")["m"]
    (tmp_path / "a.csv").write_text("system,id,m\na,1,'4,5'\n".replace("'", '"'))
    with pytest.raises(InputError, match=r"the text '4,5' \(a decimal comma"):
        rc.read_scores(tmp_path / "a.csv")["m"]
    (tmp_path / "a.csv").write_text(f"system,id,m\na,1,{'long ' * 20}\n")
    with pytest.raises(InputError, match=r"the text '(long ){6}\.\.\.'$"):
        rc.read_scores(tmp_path / "a.csv")["m"]
    (tmp_path / "a.txt").write_text("x\n")
    with pytest.raises(InputError, match="jsonl, json, csv, tsv or parquet"):
        rc.read_scores(tmp_path / "a.txt")
    (tmp_path / "a.parquet").write_bytes(b"nonsense")
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="cannot be read as parquet"):
        rc.read_scores(tmp_path / "a.parquet")


def test_bad_arrays():
    for columns, message in (
        ({"m": [["x"]]}, "must be numbers"),
        ({"m": np.ones((2, 2, 2))}, "systems x inputs"),
        ({"m": np.ones((2, 2)), "n": np.ones((3, 2))}, r"'n' has the shape \(3, 2\), but there are 2 systems and 2"),
        ({"m": [[True]]}, "must be numbers"),
        ({}, "no scores"),
    ):
        with pytest.raises(InputError, match=message):
            rc.ScoreMatrix.from_arrays(columns)
    with pytest.raises(InputError, match="two systems have the same name"):
        rc.ScoreMatrix.from_arrays({"m": [1, 2]}, systems=["a", "a"])
