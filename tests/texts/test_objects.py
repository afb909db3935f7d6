"""Texts and vectors from the objects of other libraries: the libraries themselves where they are installed, and small
stand-ins that follow their documented protocols, so that nothing here depends on what is installed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError
from recapture.texts.objects import samples_of

TEXTS = ["a cat sat on a mat", "a dog ran home", "rain fell all night", "we ate soup", "she read a book"]
ROWS = np.random.default_rng(0).normal(size=(5, 3)).round(3)


class ColumnOfArrow:
    """As pyarrow's arrays: `to_pylist`, `type`; iterating gives scalars that are no strings."""

    type = "string"

    def __init__(self, entries):
        self._entries = entries

    def to_pylist(self):
        return list(self._entries)

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter([object()] * len(self._entries))


class ColumnOfPolars:
    """As Polars' Series: `to_list` and a dtype with a name of its own."""

    dtype = "String"

    def __init__(self, entries):
        self._entries = entries

    def to_list(self):
        return list(self._entries)

    def __len__(self):
        return len(self._entries)


class ColumnOfDataset:
    """As a column of Hugging Face datasets: something to index and to iterate, nothing else."""

    def __init__(self, entries):
        self._entries = entries

    def __getitem__(self, place):
        return self._entries[place]

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter(self._entries)


class Frame:
    """As pandas' and Polars' frames: `columns`, `dtypes`, `to_numpy`; iterating pandas' gives names of columns."""

    def __init__(self, columns, dtypes, values=None):
        self.columns, self.dtypes, self._values = columns, dtypes, values

    def to_numpy(self):
        return self._values

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return 5


class Stream:
    """Nothing but Arrow's PyCapsule protocol for a stream, as query engines have it."""

    def __init__(self, content):
        self._content = content

    def __arrow_c_stream__(self, requested_schema=None):
        return self._content.__arrow_c_stream__(requested_schema)


class Single:
    """The same for one array."""

    def __init__(self, content):
        self._content = content

    def __arrow_c_array__(self, requested_schema=None):
        return self._content.__arrow_c_array__(requested_schema)


def string_dtype(**how):
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy before 2 has no strings of any length")
    return np.dtypes.StringDType(**how)


def arrow():
    return pytest.importorskip("pyarrow")


def dataset():
    return pytest.importorskip("datasets").Dataset.from_dict({"text": ["x", *TEXTS], "n": range(6)}).select(range(1, 6))


COLUMNS = {
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "NumPy U": lambda: np.array(TEXTS),
    "NumPy O": lambda: np.array(TEXTS, dtype=object),
    "NumPy T": lambda: np.array(TEXTS, dtype=string_dtype()),
    "like Arrow": lambda: ColumnOfArrow(TEXTS),
    "like Polars": lambda: ColumnOfPolars(TEXTS),
    "like datasets": lambda: ColumnOfDataset(TEXTS),
    "pandas Series": lambda: pytest.importorskip("pandas").Series(TEXTS, index=list("vwxyz")),
    "pandas objects": lambda: pytest.importorskip("pandas").Series(TEXTS, dtype=object),
    "pandas categories": lambda: pytest.importorskip("pandas").Series(TEXTS, dtype="category"),
    "pandas Index": lambda: pytest.importorskip("pandas").Index(TEXTS),
    "pandas on Arrow": lambda: arrow() and pytest.importorskip("pandas").Series(TEXTS, dtype="string[pyarrow]"),
    "Polars Series": lambda: pytest.importorskip("polars").Series(TEXTS),
    "Polars categories": lambda: pytest.importorskip("polars").Series(TEXTS, dtype=sys.modules["polars"].Categorical),
    "Arrow array": lambda: arrow().array(TEXTS),
    "Arrow large": lambda: arrow().array(TEXTS, arrow().large_string()),
    "Arrow dictionary": lambda: arrow().array(TEXTS).dictionary_encode(),
    "Arrow chunks": lambda: arrow().chunked_array([TEXTS[:2], TEXTS[2:]]),
    "stream": lambda: Stream(arrow().chunked_array([TEXTS[:2], TEXTS[2:]])),
    "one array": lambda: Single(arrow().array(TEXTS)),
    "column of a dataset": lambda: dataset()["text"],
}
each_column = pytest.mark.parametrize("kind", COLUMNS)


