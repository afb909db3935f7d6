"""Files that are written: whole or not at all, several together, never over an input, with the rights they had."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import recapture as rc
from recapture.errors import visible
from recapture.files import check_writable, whole_files


def test_several_files_or_none(tmp_path):
    """The second cannot be written, or what else has to succeed does not: the first is not there either."""
    first, second = tmp_path / "a.md", tmp_path / "no" / "b.md"
    with pytest.raises(rc.InputError, match="cannot write"), whole_files({str(first): "x", str(second): "y"}):
        pass
    with pytest.raises(OSError, match="full"), whole_files({str(first): "x"}):
        assert not first.exists()
        raise OSError("full")
    assert not list(tmp_path.iterdir())
    with pytest.raises(rc.InputError, match="No space left"), whole_files({str(first): "x", "/dev/full": "y" * 10_000}):
        pass
    assert not list(tmp_path.iterdir())
    with whole_files({str(first): "x", os.devnull: "y"}):
        pass
    assert first.read_text() == "x" and list(tmp_path.iterdir()) == [first]


def test_rights_and_owner_stay(tmp_path):
    path = tmp_path / "a.md"
    for mode in (0o600, 0o640, 0o664):
        path.write_text("old")
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, 12_345, 54_321)
        with whole_files({str(path): "new"}):
            pass
        found = path.stat()
        assert stat.S_IMODE(found.st_mode) == mode and path.read_text() == "new"
        assert os.geteuid() != 0 or (found.st_uid, found.st_gid) == (12_345, 54_321)


def test_no_input_is_written(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "store").mkdir()
    source, weights, blob = tmp_path / "in.txt", tmp_path / "model" / "weights", tmp_path / "store" / "blob"
    for path in (source, weights, blob):
        path.write_text("kept")
    (tmp_path / "model" / "linked").symlink_to(blob)
    (tmp_path / "soft").symlink_to(source)
    (tmp_path / "hard").hardlink_to(source)
    for target in (source, tmp_path / "soft", tmp_path / "hard", weights, blob, tmp_path / "model" / ".." / "in.txt"):
        with pytest.raises(rc.InputError, match="it is an input"):
            check_writable(target, keep=("bag-of-words", str(source), str(tmp_path / "model")))
    check_writable(tmp_path / "model" / "new.json", keep=(str(tmp_path / "model"),))  # nothing is lost


@pytest.mark.traced
@pytest.mark.slow
def test_standard_output_that_is_an_input(tmp_path):
    """As of `recapture score ... >> input`: the shell has opened it, and nothing is added."""
    source = tmp_path / "in.txt"
    source.write_text("one text\nanother\n")
    score = [
        sys.executable,
        "-m",
        "recapture",
        "score",
        "-r",
        str(source),
        "-c",
        str(source),
        "--encoder",
        "bag-of-words",
    ]
    score += ["--no-ceiling", "--metrics", "mmd"]
    with source.open("a") as file:
        done = subprocess.run(score, stdout=file, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.startswith("recapture: standard output goes to ")
    assert source.read_text() == "one text\nanother\n"
    subprocess.run(score, capture_output=True, check=True)


def test_what_cannot_be_written_is_found_before_the_work(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "lost").symlink_to(tmp_path / "gone" / "x")
    cases = {"file/x": "no directory", ".": "directory", "no/x": "no directory", "circle": "", "lost": "no directory"}
    for name, reason in {**cases, "x" * 5_000: "too long", "/proc/x": "", "/dev/fd/99": ""}.items():
        with pytest.raises(rc.InputError, match=f"cannot write .*{reason}"):
            check_writable(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    check_writable(tmp_path / "new.json")
    assert sorted(tmp_path.iterdir()) == before


def test_without_a_home_there_is_no_folder_of_that_name(tmp_path, monkeypatch):
    for name in ("RECAPTURE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does where nobody knows the user
    with pytest.warns(UserWarning, match="going on without the vector cache"):
        rc.encode(["a cat", "a dog"], lambda texts: [[float(len(text)), 1.0] for text in texts], cache=None)
        from recapture.representations.vector_cache import VectorCache

        VectorCache().put({"encoder": "e"}, ["a"], [[1.0]])
    journal = rc.Journal.of({"a": 1})
    with pytest.warns(UserWarning, match="nothing is kept"):
        journal.add({"a": 1})
    monkeypatch.setenv("RECAPTURE_CACHE", "~/kept")
    assert not str(rc.cache_folder()).startswith("~")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "raw, shown",
    [
        ("\x1b]0;x\x07", r"\x1b]0;x\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb\u2066", r"a\u202eb\u2066"),
        ("\r\x00\x7f", r"\x0d\x00\x7f"),
        ("\ud800", r"\ud800"),
        ("a\n\té猫\u200d", "a\n\té猫\u200d"),
    ],
)
def test_words_that_are_safe_to_show(raw, shown):
    """The characters of ECMA-48's control functions and of Unicode's bidirectional formatting, by their numbers."""
    assert visible(raw) == shown == rc.InputError(raw).message


def test_an_open_file_is_written_to_never_replaced(tmp_path):
    """As of `-o /dev/stdout >> log`: what was there stays, and what was said before comes first."""
    code = "from recapture.files import whole_files; print('before')\nwith whole_files({'/dev/stdout': 'x\\n'}): pass"
    log = tmp_path / "log"
    log.write_text("there\n")
    with log.open("ab") as stream:
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert log.read_text() == "there\nbefore\nx\n"
    piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True)
    assert piped.stdout == "before\nx\n"


def test_long_names_are_written(tmp_path):
    path = tmp_path / ("é" * 120 + ".json")  # 245 bytes, of the 255 that a name may have
    with whole_files({str(path): "x"}):
        pass
    assert path.read_text() == "x"
    path = Path(tmp_path, "a." + "b" * 240)
    with whole_files({str(path): "x"}):
        pass
    assert path.read_text() == "x"
