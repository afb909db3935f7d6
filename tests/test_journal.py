"""Finished parts of long work: made once, found again, made again where a line was damaged."""

import hashlib
import json

import numpy as np
import pytest

import recapture as rc
from recapture.journal import kept_until_the_end


def test_a_part_is_made_once(tmp_path):
    calls = []

    def make():
        calls.append(1)
        return {"x": (1, np.float64(2.5)), "y": np.arange(2)}

    for _ in range(2):
        journal = rc.Journal(tmp_path / "deep" / "work.jsonl")
        assert journal.get("a", make) == {"x": [1, 2.5], "y": [0, 1]}
    assert len(calls) == 1


def test_a_line_that_was_cut_off_is_made_again(tmp_path):
    path = tmp_path / "work.jsonl"
    journal = rc.Journal(path)
    journal.add({"a": 1, "b": 2})
    path.write_bytes(path.read_bytes()[:-6])
    again = rc.Journal(path)
    assert again.get("a", lambda: 9) == 1 and again.get("b", lambda: 3) == 3
    assert rc.Journal(path).finished() == {"a": 1, "b": 3}


def test_lines_without_a_checksum_as_older_versions_wrote_them_are_made_again(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps({"step": "first", "value": [1, 2]}) + "\n")
    assert rc.Journal(path).get("first", lambda: [3]) == [3]
    assert rc.Journal(path).finished() == {"first": [3]}


@pytest.mark.traced
@pytest.mark.slow
def test_no_flipped_bit_changes_a_value(tmp_path):
    """Every bit of a file in turn: what is found is what was kept, or nothing; nothing is raised."""
    path = tmp_path / "work.jsonl"
    kept = {"a": {"x": 0.125, "name": "é\u2028"}, "b": [1, None, "-1"], "3": True}
    rc.Journal(path).add(kept)
    content = path.read_bytes()
    for place in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        found = rc.Journal(path).finished()
        assert all(kept[key] == value for key, value in found.items())
        assert len(found) >= len(kept) - 2  # a line end that is lost joins two lines


def test_lines_that_no_journal_wrote_raise_nothing(tmp_path):
    """With a right checksum, too: deep nesting, keys that cannot be, numbers beyond what Python reads."""
    path = tmp_path / "work.jsonl"
    lines = []
    for value in ("[" * 100_000, "1" * 5_000, "1}", '{"a": ' * 5_000, "\ud800"):
        for key in ("[1]", '"k"', "{}"):
            rest = f'"step": {key}, "value": {value}'.encode("utf-8", "surrogatepass")
            lines.append(b'{"check": "%s", %s' % (hashlib.blake2b(rest, digest_size=8).hexdigest().encode(), rest))
    path.write_bytes(b"\n".join(lines))
    journal = rc.Journal(path)
    assert journal.get("good", lambda: 7) == 7 and rc.Journal(path).finished()["good"] == 7


def test_journals_outlive_a_block_that_fails(tmp_path):
    """What is written from a journal's values must be safe before they go."""
    journal = rc.Journal(tmp_path / "work.jsonl")
    journal.add({"a": 1})
    with pytest.raises(OSError), kept_until_the_end():
        journal.close()
        raise OSError("no room")
    assert rc.Journal(journal.path).finished() == {"a": 1}
    with kept_until_the_end():
        journal.close()
        assert journal.path.exists()
    assert not journal.path.exists()


def test_nothing_is_kept_without_a_file():
    journal = rc.Journal(None)
    assert journal.get("a", lambda: 1) == 1 == journal.get("a", lambda: 2)
    assert journal.finished() == {}


def test_done(tmp_path):
    journal = rc.Journal(str(tmp_path / "work.jsonl"))
    journal.add({"a": 1})
    journal.close()
    journal.close()
    assert not list(tmp_path.iterdir())


def test_a_name_for_a_run(tmp_path):
    one = rc.Journal.of({"k": 1}, "sweep", tmp_path)
    assert one.path.name.startswith("sweep-") and one.path == rc.Journal.of({"k": 1}, "sweep", tmp_path).path
    assert one.path != rc.Journal.of({"k": 2}, "sweep", tmp_path).path
