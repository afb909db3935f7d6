"""Data files that are read line by line, and files that are written whole or not at all."""

import gzip
import os
import stat
import tempfile
from pathlib import Path

import pytest

from recapture import InputError
from recapture_studies.files import NAME, NUMBER, TEXTS, check_writable, records, write, write_all
from recapture_studies.words import short


def test_blank_lines_are_passed_over_and_counted(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n\n  \n{"a": 2}\n{"b": 3}\n')
    read = records(path, ["a"])
    assert [next(read)["a"], next(read)["a"]] == [1, 2]
    with pytest.raises(InputError, match="line 5 has no field 'a'"):
        next(read)


def test_a_file_that_is_replaced_has_the_usual_rights(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("old")
    write(path, "new ä")
    assert path.read_bytes() == "new ä".encode() and list(tmp_path.iterdir()) == [path]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_nothing_is_left_of_what_could_not_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "nowhere" / "page.md", "text")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot write"):
        write(tmp_path / "folder", "text")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"] and not list((tmp_path / "folder").iterdir())


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="it is a directory"):
        check_writable(tmp_path)
    with pytest.raises(InputError, match="there is no directory"):
        check_writable(tmp_path / "nowhere" / "page.md")
    check_writable(tmp_path / "page.md")
    assert not list(tmp_path.iterdir())
    (tmp_path / "old.md").write_text("x")
    monkeypatch.setattr(os, "access", lambda path, how: False)  # as for a user without the right to write here
    with pytest.raises(InputError, match="it is not writable"):
        check_writable(tmp_path / "old.md")

    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        check_writable(tmp_path / "page.md")


def test_what_is_read_is_not_written(tmp_path):
    (tmp_path / "data").mkdir()
    for name in ("vectors.txt", "data/texts.jsonl"):
        (tmp_path / name).write_text("kept")
    (tmp_path / "page.md").hardlink_to(tmp_path / "vectors.txt")
    for name in ("vectors.txt", "data/texts.jsonl", "page.md"):
        with pytest.raises(InputError, match="it is an input"):
            check_writable(tmp_path / name, keep=(None, "a model's name", tmp_path / "vectors.txt", tmp_path / "data"))


def test_several_files_are_written_or_none(tmp_path):
    """The third cannot be: the first two stay as they were, and nothing is left beside them."""
    (tmp_path / "a.md").write_text("old")
    (tmp_path / "a.md").chmod(0o640)
    (tmp_path / "c.csv").mkdir()
    with pytest.raises(InputError, match=r"c\.csv"):
        write_all({tmp_path / "a.md": "new", tmp_path / "b.json": "new", tmp_path / "c.csv": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "c.csv"]
    assert (tmp_path / "a.md").read_text() == "old"
    write_all({tmp_path / "a.md": "new", tmp_path / "b.json": b"new"})
    assert [(tmp_path / name).read_text() for name in ("a.md", "b.json")] == ["new", "new"]
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o640


def test_numbers_as_words():
    assert [short(value) for value in (0.5, 0.00012345, 0.0, -0.0005, float("inf"), float("nan"))] == [
        "0.5000", "0.000123", "0.0000", "-0.0005", "inf", "nan",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"text": null}', "'text' must be a text, not null"),
        ('{"text": 7}', "'text' must be a text, not 7"),
        ('{"text": "a", "text": "b"}', "a key stands twice"),
        ('{"text": "half \\ud83d"}', "half of a surrogate pair"),
        ('{"text": "a", "id": [1]}', "'id' must be a text or a whole number"),
        ('{"text": "a", "id": 1.5}', "'id' must be a text or a whole number"),
        ('{"text": "a", "id": 1, "score": NaN}', "'score' must be a number"),
        ('{"text": "a", "id": 1, "score": Infinity}', "'score' must be a number"),
        ('{"text": "a", "id": 1, "score": 1' + "0" * 5000 + "}", "Exceeds the limit"),
        ('{"text": "a", "id": 1, "score": 1' + "0" * 500 + "}", "'score' must be a number"),
        ('{"text": "a", "id": 1, "score": 1, "all": ["a", null]}', "'all' must be a list of texts"),
        ('{"text": ' + "[" * 900 + "]" * 900 + "}", "must be a text|nested too deeply"),
        ('{"text": ' + "[" * 90000, "nested too deeply"),
        ('{"text": "a\0b"}', "holds a byte 0"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, line, words):
    path = tmp_path / "x.jsonl"
    path.write_text("\ufeff" + '{"text": "a", "id": 1, "score": 1, "all": []}\n' + line + "\n")
    with pytest.raises(InputError, match=words) as caught:
        list(records(path, {"text": str, "id": NAME, "score": NUMBER, "all": TEXTS}))
    assert str(caught.value).startswith(f"{path} line 2")


def test_files_that_never_end(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="it is no file"):
        list(records(Path("/dev/zero"), []))
    monkeypatch.setattr("recapture_studies.files._LONGEST_LINE", 1000)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(b" " * 5000))
    with pytest.raises(InputError, match="line 1 is longer than"):
        list(records(tmp_path / "x.jsonl.gz", []))