@each_column
def test_texts_of_every_kind_of_column(kind):
    """Every door gives what a list gives: sets, aligned texts, contexts, vectors, scores of all pairs, variety."""
    assert list(samples_of(COLUMNS[kind](), "it")) == TEXTS
    bags = {"encoder": "bag-of-words"}
    other = TEXTS[::-1]
    wanted = rc.evaluate(TEXTS, {"c": other[1:]}, "precision-recall", k=1, ceiling=False, **bags)
    got = rc.evaluate(COLUMNS[kind](), {"c": COLUMNS[kind]()}, "precision-recall", k=1, ceiling=False, **bags)
    assert got["c"]["precision-recall"].values == {"precision": 1.0, "recall": 1.0}
    got = rc.evaluate(COLUMNS[kind](), {"c": other[1:]}, "precision-recall", k=1, ceiling=False, **bags)
    assert got["c"]["precision-recall"].values == wanted["c"]["precision-recall"].values
    assert rc.frechet(COLUMNS[kind](), other, **bags).value == rc.frechet(TEXTS, other, **bags).value
    assert rc.evaluate_pairs(COLUMNS[kind](), {"c": COLUMNS[kind]()}, "chrf")["c"]["chrf"].value == 1
    assert rc.bleu(COLUMNS[kind](), COLUMNS[kind]()).value == pytest.approx(1)
    assert np.array_equal(rc.encode(COLUMNS[kind](), "bag-of-words"), rc.encode(TEXTS, "bag-of-words"))
    assert rc.distinct_n(COLUMNS[kind]()) == rc.distinct_n(TEXTS)
    assert np.array_equal(
        rc.pairwise_scores(COLUMNS[kind](), COLUMNS[kind](), "rouge-l"), rc.pairwise_scores(TEXTS, TEXTS, "rouge-l")
    )
    assert (
        rc.triangle_rank(COLUMNS[kind](), COLUMNS[kind](), "rouge-l").value
        == rc.triangle_rank(TEXTS, TEXTS, "rouge-l").value
    )
    assert rc.aggregate(COLUMNS[kind](), COLUMNS[kind](), "rouge-l").value == 1
    for context in ({"references": COLUMNS[kind](), "candidates": COLUMNS[kind]()},
                    rc.Context("1", COLUMNS[kind](), COLUMNS[kind]())):  # fmt: skip
        assert rc.evaluate_contexts([context], "rouge-l", resume=False).totals[0].mean == 1


TABLES = {
    "like a frame": lambda: Frame(["a", "b", "c"], ["float64", "Int64", "bool"], ROWS),
    "NumPy records": lambda: np.rec.fromarrays(ROWS.T, names="a,b,c"),
    "pandas": lambda: pytest.importorskip("pandas").DataFrame(ROWS, columns=list("abc")),
    "pandas that may miss": lambda: pytest.importorskip("pandas").DataFrame(ROWS, columns=list("abc"), dtype="Float64"),
    "Polars": lambda: pytest.importorskip("polars").DataFrame(ROWS, schema=list("abc")),
    "Arrow": lambda: arrow().table(dict(zip("abc", ROWS.T, strict=True))),
    "Arrow batch": lambda: arrow().record_batch(dict(zip("abc", ROWS.T, strict=True))),
    "stream": lambda: Stream(arrow().table(dict(zip("abc", ROWS.T, strict=True)))),
    "Arrow lists": lambda: arrow().array(ROWS.tolist(), arrow().list_(arrow().float64())),
    "Arrow lists of one length": lambda: arrow().array(ROWS.tolist(), arrow().list_(arrow().float64(), 3)),
    "chunks of lists": lambda: arrow().chunked_array([ROWS[:2].tolist(), ROWS[2:].tolist()]),
    "one column of lists": lambda: arrow().table(
        {"v": arrow().array(ROWS.tolist(), arrow().list_(arrow().float64(), 3))}
    ),
    "stream of lists": lambda: Stream(arrow().chunked_array([ROWS[:2].tolist(), ROWS[2:].tolist()])),
    "pandas Series of rows": lambda: pytest.importorskip("pandas").Series(list(ROWS)),
    "Polars arrays": lambda: pytest.importorskip("polars").Series(ROWS.tolist(), dtype=_polars_array()),
    "Polars lists": lambda: pytest.importorskip("polars").Series(ROWS.tolist()),
    "dataset": lambda: pytest.importorskip("datasets").Dataset.from_dict({"v": ROWS.tolist()}),
    "column of a dataset": lambda: pytest.importorskip("datasets").Dataset.from_dict({"v": ROWS.tolist()})["v"],
}


