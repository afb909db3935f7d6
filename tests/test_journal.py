"""Finished parts of long work: made once, found again, made again where a line was damaged."""

import json

import numpy as np
import pytest

import recapture as rc


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


def test_files_of_steps_that_older_versions_kept(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps({"step": "first", "value": [1, 2]}) + "\n")
    assert rc.Journal(path).get("first", lambda: pytest.fail("made again")) == [1, 2]


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
