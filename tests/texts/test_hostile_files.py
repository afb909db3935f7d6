"""Files that would give wrong numbers in silence, never end, or fill the memory: each is read rightly or refused.

Expected texts are those that the file was written from; sizes and limits are worked out by hand.
"""

from __future__ import annotations

import csv
import gc
import gzip
import io
import json
import lzma
import os
import struct
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError
from recapture.texts import read_samples, reading, tables
from recapture.texts.aligned import read_aligned
from recapture.texts.group_labels import read_group_labels

RAIN, BOAT = "The rain stopped, at noon.", "Her boat left; last."


def put(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def refusal(path: str | Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    text.encode()
    return text


class TestTables:
    @pytest.mark.parametrize(
        ("name", "between", "word"),
        [
            ("a.csv", ";", "semicolons"),
            ("a.csv", "\t", "tabs"),
            ("a.tsv", ",", "commas"),
            ("a.tsv", ";", "semicolons"),
        ],
    )
    def test_another_separator_is_found_and_said(self, tmp_path: Path, name: str, between: str, word: str) -> None:
        rows = [["id", "text"], ["1", RAIN], ["2", BOAT]]
        stream = io.StringIO()
        csv.writer(stream, delimiter=between).writerows(rows)
        path = put(tmp_path / name, "\ufeff" + stream.getvalue())
        samples = read_samples(path)
        assert samples.texts == (RAIN, BOAT)
        assert samples.notes == (f"{path} is read as a table with {word} between its cells",)
        assert read_group_labels(path, "id") == ["1", "2"]

    def test_what_excel_is_told_is_no_header(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", f"sep=;\r\nid;text\r\n1;{RAIN}\r\n2;too;many\r\n")
        assert refusal(path) == f"{path} line 4: the row has 3 cells, but the header has 2"
        put(tmp_path / "a.csv", f"sep=;\r\nid;text\r\n1;{RAIN}\r\n")
        assert read_samples(path).texts == (RAIN,)

    def test_one_column_stays_one_column(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", '"text; all of it"\none;two\nthree;four\n')
        assert read_samples(path).texts == ("one;two", "three;four") and not read_samples(path).notes
        path = put(tmp_path / "b.csv", "a text; a title\nno separator here\nnone;here\n")
        assert read_samples(path).texts == ("no separator here", "none;here")

    def test_scores_with_semicolons(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.csv", "system;item;bleu\na;1;0.5\nb;1;0.25\n")
        with pytest.warns(UserWarning, match="semicolons between its cells"):
            assert rc.read_scores(path)["bleu"].tolist() == [[0.5], [0.25]]

    def test_a_quote_that_is_not_closed_is_suspected(self, tmp_path: Path) -> None:
        rows = "".join(f"{number},text {number}\n" for number in range(2, 7))
        path = put(tmp_path / "a.csv", f'id,text\n1,"an open quote\n{rows}7,"\n8,fine\n')
        samples = read_samples(path)
        assert len(samples) == 2
        (note,) = samples.notes
        assert note.startswith(f"{path} line 2: a cell in quotes runs down to line 8")
        poem = "Line, one\nLine two\nLine, three, four\nLine five"
        assert read_samples(put(tmp_path / "b.csv", f'id,text\n1,"{poem}"\n')).notes == ()

    @pytest.mark.traced
    @pytest.mark.slow
    def test_threads_leave_the_limit_of_cells_alone(self, tmp_path: Path) -> None:
        """The limit is one for the whole process: readers that overlap must not leave each other's behind."""
        path = put(tmp_path / "a.csv", "id,text\n" + f"1,{'a' * 200_000}\n" * 3)
        gc.collect()  # readers that other tests have left in the middle
        before = csv.field_size_limit()
        first, second = (tables.table_rows(reading.Source(path), ",", []) for _ in range(2))
        next(first), next(second)
        assert len(list(first)) == 3  # ends before the other has met its long cells
        assert len(list(second)) == 3
        assert csv.field_size_limit() == before
        failures: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(5):
                    read_samples(path)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures and csv.field_size_limit() == before


class TestLines:
    def test_old_line_ends_make_no_single_text(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", "one\rtwo\rthree\r")
        assert refusal(path).startswith(f"{path} has carriage returns and no line feed")

    def test_carriage_returns_inside_are_said(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", "one\rtwo\nthree\nfour\r\r\n")
        samples = read_samples(path)
        assert samples.texts == ("one\rtwo", "three", "four\r")
        assert samples.notes == (f"{path}: 1 of 3 texts hold a carriage return, which does not end a text here",)

    @pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
    def test_all_formats_count_lines_alike(self, tmp_path: Path, odd: str) -> None:
        """Only a line feed ends a text, in every format: aligned files stay aligned."""
        texts = [f"one{odd}two", "three"]
        lines = put(tmp_path / "a.txt", "".join(f"{text}\n" for text in texts))
        jsonl = put(tmp_path / "a.jsonl", "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in texts))
        table = put(tmp_path / "a.csv", "id,text\n" + "".join(f"1,{text}\n" for text in texts))
        assert [read_samples(path).texts for path in (lines, jsonl, table)] == [tuple(texts)] * 3
        assert read_aligned([lines], [jsonl, table]).candidates == [texts, texts]

    def test_blank_lines_at_the_end_of_one_of_two_files(self, tmp_path: Path) -> None:
        one, two = put(tmp_path / "a.txt", "a\nb\n"), put(tmp_path / "b.txt", "a\nb\n\n")
        with pytest.raises(InputError, match=r"has 2 entries, but .* has 3 entries"):
            read_aligned([one], [two])


class TestEncodings:
    @pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.json"])
    @pytest.mark.parametrize("kind", ["utf-16-le", "utf-16-be", "utf-32-le"])
    def test_without_a_mark_zeros_tell(self, tmp_path: Path, name: str, kind: str) -> None:
        path = put(tmp_path / name, f"text\n{RAIN}\n".encode(kind))
        assert "which no text has" in refusal(path)

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            (gzip.compress(b"one\n", mtime=0), "gzip"),
            (lzma.compress(b"one\n"), "xz"),
            ("one\n".encode("utf-16"), "UTF-16"),
            ("one\n".encode("utf-32"), "UTF-32"),
            (b"PK\x03\x04" + bytes(20), "zip"),
            (b"PAR1" + bytes(20), "Parquet"),
        ],
        ids=lambda part: part if isinstance(part, str) else "",  # gzip writes the time down
    )
    def test_what_a_file_is_instead(self, tmp_path: Path, content: bytes, word: str) -> None:
        path = put(tmp_path / "a.txt", content)
        assert word in refusal(path)

    def test_a_zero_among_texts(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.txt", "fine\nb\0d\n")
        assert refusal(path).startswith(f"{path} line 2: byte 2 of the line is 0, which no text has")


class TestJson:
    @pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
    def test_a_key_twice_could_mean_either(self, tmp_path: Path, name: str) -> None:
        line = '{"text": "one", "text": "two"}'
        path = put(tmp_path / name, line if name == "a.jsonl" else f"[{line}]")
        assert refusal(path) == f"{path} line 1: the key 'text' stands twice in one object"
        with pytest.raises(InputError, match="stands twice"):
            rc.read_scores(path)

    @pytest.mark.parametrize("deep", [150, 900, 5000])
    def test_nested(self, tmp_path: Path, deep: int) -> None:
        inner = '{"a":' * deep + "1" + "}" * deep
        path = put(tmp_path / "a.jsonl", f'{{"system": "s", "text": "t", "x": {inner}}}\n')
        for door in (read_samples, rc.read_scores, rc.read_contexts):
            with pytest.raises(InputError, match="line 1: JSON nested too deeply"):
                door(path)
        lists = put(tmp_path / "b.json", "[" * deep + "]" * deep)
        assert "JSON nested too deeply" in refusal(lists)

    def test_a_long_list_is_not_deep(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.json", json.dumps([[1.0, 2.0]] * 200))
        assert read_samples(path).content.shape == (200, 2)

    def test_numbers_without_end(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.jsonl", f'{{"system": "s", "x": -{"9" * 5000}, "y": 1}}\n')
        assert rc.read_scores(path)["y"].tolist() == [1.0]
        put(tmp_path / "a.jsonl", f'{{"system": {"9" * 5000}, "y": 1}}\n')
        with pytest.raises(InputError, match="must be a text or a whole number, not an infinite number"):
            rc.read_scores(path)


def npy(shape: tuple[int, ...], data: bytes, kind: str = "<f8", version: int = 1) -> bytes:
    """Written by hand after numpy.lib.format's description."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + b"\n" + data


class TestArrays:
    @pytest.mark.parametrize("shape", [(10**12, 10), (10**6, 10**9), (2, 3), (-1, 2), (-2, -1), (2**63, 2)])
    def test_a_header_that_promises_too_much(self, tmp_path: Path, shape: tuple[int, int]) -> None:
        content = npy(shape, bytes(32))
        path = put(tmp_path / "a.npy", content)
        claim = f"its header promises {shape[0]} x {shape[1]} numbers"
        assert claim in refusal(path)
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("embeddings.npy", content)
        assert claim in refusal(tmp_path / "a.npz")

    @pytest.mark.parametrize("version", [1, 2, 3])
    def test_all_versions(self, tmp_path: Path, version: int) -> None:
        data = np.arange(4.0).tobytes()
        path = put(tmp_path / "a.npy", npy((2, 2), data, version=version))
        np.testing.assert_array_equal(read_samples(path).vectors, [[0, 1], [2, 3]])

    def test_orders_of_bytes_and_of_columns(self, tmp_path: Path) -> None:
        rows = np.arange(6.0).reshape(2, 3)
        np.save(tmp_path / "a.npy", np.asfortranarray(rows.astype(">f4")))
        np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").vectors, rows)

    def test_named_columns_and_objects(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.zeros(3, [("x", "f4"), ("y", "f4")]))
        assert "must hold real numbers" in refusal(tmp_path / "a.npy")
        np.save(tmp_path / "b.npy", np.array([[print, None]], object), allow_pickle=True)
        assert "allow_pickle=False" in refusal(tmp_path / "b.npy")

    def test_an_archive_that_unpacks_to_too_much(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        np.savez_compressed(tmp_path / "a.npz", np.zeros((1000, 100)))
        monkeypatch.setattr("recapture.texts.array_files.MOST_BYTES", 1000)
        assert "RECAPTURE_NO_LIMITS=1" in refusal(tmp_path / "a.npz")
        monkeypatch.setenv("RECAPTURE_NO_LIMITS", "1")
        assert len(read_samples(tmp_path / "a.npz")) == 1000

    @pytest.mark.parametrize("shape", [[10**12, 2], [2, 10**12], [-1, 2]])
    def test_tensors_that_promise_too_much(self, tmp_path: Path, shape: list[int]) -> None:
        header = json.dumps({"e": {"dtype": "F32", "shape": shape, "data_offsets": [0, 16]}}).encode()
        path = put(tmp_path / "a.safetensors", struct.pack("<Q", len(header)) + header + bytes(16))
        assert refusal(path).startswith(f"{path} cannot be read as safetensors")
        put(tmp_path / "a.safetensors", struct.pack("<Q", 2**62) + header + bytes(16))
        assert refusal(path).startswith(f"{path} cannot be read as safetensors")


class TestParquet:
    @pytest.fixture(autouse=True)
    def needs(self) -> None:
        pytest.importorskip("pyarrow.parquet")

    def test_very_many_rows_in_few_bytes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = tmp_path / "a.parquet"
        pq.write_table(pa.table({"text": ["a long text " * 10] * 100_000}), path)
        assert path.stat().st_size < 10_000  # for 12 MB of texts
        monkeypatch.setattr("recapture.texts.parquet.MOST_BYTES", 1_000_000)
        assert "in the field 'text'; RECAPTURE_NO_LIMITS=1" in refusal(path)

    def test_a_name_with_a_dot_is_a_name(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"a.b": ["right"], "a": [{"b": "wrong"}]}), tmp_path / "a.parquet")
        assert read_samples(tmp_path / "a.parquet", field="a.b").texts == ("right",)

    @pytest.mark.parametrize("kind", ["binary", "struct", "list<string>", "list<list>", "map", "date"])
    def test_other_types(self, tmp_path: Path, kind: str) -> None:
        import datetime

        import pyarrow as pa
        import pyarrow.parquet as pq

        column = {
            "binary": pa.array([b"a"]),
            "struct": pa.array([{"b": "a"}]),
            "list<string>": pa.array([["a"]]),
            "list<list>": pa.array([[[1.0]]]),
            "map": pa.array([[("a", 1.0)]], pa.map_(pa.string(), pa.float64())),
            "date": pa.array([datetime.date(2020, 1, 1)]),
        }[kind]
        pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
        assert "not texts or lists of numbers" in refusal(tmp_path / "a.parquet")

    def test_damaged_labels(self, tmp_path: Path) -> None:
        path = put(tmp_path / "a.parquet", "no table at all")
        with pytest.raises(InputError, match="cannot be read as parquet"):
            read_group_labels(path, "group")


class TestFloods:
    def test_a_line_without_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "LONGEST_LINE", 2_000_000)
        for name, content in (("a.txt", b"a" * 3_000_000), ("a.jsonl.gz", gzip.compress(b" " * 3_000_000))):
            path = put(tmp_path / name, content)
            assert refusal(path).startswith(f"{path} line 1 is longer than 2 MB; RECAPTURE_NO_LIMITS=1")
        monkeypatch.setenv("RECAPTURE_NO_LIMITS", "1")
        assert len(read_samples(tmp_path / "a.txt").content[0]) == 3_000_000

    def test_lines_without_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "MOST_BYTES", 10_000)
        path = put(tmp_path / "a.txt.gz", gzip.compress(b"\n" * 1000))
        # An empty line counts 1 byte and the 64 that its text costs: the 154th passes 10,000.
        assert "(line 154)" in refusal(path)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such devices here")
    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
    def test_devices(self, device: str) -> None:
        assert refusal(device) == f"{device} is a device, not a file"
        assert "cannot carry npy" in refusal(device, format="npy")
        with pytest.raises(InputError, match="is a device, not a file"):
            rc.DocumentFrequencies.read(device)
        with pytest.raises(InputError, match="it is no file"):
            rc.meteor(["a"], ["a"], paraphrases=device)
        with pytest.raises(InputError, match="is a device, not a file"):
            rc.meteor(["a"], ["a"], function_words=device)

    def test_nothing_at_all(self) -> None:
        assert refusal(os.devnull) == f"{os.devnull} holds no texts"

    @pytest.mark.slow
    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe_without_a_writer_is_waited_for_and_said(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe.txt"
        os.mkfifo(pipe)
        script = "import sys; from recapture.texts import read_samples; print(read_samples(sys.argv[1]).texts)"
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert child.stderr is not None
        said = child.stderr.readline()
        assert said == f"recapture: waiting for {pipe}: nothing has been written to it yet\n"
        pipe.write_text("one\ntwo\n")
        out, rest = child.communicate(timeout=60)
        assert (out, rest, child.returncode) == ("('one', 'two')\n", "", 0)
        assert "cannot carry npz" in refusal(pipe, format="npz")

    def test_standard_input_that_is_silent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("recapture.progress._SHORT", 0.05)
        reading, writing = os.pipe()
        said = threading.Event()

        class Stderr(io.StringIO):
            def write(self, text: str) -> int:
                written = super().write(text)
                said.set()
                return written

        def late() -> None:  # however long a busy machine takes to say that it waits
            said.wait(60)
            os.write(writing, b"one\n")
            os.close(writing)

        with os.fdopen(reading) as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", stream)
            patch.setattr(sys, "stderr", told := Stderr())
            threading.Thread(target=late).start()
            assert read_samples("-").texts == ("one",)
        assert told.getvalue().startswith("recapture: waiting for standard input")
        monkeypatch.setattr(sys, "stdin", io.StringIO("one\n"))  # as in notebooks
        assert refusal("-") == "standard input cannot be read here"


class TestNames:
    def test_names_that_no_file_can_have(self, tmp_path: Path) -> None:
        for name in ("a\0b.txt", "half \ud800.txt", "a\0b.npy"):
            assert refusal(name).endswith("cannot be read: no file can have this name")

    @pytest.mark.skipif(sys.platform != "linux", reason="where names are bytes")
    def test_names_that_are_not_utf_8(self, tmp_path: Path) -> None:
        path = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")
        assert refusal(path).endswith("bad\\udcff.txt cannot be read: No such file or directory")
        put(Path(path), "fine\n")
        samples = read_samples(path)
        assert samples.texts == ("fine",) and samples.source.endswith("bad\\udcff.txt")