def _polars_array():
    return sys.modules["polars"].Array(sys.modules["polars"].Float64, 3)


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_numbers_are_vectors(kind):
    other = ROWS + 0.5
    assert rc.frechet(TABLES[kind](), other).value == rc.frechet(ROWS, other).value
    results = rc.evaluate(ROWS, {"c": TABLES[kind]()}, "precision-recall", k=1, ceiling=False)
    assert results["c"]["precision-recall"].values == {"precision": 1.0, "recall": 1.0}


def test_mixed_numbers_keep_their_values():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [True, False, True], "b": [1.5, 2.5, 3.5], "c": pandas.array([1, 2, 3], "Int64")})
    assert samples_of(frame, "it").tolist() == [[1, 1.5, 1], [0, 2.5, 2], [1, 3.5, 3]]
    table = arrow().table({"a": [True, False, True], "b": [1.5, 2.5, 3.5], "c": [1, 2, 3]})
    assert samples_of(table, "it").tolist() == [[1, 1.5, 1], [0, 2.5, 2], [1, 3.5, 3]]


TEXT_TABLES = {
    "like a frame": lambda: Frame(["id", "text"], ["int64", "str"]),
    "NumPy records": lambda: np.rec.fromarrays([range(5), TEXTS], names="id,text"),
    "pandas": lambda: pytest.importorskip("pandas").DataFrame({"id": range(5), "text": TEXTS}),
    "Polars": lambda: pytest.importorskip("polars").DataFrame({"id": range(5), "text": TEXTS}),
    "Arrow": lambda: arrow().table({"id": list(range(5)), "text": TEXTS}),
    "Arrow batch": lambda: arrow().record_batch({"id": list(range(5)), "text": TEXTS}),
    "stream": lambda: Stream(arrow().table({"id": list(range(5)), "text": TEXTS})),
    "dataset": lambda: pytest.importorskip("datasets").Dataset.from_dict({"id": range(5), "text": TEXTS}),
}


@pytest.mark.parametrize("kind", TEXT_TABLES)
def test_a_table_with_texts_is_refused_by_the_names_of_its_columns(kind):
    doors = (
        lambda table: rc.evaluate(table, {"c": TEXTS}, encoder="bag-of-words"),
        lambda table: rc.evaluate(TEXTS, table, encoder="bag-of-words"),
        lambda table: rc.frechet(TEXTS, table, encoder="bag-of-words"),
        lambda table: rc.bleu(table, TEXTS),
        lambda table: rc.evaluate_pairs(TEXTS, {"c": table}, "bleu"),
        lambda table: rc.encode(table, "bag-of-words"),
        lambda table: rc.pairwise_scores(table, TEXTS, "rouge-l"),
        lambda table: rc.triangle_rank(TEXTS, table, "rouge-l"),
    )
    for door in doors:
        with pytest.raises(InputError, match=r"with the columns id.*, text.*: give one column") as caught:
            door(TEXT_TABLES[kind]())
        assert "\n" not in str(caught.value)


def test_a_table_of_one_text_column_is_refused_too():
    with pytest.raises(InputError, match=r"candidate 'm' is a table \(Frame\) with the columns text \(str\)"):
        rc.evaluate(TEXTS, {"m": Frame(["text"], ["str"])}, encoder="bag-of-words")


