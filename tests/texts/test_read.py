"""Reading samples: what every format gives back, and what every kind of bad input is told."""

from __future__ import annotations

import csv
import gc
import gzip
import importlib
import io
import json
import lzma
import os
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from recapture import texts
from recapture.errors import InputError
from recapture.texts import Samples, format_names, read_samples

RAIN = "The rain stopped before noon."
BOAT = "Her boat was the last to leave."
BOTH = (RAIN, BOAT)


def put(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def message(path: str, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def safetensors_bytes(**tensors: tuple[str, list[int], bytes]) -> bytes:
    header, data = {}, b""
    for name, (kind, shape, raw) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + data


def npy_bytes(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


class TestLines:
    def test_one_text_per_line(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", f"{RAIN}\n{BOAT}\n")
        assert read_samples(path) == Samples(path, BOTH, None, 0)
        assert len(read_samples(path)) == 2

    def test_last_line_may_lack_its_end(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.txt", f"{RAIN}\n{BOAT}")).texts == BOTH

    def test_byte_order_mark_and_windows_line_ends_go(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", b"\xef\xbb\xbf" + f"{RAIN}\r\n{BOAT}\r\n".encode())
        assert read_samples(path).texts == BOTH

    def test_other_separators_and_spaces_stay(self, tmp_path: Path) -> None:
        content = "one\u2028two\x0bthree\x85four\x0cfive\n  spaces  \t\ncarriage\rreturn\r\r\nend\r"
        expected = ("one\u2028two\x0bthree\x85four\x0cfive", "  spaces  \t", "carriage\rreturn\r", "end\r")
        assert read_samples(put(tmp_path / "a.txt", content)).texts == expected

    def test_empty_texts_are_kept_and_counted(self, tmp_path: Path) -> None:
        samples = read_samples(put(tmp_path / "a.txt", f"\n{RAIN}\n\n \t\n\n"))
        assert samples.texts == ("", RAIN, "", " \t", "")
        assert samples.empty == 4

    def test_unknown_suffix_means_lines(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "story.draft", RAIN)).texts == (RAIN,)

    def test_path_objects_are_taken(self, tmp_path: Path) -> None:
        put(tmp_path / "a.txt", RAIN)
        assert read_samples(tmp_path / "a.txt").source == str(tmp_path / "a.txt")

    def test_a_field_makes_no_sense(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.records", '{"text": "hello"}\n')
        expected = f"{path} is read as plain lines, which have no field 'text'; name its format"
        assert message(path, field="text") == expected

    @pytest.mark.parametrize("begins", ["<!DOCTYPE html>", "\n  <html lang='en'>", "\ufeff<!doctype HTML PUBLIC>"])
    def test_a_web_page_is_no_set_of_texts(self, tmp_path: Path, begins: str) -> None:
        for name in ("page.txt", "page.html"):
            path = put(tmp_path / name, f"{begins}\n<body><p>{RAIN}</p>\n<p>{BOAT}</p></body>\n")
            assert message(path).startswith(f"{path} is a web page (HTML), not one text a line")
        whole = f"<html>{RAIN}</html>"  # but texts may be pages, one a line
        assert read_samples(put(tmp_path / "a.txt", f"{whole}\n{whole}\n")).texts == (whole, whole)
        assert "RTF" in message(put(tmp_path / "a.txt", "{\\rtf1\\ansi\n" + RAIN))

    def test_texts_with_an_empty_line_after_each_are_refused(self, tmp_path: Path) -> None:
        """They would be as many empty texts, and every other text would be paired with nothing."""
        for content in (f"{RAIN}\n\n" * 300, f"\n{RAIN}\n" * 300):
            path = put(tmp_path / "a.txt", content)
            assert message(path) == (
                f"every second line of {path} is empty, and an empty line is an empty text here: leave the 300 empty "
                "lines out"
            )
        some = put(tmp_path / "a.txt", f"{RAIN}\n\n" * 300 + f"{BOAT}\n")  # one more text: still double-spaced
        assert "every second line" in message(some)
        other = read_samples(put(tmp_path / "a.txt", f"{RAIN}\n\n" * 300 + f"{BOAT}\n{BOAT}\n"))
        assert other.empty == 300 and len(other) == 602
        assert other.notes == (f"{other.source}: 300 of 602 lines are empty, and each is an empty text here",)


class TestCompression:
    @pytest.mark.parametrize("name", ["a.txt.gz", "a.gz", "A.TXT.GZ", "v1.2.txt.gz"])
    def test_gzip(self, tmp_path: Path, name: str) -> None:
        assert read_samples(put(tmp_path / name, gzip.compress(f"{RAIN}\n{BOAT}\n".encode()))).texts == BOTH

    def test_xz(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.txt.xz", lzma.compress(f"{RAIN}\n{BOAT}".encode()))).texts == BOTH

    def test_the_suffix_before_decides_the_format(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.jsonl.gz", gzip.compress(b'{"text": "Hello."}\n'))).texts == ("Hello.",)
        assert read_samples(put(tmp_path / "a.csv.xz", lzma.compress(b"id,text\n1,Hello.\n"))).texts == ("Hello.",)

    def test_explicit_format_still_unpacks(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.gz", gzip.compress(b'"Hello."\n'))
        assert read_samples(path, format="jsonl").texts == ("Hello.",)

    @pytest.mark.parametrize("suffix", [".gz", ".xz"])
    def test_cut_off(self, tmp_path: Path, suffix: str) -> None:
        packed = (gzip if suffix == ".gz" else lzma).compress(os.urandom(5000).hex().encode())
        path = put(tmp_path / f"a.txt{suffix}", packed[:2000])
        expected = "Compressed file ended before the end-of-stream marker was reached"
        assert message(path) == f"{path} is cut off or damaged: {expected}"

    def test_not_compressed_after_all(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt.gz", RAIN)
        assert message(path) == f"{path} cannot be read: Not a gzipped file (b'Th')"
        path = put(tmp_path / "a.txt.xz", RAIN)
        assert message(path) == f"{path} is cut off or damaged: Input format not supported by decoder"

    def test_binary_formats_cannot_be_compressed(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.npy.gz", b"")
        assert message(path) == f"{path}: npy cannot be read compressed; unpack the file first"


class TestJsonLines:
    def test_default_field(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", f'{{"id": 1, "text": "{RAIN}"}}\r\n\n  \n{{"text": "{BOAT}"}}\n')
        assert read_samples(path) == Samples(path, BOTH, None, 0)

    def test_chosen_and_dotted_fields(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.ndjson", '{"out": "one", "meta": {"text": "two", "deep": {"er": "three"}}}')
        assert read_samples(path, field="out").texts == ("one",)
        assert read_samples(path, field="meta.text").texts == ("two",)
        assert read_samples(path, field="meta.deep.er").texts == ("three",)

    def test_a_key_with_a_dot_comes_first(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"meta": {"text": "inner"}, "meta.text": "outer"}')
        assert read_samples(path, field="meta.text").texts == ("outer",)

    def test_bare_strings(self, tmp_path: Path) -> None:
        samples = read_samples(put(tmp_path / "a.jsonl", '"one\\ntwo"\n""\n"\\ud83d\\ude00"\n'))
        assert samples.texts == ("one\ntwo", "", "\U0001f600")
        assert samples.empty == 1

    def test_raw_unicode_separators_do_not_end_lines(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.jsonl", '{"text": "one\u2028two"}\n')).texts == ("one\u2028two",)

    def test_embeddings(self, tmp_path: Path) -> None:
        samples = read_samples(put(tmp_path / "a.jsonl", '{"e": [1, 2.5]}\n{"e": [NaN, -Infinity]}\n'), field="e")
        assert samples.texts is None
        assert samples.vectors is not None
        assert samples.vectors.dtype == np.float64
        np.testing.assert_array_equal(samples.vectors, [[1.0, 2.5], [np.nan, -np.inf]])
        assert len(samples) == 2
        assert samples.empty == 0

    @pytest.mark.parametrize(
        ("line", "kind"),
        [
            ('{"text": 7}', "a number"),
            ('{"text": null}', "null"),
            ('{"text": true}', "a boolean"),
            ('{"text": {"a": 1}}', "an object"),
            ('{"text": []}', "an empty list"),
            ('{"text": ["a"]}', "a list with a text"),
            ('{"text": [1, null]}', "a list with null"),
            ('{"text": [1, false]}', "a list with a boolean"),
            ('{"text": [[1]]}', "a list with a list"),
        ],
    )
    def test_neither_text_nor_numbers(self, tmp_path: Path, line: str, kind: str) -> None:
        path = put(tmp_path / "a.jsonl", f'{{"text": "fine"}}\n\n{line}\n')
        assert message(path) == f"{path} line 3: field 'text' is {kind}, not a text or a list of numbers"

    def test_bare_values_of_other_kinds(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '"fine"\n3\n')
        assert message(path) == f"{path} line 2: the value is a number, not a text or a list of numbers"

    def test_bare_string_has_no_field(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"out": "fine"}\n"bare"\n')
        assert message(path, field="out") == f"{path} line 2 is a text, which has no field 'out'"

    def test_wrong_field(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"id": "a", "text": "fine"}\n')
        expected = f"{path} line 1: no field 'txt'; fields there are: id, text; did you mean text?"
        assert message(path, field="txt") == expected
        assert message(path, field="zzz") == f"{path} line 1: no field 'zzz'; fields there are: id, text"

    def test_wrong_dotted_field(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"id": "a", "meta": {"text": "fine"}}\n')
        there = "fields there are: id, meta.text"
        assert message(path, field="meta.txt") == (
            f"{path} line 1: no field 'meta.txt'; {there}; did you mean meta.text?"
        )
        assert message(path, field="id.zzzzz") == f"{path} line 1: no field 'id.zzzzz'; {there}"

    def test_field_missing_later(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"text": "fine"}\n{}\n')
        assert message(path) == f"{path} line 2: no field 'text'; fields there are: none"

    def test_broken_json(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"text": "fine"}\n{"text": \n{"text": "fine"}\n')
        assert message(path) == f"{path} line 2: broken JSON: Expecting value (column 10)"

    def test_nested_too_deeply(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '"fine"\n' + "[" * 200_000)
        assert message(path) == f"{path} line 2: JSON nested too deeply"

    def test_embeddings_of_other_length(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '{"e": [1, 2]}\n{"e": [1, 2, 3]}\n')
        assert message(path, field="e") == f"{path} line 2: field 'e' has 3 numbers, but the first has 2"

    def test_texts_and_embeddings_do_not_mix(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '"fine"\n[1, 2]\n')
        assert message(path) == f"{path} line 2: the value is a list of numbers, but the first is a text"

    def test_half_a_character(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", '"fine"\n"ab\\ud83d"\n')
        expected = f"{path} line 2: the value holds \\ud83d, half a surrogate pair, at character 3"
        assert message(path) == expected

    def test_numbers_with_very_many_digits(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.jsonl", f'{{"id": {"9" * 5000}, "text": "fine"}}')).texts == ("fine",)


class TestJsonArray:
    def test_strings_and_objects(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.json", '[\n  "one",\n  {"text": "two"}\n]\n')).texts == ("one", "two")

    def test_explicit_format(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.dump", '["one"]'), format="json").texts == ("one",)

    def test_embeddings(self, tmp_path: Path) -> None:
        vectors = read_samples(put(tmp_path / "a.json", "[[1, 2], [3, 4]]")).vectors
        np.testing.assert_array_equal(vectors, [[1.0, 2.0], [3.0, 4.0]])

    def test_errors_name_the_element(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.json", '["one",\n {"text": null}]')
        assert message(path) == f"{path} element 2: field 'text' is null, not a text or a list of numbers"

    def test_broken_json(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.json", '["one",\n "two"')
        assert message(path) == f"{path} line 2: broken JSON: Expecting ',' delimiter (column 7)"

    def test_records_per_line_in_disguise(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.json", '{"text": "one"}\n{"text": "two"}\n')
        hint = "for one record per line the format is jsonl"
        assert message(path) == f"{path} line 2: broken JSON: Extra data (column 1); {hint}"

    def test_not_an_array(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.json", '{"text": "one"}')
        assert message(path) == f"{path} must hold an array of texts or objects, but holds an object"


class TestTables:
    def test_default_and_chosen_column(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", f'\ufeffid,text,note\r\n1,{RAIN},"x, y"\r\n2,{BOAT},"say ""hi"""\r\n')
        assert read_samples(path) == Samples(path, BOTH, None, 0)
        assert read_samples(path, field="note").texts == ("x, y", 'say "hi"')

    def test_tab_separated(self, tmp_path: Path) -> None:
        assert read_samples(put(tmp_path / "a.tsv", f"text\tid\n{RAIN}\t1\n{BOAT}\t2")).texts == BOTH

    def test_only_column_is_used_and_its_empty_lines_are_texts(self, tmp_path: Path) -> None:
        samples = read_samples(put(tmp_path / "a.csv", f'sentence\n{RAIN}\n\n""\n'))
        assert samples.texts == (RAIN, "", "")
        assert samples.empty == 2

    def test_empty_line_is_no_row_of_a_wider_table(self, tmp_path: Path) -> None:
        samples = read_samples(put(tmp_path / "a.csv", f"id,text\n1,{RAIN}\n\n2,\n\n"))
        assert samples.texts == (RAIN, "")
        assert samples.empty == 1

    def test_cells_keep_their_inner_line_ends(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", 'id,text\n1,"one\r\ntwo\nthree\u2028four"\n')
        assert read_samples(path).texts == ("one\r\ntwo\nthree\u2028four",)

    @pytest.mark.traced
    @pytest.mark.slow
    def test_long_cells(self, tmp_path: Path) -> None:
        gc.collect()  # readers that other tests have left in the middle
        before = csv.field_size_limit()
        assert read_samples(put(tmp_path / "a.csv", "text\n" + "a" * 300_000)).texts == ("a" * 300_000,)
        assert csv.field_size_limit() == before

    def test_missing_field(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", "id,sentence\n1,fine\n")
        assert message(path) == f"{path} line 1: no field 'text'; fields there are: id, sentence"
        expected = f"{path} line 1: no field 'sentense'; fields there are: id, sentence; did you mean sentence?"
        assert message(path, field="sentense") == expected

    def test_names_in_messages_stay_short(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", f'1,"two\nlines",{"long " * 30}\n')
        there = "1, two lines, long long long long long long long..."
        assert message(path) == f"{path} line 1: no field 'text'; fields there are: {there}"
        path = put(tmp_path / "b.csv", ",".join(str(number) for number in range(22)))
        there = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, ..."
        assert message(path) == f"{path} line 1: no field 'text'; fields there are: {there}"

    def test_repeated_field(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", "text,text\na,b\n")
        assert message(path) == f"{path} line 1: more than one field is called 'text'"

    def test_row_of_other_width(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", 'id,text\n1,"two\nlines"\n2,one,too many\n')
        assert message(path) == f"{path} line 4: the row has 3 cells, but the header has 2"

    def test_broken_quotes(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", 'id,text\n1,fine\n2,"bro"ken\n')
        assert message(path) == f"""{path} line 3: broken row: ',' expected after '"'"""

    def test_open_quote_names_the_line_it_starts_on(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", 'id,text\n1,"never closed\n2,fine\n3,fine\n')
        assert message(path) == f"{path} line 2: broken row: unexpected end of data"

    def test_lone_carriage_returns(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", "id,text\r1,fine\r")
        assert message(path) == f"{path} line 1: broken row: new-line character seen in unquoted field"


class TestArrow:
    """Arrow's own files, in all ways that its library writes them."""

    @pytest.fixture(params=["file", "stream", "lz4", "one batch"])
    def write(self, request):
        pa = pytest.importorskip("pyarrow")
        feather = importlib.import_module("pyarrow.feather")

        def written(path: Path, **columns) -> str:
            table = pa.table(columns)
            if request.param == "lz4":
                feather.write_feather(table, path, compression="lz4", chunksize=2)
            else:
                opened = pa.ipc.new_stream if request.param == "stream" else pa.ipc.new_file
                with opened(path, table.schema) as sink:
                    sink.write_table(table, None if request.param == "one batch" else 2)
            return str(path)

        return written

    def test_texts(self, tmp_path: Path, write) -> None:
        samples = read_samples(write(tmp_path / "a.arrow", id=[1, 2, 3], text=[RAIN, "", BOAT]))
        assert samples.texts == (RAIN, "", BOAT) and samples.empty == 1

    @pytest.mark.parametrize("size", [-1, 2])
    def test_embeddings(self, tmp_path: Path, write, size: int) -> None:
        pa = pytest.importorskip("pyarrow")
        column = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32(), size))
        vectors = read_samples(write(tmp_path / "a.feather", e=column)).vectors
        assert vectors is not None and vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def test_what_cannot_be_read(self, tmp_path: Path, write) -> None:
        path = write(tmp_path / "a.arrow", text=["one", "two", None])
        assert message(path) == f"{path} row 3: field 'text' is null"
        path = write(tmp_path / "b.arrow", e=[[1.0, 2.0], [3.0, 4.0], [5.0]])
        assert message(path) == f"{path} row 3: field 'e' has 1 numbers, but the first has 2"
        path = write(tmp_path / "c.arrow", id=[1], body=["fine"])
        assert message(path).startswith(f"{path}: no field 'text'; fields there are: id, body")
        path = write(tmp_path / "d.arrow", text=[1, 2])
        assert message(path) == f"{path}: field 'text' is of type int64, not texts or lists of numbers"

    def test_damage_is_told(self, tmp_path: Path, write) -> None:
        path = Path(write(tmp_path / "a.arrow", text=["one", "two", "three"]))
        content = path.read_bytes()
        for damaged in (b"", b"ARROW1", b"no table", content[: len(content) // 3]):
            path.write_bytes(damaged)
            assert message(path).startswith(f"{path} cannot be read as arrow: "), damaged[:9]
        path.write_bytes(b"FEA1" + content)
        assert message(path) == f"{path} is a Feather file of the first version: write it anew"


class TestParquet:
    @pytest.fixture
    def pa(self):
        pytest.importorskip("pyarrow.parquet")
        import pyarrow

        return pyarrow

    def write(self, path: Path, **columns) -> str:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path, row_group_size=2)
        return str(path)

    @pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
    def test_texts(self, tmp_path: Path, pa, kind: str) -> None:
        types = {
            "string": pa.string(),
            "large_string": pa.large_string(),
            "dictionary": pa.dictionary(pa.int32(), pa.string()),
        }
        column = pa.array([RAIN, "", BOAT], types[kind])
        samples = read_samples(self.write(tmp_path / "a.parquet", id=[1, 2, 3], text=column))
        assert samples.texts == (RAIN, "", BOAT)
        assert samples.empty == 1

    @pytest.mark.parametrize("size", [-1, 2])
    def test_embeddings(self, tmp_path: Path, pa, size: int) -> None:
        column = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32(), size))
        vectors = read_samples(self.write(tmp_path / "a.parquet", e=column)).vectors
        assert vectors is not None
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def test_half_precision(self, tmp_path: Path, pa) -> None:
        column = pa.array(np.array([0.5, 1.5], np.float16), pa.float16())
        path = self.write(tmp_path / "a.pq", e=pa.FixedSizeListArray.from_arrays(column, 2))
        vectors = read_samples(path).vectors
        assert vectors is not None
        assert vectors.dtype == np.float16
        np.testing.assert_array_equal(vectors, [[0.5, 1.5]])

    def test_null_text(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", text=["one", "two", None])
        assert message(path) == f"{path} row 3: field 'text' is null"

    @pytest.mark.parametrize("size", [-1, 2])
    def test_null_embedding(self, tmp_path: Path, pa, size: int) -> None:
        column = pa.array([[1.0, 2.0], [3.0, 4.0], None], pa.list_(pa.float64(), size))
        path = self.write(tmp_path / "a.parquet", e=column)
        if size > 0 and int(pa.__version__.split(".")[0]) < 26:  # older releases fail on reading such a file at all
            assert message(path).startswith(f"{path} cannot be read as parquet: ")
            return
        assert message(path) == f"{path} row 3: field 'e' is null"
        path = self.write(tmp_path / "b.parquet", e=column[2:])
        assert message(path) == f"{path} row 1: field 'e' is null"

    def test_null_among_numbers(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", e=[[1.0, 2.0], [3.0, 4.0], [5.0, None]])
        assert message(path) == f"{path} row 3: field 'e' holds null among its numbers"

    def test_embeddings_of_other_length(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", e=[[1.0, 2.0], [3.0, 4.0], [5.0]])
        assert message(path) == f"{path} row 3: field 'e' has 1 numbers, but the first has 2"

    def test_other_types(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", text=[1, 2])
        assert message(path) == f"{path}: field 'text' is of type int64, not texts or lists of numbers"
        path = self.write(tmp_path / "b.parquet", text=[["a"], ["b"]])
        assert message(path).startswith(f"{path}: field 'text' is of type list<")

    def test_missing_field(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", id=[1], body=["fine"])
        assert message(path) == f"{path}: no field 'text'; fields there are: id, body"

    def test_no_rows(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", text=pa.array([], pa.string()))
        assert message(path) == f"{path} holds no texts"
        path = self.write(tmp_path / "b.parquet", e=pa.array([], pa.list_(pa.float32())))
        assert message(path) == f"{path} holds no vectors: the shape is (0, 0)"

    def test_damaged(self, tmp_path: Path, pa) -> None:
        path = self.write(tmp_path / "a.parquet", text=["fine"])
        put(Path(path), Path(path).read_bytes()[:-20])
        assert message(path).startswith(f"{path} cannot be read as parquet: ")
        put(Path(path), b"PAR1" + bytes(64) + struct.pack("<I", 64) + b"PAR1")
        assert message(path).startswith(f"{path} cannot be read")

    def test_without_pyarrow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("pyarrow", "pyarrow.parquet"):
            monkeypatch.setitem(sys.modules, name, None)
        path = put(tmp_path / "a.parquet", b"")
        assert message(path) == f'{path}: Parquet needs pyarrow: pip install "recapture[parquet]"'


class TestArrays:
    @pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", "<i4", ">f4"])
    def test_npy(self, tmp_path: Path, kind: str) -> None:
        path = put(tmp_path / "a.npy", npy_bytes(np.array([[1, 2], [3, 4], [5, 6]], kind)))
        samples = read_samples(path)
        assert (samples.source, samples.texts, samples.empty, len(samples)) == (path, None, 0, 3)
        assert samples.vectors is not None
        assert samples.vectors.dtype == np.dtype(kind).newbyteorder("=")
        np.testing.assert_array_equal(samples.vectors, [[1, 2], [3, 4], [5, 6]])

    def test_npy_has_no_fields(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.npy", npy_bytes(np.ones((2, 2))))
        assert message(path, field="x") == f"{path} is a single array without names, so it has no field 'x'"

    def test_nothing_is_unpickled(self, tmp_path: Path) -> None:
        content = npy_bytes(np.array([["a", None]], object))
        reason = "Object arrays cannot be loaded when allow_pickle=False"
        path = put(tmp_path / "a.npy", content)
        assert message(path) == f"{path} cannot be read as npy: {reason}"
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("x.npy", content)
        path = str(tmp_path / "a.npz")
        assert message(path) == f"{path} cannot be read as npz: {reason}"

    @pytest.mark.parametrize(
        ("array", "complaint"),
        [
            (np.ones(3), "must hold samples x dimensions, but the shape is (3,)"),
            (np.ones((1, 2, 3)), "must hold samples x dimensions, but the shape is (1, 2, 3)"),
            (np.ones((2, 2), complex), "must hold real numbers, but their type is complex128"),
            (np.array([["a", "b"]]), "must hold real numbers, but their type is <U1"),
            (np.ones((0, 3)), "holds no vectors: the shape is (0, 3)"),
            (np.ones((3, 0)), "holds no vectors: the shape is (3, 0)"),
        ],
    )
    def test_other_shapes_and_types(self, tmp_path: Path, array: np.ndarray, complaint: str) -> None:
        path = put(tmp_path / "a.npy", npy_bytes(array))
        assert message(path) == f"{path} {complaint}"

    def test_npz(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "one.npz", anything=np.array([[1.0, 2.0]]))
        np.testing.assert_array_equal(read_samples(str(tmp_path / "one.npz")).vectors, [[1.0, 2.0]])
        path = str(tmp_path / "two.npz")
        np.savez_compressed(path, labels=np.array([[7.0]]), embeddings=np.array([[3.0, 4.0]]))
        np.testing.assert_array_equal(read_samples(path).vectors, [[3.0, 4.0]])
        np.testing.assert_array_equal(read_samples(path, field="labels").vectors, [[7.0]])

    def test_npz_without_a_usual_name(self, tmp_path: Path) -> None:
        path = str(tmp_path / "a.npz")
        np.savez(path, a=np.ones((1, 1)), b=np.ones((1, 1)))
        assert message(path) == f"{path}: no field 'embeddings' or 'vectors'; fields there are: a, b"
        assert message(path, field="c") == f"{path}: no field 'c'; fields there are: a, b"

    def test_safetensors(self, tmp_path: Path) -> None:
        halves = ("F16", [2, 1], struct.pack("<2e", 0.5, 1.5))
        path = put(tmp_path / "one.safetensors", safetensors_bytes(anything=halves))
        vectors = read_samples(path).vectors
        assert vectors is not None
        assert vectors.dtype == np.float16
        np.testing.assert_array_equal(vectors, [[0.5], [1.5]])
        path = put(
            tmp_path / "two.safetensors",
            safetensors_bytes(a=halves, vectors=("F32", [1, 2], struct.pack("<2f", 3, 4))),
        )
        np.testing.assert_array_equal(read_samples(path).vectors, [[3.0, 4.0]])
        np.testing.assert_array_equal(read_samples(path, field="a").vectors, [[0.5], [1.5]])
        assert message(path, field="b") == f"{path}: no field 'b'; fields there are: a, vectors"

    def test_brain_floats(self, tmp_path: Path) -> None:
        # 0x3f80 is 1, 0xc040 is -3, 0x4049 is 3.140625, 0x7f80 is infinity
        raw = struct.pack("<4H", 0x3F80, 0xC040, 0x4049, 0x7F80)
        vectors = read_samples(put(tmp_path / "a.safetensors", safetensors_bytes(e=("BF16", [2, 2], raw)))).vectors
        assert vectors is not None
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, [[1.0, -3.0], [3.140625, np.inf]])

    def test_types_numpy_cannot_hold(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.safetensors", safetensors_bytes(e=("F8_E4M3", [1, 2], b"ab")))
        assert message(path) == f"{path}: tensor 'e' is of type F8_E4M3, which NumPy cannot hold"

    @pytest.mark.parametrize("kind", ["npy", "npz", "safetensors"])
    def test_damaged(self, tmp_path: Path, kind: str) -> None:
        np.savez(tmp_path / "whole.npz", e=np.ones((4, 4)))
        whole = {
            "npy": npy_bytes(np.ones((4, 4))),
            "npz": (tmp_path / "whole.npz").read_bytes(),
            "safetensors": safetensors_bytes(e=("F32", [4, 1], bytes(16))),
        }[kind]
        path = tmp_path / f"a.{kind}"
        for end in range(0, len(whole), 3):
            assert message(put(path, whole[:end])).startswith(f"{path} "), end
        assert message(put(path, RAIN)).startswith(f"{path} cannot be read as {kind}: ")


class TestStandardInput:
    def feed(self, monkeypatch: pytest.MonkeyPatch, content: str | bytes) -> None:
        raw = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    @pytest.mark.parametrize(
        ("format_", "content"),
        [
            (None, f"{RAIN}\n{BOAT}\n"),
            ("lines", f"{RAIN}\n{BOAT}\n"),
            ("jsonl", f'"{RAIN}"\n"{BOAT}"\n'),
            ("json", f'["{RAIN}", "{BOAT}"]'),
            ("csv", f"text\n{RAIN}\n{BOAT}\n"),
            ("tsv", f"id\ttext\n1\t{RAIN}\n2\t{BOAT}\n"),
        ],
    )
    def test_text_formats(self, monkeypatch: pytest.MonkeyPatch, format_: str | None, content: str) -> None:
        self.feed(monkeypatch, content)
        assert read_samples("-", format=format_) == Samples("standard input", BOTH, None, 0)
        assert not sys.stdin.closed

    @pytest.mark.parametrize("kind", ["npy", "npz", "safetensors", "parquet"])
    def test_binary_formats(self, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
        self.feed(monkeypatch, "")
        assert message("-", format=kind) == f"standard input cannot carry {kind}, only csv, json, jsonl, lines, tsv"

    def test_errors_say_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.feed(monkeypatch, b"fine\nb\xe9d\n")
        assert message("-") == "standard input line 2: byte 2 of the line (0xe9) is not UTF-8: save the file as UTF-8"

    def test_nothing_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.feed(monkeypatch, "")
        assert message("-") == "standard input holds no texts"
        monkeypatch.setattr(sys, "stdin", None)
        assert message("-") == "standard input is closed"


class TestBadFiles:
    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl.gz", "a.txt.xz", "a.csv", "a.npy", "a.npz", "a.safetensors"])
    def test_missing(self, tmp_path: Path, name: str) -> None:
        path = str(tmp_path / name)
        assert message(path) == f"{path} cannot be read: No such file or directory"

    def test_directory(self, tmp_path: Path) -> None:
        assert message(str(tmp_path)) == f"{tmp_path} cannot be read: Is a directory"
        assert message("") == "an empty file name cannot be read: Is a directory"

    def test_no_permission(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = put(tmp_path / "a.txt", RAIN)

        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", refuse)  # taking the rights away would not stop an administrator
        assert message(path) == f"{path} cannot be read: Permission denied"

    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.json", "a.csv", "a.tsv"])
    def test_no_samples(self, tmp_path: Path, name: str) -> None:
        path = put(tmp_path / name, b"")
        assert message(path) == f"{path} holds no texts"
        assert message(put(Path(path), b"\xef\xbb\xbf")) == f"{path} holds no texts"

    def test_no_samples_but_some_content(self, tmp_path: Path) -> None:
        for name, content in [("a.jsonl", "\n \n"), ("a.json", "[]"), ("a.csv", "id,text\n"), ("b.csv", "text\n")]:
            path = put(tmp_path / name, content)
            assert message(path) == f"{path} holds no texts"

    @pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.json", "a.csv", "a.tsv"])
    def test_other_encodings(self, tmp_path: Path, name: str) -> None:
        path = put(tmp_path / name, b'"text"\n"caf\xe9"\n')
        assert message(path) == f"{path} line 2: byte 5 of the line (0xe9) is not UTF-8: save the file as UTF-8"

    def test_utf_16(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", RAIN.encode("utf-16"))
        assert message(path) == f"{path} is UTF-16 or UTF-32: save it as UTF-8"

    def test_unknown_format(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", RAIN)
        assert message(path, format="jsnl") == "no format 'jsnl'; did you mean jsonl or json?"


def test_format_names() -> None:
    expected = ["arrow", "csv", "json", "jsonl", "lines", "npy", "npz", "parquet", "safetensors", "tsv"]
    assert format_names() == expected


def test_adding_a_format_is_adding_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(
        tmp_path / "shouted.py",
        "from .reading import Format, text_samples\n"
        "def _read(source, field):\n"
        "    return text_samples(source, [line.strip().upper() for _, line in source.lines()])\n"
        "FORMATS = (Format('shouted', ('.loud',), _read),)\n",
    )
    monkeypatch.setattr(texts, "__path__", [*texts.__path__, str(tmp_path)])
    monkeypatch.setattr(texts.reading, "_formats", texts.reading._formats.__wrapped__)
    try:
        assert "shouted" in format_names()
        assert read_samples(put(tmp_path / "a.loud", "hello\n")).texts == ("HELLO",)
    finally:
        sys.modules.pop("recapture.texts.shouted", None)
        vars(texts).pop("shouted", None)