MISSING = {
    "None": lambda: [*TEXTS, None],
    "None first": lambda: [None] * 200 + TEXTS,
    "NaN": lambda: np.array([*TEXTS, np.nan], dtype=object),
    "NumPy T": lambda: np.array([*TEXTS, None], dtype=string_dtype(na_object=None)),
    "masked": lambda: np.ma.array(np.array([*TEXTS, "x"]), mask=[0] * 5 + [1]),
    "like Arrow": lambda: ColumnOfArrow([*TEXTS, None]),
    "pandas": lambda: pytest.importorskip("pandas").Series([*TEXTS, None]),
    "pandas NA": lambda: pytest.importorskip("pandas").Series([*TEXTS, None], dtype="string"),
    "Polars": lambda: pytest.importorskip("polars").Series([*TEXTS, None]),
    "Arrow": lambda: arrow().array([*TEXTS, None]),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_text_is_refused_with_its_position(kind):
    place = 0 if kind == "None first" else 5
    for call in (
        lambda: rc.frechet(TEXTS, MISSING[kind](), encoder="bag-of-words"),
        lambda: rc.encode(MISSING[kind](), "bag-of-words"),
        lambda: rc.bleu(MISSING[kind](), MISSING[kind]()),
        lambda: rc.bleu([TEXTS[0]] * (place + 1 if place else 205), MISSING[kind]()),
        lambda: rc.triangle_rank(TEXTS, MISSING[kind](), "rouge-l"),
    ):
        with pytest.raises(InputError, match=rf"(text|entry) {place}\b.* (is missing|missing texts)"):
            call()


def test_missing_numbers_are_refused_with_their_row():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"candidate row 1 .* NaN"):
        rc.frechet(ROWS, pandas.DataFrame({"a": [1.0, None, 2.0]}, dtype="Float64"))
    with pytest.raises(InputError, match=r"candidate row 1 .* NaN"):
        rc.frechet(ROWS, arrow().table({"a": [1, None, 2]}))
    with pytest.raises(InputError, match="row 1 of candidate has 2 numbers, but the first has 3"):
        rc.frechet(ROWS, arrow().array([[1.0, 2, 3], [1, 2]]))


REFUSED = {
    "mapping": (lambda: {"text": TEXTS, "id": [1]}, "is a mapping with the keys text, id"),
    "records": (lambda: [{"text": text} for text in TEXTS], r"text 0 of candidate is a record with the fields text"),
    "lazy": (lambda: pytest.importorskip("polars").LazyFrame({"text": TEXTS}), "collect it first"),
    "no columns": (lambda: Frame([], []), r"with the columns \(none\)"),
    "one string": (lambda: np.array("a cat"), "not one string"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_other_things_are_refused_by_what_they_are(kind):
    make, sentence = REFUSED[kind]
    with pytest.raises(InputError, match=sentence):
        rc.frechet(TEXTS, make(), encoder="bag-of-words")


def test_a_stream_without_pyarrow_names_what_to_install(monkeypatch):
    class OnlyStream:
        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError("nobody can read it")

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r'reference \(OnlyStream\).*pip install "recapture\[parquet\]"'):
        rc.frechet(OnlyStream(), TEXTS, encoder="bag-of-words")


def test_tables_of_contexts_are_rows():
    """Records of a frame are contexts, where its columns have their names."""
    column = [TEXTS[:3], TEXTS[2:]]
    for make in (
        lambda: pytest.importorskip("pandas").DataFrame({"id": ["x", "y"], "references": column, "candidates": column}),
        lambda: arrow().table({"id": ["x", "y"], "references": column, "candidates": column}),
        lambda: pytest.importorskip("polars").DataFrame({"id": ["x", "y"], "references": column, "candidates": column}),
    ):
        try:
            table = make()
        except pytest.skip.Exception:
            continue
        results = rc.evaluate_contexts(table, "rouge-l", resume=False)
        assert [context["id"] for context in results.contexts] == ["x", "y"] and results.totals[0].mean == 1


def test_references_of_several_texts_in_columns():
    column = arrow().array([TEXTS[:2], TEXTS[2:3]])
    got = rc.evaluate_pairs(column, {"c": np.array(TEXTS[1:3])}, "chrf")["c"]["chrf"]
    assert got.values == rc.evaluate_pairs([TEXTS[:2], TEXTS[2:3]], {"c": TEXTS[1:3]}, "chrf")["c"]["chrf"].values
    assert got.value == 1


def test_no_library_is_loaded_for_it():
    script = (
        "import sys, numpy as np; from recapture.texts.objects import samples_of;"
        "samples_of(np.array(['a']), 'it'); samples_of(iter('ab'), 'it'); samples_of({1, 2}, 'it');"
        "print(sorted({'pandas', 'polars', 'pyarrow', 'datasets'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
